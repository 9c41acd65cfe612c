// @ts-check
// The sandbox proxy of MCP Apps (SEP-1865): a page on an origin of its own. It stands between the
// app, in the inner frame, and the host, the page around. It gives itself the policy that the app
// inherits, passes messages of limited length and number, and removes an app that floods it or
// leaves its page. The inner frame has an opaque origin, so apps share neither this origin's storage
// nor this script.
(() => {
  'use strict';
  const MOST = 2097152; // UTF-16 units of a message
  const BURST = 400, RATE = 200; // messages at once, and then for each second
  const OWN = 'ui/notifications/sandbox-'; // methods between host and proxy
  const around = parent, may = document.documentElement.dataset;
  const words = (/** @type {string | undefined} */ s) => (s || '').split(' ').filter(Boolean);
  const hosts = words(may.hosts).map((s) => new URL(s).origin), tokens = words(may.sandbox), features = words(may.permissions);
  if (around === self) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    'html,body{margin:0;height:100%;overflow:hidden;background:transparent}' +
    'iframe{display:block;border:0;width:100%;height:100%}');
  document.adoptedStyleSheets = [sheet];
  /** The host's origin, from its first message. */
  let host = '';
  /** @type {HTMLIFrameElement | null} */
  let inner = null;
  let loads = 0, over = false, used = 0, at = performance.now();
  const tell = (/** @type {string} */ word, /** @type {any} */ params) => around.postMessage({ jsonrpc: '2.0', method: OWN + word, params }, host || '*');
  const end = (/** @type {string} */ why) => {
    if (over) return;
    over = true;
    inner?.remove();
    tell('ended', { reason: why });
  };

  // ---- policy -----------------------------------------------------------------------
  // An origin, or the subdomains of a name of two parts. Plain http is for this machine.
  const ORIGIN = /^((https|wss):\/\/(\*\.[a-z0-9-]+(\.[a-z0-9-]+)+|[a-z0-9-]+(\.[a-z0-9-]+)*)|(http|ws):\/\/(([a-z0-9-]+\.)*localhost|127(\.\d{1,3}){3}))(:\d{1,5})?$/i;
  const origins = (/** @type {any} */ list) => {
    const fit = (Array.isArray(list) ? list : []).slice(0, 50).filter((s) => typeof s === 'string' && ORIGIN.test(s));
    return fit.map((s) => ' ' + s).join('');
  };
  const narrow = (/** @type {string} */ policy) => {
    const meta = document.createElement('meta');
    meta.httpEquiv = 'Content-Security-Policy';
    meta.content = policy;
    document.head.append(meta);
  };
  const policyOf = (/** @type {any} */ csp) => {
    const more = origins(csp.resourceDomains), none = " 'none'";
    return "default-src 'none'; script-src 'unsafe-inline' blob:" + more + "; style-src 'unsafe-inline'" + more + '; img-src data: blob:' + more +
      '; font-src data:' + more + '; media-src data: blob:' + more + '; connect-src' + (origins(csp.connectDomains) || none) + '; worker-src blob:' +
      '; frame-src' + (origins(csp.frameDomains) || none) + "; object-src 'none'; base-uri" + (origins(csp.baseUriDomains) || none) + "; form-action 'none'";
  };

  // ---- the app ----------------------------------------------------------------------
  // It runs before the app. A policy has no word for peers. A fragment would lead to this page,
  // which is the base of a srcdoc, and a form can't be sent: both would end the app.
  const before = () => {
    const G = /** @type {any} */ (globalThis);
    document.currentScript?.remove();
    for (const k of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel', 'RTCIceTransport', 'WebTransport'])
      delete G[k];
    document.addEventListener('click', (e) => {
      const link = e.target instanceof Element && e.target.closest('a[href^="#"]');
      if (!link || e.defaultPrevented) return;
      e.preventDefault();
      document.getElementById((link.getAttribute('href') || '').slice(1))?.scrollIntoView();
    });
    addEventListener('submit', (e) => e.preventDefault());
    HTMLFormElement.prototype.submit = () => {};
  };
  const load = (/** @type {any} */ params) => {
    narrow(policyOf(params.csp || {}));
    // The policies of the page around, which the host has read.
    for (const p of Array.isArray(params.within) ? params.within : []) narrow(String(p));
    const f = document.createElement('iframe'), wants = params.permissions || {};
    const wish = typeof params.sandbox === 'string' ? words(params.sandbox) : tokens;
    f.setAttribute('sandbox', tokens.filter((t) => wish.includes(t)).join(' '));
    f.setAttribute('allow', words(may.features).map((name) => {
      const key = name.replace(/-(.)/, (_, c) => c.toUpperCase());
      return name + (wants[key] && features.includes(name) ? ' *' : " 'none'");
    }).join('; '));
    f.referrerPolicy = 'no-referrer';
    f.title = document.title;
    const tag = 'script>';
    f.srcdoc = '<!doctype html><' + tag + '(' + before + ')()</' + tag + String(params.html);
    document.body.append((inner = f));
  };
  document.addEventListener('load', (e) => {
    if (e.target === inner && ++loads > 1) end('left');
  }, true);

  // ---- messages ---------------------------------------------------------------------
  const fromHost = (/** @type {MessageEvent} */ e) => {
    const m = e.data;
    if (!hosts.includes(e.origin)) return;
    if (e.origin === location.origin || (host && host !== e.origin) || m?.jsonrpc !== '2.0') return;
    host = e.origin;
    if (!String(m.method).startsWith(OWN)) inner?.contentWindow?.postMessage(m, '*');
    else if (m.method === OWN + 'resource-ready' && !inner) load(m.params || {});
  };
  const fromApp = (/** @type {MessageEvent} */ e, /** @type {Window} */ from) => {
    const now = performance.now();
    used = Math.max(0, used - (now - at) * RATE / 1000) + 1;
    at = now;
    if (used > BURST) return end('flood');
    let text;
    try { text = JSON.stringify(e.data); } catch (err) { return; }
    if (typeof text !== 'string' || text[0] !== '{') return;
    if (text.length > MOST) {
      const id = e.data.id;
      if (typeof id === 'number' || (typeof id === 'string' && id.length <= 128))
        from.postMessage({ jsonrpc: '2.0', id, error: { code: -32600, message: 'a message has at most 2 MiB' } }, '*');
      return;
    }
    const m = JSON.parse(text);
    if (String(m.method).startsWith(OWN)) return;
    around.postMessage(m, host);
  };
  addEventListener('message', (e) => {
    if (over) return;
    if (e.source === around) return fromHost(e);
    const from = inner?.contentWindow;
    if (from && e.source === from) fromApp(e, from);
  });
  tell('proxy-ready', { within: true });
})();
