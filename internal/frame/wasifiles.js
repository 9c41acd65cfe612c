// @ts-check
// WASI preview1's fd_* and path_* over the trees of wasmtree.js. Paths stay below the
// folder of their descriptor. The tree has only links that the program itself made, and the
// host decides at the end whether its folder can hold them.

/** @param {ReturnType<typeof baileyWasi>} w */
const baileyWasiFiles = (w) => {
  'use strict';
  const { E, fail, inside, spans, range, put, vectors, view, fds, fd, open, stats, limits, tree } = w;
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }), text = new TextEncoder();
  // The bits of rights are numbers and not bigints, because there are only thirty.
  const R = { datasync: 1, read: 2, seek: 4, setflags: 8, sync: 16, tell: 32, write: 64, advise: 128, allocate: 256, mkdir: 512, create: 1024, linkFrom: 2048, linkTo: 4096,
    open: 8192, readdir: 16384, readlink: 32768, renameFrom: 65536, renameTo: 131072, stat: 262144, resize: 524288, times: 1048576, fdstat: 2097152, fdresize: 4194304,
    fdtimes: 8388608, symlink: 16777216, rmdir: 33554432, unlink: 67108864, poll: 134217728 };
  const FILE = R.datasync | R.read | R.seek | R.setflags | R.sync | R.tell | R.write | R.advise | R.allocate | R.fdstat | R.fdresize | R.fdtimes | R.poll;
  const DIR = R.datasync | R.setflags | R.sync | R.mkdir | R.create | R.linkFrom | R.linkTo | R.open | R.readdir | R.readlink | R.renameFrom | R.renameTo | R.stat | R.resize |
    R.times | R.fdstat | R.fdtimes | R.symlink | R.rmdir | R.unlink;
  for (const m of tree.mounts) open({ kind: 'dir', node: m.root, at: 0, rights: DIR, inherit: DIR | FILE, flags: 0, preopen: m.guest });

  /** @param {number} n @param {number} right */
  const dirFd = (n, right) => {
    const f = fds.get(n) ?? fail(E.BADF);
    if (f.kind !== 'dir') fail(E.NOTDIR);
    return fd(n, right);
  };
  /** @param {number} n @param {number} right */
  const fileFd = (n, right) => {
    const f = fds.get(n) ?? fail(E.BADF);
    if (f.kind === 'dir') fail(right & (R.seek | R.tell | R.allocate | R.advise) ? E.BADF : E.ISDIR);
    if (f.kind !== 'file') fail(right & (R.seek | R.tell) || f.kind === 'in' || right & R.read ? E.SPIPE : E.INVAL);
    return fd(n, right);
  };
  /** Must be called before any change. Throws EROFS for a read-only mount. @param {any} node */
  const writable = (node) => (node.mount.readOnly ? fail(E.ROFS) : (tree.touch(node.mount), node));
  /** @param {number} n */
  const countRead = (n) => {
    if ((stats.read += n) > limits.read) throw new BaileyStop('RESOURCE_LIMIT', 'more than ' + limits.read + ' bytes read from files');
    return n;
  };
  /** @param {number} n */
  const countWritten = (n) => {
    if ((stats.written += n) > limits.write) throw new BaileyStop('RESOURCE_LIMIT', 'more than ' + limits.write + ' bytes written to files');
    return n;
  };
  /** @param {number} at @param {number} n */
  const path = (at, n) => {
    const from = inside(at, n), b = w.bytes();
    if ((n >>>= 0) > 4096) fail(E.NAMETOOLONG);
    let short = '';
    if (n <= 48) {
      for (let i = from; i < from + n; i++) {
        const c = b[i];
        if (!c) fail(E.INVAL);
        if (c > 127) break;
        short += String.fromCharCode(c);
      }
      if (short.length === n) return short;
    }
    const all = b.subarray(from, from + n);
    if (all.includes(0)) fail(E.INVAL);
    try {
      return utf8.decode(all);
    } catch {
      return fail(E.ILSEQ);
    }
  };
  /** Resolves a path. The last part may be missing, and every part before it must be a folder.
   * A symbolic link is followed if more of the path comes behind it, or follow is set.
   * @param {any} root @param {string} p @param {number} [follow] */
  const find = (root, p, follow = 0) => {
    if (!p) fail(E.NOENT);
    if (p[0] === '/') fail(E.PERM);
    const up = [], names = [];
    let node = root, links = 0;
    for (let from = 0, end = 0; from < p.length; from = end + 1) {
      end = p.indexOf('/', from);
      if (end < 0) end = p.length;
      const part = p.slice(from, end);
      if (!part || part === '.') continue;
      if (!node) fail(E.NOENT);
      if (!node.dir) fail(E.NOTDIR);
      if (part === '..') {
        node = up.pop() ?? fail(E.PERM);
        names.pop();
        continue;
      }
      if (part.length > 85 && text.encode(part).length > 255) fail(E.NAMETOOLONG);
      up.push(node);
      names.push(part);
      node = tree.kids(node).get(part);
      if (node?.link !== undefined && (follow & 1 || end < p.length)) {
        if (++links > 32) fail(E.LOOP);
        p = node.link + p.slice(end);
        node = up.pop();
        names.pop();
        end = -1;
      }
    }
    const last = p.charCodeAt(p.length - 1), slash = last === 47 || (last === 46 && /(^|\/)\.\.?$/.test(p));
    if (node && slash && !node.dir) fail(E.NOTDIR);
    return { node, slash, up, dir: up[up.length - 1], name: names[names.length - 1] ?? '' };
  };
  /** @param {any} dir @param {string} name @param {any} node */
  const attach = (dir, name, node) => {
    tree.kids(dir).set(name, node);
    dir.mtime = dir.ctime = w.now();
  };
  /** @param {any} dir @param {string} name */
  const detach = (dir, name) => {
    const node = tree.kids(dir).get(name);
    if (node && !node.dir) {
      node.links--;
      node.ctime = w.now();
    }
    tree.kids(dir).delete(name);
    dir.mtime = dir.ctime = w.now();
  };
  /** Times are milliseconds, or nanoseconds as a bigint where the program set them. */
  const ns = (/** @type {number | bigint} */ t) => (typeof t === 'bigint' ? t : BigInt(Math.round(t * 1e3)) * 1000n);
  const kindOf = (/** @type {any} */ node) => (node.dir ? 3 : node.link === undefined ? 4 : 7);
  /** @param {number} out @param {any} node @param {number} type */
  const filestat = (out, node, type) => {
    range(out, 64).fill(0);
    if (!node) return put.u64(out + 16, type), put.u64(out + 24, 1);
    put.u64(out, node.mount.index + 1);
    put.u64(out + 8, node.ino);
    put.u64(out + 16, type);
    put.u64(out + 24, node.links);
    put.u64(out + 32, node.size);
    put.u64(out + 40, ns(node.atime));
    put.u64(out + 48, ns(node.mtime));
    put.u64(out + 56, ns(node.ctime));
  };
  const typeOf = (/** @type {any} */ f) => (f.kind === 'dir' ? 3 : f.kind === 'file' ? 4 : 0);
  /** @param {any} node @param {bigint} atime @param {bigint} mtime @param {number} flags */
  const setTimes = (node, atime, mtime, flags) => {
    if ((flags & 3) === 3 || (flags & 12) === 12 || flags > 15) fail(E.INVAL);
    writable(node);
    const now = w.now();
    if (flags & 3) node.atime = flags & 2 ? now : BigInt.asUintN(64, atime);
    if (flags & 12) node.mtime = flags & 8 ? now : BigInt.asUintN(64, mtime);
    node.ctime = now;
  };
  /** @param {any} f @param {number} size @param {boolean} grow */
  const setSize = (f, size, grow) => {
    if (!(size >= 0 && size <= 2 ** 32)) fail(size < 0 || size > 2 ** 53 ? E.INVAL : E.FBIG);
    writable(f.node);
    if (grow && size <= f.node.size) return;
    tree.content(f.node);
    countWritten(Math.max(0, size - f.node.size));
    tree.resize(f.node, size);
  };
  /** @param {any} f @param {number} iovs @param {number} count @param {number} at */
  const readAt = (f, iovs, count, at) => {
    const p = spans(iovs, count), v = view(), b = w.bytes(), { node } = f, data = tree.content(node), { size } = node;
    let got = 0;
    for (let i = p; i < p + count * 8 && at < size; i += 8) {
      const to = v.getUint32(i, true), n = Math.min(v.getUint32(i + 4, true), size - at);
      if (n <= 16) for (let k = 0; k < n; k++) b[to + k] = data[at + k];
      else b.set(at || n < data.length ? data.subarray(at, at + n) : data, to);
      got += n;
      at += n;
    }
    node.atime = w.now();
    return countRead(got);
  };
  /** @param {any} f @param {Uint8Array[]} list @param {number} at */
  const writeAt = (f, list, at) => {
    writable(f.node);
    const n = list.reduce((n, b) => n + b.length, 0), end = at + n;
    if (!n) return 0;
    if (end > 2 ** 32) fail(E.FBIG);
    tree.content(f.node);
    countWritten(n + Math.max(0, at - f.node.size));
    if (end > f.node.size) tree.resize(f.node, end);
    const data = tree.reserve(f.node, f.node.size);
    for (const b of list) {
      data.set(b, at);
      at += b.length;
    }
    f.node.mtime = f.node.ctime = w.now();
    return n;
  };
  const offset = (/** @type {bigint} */ v) => (v < 0n || v > 1n << 52n ? fail(E.INVAL) : Number(v));

  /** @param {number} n @param {number} follow @param {number} at @param {number} len @param {number} oflags @param {bigint} rights @param {bigint} inherit @param {number} flags @param {number} out */
  const pathOpen = (n, follow, at, len, oflags, rights, inherit, flags, out) => {
    const d = dirFd(n, R.open), p = path(at, len), CREATE = 1, DIRECTORY = 2, EXCL = 4, TRUNC = 8;
    inside(out, 4);
    if (oflags > 15 || flags > 31) fail(E.INVAL);
    const want = Number(rights & 0x3fffffffn), hand = Number(inherit & 0x3fffffffn) & (FILE | DIR);
    const spare = want & (FILE | DIR) & ~d.inherit;
    if (spare || hand & ~d.inherit || (oflags & CREATE && !(d.rights & R.create)) || (oflags & TRUNC && !(d.rights & R.resize))) fail(E.NOTCAPABLE);
    const found = find(d.node, p, follow);
    let node = found.node;
    if (node?.link !== undefined) fail(oflags & CREATE && oflags & EXCL ? E.EXIST : oflags & DIRECTORY ? E.NOTDIR : E.LOOP);
    if (!node) {
      if (!(oflags & CREATE)) fail(E.NOENT);
      if (oflags & DIRECTORY) fail(E.INVAL);
      if (found.slash) fail(E.ISDIR);
      writable(found.dir);
      if (fds.size >= limits.files + 3) fail(E.MFILE);
      countWritten(512); // the cost of a name
      attach(found.dir, found.name, (node = tree.make(false, found.dir.mount, w.now())));
      node.dirty = true;
    } else {
      if (oflags & CREATE && oflags & EXCL) fail(E.EXIST);
      if (oflags & DIRECTORY && !node.dir) fail(E.NOTDIR);
      if (node.dir && (oflags & TRUNC || want & (R.write | R.fdresize | R.allocate) && !(want & R.readdir))) fail(E.ISDIR);
      if (!node.dir && (oflags & TRUNC || (want & R.write && node.mount.readOnly && !(want & R.readdir)))) writable(node);
      if (fds.size >= limits.files + 3) fail(E.MFILE);
      if (oflags & TRUNC) {
        node.data = BAILEY_EMPTY;
        node.size = 0;
        node.dirty = true;
        node.mtime = node.ctime = w.now();
      }
    }
    put.u32(out, open({ kind: node.dir ? 'dir' : 'file', node, at: 0, rights: want & (node.dir ? DIR : FILE), inherit: hand, flags }));
  };

  /** @param {number} n @param {number} buf @param {number} len @param {bigint} cookie @param {number} used */
  const readdir = (n, buf, len, cookie, used) => {
    const f = dirFd(n, R.readdir), room = range(buf, len);
    inside(used, 4);
    if (cookie === 0n || !f.rows) {
      f.rows = [['.', f.node], ['..', f.node], ...tree.kids(f.node)];
      f.node.atime = w.now();
    }
    let at = 0;
    const head = new DataView(new ArrayBuffer(24));
    for (let i = Number(cookie); i < f.rows.length && at < room.length; i++) {
      const [name, node] = f.rows[i], encoded = text.encode(name);
      head.setBigUint64(0, BigInt(i + 1), true);
      head.setBigUint64(8, BigInt(node.ino), true);
      head.setUint32(16, encoded.length, true);
      head.setUint8(20, kindOf(node));
      for (const b of [new Uint8Array(head.buffer), encoded]) {
        const part = b.subarray(0, room.length - at);
        room.set(part, at);
        at += part.length;
      }
    }
    put.u32(used, at);
  };

  /** @param {any} from @param {any} to */
  const rename = (from, to) => {
    if (!from.node) fail(E.NOENT);
    if (!from.dir || !to.dir) fail(10); // the folder of a descriptor itself: EBUSY
    if (from.dir.mount !== to.dir.mount) fail(E.XDEV);
    writable(from.dir);
    if (to.node === from.node) return;
    if (from.node.dir && to.up.includes(from.node)) fail(E.INVAL);
    if (to.node) {
      if (from.node.dir && !to.node.dir) fail(E.NOTDIR);
      if (!from.node.dir && to.node.dir) fail(E.ISDIR);
      if (to.node.dir && tree.kids(to.node).size) fail(E.NOTEMPTY);
    } else if (to.slash && !from.node.dir) fail(E.NOTDIR);
    tree.kids(to.dir);
    if (from.node.dir) loadAll(from.node);
    if (to.node) detach(to.dir, to.name);
    tree.kids(from.dir).delete(from.name);
    from.dir.mtime = from.dir.ctime = w.now();
    attach(to.dir, to.name, from.node);
  };
  /** Loads all folders below a folder that moves, so that their files can be listed as moved. @param {any} dir */
  const loadAll = (dir) => {
    for (const node of tree.kids(dir).values()) if (node.dir) loadAll(node);
  };
  /** Returns what find found if a new name may be made there, which no folder is. @param {ReturnType<typeof find>} found */
  const newName = (found) => (found.node ? fail(E.EXIST) : found.slash ? fail(E.NOENT) : found);
  /** @param {number} n @param {number} at @param {number} len @param {boolean} dir */
  const remove = (n, at, len, dir) => {
    const found = find(dirFd(n, dir ? R.rmdir : R.unlink).node, path(at, len));
    if (!found.node) fail(E.NOENT);
    if (dir && !found.node.dir) fail(E.NOTDIR);
    if (!dir && found.node.dir) fail(E.ISDIR);
    if (!found.dir) fail(E.INVAL);
    writable(found.dir);
    if (dir && tree.kids(found.node).size) fail(E.NOTEMPTY);
    detach(found.dir, found.name);
  };

  /** @type {Record<string, (...a: any[]) => any>} */
  const functions = {
    fd_advise: (n, off, len, advice) => {
      fileFd(n, R.advise);
      if (advice > 5 || off < 0n || len < 0n) fail(E.INVAL);
    },
    fd_allocate: (n, off, len) => {
      const f = fileFd(n, R.allocate);
      if (len <= 0n) fail(E.INVAL);
      setSize(f, offset(off) + offset(len), true);
    },
    fd_close: (n) => (fd(n), void fds.delete(n)),
    fd_datasync: (n) => void fd(n, fds.get(n)?.kind === 'file' || fds.get(n)?.kind === 'dir' ? R.datasync : 0),
    fd_sync: (n) => void fd(n, fds.get(n)?.kind === 'file' || fds.get(n)?.kind === 'dir' ? R.sync : 0),
    fd_fdstat_get: (n, out) => {
      const f = fd(n);
      range(out, 24).fill(0);
      view().setUint8(out >>> 0, typeOf(f));
      view().setUint16((out >>> 0) + 2, f.flags, true);
      put.u64(out + 8, f.rights);
      put.u64(out + 16, f.inherit);
    },
    fd_fdstat_set_flags: (n, flags) => {
      const f = fd(n, R.setflags);
      if (flags > 31) fail(E.INVAL);
      if (flags & 26) fail(E.NOTSUP); // the sync flags can't be set later
      f.flags = flags;
    },
    fd_fdstat_set_rights: (n, rights, inherit) => {
      const f = fd(n), r = Number(BigInt.asUintN(64, rights)), i = Number(BigInt.asUintN(64, inherit));
      if (r > 2 ** 30 || i > 2 ** 30 || r & ~f.rights || i & ~f.inherit) fail(E.NOTCAPABLE);
      f.rights = r;
      f.inherit = i;
    },
    fd_filestat_get: (n, out) => {
      const f = fd(n, R.fdstat);
      filestat(out, f.node, typeOf(f));
    },
    fd_filestat_set_size: (n, size) => setSize(fileFd(n, R.fdresize), Number(size), false),
    fd_filestat_set_times: (n, atime, mtime, flags) => {
      const f = fd(n, R.fdtimes);
      setTimes(f.node ?? fail(E.INVAL), atime, mtime, flags);
    },
    fd_pread: (n, iovs, count, off, out) => {
      const f = fileFd(n, R.read | R.seek);
      inside(out, 4);
      put.u32(out, readAt(f, iovs, count, offset(off)));
    },
    fd_pwrite: (n, iovs, count, off, out) => {
      const f = fileFd(n, R.write | R.seek);
      inside(out, 4);
      put.u32(out, writeAt(f, vectors(iovs, count), f.flags & 1 ? f.node.size : offset(off)));
    },
    fd_read: (n, iovs, count, out) => {
      const f = fd(n, R.read);
      inside(out, 4);
      if (f.kind === 'dir') fail(E.ISDIR);
      if (f.kind === 'in') return put.u32(out, w.readStream(f, iovs, count));
      const got = readAt(f, iovs, count, f.at);
      f.at += got;
      put.u32(out, got);
    },
    fd_write: (n, iovs, count, out) => {
      const f = fd(n, R.write);
      inside(out, 4);
      if (f.kind === 'out') return put.u32(out, w.writeStream(f, iovs, count));
      const list = vectors(iovs, count);
      if (f.flags & 1) f.at = f.node.size;
      const sent = writeAt(f, list, f.at);
      f.at += sent;
      put.u32(out, sent);
    },
    fd_prestat_get: (n, out) => {
      const p = fd(n).preopen ?? fail(E.BADF);
      inside(out, 8);
      put.u32(out, 0);
      put.u32(out + 4, text.encode(p).length);
    },
    fd_prestat_dir_name: (n, at, len) => {
      const p = text.encode(fd(n).preopen ?? fail(E.BADF));
      if (len < p.length) fail(E.NAMETOOLONG);
      range(at, p.length).set(p);
    },
    fd_readdir: readdir,
    fd_renumber: (from, to) => {
      const f = fd(from);
      fd(to);
      fds.delete(from);
      fds.set(to, f);
    },
    fd_seek: (n, off, whence, out) => {
      const f = fileFd(n, off === 0n && whence === 1 ? R.tell : R.seek);
      if (whence > 2) fail(E.INVAL);
      const at = BigInt([0, f.at, f.node.size][whence]) + off;
      if (at < 0n || at > 1n << 52n) fail(E.INVAL);
      inside(out, 8);
      f.at = Number(at);
      put.u64(out, at);
    },
    fd_tell: (n, out) => put.u64(out, fileFd(n, R.tell).at),
    path_create_directory: (n, at, len) => {
      const found = find(dirFd(n, R.mkdir).node, path(at, len));
      if (found.node) fail(E.EXIST);
      writable(found.dir);
      countWritten(512);
      attach(found.dir, found.name, tree.make(true, found.dir.mount, w.now()));
    },
    path_filestat_get: (n, follow, at, len, out) => {
      const { node } = find(dirFd(n, R.stat).node, path(at, len), follow);
      if (!node) fail(E.NOENT);
      filestat(out, node, kindOf(node));
    },
    path_filestat_set_times: (n, follow, at, len, atime, mtime, flags) => {
      const { node } = find(dirFd(n, R.times).node, path(at, len), follow);
      setTimes(node ?? fail(E.NOENT), atime, mtime, flags);
    },
    path_link: (n, follow, at, len, to, toAt, toLen) => {
      const found = find(dirFd(n, R.linkFrom).node, path(at, len));
      if (follow & 1) fail(E.INVAL);
      if (!found.node) fail(E.NOENT);
      const target = newName(find(dirFd(to, R.linkTo).node, path(toAt, toLen)));
      if (found.node.dir) fail(E.PERM);
      if (found.node.mount !== target.dir.mount) fail(E.XDEV);
      writable(target.dir);
      if (found.node.links >= 1000) fail(34); // EMLINK
      countWritten(512);
      found.node.links++;
      attach(target.dir, target.name, found.node);
      found.node.ctime = w.now();
    },
    path_open: pathOpen,
    path_readlink: (n, at, len, buf, room, used) => {
      const { node } = find(dirFd(n, R.readlink).node, path(at, len)), to = range(buf, room);
      inside(used, 4);
      if (!node) fail(E.NOENT);
      if (node.link === undefined) fail(E.INVAL);
      const b = node.data.subarray(0, to.length);
      to.set(b);
      put.u32(used, b.length);
    },
    path_remove_directory: (n, at, len) => remove(n, at, len, true),
    path_rename: (n, at, len, to, toAt, toLen) => {
      const from = find(dirFd(n, R.renameFrom).node, path(at, len));
      rename(from, find(dirFd(to, R.renameTo).node, path(toAt, toLen)));
    },
    path_symlink: (at, len, n, toAt, toLen) => {
      const link = path(at, len), found = newName(find(dirFd(n, R.symlink).node, path(toAt, toLen)));
      if (!link) fail(E.NOENT);
      if (link[0] === '/') fail(E.PERM);
      writable(found.dir);
      const data = text.encode(link);
      countWritten(512 + data.length);
      const node = tree.make(false, found.dir.mount, w.now());
      Object.assign(node, { link, data, size: data.length, dirty: true });
      attach(found.dir, found.name, node);
    },
    path_unlink_file: (n, at, len) => remove(n, at, len, false),
  };
  return functions;
};
