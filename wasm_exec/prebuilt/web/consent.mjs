// @ts-check
// The custom element <bailey-consent>. The types are in agent.d.mts, and the program makes its dialog. The module touches no page
// while it is imported on a server.

/**
 * One stay of an element in the page, for the program: it calls whose and tell, sets update, and closes the dialog when the signal aborts.
 * @typedef {{ element: Element, signal: AbortSignal, whose: (session: string) => string, tell: (type: string, detail: unknown) => boolean, update?: () => void }} Stay
 */

/** The stays of the elements that were asked something. @type {WeakMap<Element, Stay & { leave: () => void }>} */
const stays = new WeakMap();

const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class BaileyConsentElement extends Base {
  static observedAttributes = ['whose'];

  /** @type {string | ((session: string) => string) | null} */
  #whose = null;

  connectedCallback() {
    // A framework may have set the property before this class was there.
    const own = Object.getOwnPropertyDescriptor(this, 'whose');
    if (own) {
      delete (/** @type {any} */ (this)).whose;
      this.whose = own.value;
    }
    if (stays.has(this) && !this.hidden && document.activeElement === document.body) this.shadowRoot?.getElementById('sheet')?.focus(); // a move took the focus
  }

  disconnectedCallback() {
    queueMicrotask(() => {
      if (!this.isConnected || this.ownerDocument !== document) stays.get(this)?.leave(); // else it was moved
    });
  }

  /** @param {string} _name @param {string | null} _before @param {string | null} now */
  attributeChangedCallback(_name, _before, now) { this.whose = now; }

  get whose() { return this.#whose; }
  set whose(whose) {
    this.#whose = typeof whose === 'function' || typeof whose === 'string' ? whose : null;
    stays.get(this)?.update?.();
  }
}

/** @param {Event} event */
const refuse = (event) => { if (!event.isTrusted) event.stopImmediatePropagation(); };

/** The events by which the dialog is answered, or that make keys answer. */
const answering = ['click', 'keydown', 'keyup', 'change', 'mousedown', 'pointerdown', 'focusin'];

/** Returns the stay of an element, which begins with its first question. @param {Element} element @returns {Stay} */
const stayOf = (element) => {
  customElements.upgrade(element);
  if (!(element instanceof BaileyConsentElement)) throw new TypeError('the element is no <bailey-consent>');
  if (!element.isConnected || element.ownerDocument !== document) throw new Error('the <bailey-consent> is not in the page');
  let stay = stays.get(element);
  if (stay) return stay;
  const controller = new AbortController(), { signal } = controller;
  const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
  for (const type of answering) {
    // An event that a script has made is no answer. One that is not composed begins and ends in the shadow tree.
    root.addEventListener(type, refuse, { capture: true, signal });
    addEventListener(type, (event) => { if (event.composedPath().includes(element)) refuse(event); }, { capture: true, signal });
  }
  stay = {
    element, signal,
    whose: (session) => { const { whose } = element; return String((typeof whose === 'function' ? whose(session) : whose) ?? ''); },
    tell: (type, detail) => element.dispatchEvent(new CustomEvent(type, { detail, cancelable: type === 'stop' })),
    leave: () => { stays.delete(element); controller.abort(); },
  };
  stays.set(element, stay);
  return stay;
};

/** Returns an element <bailey-consent> in the form that the program takes, and any other value as it is. @param {unknown} value */
const askedBy = (value) => value instanceof Element && value.localName === 'bailey-consent' ? { stay: () => stayOf(value) } : value;

/** Returns the option ask of a box, an element or a function that may return one, in the form that the program takes. @param {any} ask */
export const asking = (ask) => typeof ask === 'function' ? async (/** @type {unknown[]} */ ...given) => askedBy(await ask(...given)) : askedBy(ask);

if (globalThis.customElements && !customElements.get('bailey-consent')) customElements.define('bailey-consent', BaileyConsentElement);
