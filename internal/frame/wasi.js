// @ts-check
// WASI preview1 without files: arguments, clocks, random numbers, standard streams,
// poll_oneoff and proc_exit. wasifiles.js has the rest. Every function is synchronous. It may
// throw an errno as a number. It may throw a BaileyWait before it has changed anything, to be
// called again later (only with JSPI). It may throw a BaileyExit, which ends the program.

class BaileyExit {
  /** @param {number} code */
  constructor(code) {
    this.code = code;
  }
}

/** Thrown to end the run with an error, such as a limit that was hit. */
class BaileyStop {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    this.code = code;
    this.message = message;
  }
}

/** @typedef {{kind: 'in' | 'out' | 'file' | 'dir', node?: any, at: number, rights: number, inherit: number, flags: number, preopen?: string, rows?: any[], out?: number}} BaileyFd */

/**
 * @param {any} config args, env, limits, clock, seed
 * @param {any} host functions of the runner: put(fd, bytes), wait(n) for room, input(), more()
 * @param {ReturnType<typeof baileyTree>} tree
 * @param {boolean} suspends */
const baileyWasi = (config, host, tree, suspends) => {
  'use strict';
  const E = { BADF: 8, EXIST: 20, FAULT: 21, FBIG: 22, ILSEQ: 25, INVAL: 28, IO: 29, ISDIR: 31, LOOP: 32, MFILE: 33, NAMETOOLONG: 37, NOENT: 44, NOSYS: 52, NOTDIR: 54,
    NOTEMPTY: 55, NOTSOCK: 57, NOTSUP: 58, PERM: 63, ROFS: 69, SPIPE: 70, XDEV: 75, NOTCAPABLE: 76 };
  /** @param {number} errno @returns {never} */
  const fail = (errno) => {
    throw errno;
  };
  const { limits } = config, text = new TextEncoder();
  /** @type {WebAssembly.Memory} */
  let memory;
  let bytes = BAILEY_EMPTY, view = new DataView(bytes.buffer);
  /** Returns a view of the memory. After memory.grow the old views are empty. */
  const look = () => {
    if (!bytes.length) {
      bytes = new Uint8Array(memory.buffer);
      view = new DataView(memory.buffer);
    }
    return view;
  };
  /** Returns at as an unsigned address. Throws EFAULT unless all n bytes are in the memory. @param {number} at @param {number} n */
  const inside = (at, n) => {
    look();
    at >>>= 0;
    return at + (n >>> 0) <= bytes.length ? at : fail(E.FAULT);
  };
  /** Returns n bytes of the program's memory. @param {number} at @param {number} n */
  const range = (at, n) => ((at = inside(at, n)), bytes.subarray(at, at + (n >>> 0)));
  const put = {
    /** @type {(at: number, v: number) => void} */
    u32: (at, v) => ((at = inside(at, 4)), view.setUint32(at, v, true)),
    /** @type {(at: number, v: number | bigint) => void} */
    u64: (at, v) => ((at = inside(at, 8)), view.setBigUint64(at, BigInt.asUintN(64, BigInt(v)), true)),
  };
  /** Returns the address of a list of iovecs. Throws EFAULT unless all their buffers are in the memory. @param {number} at @param {number} n */
  const spans = (at, n) => {
    if (n >>> 0 > 1024) fail(E.INVAL);
    at = inside(at, n * 8);
    for (let i = 0, p = at; i < n; i++, p += 8) inside(view.getUint32(p, true), view.getUint32(p + 4, true));
    return at;
  };
  /** Returns the buffers of a list of iovecs. @param {number} at @param {number} n */
  const vectors = (at, n) => {
    const list = [];
    for (let i = 0, p = spans(at, n); i < n; i++, p += 8) list.push(range(view.getUint32(p, true), view.getUint32(p + 4, true)));
    return list;
  };

  // --- arguments and environment ------------------------------------------------
  /** @param {string[]} list */
  const strings = (list) => {
    const all = list.map((s) => text.encode(s + '\0'));
    return {
      /** @type {(count: number, size: number) => void} */
      sizes: (count, size) => (put.u32(count, all.length), put.u32(size, all.reduce((n, b) => n + b.length, 0))),
      /** @type {(ptrs: number, buf: number) => void} */
      get: (ptrs, buf) => {
        for (const b of all) {
          range(buf, b.length).set(b);
          put.u32(ptrs, buf);
          ptrs += 4;
          buf += b.length;
        }
      },
    };
  };
  const args = strings(config.args), environ = strings(config.env);

  // --- clocks ---------------------------------------------------------------------
  // A fake clock begins at a given time. Each reading advances it by its resolution, and a
  // sleep by its duration. So equal runs see equal times.
  const step = BigInt(config.resolution), fake = config.time !== undefined;
  let faked = 0n;
  const began = performance.now();
  /** Returns nanoseconds since a second, or a step, before the start. Go fails at a time of zero. */
  const since = () => (fake ? (faked += step) : ((BigInt(Math.round((performance.now() - began) * 1e6)) + (step > 1000000000n ? step : 1000000000n)) / step) * step);
  /** Returns nanoseconds since 1970. */
  const real = () => (fake ? BigInt(config.time) + since() : (BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e3)) * 1000n / step) * step);
  const plain = fake || step % 1000n || config.resolution > 1e12 ? 0 : config.resolution / 1000;
  /** Returns milliseconds since 1970, without a bigint if the step is in microseconds. */
  const now = () => (plain ? (Math.floor(Math.round((performance.timeOrigin + performance.now()) * 1e3) / plain) * plain) / 1e3 : Number(real() / 1000n) / 1000);
  /** @param {number} id */
  const clock = (id) => (id === 0 ? real() : id >= 1 && id <= 3 ? since() : fail(E.INVAL));

  // --- random ------------------------------------------------------------------------
  /** sfc32, for runs with repeatable random numbers. @param {number[]} s */
  const seeded = ([a, b, c, d]) => () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t & 255;
  };
  const seed = config.seed && seeded(config.seed);
  if (seed) for (let i = 0; i < 16; i++) seed();
  /** @param {Uint8Array} b */
  const random = (b) => {
    if (seed) for (let i = 0; i < b.length; i++) b[i] = seed();
    else for (let i = 0; i < b.length; i += 65536) crypto.getRandomValues(/** @type {Uint8Array<ArrayBuffer>} */ (b.subarray(i, i + 65536)));
  };

  // --- descriptors ------------------------------------------------------------------
  // Rights are below 2^30. Streams: read, write, fdstat_set_flags, filestat_get, poll.
  const RIGHTS = { in: 0x8200002 | 8, out: 0x8200040 | 8 };
  /** @type {Map<number, BaileyFd>} */
  const fds = new Map([
    [0, { kind: 'in', at: 0, rights: RIGHTS.in, inherit: 0, flags: 0 }],
    [1, { kind: 'out', out: 1, at: 0, rights: RIGHTS.out, inherit: 0, flags: 1 }],
    [2, { kind: 'out', out: 2, at: 0, rights: RIGHTS.out, inherit: 0, flags: 1 }],
  ]);
  const stats = { read: 0, written: 0, opened: 0 };
  /** @param {number} n @param {number} [right] */
  const fd = (n, right = 0) => {
    const f = fds.get(n) ?? fail(E.BADF);
    return (f.rights & right) === right ? f : fail(E.NOTCAPABLE);
  };
  /** @param {BaileyFd} f */
  const open = (f) => {
    if (fds.size >= limits.files + 3) fail(E.MFILE);
    let n = 3;
    while (fds.has(n)) n++;
    fds.set(n, f);
    stats.opened = Math.max(stats.opened, fds.size - 3);
    return n;
  };

  // --- streams -------------------------------------------------------------------------
  /** @param {BaileyFd} f @param {number} iovs @param {number} n */
  const readStream = (f, iovs, n) => {
    const list = vectors(iovs, n);
    const from = host.input(); // undefined: nothing yet, empty: the end
    if (!from) return f.flags & 4 ? fail(6) : waitFor(host.more);
    let got = 0;
    for (const b of list) {
      const part = host.take(b.length);
      b.set(part);
      got += part.length;
      if (part.length < b.length) break;
    }
    return got;
  };
  /** @param {BaileyFd} f @param {number} iovs @param {number} n */
  const writeStream = (f, iovs, n) => {
    const list = vectors(iovs, n);
    if (suspends && !host.room()) return f.flags & 4 ? fail(6) : waitFor(host.wait);
    let sent = 0;
    for (const b of list) {
      if (b.length) host.put(f.out, b);
      sent += b.length;
    }
    return sent;
  };
  /** @param {() => Promise<unknown>} start @returns {never} */
  const waitFor = (start) => {
    if (!suspends) throw new BaileyStop('SANDBOX_ERROR', 'this browser has no JSPI: input has to be complete before the start');
    throw new BaileyWait(start);
  };

  // --- poll ------------------------------------------------------------------------------
  /** Blocks the thread, for programs that cannot suspend. @param {number} ms */
  const block = (ms) => {
    try {
      // Atomics.wait requires shared memory. Nothing else uses this one.
      Atomics.wait(new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer), 0, 0, ms);
    } catch {
      for (const end = performance.now() + ms; performance.now() < end; );
    }
  };
  /** @param {number} at @param {number} out @param {number} n @param {number} count */
  const poll = (at, out, n, count) => {
    if (!n) fail(E.INVAL);
    range(at, n * 48);
    range(out, n * 32);
    /** @type {{user: bigint, tag: number, errno: number, ready: boolean, bytes: number, wait: number}[]} */
    const subs = [];
    for (let i = 0, p = at >>> 0; i < n; i++, p += 48) {
      const s = { user: view.getBigUint64(p, true), tag: view.getUint8(p + 8), errno: 0, ready: false, bytes: 0, wait: Infinity };
      subs.push(s);
      if (s.tag === 0) {
        const id = view.getUint32(p + 16, true), timeout = view.getBigUint64(p + 24, true), absolute = view.getUint16(p + 40, true) & 1;
        if (id > 3) {
          s.errno = E.INVAL;
          s.wait = 0;
          continue;
        }
        const left = absolute ? timeout - (clock(id) - (fake ? step : 0n)) : timeout;
        s.wait = left > 0n ? Number(left) / 1e6 : 0;
        continue;
      }
      if (s.tag > 2) fail(E.INVAL);
      const f = fds.get(view.getUint32(p + 16, true));
      s.ready = true;
      if (!f) s.errno = E.BADF;
      else if (!(f.rights & 0x8000000)) s.errno = E.NOTCAPABLE;
      else if (f.kind === 'in') {
        const from = host.input();
        s.ready = !!from;
        s.bytes = from?.length ?? 0;
      } else if (f.kind === 'out') s.ready = !suspends || host.room();
      else if (f.kind === 'file') s.bytes = Math.max(0, f.node.size - f.at);
    }
    const write = () => {
      look();
      let events = 0, p = out >>> 0;
      for (const s of subs) {
        if (!s.ready && !(s.tag === 0 && s.wait <= 0)) continue;
        bytes.fill(0, p, p + 32);
        view.setBigUint64(p, s.user, true);
        view.setUint16(p + 8, s.errno, true);
        view.setUint8(p + 10, s.tag);
        view.setBigUint64(p + 16, BigInt(s.bytes), true);
        p += 32;
        events++;
      }
      put.u32(count, events);
    };
    const soonest = Math.min(...subs.map((s) => s.wait));
    const elapse = () => subs.forEach((s) => (s.wait -= soonest));
    if (subs.some((s) => s.ready) || soonest <= 0) return write();
    const input = subs.some((s) => s.tag === 1 && !s.ready), output = subs.some((s) => s.tag === 2 && !s.ready);
    if (fake && soonest < Infinity && !input && !output) {
      faked += BigInt(Math.round(soonest * 1e6));
      elapse();
      return write();
    }
    host.flush();
    if (!suspends) {
      if (soonest === Infinity) waitFor(host.more);
      block(soonest);
      elapse();
      return write();
    }
    const waits = [];
    if (soonest < Infinity) waits.push(new Promise((ok) => setTimeout(ok, soonest)).then(elapse));
    if (input) waits.push(host.more().then(() => subs.forEach((s) => (s.ready ||= s.tag === 1 && !!host.input()))));
    if (output) waits.push(host.wait().then(() => subs.forEach((s) => (s.ready ||= s.tag === 2))));
    return Promise.race(waits).then(write);
  };

  /** @type {Record<string, (...a: any[]) => any>} */
  const functions = {
    args_get: args.get,
    args_sizes_get: args.sizes,
    environ_get: environ.get,
    environ_sizes_get: environ.sizes,
    clock_res_get: (id, out) => put.u64(out, (clock(id), step)),
    clock_time_get: (id, _, out) => put.u64(out, clock(id)),
    poll_oneoff: poll,
    proc_exit: (code) => {
      throw new BaileyExit(code >>> 0);
    },
    proc_raise: () => fail(E.NOTSUP),
    sched_yield: () => {},
    random_get: (at, n) => random(range(at, n)),
    sock_accept: (n) => (fd(n), fail(E.NOTSOCK)),
    sock_recv: (n) => (fd(n), fail(E.NOTSOCK)),
    sock_send: (n) => (fd(n), fail(E.NOTSOCK)),
    sock_shutdown: (n) => (fd(n), fail(E.NOTSOCK)),
  };
  return { E, fail, inside, spans, range, put, vectors, view: look, bytes: () => (look(), bytes), fds, fd, open, stats, limits, functions, readStream, writeStream, now, real, tree, host, setMemory: (/** @type {WebAssembly.Memory} */ m) => void (memory = m) };
};
