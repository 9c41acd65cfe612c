// @ts-check
// The inner frame of a document shows blocks of sanitised HTML in sections. It reports
// its height and the user's clicks to the host. It makes its own port and gives one
// end to the host. It needs no listener on its window, so no other page can send it
// messages. It stands behind the wire to the host, internal/wire/document.
(() => {
  'use strict';

  const host = window.parent.parent;
  const root = /** @type {HTMLElement} */ (document.getElementById('root'));
  const base = /** @type {HTMLTemplateElement} */ (document.getElementById('css'));
  const policyName = root.dataset.policy || 'bailey';

  const { port1: port, port2: theirs } = new MessageChannel();
  /** @param {BaileyKind} kind @param {...(string | number)} fields */
  const say = (kind, ...fields) => port.postMessage(baileyDocument.message(kind, ...fields));

  // ---- HTML in ----------------------------------------------------------------
  // This realm has one policy. Only the host can reach it, and the host's type system
  // permits only sanitised HTML.
  /** @type {{createHTML: (s: string) => any}} */
  let policy = { createHTML: (s) => s };
  /** @type {any} */
  const tt = /** @type {any} */ (window).trustedTypes;
  if (tt) {
    try {
      policy = tt.createPolicy(policyName, { createHTML: (/** @type {string} */ s) => s });
    } catch (e) {
      // Trusted Types may be off although the API is there. If they are enforced,
      // the first write below throws.
    }
  }
  const template = document.createElement('template');
  /** @param {string} html */
  const parse = (html) => {
    template.innerHTML = policy.createHTML(html);
    return template.content;
  };
  let failure = '';
  try { parse(''); } catch (e) { failure = String(e).slice(0, 500); }
  // The hello is posted now, to arrive while the rest of this script runs. The host's
  // answer waits at the port.
  host.postMessage(baileyDocument.hello(failure), '*', [theirs]);

  // ---- style ----------------------------------------------------------------
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(base.content.textContent || '');
  const appSheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [sheet, appSheet];

  // ---- sections that are not painted ----------------------------------------------
  // A browser paints the whole frame for each change in it, however tall it is. So sections
  // without changes that are far out of view are not painted, and only keep their height.
  // Searches and screen readers still find them.
  const REST = 500; // ms without a change
  const NEAR = 1500; // CSS px from the visible part, because browsers report too late that a part of a frame becomes visible
  /** @type {Map<HTMLElement, number>} time of the last change of sections that are painted */
  const awake = new Map();
  /** @type {Set<HTMLElement>} */
  const resting = new Set();
  let timer = 0;

  /** @param {HTMLElement} el */
  const wake = (el) => {
    if (resting.delete(el)) el.style.contentVisibility = el.style.containIntrinsicBlockSize = '';
    awake.set(el, performance.now());
    if (!timer) timer = setTimeout(rest, REST);
  };
  const wakeAll = () => { for (const el of [...resting, ...awake.keys()]) wake(el); };
  const rest = () => {
    const quiet = performance.now() - REST;
    const still = [];
    timer = 0;
    if (root.clientWidth < 1) return; // when it gets a width, all sections wake
    for (const [el, at] of awake) {
      if (at > quiet) timer ||= setTimeout(rest, REST);
      else if (awake.delete(el) && el.getAttribute('aria-busy') !== 'true') still.push([el, el.getBoundingClientRect().height]);
    }
    for (const [el, height] of /** @type {[HTMLElement, number][]} */ (still)) {
      resting.add(el);
      el.style.containIntrinsicBlockSize = 'auto ' + height + 'px';
    }
    if (still.length) leave();
  };
  /** @type {Map<Element, DOMRectReadOnly>} the visible part of each section in view */
  const inView = new Map();
  const leave = () => {
    let top = Infinity, bottom = -Infinity;
    for (const r of inView.values()) {
      top = Math.min(top, r.top);
      bottom = Math.max(bottom, r.bottom);
    }
    const far = [...resting].map((el) => {
      const r = el.getBoundingClientRect();
      return /** @type {const} */ ([el, r.bottom < top - NEAR || r.top > bottom + NEAR]);
    });
    for (const [el, on] of far) el.style.contentVisibility = on ? 'auto' : '';
  };
  const watch = new IntersectionObserver((entries) => {
    for (const e of entries) e.isIntersecting ? inView.set(e.target, e.intersectionRect) : inView.delete(e.target);
    leave();
  }, { threshold: Array.from({ length: 51 }, (_, i) => i / 50) });
  // A section becomes taller when the user opens a part of it or an image arrives.
  for (const event of ['toggle', 'load', 'error']) {
    document.addEventListener(event, (e) => {
      const el = e.target instanceof Element && /** @type {HTMLElement | null} */ (e.target.closest('#root > section'));
      if (el) wake(el);
    }, true);
  }

  // ---- sections and blocks ------------------------------------------------------
  /** @type {Map<string, {el: HTMLElement, blocks: Map<number, HTMLElement>}>} */
  const sections = new Map();

  /** @param {string} id @param {string} [label] @param {string} [dir] @param {string} [kind] */
  const section = (id, label, dir, kind) => {
    let s = sections.get(id);
    if (!s) {
      const el = document.createElement('section');
      root.append(el);
      s = { el, blocks: new Map() };
      sections.set(id, s);
      watch.observe(el);
    }
    wake(s.el);
    if (label) s.el.setAttribute('aria-label', label);
    if (dir) s.el.dir = dir;
    if (kind) s.el.dataset.kind = kind;
    return s;
  };

  /**
   * Sets a block's HTML. A new block is put after the block `after` (null: first).
   * @param {string} id @param {number} key @param {number | null} after @param {string} html
   */
  const setBlock = (id, key, after, html) => {
    const s = section(id);
    let el = s.blocks.get(key);
    if (!el) {
      el = document.createElement('div');
      el.dir = 'auto';
      s.blocks.set(key, el);
      const prev = after === null ? null : s.blocks.get(after);
      if (prev) prev.after(el); else if (after === null) s.el.prepend(el); else s.el.append(el);
    }
    morph(el, parse(html));
    dress(el, id, key);
  };

  // Attributes that this script or the user sets, and that a new version of the
  // same block must not remove.
  const KEEP = new Set(['open', 'src', 'tabindex', 'data-lang', 'data-fold', 'data-wrap', 'role', 'aria-label', 'data-state']);

  /**
   * Makes the children of `to` equal to those of `from`. It compares them side by side
   * and keeps the nodes that match, so that a selection, an open <details> and the
   * scroll position of a code block survive the next token.
   * @param {Node} to @param {Node} from
   */
  const morph = (to, from) => {
    let a = to.firstChild;
    let b = from.firstChild;
    while (a || b) {
      if (a instanceof HTMLElement && a.dataset.ui) { a = a.nextSibling; continue; }
      const nextA = a && a.nextSibling;
      const nextB = b && b.nextSibling;
      if (!b) {
        /** @type {ChildNode} */ (a).remove();
      } else if (!a) {
        to.appendChild(b);
      } else if (a.nodeType === Node.TEXT_NODE && b.nodeType === Node.TEXT_NODE) {
        const text = /** @type {Text} */ (a);
        const want = b.nodeValue || '';
        if (want.startsWith(text.data)) text.appendData(want.slice(text.data.length));
        else text.data = want;
      } else if (a instanceof Element && b instanceof Element && a.tagName === b.tagName) {
        for (const { name } of [...a.attributes]) {
          if (!b.hasAttribute(name) && !KEEP.has(name)) a.removeAttribute(name);
        }
        for (const { name, value } of b.attributes) {
          if (a.getAttribute(name) === value || (name === 'open' && a.hasAttribute('data-state'))) continue;
          if (name === 'data-image') { a.removeAttribute('src'); a.removeAttribute('data-state'); }
          a.setAttribute(name, value);
        }
        morph(a, b);
      } else {
        to.replaceChild(b, a);
      }
      a = nextA;
      b = nextB;
    }
  };

  // ---- additions to a block ----------------------------------------------------
  /** @type {Map<number, HTMLImageElement[]>} */
  const waiting = new Map();
  let images = 0;

  // Code has a copy button only if all of it is visible and in its order: without <details>,
  // <pre> or a direction in it.
  /** @param {HTMLElement} pre */
  const onlyCode = (pre) => {
    const [code, ...more] = /** @type {HTMLElement[]} */ ([...pre.children]);
    const words = [...pre.childNodes].some((c) => c instanceof Text && c.data.trim());
    return code && code.tagName === 'CODE' && more.every((e) => e.dataset.ui) && !words && !code.matches('[dir]') && !code.querySelector(':not(span), [dir]') ? code : null;
  };

  /** @param {HTMLElement} el @param {string} id @param {number} key */
  const dress = (el, id, key) => {
    // The index counts every <pre>, as the host's codeText does.
    for (const [n, pre] of [...el.getElementsByTagName('pre')].entries()) {
      const bar = /** @type {HTMLElement | null} */ (pre.querySelector(':scope > [data-ui=bar]'));
      const code = onlyCode(pre);
      if (!code) {
        bar?.remove();
        continue;
      }
      const lang = (code.className.match(/(?:^|\s)language-([\w+#.-]{1,24})/) || [])[1] || '';
      if (lang) pre.dataset.lang = lang;
      code.tabIndex = 0;
      code.setAttribute('role', 'group');
      code.setAttribute('aria-label', lang ? 'Code, ' + lang : 'Code');
      const what = lang ? lang + ' code' : 'code';
      tools(bar, () => pre.appendChild(uiBar()), baileyDocument.join(id, key, n), [
        ['wrap', 'Wrap', 'Wrap lines of ' + what], ...(root.dataset.opens === undefined ? [] : [['open', 'Open', 'Open ' + what + ' as a file']]), ['save', 'Download', 'Download ' + what], ['copy', 'Copy', 'Copy ' + what]]);
      if (!busy(id)) fold(pre, code);
    }
    for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (el.querySelectorAll('input[type=checkbox]'))) {
      box.setAttribute('aria-label', box.checked ? 'Done' : 'To do');
    }
    for (const img of el.getElementsByTagName('img')) {
      // An image that is not shown needs an alternative text to be visible.
      if (!img.hasAttribute('alt')) img.alt = img.dataset.warning || 'image';
    }
    for (const img of /** @type {NodeListOf<HTMLImageElement>} */ (el.querySelectorAll('img[data-image]:not([src])'))) {
      if (img.dataset.state) continue;
      if ((img.dataset.image || '').length > 8000) { img.dataset.state = 'refused'; continue; }
      img.dataset.state = 'asked';
      const req = ++images;
      waiting.set(req, [img]);
      say('image', req, id, img.dataset.image || '');
    }
    for (const bar of el.querySelectorAll(':not(pre) > [data-ui=bar]')) {
      if (!(bar.previousElementSibling instanceof HTMLTableElement)) bar.remove();
    }
    for (const [n, table] of [...el.getElementsByTagName('table')].entries()) {
      tables.add(table);
      const next = /** @type {HTMLElement | null} */ (table.nextElementSibling);
      tools(next && next.dataset.ui === 'bar' ? next : null, () => { const b = uiBar(); table.after(b); return b; },
        baileyDocument.join(id, key, n), [['csv', 'Copy as CSV', 'Copy as CSV: the table']]);
    }
  };

  const uiBar = () => {
    const bar = document.createElement('div');
    bar.dataset.ui = 'bar';
    return bar;
  };

  /**
   * Puts buttons into a bar, which is made if it is null. at is the place that they are about.
   * @param {HTMLElement | null} bar @param {() => HTMLElement} make @param {string} at @param {string[][]} list
   */
  const tools = (bar, make, at, list) => {
    if (!bar) {
      bar = make();
      for (const [kind, text] of list) {
        const button = document.createElement('button');
        button.type = 'button';
        button.dataset.ui = kind;
        button.dataset.text = button.textContent = text;
        if (kind === 'wrap') button.setAttribute('aria-pressed', 'false');
        bar.append(button);
      }
    }
    for (const [i, button] of /** @type {HTMLElement[]} */ ([...bar.children]).entries()) {
      button.dataset.at = at;
      button.setAttribute('aria-label', list[i][2]);
    }
  };

  // Code of more than FOLD lines shows the first of them, once its section is complete. So it
  // grows while it is written, and becomes small at the end.
  const FOLD = 25;
  /** @param {string} id */
  const busy = (id) => sections.get(id)?.el.getAttribute('aria-busy') === 'true';
  /** @param {HTMLElement} pre @param {HTMLElement} code */
  const fold = (pre, code) => {
    if (pre.dataset.fold) return;
    const lines = (code.textContent || '').trimEnd().split('\n').length;
    if (lines <= FOLD) return;
    pre.dataset.fold = 'shut';
    const button = document.createElement('button');
    button.type = 'button';
    button.dataset.ui = 'fold';
    button.dataset.text = 'Show all ' + lines + ' lines';
    button.textContent = button.dataset.text;
    button.setAttribute('aria-expanded', 'false');
    pre.append(button);
  };

  // A table that scrolls gets a tab stop, to be scrolled by keyboard. The check costs a
  // layout, so it is made once a batch.
  /** @type {Set<HTMLTableElement>} */
  const tables = new Set();
  const settle = () => {
    for (const table of tables) {
      if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    }
    tables.clear();
  };

  // ---- input of the user ----------------------------------------------------------
  /** @param {EventTarget | null} target @param {Event} event */
  const activate = (target, event) => {
    if (!(target instanceof Element)) return;
    const button = /** @type {HTMLElement | null} */ (target.closest('button[data-ui]'));
    const pre = button && /** @type {HTMLElement | null} */ (button.closest('pre'));
    switch (button?.dataset.ui) {
      case 'copy': case 'save': case 'open': case 'csv':
        say(button.dataset.ui, button.dataset.at || '');
        return;
      case 'wrap':
        if (pre) button.setAttribute('aria-pressed', String(pre.toggleAttribute('data-wrap')));
        return;
      case 'fold':
        if (!pre) return;
        pre.dataset.fold = pre.dataset.fold === 'shut' ? 'open' : 'shut';
        button.setAttribute('aria-expanded', String(pre.dataset.fold === 'open'));
        button.textContent = (pre.dataset.fold === 'open' ? 'Show fewer lines' : button.dataset.text) || '';
        return;
    }
    const link = /** @type {HTMLElement | null} */ (target.closest('[data-href],[data-fragment],[data-path]'));
    if (!link) return;
    event.preventDefault();
    // A text may contain sections of its own, and several answers may have a footnote 1.
    const own = link.closest('#root > section');
    if (link.dataset.fragment !== undefined) {
      const name = '#' + CSS.escape(link.dataset.fragment);
      const to = /** @type {HTMLElement | null} */ ((own && own.querySelector(name)) || root.querySelector(name));
      if (to) {
        // The inner frame scrolls only if its content is taller than the host permits.
        // Otherwise the host scrolls.
        if (scrolls) box.scrollTop += to.getBoundingClientRect().top;
        say('scroll', Math.round(to.getBoundingClientRect().top));
        to.tabIndex = -1;
        to.focus({ preventScroll: true });
      }
      return;
    }
    let id = '';
    for (const [k, s] of sections) if (s.el === own) id = k;
    say('link', id, link.dataset.path ? './' + link.dataset.path : link.dataset.href || '', (link.textContent || '').slice(0, 500));
  };
  document.addEventListener('click', (e) => activate(e.target, e));
  document.addEventListener('auxclick', (e) => { if (e.button === 1) activate(e.target, e); });
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && e.target instanceof Element && e.target.matches('[data-href],[data-fragment],[data-path]')) activate(e.target, e);
  });
  // A part that the user opened or closed stays so when the block is written again.
  document.addEventListener('toggle', (e) => {
    if (e.target instanceof HTMLDetailsElement) e.target.dataset.state = 'set';
  }, true);

  // Files that are dragged over a document belong to the page, which moves the frame out of
  // the way. Until then they can't be dropped, because the browser would open them.
  for (const event of ['dragenter', 'dragover']) {
    document.addEventListener(event, (e) => {
      const files = /** @type {DragEvent} */ (e).dataTransfer;
      if (!files?.types.includes('Files')) return;
      e.preventDefault();
      files.dropEffect = 'none';
      say('drag');
    });
  }
  // The page would treat an image that is dragged out of an answer as a file.
  document.addEventListener('dragstart', (e) => {
    if (e.target instanceof HTMLImageElement) e.preventDefault();
  });

  // ---- height ----------------------------------------------------------------------
  let last = -1;
  // A frame without a width would break every word, so its height is not known. This
  // happens in Firefox just after a move, and in a hidden parent.
  const height = () => {
    const { width, height } = root.getBoundingClientRect();
    return width < 1 ? last : Math.ceil(height);
  };
  let wide = 0;
  new ResizeObserver(() => {
    const { width } = root.getBoundingClientRect();
    if (width !== wide) wakeAll();
    wide = width;
    const h = height();
    if (h !== last) say('size', last = h);
  }).observe(root);

  // Content that is taller than the host permits scrolls inside the frame. While its end is in
  // view, it stays there.
  let scrolls = false;
  const box = document.documentElement;
  const atEnd = () => {
    let bottom = 0;
    for (const r of inView.values()) bottom = Math.max(bottom, r.bottom);
    return bottom >= innerHeight - 80 && (!scrolls || box.scrollTop + box.clientHeight >= box.scrollHeight - 40);
  };

  let violations = 0;
  document.addEventListener('securitypolicyviolation', (e) => {
    if (++violations > 200) return; // enough to know
    say('violation', e.effectiveDirective, e.blockedURI.slice(0, 1000), e.disposition, (e.sample || '').slice(0, 80));
  });

  // ---- orders of the host -----------------------------------------------------------
  /** @type {Record<string, (...args: any[]) => void>} */
  const orders = {
    section: (id, label, dir, kind) => { section(id, label, dir, kind); },
    set: setBlock,
    drop: (id, key) => {
      const s = sections.get(id);
      const el = s && s.blocks.get(key);
      if (s && el) { el.remove(); s.blocks.delete(key); wake(s.el); }
    },
    remove: (id) => {
      const s = sections.get(id);
      if (!s) return;
      s.el.remove();
      sections.delete(id);
      watch.unobserve(s.el);
      for (const list of [awake, resting, inView]) list.delete(s.el);
    },
    busy: (id, on) => {
      const { el } = section(id);
      el.setAttribute('aria-busy', on ? 'true' : 'false');
      if (on) return;
      for (const pre of el.getElementsByTagName('pre')) {
        const code = onlyCode(pre);
        if (code) fold(pre, code);
      }
    },
    css: (text) => { appSheet.replaceSync(text); wakeAll(); },
    variable: (name, value) => { document.documentElement.style.setProperty(name, value); wakeAll(); },
    scheme: (value) => { document.documentElement.style.colorScheme = value; },
    overflow: (on) => { scrolls = on; document.documentElement.style.overflowY = document.body.style.overflowY = on ? 'auto' : 'hidden'; },
    lang: (value) => { document.documentElement.lang = value; wakeAll(); },
    image: (req, url, state) => {
      for (const img of waiting.get(req) || []) {
        img.dataset.state = state;
        if (url) img.src = url;
      }
      waiting.delete(req);
    },
    copied: (at, text) => {
      for (const b of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('button[data-at]'))) {
        if (baileyDocument.join(b.dataset.ui || '', b.dataset.at || '') !== at) continue;
        b.textContent = text;
        setTimeout(() => { b.textContent = b.dataset.text || ''; }, 1500);
      }
    },
  };

  // The answer to a batch contains the height, measured in the same task. A throttled frame
  // (scrolled out of view, hidden) runs no ResizeObserver.
  port.onmessage = (e) => {
    let seq = -1;
    const follow = atEnd();
    try {
      const batch = baileyDocument.batch(e.data);
      seq = batch.seq;
      for (const [name, ...args] of batch.orders) orders[name](...args);
    } catch (err) {
      say('error', String(err).slice(0, 500));
    }
    settle();
    if (follow && scrolls) box.scrollTop = box.scrollHeight;
    last = height();
    say('ack', seq, last < 0 ? '' : last);
  };
})();
