// files.js gives a Go program in a page the object fs, as Node does. The files are the machine's,
// and the runner decides which of them may be written. Writes are collected until there are enough
// for a request, and reads are fetched ahead.
"use strict";

(() => {
	/**
	 * @type {{
	 *   api: (path: string, query?: Record<string, string|number>) => string,
	 *   fail: (code: string, message?: string) => Error & {code: string},
	 *   join: (parts: Uint8Array[], size: number) => Uint8Array<ArrayBuffer>,
	 *   resolve: (path: string) => string,
	 *   output: (fd: number, buf: Uint8Array) => number,
	 *   flushOutput: () => Promise<void>,
	 *   flush: () => Promise<void>,
	 *   fetch: typeof fetch,
	 * }}
	 */
	const bt = /** @type {any} */ (globalThis).__browsertest;
	const { api, fail, join, resolve, output, flushOutput, fetch: doFetch } = bt;

	/** @typedef {(err: Error | null, value?: any) => void} Callback */
	/**
	 * @typedef {{
	 *   handle: number, path: string, append: boolean, pos: number,
	 *   dirty: Uint8Array[], dirtySize: number, dirtyAt: number,
	 *   cache: Uint8Array | null, cacheAt: number, cacheEOF: boolean,
	 *   rpc: boolean, answer: Uint8Array,
	 * }} File
	 */
	/** @type {Map<number, File>} */
	const files = new Map();
	let nextFD = 100;
	const rpcPath = "/dev/browsertest";
	const readAhead = 1 << 16;
	const writeBehind = 1 << 18;

	// An exception that Go throws in the callback is the page's, not the file operation's.
	/** @type {(callback: Callback, err: Error | null, value?: any) => void} */
	const answer = (callback, err, value) => {
		try {
			callback(err, value);
		} catch (e) {
			reportError(e);
		}
	};

	/** @type {(op: string, query: Record<string, string|number>, body?: Uint8Array<ArrayBuffer>) => Promise<Response>} */
	const call = async (op, query, body) => {
		if (query.path !== undefined) query = { ...query, path: resolve(String(query.path)) };
		if (query.to !== undefined) query = { ...query, to: resolve(String(query.to)) };
		const r = await doFetch(api("fs/" + op, query), { method: "POST", body });
		if (r.ok) return r;
		const text = await r.text();
		let e = { code: "EIO", message: text };
		try {
			e = JSON.parse(text);
		} catch {
			// Not an error of the runner's own: the text is kept.
		}
		throw fail(e.code, e.message);
	};

	/** @type {(f: File) => Promise<void>} */
	const flushFile = async (f) => {
		if (f.dirtySize === 0) return;
		const body = join(f.dirty, f.dirtySize);
		const at = f.append ? -1 : f.dirtyAt;
		f.dirty = [];
		f.dirtySize = 0;
		await call("write", { handle: f.handle, at }, body);
	};
	const flushFiles = async () => {
		for (const f of files.values()) {
			await flushFile(f);
			f.cache = null;
		}
	};

	// One queue for all file operations, so that the order on the disk is the order in Go.
	/** @type {Promise<unknown>} */
	let queue = Promise.resolve();
	/** @type {(callback: Callback, op: () => Promise<any>) => void} */
	const enqueue = (callback, op) => {
		queue = queue.then(op).then(
			(v) => answer(callback, null, v),
			(e) => answer(callback, e && e.code ? e : fail("EIO", String(e))),
		);
	};
	/** @type {(fd: number) => File} */
	const file = (fd) => {
		const f = files.get(fd);
		if (!f) throw fail("EBADF");
		return f;
	};

	/** @type {(s: any) => any} */
	const stats = (s) => ({
		...s,
		isDirectory: () => (s.mode & 0o170000) === 0o040000,
		isFile: () => (s.mode & 0o170000) === 0o100000,
		isSymbolicLink: () => (s.mode & 0o170000) === 0o120000,
	});
	const rpcStat = { dev: 0, ino: 0, mode: 0o020600, nlink: 1, uid: 0, gid: 0, rdev: 0, size: 0, blksize: 4096, blocks: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0 };

	/** @type {(op: string, query: Record<string, string|number>, callback: Callback) => void} */
	const pathOp = (op, query, callback) =>
		enqueue(callback, async () => {
			await flushFiles();
			const r = await call(op, query);
			return r.json();
		});

	/** @type {(f: File, want: number, at: number) => Promise<Uint8Array>} */
	const readAt = async (f, want, at) => {
		if (f.cache && at >= f.cacheAt && (at < f.cacheAt + f.cache.length || (f.cacheEOF && at === f.cacheAt + f.cache.length))) {
			const out = f.cache.subarray(at - f.cacheAt, at - f.cacheAt + want);
			if (out.length === 0) f.cacheEOF = false; // used once, then the runner is asked again
			return out;
		}
		await flushFiles();
		const n = Math.max(want, readAhead);
		const r = await call("read", { handle: f.handle, at, n });
		f.cache = new Uint8Array(await r.arrayBuffer());
		f.cacheAt = at;
		f.cacheEOF = f.cache.length > 0 && f.cache.length < n;
		return f.cache.subarray(0, want);
	};

	// It does not use the queue, so a frozen or hidden page can still call the runner. A call is
	// written in one piece, and its answer is read back from the same file.
	/** @type {(f: File, buf: Uint8Array<ArrayBuffer>, callback: Callback) => void} */
	const rpc = (f, buf, callback) => {
		const n = buf.length;
		doFetch(api("rpc"), { method: "POST", body: buf })
			.then(async (r) => {
				f.answer = new Uint8Array(await r.arrayBuffer());
				f.pos = 0;
			})
			.then(
				() => answer(callback, null, n),
				(e) => answer(callback, fail("EIO", String(e))),
			);
	};

	const enosys = (/** @type {Callback} */ callback) => callback(fail("ENOSYS", "not implemented"));

	const fs = {
		constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 },
		writeSync(/** @type {number} */ fd, /** @type {Uint8Array} */ buf) {
			return output(fd, buf);
		},
		write(/** @type {number} */ fd, /** @type {Uint8Array} */ buf, /** @type {number} */ offset, /** @type {number} */ length, /** @type {number|null} */ position, /** @type {Callback} */ callback) {
			const part = buf.slice(offset, offset + length);
			if (fd === 1 || fd === 2) {
				callback(null, output(fd, part));
				return;
			}
			const dev = files.get(fd);
			if (dev && dev.rpc) {
				rpc(dev, part, callback);
				return;
			}
			enqueue(callback, async () => {
				const f = file(fd);
				const at = position === null ? f.pos : position;
				if (f.dirtySize > 0 && !f.append && at !== f.dirtyAt + f.dirtySize) await flushFile(f);
				if (f.dirtySize === 0) f.dirtyAt = at;
				f.dirty.push(part);
				f.dirtySize += part.length;
				if (position === null) f.pos += part.length;
				// The write goes to the runner at once if data of the file is cached for reads, or
				// if more than writeBehind bytes are waiting.
				if (f.cache !== null || f.dirtySize > writeBehind) await flushFiles();
				return part.length;
			});
		},
		read(/** @type {number} */ fd, /** @type {Uint8Array} */ buf, /** @type {number} */ offset, /** @type {number} */ length, /** @type {number|null} */ position, /** @type {Callback} */ callback) {
			if (fd === 0) {
				callback(null, 0); // go test gives its programs no input
				return;
			}
			const dev = files.get(fd);
			if (dev && dev.rpc) {
				const out = dev.answer.subarray(dev.pos, dev.pos + length);
				buf.set(out, offset);
				dev.pos += out.length;
				callback(null, out.length);
				return;
			}
			enqueue(callback, async () => {
				const f = file(fd);
				const out = await readAt(f, length, position === null ? f.pos : position);
				buf.set(out, offset);
				if (position === null) f.pos += out.length;
				return out.length;
			});
		},
		open(/** @type {string} */ path, /** @type {number} */ flags, /** @type {number} */ mode, /** @type {Callback} */ callback) {
			const blank = { path, append: (flags & 1024) !== 0, pos: 0, dirty: [], dirtySize: 0, dirtyAt: 0, cache: null, cacheAt: 0, cacheEOF: false, rpc: false, answer: new Uint8Array() };
			if (path === rpcPath) {
				files.set(nextFD, { ...blank, handle: -1, rpc: true });
				callback(null, nextFD++);
				return;
			}
			enqueue(callback, async () => {
				await flushFiles();
				const r = await call("open", { path, flags, mode });
				const { handle } = await r.json();
				files.set(nextFD, { ...blank, handle });
				return nextFD++;
			});
		},
		close(/** @type {number} */ fd, /** @type {Callback} */ callback) {
			const dev = files.get(fd);
			if (dev && dev.rpc) {
				files.delete(fd);
				callback(null);
				return;
			}
			enqueue(callback, async () => {
				const f = file(fd);
				files.delete(fd);
				try {
					await flushFile(f);
				} finally {
					await call("close", { handle: f.handle });
				}
			});
		},
		fstat(/** @type {number} */ fd, /** @type {Callback} */ callback) {
			const dev = files.get(fd);
			if (fd <= 2 || (dev && dev.rpc)) {
				callback(null, stats(rpcStat));
				return;
			}
			enqueue(callback, async () => {
				await flushFiles();
				return stats(await (await call("fstat", { handle: file(fd).handle })).json());
			});
		},
		stat: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("stat", { path }, (e, v) => callback(e, v && stats(v))),
		lstat: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("lstat", { path }, (e, v) => callback(e, v && stats(v))),
		readdir: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("readdir", { path }, callback),
		readlink: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("readlink", { path }, callback),
		mkdir: (/** @type {string} */ path, /** @type {number} */ mode, /** @type {Callback} */ callback) => pathOp("mkdir", { path, mode }, callback),
		rmdir: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("rmdir", { path }, callback),
		unlink: (/** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("unlink", { path }, callback),
		rename: (/** @type {string} */ path, /** @type {string} */ to, /** @type {Callback} */ callback) => pathOp("rename", { path, to }, callback),
		symlink: (/** @type {string} */ to, /** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("symlink", { path, target: to }, callback),
		link: (/** @type {string} */ to, /** @type {string} */ path, /** @type {Callback} */ callback) => pathOp("link", { path, to }, callback),
		chmod: (/** @type {string} */ path, /** @type {number} */ mode, /** @type {Callback} */ callback) => pathOp("chmod", { path, mode }, callback),
		truncate: (/** @type {string} */ path, /** @type {number} */ size, /** @type {Callback} */ callback) => pathOp("truncate", { path, size }, callback),
		utimes: (/** @type {string} */ path, /** @type {number} */ atime, /** @type {number} */ mtime, /** @type {Callback} */ callback) => pathOp("utimes", { path, atime, mtime }, callback),
		ftruncate(/** @type {number} */ fd, /** @type {number} */ size, /** @type {Callback} */ callback) {
			enqueue(callback, async () => {
				await flushFiles();
				await call("ftruncate", { handle: file(fd).handle, size });
			});
		},
		fsync(/** @type {number} */ fd, /** @type {Callback} */ callback) {
			enqueue(callback, async () => {
				if (files.has(fd)) await flushFile(file(fd));
			});
		},
		fchmod(/** @type {number} */ fd, /** @type {number} */ mode, /** @type {Callback} */ callback) {
			enqueue(callback, async () => {
				await flushFiles();
				await call("chmod", { path: file(fd).path, mode });
			});
		},
		chown: (/** @type {string} */ _p, /** @type {number} */ _u, /** @type {number} */ _g, /** @type {Callback} */ callback) => enosys(callback),
		fchown: (/** @type {number} */ _f, /** @type {number} */ _u, /** @type {number} */ _g, /** @type {Callback} */ callback) => enosys(callback),
		lchown: (/** @type {string} */ _p, /** @type {number} */ _u, /** @type {number} */ _g, /** @type {Callback} */ callback) => enosys(callback),
	};

	bt.flush = async () => {
		await queue;
		await flushFiles().catch((e) => output(2, new TextEncoder().encode("browsertest: a file could not be written: " + e.message + "\n")));
		await flushOutput();
	};
	Object.assign(globalThis, { fs });
})();
