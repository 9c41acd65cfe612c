// worker.js is the script of a page whose test binary runs in a dedicated worker. It starts that
// worker.
"use strict";

(() => {
	const script = /** @type {HTMLScriptElement} */ (document.currentScript);
	const here = new URL(script.src);
	const url = here.href.replace("/worker.js?", "/inworker.js?");
	const note = (/** @type {string} */ text) => {
		const u = new URL("note", here);
		u.search = here.search;
		void fetch(u, { method: "POST", body: text }).catch(() => undefined);
	};
	const w = new Worker(url, { name: "browsertest" });
	w.addEventListener("error", (ev) => note("uncaught exception in the worker: " + ev.message + ` (${ev.filename}:${ev.lineno}:${ev.colno})`));
})();
