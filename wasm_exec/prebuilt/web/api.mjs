// @ts-check
// Bailey for pages that hold no Go. The types are in api.d.ts.
// @ts-expect-error build puts it beside this file
import { start } from './bailey.mjs';

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
    return await Promise.race([api, ended]);
  } finally {
    delete page[symbol];
  }
};
