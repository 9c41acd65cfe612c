"use strict";
// The progress bar and the error card. No markup is ever parsed, so the page may
// require Trusted Types; styles are adopted, so style-src may be 'none'.

const css = `
:host { all: initial; display: block; font: 15px/1.45 system-ui, sans-serif; color: light-dark(#1c1e21, #e8eaed); }
:host(.float) { position: fixed; inset: auto 0 max(16px, env(safe-area-inset-bottom)); z-index: 2147483647; pointer-events: none; }
.card { box-sizing: border-box; width: min(34rem, 100% - 32px); margin: 8px auto; padding: 14px 16px; pointer-events: auto;
background: var(--bailey-background, light-dark(#fff, #24262b)); color: var(--bailey-color, inherit);
border: 1px solid light-dark(#d4d7dd, #45494f); border-radius: 10px; box-shadow: 0 4px 24px #0003; animation: in .2s; }
.error { border-inline-start: 4px solid var(--bailey-error, light-dark(#b3261e, #f2a09a)); }
@keyframes in { from { opacity: 0; transform: translateY(6px); } }
.label { display: flex; justify-content: space-between; gap: 1em; font-variant-numeric: tabular-nums; }
.track { height: 6px; margin-top: 8px; border-radius: 3px; overflow: hidden; background: light-dark(#e3e6eb, #3b3f46); }
.bar { height: 100%; border-radius: 3px; background: var(--bailey-accent, light-dark(#1a5fd0, #8ab4f8)); transform-origin: 0 0; transition: transform .15s; }
.bar:dir(rtl) { transform-origin: 100% 0; }
.wait .bar { width: 30%; animation: wait 1.4s ease-in-out infinite alternate; }
@keyframes wait { to { transform: translateX(233%); } }
h2, p, pre { margin: 0; font: inherit; overflow-wrap: anywhere; }
h2 { font-weight: 600; }
p { margin-top: 4px; }
pre { margin-top: 10px; padding: 8px 10px; max-height: 9.5em; overflow: auto; font: 12.5px/1.5 ui-monospace, monospace; white-space: pre-wrap;
border-radius: 6px; background: light-dark(#f3f4f6, #17181b); }
.row { display: flex; gap: 8px; margin-top: 12px; }
button { font: inherit; padding: 5px 14px; border-radius: 7px; border: 1px solid light-dark(#8a9099, #7d838c); background: none; color: inherit; cursor: pointer; }
.main { border-color: transparent; background: var(--bailey-accent, light-dark(#1a5fd0, #8ab4f8)); color: light-dark(#fff, #10203c); }
button:focus-visible, pre:focus-visible { outline: 2px solid var(--bailey-accent, light-dark(#1a5fd0, #8ab4f8)); outline-offset: 2px; }
@media (prefers-reduced-motion: reduce) { .card, .bar, .wait .bar { animation: none; transition: none; } .wait .bar { width: 100%; opacity: .5; } }
@media (forced-colors: active) { .bar { background: Highlight; } .track { border: 1px solid; } }
@media print { :host(.float) { display: none; } }
`;

/** @type {WeakMap<Element, ShadowRoot>} */
const roots = new WeakMap();

/**
 * Where cards go: over the page, or in the flow of an element that the page offers.
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

/** One program's card. It shows nothing until it has to. */
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
    // Most starts are quicker than this, and a bar that flashes up helps nobody.
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
    this.draw();
  }

  /**
   * @param {number} loaded bytes, uncompressed
   * @param {number} total bytes, uncompressed; 0 when unknown
   */
  progress(loaded, total) {
    this.loaded = loaded;
    this.total = total;
    if (this.card) this.draw();
  }

  draw() {
    if (!this.card || !this.track || !this.bar || !this.percent) return;
    const known = this.total > 0;
    this.card.classList.toggle("wait", !known);
    if (!known) {
      this.percent.textContent = this.loaded ? `${(this.loaded / 1e6).toFixed(1)} MB` : "";
      return;
    }
    const part = Math.min(1, this.loaded / this.total);
    const shown = Math.floor(part * 100);
    this.percent.textContent = `${shown} %`;
    this.track.setAttribute("aria-valuenow", String(shown));
    this.bar.style.transform = `scaleX(${part})`;
  }

  /**
   * @param {ProgramError} error
   * @param {string} label of the way on
   * @param {() => void} action
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
