// @ts-check
// Bailey for pages without Go. The types are in api.d.mts. The module itself touches no page, so that a server may import it.
import { assets } from './assets.mjs';
import { start } from './program.mjs';

/** @type {typeof import('./api.d.mts').load} */
export const load = async (options = {}) => start(assets(), options);
