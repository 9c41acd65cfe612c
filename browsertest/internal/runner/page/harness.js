// harness.js starts the test binary in this page, and reports its end.
"use strict";

(async () => {
	const bt = /** @type {any} */ (globalThis).__browsertest;
	delete (/** @type {any} */ (globalThis).__browsertest);
	const enc = new TextEncoder();
	let ended = false;

	/** @type {(text: string) => void} */
	const say = (text) => void bt.output(2, enc.encode(text));

	/** @type {(code: number) => Promise<void>} */
	const end = async (code) => {
		if (ended) return;
		ended = true;
		await bt.flush();
		await bt.fetch(bt.api("exit", { code, seq: bt.seq() }), { method: "POST" }).catch(() => undefined);
	};

	/** @type {(e: any) => string} */
	const describe = (e) => (e && e.stack ? (String(e.stack).includes(String(e.message)) ? e.stack : e + "\n" + e.stack) : String(e));

	// An exception that leaves the wasm code leaves Go's scheduler in an undefined state. The
	// program cannot go on, whatever the exception was.
	/** @type {(e: any) => boolean} */
	const fatal = (e) =>
		(typeof WebAssembly !== "undefined" && e instanceof WebAssembly.RuntimeError) ||
		((e instanceof RangeError || e instanceof Error && e.name === "InternalError") && /wasm/.test(String(e.stack)));

	/** @type {(e: any) => boolean} */
	const died = (e) => {
		if (!fatal(e)) return false;
		say("browsertest: the Go program died in the page: " + describe(e) + "\n");
		void end(2);
		return true;
	};

	addEventListener("error", (ev) => {
		if (ended || !(ev instanceof ErrorEvent) || died(ev.error)) return;
		const where = ev.filename ? ` (${ev.filename}:${ev.lineno}:${ev.colno})` : "";
		void bt.fetch(bt.api("note"), { method: "POST", body: "uncaught exception in the page: " + (ev.error ? describe(ev.error) : ev.message + where) }).catch(() => undefined);
	});
	addEventListener("unhandledrejection", (ev) => {
		if (ended || died(ev.reason)) return;
		void bt.fetch(bt.api("note"), { method: "POST", body: "unhandled rejection in the page: " + describe(ev.reason) }).catch(() => undefined);
	});

	// The runner notices the end of the page when this request ends.
	void bt.fetch(bt.api("alive")).catch(() => undefined);

	try {
		const config = await (await bt.fetch(bt.api("config"))).json();
		bt.state.cwd = config.cwd;
		bt.state.pid = config.pid;
		const Go = /** @type {any} */ (globalThis).Go;
		const go = new Go();
		go.argv = config.argv;
		go.env = config.env;
		let code = 0;
		go.exit = (/** @type {number} */ c) => {
			code = c;
		};
		const { instance } = await WebAssembly.instantiateStreaming(bt.fetch(bt.api("test.wasm")), go.importObject);
		try {
			await go.run(instance);
		} catch (e) {
			say("browsertest: the Go program died in the page: " + describe(e) + "\n");
			await end(2);
			return;
		}
		await end(code);
	} catch (e) {
		say("browsertest: the page could not start the test binary: " + describe(e) + "\n");
		await end(2);
	}
})();
