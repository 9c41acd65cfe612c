// @ts-check
// Enclaves of ours, and their bare parts: frames, workers and ports without policy, limits,
// counting or checks. Comlink and penpal are measured too.
'use strict';

/** @type {any} */
let ours;
const load = async () => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  ours = await ready;
};

const blobOf = (/** @type {string} */ text) => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
const quote = (/** @type {string} */ s) => s.replace(/&/g, '&amp;').replace(/"/g, '&quot;');

/** Adds two bare frames with a worker in them, which returns 1 to the host. With below set, a worker below that one returns it.
 * @param {boolean} [below] @returns {Promise<HTMLIFrameElement>} */
function bareFrames(below) {
  const outer = document.createElement('iframe');
  outer.setAttribute('sandbox', 'allow-scripts');
  outer.style.cssText = 'position:fixed;width:0;height:0;border:0;visibility:hidden';
  const one = 'postMessage((function () { return 1 })())';
  const text = below ? `const w = new Worker(URL.createObjectURL(new Blob(['${one}']))); w.onmessage = (e) => postMessage(e.data)` : one;
  const inner = `<!doctype html><script>
    const w = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(text)}])));
    w.onmessage = (e) => parent.parent.postMessage('bare', '*');</script>`;
  outer.srcdoc = `<!doctype html><iframe sandbox="allow-scripts" srcdoc="${quote(inner)}"></iframe>`;
  return new Promise((done) => {
    const heard = (/** @type {MessageEvent} */ e) => {
      if (e.data !== 'bare') return;
      removeEventListener('message', heard);
      done(outer);
    };
    addEventListener('message', heard);
    document.body.append(outer);
  });
}

const timed = async (/** @type {() => any} */ fn) => {
  const start = performance.now();
  await fn();
  return performance.now() - start;
};

const cold = (/** @type {number} */ rounds) => turns({
  ours: () => ours.cold(),
  floor: () => timed(async () => (await bareFrames()).remove()),
  pair: () => timed(async () => (await bareFrames(true)).remove()),
}, rounds, 3);

// Killed frames are replaced at once up to four times in five seconds, and after that with a delay.
const shared = async (/** @type {number} */ rounds) => {
  await ours.openPool(1, 1);
  const s = await turns({
    ours: async () => {
      await new Promise((done) => setTimeout(done, 1400));
      return ours.shared();
    },
    floor: () => timed(async () => (await bareFrames()).remove()),
    pair: () => timed(async () => (await bareFrames(true)).remove()),
  }, rounds, 2);
  await ours.closePool();
  return s;
};

const bareWorker = () => timed(() => new Promise((done) => {
  const url = blobOf('postMessage((function () { return 1 })())');
  const w = new Worker(url);
  w.onmessage = () => { w.terminate(); URL.revokeObjectURL(url); done(0); };
}));

// A run each tenth of a second, in an enclave whose worker is ready.
const warm = async (/** @type {number} */ rounds) => {
  await ours.openPool(2, 2, true);
  const s = await turns({
    ours: async () => {
      await new Promise((done) => setTimeout(done, 100));
      return ours.fresh();
    },
    floor: bareWorker,
  }, rounds, 5);
  await ours.closePool();
  return s;
};

const fresh = async (/** @type {number} */ rounds) => {
  await ours.openPool(2, 2);
  await ours.fresh();
  const s = await turns({ ours: () => ours.fresh(), floor: bareWorker }, rounds, 5);
  await ours.closePool();
  return s;
};

// A worker with another one below it. The page's port leads to the lower one through the upper one:
// each ping passes both, as a tool call does.
const low = 'onmessage = (e) => postMessage(e.data)';
const high = `const w = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(low)}])));
  let port; w.onmessage = (e) => port.postMessage(e.data);
  onmessage = (e) => { port = e.ports[0]; port.onmessage = (e) => w.postMessage(e.data); };`;
/** @type {(port: MessagePort, end: () => void) => {ping: (m: any) => Promise<void>, end: () => void}} */
const pings = (port, end) => ({
  ping: (m) => new Promise((done) => { port.onmessage = () => done(); port.postMessage(m); }),
  end: () => (end(), port.close()),
});

/** Starts the two workers in the page itself. */
const barePair = () => {
  const worker = new Worker(blobOf(high)), channel = new MessageChannel();
  worker.postMessage(0, [channel.port2]);
  return pings(channel.port1, () => worker.terminate());
};

/** Starts the two workers in two bare sandboxed frames, which a browser may run in another process. */
const bareDepth = () => {
  const outer = document.createElement('iframe');
  outer.setAttribute('sandbox', 'allow-scripts');
  outer.style.cssText = 'position:fixed;width:0;height:0;border:0;visibility:hidden';
  const inner = `<!doctype html><script>
    const c = new MessageChannel(), w = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(high).replace(/</g, '\\x3c')}])));
    w.postMessage(0, [c.port2]);
    parent.parent.postMessage('depth', '*', [c.port1]);</script>`;
  outer.srcdoc = `<!doctype html><iframe sandbox="allow-scripts" srcdoc="${quote(inner)}"></iframe>`;
  return new Promise((done) => {
    const heard = (/** @type {MessageEvent} */ e) => {
      if (e.data !== 'depth') return;
      removeEventListener('message', heard);
      done(pings(e.ports[0], () => outer.remove()));
    };
    addEventListener('message', heard);
    document.body.append(outer);
  });
};

/** Starts a worker of the page that echoes over comlink, one level down. */
const comlink = async () => {
  const lib = await import(/** @type {any} */ ('/npm/comlink/dist/esm/comlink.mjs'));
  const worker = new Worker(blobOf(`importScripts(${JSON.stringify(location.origin + '/npm/comlink/dist/umd/comlink.js')}); Comlink.expose({ echo: (v) => v })`));
  const api = lib.wrap(worker);
  await api.echo({ i: 0 });
  return { ping: (/** @type {any} */ m) => api.echo(m), end: () => worker.terminate() };
};

/** Starts a worker of the page that echoes over penpal, with its messenger for workers. */
const penpal = async () => {
  const at = location.origin + '/npm/penpal/dist/penpal.mjs';
  const lib = await import(/** @type {any} */ (at));
  const worker = new Worker(blobOf(`import { connect, WorkerMessenger } from ${JSON.stringify(at)}; connect({ messenger: new WorkerMessenger({ worker: self }), methods: { echo: (v) => v } })`), { type: 'module' });
  const api = await lib.connect({ messenger: new lib.WorkerMessenger({ worker }) }).promise;
  await api.echo({ i: 0 });
  return { ping: (/** @type {any} */ m) => api.echo(m), end: () => worker.terminate() };
};

/** Returns the times of n pings, one after the other. @param {(m: any) => any} ping @param {number} n */
const oneByOne = async (ping, n) => {
  const list = [];
  for (let i = 0; i < n; i++) list.push(await timed(() => ping({ i })));
  return list;
};

/** Returns the times of single calls, of all rounds together. @param {number} rounds @param {number} n */
const calls = async (rounds, n) => {
  await ours.openPool(1, 1);
  const bare = await bareDepth(), pair = barePair(), others = { comlink: await comlink(), penpal: await penpal() };
  /** @type {Record<string, number[]>} */
  const all = { ours: [], fails: [], floor: [], pair: [], comlink: [], penpal: [] };
  for (let r = -1; r < rounds; r++) {
    const got = {
      ours: await ours.trips('stamp', n), fails: await ours.trips('fails', n), floor: await oneByOne(bare.ping, n), pair: await oneByOne(pair.ping, n),
      comlink: await oneByOne(others.comlink.ping, n), penpal: await oneByOne(others.penpal.ping, n),
    };
    if (r >= 0) for (const [k, v] of Object.entries(got)) all[k].push(...v);
  }
  bare.end(), pair.end(), others.comlink.end(), others.penpal.end();
  await ours.closePool();
  return all;
};

const together = async (/** @type {number} */ rounds, /** @type {number} */ n) => {
  await ours.openPool(1, 1);
  const others = { comlink: await comlink(), penpal: await penpal() };
  const all = (/** @type {(m: any) => any} */ ping) => timed(() => Promise.all(Array.from({ length: n }, (_, i) => ping({ i }))));
  const s = await turns({ ours: () => ours.together(n), comlink: () => all(others.comlink.ping), penpal: () => all(others.penpal.ping) }, rounds, 2);
  others.comlink.end(), others.penpal.end();
  await ours.closePool();
  return s;
};

const killers = {
  loop: 'for (;;);',
  regex: 'return /^(a+)+$/.test("a".repeat(40) + "b")',
  microtasks: 'const f = () => Promise.resolve().then(f); await f(); await new Promise(() => { const g = () => queueMicrotask(g); g() })',
  recursion: 'const f = () => { try { f() } finally { f() } }; f()',
  sort: '[3, 1, 2].sort(() => { for (;;); })',
  allocation: 'const keep = []; for (;;) keep.push({ a: [1, 2, 3], s: "x" + keep.length })',
};

/** @param {keyof typeof killers} who @param {number} rounds */
const kill = async (who, rounds) => {
  const took = [];
  for (let i = 0; i < rounds; i++) {
    await ours.openPool(1, 1);
    took.push(await ours.kill(killers[who]));
    await ours.closePool();
    await new Promise((done) => setTimeout(done, 2200));
  }
  return took;
};

/** Returns the times of a run while a sibling is in an endless loop, and while none is. @param {number} rounds */
const sibling = async (rounds) => {
  /** @type {Record<string, number[]>} */
  const s = { ours: [], quiet: [] };
  await ours.openPool(3, 3);
  await new Promise((done) => setTimeout(done, 500));
  for (let i = 0; i < rounds; i++) {
    for (let k = 0; k < 5; k++) s.quiet.push(await ours.fresh());
    const killed = ours.kill(killers.loop);
    await new Promise((done) => setTimeout(done, 100));
    for (let k = 0; k < 5; k++) s.ours.push(await ours.fresh());
    await killed;
    await new Promise((done) => setTimeout(done, 2500));
  }
  await ours.closePool();
  return s;
};

/** Returns the longest time for which fn blocked the page's event loop. @param {() => any} fn */
const blocked = async (fn) => {
  const channel = new MessageChannel();
  let last = performance.now(), longest = 0, on = true;
  channel.port1.onmessage = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (on) channel.port2.postMessage(0);
  };
  channel.port2.postMessage(0);
  await fn();
  on = false;
  channel.port1.close();
  return longest;
};

