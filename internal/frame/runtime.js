// @ts-check
// The runtime runs beside the untrusted code, in its worker. It provides callTool, mcp,
// parallel, console and sleep, and sends the result. Its state is in the scope of this
// function, which the code does not share. It copied its built-ins before the code ran.
// Its counts only give honest code better errors, because the broker counts again. The
// code is in the same script, or arrives as a message and is imported.
const baileyRuntime = (/** @type {any} */ user, /** @type {Hardening} */ config) => {
  'use strict';
  const { keys, hasOwn, defineProperty, freeze, apply, isArray, Err, mend, cut, stringify } = baileyBuiltins;
  const { joinBatch, isToolName } = baileyBatch, { read } = baileyTags;
  const G = /** @type {any} */ (globalThis), P = Promise, { create } = Object, { then } = P.prototype, resolved = P.resolve.bind(P);
  // A worker is its own port. A frame was given one, to which nothing else has access.
  const way = G.baileyPort ?? G;
  delete G.baileyPort;
  const native = { post: way.postMessage, close: way.close, timer: G.setTimeout, cancel: G.clearTimeout, load: G.importScripts };
  const { createObjectURL, revokeObjectURL } = URL, BlobOf = Blob, { split, startsWith } = String.prototype;
  let names = config.names ?? [];
  /** @type {(url: string) => any} */
  let trust = (url) => url;
  if (!user && G.trustedTypes) {
    const policy = G.trustedTypes.createPolicy(config.policy[0], { createScriptURL: (/** @type {string} */ s) => s });
    trust = (url) => policy.createScriptURL(url);
  }
  const dataOf = /** @type {any} */ (Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data')).get;
  const stopEvent = Event.prototype.stopImmediatePropagation;
  const WIDE = { bytes: 1 << 28, depth: 256, nodes: 1e7 };
  const post = (/** @type {string} */ s) => apply(native.post, way, [s]);
  const max = Math.max, min = Math.min, floor = Math.floor;

  let gen = 0, ended = false, calls = 0, operations = 0;
  /** @type {any} */
  let limits;
  let caps = WIDE;
  /** Calls without an answer, by id. @type {Record<string, {resolve: (v: any) => void, reject: (e: any) => void}>} */
  let pending = create(null);
  /** Tool calls that wait for the end of this turn, to be sent together. */
  let queue = '', queued = 0;
  /** @type {{reason: any, on: boolean, sleepers: Record<string, (e: any) => void>}} */
  const abort = { reason: undefined, on: false, sleepers: create(null) };
  let sleepers = 0;

  const fail = (/** @type {string} */ code, /** @type {string} */ message, name = 'ToolError') => {
    const e = /** @type {any} */ (new Err(message));
    for (const [k, v] of [['name', name], ['code', code]]) defineProperty(e, k, { value: v, writable: true, configurable: true, enumerable: false });
    return e;
  };
  const flush = () => {
    if (!queue) return;
    const text = queue;
    queue = '';
    queued = 0;
    post(joinBatch(gen, text, caps));
  };
  /** @type {(text: string) => void} */
  const enqueue = (text) => {
    if (queued >= 512 || queue.length + text.length > caps.bytes / 4) flush();
    if (!queue) apply(then, resolved(), [flush]);
    queue += (queue ? ',' : '') + text;
    queued++;
  };

  /** @type {(name: any, args?: any) => Promise<any>} */
  const callTool = (name, args) =>
    new P((resolve, reject) => {
      if (abort.on) return reject(abort.reason);
      if (ended) return reject(fail('SESSION_ERROR', 'the run has ended'));
      if (typeof name !== 'string') return reject(fail('INVALID_PARAMS', 'callTool(name, args): the name must be a string'));
      if (calls >= limits.toolCalls) return reject(fail('RESOURCE_LIMIT', 'a run may call tools ' + limits.toolCalls + ' times'));
      const id = calls + 1;
      try {
        const text = args === undefined ? '' : ',"args":' + baileyEncode(args, { bytes: caps.bytes >> 1, depth: caps.depth - 4, nodes: caps.nodes - 16 }, { drop: true });
        if (!isToolName(name)) throw baileyBuiltins.bad('toolName is not what it must be');
        enqueue('{"type":"tool-call","callId":' + id + ',"toolName":"' + name + '"' + text + '}');
      } catch (e) {
        const x = /** @type {any} */ (e);
        return reject(fail(typeof x?.code === 'string' ? x.code : 'INVALID_PARAMS', 'callTool ' + short(name, 64) + ': ' + message(x)));
      }
      calls = id;
      pending[id] = { resolve, reject };
    });

  const short = (/** @type {any} */ s, most = 16000) => (typeof s !== 'string' ? '' : mend(s.length > most ? cut(s, 0, most) + '\u2026' : s));
  const message = (/** @type {any} */ e) => {
    try {
      return e instanceof Err || (typeof e === 'object' && e !== null && typeof e.message === 'string') ? short(e.message) : short(typeof e === 'symbol' ? 'a symbol' : '' + e);
    } catch (again) {
      return 'an error that cannot be read';
    }
  };
  const nameOf = (/** @type {any} */ e) => {
    try {
      const n = short(e.name, 200);
      return n || 'Error';
    } catch (again) {
      return 'Error';
    }
  };
  const stackOf = (/** @type {any} */ e) => {
    try {
      return short(e.stack);
    } catch (again) {
      return '';
    }
  };

  /** Sends the only result. Later messages are ignored. @type {(ok: boolean, v: any) => void} */
  const finish = (ok, v) => {
    if (ended) return;
    flush();
    let text;
    try {
      if (ok) {
        text = v === undefined ? '' : ',"value":' + baileyEncode(v, { bytes: limits.output, depth: caps.depth - 4, nodes: caps.nodes - 32 }, { drop: true });
        if (text.length > limits.output) throw fail('OUTPUT_TOO_LARGE', 'the result is over the limit of ' + limits.output + ' bytes');
      }
    } catch (e) {
      ok = false;
      const x = /** @type {any} */ (e);
      const code = x?.code === 'RESOURCE_LIMIT' || x?.code === 'OUTPUT_TOO_LARGE' ? 'OUTPUT_TOO_LARGE' : 'INVALID_PARAMS';
      v = fail(code, 'the result: ' + message(x), 'ResultError');
      v.code = code;
      text = errorText(v, code);
    }
    if (text === undefined) text = errorText(v, 'EXECUTION_ERROR');
    ended = true;
    const heap = used.heap > 0 ? ',"heap":' + min(floor(used.heap), 2147483647) : '';
    post(joinBatch(gen, '{"type":"result","success":' + ok + text + heap + '}', { bytes: max(caps.bytes, limits.output + 4096), depth: caps.depth, nodes: caps.nodes }));
  };
  const errorText = (/** @type {any} */ e, /** @type {string} */ code) => {
    const stack = stackOf(e);
    return ',"error":{"code":"' + code + '","name":' + stringify(nameOf(e)) + ',"message":' + stringify(message(e)) + (stack ? ',"stack":' + stringify(stack) : '') + '}';
  };

  const print = (/** @type {string} */ level, /** @type {any[]} */ args) => {
    if (ended || !limits) return;
    let text = '';
    for (let i = 0; i < args.length; i++) {
      let one;
      try {
        one = baileyEncode(args[i], { bytes: min(limits.consoleBytes, caps.bytes >> 1), depth: min(caps.depth - 5, 12), nodes: 10000 }, { lenient: true });
      } catch (e) {
        one = stringify('[cannot be shown: ' + message(e) + ']');
      }
      text += (i ? ',' : '') + one;
    }
    flush();
    // Sent at once and not at the end of the turn, so the output of endless code is shown.
    post(joinBatch(gen, '{"type":"console","level":"' + level + '","args":[' + text + ']}', { bytes: WIDE.bytes, depth: 1, nodes: 1 }));
  };
  const makeConsole = () => {
    const c = create(null);
    /** @type {Record<string, number>} */
    const times = create(null), counts = create(null);
    for (const level of ['log', 'info', 'warn', 'error', 'debug', 'trace']) c[level] = (/** @type {any[]} */ ...args) => print(level, args);
    for (const k of ['dir', 'table', 'group', 'groupCollapsed', 'dirxml']) c[k] = (/** @type {any[]} */ ...args) => args.length && print('log', args);
    c.groupEnd = c.clear = () => {};
    c.assert = (/** @type {any} */ ok, /** @type {any[]} */ ...args) => void (ok || print('error', ['Assertion failed', ...args]));
    c.count = (label = 'default') => print('log', [label + ': ' + (counts[label] = (counts[label] || 0) + 1)]);
    c.time = (label = 'default') => void (times[label] = used.clock());
    c.timeEnd = c.timeLog = (label = 'default') => print('log', [label + ': ' + (used.clock() - times[label]) + ' ms']);
    return freeze(c);
  };

  /** Runs functions, at most concurrency at once, and returns their results in order.
   * @param {any} fns @param {{concurrency?: number}} [options] */
  const parallel = (fns, options) =>
    new P((resolve, reject) => {
      if (!isArray(fns)) throw fail('INVALID_PARAMS', 'parallel(fns, {concurrency}): fns must be an array of functions', 'TypeError');
      const n = fns.length;
      if ((operations += n) > limits.parallel) throw fail('RESOURCE_LIMIT', 'parallel: ' + operations + ' operations in this run; the limit is ' + limits.parallel, 'RangeError');
      const asked = options && options.concurrency !== undefined ? +options.concurrency : min(10, limits.concurrent);
      const most = max(1, min(floor(asked) || 1, limits.concurrent));
      /** @type {any[]} */
      const out = [];
      let next = 0, done = 0, failed = false;
      if (n === 0) return resolve(out);
      const settle = (/** @type {number} */ i, /** @type {any} */ v) => {
        defineProperty(out, i, { value: v, writable: true, enumerable: true, configurable: true });
        if (++done === n) resolve(out);
        else start();
      };
      const broken = (/** @type {any} */ e) => {
        failed = true;
        reject(e);
      };
      const start = () => {
        if (failed || next >= n) return;
        const i = next++, fn = fns[i];
        let p;
        try {
          if (typeof fn !== 'function') throw fail('INVALID_PARAMS', 'parallel: element ' + i + ' is not a function', 'TypeError');
          p = resolved(apply(fn, undefined, []));
        } catch (e) {
          return broken(e);
        }
        apply(then, p, [(/** @type {any} */ v) => settle(i, v), broken]);
      };
      for (let i = 0; i < most && i < n; i++) start();
    });

  /** @type {(ms: number) => Promise<void>} */
  const sleep = (ms) =>
    new P((resolve, reject) => {
      if (abort.on) return reject(abort.reason);
      const id = ++sleepers;
      const t = apply(native.timer, G, [() => (delete abort.sleepers[id], resolve()), max(0, +ms || 0)]);
      abort.sleepers[id] = (e) => (apply(native.cancel, G, [t]), reject(e));
    });
  const signal = freeze({
    get aborted() { return abort.on; },
    get reason() { return abort.reason; },
    throwIfAborted() { if (abort.on) throw abort.reason; },
  });

  const start = (/** @type {any} */ m) => {
    limits = m.limits;
    used.most = limits.heapMemory;
    caps = { bytes: limits.messageBytes, depth: limits.messageDepth, nodes: limits.messageNodes };
    const mcp = create(null);
    for (const server of keys(m.servers)) {
      mcp[server] = create(null);
      for (const tool of m.servers[server]) mcp[server][tool] = (/** @type {any} */ args) => callTool(server + '_' + tool, args);
      freeze(mcp[server]);
    }
    const values = [callTool, freeze(mcp), parallel, con, sleep, signal, m.args];
    for (const name of names) values[values.length] = m.context[name];
    let p;
    try {
      p = apply(apply(user, undefined, values), undefined, []);
    } catch (e) {
      return finish(false, e);
    }
    // The promise of an async function is of this realm, so the code can't replace its methods.
    apply(then, p, [(/** @type {any} */ v) => finish(true, v), (/** @type {any} */ e) => finish(false, e)]);
  };

  /** Imports the code. It is a separate script that passes its only function to a name that
   * the code can't know. The name is removed before any of the code runs. The browser reports
   * an error of the import with its line. The code begins in line 2, as it does in a script of the broker.
   * @param {string} text */
  const load = (text) => {
    const [nonce, list] = apply(split, text, ['\x1f', 2]);
    const url = createObjectURL(new BlobOf(["\n'use strict';", nonce, cut(text, nonce.length + list.length + 2, text.length)], { type: 'text/javascript' }));
    names = list ? apply(split, list, [',']) : [];
    defineProperty(G, nonce, { value: (/** @type {any} */ f) => void (user = f), configurable: true });
    try {
      apply(native.load, G, [trust(url)]);
    } finally {
      revokeObjectURL(url);
      delete G[nonce];
    }
    post('up');
  };

  const answer = (/** @type {any} */ m) => {
    const call = pending[m.callId];
    if (!call) return;
    delete pending[m.callId];
    if (hasOwn(m, 'error')) call.reject(fail(m.error.code, m.error.message));
    else call.resolve(m.result);
  };
  const aborted = (/** @type {any} */ m) => {
    abort.on = true;
    abort.reason = fail('ABORTED', m.reason || 'the run was aborted', 'AbortError');
    const open = pending, asleep = abort.sleepers;
    pending = create(null);
    abort.sleepers = create(null);
    for (const id of keys(open)) open[id].reject(abort.reason);
    for (const id of keys(asleep)) asleep[id](abort.reason);
  };

  way.addEventListener('message', (/** @type {MessageEvent} */ e) => {
    if (!e.isTrusted) return;
    apply(stopEvent, e, []);
    const text = apply(dataOf, e, []);
    if (text === 'end') {
      // This is a separate task, so none of the code is running: the worker ends idle.
      post('bye');
      // A port that is closed at once may lose posted messages, so the frame is removed instead.
      return void (way === G && apply(native.close, G, []));
    }
    // The broker sees that the code has let this task run. The code can neither read the word nor repeat it.
    if (user && apply(startsWith, text, ['probe '])) return post(text);
    if (!user) return apply(startsWith, text, ['{"v":']) ? undefined : load(text);
    const b = read(text);
    gen = b.gen;
    for (let i = 0; i < b.msgs.length; i++) {
      const m = b.msgs[i];
      if (m.type === 'start') start(m);
      else if (m.type === 'abort') aborted(m);
      else answer(m);
    }
  });
  const con = makeConsole();
  const used = baileyHarden(config);
  if (config.off.includes('runtime')) G.bailey = { post, calls: () => pending, limits: () => limits };
  defineProperty(G, 'console', { value: con, writable: true, enumerable: false, configurable: true });
  if (!user) {
    // A first message makes the browser compile the functions, which it does at their first call.
    const b = read(config.sample);
    joinBatch(1, baileyEncode(b.msgs[0].limits, WIDE, { drop: true }), WIDE);
  }
  way.start?.();
  post(user ? 'up' : 'spare');
};
