// @ts-check
'use strict';

/** @type {Record<string, (...args: any[]) => Promise<number>>} */
let box;

/** @param {string} program */
const load = async (program) => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch(`/built/${program}.wasm`), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  box = /** @type {any} */ (await ready).sandbox;
};

/** Times n calls through the box, and n of the tool itself. @param {number} rounds @param {number} n */
const calls = (rounds, n) => turns({ ours: () => box.calls(n), bare: () => box.bare(n) }, rounds, 4);

/** @param {number} rounds @param {number} n */
const sessions = async (rounds, n) => {
  await box.fillSession(n);
  return turns({ ours: () => box.openSession(n) }, rounds, 2);
};

/** @param {number} rounds */
const stops = (rounds) => turns({ ours: () => box.stop() }, rounds, 2);

/**
 * Returns the longest time for which a conversion blocked the page.
 * @param {number} rounds @param {string} name
 */
const pauses = (rounds, name) => turns({ ours: async () => {
  const { port1, port2 } = new MessageChannel();
  let last = performance.now(), longest = 0, running = true;
  port1.onmessage = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) port2.postMessage(0);
  };
  port2.postMessage(0);
  await box.pause(name);
  longest = Math.max(longest, performance.now() - last);
  running = false;
  return longest;
} }, rounds, 1);

/** Times a script of the shell. @param {number} rounds @param {string} script */
const scripts = (rounds, script) => turns({ ours: () => box.script(script) }, rounds, 1);

/** Returns the 10 MB over which scripts run. */
const big = () => box.big();

Object.assign(globalThis, { load, calls, sessions, stops, pauses, scripts, big });
