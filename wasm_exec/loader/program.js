"use strict";
// One Go program: its output, its end, and the calls that come after its end.

/**
 * GoInstance has the members of wasm_exec.js's class that the loader uses.
 * @typedef {{
 *   argv: string[], env: Record<string, string>, exited?: boolean, importObject: WebAssembly.Imports,
 *   exit: (code: number) => void, run: (instance: WebAssembly.Instance) => Promise<void>, _resume: () => void,
 *   _scheduledTimeouts?: Map<number, ReturnType<typeof setTimeout>>,
 * }} GoInstance
 * @typedef {{ new (): GoInstance }} GoClass
 * @typedef {{ writeSync(fd: number, data: Uint8Array): number }} OutputFS
 * @typedef {{ code: number, error?: ProgramError, stderr: string }} Exit
 */

/** The program whose Go code runs now. All programs share one fs of wasm_exec.js. @type {Program | undefined} */
let current;
const patched = new WeakSet();

/**
 * Separates the output of the programs, although they share the page's fs.
 * @param {boolean} own whether fs is that of wasm_exec.js, which only logs
 */
function shareOutput(own) {
  const fs = /** @type {{fs?: OutputFS}} */ (globalThis).fs;
  if (!fs || patched.has(fs)) return;
  patched.add(fs);
  const write = fs.writeSync;
  fs.writeSync = (fd, data) => {
    if (!current || (fd !== 1 && fd !== 2)) return write.call(fs, fd, data);
    current.output(fd, data, own);
    return own ? data.length : write.call(fs, fd, data);
  };
}

/**
 * Prints text on the console, as an error for standard error.
 * @param {number} fd
 * @param {string} text
 */
function say(fd, text) {
  console[fd === 1 ? "log" : "error"](text);
}

class Program {
  /**
   * @param {string} name
   * @param {GoClass} Go
   * @param {WebAssembly.Module} module
   * @param {{args?: string[], env?: Record<string, string>}} options
   * @param {(error: ProgramError) => void} onEnd called if the program fails
   */
  constructor(name, Go, module, options, onEnd) {
    this.name = name;
    this.Go = Go;
    this.module = module;
    this.options = options;
    this.onEnd = onEnd;
    this.running = false;
    /** @type {number | undefined} */
    this.exitCode = undefined;
    this.stderr = "";
    /** @type {string[]} */
    this.lines = [];
    this.decoders = [1, 2, 3].map(() => new TextDecoder());
    /** @type {Promise<Exit>} */
    this.exited = new Promise((done) => (this.resolve = done));
    this.generation = 0;
  }

  /** Runs main from its beginning, in new memory. The promise resolves when main waits or has ended. */
  async start() {
    const go = new this.Go();
    const generation = ++this.generation;
    go.argv = [this.name, ...(this.options.args || [])];
    go.env = { ...this.options.env };
    const wrong = misfit(this.module, go.importObject, this.name);
    if (wrong) throw wrong;
    let code = 0;
    go.exit = (c) => (code = c);
    let ended = false;
    let told = false;
    /** @param {unknown} [cause] */
    const end = (cause) => {
      if (ended) return;
      ended = true;
      // wasm_exec.js would call a timer of an ended program again and again.
      go._scheduledTimeouts?.forEach((t) => clearTimeout(t));
      go._scheduledTimeouts?.clear();
      if (generation === this.generation) this.end(cause === undefined ? code : 2, cause);
    };
    const resume = go._resume;
    go._resume = () => {
      if (ended) {
        if (!told) {
          console.warn(`bailey: ${this.name} has ended, but the page still calls a function of it. Such calls do nothing. ` +
            "If its handlers should live, let main wait, for example with select {}.");
        }
        told = true;
        return;
      }
      const outer = current;
      current = this;
      try {
        resume.call(go);
        if (go.exited) end();
      } catch (e) {
        end(e);
        // Go code further down the stack waits for this call. It must not continue as if the call had returned.
        if (outer === this) throw e;
      } finally {
        current = outer;
      }
    };
    /** @type {WebAssembly.Instance} */
    let instance;
    try {
      instance = await WebAssembly.instantiate(this.module, go.importObject);
    } catch (e) {
      throw ending(this.name, 2, e instanceof RangeError ? "out of memory" : "", e);
    }
    this.running = true;
    const outer = current;
    current = this;
    // run is async but starts at once. Its exceptions become rejections.
    const run = go.run(instance);
    current = outer;
    if (go.exited) end();
    run.then(() => end(), end);
    await Promise.race([run, Promise.resolve()]).catch(() => undefined);
    return this;
  }

  /** Starts the program again in new memory. Functions of the old run that the page still has do nothing. */
  async restart() {
    if (this.running) throw new Error(`${this.name} is still running`);
    this.stderr = "";
    this.exitCode = undefined;
    this.exited = new Promise((done) => (this.resolve = done));
    return this.start();
  }

  /**
   * Records the end of the run.
   * @param {number} code
   * @param {unknown} cause
   */
  end(code, cause) {
    this.running = false;
    this.exitCode = code;
    const error = code === 0 ? undefined : ending(this.name, code, this.stderr, cause);
    // The last line may have no newline.
    for (const fd of [1, 2]) if (this.lines[fd]) say(fd, this.lines[fd]);
    this.lines = [];
    if (error) {
      console.error(`bailey: ${error.message} ${error.fix}`, ...(cause === undefined ? [] : [cause]));
      this.onEnd(error);
    }
    this.resolve?.({ code, error, stderr: this.stderr });
  }

  /**
   * Handles output of the program.
   * @param {number} fd 1 or 2
   * @param {Uint8Array} data
   * @param {boolean} log whether to print it on the console, line by line
   */
  output(fd, data, log) {
    const text = this.decoders[fd].decode(data, { stream: true });
    if (fd === 2) this.stderr = (this.stderr + text).slice(-8192);
    if (!log) return;
    const lines = ((this.lines[fd] || "") + text).split("\n");
    this.lines[fd] = /** @type {string} */ (lines.pop());
    if (lines.length) say(fd, lines.join("\n"));
  }
}
