// @ts-check
// The broker of WebAssembly programs is a trusted worker between the host and the worker
// that runs one program. It keeps compiled modules and a waiting worker. It counts messages,
// gathers small output, and ends runs above a limit. From the worker it accepts only byte
// arrays. It stands behind the wire, internal/wire/wasm.
const baileyWasmBroker = (/** @type {any} */ scope) => {
  'use strict';
  const { STARTED, OUTPUT, WANTED, EXITED, FAILED, ASKED, STOPPED } = baileyWasm;
  const GATHER = 4, FULL = 64 << 10;
  /** @type {Blob} */
  let runtime;
  /** @type {(url: string) => any} */
  let trust = (url) => url;
  /** Modules that are compiled or being compiled. ahead, if set, describes how to make an
   * instance in advance. glue is the first script in the module's worker.
   * @type {Map<number, {compiled: Promise<WebAssembly.Module>, ahead?: any, glue?: string}>} */
  const modules = new Map();
  /** @type {any} */
  let spare;
  let last = 0;
  /** Functions to run in a turn of their own. @type {(() => void)[]} */
  const soon = [], turn = new MessageChannel();
  turn.port1.onmessage = () => soon.shift()?.();
  const spawn = (/** @type {string} */ glue = '') => {
    const url = URL.createObjectURL(glue ? new Blob([glue, runtime], { type: 'text/javascript' }) : runtime), worker = /** @type {any} */ (new Worker(trust(url)));
    worker.done = () => (worker.terminate(), URL.revokeObjectURL(url));
    // Until it runs a program, only its own script can fail there.
    worker.onerror = (/** @type {ErrorEvent} */ e) => {
      e.preventDefault();
      worker.broken = e.message || 'blocked: the worker below the broker could not start';
      worker.failed?.(worker.broken);
    };
    return worker;
  };
  const stock = () => {
    if (spare?.broken) spare = spare.done();
    spare ??= spawn();
    // Most commands are followed by the same command.
    const module = modules.get(last), id = last, worker = spare;
    if (module?.ahead && !worker.ahead) {
      worker.ahead = id;
      module.compiled.then((m) => {
        if (worker !== spare) return;
        worker.knows = id;
        worker.postMessage({ id, module: m, ahead: module.ahead });
      }, () => {});
    }
  };

  /** @param {MessagePort} port @param {BaileyStart} start */
  const begin = (port, start) => {
    const { gen } = start, limits = start.limits;
    let over = false, output = 0, gathered = 0, asks = 0;
    /** @type {any} */
    let worker, timer = 0;
    /** @type {Uint8Array[]} */
    let pieces = [];
    /** The head of the last output, which grows while the descriptor is the same. @type {DataView | undefined} */
    let piece;
    /** @param {number} op @param {Uint8Array[]} parts */
    const tell = (op, parts) => {
      const m = baileyWasm.message(op, gen, parts);
      port.postMessage(m, [m.buffer]);
    };
    const flush = () => {
      clearTimeout(timer);
      timer = 0;
      if (pieces.length) tell(OUTPUT, pieces);
      pieces = [];
      piece = undefined;
      gathered = 0;
    };
    const end = () => {
      over = true;
      clearTimeout(deadline);
      clearTimeout(timer);
    };
    const drop = () => {
      end();
      worker?.done();
    };
    const stop = (/** @type {string} */ code, /** @type {string} */ message) => {
      if (over) return;
      flush();
      drop();
      tell(STOPPED, [baileyWasm.stopped(code, message)]);
    };
    /** @type {any} */
    let deadline = 0;
    const gather = (/** @type {number} */ fd, /** @type {Uint8Array} */ b) => {
      if (piece?.getUint8(0) !== fd) {
        piece = baileyWasm.piece(fd);
        pieces.push(new Uint8Array(piece.buffer));
      }
      baileyWasm.grow(piece, b.length);
      pieces.push(b);
    };
    const heard = (/** @type {MessageEvent} */ e) => {
      if (over) return;
      const m = e.data;
      if (!(m instanceof Uint8Array) || !m.length) return stop('SECURITY_VIOLATION', 'only bytes are taken');
      const op = m[0];
      if (op === OUTPUT) {
        if ((m[1] !== 1 && m[1] !== 2) || m.length < 3) return stop('SECURITY_VIOLATION', 'malformed output');
        if ((output += m.length - 2) > limits.output) return stop('OUTPUT_TOO_LARGE', 'more than ' + limits.output + ' bytes of output');
        gather(m[1], m.subarray(2));
        if ((gathered += m.length - 2) >= FULL) flush();
        else timer ||= setTimeout(flush, GATHER);
        return;
      }
      if (op < WANTED || op >= STOPPED || m.length > limits.message) return stop('SECURITY_VIOLATION', 'a message of kind ' + op + ' with ' + m.length + ' bytes');
      if (op === ASKED && ++asks > limits.asks) return stop('RESOURCE_LIMIT', 'more than ' + limits.asks + ' requests to the host');
      flush();
      tell(op, [m.subarray(1)]);
      if (op === EXITED || op === FAILED) {
        end();
        // Ending and making a worker takes the page's time, so the answer is sent first.
        soon.push(() => {
          worker.done();
          port.postMessage('idle');
          stock();
        });
        turn.port2.postMessage(0);
      }
    };
    const known = modules.get(start.module);
    if (!known) stop('SANDBOX_ERROR', 'the module is not here');
    else
      known.compiled.then(
        (module) => {
          if (over) return;
          last = start.module;
          if (known.ahead) known.ahead = { ...known.ahead, mode: start.mode };
          if (known.glue) worker = spawn(known.glue);
          else {
            stock();
            worker = spare;
            spare = undefined;
          }
          worker.onmessage = heard;
          worker.onmessageerror = () => stop('SECURITY_VIOLATION', 'a message that cannot be read');
          worker.failed = (/** @type {string} */ why) => stop('SANDBOX_ERROR', why);
          tell(STARTED, []);
          deadline = setTimeout(stop, limits.time, 'TIMEOUT', 'the time limit of ' + limits.time + 'ms was reached');
          const { config, tree, stdin } = start, list = [tree, stdin].flatMap((b) => b?.buffer ?? []);
          worker.postMessage({ id: last, module: worker.knows === last ? undefined : module, config, tree, stdin }, list);
        },
        (e) => stop('INVALID_PARAMS', 'the browser refuses the module: ' + e.message),
      );
    return { gen, drop, stop, take: (/** @type {any} */ m) => over || worker?.postMessage(m, m.data ? [m.data.buffer] : []) };
  };

  /** @param {MessagePort} port */
  const attach = (port) => {
    /** @type {ReturnType<typeof begin> | undefined} */
    let run;
    /** @param {{id: number, code: any, ahead?: any, glue?: string}} m */
    const learn = ({ id, code, ahead, glue }) => {
      const module = code instanceof WebAssembly.Module ? Promise.resolve(code) : WebAssembly.compile(code);
      modules.set(id, { compiled: module, ahead, glue });
      last = id;
      const told = (/** @type {string} */ why) => port.postMessage(baileyWasm.compiled(id, why));
      module.then(() => (told(''), stock()), (e) => told(String(e.message).slice(0, 1000)));
    };
    port.onmessage = (e) => {
      const m = e.data;
      if (m.op === 'ping') port.postMessage('pong');
      else if (m.op === 'module') learn(m);
      else if (m.op === 'forget') modules.delete(m.id);
      else if (m.op === 'start') {
        run?.drop();
        run = begin(port, m);
      } else if (m.gen !== run?.gen) return;
      else if (m.op === 'kill') run?.stop(m.code, m.message);
      else run?.take(m);
    };
    port.postMessage('ready');
    stock();
  };

  scope.onmessage = (/** @type {MessageEvent} */ e) => {
    if (e.data.runtime) {
      runtime = e.data.runtime;
      const policy = scope.trustedTypes?.createPolicy(e.data.policyName, { createScriptURL: (/** @type {string} */ s) => s });
      if (policy) trust = (url) => policy.createScriptURL(url);
      scope.postMessage('up');
    }
    if (e.ports[0]) attach(e.ports[0]);
  };
};
