// @ts-check
// The loader of an MCP App. It runs in the app's own frame, has no power that the app has not, and
// makes a page for common browsers work below a stricter policy: inline scripts become scripts from
// blob: URLs, and inline styles become constructed style sheets.
(() => {
  'use strict';
  const G = /** @type {any} */ (globalThis), around = parent, apply = Reflect.apply;
  // The policy has no word for peers, and a STUN request can carry data.
  for (const k of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel', 'RTCIceTransport', 'WebTransport'])
    if (k in G) delete G[k];

  // ---- Trusted Types --------------------------------------------------------------
  // The page's policy may demand them. The app's realm contains nothing to protect.
  const id = (/** @type {string} */ s) => s;
  /** @type {any} */
  let policy = { createHTML: id, createScriptURL: id };
  try {
    if (G.trustedTypes) policy = G.trustedTypes.createPolicy(document.documentElement.dataset.policy, { createHTML: id, createScriptURL: id, createScript: id });
    // A framework makes a policy of its own, whose name the page does not list.
    if (G.trustedTypes) G.trustedTypes.createPolicy = (/** @type {string} */ name, /** @type {any} */ rules) => ({
      name,
      createHTML: (/** @type {any[]} */ ...a) => policy.createHTML(rules.createHTML(...a)),
      createScript: (/** @type {any[]} */ ...a) => policy.createScript(rules.createScript(...a)),
      createScriptURL: (/** @type {any[]} */ ...a) => policy.createScriptURL(rules.createScriptURL(...a)),
    });
  } catch (e) {
    // They are not enforced, or the first write below throws.
  }
  const html = (/** @type {any} */ s) => (typeof s === 'string' ? policy.createHTML(s) : s);
  /** @param {any} proto @param {string} name @param {(v: any) => any} change */
  const setter = (proto, name, change) => {
    const d = proto && Object.getOwnPropertyDescriptor(proto, name);
    const set = d?.set;
    if (set) Object.defineProperty(proto, name, { ...d, set(v) { apply(set, this, [change(v)]); } });
  };
  /** @param {any} proto @param {string} name @param {number} at index of the argument with HTML */
  const method = (proto, name, at) => {
    const real = proto?.[name];
    if (typeof real !== 'function') return;
    proto[name] = function (/** @type {any[]} */ ...args) {
      if (at < args.length) args[at] = html(args[at]);
      return apply(real, this, args);
    };
  };
  for (const p of [Element.prototype, ShadowRoot.prototype]) {
    setter(p, 'innerHTML', html);
    method(p, 'setHTMLUnsafe', 0);
  }
  setter(Element.prototype, 'outerHTML', html);
  setter(HTMLIFrameElement.prototype, 'srcdoc', html);
  setter(HTMLScriptElement.prototype, 'src', (v) => (typeof v === 'string' ? policy.createScriptURL(v) : v));
  method(Element.prototype, 'insertAdjacentHTML', 1);
  method(DOMParser.prototype, 'parseFromString', 0);
  method(Range.prototype, 'createContextualFragment', 0);
  method(Document.prototype, 'write', 0);

  // ---- styles -----------------------------------------------------------------------
  // Whether the policy lets inline styles work is found by trying it.
  const probe = document.createElement('style');
  probe.textContent = 'i{}';
  document.head.append(probe);
  const styled = !!probe.sheet;
  probe.remove();
  /** @type {WeakMap<HTMLStyleElement, {sheet: CSSStyleSheet, text: string}>} */
  const sheets = new WeakMap();
  /** @param {HTMLStyleElement} el */
  const sheetOf = (el) => {
    const text = el.textContent || '';
    let s = sheets.get(el);
    if (!s) {
      s = { sheet: new CSSStyleSheet({ media: el.media }), text: '' };
      sheets.set(el, s);
    }
    if (s.text !== text) s.sheet.replaceSync((s.text = text));
    const root = el.getRootNode();
    if ((root instanceof Document || root instanceof ShadowRoot) && el.isConnected && !root.adoptedStyleSheets.includes(s.sheet))
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, s.sheet];
    return s.sheet;
  };
  /** @param {Node} node */
  const restyle = (node) => {
    if (!(node instanceof Element)) return;
    for (const el of [node, .../** @type {any} */ (node.querySelectorAll('style, [style]'))]) {
      if (el instanceof HTMLStyleElement) sheetOf(el);
      else if (el.style && el.hasAttribute('style') && !el.style.length) el.style.cssText = el.getAttribute('style');
    }
  };
  // Firefox empties a style attribute that it blocks. So the texts are read where nothing is blocked: in the content of a
  // template, whose elements come in the same order.
  /** @param {ParentNode} root */
  const stylesIn = (root) => [.../** @type {NodeListOf<any>} */ (root.querySelectorAll('[style]'))].map((el) => [el, el.getAttribute('style')]);
  /** @param {any} proto */
  const styledHTML = (proto) => {
    const d = Object.getOwnPropertyDescriptor(proto, 'innerHTML'), set = d?.set;
    if (!set) return;
    Object.defineProperty(proto, 'innerHTML', { ...d, set(v) {
      apply(set, this, [v]);
      if (this instanceof HTMLTemplateElement || !/\bstyle\s*=/i.test(String(v))) return;
      const t = document.createElement('template');
      apply(set, t, [v]);
      const from = stylesIn(t.content), to = stylesIn(this);
      if (from.length === to.length) to.forEach(([el], i) => { if (el.style) el.style.cssText = from[i][1]; });
    } });
  };
  if (!styled) {
    for (const p of [Element.prototype, ShadowRoot.prototype]) styledHTML(p);
    Object.defineProperty(HTMLStyleElement.prototype, 'sheet', { configurable: true, get() { return this.isConnected ? sheetOf(this) : null; } });
    const set = Element.prototype.setAttribute;
    Element.prototype.setAttribute = function (name, value) {
      if (String(name).toLowerCase() === 'style' && /** @type {any} */ (this).style) /** @type {any} */ (this).style.cssText = value;
      else apply(set, this, [name, value]);
    };
    new MutationObserver((list) => {
      for (const m of list) {
        for (const n of m.addedNodes) restyle(n);
        const up = m.target instanceof HTMLStyleElement ? m.target : m.target.parentNode;
        if (up instanceof HTMLStyleElement) sheetOf(up);
        for (const n of m.removedNodes)
          for (const el of n instanceof Element ? [n, ...n.querySelectorAll('style')] : []) {
            const s = el instanceof HTMLStyleElement && !el.isConnected && sheets.get(el);
            if (s) document.adoptedStyleSheets = document.adoptedStyleSheets.filter((x) => x !== s.sheet);
          }
      }
    }).observe(document, { childList: true, subtree: true, characterData: true });
  }

  // A fragment would lead to the page around, because that is the base of a srcdoc, and end the app.
  document.addEventListener('click', (e) => {
    const link = e.target instanceof Element && e.target.closest('a[href^="#"]');
    if (!link || e.defaultPrevented) return;
    e.preventDefault();
    document.getElementById((link.getAttribute('href') || '').slice(1))?.scrollIntoView();
  });

  // No form can be sent. The attempt would end the app, or leave an error in its place.
  addEventListener('submit', (e) => e.preventDefault());
  HTMLFormElement.prototype.submit = () => {};

  // ---- scripts ----------------------------------------------------------------------
  // If the policy blocks the first script, the page's own policy lacks blob:. A later one is blocked by
  // a policy that the app has added.
  let ran = false;
  document.addEventListener('securitypolicyviolation', (e) => {
    if (!ran && e.blockedURI.startsWith('blob') && e.effectiveDirective.startsWith('script-src')) around.postMessage({ baileyBlocked: true }, '*');
  });
  /** @param {string} text @param {HTMLScriptElement | null} like @param {Comment | null} at */
  const run = (text, like, at) => new Promise((done) => {
    const s = document.createElement('script');
    for (const a of like ? like.attributes : []) if (a.name !== 'src' && a.name !== 'nonce' && a.name !== 'integrity') s.setAttribute(a.name, a.value);
    const src = like?.getAttribute('src');
    const url = src ? '' : URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
    s.async = false;
    s.onload = s.onerror = (e) => {
      if (url) URL.revokeObjectURL(url);
      ran ||= typeof e !== 'string' && e.type === 'load';
      done(0);
    };
    s.src = src || url;
    at ? at.replaceWith(s) : document.head.append(s);
  });
  /** @type {DocumentReadyState} */
  let state = 'loading';
  const reach = (/** @type {DocumentReadyState} */ s) => {
    state = s;
    document.dispatchEvent(new Event('readystatechange'));
  };
  const build = async (/** @type {string} */ text) => {
    Object.defineProperty(document, 'readyState', { configurable: true, get: () => state });
    const from = new DOMParser().parseFromString(text, 'text/html');
    /** @type {[HTMLScriptElement, Comment][]} */
    const classic = [];
    /** @type {[HTMLScriptElement, Comment][]} */
    const modules = [];
    for (const s of /** @type {NodeListOf<HTMLScriptElement>} */ (from.querySelectorAll('script'))) {
      const type = (s.getAttribute('type') || '').trim().toLowerCase();
      if (type && type !== 'module' && !/^(text|application)\/(x-)?(java|ecma)script$/.test(type)) continue;
      const at = from.createComment('');
      s.replaceWith(at);
      (type === 'module' || (s.defer && s.src) ? modules : classic).push([s, at]);
    }
    // A policy of its own is written for inline scripts, and would block the blob: URLs in place of
    // them. What else it forbids is open then, within the policy around.
    for (const m of from.querySelectorAll('meta[http-equiv]'))
      if (/^\s*content-security-policy\s*$/i.test(m.getAttribute('http-equiv') || '')) m.remove();
    // Attributes with code work as they do without a policy, from one script for each.
    /** @type {[Element, string, string][]} */
    const handlers = [];
    for (const el of from.querySelectorAll('*'))
      for (const a of [...el.attributes])
        if (/^on/i.test(a.name)) {
          handlers.push([el === from.documentElement ? document.documentElement : el === from.body ? document.body : el, a.name.toLowerCase(), a.value]);
          el.removeAttribute(a.name);
        }
    for (const [to, source] of [[document.documentElement, from.documentElement], [document.body, from.body]])
      for (const a of source.attributes) {
        if (a.name === 'style') to.style.cssText = a.value;
        else if (a.name !== 'data-policy') to.setAttribute(a.name, a.value);
      }
    const texts = styled ? [] : stylesIn(from);
    document.title = from.title;
    document.head.append(...from.head.childNodes);
    document.body.append(...from.body.childNodes);
    for (const [el, text] of texts) if (el.isConnected && el.style) el.style.cssText = text;
    if (!styled) restyle(document.documentElement);
    for (const [el, name, code] of handlers) {
      G.baileyHandler = null;
      await run('baileyHandler=function(event){' + code + '\n}', null, null);
      // The browser passes some of the body's to the window, as it does for attributes.
      if (name in el) /** @type {any} */ (el)[name] = G.baileyHandler;
    }
    delete G.baileyHandler;
    for (const [s, at] of classic) await run(s.textContent || '', s, at);
    reach('interactive');
    for (const [s, at] of modules) await run(s.textContent || '', s, at);
    document.dispatchEvent(new Event('DOMContentLoaded', { bubbles: true }));
    reach('complete');
    G.dispatchEvent(new Event('load'));
  };
  // Other frames can post here too. Only the parent is accepted, and only once.
  addEventListener('message', function heard(e) {
    if (e.source !== around || typeof e.data?.baileyPage !== 'string') return;
    removeEventListener('message', heard, true);
    e.stopImmediatePropagation();
    build(e.data.baileyPage);
  }, true);
})();
