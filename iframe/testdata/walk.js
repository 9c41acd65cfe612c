// Walks everything that code of an enclave can reach, calls every function it finds, twice and more than a second apart,
// and returns the names of the functions, and of those whose answers changed in between.
const { getPrototypeOf, getOwnPropertyDescriptor } = Object, { ownKeys, apply, construct } = Reflect;
const spell = (k) => (typeof k === 'symbol' ? '@@' + String(k.description).replace('Symbol.', '') : k);
// New values for each call, because calls change them.
const samples = {
  Object: () => ({}), Function: () => function () {}, Array: () => [1, 2], Number: () => 1, Boolean: () => true, String: () => 'a', Symbol: () => Symbol.iterator, BigInt: () => 1n,
  Date: () => new Date(0), Promise: () => Promise.resolve(1), RegExp: () => /a/g, Error: () => new Error('x'), ArrayBuffer: () => new ArrayBuffer(8, { maxByteLength: 16 }),
  DataView: () => new DataView(new ArrayBuffer(8)), Map: () => new Map([[1, 2]]), Set: () => new Set([1]), WeakMap: () => new WeakMap(), WeakSet: () => new WeakSet(),
  TextEncoder: () => new TextEncoder(), TextDecoder: () => new TextDecoder(), URL: () => new URL('https://a.test/b?c#d'), URLSearchParams: () => new URLSearchParams('a=1'),
  DOMException: () => new DOMException('x', 'AbortError'), Iterator: () => [1].values(), WeakRef: () => new WeakRef({}), FinalizationRegistry: () => new FinalizationRegistry(() => {}),
  DisposableStack: () => new DisposableStack(), AsyncDisposableStack: () => new AsyncDisposableStack(),
  '%TypedArray%': () => new Uint8Array(4), '%Segments%': () => new Intl.Segmenter('en').segment('ab'), '%SegmentIterator%': () => new Intl.Segmenter('en').segment('ab')[Symbol.iterator](),
  '%Generator%': () => (function* () { yield 1 })(), '%AsyncGenerator%': () => (async function* () { yield 1 })(), '%ArrayIterator%': () => [1].values(), '%StringIterator%': () => 'a'[Symbol.iterator](),
  '%MapIterator%': () => new Map([[1, 2]]).values(), '%SetIterator%': () => new Set([1]).values(), '%RegExpIterator%': () => 'a'.matchAll(/a/g), '%SearchIterator%': () => new URLSearchParams('a=1').values(),
  '%IteratorHelper%': () => [1].values().map((x) => x), '%WrapIterator%': () => Iterator.from({ next() { return { done: true } } }),
};
for (const k of ownKeys(Intl)) if (typeof Intl[k] === 'function') samples['Intl.' + k] = () => (k === 'DateTimeFormat' ? new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'full' }) : k === 'DisplayNames' ? new Intl.DisplayNames('en', { type: 'region' }) : k === 'Locale' ? new Intl.Locale('en') : new Intl[k]('en'));
if (typeof Temporal === 'object') {
  const z = () => Temporal.ZonedDateTime.from('2020-02-02T02:02:02[UTC]');
  Object.assign(samples, {
    'Temporal.ZonedDateTime': z, 'Temporal.Instant': () => z().toInstant(), 'Temporal.PlainDateTime': () => z().toPlainDateTime(), 'Temporal.PlainDate': () => z().toPlainDate(), 'Temporal.PlainTime': () => z().toPlainTime(),
    'Temporal.Duration': () => Temporal.Duration.from('PT1H'), 'Temporal.PlainYearMonth': () => Temporal.PlainYearMonth.from('2020-02'), 'Temporal.PlainMonthDay': () => Temporal.PlainMonthDay.from('02-02'),
  });
}
const sample = (name) => {
  try {
    return samples[name] ? samples[name]() : undefined;
  } catch (e) {
    return undefined; // not in this browser
  }
};

