// The loader as a module: import {start} from "./bailey.mjs".
// @ts-expect-error build joins it from the parts in this folder
import "./bailey.js";

const door = /** @type {Bailey} */ (/** @type {any} */ (globalThis).bailey);
export const { start, ProgramError } = door;
