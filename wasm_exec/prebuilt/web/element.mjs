// @ts-check
// The custom element <bailey-document>. The types are in element.d.mts. The module touches no page while it
// is imported on a server.
import { load } from './api.mjs';

/** @typedef {import('./api.d.mts').Bailey} Bailey */
/** @typedef {import('./api.d.mts').BaileyDocument} View */
/** @typedef {import('./api.d.mts').Section} Section */
/** @typedef {{ text: string, done: boolean, label?: string, kind?: string }} Kept */

/** The program of all elements of the page. @type {Promise<Bailey> | undefined} */
let program;

/** @type {typeof import('./element.d.mts').use} */
export const use = (bailey) => { program = Promise.resolve(bailey); };

const running = async () => {
  await null; // the module that imports this one may call use() first
  program ??= load();
  const own = program;
  own.catch(() => { if (program === own) program = undefined; }); // the next element tries again
  return own;
};

/** The section of append() and text. */
const main = '1';
const properties = ['text', 'theme', 'label', 'scheme', 'follow', 'maxHeight', 'loadImage'];

/** @type {CSSStyleSheet | undefined} */
let sheet;

/** Makes the element a block where the page's own style does not say otherwise. @param {Node} root */
const style = (root) => {
  if (!(root instanceof Document || root instanceof ShadowRoot)) return;
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(':where(bailey-document) { display: block }');
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
};

