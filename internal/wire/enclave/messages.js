// @ts-check
// The twin of messages.go, encode.go and decode.go: batches of messages. Both sides refuse the same
// batches: another version, a type in the wrong direction, a missing or unknown key, a bad name or id.
/** @typedef {{type: string, [member: string]: any}} Message */
const baileyMessages = (() => {
  'use strict';
  const { isArray, keys, hasOwn, getPrototypeOf, plain, freeze, isInteger, exec, has, cut, words, CODES, REFUSED, MAX_DEPTH, fail, bad, over, fits, parse, stringify, seek, isOrdinary } = baileyBuiltins;
  const { reader } = baileyDecode;
  const { VERSION, MAX_ID, joinBatch } = baileyBatch, MAX_BATCH = 1024, SHORT = 4096, MAX_NOTE = 1024, MAX_TEXT = 65536, MAX_TOOLS = 10000;
  const REASONS = words('not_read stale not_found ambiguous no_op parse_error protected rejected headless'), LEVELS = words('log info warn error debug trace');
  const RESERVED = words(
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function ' +
      'if implements import in instanceof interface let new null package private protected public return static super switch this throw true try ' +
      'typeof undefined NaN Infinity var void while with yield async of get set callTool mcp parallel console args sleep signal',
  );
  const LIMITS = words(
    'time toolTime toolCalls consoleCalls consoleBytes output rate repeats repeatsIn parallel concurrent code messageBytes messageDepth ' +
      'messageNodes heapMemory',
  );
  const TIMES = words('time toolTime repeatsIn');
  const IDENTIFIER = /^[a-zA-Z_$][a-zA-Z0-9_$]{0,63}$/, RUN = /^[a-zA-Z0-9._-]{1,64}$/;

  /** @typedef {(v: any) => boolean} Check */
  /** @type {(re: RegExp, refused?: Set<string>) => Check} */
  const matches = (re, refused = REFUSED) => (v) => typeof v === 'string' && exec(re, v) !== null && !has(refused, v) && !has(REFUSED, v);
  const tool = matches(baileyBatch.NAME), constant = matches(IDENTIFIER, RESERVED);
  /** @type {(most: number) => Check} */
  const text = (most) => (v) => {
    if (typeof v !== 'string') return false;
    try {
      fits(v, most);
      return true;
    } catch (e) {
      return false;
    }
  };
  const note = text(MAX_NOTE), long = text(MAX_TEXT);
  /** @type {(least: number, most?: number) => Check} */
  const whole = (least, most = MAX_ID) => (v) => isInteger(v) && v >= least && v <= most;
  /** @type {(set: Set<string>) => Check} */
  const among = (set) => (v) => typeof v === 'string' && has(set, v);
  /** @type {Check} */
  const any = () => true;
  /** @type {Check} */
  const isObject = (v) => typeof v === 'object' && v !== null && getPrototypeOf(v) === plain;
  /** @type {(each: Check, most?: number) => Check} */
  const list = (each, most = MAX_ID) => (v) => {
    if (!isArray(v) || v.length > most) return false;
    for (let i = 0; i < v.length; i++) if (!each(v[i])) return false;
    return true;
  };
  /** @type {(key: Check, value: Check) => Check} */
  const table = (key, value) => (v) => {
    if (!isObject(v)) return false;
    const names = keys(v);
    for (let i = 0; i < names.length; i++) if (!key(names[i]) || !value(v[names[i]])) return false;
    return true;
  };
  // Times are milliseconds, rounded to nanoseconds. The others are whole numbers. Go checks their ranges.
  /** @type {Check} */
  const limits = (v) => {
    if (!isObject(v)) return false;
    const names = keys(v);
    for (let i = 0; i < names.length; i++) {
      const n = v[names[i]], time = has(TIMES, names[i]), amount = time ? n * 1e6 : n;
      if (!has(LIMITS, names[i]) || typeof n !== 'number' || !(time || isInteger(n)) || !(amount >= 0 && amount <= 9007199254740992)) return false;
    }
    return names.length === 16;
  };

  /** The members of a message. A name that ends in ? is optional. @typedef {Record<string, Check>} Shape */
  /** @type {(v: any, shape: Shape) => string} */
  const misfit = (v, shape) => {
    if (!isObject(v)) return 'it must be an object';
    const names = keys(shape);
    let known = 0;
    for (let i = 0; i < names.length; i++) {
      const optional = cut(names[i], -1) === '?', k = optional ? cut(names[i], 0, -1) : names[i];
      if (!hasOwn(v, k)) {
        if (optional) continue;
        return k + ' is missing';
      }
      known++;
      if (!shape[names[i]](v[k])) return k + ' is not what it must be';
    }
    return known === keys(v).length ? '' : 'unknown';
  };
  const toolError = { code: among(CODES), message: long, 'reason?': among(REASONS) };
  const runError = { code: among(CODES), name: text(256), message: long, 'stack?': long };
  /** @type {Record<string, Shape>} */
  const SHAPES = {
    ready: {},
    start: { run: matches(RUN), 'args?': any, context: table(constant, any), tools: list(tool, MAX_TOOLS), servers: table(tool, list(tool)), limits },
    'tool-call': { callId: whole(1), toolName: tool, 'args?': any },
    'tool-response': { callId: whole(1), 'result?': any, 'error?': (v) => misfit(v, toolError) === '' },
    console: { level: among(LEVELS), args: isArray },
    result: { success: (v) => typeof v === 'boolean', 'value?': any, 'error?': (v) => misfit(v, runError) === '', 'heap?': whole(0) },
    abort: { reason: note },
    violation: { layer: matches(/^[a-zA-Z][a-zA-Z0-9:_-]{0,63}$/), code: among(CODES), detail: note },
    hold: { on: (v) => typeof v === 'boolean' },
    ping: { n: whole(0) }, pong: { n: whole(0) },
  };
  /** The types of messages in each direction, by the names of Go's directions. @type {Record<string, Set<string>>} */
  const FROM = {
    CodeToBroker: words('tool-call console result'), BrokerToCode: words('start tool-response abort'),
    BrokerToHost: words('tool-call console result ready violation pong'), HostToBroker: words('start tool-response abort hold ping'),
  };

  /** Throws an Error with a code if a message is not valid. @param {any} m @param {string} from */
  const check = (m, from, at = '') => {
    if (!isObject(m) || !hasOwn(m, 'type') || typeof m.type !== 'string' || m.type.length > 32) throw bad('a message must be an object with a type', at);
    if (!has(FROM[from], m.type)) throw fail('SECURITY_VIOLATION', 'the type is unknown, or does not come from there', at);
    const wrong = misfit(m, { type: any, ...SHAPES[m.type] });
    if (wrong && wrong !== 'unknown') throw bad(wrong, at);
    const failed = hasOwn(m, 'error');
    if (m.type === 'tool-response' && failed && hasOwn(m, 'result')) throw bad('an answer has a result or an error, not both', at);
    if (m.type === 'result' && (failed === m.success || (failed && hasOwn(m, 'value')))) throw bad('a result has a value or an error, as success says', at);
    if (wrong) throw fail('SECURITY_VIOLATION', 'a key does not belong to the message ' + m.type, at);
  };

  /** Returns the text of a batch. Members that are undefined are left out.
   * @param {number} gen @param {Message[]} msgs @param {string} from @param {Caps} caps */
  const encodeBatch = (gen, msgs, from, caps) => {
    if (msgs.length > MAX_BATCH) throw over('there are more messages than a batch may have');
    let s = '';
    for (let i = 0; i < msgs.length; i++) {
      /** @type {any} */
      const m = {};
      const names = keys(msgs[i]);
      for (let j = 0; j < names.length; j++) if (msgs[i][names[j]] !== undefined) m[names[j]] = msgs[i][names[j]];
      check(m, from, '[' + i + ']');
      s += (i ? ',' : '') + baileyEncode(m, { bytes: caps.bytes, depth: caps.depth - 2, nodes: caps.nodes });
    }
    return joinBatch(gen, s, caps);
  };
  /** Returns what decodeBatch returns if the text is exactly the text that JSON.stringify makes of it, and otherwise
   * undefined. Then no other parser can read it differently: it has no key twice, no other form of a number, no space.
   * All that decodeBatch refuses is left to it.
   * @param {string} text @param {Caps} caps @returns {any[] | undefined} */
  const canonical = (text, caps) => {
    let v, nodes = caps.nodes - 7;
    try {
      v = parse(text);
      if (stringify(v) !== text || !isOrdinary(text)) return;
    } catch (e) {
      return;
    }
    /** @type {(v: any, depth: number) => boolean} */
    const fine = (v, depth) => {
      if (--nodes < 0) return false;
      if (typeof v !== 'object' || v === null) return true;
      if (depth < 1) return false;
      if (isArray(v)) {
        for (let i = 0; i < v.length; i++) if (!fine(v[i], depth - 1)) return false;
        return true;
      }
      const names = keys(v);
      nodes -= names.length;
      for (let i = 0; i < names.length; i++) if (!fine(v[names[i]], depth - 1)) return false;
      return true;
    };
    if (!isObject(v) || keys(v).join() !== 'v,gen,msgs' || v.v !== VERSION || !isArray(v.msgs) || v.msgs.length > MAX_BATCH) return;
    if (!isInteger(v.gen) || v.gen < 1 || v.gen > MAX_ID) return;
    const depth = (caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth) - 2;
    for (let i = 0; i < v.msgs.length; i++) if (!fine(v.msgs[i], depth)) return;
    return v;
  };

  /** Returns the messages of an untrusted batch. The first problem throws an Error with a code. texts
   * are the original texts of the messages. quick, for tests, is whether a canonical text is read by the browser's
   * own JSON, which is faster for all but short ones.
   * @param {any} text @param {string} from @param {Caps} caps @param {boolean} [quick]
   * @returns {{gen: number, msgs: Message[], texts: string[]}} */
  const decodeBatch = (text, from, caps, quick) => {
    if (typeof text !== 'string') throw fail('SECURITY_VIOLATION', 'only text is taken');
    if (quick ?? text.length > SHORT) {
      fits(text, caps.bytes);
      const b = /** @type {any} */ (canonical(text, caps));
      if (b) {
        for (let i = 0; i < b.msgs.length; i++) check(b.msgs[i], from, '[' + i + ']');
        const whole = ',"msgs":[', texts = b.msgs.length === 1 ? [cut(text, seek(text, whole) + whole.length, -2)] : b.msgs.map((/** @type {any} */ m) => stringify(m));
        return { gen: b.gen, msgs: b.msgs, texts };
      }
    }
    const r = reader(text, caps, true);
    const digit = () => (r.digit() ? r.number(0) : -1);
    if (!r.skip('{"v":') || digit() !== VERSION) throw bad('a batch must begin with this version of the messages; host and frame must come from one build');
    const gen = r.skip(',"gen":') ? digit() : 0;
    if (!isInteger(gen) || gen < 1 || gen > MAX_ID) throw bad('the generation must be a whole number from 1');
    if (!r.skip(',"msgs":[')) throw bad('a batch must go on with its messages');
    r.spend(7, 0);
    const depth = (caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth) - 2;
    /** @type {Message[]} */
    const msgs = [];
    /** @type {string[]} */
    const texts = [];
    if (!r.skip(']}')) {
      for (;;) {
        if (msgs.length === MAX_BATCH) throw over('there are more messages than a batch may have');
        const start = r.at(), at = '[' + msgs.length + ']', m = r.value(depth, r.step(0, msgs.length));
        texts[msgs.length] = cut(text, start, r.at());
        check(m, from, at);
        msgs[msgs.length] = m;
        if (r.skip(']}')) break;
        if (!r.skip(',')) throw bad('a batch must end with ]}');
      }
    }
    if (!r.done()) throw bad('there is something behind the batch');
    return { gen, msgs, texts };
  };
  return freeze({ encodeBatch, joinBatch, decodeBatch, check });
})();
