// @ts-check
// The outer frame of a document contains the policy and stretches the inner
// frame. It neither receives nor sends messages. The inner frame has its own port
// to the host.
(() => {
  'use strict';
  // Constructable style sheets need no style-src, so every policy here can
  // keep style-src at 'none'.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    ':root{color-scheme:light dark;background:transparent}' +
    'html,body{margin:0;height:100%;overflow:hidden}' +
    'iframe{display:block;border:0;width:100%;height:100%;color-scheme:light dark}');
  document.adoptedStyleSheets = [sheet];
})();
