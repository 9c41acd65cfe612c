// @ts-check
// The class BrowserEnclave of @enclave-vm/browser over the enclave of Bailey. The types are in enclave.d.mts, and the
// differences in docs/interop.md. The module itself touches no page, so that a server may import it.
import { load } from './api.mjs';

/** @typedef {import('./enclave.d.mts').EnclaveCompatOptions} Options */
/** @typedef {import('./enclave.d.mts').ExecutionResult} Result */

/** @type {typeof import('./enclave.d.mts').LIMITS} */
export const LIMITS = Object.freeze({
  memory: 1 << 20,
  parallel: 20,
  operationsPerSecond: 100,
  enumeration: 30,
  enumerationWindow: 5_000,
  toolName: 256,
  levels: Object.freeze({
    STRICT: Object.freeze({ timeout: 5_000, maxToolCalls: 10, maxConsoleCalls: 100, maxConsoleOutputBytes: 64 << 10, stacks: false }),
    SECURE: Object.freeze({ timeout: 15_000, maxToolCalls: 50, maxConsoleCalls: 500, maxConsoleOutputBytes: 256 << 10, stacks: false }),
    STANDARD: Object.freeze({ timeout: 30_000, maxToolCalls: 100, maxConsoleCalls: 1_000, maxConsoleOutputBytes: 1 << 20, stacks: true }),
    PERMISSIVE: Object.freeze({ timeout: 60_000, maxToolCalls: 1_000, maxConsoleCalls: 10_000, maxConsoleOutputBytes: 10 << 20, stacks: true }),
  }),
});

/** Words that a check before the run refuses, by level: a word itself, or a member with a dot. It helps who wrote the
 * code, and is no wall: the enclave is. */
const words = 'eval Function globalThis Proxy Reflect setTimeout setInterval fetch XMLHttpRequest WebSocket document window'.split(' ');
const members = '__proto__ prototype constructor __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__'.split(' ');
const refused = {
  STRICT: { words, members },
  SECURE: { words, members },
  STANDARD: { words: ['eval', 'Function'], members },
  PERMISSIVE: { words: [], members: [] },
};

/** Comments, texts and names of JavaScript. A template is read as text, so names in its expressions are not checked. */
const parts = /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:\\[^]|[^'\\])*'|"(?:\\[^]|[^"\\])*"|`(?:\\[^]|[^`\\])*`|\.?\s*[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

/** @param {string} code @param {keyof typeof refused} level @returns {{ code: string, message: string, line: number }[]} */
const check = (code, level) => {
  const issues = [];
  for (const match of code.matchAll(parts)) {
    const text = match[0].replace(/\s+/g, ''), member = text.startsWith('.'), name = member ? text.slice(1) : text;
    if (!(member ? refused[level].members : refused[level].words).includes(name) && !(name.startsWith('__') && refused[level].members.includes(name))) continue;
    const line = code.slice(0, match.index + match[0].length).split('\n').length;
    issues.push({ code: 'FORBIDDEN_NAME', message: `${name} is not allowed at the level ${level}`, line });
  }
  return issues;
};

const known = new Set(('bailey securityLevel preset timeout maxToolCalls maxIterations memoryLimit globals toolHandler validate transform allowFunctionsInGlobals ' +
  'secureProxyConfig doubleIframe customSerializablePatterns maxConsoleOutputBytes maxConsoleCalls').split(' '));

/** The program of all enclaves that were not given one. @type {Promise<import('./api.d.mts').Bailey> | undefined} */
let program;

/** A tool call of a run. @typedef {{ operationName: string, timestamp: number, argKeys: string[] }} Operation */

/** @implements {import('./enclave.d.mts').EnclaveCompat} */
export class EnclaveCompat {
  /** @type {Options} */ #options;
  /** @type {keyof typeof refused} */ #level;
  /** @type {Promise<import('./api.d.mts').Enclave> | undefined} */ #enclave;
  #ended = new AbortController();
  /** The runs under way, by a word that only their own code has: a call reaches the handler of its run, and no other's.
   * @type {Map<string, { handler: any, calls: Operation[] }>} */
  #runs = new Map();

