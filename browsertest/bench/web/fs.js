// @ts-check
// fsaccess, and the best plain JavaScript for the same task, over the same files of the origin
// private file system.
'use strict';

/** @type {Record<string, (...args: any[]) => Promise<number>>} */
let go_;
/** @type {Record<string, any>} */
const dirs = {};

const startGo = async () => {
  const go = new /** @type {any} */ (globalThis).Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  go_ = /** @type {any} */ (await ready).fs;
};

/** @param {any} dir @param {string} name @param {any} data */
const put = async (dir, name, data) => {
  const w = await (await dir.getFileHandle(name, { create: true })).createWritable();
  await w.write(data);
  await w.close();
};

const begin = async () => {
  const top = await navigator.storage.getDirectory();
  await top.removeEntry('bench', { recursive: true }).catch(() => undefined);
  const bench = await top.getDirectoryHandle('bench', { create: true });
  for (const name of ['flat', 'deep', 'some', 'store']) dirs[name] = await bench.getDirectoryHandle(name, { create: true });
  await startGo();
  await go_.openFolders();
};

/** Writes ten thousand files of three lines, in one folder or in a hundred. @param {string} where */
const fill = async (where) => {
  const into = [];
  for (let i = 0; i < (where === 'deep' ? 100 : 1); i++) into.push(where === 'deep' ? await dirs.deep.getDirectoryHandle('dir-' + i, { create: true }) : dirs.flat);
  for (let i = 0; i < 10000; i += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, k) =>
      put(into[(i + k) % into.length], 'file-' + String(i + k).padStart(5, '0') + '.txt', 'line one\nneedle ' + (i + k) % 97 + '\nline three\n')));
  }
};

const timed = async (/** @type {() => any} */ fn) => {
  const start = performance.now();
  await fn();
  return performance.now() - start;
};

/** @param {number} got @param {number} want */
const check = (got, want) => {
  if (got !== want) throw new Error(`${got}, want ${want}`);
};

const theirs = {
  list: async () => {
    const out = [];
    let wait = [];
    const take = async () => {
      for (const f of await Promise.all(wait.map((h) => h.getFile()))) out.push([f.name, f.size, f.lastModified]);
      wait = [];
    };
    for await (const h of dirs.flat.values()) if (wait.push(h) === 64) await take();
    await take();
    check(out.length, 10000);
  },
  /** @param {(files: any[], at: string) => Promise<void>} each */
  tree: async (each) => {
    const walk = async (/** @type {any} */ d, /** @type {string} */ at) => {
      const files = [], below = [];
      for await (const h of d.values()) (h.kind === 'file' ? files : below).push(h);
      for (let i = 0; i < files.length; i += 64) await each(files.slice(i, i + 64), at);
      for (let i = 0; i < below.length; i += 8) await Promise.all(below.slice(i, i + 8).map((x) => walk(x, at + x.name + '/')));
    };
    await walk(dirs.deep, '');
  },
  walk: async () => {
    /** @type {any[]} */
    const out = [];
    await theirs.tree(async (files, at) => {
      for (const f of await Promise.all(files.map((h) => h.getFile()))) out.push([at + f.name, f.size]);
    });
    check(out.length, 10000);
  },
  grep: async () => {
    let found = 0;
    await theirs.tree(async (files) => {
      for (const t of await Promise.all(files.map(async (h) => (await h.getFile()).text())))
        for (const line of t.split('\n')) if (/needle 13$/.test(line)) found++;
    });
    check(found, 103);
  },
  read: async () => check((await (await (await dirs.some.getFileHandle('big')).getFile()).arrayBuffer()).byteLength, 100 << 20),
};

const bytes = () => ((/** @type {any} */ (globalThis)).benchBytes ??= new Uint8Array(100 << 20));

/** @param {string} what @param {number} rounds */
const compareFolders = async (what, rounds) => {
  if (what === 'read') await put(dirs.some, 'big', bytes());
  const floors = /** @type {Record<string, () => Promise<void>>} */ ({
    ...theirs,
    write: () => put(dirs.some, 'theirs', bytes()),
    small: async () => { for (let i = 0; i < 1000; i++) await put(dirs.some, 't' + i, 'content ' + i); },
  });
  return turns({ ours: () => go_[what](1000), floor: () => timed(floors[what]) }, rounds, 2);
};

/** Times fifty changes of a file of 4.5 KB, with and without a journal. @param {number} rounds */
const journal = (rounds) => turns({ ours: () => go_.journaled(50), floor: () => go_.again(50) }, rounds, 2);

/** Writes a file of mib MiB in pieces. @param {number} mib */
const huge = async (mib) => {
  const w = await (await dirs.some.getFileHandle('huge', { create: true })).createWritable();
  const piece = new Uint8Array(16 << 20).map((_, i) => i * 31);
  for (let i = 0; i < mib; i += 16) await w.write(piece);
  await w.close();
};
const copyHuge = () => go_.copy();
const copied = async () => (await (await dirs.some.getFileHandle('copy')).getFile()).size;

Object.assign(globalThis, { begin, fill, compareFolders, journal, huge, copyHuge, copied });
