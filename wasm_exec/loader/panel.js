"use strict";
// The progress bar and the error card. They parse no markup, so the page may require Trusted Types.
// Their styles are adopted style sheets, so style-src may be 'none'.

const css = /** @type {string} */ ("{{panel.css}}");

/** @type {WeakMap<Element, ShadowRoot>} */
const roots = new WeakMap();

/**
 * Returns the root for cards: above the page, or in the flow of the page's element mount.
 * @param {Element | null} mount
 */
function cardRoot(mount) {
  const parent = mount || document.body || document.documentElement;
  let root = roots.get(parent);
  if (!root || !root.host.isConnected) {
    const host = document.createElement("bailey-loader");
    host.className = mount ? "" : "float";
    root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    roots.set(parent, root);
    parent.append(host);
  }
  return root;
}

/**
 * Appends a new element to parent and returns it.
 * @param {Element | ShadowRoot} parent
 * @param {string} tag
 * @param {string} name class and part
 * @param {string} [text]
 */
function add(parent, tag, name, text = "") {
  const e = document.createElement(tag);
  e.className = name;
  e.setAttribute("part", name);
  e.textContent = text;
  parent.append(e);
  return e;
}

/** The card of one program. It shows nothing for the first 150 ms. */
class Panel {
  /**
   * @param {Element | null} mount
   * @param {string} name
   */
  constructor(mount, name) {
    this.mount = mount;
    this.name = name;
    this.loaded = 0;
    this.total = 0;
    /** @type {HTMLElement | undefined} */
    this.card = undefined;
    // Most starts are quicker than this, and a bar that only flashes is of no use.
    this.timer = setTimeout(() => this.showProgress(), 150);
  }

  close() {
    clearTimeout(this.timer);
    const host = this.card && /** @type {ShadowRoot} */ (this.card.getRootNode()).host;
    this.card?.remove();
    this.card = undefined;
    if (host && !host.shadowRoot?.querySelector(".card")) host.remove();
  }

  showProgress() {
    this.card = add(cardRoot(this.mount), "div", "card");
    const label = add(this.card, "div", "label");
    add(label, "span", "name", `Loading ${this.name}`);
    this.percent = add(label, "span", "percent");
    this.track = add(this.card, "div", "track");
    this.track.setAttribute("role", "progressbar");
    this.track.setAttribute("aria-label", `Loading ${this.name}`);
    this.bar = add(this.track, "div", "bar");
    this.progress(this.loaded, this.total);
  }

  /**
   * @param {number} loaded bytes, uncompressed
   * @param {number} total bytes, uncompressed; 0 when unknown
   */
  progress(loaded, total) {
    this.loaded = loaded;
    this.total = total;
    if (!this.card || !this.track || !this.bar || !this.percent) return;
    this.card.classList.toggle("wait", !total);
    const part = Math.min(1, loaded / total);
    const shown = Math.floor(part * 100);
    this.percent.textContent = total ? `${shown} %` : loaded ? `${(loaded / 1e6).toFixed(1)} MB` : "";
    if (!total) return;
    this.track.setAttribute("aria-valuenow", String(shown));
    this.bar.style.transform = `scaleX(${part})`;
  }

  /**
   * @param {ProgramError} error
   * @param {string} label the text of the main button, such as "Reload"
   * @param {() => void} action called by the main button
   */
  fail(error, label, action) {
    this.close();
    const card = this.card = add(cardRoot(this.mount), "div", "card");
    card.classList.add("error");
    card.setAttribute("part", "card error");
    card.setAttribute("role", "alert");
    add(card, "h2", "title", error.message);
    add(card, "p", "text", error.fix);
    if (error.details) {
      const details = add(card, "pre", "details", error.details.trim());
      details.tabIndex = 0; // it may scroll, so the keyboard must reach it
      details.setAttribute("role", "region");
      details.setAttribute("aria-label", "Details");
    }
    const row = add(card, "div", "row");
    const go = add(row, "button", "button main", label);
    go.addEventListener("click", () => {
      this.close();
      action();
    });
    add(row, "button", "button", "Dismiss").addEventListener("click", () => this.close());
  }
}