const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class BaileyDocumentElement extends Base {
  static observedAttributes = ['scheme', 'text'];

  /** What was written, for a document that is made later or again. @type {Map<string, Kept>} */
  #kept = new Map();
  /** @type {Promise<View> | undefined} */
  #view;
  /** @type {Map<string, Promise<Section>>} */
  #sections = new Map();
  /** @type {import('./api.d.mts').Theme} */
  #theme = {};
  #height = 0;
  /** Holds the frame, because append() of the element itself is for text. @type {HTMLElement | undefined} */
  #box;
  /** @type {import('./api.d.mts').DocumentOptions['onImage'] | null} */
  #loadImage = null;

  connectedCallback() {
    // A framework may have set properties before this class was there.
    for (const name of properties) {
      const own = Object.getOwnPropertyDescriptor(this, name);
      if (own) {
        delete (/** @type {any} */ (this))[name];
        (/** @type {any} */ (this))[name] = own.value;
      }
    }
    style(this.getRootNode());
    if (this.#view) return; // it was moved, and its frame loads again by itself
    const view = this.#view = this.#open();
    view.catch((error) => {
      if (this.#view !== view) return;
      console.error(`<bailey-document>: ${error.message}`);
      this.#tell('error', error);
    });
    for (const [id, kept] of this.#kept) {
      const section = this.#section(id);
      section.then(async (s) => {
        if (kept.kind) await s.setKind(kept.kind);
        if (kept.label) await s.setLabel(kept.label);
      }).catch(() => {});
      if (kept.text) section.then((s) => s.write(kept.text)).catch(() => {});
      if (kept.done) section.then((s) => s.close()).catch(() => {});
    }
  }

  disconnectedCallback() {
    queueMicrotask(() => {
      const view = this.#view;
      if (this.isConnected || !view) return;
      this.#view = undefined;
      this.#sections.clear();
      view.then((v) => v.close()).catch(() => {});
    });
  }

  /** @param {string} name @param {string | null} _before @param {string | null} now */
  attributeChangedCallback(name, _before, now) {
    if (name === 'text') this.text = now ?? '';
    else this.#show();
  }

  async #open() {
    const box = this.#box ??= this.appendChild(document.createElement('div'));
    const bailey = await running();
    return bailey.document(box, {
      label: this.label || undefined,
      lang: (/** @type {HTMLElement | null} */ (this.closest('[lang]')))?.lang || undefined,
      maxHeight: this.maxHeight || undefined,
      follow: this.follow,
      theme: this.#look(),
      onLink: (link) => this.#tell('link', link),
      onViolation: (violation) => this.#tell('violation', violation),
      onState: (state) => this.#tell('state', state),
      onHeight: (px) => { this.#height = px; this.#tell('height', px); },
      onImage: async (request) => {
        if (!this.#loadImage) throw new Error('loadImage is not set');
        return this.#loadImage(request);
      },
    });
  }

  /** @param {string} type @param {unknown} detail */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: type === 'link', composed: type === 'link' }));
  }

  #look() {
    return { scheme: /** @type {'light' | 'dark' | ''} */ (this.scheme || this.#theme.scheme || ''), variables: this.#theme.variables };
  }

  #show() {
    this.#view?.then((v) => v.setTheme(this.#look())).catch((error) => this.#tell('error', error));
  }

  /** @param {string} id */
  #section(id) {
    let section = this.#sections.get(id);
    if (!section) {
      section = /** @type {Promise<View>} */ (this.#view).then((v) => v.section(id));
      section.catch(() => {});
      this.#sections.set(id, section);
    }
    return section;
  }

  /**
   * Changes what is kept of a section, and then the section, if there is a document.
   * @param {string} id @param {(kept: Kept) => void} keep @param {(section: Section) => Promise<any>} change
   */
  #change(id, keep, change) {
    const kept = this.#kept.get(id) ?? { text: '', done: false };
    keep(kept);
    this.#kept.set(id, kept);
    if (!this.#view) return Promise.resolve();
    const done = this.#section(id).then(change);
    done.catch(() => {}); // a caller that does not wait hears of it by the event
    return done;
  }

  /** @type {import('./element.d.mts').BaileyDocumentElement['section']} */
  section(id) {
    const change = this.#change.bind(this, id);
    return {
      write: (text) => change((kept) => { kept.text += text; }, (s) => s.write(text)),
      setLabel: (label) => change((kept) => { kept.label = label; }, (s) => s.setLabel(label)),
      setKind: (kind) => change((kept) => { kept.kind = kind; }, (s) => s.setKind(kind)),
      html: async () => (await change(() => {}, (s) => s.html())) ?? '',
      close: () => change((kept) => { kept.done = true; }, (s) => s.close()),
      reset: () => change((kept) => { kept.text = ''; kept.done = false; }, (s) => s.reset()),
      remove: async () => {
        const section = this.#sections.get(id);
        this.#kept.delete(id);
        this.#sections.delete(id);
        await section?.then((s) => s.remove());
      },
    };
  }

  /** @param {...any} text */
  append(...text) {
    if (!text.every((t) => typeof t === 'string')) throw new TypeError('<bailey-document>.append() takes Markdown as a string, not nodes: what it shows is inside a frame.');
    return this.section(main).write(text.join(''));
  }

  get text() { return this.#kept.get(main)?.text ?? ''; }
  set text(value) {
    const text = String(value ?? '');
    const kept = this.#kept.get(main);
    const shown = kept?.text ?? '';
    if (text === shown) return;
    const section = this.section(main);
    if (kept?.done || !text.startsWith(shown)) {
      section.reset();
      if (text) section.write(text);
    } else {
      section.write(text.slice(shown.length));
    }
  }

  async flush() { await (await this.#view)?.flush(); }

  get height() { return this.#height; }

  get theme() { return this.#theme; }
  set theme(theme) { this.#theme = theme ?? {}; this.#show(); }

  get loadImage() { return this.#loadImage; }
  set loadImage(load) { this.#loadImage = typeof load === 'function' ? load : null; }

  get scheme() { return this.getAttribute('scheme') ?? ''; }
  set scheme(scheme) { this.#reflect('scheme', scheme); }
  get label() { return this.getAttribute('label') ?? ''; }
  set label(label) { this.#reflect('label', label); }
  get follow() { return this.hasAttribute('follow'); }
  set follow(follow) { this.toggleAttribute('follow', Boolean(follow)); }
  get maxHeight() { return Number(this.getAttribute('max-height')) || 0; }
  set maxHeight(px) { this.#reflect('max-height', px); }

  /** @param {string} name @param {unknown} value */
  #reflect(name, value) {
    if (value) this.setAttribute(name, String(value));
    else this.removeAttribute(name);
  }
}

if (globalThis.customElements && !customElements.get('bailey-document')) customElements.define('bailey-document', BaileyDocumentElement);
