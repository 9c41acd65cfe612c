// inworker.js is the worker of worker.js: it loads what the page would.
"use strict";

importScripts("shim.js", "files.js", "wasm_exec.js", "harness.js");
