// @ts-check
// The files of one run of a WebAssembly program, as one tree in memory for each mount. A
// snapshot tree arrives with the run. A lazy tree is requested folder by folder and file by
// file. Changes of the program stay here. At the end changes() lists them for the host, which
// compares and swaps. Errors are thrown as numbers, WASI preview1's errno.

/** Decodes a packed message of the host. It is the counterpart of jsx.Packer. */
class BaileyUnpacker {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.text = new TextDecoder('utf-8', { ignoreBOM: true });
  }
  u8() {
    return this.bytes[this.at++];
  }
  u32() {
    return (this.at += 4), this.view.getUint32(this.at - 4, true);
  }
  f64() {
    return (this.at += 8), this.view.getFloat64(this.at - 8, true);
  }
  raw() {
    const n = this.u32();
    return this.bytes.subarray(this.at, (this.at += n));
  }
  string() {
    return this.text.decode(this.raw());
  }
}

/** Thrown by a function that has to wait for the host. The function is called again after that. */
class BaileyWait {
  /** @param {() => Promise<unknown>} start */
  constructor(start) {
    this.start = start;
  }
}

/** The bytes of a snapshot's file begin at offset at. For other nodes at is -1.
 * A symbolic link has the path that it holds as link.
 * @typedef {{ino: number, dir: boolean, link?: string, kids?: Map<string, BaileyNode>, data?: Uint8Array, at: number, size: number, mtime: number | bigint, atime: number | bigint,
 *   ctime: number, links: number, mount: BaileyMount, from?: string, dirty: boolean, wait?: Promise<unknown>}} BaileyNode */
/** @typedef {{index: number, guest: string, readOnly: boolean, lazy: boolean, touched: boolean, root: BaileyNode, was: Map<string, BaileyNode>}} BaileyMount */

const BAILEY_EMPTY = new Uint8Array(0);

/** @param {Uint8Array | undefined} packed @param {{files: number, write: number}} limits
 *  @param {(kind: number, mount: number, path: string) => Promise<Uint8Array>} ask the host, for lazy mounts
 *  @param {() => number} now ms */
