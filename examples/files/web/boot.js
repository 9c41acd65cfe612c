// Runs before all other scripts. It sets the chosen theme. The settings are written by package settings.
(() => {
  'use strict';
  /** @type {{theme?: string}} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem('bailey-files') ?? '{}');
  } catch {}
  if (kept.theme === 'dark' || kept.theme === 'light') document.documentElement.style.colorScheme = kept.theme;

  // The conversation stays at its end while it grows, unless the user has scrolled up to read.
  addEventListener('DOMContentLoaded', () => {
    const talk = document.getElementById('talk'), papers = document.getElementById('papers');
    if (!talk || !papers) return;
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
    new MutationObserver(() => { for (const box of papers.children) sizes.observe(box); }).observe(papers, {childList: true});
  });
})();
