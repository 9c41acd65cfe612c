// @ts-check
// The twin of json.go and value.go: text into values, under caps, and stricter than
// JSON.parse so that two readers can't be made to disagree: a key twice, a lone
// surrogate, a number that is infinite and the keys that reach a prototype are
// errors, as are more bytes, levels or values than the caps allow.
const baileyDecode = (() => {
  'use strict';
  const {
    parse, isArray, hasOwn, defineProperty, isInteger, isFinite, fromBase, Err, Big, MapOf, SetOf, DateOf, Bytes, mapSet, setAdd, has, exec,
    wellFormed, cut, codeAt, seek, begins, CODES, REFUSED, MAX_DATE, MAX_DEPTH, KINDS, bad, deep, many, refused, fits,
  } = baileyBuiltins;
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y, CONTROL = /[\0-\x1f]/;
  const BASE = /^[A-Za-z0-9+/]*$/, TAIL = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
  const BIGINT = /^(?:0|-?[1-9][0-9]{0,4095})$/;

  /** The value that a tagged object stands for. @type {(list: any[], at: string) => any} */
  const untag = (list, at) => {
    const t = list[0], n = list.length, a = list[1];
    if (n === 1 && t === 'undefined') return undefined;
    if (n === 1 && (t === 'NaN' || t === 'Infinity' || t === '-Infinity' || t === '-0')) return +t;
    if (t === 'set' || (t === 'map' && n % 2)) {
      const out = t === 'set' ? new SetOf() : new MapOf();
      for (let i = 1; i < n; i += t === 'set' ? 1 : 2) t === 'set' ? setAdd(out, list[i]) : mapSet(out, list[i], list[i + 1]);
      return out;
    }
    if (t === 'object' && n % 2) {
      /** @type {any} */
      const out = {};
      for (let i = 1; i < n; i += 2) {
        const k = list[i];
        if (typeof k !== 'string' || hasOwn(out, k) || has(REFUSED, k)) throw bad('the keys of a tagged object must be strings, each once and none of the refused ones', at);
        out[k] = list[i + 1];
      }
      if (hasOwn(out, '$')) return out;
    }
    if (t === 'error' && (n === 5 || n === 6)) {
      const message = list[2], code = list[4];
      for (let i = 1; i < 5; i++) if (typeof list[i] !== 'string') throw bad('an Error must have a name, a message, a stack and a code', at);
      if (code && !has(CODES, code)) throw bad('an Error has an unknown code', at);
      const e = n === 6 ? new Err(message, { cause: list[5] }) : new Err(message);
      const own = (/** @type {string} */ k, /** @type {any} */ x) => defineProperty(e, k, { value: x, writable: true, configurable: true });
      own('name', list[1]);
      own('stack', list[3]);
      if (code) own('code', code);
      return e;
    }
    if (t === 'bigint' && n === 2 && typeof a === 'string' && a.length < 4098 && exec(BIGINT, a)) return Big(a);
    if (t === 'date' && n === 2 && (a === null || (isInteger(a) && a <= MAX_DATE && a >= -MAX_DATE))) return new DateOf(a === null ? NaN : a);
    if (t === 'bytes' && n === 3 && typeof a === 'string' && hasOwn(KINDS, a) && KINDS[a][0] && typeof list[2] === 'string') {
      const s = list[2], Kind = KINDS[a][0], size = KINDS[a][1];
      if (s.length % 4 === 0 && exec(BASE, cut(s, 0, -4)) && exec(TAIL, cut(s, -4))) {
        const raw = fromBase(s), b = new Bytes(raw.length);
        for (let i = 0; i < b.length; i++) b[i] = codeAt(raw, i);
        if (b.length % size === 0) return a === 'Uint8Array' ? b : a === 'ArrayBuffer' ? b.buffer : new Kind(b.buffer);
      }
    }
    throw bad('unknown tag, or not the parts that the tag has', at);
  };

  /** A reader of text, at index 0. skip jumps over what is known to be there.
   * @param {string} text @param {Caps} caps @param {boolean} tagged */
  const reader = (text, caps, tagged) => {
    fits(text, caps.bytes);
    if (!wellFormed(text)) throw bad('a lone surrogate is not text');
    let i = 0, nodes = caps.nodes;
    const code = () => codeAt(text, i);
    const space = () => {
      for (let c = code(); c === 32 || c === 9 || c === 10 || c === 13; c = code()) i++;
    };
    /** @type {(n: number, at: string) => void} */
    const spend = (n, at) => {
      if ((nodes -= n) < 0) throw many(at);
    };
    /** @type {(at: string) => string} */
    const string = (at) => {
      const start = i + 1;
      let end = seek(text, '"', start);
      for (; end >= 0; end = seek(text, '"', end + 1)) {
        let slashes = 0;
        while (codeAt(text, end - 1 - slashes) === 92) slashes++;
        if (slashes % 2 === 0) break;
      }
      if (end < 0) throw bad('the string has no end', at);
      let s = cut(text, start, end);
      i = end + 1;
      if (exec(CONTROL, s)) throw bad('a control character in a string must be escaped', at);
      if (seek(s, '\\') < 0) return s;
      try {
        s = parse('"' + s + '"');
      } catch (e) {
        throw bad('no such escape', at);
      }
      if (!wellFormed(s)) throw bad('a lone surrogate is not text', at);
      return s;
    };
    /** @type {(at: string) => number} */
    const number = (at) => {
      NUMBER.lastIndex = i;
      const m = exec(NUMBER, text);
      if (!m || m[0].length > 400 || !isFinite(+m[0])) throw bad('this is not a number, or too large', at);
      i += m[0].length;
      return +m[0];
    };
    /** True for a comma, false for the closing bracket. @type {(closing: number, at: string) => boolean} */
    const next = (closing, at) => {
      space();
      const c = code();
      if (c !== 44 && c !== closing) throw bad('a comma or a closing bracket should be here', at);
      i++;
      return c === 44;
    };
    /** @type {(depth: number, at: string) => any} */
    const value = (depth, at) => {
      spend(1, at);
      const c = code();
      if (c === 34) return string(at);
      if (c === 45 || (c >= 48 && c <= 57)) return number(at);
      if (c === 123 || c === 91) {
        if (depth < 1) throw deep(at);
        return c === 123 ? object(depth - 1, at) : array(depth - 1, at);
      }
      const word = c === 110 ? 'null' : c === 116 ? 'true' : 'false';
      if (!begins(text, word, i)) throw bad('this is not JSON', at);
      i += word.length;
      return c === 110 ? null : c === 116;
    };
    /** @type {(depth: number, at: string) => any[]} */
    const array = (depth, at) => {
      const out = /** @type {any[]} */ ([]);
      i++;
      space();
      if (code() === 93) return i++, out;
      do {
        space();
        const v = value(depth, at + '[' + out.length + ']');
        defineProperty(out, out.length, { value: v, writable: true, enumerable: true, configurable: true });
      } while (next(93, at));
      return out;
    };
    /** @type {(depth: number, at: string) => any} */
    const object = (depth, at) => {
      const out = /** @type {any} */ ({});
      i++;
      space();
      if (code() === 125) return i++, out;
      do {
        space();
        if (code() !== 34) throw bad('a key should be here, in double quotes', at);
        const k = string(at);
        if (has(REFUSED, k)) throw refused(k, at);
        if (hasOwn(out, k)) throw bad('a key is there twice', at);
        spend(1, at);
        space();
        if (code() !== 58) throw bad('a colon should be here', at);
        i++;
        space();
        const v = value(depth, at + '.' + k);
        defineProperty(out, k, { value: v, writable: true, enumerable: true, configurable: true });
      } while (next(125, at));
      if (!tagged || !hasOwn(out, '$')) return out;
      let n = 0;
      for (const k in out) if (hasOwn(out, k)) n++;
      if (n !== 1 || !isArray(out.$) || out.$.length === 0) throw bad('an object with the key "$" must be a tagged value', at);
      return untag(out.$, at);
    };
    return {
      value, number, spend, space,
      digit: () => code() >= 48 && code() <= 57,
      at: () => i,
      done: () => i >= text.length,
      /** @type {(s: string) => boolean} */
      skip: (s) => begins(text, s, i) && ((i += s.length), true),
    };
  };

  /** Reads one value. @param {string} text @param {Caps} caps */
  const decodeValue = (text, caps, tagged = true) => {
    const r = reader(text, caps, tagged);
    r.space();
    const v = r.value(caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth, '');
    r.space();
    if (!r.done()) throw bad('there is something behind the value');
    return v;
  };
  return { reader, decodeValue };
})();
