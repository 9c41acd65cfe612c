"use strict";
// Finds, fetches, compiles and starts a program. The API is globalThis.bailey.

/**
 * @typedef {{
 *   wasm: string | URL,
 *   args?: string[],
 *   env?: Record<string, string>,
 *   manifest?: string | URL | false,
 *   exec?: string | URL | (() => Promise<unknown>),
 *   panel?: boolean,
 *   mount?: Element | null,
 *   signal?: AbortSignal,
 *   integrity?: string,
 *   onProgress?: (loaded: number, total: number) => void,
 * }} StartOptions
 * @typedef {{ path: string, size: number, exec?: string }} ManifestFile
 * @typedef {{ start: typeof start, ProgramError: typeof ProgramError, programs: Promise<Program>[] }} Bailey
 */

/** @type {Map<string | (() => Promise<unknown>), Promise<GoClass>>} */
const classes = new Map();
/** @type {Promise<unknown>} */
let queue = Promise.resolve();

/**
 * Returns the Go class of one wasm_exec.js, so that programs of several Go versions can share a
 * page. Each address is loaded once. They are loaded one after the other, because each sets the same
 * global. import() needs no Trusted Types policy, unlike a script element. A function in place of the address
 * imports the script from a bundle.
 * @param {string | (() => Promise<unknown>)} from
 * @param {PolicyWatch} watch
 */
function goClass(from, watch) {
  const page = /** @type {{Go?: GoClass, fs?: OutputFS}} */ (globalThis);
  let found = classes.get(from);
  const url = typeof from === "string" ? from : "wasm_exec.js";
  if (!found) {
    found = queue.then(async () => {
      const own = !page.fs;
      try {
        await (typeof from === "string" ? import(from) : from());
      } catch (e) {
        throw (await watch.explain(url, e)) || new ProgramError("script", `${url} did not load.`,
          "Check its path, and that the server sends it as text/javascript.", String(e), e);
      }
      shareOutput(own);
      if (!page.Go) throw new ProgramError("script", `${url} is not Go's wasm_exec.js.`, "Take it from GOROOT/lib/wasm.");
      return page.Go;
    });
    queue = found.catch(() => classes.delete(from));
    classes.set(from, found);
  }
  return found;
}

/**
 * @param {string} url
 * @param {RequestInit} init
 * @param {PolicyWatch} watch
 */
async function request(url, init, watch) {
  try {
    return await fetch(url, init);
  } catch (e) {
    throw await unreachable(url, e, watch);
  }
}

/**
 * Reads a response to its end and counts its bytes after decompression. It returns the count and the
 * first bytes.
 * @param {Response} response
 * @param {(loaded: number) => void} onBytes
 */
async function count(response, onBytes) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  let loaded = 0;
  /** @type {number[]} */
  const head = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { loaded, head };
    if (head.length < 60) head.push(...value.subarray(0, 60));
    onBytes((loaded += value.length));
  }
}

let warned = false;

/**
 * Returns the compiled module of a response.
 * @param {Response} response
 * @param {string} url
 * @param {number} size uncompressed; 0 when unknown
 * @param {(loaded: number, total: number) => void} onProgress
 * @param {PolicyWatch} watch
 */
async function compile(response, url, size, onProgress, watch) {
  const total = size || Number(response.headers.get("X-Uncompressed-Size")) ||
    // Content-Length counts compressed bytes where there is an encoding.
    (response.headers.get("Content-Encoding") ? 0 : Number(response.headers.get("Content-Length")));
  const streams = /^application\/wasm\s*(;|$)/i.test(response.headers.get("Content-Type") || "");
  if (!streams && !warned) {
    warned = true;
    console.warn(`bailey: ${url} is sent as ${response.headers.get("Content-Type") || "no type"}; as application/wasm it would start sooner.`);
  }
  const copy = response.clone();
  const counting = count(copy, (loaded) => onProgress(loaded, total));
  counting.catch(() => undefined); // the compiler reports it too
  try {
    const module = await (streams ? WebAssembly.compileStreaming(response) : response.arrayBuffer().then((b) => WebAssembly.compile(b)));
    const { loaded } = await counting;
    onProgress(loaded, loaded);
    return module;
  } catch (e) {
    const got = await counting.catch(async (cut) => {
      throw await unreachable(url, cut, watch);
    });
    if (got.head.slice(0, 8).join() !== "0,97,115,109,1,0,0,0") throw notWasm(got.head, url);
    const blocked = await watch.explain("wasm-eval", e);
    if (blocked) throw blocked;
    if (e instanceof RangeError) throw ending(url, 2, "out of memory", e);
    const cut = got.loaded < size;
    throw new ProgramError(cut ? "truncated" : "notwasm", cut ? `Only ${got.loaded} of ${size} bytes of ${url} arrived.` : `${url} does not compile.`,
      "Load the page again; if it stays so, build and deploy again.", String(e), e);
  }
}

