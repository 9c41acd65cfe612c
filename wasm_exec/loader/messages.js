"use strict";
// The failures between a page and its program, with messages that contain the remedy.

/**
 * @typedef {"unsupported" | "file" | "csp" | "offline" | "network" | "http" | "notwasm" | "notgo" | "truncated" |
 *   "mismatch" | "script" | "memory" | "stack" | "panic" | "exit" | "trap"} Kind
 */

/** A failure to start, or a bad end of a program, with a remedy for the user or the developer. */
class ProgramError extends Error {
  /**
   * @param {Kind} kind
   * @param {string} message the failure
   * @param {string} fix the remedy
   * @param {string} [details] for example the end of standard error
   * @param {unknown} [cause]
   */
  constructor(kind, message, fix, details = "", cause) {
    super(message, { cause });
    this.name = "ProgramError";
    this.kind = kind;
    this.fix = fix;
    this.details = details;
  }
}

/** Records the violations of the page's own policy, until stop is called. */
class PolicyWatch {
  constructor() {
    /** @type {SecurityPolicyViolationEvent[]} */
    this.seen = [];
    /** @param {SecurityPolicyViolationEvent} e */
    this.note = (e) => {
      if (e.disposition === "enforce") this.seen.push(e);
    };
    document.addEventListener("securitypolicyviolation", this.note);
  }

  stop() {
    document.removeEventListener("securitypolicyviolation", this.note);
  }

  /**
   * Returns the violation because of which url (or "wasm-eval") did not load, if there is one.
   * @param {string} url
   * @param {unknown} cause
   * @returns {Promise<ProgramError | undefined>}
   */
  async explain(url, cause) {
    // The event is queued behind the rejection that it explains.
    await new Promise((done) => setTimeout(done, 20));
    const wasm = url === "wasm-eval";
    const e = this.seen.find(({ blockedURI: b }) => (wasm ? /^(wasm-)?eval$/.test(b) : b && url.startsWith(b)));
    const said = String(cause);
    if (!e && !(wasm && /unsafe-eval|Content.Security/.test(said))) return undefined;
    const directive = e ? e.effectiveDirective.replace("-elem", "") : "script-src";
    const origin = wasm || new URL(url).origin;
    const missing = wasm ? "'wasm-unsafe-eval'" : origin === location.origin ? "'self'" : origin;
    return new ProgramError("csp",
      `The page's Content-Security-Policy blocks ${wasm ? "WebAssembly" : url}: ${directive} does not allow it.`,
      `Add ${missing} to ${directive} in the Content-Security-Policy header.`, e ? e.originalPolicy : said, cause);
  }
}

/**
 * Returns the error for a request without any response.
 * @param {string} url
 * @param {unknown} cause
 * @param {PolicyWatch} watch
 */
async function unreachable(url, cause, watch) {
  if (new URL(url).protocol === "file:") {
    return new ProgramError("file", "This page was opened from a file, where browsers load no programs.",
      "Serve the folder over HTTP, for example with: wasm_exec serve DIR", "", cause);
  }
  const blocked = await watch.explain(url, cause);
  if (blocked) return blocked;
  if (!navigator.onLine) {
    return new ProgramError("offline", "The browser is offline.", "Connect, and try again.", url, cause);
  }
  return new ProgramError("network", `No answer from the server for ${url}.`,
    "Check that the server runs, that Connection-Allowlist and CORS let the page ask it, and integrity.",
    String(cause), cause);
}

/**
 * Returns the error for a response with an error status.
 * @param {string} url
 * @param {number} status
 */
function refused(url, status) {
  return new ProgramError("http", `The server answered ${status} for ${url}.`,
    status === 404 ? "Build the program into this folder, or correct its path, which is relative to the page." : "See the server's log.");
}

/**
 * Returns the error for a response that is not WebAssembly, with a guess from its first bytes.
 * @param {number[]} head
 * @param {string} url
 */
function notWasm(head, url) {
  const text = String.fromCharCode(...head);
  const looks = /^\s*</.test(text) ? "an HTML page" : head[0] === 0x1f && head[1] === 0x8b ? "gzip without its Content-Encoding" : "something else";
  return new ProgramError("notwasm", `${url} is not a WebAssembly binary: it looks like ${looks}.`,
    looks === "an HTML page" ? "The server answers with a page for a file it does not have: correct the path."
      : "Build the program again, and check what the server sends.", text);
}

/**
 * Returns an error if module can't run with this wasm_exec.js.
 * @param {WebAssembly.Module} module
 * @param {WebAssembly.Imports} offered
 * @param {string} name
 * @returns {ProgramError | undefined}
 */
function misfit(module, offered, name) {
  const wanted = WebAssembly.Module.imports(module);
  const missing = wanted.filter((i) => !(i.module in offered) || !(i.name in offered[i.module]));
  if (!missing.length) return undefined;
  const from = new Set(wanted.map((i) => i.module));
  if (from.has("gojs") && !missing.some((i) => i.module.startsWith("wasi"))) {
    return new ProgramError("mismatch", `${name} and wasm_exec.js come from different versions of Go.`,
      "Take wasm_exec.js from the toolchain that built the binary: wasm_exec build does.",
      missing.map((i) => `missing: ${i.module} ${i.name}`).join("\n"));
  }
  return new ProgramError("notgo", `${name} was not built by Go for the browser.`,
    from.has("gojs") ? "It looks like TinyGo's, which needs its own wasm_exec.js." : "Build it with GOOS=js GOARCH=wasm.",
    `it imports ${[...from].join(", ")}`);
}

/**
 * Returns the error for the end of a program, from its standard error, exit code and exception.
 * @param {string} name
 * @param {number} code
 * @param {string} tail the end of standard error
 * @param {unknown} [cause] the exception from WebAssembly
 */
function ending(name, code, tail, cause) {
  const again = "It cannot go on: restart it.";
  if (/out of memory|cannot allocate memory/i.test(tail) || /memory allocation|could not allocate/i.test(String(cause))) {
    return new ProgramError("memory", `${name} ran out of memory.`, again, tail, cause);
  }
  if (cause instanceof RangeError || /too much recursion/.test(String(cause)) || /stack exceeds|stack overflow/.test(tail)) {
    return new ProgramError("stack", `${name} ran out of stack: something in it recurses too deep for a browser.`, again, tail, cause);
  }
  if (cause) return new ProgramError("trap", `${name} broke down: ${cause}`, again, tail, cause);
  const said = /^(?:panic|fatal error): .*/m.exec(tail);
  if (said) return new ProgramError("panic", `${name} stopped: ${said[0]}`, again, tail);
  return new ProgramError("exit", `${name} ended with exit code ${code}.`, "Its last words are below.", tail);
}
