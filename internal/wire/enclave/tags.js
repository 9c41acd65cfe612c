// @ts-check
// The twin of value.go: untag returns the value of a tagged object. read decodes text that a trusted
// side has checked already. It is short, so that a new worker has little to compile.
const baileyTags = (() => {
  'use strict';
  const {
    parse, isArray, keys, hasOwn, defineProperty, isInteger, fromBase, Err, Big, MapOf, SetOf, DateOf, Bytes, mapSet, setAdd, has, exec, cut, codeAt, seek, CODES, REFUSED,
    MAX_DATE, KINDS, bad,
  } = baileyBuiltins;
  const BASE = /^[A-Za-z0-9+/]*$/, TAIL = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;
  const BIGINT = /^(?:0|-?[1-9][0-9]{0,4095})$/;

  /** Returns the value of a tagged object. @type {(list: any[], at: string) => any} */
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

  /** Replaces tagged objects by their values. @type {(v: any) => any} */
  const revive = (v) => {
    if (typeof v !== 'object' || v === null) return v;
    const names = keys(v);
    for (let i = 0; i < names.length; i++) v[names[i]] = revive(v[names[i]]);
    return !isArray(v) && hasOwn(v, '$') ? untag(v.$, '') : v;
  };
  /** Returns the value of a text that was checked. @param {string} text */
  const read = (text) => {
    const v = parse(text);
    return seek(text, '"$"') < 0 && seek(text, '\\u0024') < 0 ? v : revive(v);
  };
  return { untag, read };
})();
