// shim.js is the connection from a page to the runner. It gives a Go program the objects process
// and path, as Node does, and sends its output in order. It and files.js must run before
// wasm_exec.js, which defines these globals only if they are missing.
"use strict";

(() => {
	// The address is …/_bt/TOKEN/shim.js?page=ID, or in a worker …/inworker.js?page=ID.
	const script = typeof document === "undefined" ? null : /** @type {HTMLScriptElement} */ (document.currentScript);
	const here = new URL(script ? script.src : location.href);
	const base = here.href.slice(0, here.href.lastIndexOf("/") + 1);
	const page = here.searchParams.get("page") || "";

	/** @type {(path: string, query?: Record<string, string|number>) => string} */
	const api = (path, query = {}) => {
		const u = new URL(path, base);
		u.searchParams.set("page", page);
		for (const [k, v] of Object.entries(query)) u.searchParams.set(k, String(v));
		return u.href;
	};

	// Attack tests replace globals, so the connection keeps its own references.
	const doFetch = globalThis.fetch.bind(globalThis);
	const XHR = globalThis.XMLHttpRequest;

	/** @type {(code: string, message?: string) => Error & {code: string}} */
	const fail = (code, message) => Object.assign(new Error(message || code), { code });

	const state = { cwd: "/", pid: 1 };
	/** @type {(path: string) => string} */
	const clean = (path) => {
		/** @type {string[]} */
		const out = [];
		for (const p of path.split("/")) {
			if (p === "..") out.pop();
			else if (p !== "" && p !== ".") out.push(p);
		}
		return "/" + out.join("/");
	};
	/** @type {(path: string) => string} */
	const resolve = (path) => clean(path.startsWith("/") ? path : state.cwd + "/" + path);

	// ---- output ------------------------------------------------------------
	// A fetch leaves the renderer even if Go then never yields again. So each write is sent at once
	// while fewer than maxInFlight requests are under way. Otherwise writes are collected and sent
	// together. Once more than maxPending bytes, or 100 ms of writes, are waiting, a synchronous
	// request blocks Go.
	const maxInFlight = 4;
	const maxPending = 1 << 18;
	let seq = 0;
	let inFlight = 0;
	/** @type {{fd: number, parts: Uint8Array[], size: number}[]} */
	let pending = [];
	let pendingSize = 0;
	let pendingSince = 0;
	/** @type {Set<Promise<unknown>>} */
	const sends = new Set();

	/** @type {(parts: Uint8Array[], size: number) => Uint8Array<ArrayBuffer>} */
	const join = (parts, size) => {
		const all = new Uint8Array(size);
		let at = 0;
		for (const p of parts) {
			all.set(p, at);
			at += p.length;
		}
		return all;
	};

	// One body contains several writes, each after its descriptor and its length.
	const takePending = () => {
		/** @type {Uint8Array[]} */
		const parts = [];
		let size = 0;
		for (const p of pending) {
			const head = new Uint8Array(5);
			head[0] = p.fd;
			new DataView(head.buffer).setUint32(1, p.size, true);
			parts.push(head, ...p.parts);
			size += 5 + p.size;
		}
		pending = [];
		pendingSize = 0;
		return { seq: seq++, body: join(parts, size) };
	};

	const sendPending = () => {
		if (pending.length === 0) return;
		const b = takePending();
		inFlight++;
		const p = doFetch(api("out", { seq: b.seq }), { method: "POST", body: b.body })
			.catch(() => undefined)
			.then(() => {
				inFlight--;
				sends.delete(p);
				if (inFlight < maxInFlight) sendPending();
			});
		sends.add(p);
	};

	const sendPendingSync = () => {
		const b = takePending();
		const x = new XHR();
		x.open("POST", api("out", { seq: b.seq }), false);
		try {
			x.send(b.body);
		} catch {
			// The runner is gone, and the output with it.
		}
	};

	/** @type {(fd: number, buf: Uint8Array) => number} */
	const output = (fd, buf) => {
		const last = pending[pending.length - 1];
		if (pendingSize === 0) pendingSince = performance.now();
		if (last && last.fd === fd) {
			last.parts.push(buf.slice());
			last.size += buf.length;
		} else {
			pending.push({ fd, parts: [buf.slice()], size: buf.length });
		}
		pendingSize += buf.length;
		if (inFlight < maxInFlight) sendPending();
		else if (pendingSize > maxPending || performance.now() - pendingSince > 100) sendPendingSync();
		return buf.length;
	};

	const flushOutput = async () => {
		sendPending();
		while (sends.size > 0) await Promise.all([...sends]);
	};

	Object.assign(globalThis, {
		path: {
			resolve: (/** @type {string[]} */ ...parts) => clean(parts.reduce((at, p) => (p.startsWith("/") ? p : at + "/" + p), state.cwd)),
		},
		process: {
			getuid: () => 1000, getgid: () => 1000, geteuid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
			get pid() { return state.pid; },
			ppid: 1,
			umask: () => 0o022,
			cwd: () => state.cwd,
			chdir(/** @type {string} */ dir) {
				state.cwd = resolve(dir);
			},
		},
	});

	// For files.js and harness.js. harness.js deletes it.
	Object.defineProperty(globalThis, "__browsertest", {
		value: { api, fail, join, state, resolve, output, flushOutput, flush: flushOutput, seq: () => seq, fetch: doFetch },
		configurable: true,
	});
})();
