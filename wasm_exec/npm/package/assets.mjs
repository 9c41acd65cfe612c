// @ts-check
// Where the npm package has its files. Bundlers find the expressions in the source and copy the files. A chunk of
// its own would gain nothing, and webpack can't load one under Trusted Types without configuration.

const exec = () => import(/* webpackMode: "eager" */ /** @type {string} */ ('./wasm_exec.js'));

/** @returns {import('../../prebuilt/web/assets.mjs').Assets} */
export const assets = () => ({ wasm: new URL('./bailey.wasm', import.meta.url), typescript: new URL('./typescript.txt', import.meta.url), exec, manifest: false });
