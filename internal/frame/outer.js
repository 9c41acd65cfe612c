// @ts-check
// The outer frame of a document: it holds the policy and stretches the inner
// frame. It hears nothing and says nothing; the inner frame speaks to the host
// by a port of its own.
(() => {
  'use strict';
  // Constructable style sheets need no style-src, which lets every policy here
  // keep style-src at 'none'.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    ':root{color-scheme:light dark;background:transparent}' +
    'html,body{margin:0;height:100%;overflow:hidden}' +
    'iframe{display:block;border:0;width:100%;height:100%;color-scheme:light dark}');
  document.adoptedStyleSheets = [sheet];
})();