  /** @param {Options} [options] */
  constructor(options = {}) {
    for (const name of Object.keys(options)) if (!known.has(name)) throw new TypeError(`EnclaveCompat: ${name}: there is no such option`);
    this.#options = { ...options };
    this.#level = options.securityLevel ?? 'STANDARD';
    if (!Object.hasOwn(LIMITS.levels, this.#level)) throw new TypeError(`EnclaveCompat: securityLevel: ${this.#level}: must be STRICT, SECURE, STANDARD or PERMISSIVE`);
    if (Object.keys(options.globals ?? {}).length && (options.preset ?? 'agentscript') !== 'agentscript') throw new Error("EnclaveCompat: globals: they need the preset 'agentscript'");
    if (options.customSerializablePatterns?.length) throw new TypeError('EnclaveCompat: customSerializablePatterns: no text becomes code here; give functions in doubleIframe.parentValidation.suspiciousPatterns');
  }

  getSecurityLevel() { return this.#level; }

  dispose() {
    this.#ended.abort();
    this.#enclave?.then((e) => e.close(), () => {});
    this.#enclave = undefined;
  }

  /** @param {string} code @param {import('./enclave.d.mts').ToolHandler} [toolHandler] @returns {Promise<any>} */
  async run(code, toolHandler) {
    const startTime = Date.now(), id = crypto.getRandomValues(new Uint32Array(4)).join('-'), o = this.#options;
    const stats = (/** @type {number} */ toolCallCount) => {
      const endTime = Date.now();
      return { duration: endTime - startTime, toolCallCount, iterationCount: 0, startTime, endTime };
    };
    try {
      const issues = o.validate === false ? [] : check(code, this.#level);
      if (issues.length) {
        const message = 'The code was refused before it ran:\n' + issues.map((i) => `${i.code} (line ${i.line}): ${i.message}`).join('\n');
        return { success: false, error: { name: 'ValidationError', code: 'VALIDATION_ERROR', message, data: { issues } }, stats: stats(0) };
      }
      if (this.#ended.signal.aborted) throw new Error('the enclave was disposed');
      this.#runs.set(id, { handler: toolHandler ?? o.toolHandler, calls: [] });
      const enclave = await (this.#enclave ??= this.#create().catch((e) => { this.#enclave = undefined; throw e; }));
      const main = /(^|[\s;}])async\s+function\s+__ag_main\s*\(/.test(code) ? '\nreturn await __ag_main();' : '';
      // All of it but the code is on its first line and after its last one, so that lines stay.
      const program = `return await (async (callTool) => {${code}${main}\n})(((call) => (name, args) => call('call', {run: '${id}', name, args: args === undefined ? {} : args}))(callTool));`;
      const r = await enclave.run(program, {
        context: plain(o.globals ?? {}), signal: this.#ended.signal,
        onConsole: (row) => console[row.level]('[Enclave]', row.text),
      });
      if (r.success) return { success: true, value: r.value, stats: stats(r.stats.toolCalls) };
      return { success: false, error: this.#error(/** @type {any} */ (r.error)), stats: stats(r.stats.toolCalls) };
    } catch (e) {
      const err = /** @type {any} */ (e);
      const aborted = this.#ended.signal.aborted;
      return { success: false, error: { name: aborted ? 'AbortError' : err?.name || 'EnclaveError', message: String(err?.message ?? err), code: aborted ? 'EXECUTION_ABORTED' : 'ENCLAVE_ERROR' }, stats: stats(0) };
    } finally {
      this.#runs.delete(id);
    }
  }

  /** @param {{ code: string, name: string, message: string, stack: string }} e @returns {import('./enclave.d.mts').ExecutionError} */
  #error({ code, name, message, stack }) {
    const level = LIMITS.levels[this.#level];
    switch (true) {
      case code === 'TIMEOUT':
        return { name: 'TimeoutError', code: 'EXECUTION_TIMEOUT', message: `Execution timed out after ${this.#options.timeout ?? level.timeout}ms` };
      case /^more than \d+ tool calls$|^a run may call tools \d+ times$/.test(message):
        return { name, code: 'MAX_TOOL_CALLS_EXCEEDED', message: 'Tool call limit exceeded: ' + message };
      case code === 'ABORTED':
        return { name: 'AbortError', code: 'EXECUTION_ABORTED', message };
    }
    return { name, code, message, ...(level.stacks && stack ? { stack } : {}) };
  }

  async #create() {
    const o = this.#options, level = LIMITS.levels[this.#level];
    const bailey = await (o.bailey ?? (program ??= load().catch((e) => { program = undefined; throw e; })));
    return bailey.enclave({
      level: this.#level,
      time: o.timeout ?? level.timeout,
      max: LIMITS.parallel,
      limits: {
        toolCalls: o.maxToolCalls ?? level.maxToolCalls,
        consoleCalls: o.maxConsoleCalls ?? level.maxConsoleCalls,
        consoleBytes: o.maxConsoleOutputBytes ?? level.maxConsoleOutputBytes,
        heapMemory: o.memoryLimit ?? LIMITS.memory,
        concurrent: LIMITS.parallel,
        rate: o.doubleIframe?.parentValidation?.maxOperationsPerSecond ?? LIMITS.operationsPerSecond,
        repeats: 100_000, // the class counts by the names of its own tools
      },
      tools: {
        call: {
          parameters: {
            type: 'object', required: ['run', 'name', 'args'], additionalProperties: false,
            properties: { run: { type: 'string' }, name: { type: 'string' }, args: { type: 'object' } },
          },
          run: (/** @type {any} */ { run, name, args }) => this.#call(run, name, args),
        },
      },
    });
  }

  /** Checks a call, and hands it to the handler of its run. @param {string} run @param {string} name @param {Record<string, unknown>} args */
  #call(run, name, args) {
    const { handler, calls } = this.#runs.get(run) ?? { handler: undefined, calls: [] };
    if (!/^[a-zA-Z][a-zA-Z0-9:_-]*$/.test(name) || name.length > LIMITS.toolName) throw new TypeError('Invalid tool name');
    if (!handler) throw new Error(`No tool handler configured: ${name} can't be called`);
    const v = this.#options.doubleIframe?.parentValidation ?? {};
    const matches = (/** @type {RegExp} */ p) => new RegExp(p.source, p.flags.replace(/[gy]/g, '')).test(name);
    if (v.allowedOperationPattern && !matches(v.allowedOperationPattern)) throw new Error(`${name} is not among the allowed operations`);
    if (v.blockedOperationPatterns?.some(matches)) throw new Error(`${name} is a blocked operation`);
    const now = Date.now();
    if (v.blockSuspiciousSequences !== false) {
      const most = v.rapidEnumerationOverrides?.[name] ?? v.rapidEnumerationThreshold ?? LIMITS.enumeration;
      if (calls.filter((c) => c.operationName === name && now - c.timestamp < LIMITS.enumerationWindow).length >= most) throw new Error(`${name} was called ${most} times within ${LIMITS.enumerationWindow} ms`);
      for (const p of v.suspiciousPatterns ?? []) if (p.detect(name, args, calls.map((c) => ({ ...c, argKeys: [...c.argKeys] })))) throw new Error(`${name} is part of a suspicious sequence (${p.id}: ${p.description})`);
    }
    calls.push({ operationName: name, timestamp: now, argKeys: Object.keys(args) });
    if (calls.length > 1_000) calls.shift();
    return handler(name, args);
  }
}

/** Returns the values that have a JSON form, by name. @param {Record<string, unknown>} globals */
const plain = (globals) => {
  /** @type {Record<string, unknown>} */
  const out = {};
  for (const [name, value] of Object.entries(globals)) {
    try {
      const text = JSON.stringify(value);
      if (text !== undefined) out[name] = JSON.parse(text);
    } catch {
      // a value without a JSON form is left out
    }
  }
  return out;
};

export { EnclaveCompat as BrowserEnclave };
