// @ts-check
// Bailey for pages that hold no Go. The types are in api.d.ts.
// @ts-expect-error build puts it beside this file
import { start } from './bailey.mjs';

/**
 * The program's functions give nothing once what they belong to is closed; here
 * that is an error.
 * @param {any} methods
 * @returns {any}
 */
const guard = (methods) => Object.fromEntries(Object.entries(methods).map(([name, f]) => [name, async (/** @type {unknown[]} */ ...args) => {
  const answer = f(...args); // at once: calls take effect in the order they are made
  if (answer === undefined) throw new Error(`${name}(): this is closed`);
  const value = await answer;
  const members = value && typeof value === 'object' ? Object.values(value) : [];
  return members.length && members.every((m) => typeof m === 'function') ? guard(value) : value;
}]));

/** @type {typeof import('./api.d.ts').load} */
export const load = async (options = {}) => {
  const key = 'bailey ' + crypto.getRandomValues(new Uint32Array(4)).join('-');
  const symbol = Symbol.for(key);
  const page = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis));
  /** @type {Promise<any>} */
  const api = new Promise((resolve) => { page[symbol] = resolve; });
  try {
    const program = await start({
      wasm: options.wasm || new URL('bailey.wasm', import.meta.url),
      env: { BAILEY_API: key },
      signal: options.signal,
      onProgress: options.onProgress,
      panel: options.panel,
    });
    const ended = program.exited.then(() => { throw new Error('bailey.wasm ended before it was ready'); });
    ended.catch(() => {}); // later, nobody waits for it
    return guard(await Promise.race([api, ended]));
  } finally {
    delete page[symbol];
  }
};
