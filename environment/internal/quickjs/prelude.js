// The prelude gives QuickJS what the enclave's runtime expects of a worker: messages, timers, and the
// globals of the web that compute without an effect outside. host is the only way out. It takes a
// word and a text, and returns a text or undefined. The runtime captures these globals and removes the
// ways out before any other code runs.
(host) => {
  'use strict';
  const G = globalThis;
  const put = (k, value) => Object.defineProperty(G, k, { value, writable: true, enumerable: false, configurable: true });

  // Messages.
  const listeners = [];
  class Event {
    get isTrusted() { return true; }
    stopImmediatePropagation() {}
  }
  class MessageEvent extends Event {
    #data;
    constructor(data) { super(); this.#data = data; }
    get data() { return this.#data; }
  }
  put('Event', Event);
  put('MessageEvent', MessageEvent);
  put('postMessage', (text) => void host('post', text));
  put('addEventListener', (_, f) => void listeners.push(f));
  put('close', () => {});

  // Timers.
  const timers = new Map(), { get, set, delete: drop } = Map.prototype, { apply } = Reflect;
  let last = 0;
  const start = (f, ms, args, every) => {
    if (typeof f !== 'function') throw new TypeError('a timer needs a function');
    const wait = Math.min(Math.max(0, +ms || 0), 2147483647);
    apply(set, timers, [++last, { f, args, wait, every }]);
    host('timer', last + ' ' + wait);
    return last;
  };
  const stop = (id) => {
    if (apply(drop, timers, [+id])) host('clear', '' + +id);
  };
  put('setTimeout', (f, ms, ...args) => start(f, ms, args, false));
  put('setInterval', (f, ms, ...args) => start(f, ms, args, true));
  put('clearTimeout', (id) => stop(id));
  put('clearInterval', (id) => stop(id));

  // The engine would call this function with the frames of the runtime.
  delete Error.prepareStackTrace;
  delete Error.stackTraceLimit;

  // Globals.
  put('self', G);
  const KINDS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
  const hex = '0123456789abcdef', random = (n) => host('random', '' + n);
  const fill = (b) => {
    const s = random(b.length);
    for (let i = 0; i < b.length; i++) b[i] = hex.indexOf(s[2 * i]) * 16 + hex.indexOf(s[2 * i + 1]);
  };
  put('crypto', {
    getRandomValues(a) {
      if (!KINDS.some((K) => a instanceof K)) throw new DOMException('an array of integers is needed', 'TypeMismatchError');
      if (a.byteLength > 65536) throw new DOMException('at most 65536 bytes at once', 'QuotaExceededError');
      fill(new Uint8Array(a.buffer, a.byteOffset, a.byteLength));
      return a;
    },
    randomUUID() {
      const b = new Uint8Array(16);
      fill(b);
      b[6] = (b[6] & 15) | 64;
      b[8] = (b[8] & 63) | 128;
      const s = [...b].map((x) => hex[x >> 4] + hex[x & 15]).join('');
      return s.slice(0, 8) + '-' + s.slice(8, 12) + '-' + s.slice(12, 16) + '-' + s.slice(16, 20) + '-' + s.slice(20);
    },
  });

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(s = '') {
      s = ('' + s).toWellFormed();
      const out = [];
      for (const c of s) {
        const n = c.codePointAt(0);
        if (n < 0x80) out.push(n);
        else if (n < 0x800) out.push(0xc0 | (n >> 6), 0x80 | (n & 63));
        else if (n < 0x10000) out.push(0xe0 | (n >> 12), 0x80 | ((n >> 6) & 63), 0x80 | (n & 63));
        else out.push(0xf0 | (n >> 18), 0x80 | ((n >> 12) & 63), 0x80 | ((n >> 6) & 63), 0x80 | (n & 63));
      }
      return new Uint8Array(out);
    }
    encodeInto(s, to) {
      let read = 0, written = 0;
      for (const c of ('' + s).toWellFormed()) {
        const b = this.encode(c);
        if (written + b.length > to.length) break;
        to.set(b, written);
        written += b.length;
        read += c.length;
      }
      return { read, written };
    }
  }
  class TextDecoder {
    #fatal; #bom; #rest = [];
    constructor(label = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError('only utf-8 can be decoded here');
      this.#fatal = !!fatal;
      this.#bom = !!ignoreBOM;
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#bom; }
    decode(data, { stream = false } = {}) {
      const view = data === undefined ? [] : ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
      const b = this.#rest.length ? [...this.#rest, ...view] : view;
      this.#rest = [];
      let out = '', i = 0;
      const bad = () => {
        if (this.#fatal) throw new TypeError('the bytes are not utf-8');
        out += '\ufffd';
      };
      while (i < b.length) {
        const c = b[i];
        if (c < 0x80) { out += String.fromCharCode(c); i++; continue; }
        const n = c >= 0xc2 && c <= 0xdf ? 1 : c >= 0xe0 && c <= 0xef ? 2 : c >= 0xf0 && c <= 0xf4 ? 3 : 0;
        if (!n) { bad(); i++; continue; }
        let low = c === 0xe0 ? 0xa0 : c === 0xf0 ? 0x90 : 0x80, high = c === 0xed ? 0x9f : c === 0xf4 ? 0x8f : 0xbf;
        let p = c & (0x3f >> n), k = 1;
        for (; k <= n && i + k < b.length && b[i + k] >= low && b[i + k] <= high; k++) {
          p = (p << 6) | (b[i + k] & 63);
          low = 0x80;
          high = 0xbf;
        }
        if (k > n) out += String.fromCodePoint(p);
        else if (stream && i + k === b.length) { this.#rest = [...b.slice(i)]; break; }
        else bad();
        i += k;
      }
      return !this.#bom && out.startsWith('\ufeff') ? out.slice(1) : out;
    }
  }
  put('TextEncoder', TextEncoder);
  put('TextDecoder', TextDecoder);

  const typed = Object.getPrototypeOf(Uint8Array);
  put('structuredClone', (value) => {
    const seen = new Map();
    const refuse = (what) => { throw new DOMException(what + ' could not be cloned', 'DataCloneError'); };
    const copy = (v) => {
      if (typeof v === 'function') refuse('a function');
      if (typeof v === 'symbol') refuse('a symbol');
      if (typeof v !== 'object' || v === null) return v;
      if (seen.has(v)) return seen.get(v);
      const keep = (to) => (seen.set(v, to), to);
      if (v instanceof Date) return keep(new Date(v.getTime()));
      if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
      if (v instanceof ArrayBuffer) return keep(v.slice(0));
      if (v instanceof DataView) return keep(new DataView(copy(v.buffer), v.byteOffset, v.byteLength));
      if (v instanceof typed) return keep(new v.constructor(copy(v.buffer), v.byteOffset, v.length));
      if (v instanceof Boolean || v instanceof Number || v instanceof String || v instanceof BigInt) return keep(Object(v.valueOf()));
      if (v instanceof Map) {
        const to = keep(new Map());
        for (const [k, x] of [...v]) to.set(copy(k), copy(x));
        return to;
      }
      if (v instanceof Set) {
        const to = keep(new Set());
        for (const x of [...v]) to.add(copy(x));
        return to;
      }
      if (v instanceof Error) {
        const of = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[v.name] ?? Error;
        const to = keep(new of(v.message));
        for (const k of ['stack', 'cause']) if (Object.hasOwn(v, k)) Object.defineProperty(to, k, { value: copy(v[k]), writable: true, configurable: true });
        return to;
      }
      if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) refuse('this object');
      const to = keep(Array.isArray(v) ? new Array(v.length) : {});
      for (const k of Object.keys(v)) Object.defineProperty(to, k, { value: copy(v[k]), writable: true, enumerable: true, configurable: true });
      return to;
    };
    return copy(value);
  });

  // The runtime reads these names before it removes them. Nothing behind them is of use here: see
  // postlude in run.go.
  if (!G.URL) put('URL', class {});
  put('Blob', class {});
  if (!G.Intl) put('Intl', { DateTimeFormat: class { get format() { return undefined; } formatToParts() {} } });

  return (kind, text) => {
    if (kind === 'message') {
      const e = new MessageEvent(text);
      for (let i = 0; i < listeners.length; i++) listeners[i](e);
      return;
    }
    const id = +text, t = apply(get, timers, [id]);
    if (!t) return;
    if (t.every) host('timer', id + ' ' + t.wait);
    else apply(drop, timers, [id]);
    apply(t.f, undefined, t.args);
  };
}
