// @ts-check
// The wire between the host and the broker of a WebAssembly program, and between the broker and
// the worker that runs the program. wasm.go is its twin. A message is bytes: its kind, on the way
// to the host the generation as a u32, and the fields of the kind.

/** @typedef {{id: number, module: number, mode: string, config: string, tree?: Uint8Array, stdin?: Uint8Array, gen: number,
 *   limits: {time: number, output: number, message: number, asks: number}}} BaileyStart */
/** @typedef {{op: 'ack', n: number} | {op: 'in', data: Uint8Array} | {op: 'answer', id: number, data?: Uint8Array, errno?: number}} BaileyReply */

/** @typedef {{read?: number, written?: number, memory?: number, files?: number, input?: number}} BaileyFigures */

const baileyWasm = (() => {
  'use strict';
  const STARTED = 1, OUTPUT = 2, WANTED = 3, EXITED = 4, FAILED = 5, ASKED = 6, RETURNED = 7, STOPPED = 8, COMPILED = 9;
  const begin = (/** @type {number} */ op) => {
    const p = new Packer();
    p.u8(op);
    return p;
  };
  const text = (/** @type {Packer} */ p, /** @type {string} */ s) => (p.string(s), p.packed());
  const figures = (/** @type {Packer} */ p, /** @type {BaileyFigures} */ f) => {
    p.f64(f.read ?? 0);
    p.f64(f.written ?? 0);
    p.f64(f.memory ?? 0);
    p.u32(f.files ?? 0);
    p.f64(f.input ?? 0);
    return p;
  };
  const failure = (/** @type {Packer} */ p, /** @type {string} */ code, /** @type {string} */ message, /** @type {BaileyFigures} */ f) => {
    p.string(code);
    p.string(message);
    return figures(p, f).packed();
  };
  return {
    STARTED, OUTPUT, WANTED, EXITED, FAILED, ASKED, STOPPED,
    ASK_DIR: 1, ASK_FILE: 2, ASK_FUNC: 7,
    REMOVE: 1, REMOVE_DIR: 2, MAKE_DIR: 3, WRITE: 4, RENAME: 5, SYMLINK: 6, LINK: 7,

    // From the worker. Output is {u8 descriptor, bytes} here.
    /** @param {number} fd @param {Uint8Array} b */
    output: (fd, b) => {
      const m = new Uint8Array(2 + b.length);
      m[0] = OUTPUT;
      m[1] = fd;
      m.set(b, 2);
      return m;
    },
    wanted: () => begin(WANTED).packed(),
    /** The caller appends the number of changes and each change. @param {number} code @param {BaileyFigures} f */
    exited: (code, f) => {
      const p = begin(EXITED);
      p.u32(code);
      return figures(p, f);
    },
    /** @param {Packer} p @param {number} kind @param {number} mount @param {string} path */
    change: (p, kind, mount, path) => {
      p.u8(kind);
      p.u8(mount);
      p.string(path);
    },
    /** @param {string} code @param {string} message @param {BaileyFigures} f */
    failed: (code, message, f) => failure(begin(FAILED), code, message, f),
    /** @param {number} id @param {number} kind @param {number} mount @param {string} path */
    asked: (id, kind, mount, path) => {
      const p = begin(ASKED);
      p.u32(id);
      p.u8(kind);
      p.u8(mount);
      return text(p, path);
    },
    /** @param {string[]} results */
    returned: (results) => text(begin(RETURNED), JSON.stringify(results)),

    // From the broker.
    /** @param {number} op @param {number} gen @param {Uint8Array[]} parts */
    message: (op, gen, parts) => {
      const m = new Uint8Array(parts.reduce((n, b) => n + b.length, 5));
      m[0] = op;
      new DataView(m.buffer).setUint32(1, gen, true);
      let at = 5;
      for (const b of parts) {
        m.set(b, at);
        at += b.length;
      }
      return m;
    },
    /** The head of a piece of output, which may grow until the piece is sent. @param {number} fd */
    piece: (fd) => new DataView(new Uint8Array([fd, 0, 0, 0, 0]).buffer),
    /** @param {DataView} piece @param {number} n */
    grow: (piece, n) => piece.setUint32(1, piece.getUint32(1, true) + n, true),
    /** The part of a message of the kind STOPPED. @param {string} code @param {string} message */
    stopped: (code, message) => failure(new Packer(), code, message, {}),
    /** @param {number} id @param {string} why */
    compiled: (id, why) => {
      const p = begin(COMPILED);
      p.u32(id);
      return text(p, why);
    },
  };
})();
