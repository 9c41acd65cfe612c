/** Options of {@link load}. */
export interface LoadOptions {
  /** Where the program is. Default: bailey.wasm beside api.mjs. */
  wasm?: string | URL;
  /** Bytes so far and in all, after decompression. */
  onProgress?: (loaded: number, total: number) => void;
  /** Ends loading, and the program. */
  signal?: AbortSignal;
  /** false: no progress bar and no error panel. */
  panel?: boolean;
}

/** Starts Bailey in this page. Rejects with what went wrong and what to do. */
export function load(options?: LoadOptions): Promise<Bailey>;

export interface Bailey {
  /** Puts a document at the end of an element. */
  document(element: HTMLElement, options?: DocumentOptions): Promise<BaileyDocument>;
  /**
   * Sanitised HTML of Markdown: nothing in it loads, runs or navigates. Links
   * have their target in data-href. Prefer document(), which is two walls more.
   */
  markdown(text: string): Promise<string>;
  /**
   * Runs JavaScript that nobody has read, as the body of an async function, in a
   * worker that can reach nothing and is killed when its time is over: at the
   * level STRICT, without tools. What the code does wrong is a result; only a run
   * that never began rejects.
   */
  run(code: string, options?: RunOptions): Promise<RunResult>;
  /** A place for runs with a level and tools of its own. */
  enclave(options?: EnclaveOptions): Promise<Enclave>;
}

export interface EnclaveOptions {
  /** Default STRICT: 5 s. */
  level?: 'STRICT' | 'SECURE' | 'STANDARD' | 'PERMISSIVE';
  /** Milliseconds that a run may take, 10 to 300,000. Default: the level's. */
  time?: number;
  /** Milliseconds that a call of a tool may take. Default: the level's. */
  toolTime?: number;
  /** Runs at once, 1 to 64; more wait. Default 4. */
  max?: number;
  /** What the code reaches as callTool(name, args), by name. Default: nothing. */
  tools?: Record<string, Tool>;
  /** A worker waits with all but the code in it: a run takes little more than half as long. script-src must list blob:. */
  warm?: boolean;
  /** Address of a page that `wasm_exec enclave` wrote for the same level, warm and policy: the
   * enclave's own headers and, on another site, its own process. frame-src must list it. */
  url?: string;
  /** Default "bailey". */
  trustedTypesPolicy?: string;
}

export interface Tool {
  description?: string;
  /** JSON Schema of the arguments, an object's. Default: none are taken. */
  parameters?: object;
  /** The code also reaches it as mcp.<server>.<name without "<server>_">. */
  server?: string;
  /** Does it, in this page. The code gets what it returns, or its error's message. */
  run(args: unknown, call: { signal: AbortSignal }): unknown;
}

export interface Enclave {
  run(code: string, options?: RunOptions): Promise<RunResult>;
  /** Ends what runs and removes the frames. */
  close(): Promise<void>;
}

export interface RunOptions {
  /** What the code sees as args: a value that JSON can write, or a Uint8Array. */
  args?: unknown;
  /** Named constants of the same kinds. */
  context?: Record<string, unknown>;
  /** Milliseconds; narrows the enclave's. */
  time?: number;
  /** Kills the run. */
  signal?: AbortSignal;
  /** Each call of console as it comes. */
  onConsole?: (row: ConsoleRow) => void;
}

export interface ConsoleRow {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug' | 'trace';
  args: unknown[];
  /**
   * The arguments as a console shows them, at most 10,000 bytes: what doesn't print is an escape. Show this one, and
   * not args: values that come from code can make String() and JSON.stringify() throw.
   */
  text: string;
  /** Milliseconds since the run began. */
  at: number;
}

export interface RunResult {
  success: boolean;
  /**
   * What the code returned: JSON values, Date, Map, Set, BigInt, Error, typed
   * arrays. Members that are undefined are left out; nothing at all is null.
   */
  value: unknown;
  /** The value as text for a person, at most 10,000 bytes; see ConsoleRow. */
  text: string;
  /** code is TIMEOUT, ABORTED, RESOURCE_LIMIT, EXECUTION_ERROR, … */
  error?: { code: string; name: string; message: string; stack: string };
  /** The run was ended; console and stats hold what was until then. */
  partial: boolean;
  console: ConsoleRow[];
  /** duration is milliseconds. */
  stats: { duration: number; toolCalls: number; consoleCalls: number; outputBytes: number };
}

export interface DocumentOptions {
  /** Accessible name. Default "Conversation". */
  label?: string;
  /** BCP 47 language of the text. */
  lang?: string;
  /** In CSS pixels; what is taller scrolls. Default 1048576. */
  maxHeight?: number;
  /** Default "bailey". */
  trustedTypesPolicy?: string;
  theme?: Theme;
  /** A link was clicked. Nothing opens unless you open it: ask first. */
  onLink?: (link: { section: string; url: string; host: string; text: string }) => void;
  /** Bytes of an image (PNG, JPEG, GIF, WebP, AVIF; at most 4 MiB). Default: none is shown. */
  onImage?: (request: { section: string; url: string }) => Promise<Uint8Array>;
  /** The frame's policy stopped something. */
  onViolation?: (violation: { directive: string; blocked: string; enforced: boolean; sample: string }) => void;
  onState?: (state: 'ready' | 'lost' | 'rebuilt' | 'failed' | 'closed') => void;
}

export interface Theme {
  /** "" follows the place where the document stands. */
  scheme?: 'light' | 'dark' | '';
  /** CSS custom properties such as --bailey-text; values at most 256 bytes. */
  variables?: Record<string, string>;
}

export interface BaileyDocument {
  /** The section with this id, added at the end if there is none. */
  section(id: string): Promise<Section>;
  setTheme(theme: Theme): Promise<void>;
  /** Resolves when all that was written is laid out. */
  flush(): Promise<void>;
  /** Height in CSS pixels. */
  height(): Promise<number>;
  close(): Promise<void>;
}

export interface Section {
  /** Adds Markdown. Calls are taken in the order they are made. */
  write(text: string): Promise<void>;
  setLabel(text: string): Promise<void>;
  /** What is shown now. */
  html(): Promise<string>;
  /** The answer is complete. */
  close(): Promise<void>;
  /** Empties the section and opens it again. */
  reset(): Promise<void>;
  remove(): Promise<void>;
}
