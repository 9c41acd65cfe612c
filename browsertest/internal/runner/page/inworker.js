// inworker.js is the worker of worker.js. It loads the scripts that a page without a worker loads.
"use strict";

/** @type {any} */ (globalThis).importScripts("shim.js", "files.js", "wasm_exec.js", "harness.js");
