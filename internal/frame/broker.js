// @ts-check
// The broker is a trusted worker between the host and the worker that runs untrusted
// code. It counts, limits, validates and batches messages. It runs on no main thread, so
// a flood of messages disturbs no page. From the untrusted worker it accepts only strings.
// The first message that is invalid or above a limit ends the run. This script runs inside
// a function, after the scripts of package protocol.
const baileyBroker = (/** @type {any} */ scope) => {
  'use strict';
  const { decodeBatch, encodeBatch, joinBatch } = baileyMessages;
  // The host bounds its own messages.
  const WIDE = { bytes: 1 << 28, depth: 256, nodes: 1e7 };
  const CONSOLE_DELAY = 4, MAX_ROWS = 200;
  // The time between two looks at code while a person is asked, in milliseconds, or the time limit if that is less. A
  // worker that is only slow answers in it.
  const LOOK = 1000;
  // Chromium then compiles every function of the script at once, and not each one when it is first called.
  // It is a line of its own, so the code begins in line 2.
  const HINT = '//# allFunctionsCalledOnLoad\n';
  /** @type {Blob | string} */
  let runtime;
  /** The configuration of the hardening, as JSON. */
  let config = '';
  /** @type {(url: string) => any} */
  let trust = (url) => url;

  let dom = false, warm = false, unchecked = false, unbounded = false, unprobed = false;

  /** Starts a worker below this one. @param {any[]} parts @returns {any} */
  const spawn = (parts) => {
    const url = URL.createObjectURL(new Blob(parts, { type: 'text/javascript' })), worker = new Worker(trust(url)), end = worker.terminate.bind(worker);
    const forget = () => URL.revokeObjectURL(url);
    return Object.assign(worker, { forget, terminate: () => (end(), forget()) });
  };

  /** A worker with the runtime and a hardened realm that waits for code. @type {any} */
  let spare;
  const stock = () => {
    if (!warm || spare) return;
    const w = (spare = spawn([HINT, '(c=>g=>g(null,c))(', config, ')(', runtime, ')']));
    // Only its own runtime has run there. An error now would occur again in the run that
    // uses the worker, and is reported then.
    w.onmessage = w.forget;
    w.onerror = (/** @type {Event} */ e) => {
      e.preventDefault();
      w.terminate();
      if (spare === w) spare = undefined;
    };
  };

  /** Returns the waiting worker, after the code was posted to it. @param {string} text @returns {any} */
  const take = (text) => {
    stock();
    const w = spare;
    spare = undefined;
    w.postMessage(text);
    return w;
  };

  /** Starts a program in a worker below this one, or in a DOM enclave in a frame that the
   * frame around this worker makes and removes.
   * @param {string} text nonce, names and the function that contains the code @returns {any} */
  const place = (text) => {
    const [nonce, names] = text.split('\x1f', 2), code = text.slice(nonce.length + names.length + 2);
    const program = [HINT, "'use strict';(f=>c=>g=>g(f,c))(", code, ')({...', config, ',names:', JSON.stringify(names ? names.split(',') : []), '})(', runtime, ')'];
    if (!dom) return spawn(program);
    const { port1, port2 } = new MessageChannel();
    /** @type {any} */
    const frame = { postMessage: (/** @type {any} */ m) => port1.postMessage(m) };
    frame.terminate = () => (port1.close(), scope.postMessage({ word: 'hide' }));
    port1.onmessageerror = () => frame.onmessageerror();
    port1.onmessage = (e) => {
      const [word, line, message] = typeof e.data === 'string' && e.data.startsWith('failed\x1f') ? e.data.split('\x1f') : [];
      if (!word) frame.onmessage(e);
      else frame.onerror({ preventDefault() {}, lineno: +line, message });
    };
    scope.postMessage({ word: 'show', program }, [port2]);
    return frame;
  };

  /** Begins a run, with its own worker, counts and generation.
   * @param {MessagePort} port @param {number} gen @param {string} program @param {any} placed the worker with the program
   * @param {boolean} waited the worker was there before @param {any} limits @param {string} first */
  const begin = (port, gen, program, placed, waited, limits, first) => {
    let over = false, up = false, again = false, ended = false, calls = 0, last = 0, rows = 0, bytes = 0;
    const nonce = program.split('\x1f', 1)[0];
    const caps = { bytes: limits.messageBytes, depth: limits.messageDepth, nodes: limits.messageNodes };
    const open = new Set();
    /** Times of the calls in the last second, and of each tool in its window. @type {number[]} */
    let recent = [];
    /** @type {Map<string, number[]>} */
    const ofTool = new Map();
    /** @type {any} */
    let wait = 0;
    /** Texts of checked messages not sent to the host yet. @type {string[]} */
    let out = [];
    let held = 0;

    const flush = () => {
      clearTimeout(wait);
      wait = held = 0;
      if (!out.length) return;
      const texts = out;
      out = [];
      try {
        port.postMessage(joinBatch(gen, texts.join(','), WIDE));
      } catch (e) {
        port.postMessage(encodeBatch(gen, [{ type: 'violation', layer: 'broker', code: 'RESOURCE_LIMIT', detail: 'a batch too large' }], 'BrokerToHost', WIDE));
      }
    };
    /** Keeps a checked message for the host. A batch never exceeds the host's limit, because the
     * host would report it as a violation of the code. @type {(text: string) => void} */
    const add = (text) => {
      if (held + text.length > caps.bytes / 4 && !unbounded) flush();
      held += text.length;
      if (out.push(text) >= MAX_ROWS && !unbounded) flush();
      else wait ||= setTimeout(flush, CONSOLE_DELAY);
    };
    /** @type {(m: any) => void} */
    const tell = (m) => {
      const s = encodeBatch(gen, [m], 'BrokerToHost', WIDE);
      flush();
      port.postMessage(s);
    };
    const drop = () => {
      over = true;
      clearTimeout(deadline);
      clearTimeout(look);
      worker.terminate();
    };
    /** Ends the run with a violation. Messages accepted before still go to the host.
     * @type {(code: string, detail: string) => void} */
    const stop = (code, detail) => {
      if (over) return;
      drop();
      tell({ type: 'violation', layer: 'broker', code, detail: detail.slice(0, 300) });
    };
    /** Reports that the run has ended cleanly and its worker is gone. */
    const idle = () => {
      drop();
      flush();
      port.postMessage('idle');
      stock();
    };
    /** Refuses a call without asking the host. @type {(callId: number, message: string) => void} */
    const refuse = (callId, message) => {
      worker.postMessage(encodeBatch(gen, [{ type: 'tool-response', callId, error: { code: 'RESOURCE_LIMIT', message } }], 'HostToBroker', WIDE));
    };
    /** Reports whether the call may go to the host. @type {(m: any) => boolean} */
    const mayCall = (m) => {
      if (m.callId <= last) return stop('SECURITY_VIOLATION', 'the ids of calls must rise'), false;
      last = m.callId;
      if (++calls > limits.toolCalls) return stop('RESOURCE_LIMIT', 'more than ' + limits.toolCalls + ' tool calls'), false;
      if (open.size >= limits.parallel) return stop('RESOURCE_LIMIT', 'more than ' + limits.parallel + ' tool calls at once'), false;
      const now = performance.now();
      recent = recent.filter((t) => now - t < 1000);
      if (recent.length >= limits.rate) return refuse(m.callId, 'more than ' + limits.rate + ' tool calls a second; wait, then call again'), false;
      const times = (ofTool.get(m.toolName) ?? []).filter((t) => now - t < limits.repeatsIn);
      if (times.length >= limits.repeats)
        return refuse(m.callId, m.toolName + ' was called ' + limits.repeats + ' times within ' + limits.repeatsIn + ' ms; wait, then call again'), false;
      recent.push(now);
      times.push(now);
      ofTool.set(m.toolName, times);
      open.add(m.callId);
      return true;
    };
    /** @type {(size: number) => boolean} */
    const mayPrint = (size) => {
      if (++rows > limits.consoleCalls) return stop('RESOURCE_LIMIT', 'more than ' + limits.consoleCalls + ' calls of console'), false;
      if ((bytes += size) > limits.consoleBytes) return stop('RESOURCE_LIMIT', 'more than ' + limits.consoleBytes + ' bytes of console'), false;
      return true;
    };
    /** Handles a message from the untrusted worker. @param {MessageEvent} e */
    const heard = (e) => {
      if (over) return;
      const text = e.data;
      if (typeof text !== 'string') return stop('SECURITY_VIOLATION', 'only text is taken');
      if (word && text === word) {
        word = '';
        return paused ? pause() : undefined;
      }
      if (!up && (text === 'up' || text === 'spare')) {
        up = text === 'up';
        if (again) warm = false; // the code runs without the import, so the import was the cause
        return worker.forget?.();
      }
      if (unchecked && up && text !== 'bye') {
        if (!ended && text.includes('"type":"result"')) (ended = true), worker.postMessage('end');
        return port.postMessage(text);
      }
      if (ended) return text === 'bye' ? idle() : stop('SECURITY_VIOLATION', 'it came after the result');
      if (text.length > caps.bytes) return stop('RESOURCE_LIMIT', 'a message of ' + text.length + ' characters; the limit is ' + caps.bytes + ' bytes');
      let b;
      try {
        b = decodeBatch(text, 'CodeToBroker', caps);
      } catch (err) {
        const c = /** @type {any} */ (err);
        return stop(c.code ?? 'SECURITY_VIOLATION', String(c.message));
      }
      if (b.gen !== gen || !b.msgs.length) return stop('SECURITY_VIOLATION', 'a batch of another run, or an empty one');
      let urgent = false;
      for (let i = 0; i < b.msgs.length && !over; i++) {
        const m = b.msgs[i], size = b.texts[i].length;
        if (m.type === 'console' ? !mayPrint(size) : m.type === 'tool-call' && !mayCall(m)) continue;
        if (m.type === 'result') {
          if (i + 1 < b.msgs.length) return stop('SECURITY_VIOLATION', 'it came after the result');
          if (size > limits.output) return stop('OUTPUT_TOO_LARGE', 'the result has ' + size + ' characters; the limit is ' + limits.output + ' bytes');
          ended = true;
          worker.postMessage('end');
        }
        urgent ||= m.type !== 'console';
        add(b.texts[i]);
      }
      if (urgent && !over) flush();
    };
    const syntax = (/** @type {string} */ message) => {
      tell({ type: 'result', success: false, error: { code: 'INVALID_PARAMS', name: 'SyntaxError', message } });
      idle();
    };
    /** Firefox reports no reason when a nested worker's script fails. If another worker
     * starts, the cause was the code. */
    const silent = () => {
      worker.terminate();
      worker = spawn(["postMessage('up')"]);
      worker.onmessage = () => over || syntax('the code cannot be parsed; this browser does not say where');
      worker.onerror = (/** @type {any} */ e) => (e.preventDefault(), stop('SANDBOX_ERROR', 'blocked: the worker below the broker could not start'));
    };
    /** @param {ErrorEvent} e */
    const failed = (e) => {
      e.preventDefault();
      if (over) return;
      // The nonce, which the code must not learn, is removed from every message.
      const told = String(e.message ?? '').replace(/^Uncaught /, '').slice(0, 1000), left = told.includes(nonce);
      const said = told.replaceAll(nonce, '\u2026');
      if (up) {
        // Thrown outside of any promise, such as in a timer: it is shown, and the run continues.
        const s = JSON.stringify({ type: 'console', level: 'error', args: ['Uncaught ' + said.toWellFormed()] });
        if (!ended && mayPrint(s.length)) add(s);
      } else if (waited) {
        // An error of an import has no line, and a policy may forbid the import. None of the
        // code has run yet, so it is started again in a worker made with it.
        waited = false;
        again = true;
        worker.terminate();
        begun(place(program));
      } else if (said.includes('SyntaxError')) {
        const at = e.lineno > 1 ? ' (line ' + (e.lineno - 1) + ')' : '';
        syntax((left ? 'the code closes a brace that it did not open' : said.replace(/^SyntaxError: /, '').toWellFormed()) + at);
      } else if (said === 'blocked') stop('SANDBOX_ERROR', 'blocked: the code is not let in');
      else if (said) stop('SANDBOX_ERROR', 'the runtime failed: ' + said);
      else silent();
    };
    /** The time limit, its rest and the time when it began to run. @type {any} */
    let deadline = 0;
    let left = limits.time, since = 0;
    const run = () => {
      if (deadline) return;
      since = performance.now();
      deadline = setTimeout(stop, left, 'TIMEOUT', 'the time limit of ' + limits.time + ' ms was reached');
    };
    const pause = () => {
      if (!deadline) return;
      clearTimeout(deadline);
      deadline = 0;
      left = Math.max(0, left - (performance.now() - since));
    };
    /** A word that the worker repeats when the code lets it. It can't be guessed, so code that works on can't say it. */
    let word = '';
    /** @type {any} */
    let look = 0, paused = false;
    /** Finds out whether the code works while a person is asked. If the worker has not repeated the word at the next
     * look, the time counts until it does. */
    const probe = () => {
      if (word) run();
      else worker.postMessage((word = 'probe ' + scope.crypto.getRandomValues(new Uint32Array(4)).join('-')));
      look = setTimeout(probe, Math.min(LOOK, limits.time));
    };
    /** @type {(on: boolean) => void} */
    const hold = (on) => {
      if (paused === on) return;
      paused = on;
      clearTimeout(look);
      if (!on) return run();
      pause();
      if (!unprobed) probe();
    };
    run();
    /** @type {any} */
    let worker;
    const begun = (/** @type {any} */ w) => {
      worker = w;
      w.onmessage = heard;
      w.onmessageerror = () => stop('SECURITY_VIOLATION', 'a message that cannot be read');
      w.onerror = failed;
      w.postMessage(joinBatch(gen, first, WIDE));
    };
    begun(placed);
    // Until this message the host may give the run to another broker. No message of the run
    // has been handled yet, because that takes a turn of the event loop.
    tell({ type: 'ready' });
    return {
      gen,
      drop,
      /** Handles messages of the host. @param {any[]} msgs @param {string[]} texts */
      take: (msgs, texts) => {
        if (over || ended) return;
        const on = texts.filter((_, i) => {
          const { type, callId } = msgs[i];
          if (type === 'hold') hold(msgs[i].on);
          return type !== 'hold' && (type !== 'tool-response' || open.delete(callId) || unchecked);
        });
        if (on.length) worker.postMessage(joinBatch(gen, on.join(','), WIDE));
      },
    };
  };

  /** @param {MessagePort} port */
  const attach = (port) => {
    /** @type {ReturnType<typeof begin> | undefined} */
    let run;
    port.onmessage = (e) => {
      // A start message ends with the program, which is started before the message is decoded.
      const whole = String(e.data), end = whole.indexOf('\x1e'), text = end < 0 ? whole : whole.slice(0, end);
      const program = end < 0 ? '' : whole.slice(end + 1), waited = warm;
      if (program) run?.drop();
      const placed = program && (warm ? take(program) : place(program));
      const b = decodeBatch(text, 'HostToBroker', WIDE), m = b.msgs[0];
      if (m.type === 'ping') return port.postMessage(encodeBatch(b.gen, [{ type: 'pong', n: m.n }], 'BrokerToHost', WIDE));
      if (m.type === 'start') {
        run = begin(port, b.gen, program, placed, waited, m.limits, b.texts[0]);
      } else if (run?.gen === b.gen) run.take(b.msgs, b.texts);
    };
    port.postMessage('ready');
    stock();
  };

  scope.onmessage = (/** @type {MessageEvent} */ e) => {
    if (e.data.runtime) {
      ({ runtime, config, dom, warm } = e.data);
      unchecked = JSON.parse(config).off.includes('broker');
      unbounded = JSON.parse(config).off.includes('batches');
      unprobed = JSON.parse(config).off.includes('probe');
      const policy = scope.trustedTypes?.createPolicy(e.data.policyName, { createScriptURL: (/** @type {string} */ s) => s });
      if (policy) trust = (url) => policy.createScriptURL(url);
      scope.postMessage('up');
    }
    if (e.ports[0]) attach(e.ports[0]);
  };
};
