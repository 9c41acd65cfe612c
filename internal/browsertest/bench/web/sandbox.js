// @ts-check
'use strict';

/** @type {Record<string, (...args: any[]) => Promise<number>>} */
let box;

const load = async () => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  box = /** @type {any} */ (await ready).sandbox;
};

/** So many calls through the box, and of the tool itself. @param {number} rounds @param {number} n */
const calls = (rounds, n) => turns({ ours: () => box.calls(n), bare: () => box.bare(n) }, rounds, 4);

/** @param {number} rounds @param {number} n */
const sessions = async (rounds, n) => {
  await box.fillSession(n);
  return turns({ ours: () => box.openSession(n) }, rounds, 2);
};

/** @param {number} rounds */
const stops = (rounds) => turns({ ours: () => box.stop() }, rounds, 2);

Object.assign(globalThis, { load, calls, sessions, stops });
