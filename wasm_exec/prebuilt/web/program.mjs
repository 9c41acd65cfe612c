// @ts-check
// Starts the program for api.mjs and agent.mjs. The module itself touches no page, so that a server may import it.

/**
 * Reports whether a value is an object of the program, which has methods.
 * @param {unknown} value
 * @returns {boolean}
 */
const live = (value) => !!value && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some((m) => typeof m === 'function');

/** The objects of the program, by those that guard() made of them. @type {WeakMap<object, object>} */
const own = new WeakMap();

/**
 * Returns an object of the program with a check in its methods: after the object was closed, a function of the program
 * returns undefined, which is an error here.
 * @param {any} object
 * @returns {any}
 */
const guard = (object) => {
  const outer = Object.fromEntries(Object.entries(object).map(([name, member]) => [name, typeof member === 'function' ? async (/** @type {unknown[]} */ ...args) => {
    const answer = member(...args.map((a) => typeof a === 'function' ? (/** @type {unknown[]} */ ...given) => a(...given.map(guarded)) : a)); // called synchronously, so that calls take effect in their order
    if (answer === undefined) throw new Error(`${name}(): this is closed`);
    const value = await answer;
    return guarded(value);
  } : guarded(member)]));
  own.set(outer, object);
  return outer;
};

/** @type {(value: any) => any} */
export const guarded = (value) => live(value) ? guard(value) : value;

/** Returns the program's own object for one of guarded(), and any other value as it is. @param {any} value @returns {any} */
export const unguarded = (value) => own.get(value) ?? value;

/**
 * Starts a program, and returns its API.
 * @param {import('./assets.mjs').Assets} assets
 * @param {import('./api.d.mts').LoadOptions} options
 * @returns {Promise<any>}
 */
export const start = async (assets, options) => {
  if (typeof document !== 'object') throw new Error('load(): Bailey runs in a page, and here is none. Call load() in the browser only, for example in an effect or when the element is mounted.');
  /** @type {any} build writes it beside this file */
  const loader = await import(/* webpackMode: "eager" */ /** @type {string} */ ('./bailey.mjs'));
  const key = 'bailey ' + crypto.getRandomValues(new Uint32Array(4)).join('-');
  const symbol = Symbol.for(key);
  const page = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis));
  /** @type {Promise<any>} */
  const api = new Promise((resolve) => { page[symbol] = resolve; });
  try {
    const { typescript, ...files } = assets;
    const program = await loader.start({
      ...files,
      wasm: options.wasm || assets.wasm,
      env: { BAILEY_API: key, BAILEY_TYPESCRIPT: String(options.typescript || typescript) },
      signal: options.signal,
      integrity: options.integrity,
      onProgress: options.onProgress,
      panel: options.panel,
    });
    const ended = program.exited.then(() => { throw new Error('the program ended before it was ready'); });
    ended.catch(() => {}); // after the race no other code handles it
    return guard(await Promise.race([api, ended]));
  } finally {
    delete page[symbol];
  }
};
