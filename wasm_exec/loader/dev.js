"use strict";
// The part of a page that wasm_exec dev serves. It shows the build and its errors, and loads the page
// again after a build. It parses no markup, and its styles are an adopted style sheet, so it works
// under every policy that lets the page start.

/**
 * @typedef {{ line: number, text: string }} SourceLine
 * @typedef {{ file: string, line: number, column?: number, text: string, source?: SourceLine[] }} BuildError
 * @typedef {{ state: string, version?: string, done?: number, last?: string, errors?: BuildError[], text?: string }} BuildState
 */

(() => {
// The server sets it before this script. version is that of the build that this page belongs to, or
// empty in the document that waits for the first build.
const own = /** @type {{ baileyDev: { page: string, version: string, css: string } }} */ (/** @type {any} */ (globalThis)).baileyDev;

const host = document.createElement("bailey-dev");
host.className = own.version ? "" : "first";
const root = host.attachShadow({ mode: "open" });
const sheet = new CSSStyleSheet();
sheet.replaceSync(own.css);
root.adoptedStyleSheets = [sheet];

/** @type {ReturnType<typeof setTimeout> | undefined} */
let soon;
const began = Date.now();

/**
 * Appends a new element to parent and returns it.
 * @param {Element | ShadowRoot} parent
 * @param {string} tag
 * @param {string} name class
 * @param {string} [text]
 */
function put(parent, tag, name, text = "") {
  const e = document.createElement(tag);
  e.className = name;
  e.textContent = text;
  parent.append(e);
  return e;
}

function clear() {
  clearTimeout(soon);
  soon = undefined;
  root.replaceChildren();
  host.remove();
}

/** Shows the host above the page, also above a modal dialog. */
function show() {
  (document.body || document.documentElement).append(host);
  if (host.showPopover) {
    host.popover = "manual";
    if (!host.matches(":popover-open")) host.showPopover();
  }
}

/** @param {BuildState} s */
function building(s) {
  const text = `Building ${own.page}`;
  const seconds = Math.round((Date.now() - began) / 1000);
  const detail = s.done ? `${s.done} ${s.done === 1 ? "package" : "packages"} compiled: ${s.last}` : "";
  const label = root.querySelector(".label");
  if (label) {
    /** @type {Element} */ (root.querySelector(".detail")).textContent = detail + (own.version ? "" : ` · ${seconds} s`);
    return;
  }
  root.replaceChildren();
  const card = put(root, "div", "card");
  card.setAttribute("role", "status");
  put(card, "div", "label", text);
  const track = put(card, "div", "track");
  track.setAttribute("role", "progressbar");
  track.setAttribute("aria-label", text);
  put(track, "div", "bar");
  put(card, "div", "detail", detail);
  show();
}

/** @param {BuildState} s */
function failed(s) {
  root.replaceChildren();
  const card = put(root, "section", "card error");
  card.setAttribute("role", "alert");
  const errors = s.errors || [];
  const head = put(card, "div", "head");
  put(head, "h1", "", errors.length > 1 ? `${errors.length} errors: the page was not built` : "The page was not built");
  if (own.version) {
    const close = put(head, "button", "", "Close");
    close.addEventListener("click", clear);
  }
  for (const e of errors) {
    const item = put(card, "article", "");
    put(item, "h2", "", `${e.file}:${e.line}${e.column ? ":" + e.column : ""}`);
    put(item, "p", "", e.text);
    if (!e.source) continue;
    const source = put(item, "pre", "");
    source.tabIndex = 0; // it may scroll, so the keyboard must reach it
    source.setAttribute("aria-label", `Source of ${e.file}`);
    for (const l of e.source) {
      put(source, "span", l.line === e.line ? "here" : "", `${String(l.line).padStart(5)}  ${l.text}\n`);
    }
  }
  if (!errors.length) put(card, "pre", "", s.text);
  put(card, "p", "note", own.version ? "The page below is of the last build that succeeded. This message closes itself after the next one."
    : "The page opens by itself after a build that succeeds.");
  show();
}

addEventListener("keydown", (e) => {
  if (e.key === "Escape" && own.version && host.isConnected && root.querySelector(".error")) clear();
});

const events = new EventSource("/.dev/events?page=" + encodeURIComponent(own.page));
/** @param {MessageEvent<string>} e */
events.onmessage = (e) => {
  /** @type {BuildState} */
  const s = JSON.parse(e.data);
  if (s.state !== "building") {
    clearTimeout(soon);
    soon = undefined;
  }
  if (s.state === "ready") {
    clear();
    if (s.version !== own.version) location.reload();
  } else if (s.state === "failed") {
    document.title ||= "Not built";
    failed(s);
  } else if (root.querySelector(".label") || !own.version) {
    building(s);
  } else if (!soon) {
    // Most builds of a change to a style are quicker than this.
    soon = setTimeout(() => building(s), 300);
  }
};
// A page that the browser keeps for the back button must not hold one of its few connections.
addEventListener("pagehide", () => events.close());
addEventListener("pageshow", (e) => {
  if (e.persisted) location.reload();
});
})();
