// @ts-check
// Layers 4, 5, 6 and 8 of an enclave. They are applied in the realm of the untrusted code,
// before any of it runs: globals are removed, functions that make code from strings are
// closed, built-ins are frozen, and large operations are estimated. They protect only the
// realm. The broker and the host protect everything outside. Each layer has a switch, for tests.
/** @typedef {{names?: string[], removed: string[], throws: boolean, define: boolean, eval: boolean, clock: number, dom: boolean, connect: boolean, off: string[], policy: string[], sample: string}} Hardening */
const baileyHarden = (/** @type {Hardening} */ config) => {
  'use strict';
  const G = /** @type {any} */ (globalThis);
  const { getPrototypeOf, getOwnPropertyDescriptor, defineProperty, freeze, hasOwn } = Object;
  const { max } = Math, { ownKeys, apply, construct, deleteProperty, defineProperty: attempt } = Reflect, FunctionProto = Function.prototype, ProxyOf = Proxy;
  const on = (/** @type {string} */ layer) => !config.off.includes(layer);
  const put = (/** @type {any} */ o, /** @type {PropertyKey} */ k, /** @type {any} */ value) => defineProperty(o, k, { value, writable: true, enumerable: false, configurable: true });
  const refused = (/** @type {string} */ what) => new TypeError(what + ' is not available here');
  /** Estimated bytes that large operations have requested, and may request. */
  const used = { heap: 0, most: Infinity, clock: Date.now };

  // Kept: the language, and functions that compute without side effects outside the realm.
  // Globals that a browser adds later are not on this list, so they are removed.
  const KEPT = new Set((
    'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ' +
    'ReferenceError SyntaxError TypeError URIError SuppressedError DisposableStack AsyncDisposableStack globalThis self JSON Math Intl ArrayBuffer Uint8Array Int8Array ' +
    'Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set WeakMap ' +
    'WeakSet WeakRef FinalizationRegistry Proxy Reflect Iterator AsyncIterator Temporal decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape eval ' +
    'isFinite isNaN console setTimeout clearTimeout setInterval clearInterval queueMicrotask structuredClone atob btoa TextEncoder TextDecoder URL URLSearchParams ' +
    'DOMException performance crypto').split(' '));

  // Kept in a frame: globals that make, show and measure its own document, and its events.
  const OF_PAGES = new Set((
    'window document location top parent frames length addEventListener removeEventListener dispatchEvent getComputedStyle matchMedia requestAnimationFrame ' +
    'cancelAnimationFrame requestIdleCallback cancelIdleCallback getSelection innerWidth innerHeight outerWidth outerHeight devicePixelRatio scrollX scrollY pageXOffset pageYOffset ' +
    'scroll scrollTo scrollBy event screen visualViewport customElements Node NodeList NodeFilter NodeIterator TreeWalker Element Document DocumentFragment DocumentType ' +
    'ShadowRoot Text Comment CharacterData Attr CDATASection ProcessingInstruction NamedNodeMap EventTarget Range StaticRange AbstractRange Selection Image Option Audio ' +
    'XMLSerializer XMLDocument XPathEvaluator XPathExpression XPathResult Blob File FileList FileReader FormData AbortController AbortSignal Path2D ImageData ImageBitmap ' +
    'createImageBitmap CanvasRenderingContext2D CanvasGradient CanvasPattern TextMetrics StyleSheet StyleSheetList MediaList MediaQueryList Animation ' +
    'KeyframeEffect MutationObserver MutationRecord ResizeObserver ResizeObserverEntry ResizeObserverSize IntersectionObserver IntersectionObserverEntry DataTransfer ' +
    'Touch TouchList ElementInternals ValidityState CustomElementRegistry').split(' '));
  const KINDS = /^(HTML|SVG|CSS|DOM)[A-Za-z]*$|^[A-Z][a-zA-Z]*Event$/;
  if (config.connect) for (const k of ['fetch', 'Headers', 'Request', 'Response']) OF_PAGES.add(k);
  const kept = (/** @type {string} */ k) => KEPT.has(k) || (config.dom && (OF_PAGES.has(k) || KINDS.test(k)));

  // Intrinsics without a global name that syntax can reach.
  const gen = getPrototypeOf(function* () {}), asyncGen = getPrototypeOf(async function* () {}), asyncFn = getPrototypeOf(async function () {});
  const makers = [FunctionProto, gen, asyncGen, asyncFn];
  const iteratorProto = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));
  const hidden = [
    gen, gen.prototype, asyncGen, asyncGen.prototype, asyncFn, iteratorProto, getPrototypeOf(asyncGen.prototype),
    getPrototypeOf([][Symbol.iterator]()), getPrototypeOf(''[Symbol.iterator]()), getPrototypeOf(new Map().entries()), getPrototypeOf(new Set().values()),
    getPrototypeOf(/a/[Symbol.matchAll]('')), getPrototypeOf(Uint8Array), getPrototypeOf(Uint8Array.prototype),
  ];
  if (typeof iteratorProto.map === 'function') hidden.push(getPrototypeOf(iteratorProto.map.call([].values(), String)));
  if (G.Iterator?.from) hidden.push(getPrototypeOf(G.Iterator.from({ next() {} })));
  for (const m of [gen, asyncGen, asyncFn]) hidden.push(m.constructor);

  const gone = new Set(config.removed), native = { crypto: G.crypto, performance: G.performance };

  const globals = () => {
    // Symbols stay, because they are tags. Operations of the scope are on its prototypes.
    // In a window only the window itself and its prototype have them.
    for (let o = G, n = 0; o && o !== Object.prototype && !(config.dom && n++ > 1); o = getPrototypeOf(o))
      for (const k of ownKeys(o)) {
        if (typeof k !== 'string' || (kept(k) && !(gone.has(k) && !(config.dom && OF_PAGES.has(k)))) || (k === 'constructor' && config.dom)) continue;
        if (!deleteProperty(o, k) && !['NaN', 'Infinity', 'undefined'].includes(k)) attempt(o, k, { value: undefined, writable: false });
      }
  };

  /** Tames functions that look harmless but have wider effects. */
  const tame = () => {
    for (const k of ['createObjectURL', 'revokeObjectURL']) delete G.URL?.[k];
    for (const k of ownKeys(RegExp)) if (typeof k === 'string' && !['length', 'name', 'prototype', 'escape'].includes(k)) deleteProperty(RegExp, k);
    for (let o = G; o && o !== Object.prototype; o = getPrototypeOf(o)) for (const k of ['crypto', 'performance']) deleteProperty(o, k);
    if (native.crypto) {
      const c = native.crypto, random = c.getRandomValues, uuid = c.randomUUID;
      // subtle is left out, because its work continues in threads that terminate() does not end.
      const value = freeze({
        getRandomValues: (/** @type {any} */ a) => apply(random, c, [a]),
        ...(uuid ? { randomUUID: () => apply(uuid, c, []) } : {}),
      });
      defineProperty(G, 'crypto', { value, writable: true, enumerable: true, configurable: true });
    }
    clocks();
  };

  /** Makes every clock the clock of Date, rounded down. They all advance at the same moment, so two of them give no
   * more information than one. */
  const clocks = () => {
    const step = config.clock, exact = Date.now;
    const now = (used.clock = () => {
      const t = exact();
      return t - (t % step);
    });
    if (native.performance && !(gone.has('performance') && on('globals'))) {
      const timeOrigin = now();
      let last = 0; // the system clock may be set back
      const value = freeze({ now: () => (last = max(last, now() - timeOrigin)), timeOrigin });
      defineProperty(G, 'performance', { value, writable: true, enumerable: true, configurable: true });
    }
    const Native = Date, { toString } = Native.prototype;
    const Tamed = /** @type {any} */ (function (/** @type {any[]} */ ...args) {
      if (!new.target) return apply(toString, new Native(now()), []);
      return construct(Native, args.length ? args : [now()], new.target);
    });
    for (const k of ['UTC', 'parse']) put(Tamed, k, /** @type {any} */ (Native)[k]);
    put(Tamed, 'now', { now: () => now() }.now);
    defineProperty(Tamed, 'name', { value: 'Date', configurable: true });
    defineProperty(Tamed, 'length', { value: 7, configurable: true });
    defineProperty(Tamed, 'prototype', { value: Native.prototype, writable: false });
    put(Native.prototype, 'constructor', Tamed);
    put(G, 'Date', Tamed);

    // A formatter without a date argument would use the native clock.
    const formats = Intl.DateTimeFormat.prototype, { formatToParts } = formats;
    const { get: format } = /** @type {any} */ (getOwnPropertyDescriptor(formats, 'format'));
    const bound = new WeakMap(), { get: find, set: keep } = WeakMap.prototype;
    const tamed = {
      get format() {
        const real = apply(format, this, []);
        let f = apply(find, bound, [real]);
        if (!f) {
          f = (/** @type {any} */ date) => real(date === undefined ? now() : date);
          defineProperty(f, 'name', { value: '' });
          apply(keep, bound, [real, f]);
        }
        return f;
      },
      formatToParts(/** @type {any} */ date) {
        return apply(formatToParts, this, [date === undefined ? now() : date]);
      },
    };
    defineProperty(formats, 'format', { .../** @type {any} */ (getOwnPropertyDescriptor(tamed, 'format')), enumerable: false });
    put(formats, 'formatToParts', tamed.formatToParts);

    if (!G.Temporal) return;
    const { Now, Instant, ZonedDateTime } = G.Temporal, { timeZoneId } = Now, { fromEpochMilliseconds: from } = Instant;
    const { toZonedDateTimeISO: zoned } = Instant.prototype, { toPlainDateTime, toPlainDate, toPlainTime } = ZonedDateTime.prototype;
    const at = (/** @type {any} */ zone) => apply(zoned, from(now()), [zone === undefined ? timeZoneId() : zone]);
    /** @type {any} */
    const clock = {
      timeZoneId,
      instant: () => from(now()),
      zonedDateTimeISO: (/** @type {any} */ zone) => at(zone),
      plainDateTimeISO: (/** @type {any} */ zone) => apply(toPlainDateTime, at(zone), []),
      plainDateISO: (/** @type {any} */ zone) => apply(toPlainDate, at(zone), []),
      plainTimeISO: (/** @type {any} */ zone) => apply(toPlainTime, at(zone), []),
    };
    // A function that a browser adds to Now later would be a clock without this rounding.
    for (const k of ownKeys(Now)) {
      if (typeof k !== 'string') continue;
      if (!hasOwn(clock, k)) deleteProperty(Now, k);
      else if (k !== 'timeZoneId') {
        defineProperty(clock[k], 'length', { value: 0, configurable: true });
        put(Now, k, clock[k]);
      }
    }
  };

  const guards = () => {
    const O = Object.prototype;
    const no = (/** @type {string} */ what) => () => {
      if (config.throws) throw refused(what);
    };
    defineProperty(O, '__proto__', { get: no('__proto__'), set: no('__proto__'), enumerable: false, configurable: true });
    for (const k of ['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__']) put(O, k, no(k));
    if (!config.eval)
      for (const m of makers) {
        const real = m.constructor;
        const inert = function () {
          throw refused('making code from strings');
        };
        defineProperty(inert, 'name', { value: real.name });
        defineProperty(inert, 'prototype', { value: m });
        put(m, 'constructor', inert);
        freeze(inert);
      }
    if (!config.define)
      for (const k of ['defineProperty', 'defineProperties', 'setPrototypeOf', 'getOwnPropertyDescriptor', 'getOwnPropertyDescriptors'])
        put(Object, k, { [k]() { throw refused('Object.' + k); } }[k]);
  };

  /** With frozen prototypes "this.name = ..." in a subclass would be an error, because
   * assignment checks the inherited property. An accessor that defines the property
   * on the receiver keeps ordinary code working. @param {any} o @param {string[]} [only] */
  const enable = (o, only) => {
    for (const k of ownKeys(o)) {
      const d = /** @type {PropertyDescriptor} */ (getOwnPropertyDescriptor(o, k));
      if (typeof k !== 'string' || !hasOwn(d, 'value') || !d.configurable || (only && !only.includes(k))) continue;
      const { value } = d;
      defineProperty(o, k, {
        get: () => value,
        set(x) {
          if (this === o) throw new TypeError('Cannot assign to read only property ' + k);
          if (this === undefined || this === null) throw new TypeError('Cannot set property ' + k);
          defineProperty(this, k, { value: x, writable: true, enumerable: true, configurable: true });
        },
        enumerable: false, configurable: true,
      });
    }
  };

  const prototypes = () => {
    const errors = ['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'SuppressedError'];
    for (const k of errors) if (G[k]) enable(G[k].prototype);
    for (const o of [Object.prototype, FunctionProto]) enable(o);
    for (const k of ['Date', 'RegExp', 'Map', 'Set', 'Number', 'String', 'Boolean', 'Symbol', 'BigInt', 'URL'])
      if (G[k]) enable(G[k].prototype, ['constructor', 'toString', 'valueOf', 'toJSON', 'toLocaleString']);
    enable(Array.prototype, ['toString', 'toLocaleString', 'valueOf']);
    for (const o of [iteratorProto, gen.prototype, asyncGen.prototype]) enable(o, ['next', 'return', 'throw', 'constructor']);
    for (const o of hidden) freeze(o);
    for (const k of ownKeys(G)) {
      const v = typeof k === 'string' && KEPT.has(k) && hasOwn(getOwnPropertyDescriptor(G, k) ?? {}, 'value') ? G[k] : null;
      if (v === null || (typeof v !== 'object' && typeof v !== 'function') || v === G) continue;
      freeze(v);
      if (typeof v === 'function' && v.prototype) freeze(v.prototype);
    }
    for (const m of makers) freeze(m.constructor), freeze(m);
    // Intl and Temporal contain more constructors.
    for (const space of [G.Intl, G.Temporal])
      for (const k of space ? ownKeys(space) : []) {
        const v = space[k];
        if (typeof v !== 'function' && k !== 'Now') continue;
        if (v.prototype) enable(v.prototype, ['constructor', 'toString', 'valueOf', 'toJSON', 'toLocaleString']), freeze(v.prototype);
        freeze(v);
      }
  };

  /** Layer 8: estimates operations that can be large. Small operations are free. */
  const memory = () => {
    const LARGE = 1 << 16;
    const spend = (/** @type {number} */ bytes) => {
      if (!(bytes > LARGE)) return;
      used.heap += bytes;
      if (used.heap > used.most) throw new RangeError('more than ' + used.most + ' bytes were asked for, by an estimate (RESOURCE_LIMIT)');
    };
    const wrap = (/** @type {any} */ proto, /** @type {string} */ k, /** @type {(self: any, args: any[]) => number} */ size) => {
      const real = proto[k];
      put(proto, k, { [k](/** @type {any[]} */ ...args) { spend(size(this, args)); return apply(real, this, args); } }[k]);
      defineProperty(proto[k], 'length', { value: real.length });
    };
    const text = (/** @type {any} */ s) => (typeof s === 'string' ? s.length : 0);
    wrap(String.prototype, 'repeat', (s, [n]) => text(s) * (+n || 0) * 2);
    for (const k of ['padStart', 'padEnd']) wrap(String.prototype, k, (_, [n]) => (+n || 0) * 2);
    wrap(Array.prototype, 'join', (a, [sep]) => (Array.isArray(a) ? a.length * (sep === undefined ? 1 : text(sep)) * 2 : 0));
    wrap(Array.prototype, 'fill', (a) => (Array.isArray(a) ? a.length * 8 : 0));
    const sized = (/** @type {string} */ k, /** @type {number} */ unit) => {
      const Real = G[k];
      const P = new ProxyOf(Real, { construct: (t, args, nt) => (typeof args[0] === 'number' && spend(args[0] * unit), construct(t, args, nt)) });
      put(Real.prototype, 'constructor', P);
      put(G, k, P);
    };
    sized('ArrayBuffer', 1);
    for (const k of ['Uint8Array', 'Int8Array', 'Uint8ClampedArray', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array'])
      sized(k, G[k].BYTES_PER_ELEMENT);
  };

  if (on('globals')) globals();
  if (on('tame')) tame();
  if (on('memory')) memory();
  if (on('guards')) guards();
  if (on('prototypes')) prototypes();
  return used;
};
