// @ts-check
// Where a folder that wasm_exec has built has its files. manifest.json gives the rest.

/** @typedef {{ wasm: URL, typescript: URL, exec?: string | URL | (() => Promise<unknown>), manifest?: false }} Assets */

/** @returns {Assets} */
export const assets = () => ({ wasm: new URL('bailey.wasm', import.meta.url), typescript: new URL('guests/typescript.js', import.meta.url) });