const baileyTree = (packed, limits, ask, now) => {
  'use strict';
  const { REMOVE, REMOVE_DIR, MAKE_DIR, WRITE, RENAME, SYMLINK, LINK } = baileyWasm;
  const E = { IO: 29, ISDIR: 31, NOENT: 44, NOTDIR: 54 };
  let inodes = 0;
  /** @type {(dir: boolean, mount: BaileyMount, mtime: number, from?: string) => BaileyNode} */
  const make = (dir, mount, mtime, from) => ({
    ino: ++inodes, dir, link: undefined, kids: dir ? new Map() : undefined, data: dir ? undefined : BAILEY_EMPTY, at: -1, size: 0, mtime, atime: mtime, ctime: mtime, links: 1, mount, from, dirty: false, wait: undefined,
  });
  /** Adds the host's list of the contents of a folder: all names, a row for each, and in a
   * snapshot the bytes of all files. @param {BaileyUnpacker} u @param {BaileyNode} dir @param {string} base */
  const list = (u, dir, base) => {
    const { mount } = dir, { lazy } = mount, n = u.u32(), names = u.string().split('\0'), { view } = u, rows = [dir];
    let at = u.at + n * 21;
    for (let i = 0, row = u.at; i < n; i++, row += 21) {
      const isDir = view.getUint8(row + 4) === 1, name = names[i];
      const node = make(isDir, mount, view.getFloat64(row + 5, true));
      rows.push(node);
      if (lazy) {
        node.kids = node.data = undefined;
        node.from = base + name;
        mount.was.set(node.from, node);
      }
      if (!isDir) {
        node.size = view.getFloat64(row + 13, true);
        if (!lazy) {
          node.data = undefined;
          node.at = at;
          at += node.size;
        }
      }
      /** @type {Map<string, BaileyNode>} */ (rows[view.getUint32(row, true)].kids).set(name, node);
    }
    u.at = at;
  };
  /** @type {BaileyMount[]} */
  const mounts = [];
  const u = new BaileyUnpacker(packed ?? new Uint8Array(4));
  for (let n = u.u32(), i = 0; i < n; i++) {
    const guest = u.string(), flags = u.u8();
    const mount = /** @type {BaileyMount} */ ({ index: i, guest, readOnly: !!(flags & 1), lazy: !!(flags & 2), touched: false, was: new Map() });
    mount.root = make(true, mount, now(), '');
    mounts.push(mount);
    if (mount.lazy) mount.root.kids = undefined;
    else list(u, mount.root, '');
  }
  /** Requests the missing content of a node, once. @param {BaileyNode} node @returns {never} */
  const need = (node) => {
    throw new BaileyWait(() => (node.wait ??= load(node).finally(() => (node.wait = undefined))));
  };
  /** @param {BaileyNode} node */
  const load = async (node) => {
    const answer = await ask(node.dir ? baileyWasm.ASK_DIR : baileyWasm.ASK_FILE, node.mount.index, node.from ?? '');
    if (node.dir) {
      node.kids = new Map();
      list(new BaileyUnpacker(answer), node, node.from ? node.from + '/' : '');
    } else {
      node.data = answer;
      node.size = answer.length;
    }
  };
  /** @param {BaileyNode} dir @returns {Map<string, BaileyNode>} */
  const kids = (dir) => (dir.dir ? (dir.kids ?? need(dir)) : fail(E.NOTDIR));
  /** @param {number} errno @returns {never} */
  const fail = (errno) => {
    throw errno;
  };
  /** Returns the bytes of a file. @param {BaileyNode} f */
  const content = (f) => f.data ?? (f.at < 0 ? need(f) : (f.data = u.bytes.subarray(f.at, f.at + f.size)));
  /** Gives a file its own buffer with room for size bytes. @param {BaileyNode} f @param {number} size */
  const reserve = (f, size) => {
    const old = content(f);
    if (f.dirty && old.length >= size) return old;
    const next = new Uint8Array(Math.max(size, f.dirty ? Math.min(old.length * 2, old.length + (64 << 20)) : 0));
    next.set(f.size < old.length ? old.subarray(0, Math.min(f.size, size)) : old.subarray(0, size));
    f.dirty = true;
    return (f.data = next);
  };
  /** @param {BaileyNode} f @param {number} size */
  const resize = (f, size) => {
    if (size < f.size) reserve(f, f.size).fill(0, size, f.size);
    else reserve(f, size);
    f.size = size;
    f.mtime = f.ctime = now();
  };
  /** Visits every node that is loaded. @param {BaileyNode} dir @param {string} prefix @param {(path: string, node: BaileyNode) => void} visit */
  const walk = (dir, prefix, visit) => {
    for (const [name, node] of dir.kids ?? []) {
      visit(prefix + name, node);
      if (node.dir) walk(node, prefix + name + '/', visit);
    }
  };
  /** Must be called before any change in a mount. It stores the previous contents.
   * @param {BaileyMount} mount */
  const touch = (mount) => {
    if (mount.touched) return;
    mount.touched = true;
    if (!mount.lazy) walk(mount.root, '', (path, node) => mount.was.set((node.from = path), node));
  };
  /** @param {string} path */
  const ancestors = function* (path) {
    for (let i = path.indexOf('/'); i > 0; i = path.indexOf('/', i + 1)) yield path.slice(0, i);
  };
  /** Packs the changes for the host, in an order in which it can apply them: first it removes
   * nodes that are replaced by another kind, then come folders, files and links, and at last the
   * other removals, the deepest first. A file that moved unchanged is renamed. Of the names of
   * one file the first gets its content, and the others become links to that name.
   * @param {any} out a Packer */
  const changes = async (out) => {
    /** @type {((p: any) => void)[]} */
    const rows = [];
    for (const m of mounts) {
      if (!m.touched) continue;
      /** @type {Map<string, BaileyNode>} */
      const is = new Map();
      /** @type {Map<BaileyNode, string>} the first name of each file that has several */
      const home = new Map();
      walk(m.root, '', (path, node) => {
        is.set(path, node);
        if (node.links > 1 && (!home.has(node) || m.was.get(path) === node)) home.set(node, path);
      });
      const linked = (/** @type {string} */ path, /** @type {BaileyNode | undefined} */ node) => !!node && (node.link !== undefined || (home.get(node) ?? path) !== path);
      const row = (/** @type {number} */ kind, /** @type {string} */ path, /** @type {(p: any) => void} */ more = () => {}) =>
        rows.push((p) => (baileyWasm.change(p, kind, m.index, path), more(p)));
      const gone = [...m.was].filter(([path, node]) => is.get(path)?.dir !== node.dir || linked(path, is.get(path))), left = new Set(gone.map(([path]) => path));
      const made = [...is].filter(([path, node]) => m.was.get(path)?.dir !== node.dir);
      gone.reverse();
      for (const [path, node] of gone) if (is.has(path) || [...ancestors(path)].some((up) => is.get(up)?.dir === false)) left.delete(path), row(node.dir ? REMOVE_DIR : REMOVE, path);
      for (const [path, node] of made) if (node.dir) row(MAKE_DIR, path);
      /** @type {[string, string][]} */
      const links = [];
      for (const [path, node] of is) {
        if (node.dir || (m.was.get(path) === node && !node.dirty)) continue;
        if (linked(path, node)) {
          const other = home.get(node) ?? path;
          if (other !== path) links.push([path, other]);
          else row(SYMLINK, path, (p) => p.string(node.link ?? ''));
          continue;
        }
        if (!node.dirty && node.from !== undefined && left.has(node.from) && m.was.get(node.from) === node && !m.was.has(path)) {
          left.delete(node.from);
          const from = node.from;
          row(RENAME, from, (p) => p.string(path));
          continue;
        }
        if (!node.data && node.at < 0) await load(node);
        row(WRITE, path, (p) => p.raw(content(node).subarray(0, node.size)));
      }
      for (const [path, other] of links) row(LINK, path, (p) => p.string(other));
      for (const [path, node] of gone) if (left.has(path)) row(node.dir ? REMOVE_DIR : REMOVE, path);
    }
    out.u32(rows.length);
    for (const r of rows) r(out);
  };
  return { mounts, make, kids, content, touch, reserve, resize, changes };
};
