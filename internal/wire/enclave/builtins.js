// @ts-check
// The built-ins that the later scripts need, and the errors and words that they share. The built-ins
// are captured before any other code runs in the realm, so that later code cannot change them.
// encode.js, tags.js, json.js and messages.js are the twins of values.go, internal/strictjson and
// messages.go. The tests of both read testdata/vectors. All these scripts are put into one function
// of the runtime or the broker.
/** @typedef {{bytes: number, depth: number, nodes: number}} Caps */
const baileyBuiltins = (() => {
  'use strict';
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { create, keys, hasOwn, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, freeze } = Object;
  const { isInteger, isFinite } = Number;
  const { apply } = Reflect, { bind, call } = Function.prototype;
  const plain = Object.prototype, list = Array.prototype, fromCode = String.fromCharCode, toBase = btoa, fromBase = atob, isView = ArrayBuffer.isView;
  const Err = Error, Big = BigInt, MapOf = Map, SetOf = Set, DateOf = Date, Bytes = Uint8Array, Later = Promise;
  /** Returns the method or getter of a built-in as a function whose first argument is the receiver.
   * @type {(proto: any, name: PropertyKey) => (self: any, ...rest: any[]) => any} */
  const method = (proto, name) => {
    const d = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(proto, name));
    return apply(bind, call, [d.get || d.value]);
  };
  const typed = getPrototypeOf(Bytes.prototype);
  const viewKind = method(typed, Symbol.toStringTag), subarray = method(typed, 'subarray'), bufferSize = method(ArrayBuffer.prototype, 'byteLength');
  const mapSize = method(MapOf.prototype, 'size'), mapEach = method(MapOf.prototype, 'forEach'), mapSet = method(MapOf.prototype, 'set');
  const setSize = method(SetOf.prototype, 'size'), setEach = method(SetOf.prototype, 'forEach'), setAdd = method(SetOf.prototype, 'add');
  const has = method(SetOf.prototype, 'has'), time = method(DateOf.prototype, 'getTime'), exec = method(RegExp.prototype, 'exec');
  const text = String.prototype;
  const wellFormed = method(text, 'isWellFormed'), mend = method(text, 'toWellFormed'), cut = method(text, 'slice');
  const codeAt = method(text, 'charCodeAt'), seek = method(text, 'indexOf'), begins = method(text, 'startsWith');
  /** @type {(s: string) => Set<string>} */
  const words = (s) => new SetOf(s.split(' '));

  const CODES = words('TOOL_NOT_FOUND INVALID_PARAMS CAPABILITY_DENIED TIMEOUT EXECUTION_ERROR SANDBOX_ERROR SESSION_ERROR RESOURCE_LIMIT OUTPUT_TOO_LARGE SECURITY_VIOLATION ABORTED');
  const REFUSED = words('__proto__ constructor prototype');
  const MAX_DATE = 8.64e15, MAX_TEXT = 16384, MAX_DEPTH = 256;
  /** For each class that holds bytes: its constructor and the bytes of an element.
   * @type {Record<string, [any, number]>} */
  const KINDS = {
    ArrayBuffer: [ArrayBuffer, 1], DataView: [DataView, 1], Uint8Array: [Bytes, 1], Uint8ClampedArray: [Uint8ClampedArray, 1],
    Int8Array: [Int8Array, 1], Int16Array: [Int16Array, 2], Uint16Array: [Uint16Array, 2], Float16Array: [/** @type {any} */ (globalThis).Float16Array, 2],
    Int32Array: [Int32Array, 4], Uint32Array: [Uint32Array, 4], Float32Array: [Float32Array, 4], Float64Array: [Float64Array, 8],
    BigInt64Array: [BigInt64Array, 8], BigUint64Array: [BigUint64Array, 8],
  };

  /** @type {(code: string, what: string, at?: string) => Error} */
  const fail = (code, what, at = '') => {
    const e = /** @type {any} */ (new Err(at ? what + ' (at $' + at + ')' : what));
    e.code = code;
    return e;
  };
  const bad = (/** @type {string} */ what, at = '') => fail('INVALID_PARAMS', what, at);
  const over = (/** @type {string} */ what, at = '') => fail('RESOURCE_LIMIT', what, at);
  const deep = (at = '') => over('it is nested deeper than the limit allows, or refers to itself', at);
  const many = (at = '') => over('there are more values than the limit allows', at);
  const refused = (/** @type {string} */ k, at = '') =>
    fail('SECURITY_VIOLATION', 'the key ' + k + ' is refused; use a Map for keys that somebody else chooses', at);

  /** Throws if s has more than most bytes in UTF-8. Stops counting when it has more.
   * @param {string} s @param {number} most */
  const fits = (s, most) => {
    let n = s.length;
    if (n * 3 <= most) return;
    for (let i = 0; i < s.length && n <= most; i++) {
      const c = codeAt(s, i);
      if (c > 0x7f) n += c > 0x7ff && (c < 0xd800 || c > 0xdfff) ? 2 : 1;
    }
    if (n > most) throw over('the text is over the limit of ' + most + ' bytes');
  };
  const SPECIAL = ['"$"', '\\ud', ...['__proto__', 'constructor', 'prototype'].map((k) => '"' + k + '"')];
  /** Reports whether a text of JSON.stringify has no tag, no lone surrogate and no refused key. If one of these words
   * stands in a string it reports false, which is only slower. @type {(s: string) => boolean} */
  const isOrdinary = (s) => {
    for (let i = 0; i < SPECIAL.length; i++) if (seek(s, SPECIAL[i]) >= 0) return false;
    return true;
  };

  /** Returns two functions for the place of a value in another one. step(at, k) sets the step at level at, an index or a
   * key, and returns the next level. where(at) returns the steps up to a level as text, which only an error needs. */
  const places = () => {
    /** @type {any} */
    const steps = create(null);
    return {
      step: (/** @type {number} */ at, /** @type {number | string} */ k) => ((steps[at] = k), at + 1),
      where: (/** @type {number} */ at) => {
        let s = '';
        for (let i = 0; i < at; i++) s += typeof steps[i] === 'string' ? '.' + steps[i] : '[' + steps[i] + ']';
        return s;
      },
    };
  };
  return freeze({
    parse, stringify, isArray, keys, hasOwn, getPrototypeOf, defineProperty, freeze, isInteger, isFinite, apply, plain, fromCode, toBase,
    fromBase, isView, Err, Big, MapOf, SetOf, DateOf, Bytes, Later, viewKind, subarray, bufferSize, mapSize, mapEach, mapSet, setSize,
    setEach, setAdd, has, time, exec, wellFormed, mend, cut, codeAt, seek, begins, words, CODES, REFUSED, MAX_DATE, MAX_TEXT, MAX_DEPTH,
    KINDS, fail, bad, over, deep, many, refused, fits, places, list, isOrdinary,
  });
})();