/**
 * Loads a Go program and runs it.
 * @param {StartOptions} options
 * @returns {Promise<Program>}
 */
async function start(options) {
  const { signal } = options;
  signal?.throwIfAborted();
  const address = new URL(options.wasm, document.baseURI);
  const name = decodeURIComponent(address.pathname.replace(/^.*\//, ""));
  const watch = new PolicyWatch();
  const panel = options.panel === false ? undefined : new Panel(options.mount || null, name);
  try {
    if (typeof WebAssembly !== "object") {
      // A browser without WebAssembly, or one that has switched it off, as in a lockdown mode.
      throw new ProgramError("unsupported", "This browser does not run WebAssembly.", "Use another, or allow it for this site.");
    }
    const program = await load(options, address, name, watch, panel);
    signal?.throwIfAborted();
    await program.start();
    if (program.exitCode === undefined || program.exitCode === 0) panel?.close();
    return program;
  } catch (e) {
    panel?.close();
    // The caller has aborted the start, so it needs no message.
    if (signal?.aborted) throw signal.reason;
    if (e instanceof ProgramError) {
      console.error(`bailey: ${e.message} ${e.fix}`, e);
      panel?.fail(e, "Reload", () => location.reload());
    }
    throw e;
  } finally {
    watch.stop();
  }
}

/**
 * Returns the program, fetched and compiled but not started.
 * @param {StartOptions} options
 * @param {URL} address
 * @param {string} name
 * @param {PolicyWatch} watch
 * @param {Panel | undefined} panel
 */
async function load(options, address, name, watch, panel) {
  const init = { signal: options.signal };
  /** @param {number} loaded @param {number} total */
  const onProgress = (loaded, total) => {
    panel?.progress(loaded, total);
    options.onProgress?.(loaded, total);
  };
  /** @type {string | undefined} */
  let page;
  for (let again = false; ; again = true) {
    /** @type {ManifestFile | undefined} */
    let entry;
    const list = new URL(options.manifest || "manifest.json", address);
    if (options.manifest !== false) {
      const answer = await request(list.href, { ...init, cache: "no-cache" }, watch);
      // A page may have no manifest. Then the address is used unchanged.
      const said = answer.ok && (await answer.json().catch(() => undefined));
      entry = said?.files?.[name];
      if (said?.offline) page = new URL(said.offline.page, list).href;
    }
    const url = entry ? new URL(entry.path, list).href : address.href;
    const exec = typeof options.exec === "function" ? options.exec : options.exec ? new URL(options.exec, document.baseURI).href : entry?.exec ? new URL(entry.exec, list).href : undefined;
    const ready = /** @type {{Go?: GoClass}} */ (globalThis).Go;
    const Go = !exec && ready ? Promise.resolve(ready) : goClass(exec || new URL("wasm_exec.js", address).href, watch);
    Go.catch(() => undefined); // awaited below, after the parallel request
    const response = await request(url, { ...init, integrity: options.integrity }, watch);
    // A new build may have been deployed after the manifest was read.
    if (response.status === 404 && entry && !again) continue;
    if (!response.ok) throw refused(url, response.status);
    const module = await compile(response, url, entry?.size || 0, onProgress, watch);
    if (page) import(page).catch(() => undefined); // without it the page works with a network
    const run = new Program(name, await Go, module, options,
      (error) => panel?.fail(error, "Restart", () => void run.restart().catch((e) => console.error(e))));
    return run;
  }
}

const page = /** @type {{bailey?: Bailey}} */ (globalThis);
// A page may contain the script several times, for several programs.
const door = (page.bailey ??= { start, ProgramError, programs: [] });
const script = document.currentScript;
if (script instanceof HTMLScriptElement && script.dataset.wasm) {
  const { wasm, exec, manifest, panel, mount } = script.dataset;
  const started = door.start({
    wasm, exec, manifest: manifest === "none" ? false : manifest, panel: panel !== "none",
    mount: mount ? document.querySelector(mount) : null,
  });
  started.catch(() => undefined); // start has shown the error to the user and on the console
  door.programs.push(started);
}
