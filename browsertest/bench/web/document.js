// @ts-check
// A document of ours, and two bare frames: one srcdoc frame in another, each sandboxed, with a
// script that reports its start.
'use strict';

const parent_ = /** @type {HTMLElement} */ (document.getElementById('out'));

/**
 * @typedef {{
 *   create(parent: Element): Promise<number>,
 *   heights(parent: Element, n: number): Promise<number[]>,
 *   sections(parent: Element, text: string, n: number): Promise<void>,
 *   render(text: string): string,
 * }} OurDocuments
 */
/** @type {OurDocuments} */
let program;

const prepareDocuments = async () => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  program = await ready;
};

const attribute = (/** @type {string} */ s) => s.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

/**
 * Adds two bare frames to the page, and resolves when the inner one has run its script.
 * @param {string} body
 * @returns {Promise<HTMLIFrameElement>}
 */
function bare(body) {
  const outer = document.createElement('iframe');
  outer.setAttribute('sandbox', 'allow-scripts');
  outer.style.cssText = 'display:block;border:0;width:100%';
  const inner = `<!doctype html><body>${body}<script>parent.parent.postMessage("bare", "*")</script>`;
  outer.srcdoc = `<!doctype html><body><iframe sandbox="allow-scripts" srcdoc="${attribute(inner)}"></iframe>`;
  return new Promise((done) => {
    const heard = (/** @type {MessageEvent} */ e) => {
      if (e.data !== 'bare') return;
      removeEventListener('message', heard);
      done(outer);
    };
    addEventListener('message', heard);
    parent_.append(outer);
  });
}

const createDocuments = (/** @type {number} */ rounds) => turns({
  ours: () => program.create(parent_),
  floor: async () => {
    const start = performance.now();
    const outer = await bare('');
    const took = performance.now() - start;
    outer.remove();
    return took;
  },
}, rounds, 3);

const heights = (/** @type {number} */ n) => program.heights(parent_, n);

/** @param {string} who @param {string} text @param {number} n */
const fill = async (who, text, n) => {
  if (who === 'ours') await program.sections(parent_, text, n);
  else if (who === 'floor') (await bare(`<section>${program.render(text)}</section>`.repeat(n))).style.height = '20000px';
  await new Promise((done) => setTimeout(done, 500));
};

Object.assign(globalThis, { prepareDocuments, createDocuments, heights, fill });
