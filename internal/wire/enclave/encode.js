// @ts-check
// The twin of encode.go. It encodes a value as text, within the caps. The only method of a value that
// it calls is toJSON. Getters and proxies may run, and their results count against the same caps.
const baileyEncode = (() => {
  'use strict';
  const {
    stringify, isArray, keys, hasOwn, getPrototypeOf, defineProperty, isFinite, apply, plain, fromCode, toBase, isView, Err, Bytes, Later,
    viewKind, subarray, bufferSize, mapSize, mapEach, setSize, setEach, has, time, wellFormed, mend, cut, CODES, REFUSED, MAX_TEXT,
    MAX_DEPTH, KINDS, bad, over, deep, many, refused, fits, places, list, isOrdinary,
  } = baileyBuiltins;

  /** @type {(brand: (v: any) => any, v: any) => boolean} */
  const is = (brand, v) => {
    try {
      brand(v);
      return true;
    } catch (e) {
      return false;
    }
  };
  /** @type {(b: Uint8Array) => string} */
  const base64 = (b) => {
    let s = '';
    for (let i = 0; i < b.length; i += 0x6000) s += toBase(apply(fromCode, null, subarray(b, i, i + 0x6000)));
    return s;
  };
  /** @type {(s: any, most?: number) => string} */
  const short = (s, most = MAX_TEXT) => (typeof s !== 'string' ? '' : mend(s.length > most ? cut(s, 0, most) + '\u2026' : s));

  /** Returns the text of v if the browser's own JSON has the same form of it, and otherwise ''. A value with
   * anything else in it, or over a limit, is left to the encoder below, which also says what is wrong.
   * @type {(v: any, caps: Caps, drop: boolean) => string} */
  const plainText = (v, caps, drop) => {
    let nodes = caps.nodes, bytes = caps.bytes;
    /** @type {(v: any, depth: number) => boolean} */
    const fine = (v, depth) => {
      if (--nodes < 0) return false;
      switch (typeof v) {
        case 'string': return (bytes -= v.length) >= 0;
        case 'number': return isFinite(v) && (v !== 0 || 1 / v > 0);
        case 'boolean': return true;
        case 'undefined': return drop;
        case 'object': break;
        default: return false;
      }
      if (v === null) return true;
      if (depth < 1 || v.toJSON !== undefined) return false;
      const proto = getPrototypeOf(v);
      if (isArray(v)) {
        if (proto !== list || v.length > nodes) return false;
        for (let i = 0; i < v.length; i++) if (!fine(v[i], depth - 1)) return false;
        return true;
      }
      if (proto !== plain) return false;
      const names = keys(v);
      if ((nodes -= names.length) < 0) return false;
      for (let i = 0; i < names.length; i++) if ((bytes -= names[i].length) < 0 || !fine(v[names[i]], depth - 1)) return false;
      return true;
    };
    if (v === undefined || !fine(v, caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth)) return '';
    const s = stringify(v);
    return s.length <= caps.bytes && isOrdinary(s) ? s : '';
  };

  /** Returns the text of v. With drop, members that are undefined are left out, as in JSON. With
   * lenient, a value without a form is described and not refused, for the console. Lone surrogates
   * in strings become U+FFFD.
   * @param {any} v @param {Caps} caps @param {{drop?: boolean, lenient?: boolean}} [options] */
  const encodeValue = (v, caps, options = {}) => {
    const { drop = false, lenient = false } = options;
    const quick = plainText(v, caps, drop);
    if (quick) return fits(quick, caps.bytes), quick;
    let nodes = caps.nodes, bytes = caps.bytes;
    const { step, where } = places();
    /** @type {(n: number, at: number) => void} */
    const spend = (n, at) => {
      if ((nodes -= n) < 0) throw many(where(at));
    };
    /** @type {(s: string, at: number) => string} */
    const leaf = (s, at) => {
      if ((bytes -= s.length) < 0) throw over('the text is over the limit of ' + caps.bytes + ' bytes', where(at));
      return s;
    };
    /** @type {(s: string, at: number) => string} */
    const str = (s, at) => {
      if (s.length > bytes) leaf(s, at);
      return leaf(stringify(mend(s)), at);
    };
    /** Counts the parts of a tagged value against the caps. @type {(parts: number, depth: number, at: number) => void} */
    const tag = (parts, depth, at) => {
      if (depth < 2) throw deep(where(at));
      spend(3 + parts, at);
      leaf('{"$":["",""]}', at);
    };
    /** @type {(name: string, list: any[], depth: number, at: number) => string} */
    const tagged = (name, list, depth, at) => {
      tag(0, depth, at);
      let s = '{"$":["' + name + '"';
      for (let i = 0; i < list.length; i++) s += leaf(',', at) + value(list[i], depth - 2, step(at, i));
      return s + ']}';
    };
    /** @type {(name: string, part: string, parts: number, depth: number, at: number) => string} */
    const flat = (name, part, parts, depth, at) => {
      tag(parts, depth, at);
      return '{"$":["' + name + '"' + leaf(part, at) + ']}';
    };
    /** @type {(what: string, at: number) => string} */
    const none = (what, at) => {
      if (lenient) return str('[' + what + ']', at);
      throw bad(what + ' has no form on the wire', where(at));
    };
    /** @type {(v: any, depth: number, at: number) => string} */
    const value = (v, depth, at) => {
      spend(1, at);
      switch (typeof v) {
        case 'string': return str(v, at);
        case 'boolean': return leaf(v ? 'true' : 'false', at);
        case 'undefined': return drop ? leaf('null', at) : flat('undefined', '', 0, depth, at);
        case 'number':
          if (v !== v || !isFinite(v) || (v === 0 && 1 / v < 0)) return flat(v === 0 ? '-0' : '' + v, '', 0, depth, at);
          return leaf('' + v, at);
        case 'bigint': {
          const digits = '' + v;
          if (digits.length > 4096 + (v < 0n ? 1 : 0)) throw bad('a BigInt must have 1 to 4096 decimal digits', where(at));
          return flat('bigint', ',"' + digits + '"', 1, depth, at);
        }
        case 'object': return v === null ? leaf('null', at) : lenient && depth < 1 ? str('[\u2026]', at) : object(v, depth, at);
      }
      return none(typeof v === 'symbol' ? 'a symbol' : 'a function', at);
    };
    /** @type {(v: any, depth: number, at: number) => string} */
    const object = (v, depth, at) => {
      if (depth < 1) throw deep(where(at));
      if (isArray(v)) {
        const n = v.length;
        if (n > nodes) throw many(where(at));
        let s = leaf('[', at);
        for (let i = 0; i < n; i++) s += (i ? ',' : '') + value(v[i], depth - 1, step(at, i));
        return s + leaf(']', at);
      }
      const proto = getPrototypeOf(v);
      if (proto !== plain && proto !== null) {
        const s = special(v, depth, at);
        if (s) return s;
        const { toJSON } = v;
        if (typeof toJSON === 'function') return value(apply(toJSON, v, []), depth - 1, at);
      }
      const names = keys(v);
      const dollar = hasOwn(v, '$');
      if (dollar) tag(0, depth, at);
      let s = '';
      for (let i = 0; i < names.length; i++) {
        let k = names[i];
        const x = v[k];
        if (x === undefined && drop) continue;
        if (has(REFUSED, k)) {
          if (!lenient) throw refused(k, where(at));
          k = '[' + k + ']';
        }
        if (!wellFormed(k)) throw bad('a key has a lone surrogate', where(at));
        spend(1, at);
        s += (s || dollar ? ',' : '') + str(k, at) + (dollar ? ',' : ':') + value(x, depth - (dollar ? 2 : 1), step(at, k));
      }
      leaf('{}', at);
      return dollar ? '{"$":["object"' + s + ']}' : '{' + s + '}';
    };
    /** Returns the text of a value with a tagged form, or ''. @type {(v: any, depth: number, at: number) => string} */
    const special = (v, depth, at) => {
      const kind = viewKind(v) || (is(bufferSize, v) ? 'ArrayBuffer' : isView(v) ? 'DataView' : '');
      if (kind) {
        if (!hasOwn(KINDS, kind)) return none('a ' + kind, at);
        const b = kind === 'ArrayBuffer' ? new Bytes(v) : new Bytes(v.buffer, v.byteOffset, v.byteLength);
        if (b.length > bytes) throw over('the text is over the limit of ' + caps.bytes + ' bytes', where(at));
        return flat('bytes', ',"' + kind + '","' + base64(b) + '"', 2, depth, at);
      }
      if (is(time, v)) return flat('date', ',' + stringify(time(v)), 1, depth, at);
      /** @type {any[]} */
      const list = [];
      const put = (/** @type {any} */ x) => {
        defineProperty(list, list.length, { value: x });
      };
      if (is(mapSize, v)) {
        mapEach(v, (/** @type {any} */ x, /** @type {any} */ k) => (put(k), put(x)));
        return tagged('map', list, depth, at);
      }
      if (is(setSize, v)) {
        setEach(v, put);
        return tagged('set', list, depth, at);
      }
      if (v instanceof Err) {
        const e = /** @type {any} */ (v);
        const parts = [short(e.name, 256), short(e.message), short(e.stack), has(CODES, e.code) ? e.code : ''];
        return tagged('error', hasOwn(v, 'cause') ? [parts[0], parts[1], parts[2], parts[3], e.cause] : parts, depth, at);
      }
      return v instanceof Later ? none('a Promise (await it first)', at) : '';
    };
    const s = value(v, caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth, 0);
    fits(s, caps.bytes);
    return s;
  };
  return encodeValue;
})();