const seen = new Set(), queue = [], functions = [];
const visit = (o, path, owner) => {
  if (o === null || (typeof o !== 'object' && typeof o !== 'function') || seen.has(o)) return;
  seen.add(o);
  queue.push([o, path]);
  if (typeof o === 'function') functions.push([path, o, owner]);
};
seen.add(globalThis);
visit(Object.prototype, 'Object.prototype');
visit(Function.prototype, 'Function.prototype');
for (let o = globalThis; o && o !== Object.prototype; o = getPrototypeOf(o))
  for (const k of ownKeys(o).filter((k) => typeof k === 'string').sort()) visit(globalThis[k], k, globalThis);
for (const [k, v] of Object.entries({ callTool, mcp, parallel, console, sleep, signal })) visit(v, k);
for (const [k, f] of [['%TypedArray%', Uint8Array], ['%GeneratorFunction%', function* () {}], ['%AsyncGeneratorFunction%', async function* () {}], ['%AsyncFunction%', async function () {}]]) visit(getPrototypeOf(f), k);
for (const k of ownKeys(samples)) if (k[0] === '%' && k !== '%TypedArray%') {
  const s = sample(k);
  if (s !== undefined) visit(getPrototypeOf(s), k + '.prototype');
}
while (queue.length) {
  const [o, path] = queue.shift();
  const names = ownKeys(o), sorted = [...names.filter((k) => typeof k === 'string').sort(), ...names.filter((k) => typeof k === 'symbol').sort((a, b) => (spell(a) < spell(b) ? -1 : 1))];
  for (const k of sorted) {
    const d = getOwnPropertyDescriptor(o, k), at = path + '.' + spell(k);
    if ('value' in d) {
      visit(d.value, at, o);
      continue;
    }
    // A getter of a prototype throws. A getter that keeps a frozen prototype usable returns a value.
    try {
      visit(apply(d.get, o, []), at, o);
    } catch (e) {}
    visit(d.get, 'get ' + at, o);
    visit(d.set, 'set ' + at, o);
  }
  visit(getPrototypeOf(o), path + '.[[Prototype]]');
}

const show = (v, deep = 1) => {
  let s = typeof v;
  try {
    if (s === 'function') return deep ? s + call(v, undefined, []) + call(v, undefined, [undefined]) : s;
    s += ':' + String(v);
    if (s.length > 500) return s.slice(0, 500) + s.length;
    if (typeof v === 'object') s += JSON.stringify(v)?.slice(0, 500);
  } catch (e) {}
  return s;
};
const call = (f, self, args) => {
  try {
    return show(apply(f, self, args), 0);
  } catch (e) {
    return 'threw';
  }
};
const ARGS = () => [[], [undefined], ['UTC'], ['en'], [0], [{}], [undefined, undefined], [undefined, 'UTC']];
const digest = ([path, f, owner]) => {
  const name = path.replace(/^[gs]et /, ''), of = name.slice(0, name.lastIndexOf('.')), out = [];
  const kind = of.endsWith('.prototype') ? of.slice(0, -10) : '';
  for (const args of ARGS()) {
    for (const self of kind && sample(kind) !== undefined ? [0, 1] : [0]) {
      try {
        out.push(show(apply(f, self ? sample(kind) : owner, args)));
      } catch (e) {
        out.push('threw');
      }
    }
    try {
      out.push(show(construct(f, args)));
    } catch (e) {
      out.push('threw');
    }
  }
  return out.join('|');
};
// Functions that have an effect, and return only a promise or the number of a timer.
const ACT = new Set(['callTool', 'parallel', 'sleep', 'setTimeout', 'setInterval', 'queueMicrotask', 'eval', 'Function', 'signal.throwIfAborted']);
const asked = functions.filter(([path]) => !ACT.has(path) && !path.startsWith('console.') && !path.startsWith('mcp.'));
const rounds = [];
let ended = 0;
for (let i = 0; i < 2; i++) { // from the end of the first round, which takes longer than the second
  do await sleep(20); while (Date.now() - ended < 1100);
  rounds.push(asked.map(digest));
  ended = Date.now();
}
return { functions: functions.map(([path]) => path), changed: asked.filter((f, i) => rounds[0][i] !== rounds[1][i]).map(([path]) => path) };
