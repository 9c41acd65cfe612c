// @ts-check
// Commands of ours, bare workers, and browser_wasi_shim in a bare worker.
'use strict';

/** @type {any} */
let go_;
/** @type {Uint8Array} */
let wasm;
/** @type {WebAssembly.Module} */
let module_;

const load = async (/** @type {boolean} */ trusted, /** @type {number} */ max) => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  go_ = /** @type {any} */ (await ready).worker;
  wasm = new Uint8Array(await (await fetch('/built/wasi.wasm')).arrayBuffer());
  module_ = await WebAssembly.compile(/** @type {BufferSource} */ (wasm));
  await go_.open(trusted, wasm, max);
};

const timed = async (/** @type {() => any} */ fn) => {
  const start = performance.now();
  await fn();
  return performance.now() - start;
};
const pause = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms));

// The smallest worker that can run a command without arguments and files.
const least = `const nop = () => 0;
onmessage = async (e) => {
  const m = e.data instanceof WebAssembly.Module ? e.data : await WebAssembly.compile(e.data);
  const imports = {};
  for (const i of WebAssembly.Module.imports(m)) (imports[i.module] ??= {})[i.name] = i.name === 'proc_exit' ? () => { throw 0 } : i.name.startsWith('fd_prestat') ? () => 8 : nop;
  const { exports } = await WebAssembly.instantiate(m, imports);
  try { exports._start() } catch {}
  postMessage(1);
};`;
const leastURL = URL.createObjectURL(new Blob([least], { type: 'text/javascript' }));
const answer = (/** @type {Worker} */ w) => new Promise((done, no) => { w.onmessage = (e) => done(e.data); w.onerror = no; });
const bare = (/** @type {any} */ what) => timed(async () => {
  const w = new Worker(leastURL), done = answer(w);
  w.postMessage(what);
  await done;
  w.terminate();
});

/** A bare frame that stays, and starts such workers from bytes. */
/** @type {HTMLIFrameElement} */
let frame;
const bareFrame = async () => {
  frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.srcdoc = `<!doctype html><script>
    const url = URL.createObjectURL(new Blob([${JSON.stringify(least).replace(/</g, '\\u003c')}]));
    onmessage = (e) => { const w = new Worker(url); w.onmessage = () => { parent.postMessage('ran', '*'); w.terminate() }; w.postMessage(e.data) };
  <\/script>`;
  const loaded = new Promise((done) => (frame.onload = done));
  document.body.append(frame);
  await loaded;
};
const inFrame = () => timed(() => new Promise((done) => {
  const heard = (/** @type {MessageEvent} */ e) => e.data === 'ran' && (removeEventListener('message', heard), done(0));
  addEventListener('message', heard);
  frame.contentWindow?.postMessage(wasm, '*');
}));

const fresh = (/** @type {number} */ rounds) => turns({ ours: () => go_.noop(), floor: () => bare(module_) }, rounds, 3);
const untrusted = async (/** @type {number} */ rounds) => {
  await bareFrame();
  return turns({ ours: () => go_.anew(), floor: inFrame }, rounds, 3);
};
const warm = (/** @type {number} */ rounds) => {
  // The messages alone: to a ready worker, from it to a ready one below it, and back.
  const below = `onmessage = () => postMessage(1)`;
  const between = `const w = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(below)}]))); w.onmessage = () => postMessage(1); onmessage = () => w.postMessage(1)`;
  const way = new Worker(URL.createObjectURL(new Blob([between])));
  const hops = () => timed(() => {
    const done = answer(way);
    way.postMessage(1);
    return done;
  });
  return turns({ ours: async () => (await pause(80), go_.noop()), floor: async () => (await pause(80), bare(module_)), hops: async () => (await pause(80), hops()) }, rounds, 3);
};

// --- browser_wasi_shim, in a worker of its own for each run ------------------------
const shimText = `import { WASI, File, OpenFile, PreopenDirectory, Directory, ConsoleStdout } from '${location.origin}/npm/@bjorn3/browser_wasi_shim/dist/index.js';
postMessage('up');
onmessage = async (e) => {
  const { module, args, names, contents } = e.data;
  const f = new Map(names.map((n, i) => [n, new File(contents[i])]));
  const out = [];
  const fds = [new OpenFile(new File([])), new ConsoleStdout((b) => out.push(b.slice())), new ConsoleStdout(() => {}), new PreopenDirectory('/', new Map([['f', new Directory(f)]]))];
  const wasi = new WASI(args, [], fds, { debug: false });
  const inst = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
  wasi.start(inst);
  postMessage(new TextDecoder().decode(out[0]));
};`;
const shimURL = URL.createObjectURL(new Blob([shimText], { type: 'text/javascript' }));
/** Returns the time from the files to the result, without the start of the worker. @param {string[]} args @param {string[]} names @param {Uint8Array[]} contents */
const shim = async (args, names, contents) => {
  const w = new Worker(shimURL, { type: 'module' });
  await answer(w);
  const took = await timed(async () => {
    const done = answer(w);
    w.postMessage({ module: module_, args, names, contents });
    if (!/\d/.test(await done)) throw new Error('no answer');
  });
  w.terminate();
  return took;
};

const sha256 = async (/** @type {number} */ rounds) => {
  await go_.fill(1, 64 << 20);
  const file = new Uint8Array(64 << 20).fill(120);
  return turns({ ours: () => go_.sha256(), peer: () => shim(['bench', 'sha256', 'f/0'], ['0'], [file]) }, rounds, 1);
};
const files = async (/** @type {number} */ rounds) => {
  const n = 10000;
  await go_.fill(n, 100);
  const names = Array.from({ length: n }, (_, i) => String(i)), contents = names.map(() => new Uint8Array(100).fill(120));
  return turns({ ours: () => go_.files(n, 1), lazy: () => go_.files(n, 2), peer: () => shim(['bench', 'files', String(n)], names, contents) }, rounds, 1);
};
const work = (/** @type {number} */ rounds) => turns({ ours: () => go_.work(8, 8), one: () => go_.work(8, 1) }, rounds, 1);
const pipe = async (/** @type {number} */ rounds, /** @type {number} */ size) => {
  await go_.text(1 << 20);
  await go_.pipe();
  const before = await go_.memory();
  await go_.text(size);
  await go_.pipe();
  const memory = (await go_.memory()) - before;
  return { ...(await turns({ ours: () => go_.pipe(), parts: () => go_.parts() }, rounds, 1)), memory: [memory] };
};

Object.assign(globalThis, { load, fresh, untrusted, warm, sha256, files, work, pipe });
