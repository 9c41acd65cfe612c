// inworker.js is the worker of worker.js: it loads what the page would.
"use strict";

/** @type {any} */ (globalThis).importScripts("shim.js", "files.js", "wasm_exec.js", "harness.js");
