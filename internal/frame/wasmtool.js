// @ts-check
// The host of a program of Emscripten, in its worker. Emscripten's file system is in memory: the
// files that the arguments name are copied into it before the start, and the files that changed
// are written back after the end, by the functions of wasmgo.js. The program's own JavaScript sets
// baileyProgram. It was loaded before this script, so nothing here is protected from it: the broker
// and the host check all that the worker sends.
/** @type {any} */ (self).baileyTool = async (/** @type {any} */ given) => {
  'use strict';
  const { config, fs, normal, host, module, ready } = given;
  const PIECE = 512 << 10, text = new TextEncoder(), args = config.args.slice(1);
  const call = (/** @type {string} */ name, /** @type {any[]} */ ...a) =>
    new Promise((ok, no) => fs[name](...a, (/** @type {any} */ e, /** @type {any} */ r) => (e ? no(e) : ok(r))));
  const stat = (/** @type {string} */ path) => call('stat', path).catch(() => undefined);
  const above = (/** @type {string} */ path) => path.slice(0, path.lastIndexOf('/')) || '/';
  const read = async (/** @type {string} */ path) => {
    const n = await call('open', path, 0, 0);
    try {
      const data = new Uint8Array((await call('fstat', n)).size);
      for (let at = 0; at < data.length; ) {
        const got = await call('read', n, data, at, Math.min(PIECE, data.length - at), null);
        if (!got) break;
        at += got;
      }
      return data;
    } finally {
      await call('close', n);
    }
  };
  const write = async (/** @type {string} */ path, /** @type {Uint8Array} */ data) => {
    const { O_WRONLY, O_CREAT, O_TRUNC } = fs.constants, n = await call('open', path, O_WRONLY | O_CREAT | O_TRUNC, 0o644);
    try {
      for (let at = 0; at < data.length; ) at += await call('write', n, data, at, data.length - at, null);
    } finally {
      await call('close', n);
    }
  };
  /** Files that were copied into the program's file system. @type {Set<string>} */
  const copied = new Set();
  const into = async (/** @type {any} */ FS) => {
    const dir = normal('.');
    FS.mkdirTree(dir);
    FS.chdir(dir);
    for (const arg of args) {
      const path = normal(arg.replace(/^file:/, '') || '.'), s = await stat(path), parent = s?.isDirectory() ? path : above(path);
      if (parent !== '/' && (await stat(parent))?.isDirectory()) FS.mkdirTree(parent);
      if (!s || s.isDirectory() || copied.has(path)) continue;
      FS.writeFile(path, await read(path));
      FS.utime(path, 0, 0); // a later time is that of a change
      copied.add(path);
    }
  };
  const back = async (/** @type {any} */ FS) => {
    const walk = async (/** @type {string} */ dir) => {
      for (const name of FS.readdir(dir)) {
        const path = (dir === '/' ? '' : dir) + '/' + name;
        if (name === '.' || name === '..' || path === '/dev' || path === '/proc') continue;
        const s = FS.lstat(path);
        if (FS.isDir(s.mode)) await walk(path);
        else if (FS.isFile(s.mode)) {
          if (+s.mtime || !copied.has(path)) await save(path, FS.readFile(path));
          copied.delete(path);
        }
      }
    };
    await walk('/');
    for (const path of copied) await call('unlink', path); // it is there no longer
  };
  const save = async (/** @type {string} */ path, /** @type {Uint8Array} */ data) => {
    const missing = [];
    for (let dir = above(path); dir !== '/' && !(await stat(dir)); dir = above(dir)) missing.unshift(dir);
    for (const dir of missing) await call('mkdir', dir, 0o755);
    await write(path, data);
  };
  return await /** @type {any} */ (self).baileyProgram({
    args, into, back, module, ready,
    read: (/** @type {string} */ path) => read(normal(path)),
    write: (/** @type {string} */ path, /** @type {Uint8Array} */ data) => save(normal(path), data),
    print: (/** @type {number} */ fd, /** @type {string} */ line) => host.put(fd, text.encode(line + '\n')),
  });
};
