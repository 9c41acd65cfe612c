// Runs before all other scripts. It sets the chosen theme, and a Content-Security-Policy whose
// connect-src is this page's own server, the chosen provider, and the servers that the user added. Only a
// reload can widen it. The settings are written by package settings.
(() => {
  'use strict';
  /** @type {{theme?: string, origin?: unknown, origins?: unknown}} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('bailey-files') ?? '{}');
  } catch {}
  if (kept.theme === 'dark' || kept.theme === 'light') document.documentElement.style.colorScheme = kept.theme;
  const origins = [kept.origin].concat(kept.origins).filter((o) => typeof o === 'string' && /^https?:\/\/(\*\.)?[a-z0-9.:-]+$/.test(o));
  const meta = document.createElement('meta');
  meta.httpEquiv = 'Content-Security-Policy';
  meta.content = ["connect-src 'self'", ...origins].join(' ');
  document.head.append(meta);

  // The conversation stays at its end while it grows, unless the user has scrolled up to read.
  addEventListener('DOMContentLoaded', () => {
    const talk = document.getElementById('talk');
    if (!talk) return;
    let end = true;
    let was = '';
    const size = () => talk.scrollHeight + '/' + talk.clientHeight;
    talk.addEventListener('scroll', () => {
      if (size() === was) end = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 48; // a scroll at a new size is the browser's, not the user's
    }, {passive: true});
    const sizes = new ResizeObserver(() => {
      was = size();
      if (end) talk.scrollTop = talk.scrollHeight;
    });
    sizes.observe(talk);
    new MutationObserver(() => { for (const box of talk.children) sizes.observe(box); }).observe(talk, {childList: true});
  });
})();
