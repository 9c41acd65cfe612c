// @ts-check
// Where the npm package has the files of agent.mjs. See assets.mjs.

const exec = () => import(/* webpackMode: "eager" */ /** @type {string} */ ('./wasm_exec.js'));

/** @returns {import('../../prebuilt/web/assets.mjs').Assets} */
export const assets = () => ({ wasm: new URL('./agent.wasm', import.meta.url), typescript: new URL('./typescript.txt', import.meta.url), exec, manifest: false });
