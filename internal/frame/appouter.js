// @ts-check
// The outer frame of an MCP App contains the policy. It stands between the app, in the inner frame,
// and the host: the app's objects become strings of limited length and number, and the host's strings
// become objects. It removes an app that floods it or leaves its page.
(() => {
  'use strict';
  const MOST = 2097152; // UTF-16 units of a message
  const BURST = 400, RATE = 200; // messages at once, and then for each second
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    'html,body{margin:0;height:100%;overflow:hidden;background:transparent}' +
    'iframe{display:block;border:0;width:100%;height:100%}');
  document.adoptedStyleSheets = [sheet];
  const channel = new MessageChannel(), host = channel.port1;
  /** The page for the loader in the inner frame, until it is given. @type {string | null} */
  let page = null;
  let loads = 0, over = false, used = 0, at = performance.now();
  const inner = () => /** @type {HTMLIFrameElement | null} */ (document.querySelector('iframe'));
  const end = (/** @type {string} */ why) => {
    if (over) return;
    over = true;
    inner()?.remove();
    host.postMessage('ended\x1f' + why);
  };
  const give = () => {
    const to = inner()?.contentWindow;
    if (page === null || !loads || !to) return;
    to.postMessage({ baileyPage: page }, '*');
    page = null;
  };
  // A frame's load event reaches its document only on the way down.
  document.addEventListener('load', (e) => {
    if (!(e.target instanceof HTMLIFrameElement)) return;
    if (++loads > 1) end('left');
    else give();
  }, true);
  addEventListener('message', (e) => {
    const from = inner()?.contentWindow;
    if (over || !from || e.source !== from) return;
    const now = performance.now();
    used = Math.max(0, used - (now - at) * RATE / 1000) + 1;
    at = now;
    if (used > BURST) return end('flood');
    let text;
    try { text = JSON.stringify(e.data); } catch (err) { return; }
    if (typeof text !== 'string') return;
    if (text.length <= MOST) return host.postMessage('app\x1f' + text);
    const id = e.data.id;
    if (typeof id === 'number' || (typeof id === 'string' && id.length <= 128))
      from.postMessage({ jsonrpc: '2.0', id, error: { code: -32600, message: 'a message has at most 2 MiB' } }, '*');
  });
  host.onmessage = (e) => {
    const text = String(e.data), cut = text.indexOf('\x1f'), word = text.slice(0, cut), rest = text.slice(cut + 1);
    if (over) return;
    if (word === 'page') {
      page = rest;
      give();
    }
    if (word === 'host') inner()?.contentWindow?.postMessage(JSON.parse(rest), '*');
  };
  parent.postMessage('bailey-app', '*', [channel.port2]);
})();
