// The loader as a module: import {start} from "./bailey.mjs".
import "./bailey.js";

const door = /** @type {any} */ (globalThis).bailey;

/** @type {(options: {wasm: string | URL, args?: string[], env?: Record<string, string>, manifest?: string | URL | false,
 *   exec?: string | URL, panel?: boolean, mount?: Element | null, signal?: AbortSignal,
 *   onProgress?: (loaded: number, total: number) => void}) => Promise<any>} */
export const start = door.start;
export const ProgramError = door.ProgramError;
