// @ts-check
// Where a folder that wasm_exec has built has the files of agent.mjs. manifest.json gives the rest.

/** @returns {import('./assets.mjs').Assets} */
export const assets = () => ({ wasm: new URL('agent.wasm', import.meta.url), typescript: new URL('guests/typescript.js', import.meta.url) });