const refusal = async (/** @type {number} */ rounds) => {
  const took = [];
  for (let i = 0; i < rounds; i++) {
    await ours.openPool(1, 1);
    took.push(await blocked(() => ours.refuse()));
    await ours.closePool();
  }
  return took;
};

const resultOf = async (/** @type {number} */ rounds, /** @type {number} */ bytes) => {
  await ours.openPool(1, 1);
  const row = { id: 1, name: 'a name', tags: ['x', 'y'], ok: true };
  const text = blobOf(`const row = ${JSON.stringify(row)}; const out = []; while (out.length * 52 < ${bytes}) out.push(row); postMessage(JSON.stringify(out))`);
  const s = await turns({
    ours: () => ours.result(bytes),
    floor: () => timed(() => new Promise((done) => { const w = new Worker(text); w.onmessage = (e) => { JSON.parse(e.data); w.terminate(); done(0); }; })),
  }, rounds, 2);
  await ours.closePool();
  return s;
};

/** @param {string} who @param {number} n */
const live = async (who, n) => {
  if (who === 'floor') for (let i = 0; i < n; i++) await bareFrames();
  else if (who === 'pairs') for (let i = 0; i < n; i++) await bareDepth();
  else await ours.openPool(n, n), await ours.ready(n);
  if (who === 'running') await ours.live(n);
};

Object.assign(globalThis, { load, cold, shared, fresh, warm, calls, together, kill, sibling, refusal, resultOf, live });
