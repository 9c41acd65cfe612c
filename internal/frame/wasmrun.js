// @ts-check
// The worker that runs one WebAssembly program once. It waits with everything loaded, receives
// the module and its files, runs, and reports the end. Then the broker terminates it. It is
// never used again.
const baileyRun = (/** @type {any} */ scope) => {
  'use strict';
  const { Memory, Table, Global } = WebAssembly;
  const WA = /** @type {any} */ (WebAssembly), hasJSPI = typeof WA.Suspending === 'function' && typeof WA.promising === 'function';
  // Small pieces of output are sent at once, so they are not lost if the program is killed.
  // A flood of them is gathered, and its last CHUNK may then be lost.
  const CHUNK = 16 << 10, BIG = 64 << 10, BURST = 64, WINDOW = 16;
  // Input is requested when less than this is left, so that it arrives while the program runs.
  const AHEAD = 128 << 10;
  /** Makes a function that returns thrown numbers as errnos, and calls again after a
   * BaileyWait. Nine arguments are the maximum of preview1, and cost less than a list.
   * @param {{fn: (...a: any[]) => any}} cell the function to call @param {boolean} suspends */
  const guard = (cell, suspends) => {
    /** @type {(...a: any[]) => any} */
    const call = (a, b, c, d, e, f, g, h, i) => {
      try {
        const r = cell.fn(a, b, c, d, e, f, g, h, i);
        return r instanceof Promise ? r.then(() => 0, failed) : 0;
      } catch (err) {
        if (err instanceof BaileyWait) {
          if (!suspends) throw new BaileyStop('SANDBOX_ERROR', 'this browser has no JSPI: files have to be mounted as a snapshot');
          return err.start().then(() => call(a, b, c, d, e, f, g, h, i), failed);
        }
        return failed(err);
      }
    };
    return call;
  };
  const failed = (/** @type {unknown} */ e) => {
    if (typeof e === 'number') return e;
    throw e;
  };
  // Functions that may have to wait: output for room, input until it is complete, and lazy
  // files. Every call of a function that may suspend has a cost, even if it does not suspend.
  const WAITS = /^(fd_write|poll_oneoff)/, LAZY = /^(fd_(read|pread|pwrite|readdir|allocate|filestat_set_size)|path_)/;
  /** Makes an instance. The implementations of its WASI functions are put into their cells later.
   * @param {WebAssembly.Module} module
   * @param {{mode: string, memory?: any, table?: any, hostFuncs?: string[]}} set mode: s it may wait, l for files, i for input
   * @param {(module: string, name: string) => any} [foreign] @param {any} [functions] WASI's, if the program starts now */
  const link = (module, set, foreign, functions) => {
    const { mode } = set, suspends = hasJSPI && mode.includes('s'), lazy = mode.includes('l');
    /** @type {Map<string, {fn: any}>} */
    const cells = new Map();
    /** @type {WebAssembly.Memory | undefined} */
    let memory;
    /** @type {any} */
    const imports = Object.create(null);
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      const of = (imports[from] ??= Object.create(null));
      if (from === 'wasi_snapshot_preview1' && kind === 'function') {
        const cell = cells.get(name) ?? { fn: functions?.[name] };
        cells.set(name, cell);
        const call = guard(cell, suspends), waits = WAITS.test(name) || (lazy && LAZY.test(name)) || (mode.includes('i') && name === 'fd_read');
        of[name] = suspends && waits ? new WA.Suspending(call) : call;
      } else if (kind === 'function' && set.hostFuncs?.includes(from + '\0' + name)) of[name] = foreign?.(from, name);
      else if (kind === 'memory') memory = of[name] = new Memory(set.memory);
      else if (kind === 'table') of[name] = new Table(set.table);
    }
    return { mode, suspends, cells, memory, instance: WebAssembly.instantiate(module, imports) };
  };
  /** (module (func (export "_start"))) */
  const NOTHING = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 10, 1, 6, 95, 115, 116, 97, 114, 116, 0, 0, 10, 4, 1, 2, 0, 11]);
  /** An instance made before the start. None of its module has run.
   * @type {{id: number, module: WebAssembly.Module, made: ReturnType<typeof link>} | undefined} */
  let ahead;

  const run = async (/** @type {any} */ start) => {
    const post = start.dry ? () => {} : scope.postMessage.bind(scope);
    const config = JSON.parse(start.config), { limits } = config, suspends = config.go || (hasJSPI && config.mode.includes('s'));
    const send = (/** @type {Uint8Array} */ b) => post(b, [b.buffer]);
    let written = 0, pieces = 0, window = 0, credit = limits.credit;
    /** @type {{fd: number, bytes: Uint8Array, n: number} | undefined} */
    let held;
    const flush = () => {
      const h = held;
      held = undefined;
      if (h) emit(h.fd, h.bytes.subarray(0, h.n));
    };
    const emit = (/** @type {number} */ fd, /** @type {Uint8Array} */ b) => {
      credit -= b.length;
      send(baileyWasm.output(fd, b));
    };
    // --- the program's streams ------------------------------------------------------
    /** @type {Uint8Array | undefined} */
    let input = start.stdin;
    /** Input that arrived while some was left. @type {Uint8Array | undefined} */
    let next;
    let ended = !!config.wholeInput, fed = 0, wanted = false;
    const want = () => {
      if (wanted || ended) return;
      wanted = true;
      send(baileyWasm.wanted());
    };
    /** @type {Map<number, (data: any) => void>} */
    const answers = new Map();
    let asked = 0;
    /** @type {{ok: () => void, promise: Promise<void>} | undefined} */
    let arrival;
    /** @type {{ok: () => void, promise: Promise<void>} | undefined} */
    let room;
    const later = () => {
      /** @type {any} */
      const l = {};
      l.promise = new Promise((ok) => (l.ok = ok));
      return l;
    };
    const host = {
      flush,
      put: (/** @type {number} */ fd, /** @type {Uint8Array} */ b) => {
        const left = limits.output - written, over = b.length > left;
        if (over) b = b.subarray(0, left);
        written += b.length;
        const now = performance.now();
        if (now - window > WINDOW) {
          window = now;
          pieces = 0;
          if (held && held.fd === fd && held.n + b.length > BIG) flush();
        }
        if (held && held.fd !== fd) flush();
        if (!b.length) flush();
        else if (!held && (++pieces <= BURST || b.length >= CHUNK)) emit(fd, b);
        else {
          held ??= { fd, bytes: new Uint8Array(CHUNK), n: 0 };
          while (b.length && held) {
            const part = b.subarray(0, CHUNK - held.n);
            held.bytes.set(part, held.n);
            held.n += part.length;
            b = b.subarray(part.length);
            if (held.n === CHUNK) {
              flush();
              if (b.length) held = { fd, bytes: new Uint8Array(CHUNK), n: 0 };
            }
          }
        }
        if (over) throw new BaileyStop('OUTPUT_TOO_LARGE', 'more than ' + limits.output + ' bytes of output');
      },
      room: () => credit > 0,
      wait: () => (flush(), credit > 0 ? Promise.resolve() : (room ??= later()).promise),
      input: () => (input?.length ? input : ended ? BAILEY_EMPTY : undefined),
      take: (/** @type {number} */ n) => {
        const part = (input ?? BAILEY_EMPTY).subarray(0, n);
        input = input?.subarray(part.length);
        fed += part.length;
        if (!input?.length && next) {
          input = next;
          next = undefined;
        }
        if (fed && !next && (input?.length ?? 0) < AHEAD) want();
        return part;
      },
      more: () => {
        flush();
        if (input?.length || ended) return Promise.resolve();
        want();
        return (arrival ??= later()).promise;
      },
    };
    const heard = (/** @type {MessageEvent} */ e) => {
      const m = /** @type {BaileyReply} */ (e.data);
      if (m.op === 'ack') {
        credit += m.n;
        if (credit > 0) room?.ok(), (room = undefined);
      } else if (m.op === 'in') {
        wanted = false;
        if (!m.data.length) ended = true;
        else if (input?.length) next = m.data;
        else input = m.data;
        arrival?.ok();
        arrival = undefined;
      } else if (m.op === 'answer') {
        answers.get(m.id)?.(m);
        answers.delete(m.id);
      }
    };
    if (!start.dry) scope.onmessage = heard;
    /** Asks the host. @type {(kind: number, mount: number, path: string) => Promise<any>} */
    const ask = (kind, mount, path) => {
      flush();
      const id = ++asked;
      send(baileyWasm.asked(id, kind, mount, path));
      return new Promise((ok, no) => answers.set(id, (m) => (m.errno ? no(m.errno) : ok(m.data))));
    };
    // --- the program -------------------------------------------------------------------
    /** @type {any} */
    let wasi;
    /** @type {any} */
    let tree;
    /** @type {WebAssembly.Memory | undefined} */
    let memory;
    const now = () => (wasi ? wasi.now() : Date.now());
    const finish = async (/** @type {number} */ code) => {
      flush();
      const p = baileyWasm.exited(code, figures());
      await tree.changes(p);
      send(p.packed());
    };
    const figures = () => ({ read: wasi?.stats.read, written: wasi?.stats.written, memory: memory?.buffer.byteLength, files: wasi?.stats.opened, input: fed });
    const lose = (/** @type {string} */ code, /** @type {string} */ message) => {
      flush();
      send(baileyWasm.failed(code, message.slice(0, 1000), figures()));
    };
    try {
      tree = baileyTree(start.tree, limits, ask, now);
      wasi = baileyWasi(config, host, tree, suspends);
      Object.assign(wasi.functions, baileyWasiFiles(wasi));
      /** Makes a function that calls the host with numbers and returns numbers. @type {(module: string, name: string) => any} */
      function foreign(module, name) {
        if (!suspends) throw new BaileyStop('SANDBOX_ERROR', 'this browser has no JSPI: a module cannot call functions of the host');
        return new WA.Suspending((/** @type {any[]} */ ...a) =>
          ask(baileyWasm.ASK_FUNC, 0, JSON.stringify([module, name, a.map((v) => (typeof v === 'bigint' ? 'n' + v : Object.is(v, -0) ? '-0' : String(v)))])).then((b) => {
            const s = new TextDecoder().decode(b);
            return s === '' ? undefined : s[0] === 'n' ? BigInt(s.slice(1)) : Number(s);
          }));
      }
      const ticks = async (/** @type {any} */ ex) => {
        for (const v of Object.values(ex)) if (v instanceof Memory) memory ??= v;
        if (!(ex['bailey:tick'] instanceof Table)) return;
        // Some engines do not stop a loop in WebAssembly. They stop in this function: not on entry,
        // but where a built-in function checks for exceptions. A table accepts only functions of
        // modules, so this module exports the function that it imports.
        const through = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 5, 1, 0, 0, 0, 0, 7, 4, 1, 0, 0, 0]));
        ex['bailey:tick'].set(0, /** @type {any} */ (new WebAssembly.Instance(through, { '': { '': () => JSON.parse('1') } }).exports)['']);
        if (ex['bailey:start']) await call(ex['bailey:start']);
      };
      const call = (/** @type {any} */ fn, /** @type {any[]} */ ...a) => (suspends && !config.go ? WA.promising(fn)(...a) : fn(...a));
      if (config.go) {
        const code = await scope.baileyGo({ config, wasi, host, module: start.module, ready: (/** @type {any} */ i) => ticks(i.exports) });
        return await finish(code >>> 0);
      }
      const made = !start.dry && ahead?.id === start.id && ahead?.made.mode === config.mode ? /** @type {any} */ (ahead).made : link(start.module ?? ahead?.module, config, foreign, wasi.functions);
      for (const [name, cell] of made.cells) cell.fn = wasi.functions[name];
      memory = made.memory;
      const { exports: ex } = /** @type {any} */ (await made.instance);
      for (const v of Object.values(ex)) if (v instanceof Memory) memory ??= v;
      if (ex.memory instanceof Memory) memory = ex.memory;
      wasi.setMemory(memory ?? new Memory({ initial: 0, maximum: 0 }));
      await ticks(ex);
      if (config.call === undefined) {
        await call(ex._start);
      } else {
        if (typeof ex._initialize === 'function') await call(ex._initialize);
        const fn = ex[config.call];
        if (typeof fn !== 'function') throw new BaileyStop('INVALID_PARAMS', 'the module exports no function ' + JSON.stringify(config.call));
        const r = await call(fn, ...config.params.map((/** @type {string} */ s) => (s[0] === 'n' ? BigInt(s.slice(1)) : Number(s))));
        const results = r === undefined ? [] : Array.isArray(r) ? r : [r];
        flush();
        send(baileyWasm.returned(results.map((v) => (typeof v === 'bigint' ? 'n' + v : v instanceof Global || typeof v === 'object' ? 'null' : Object.is(v, -0) ? '-0' : String(v)))));
      }
      await finish(0);
    } catch (err) {
      const e = /** @type {any} */ (err);
      if (e instanceof BaileyExit) return await finish(e.code);
      if (e instanceof BaileyStop) return lose(e.code, e.message);
      const name = String(e?.name ?? 'Error'), message = String(e?.message ?? e);
      lose(e instanceof WebAssembly.LinkError ? 'INVALID_PARAMS' : 'EXECUTION_ERROR', name + ': ' + message);
    }
  };
  scope.onmessage = (/** @type {MessageEvent} */ e) => {
    if (e.data.ahead) {
      const { id, module } = e.data, made = link(module, e.data.ahead);
      made.instance.catch(() => {}); // reported when it is to run
      ahead = { id, module, made };
      // Engines compile a function at its first call. To do this in advance, an empty program is
      // run, and its end is not reported.
      const config = JSON.stringify({ args: [], env: [], resolution: 1, mode: '', limits: {}, wholeInput: true });
      run({ dry: true, config, module: new WebAssembly.Module(NOTHING) });
      return;
    }
    scope.onmessage = null;
    run(e.data).catch((err) => scope.postMessage(baileyWasm.failed('SANDBOX_ERROR', String(err).slice(0, 1000), {})));
  };
};
