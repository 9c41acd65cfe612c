// @ts-check
// The twin of json.go and value.go. It decodes text to values, within the caps. It is stricter than
// JSON.parse, so that no two parsers can disagree about a text. A key that occurs twice, a lone
// surrogate, an infinite number and the keys that reach a prototype are errors. More bytes, levels or
// values than the caps allow are errors too. Only trusted realms run it, so plain assignment reaches no
// setter of somebody else's.
const baileyDecode = (() => {
  'use strict';
  const {
    parse, isArray, hasOwn, isFinite, has, exec, wellFormed, cut, codeAt, seek, begins, REFUSED, MAX_DEPTH, bad, deep, many, refused, fits, places,
  } = baileyBuiltins;
  const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y, CONTROL = /[\0-\x1f]/;

  /** Returns a reader of text, at index 0. Its skip(s) reports whether s is next, and moves behind it.
   * @param {string} text @param {Caps} caps @param {boolean} tagged */
  const reader = (text, caps, tagged) => {
    fits(text, caps.bytes);
    if (!wellFormed(text)) throw bad('a lone surrogate is not text');
    const { step, where } = places();
    let i = 0, nodes = caps.nodes;
    const code = () => codeAt(text, i);
    const space = () => {
      for (let c = code(); c === 32 || c === 9 || c === 10 || c === 13; c = code()) i++;
    };
    /** @type {(n: number, at: number) => void} */
    const spend = (n, at) => {
      if ((nodes -= n) < 0) throw many(where(at));
    };
    /** @type {(at: number) => string} */
    const string = (at) => {
      const start = i + 1;
      let end = seek(text, '"', start);
      for (; end >= 0; end = seek(text, '"', end + 1)) {
        let slashes = 0;
        while (codeAt(text, end - 1 - slashes) === 92) slashes++;
        if (slashes % 2 === 0) break;
      }
      if (end < 0) throw bad('the string has no end', where(at));
      let s = cut(text, start, end);
      i = end + 1;
      if (exec(CONTROL, s)) throw bad('a control character in a string must be escaped', where(at));
      if (seek(s, '\\') < 0) return s;
      try {
        s = parse('"' + s + '"');
      } catch (e) {
        throw bad('no such escape', where(at));
      }
      if (!wellFormed(s)) throw bad('a lone surrogate is not text', where(at));
      return s;
    };
    /** @type {(at: number) => number} */
    const number = (at) => {
      NUMBER.lastIndex = i;
      const m = exec(NUMBER, text);
      if (!m || m[0].length > 400 || !isFinite(+m[0])) throw bad('this is not a number, or too large', where(at));
      i += m[0].length;
      return +m[0];
    };
    /** Returns true for a comma and false for the closing bracket. @type {(closing: number, at: number) => boolean} */
    const next = (closing, at) => {
      space();
      const c = code();
      if (c !== 44 && c !== closing) throw bad('a comma or a closing bracket should be here', where(at));
      i++;
      return c === 44;
    };
    /** @type {(depth: number, at: number) => any} */
    const value = (depth, at) => {
      spend(1, at);
      const c = code();
      if (c === 34) return string(at);
      if (c === 45 || (c >= 48 && c <= 57)) return number(at);
      if (c === 123 || c === 91) {
        if (depth < 1) throw deep(where(at));
        return c === 123 ? object(depth - 1, at) : array(depth - 1, at);
      }
      const word = c === 110 ? 'null' : c === 116 ? 'true' : 'false';
      if (!begins(text, word, i)) throw bad('this is not JSON', where(at));
      i += word.length;
      return c === 110 ? null : c === 116;
    };
    /** @type {(depth: number, at: number) => any[]} */
    const array = (depth, at) => {
      const out = /** @type {any[]} */ ([]);
      i++;
      space();
      if (code() === 93) return i++, out;
      do {
        space();
        const v = value(depth, step(at, out.length));
        out[out.length] = v;
      } while (next(93, at));
      return out;
    };
    /** @type {(depth: number, at: number) => any} */
    const object = (depth, at) => {
      const out = /** @type {any} */ ({});
      i++;
      space();
      if (code() === 125) return i++, out;
      do {
        space();
        if (code() !== 34) throw bad('a key should be here, in double quotes', where(at));
        const k = string(at);
        if (has(REFUSED, k)) throw refused(k, where(at));
        if (hasOwn(out, k)) throw bad('a key is there twice', where(at));
        spend(1, at);
        space();
        if (code() !== 58) throw bad('a colon should be here', where(at));
        i++;
        space();
        const v = value(depth, step(at, k));
        out[k] = v;
      } while (next(125, at));
      if (!tagged || !hasOwn(out, '$')) return out;
      let n = 0;
      for (const k in out) if (hasOwn(out, k)) n++;
      if (n !== 1 || !isArray(out.$) || out.$.length === 0) throw bad('an object with the key "$" must be a tagged value', where(at));
      return baileyTags.untag(out.$, where(at));
    };
    return {
      value, number, spend, space, step,
      digit: () => code() >= 48 && code() <= 57,
      at: () => i,
      done: () => i >= text.length,
      /** @type {(s: string) => boolean} */
      skip: (s) => begins(text, s, i) && ((i += s.length), true),
    };
  };

  /** Returns the value of a text. @param {string} text @param {Caps} caps */
  const decodeValue = (text, caps, tagged = true) => {
    const r = reader(text, caps, tagged);
    r.space();
    const v = r.value(caps.depth > MAX_DEPTH ? MAX_DEPTH : caps.depth, 0);
    r.space();
    if (!r.done()) throw bad('there is something behind the value');
    return v;
  };
  return { reader, decodeValue };
})();
