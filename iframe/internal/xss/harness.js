// @ts-check
// Inserts HTML without any defence into frames of its own, does everything to it
// that a user could do, and reports the markers that ran. It runs in a frame of
// the test's page, so that parent and top of the victims are both ours.
(() => {
  'use strict';
  /** @typedef {{id: string, html: string}} Attack */

  /** @type {Set<string>} */
  let heard = new Set();
  const hear = (/** @type {MessageEvent} */ e) => {
    if (typeof e.data === 'string' && e.data.startsWith('xss:')) heard.add(e.data.slice(4));
  };
  addEventListener('message', hear); // a victim's own scripts
  const above = /** @type {Window} */ (top);
  above.addEventListener('message', hear); // scripts of frames in a victim
  addEventListener('pagehide', () => above.removeEventListener('message', hear));
  const sleep = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));
  const attempt = (/** @type {() => void} */ f) => { try { f(); } catch { /* an error of the attack itself */ } };

  /** @type {Record<string, (doc: Document, html: string) => void>} */
  const ways = {
    innerHTML: (doc, html) => { doc.body.innerHTML = html; },
    write: (doc, html) => {
      doc.open();
      doc.write('<!doctype html><html><body>' + html);
      doc.close();
    },
    // As in the document's own frame: parse in a template, then move and morph.
    template: (doc, html) => {
      const t = doc.createElement('template');
      t.innerHTML = html;
      const once = t.content.cloneNode(true);
      doc.body.append(t.content);
      Element.prototype.append.call(doc.documentElement, ...once.childNodes);
    },
    // Serialised HTML is parsed again. Mutation attacks take effect here.
    twice: (doc, html) => {
      doc.body.innerHTML = html;
      const once = doc.body.innerHTML;
      doc.body.innerHTML = '<noscript>' + once + '</noscript><section>' + once + '</section>';
      doc.body.innerHTML = doc.body.innerHTML;
    },
  };

  // An attack may clobber document.querySelectorAll with a form. So methods are taken
  // from the prototypes of this realm, and work on another realm's nodes.
  /** @param {Document | ShadowRoot} root @param {string} selector @returns {Element[]} */
  const query = (root, selector) => [...(Object.getOwnPropertyDescriptor(Node.prototype, 'nodeType')?.get?.call(root) === 9 ? Document : DocumentFragment).prototype.querySelectorAll.call(root, selector)];

  /** @param {Document | ShadowRoot} root @returns {Element[]} */
  const everything = (root) => {
    const all = [];
    for (const el of query(root, '*')) {
      if (all.length > 300) break;
      all.push(el);
      if (el.shadowRoot) all.push(...everything(el.shadowRoot));
    }
    return all;
  };

  /** @param {Window} win */
  const provoke = (win) => {
    const doc = win.document;
    const W = /** @type {any} */ (win);
    const targets = everything(doc);
    for (const el of targets) {
      for (const a of Element.prototype.getAttributeNames.call(el).map((name) => ({ name }))) {
        if (!/^on/i.test(a.name)) continue;
        const type = a.name.slice(2).toLowerCase();
        attempt(() => el.dispatchEvent(new W.Event(type, { cancelable: true })));
        if (/^(body|frameset)$/i.test(el.tagName)) attempt(() => win.dispatchEvent(new W.Event(type, { cancelable: true })));
      }
    }
    for (const el of targets) {
      const h = /** @type {any} */ (el);
      for (const type of ['mouseover', 'mousedown', 'touchstart', 'keydown', 'input', 'copy', 'toggle', 'command']) {
        attempt(() => el.dispatchEvent(new W.Event(type, { bubbles: true, cancelable: true })));
      }
      if (el.tagName === 'DETAILS') attempt(() => { h.open = !h.open; });
      if (el.tagName === 'DIALOG') attempt(() => { h.showModal(); h.requestClose ? h.requestClose() : h.close(); });
      attempt(() => h.focus && h.focus());
      attempt(() => (h.click ? h.click() : el.dispatchEvent(new W.MouseEvent('click', { bubbles: true, cancelable: true }))));
      // The methods of the prototype, because a field's name may clobber those of a form.
      if (el.localName === 'form') attempt(() => W.HTMLFormElement.prototype.requestSubmit.call(el));
      if (/^(video|audio)$/.test(el.localName)) attempt(() => h.play().catch(() => {}));
    }
  };

  /**
   * @param {Attack[]} attacks @param {string} way @param {boolean} fenced
   * @returns {Promise<{heard: string[], moved: string[], loaded: string[]}>}
   */
  const run = async (attacks, way, fenced) => {
    // This must be a separate task: an open()ed document takes the address of the script
    // that opened it, and a relative link in it would load the test's page once more.
    await sleep(0);
    heard = new Set();
    /** @type {string[]} */
    const moved = [];
    /** @type {string[]} */
    const loaded = [];
    const frames = [];
    for (const { html } of attacks) {
      const f = document.createElement('iframe');
      // A raw attack may navigate the whole page, which would end the test and
      // not the attack. Only this is prevented.
      if (fenced) f.sandbox.value = 'allow-scripts allow-same-origin allow-forms';
      document.body.append(f);
      const win = /** @type {Window} */ (f.contentWindow);
      frames.push({ f, win });
      attempt(() => ways[way](win.document, html));
    }
    await sleep(90);
    for (const { f, win } of frames) {
      const doc = f.contentDocument;
      if (!doc) continue; // has navigated elsewhere by itself
      attempt(() => provoke(win));
      for (const g of /** @type {HTMLIFrameElement[]} */ (query(doc, 'iframe'))) attempt(() => provoke(/** @type {Window} */ (g.contentWindow)));
    }
    await sleep(120);
    frames.forEach(({ f, win }, i) => {
      const { id } = attacks[i];
      let href = '(elsewhere)';
      attempt(() => {
        href = win.location.href;
        if (/** @type {any} */ (win).__xss === id) heard.add(id);
        for (const e of win.performance.getEntriesByType('resource')) {
          if (!/^(data|about|blob):/.test(e.name)) loaded.push(id + ' ' + e.name);
        }
      });
      if (href !== 'about:blank' && href !== location.href) moved.push(id + ' ' + href);
      f.remove();
    });
    await sleep(10);
    return { heard: [...heard], moved, loaded };
  };

  // The test calls this. Both have the same origin.
  /** @param {string} orders */
  const attack = async (orders) => {
    const { attacks, way, fenced } = JSON.parse(orders);
    return JSON.stringify(await run(attacks, way, fenced));
  };
  Object.assign(window, { attack });
})();
