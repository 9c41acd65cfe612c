// @ts-check
// The replacement for Node.js in the worker of a program of GOOS=js: fs, process and path, over
// the same files, streams and limits as for WASI programs (wasi.js, wasifiles.js). It is loaded
// after the wasm_exec.js of the program's Go, and for trusted pools only: such a program has
// access to all of the worker's JavaScript.
/** @type {any} */ (self).baileyGo = (/** @type {any} */ given) => {
  'use strict';
  const { config, wasi, host, module, ready } = given;
  /** @type {Record<number, string>} */
  const CODES = { 2: 'EACCES', 6: 'EAGAIN', 8: 'EBADF', 10: 'EBUSY', 20: 'EEXIST', 21: 'EFAULT', 22: 'EFBIG', 25: 'EILSEQ', 28: 'EINVAL', 29: 'EIO', 31: 'EISDIR', 33: 'EMFILE', 37: 'ENAMETOOLONG',
    44: 'ENOENT', 52: 'ENOSYS', 54: 'ENOTDIR', 55: 'ENOTEMPTY', 58: 'ENOTSUP', 63: 'EPERM', 69: 'EROFS', 70: 'ESPIPE', 75: 'EXDEV', 76: 'EPERM' };
  const failure = (/** @type {number} */ errno) => {
    const code = CODES[errno] ?? 'EIO';
    return Object.assign(new Error(code), { code });
  };
  // WASI's functions take addresses. These are in a separate memory, not in the program's.
  const VECTOR = 0, OUT = 64, STAT = 128, PATH = 4096, PATH2 = 12288, DATA = 65536, ROOM = 512 << 10;
  const memory = new WebAssembly.Memory({ initial: (DATA + ROOM) >> 16, maximum: (DATA + ROOM) >> 16 });
  wasi.setMemory(memory);
  const bytes = new Uint8Array(memory.buffer), view = new DataView(memory.buffer), text = new TextEncoder();
  const { functions: f } = wasi;
  /** @type {(reason: any) => void} */
  let stop = () => {};
  /** Runs a synchronous function, and runs it again if it had to wait for the host. @template T @param {() => T} step @returns {Promise<T>} */
  const settle = async (step) => {
    for (;;) {
      try {
        return step();
      } catch (e) {
        const wait = /** @type {any} */ (e);
        if (typeof wait?.start !== 'function') throw e;
        await wait.start();
      }
    }
  };
  /** Makes a function of Node's fs, whose last argument is the callback. @param {(...a: any[]) => any} step */
  const told = (step) => (/** @type {any[]} */ ...a) => {
    const callback = a.pop();
    settle(() => step(...a)).then(
      (r) => callback(null, r),
      (e) => (typeof e === 'number' ? callback(failure(e)) : stop(e)),
    );
  };
  /** @type {string} */
  let cwd = config.dir || '/';
  const normal = (/** @type {string} */ path) => {
    /** @type {string[]} */
    const parts = [];
    for (const part of (path[0] === '/' ? path : cwd + '/' + path).split('/')) {
      if (part === '..') parts.pop();
      else if (part && part !== '.') parts.push(part);
    }
    return '/' + parts.join('/');
  };
  /** Returns the descriptor of a path's mount, and the address and length of the rest of the path.
   * @param {string} path @param {number} [at] @returns {[number, number, number]} */
  const place = (path, at = PATH) => {
    if (!path) throw 44;
    const p = normal(path);
    let best = -1, guest = '';
    for (const [n, { preopen }] of wasi.fds) {
      const dir = preopen === '/' ? '' : preopen;
      if (preopen && (p === preopen || p.startsWith(dir + '/')) && preopen.length > guest.length) [best, guest] = [n, preopen];
    }
    if (best < 0) throw 44;
    const rest = text.encode((p.slice(guest === '/' ? 1 : guest.length + 1) || '.') + (path.endsWith('/') && p !== guest ? '/' : ''));
    if (rest.length > 4096) throw 37;
    bytes.set(rest, at);
    return [best, at, rest.length];
  };
  const vector = (/** @type {number} */ n) => {
    view.setUint32(VECTOR, DATA, true);
    view.setUint32(VECTOR + 4, n, true);
  };
  const status = () => {
    const u64 = (/** @type {number} */ at) => Number(view.getBigUint64(STAT + at, true)), type = view.getUint8(STAT + 16), dir = type === 3, size = u64(32);
    return {
      isDirectory: () => dir, dev: u64(0), ino: u64(8), nlink: u64(24), size, mode: dir ? 0o40755 : type === 4 ? 0o100644 : 0o20600, uid: 0, gid: 0, rdev: 0,
      blksize: 4096, blocks: Math.ceil(size / 512), atimeMs: u64(40) / 1e6, mtimeMs: u64(48) / 1e6, ctimeMs: u64(56) / 1e6,
    };
  };
  const stat = (/** @type {string} */ path) => {
    const [n, at, len] = place(path);
    f.path_filestat_get(n, 1, at, len, STAT);
    return status();
  };
  const O = { O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 };
  const ALL = 0x3fffffffn, WRITES = 64n | 256n | 4194304n, FOLDER = 16384n;
  const open = (/** @type {string} */ path, /** @type {number} */ flags) => {
    const [n, at, len] = place(path), write = flags & 3;
    const oflags = (flags & O.O_CREAT ? 1 : 0) | (flags & O.O_DIRECTORY ? 2 : 0) | (flags & O.O_EXCL ? 4 : 0) | (flags & O.O_TRUNC ? 8 : 0);
    f.path_open(n, 1, at, len, oflags, ALL & ~(write ? FOLDER : WRITES), ALL, flags & O.O_APPEND ? 1 : 0, OUT);
    return view.getUint32(OUT, true);
  };
  /** @type {(n: number, to: Uint8Array, from: number, length: number, position: number | null) => number} */
  const read = (n, to, from, length, position) => {
    vector(Math.min(length, ROOM));
    if (position === null || position === undefined) f.fd_read(n, VECTOR, 1, OUT);
    else f.fd_pread(n, VECTOR, 1, BigInt(position), OUT);
    const got = view.getUint32(OUT, true);
    to.set(bytes.subarray(DATA, DATA + got), from);
    return got;
  };
  /** @type {(n: number, of: Uint8Array, from: number, length: number, position: number | null) => number} */
  const write = (n, of, from, length, position) => {
    const part = of.subarray(from, from + Math.min(length, ROOM));
    bytes.set(part, DATA);
    vector(part.length);
    if (position === null || position === undefined) f.fd_write(n, VECTOR, 1, OUT);
    else f.fd_pwrite(n, VECTOR, 1, BigInt(position), OUT);
    return view.getUint32(OUT, true);
  };
  const readdir = (/** @type {string} */ path) => {
    const n = open(path, O.O_DIRECTORY), names = [], utf8 = new TextDecoder();
    try {
      for (let cookie = 0n; ; ) {
        f.fd_readdir(n, DATA, ROOM, cookie, OUT);
        const used = view.getUint32(OUT, true);
        let at = 0;
        for (; at + 24 <= used; ) {
          const size = view.getUint32(DATA + at + 16, true);
          if (at + 24 + size > used) break;
          cookie = view.getBigUint64(DATA + at, true);
          const name = utf8.decode(bytes.subarray(DATA + at + 24, DATA + at + 24 + size));
          if (name !== '.' && name !== '..') names.push(name);
          at += 24 + size;
        }
        if (used < ROOM || !at) return names;
      }
    } finally {
      f.fd_close(n);
    }
  };
  const resize = (/** @type {number} */ n, /** @type {number} */ size) => f.fd_filestat_set_size(n, BigInt(size));
  const by = (/** @type {(...a: any[]) => any} */ fn, /** @type {any[]} */ ...before) => (/** @type {string} */ path) => void fn(...before, ...place(path));
  const there = (/** @type {string} */ path) => void stat(path); // there are no modes and no owners
  const known = (/** @type {number} */ n) => void f.fd_filestat_get(n, STAT);
  const nanoseconds = (/** @type {number} */ seconds) => BigInt(Math.round(seconds * 1e3)) * 1000000n;
  const all = {
    open, read, write, readdir, stat, lstat: stat,
    close: (/** @type {number} */ n) => void f.fd_close(n),
    fstat: (/** @type {number} */ n) => (known(n), status()),
    fsync: (/** @type {number} */ n) => void f.fd_sync(n),
    mkdir: by(f.path_create_directory), rmdir: by(f.path_remove_directory), unlink: by(f.path_unlink_file),
    rename: (/** @type {string} */ from, /** @type {string} */ to) => void f.path_rename(...place(from), ...place(to, PATH2)),
    ftruncate: resize,
    truncate: (/** @type {string} */ path, /** @type {number} */ size) => {
      const n = open(path, O.O_WRONLY);
      try {
        resize(n, size);
      } finally {
        f.fd_close(n);
      }
    },
    utimes: (/** @type {string} */ path, /** @type {number} */ atime, /** @type {number} */ mtime) => {
      const [n, at, len] = place(path);
      f.path_filestat_set_times(n, 1, at, len, nanoseconds(atime), nanoseconds(mtime), 5);
    },
    chmod: there, chown: there, lchown: there, fchmod: known, fchown: known,
    readlink: (/** @type {string} */ path) => (there(path), none(28)),
    link: (/** @type {string} */ path) => (there(path), none(58)),
    symlink: () => none(58),
  };
  /** @param {number} errno @returns {never} */
  const none = (errno) => {
    throw errno;
  };
  /** @type {any} */
  const fs = { constants: O, writeSync: (/** @type {number} */ n, /** @type {Uint8Array} */ b) => {
    try {
      host.put(n === 1 ? 1 : 2, b);
    } catch (e) {
      stop(e);
    }
    return b.length;
  } };
  for (const [name, step] of Object.entries(all)) fs[name] = told(step);
  const chdir = (/** @type {string} */ path) => {
    try {
      if (!stat(path).isDirectory()) throw 54;
    } catch (e) {
      if (typeof e === 'number') throw failure(e);
      if (typeof (/** @type {any} */ (e)?.start) !== 'function') throw e; // a lazy folder that is not loaded yet is not checked
    }
    cwd = normal(path);
  };
  const process = { pid: 1, ppid: 0, getuid: () => 0, getgid: () => 0, geteuid: () => 0, getegid: () => 0, getgroups: () => [], umask: () => 0o22, cwd: () => cwd, chdir };
  Object.assign(globalThis, { fs, process, path: { resolve: normal } });

  return new Promise((ok, no) => {
    stop = no;
    const { baileyTool } = /** @type {any} */ (self);
    if (baileyTool) return void baileyTool({ config, fs, normal, host, module, ready }).then(ok, no);
    self.addEventListener('error', (e) => (e.preventDefault(), no(e.error ?? new Error(e.message))));
    self.addEventListener('unhandledrejection', (e) => (e.preventDefault(), no(e.reason)));
    const go = new /** @type {any} */ (globalThis).Go();
    go.argv = config.args;
    go.env = Object.fromEntries(config.env.map((/** @type {string} */ s) => [s.slice(0, s.indexOf('=')), s.slice(s.indexOf('=') + 1)]));
    go.exit = ok;
    WebAssembly.instantiate(module, go.importObject)
      .then(async (instance) => {
        await ready(instance);
        await go.run(instance);
        ok(0);
      })
      .catch(no);
  });
};
