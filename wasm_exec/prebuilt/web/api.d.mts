/** Options of {@link load}. */
export interface LoadOptions {
  /** Address of the program. Default: bailey.wasm beside api.mjs. */
  wasm?: string | URL;
  /**
   * Hash of the program as in Subresource Integrity, such as that of bailey.wasm in integrity.json. Another
   * program is not started. It is compiled when all of it is there, and not while it loads.
   */
  integrity?: string;
  /** Called with the bytes loaded so far and in total, after decompression. total is 0 while unknown. */
  onProgress?: (loaded: number, total: number) => void;
  /** Aborts the loading. */
  signal?: AbortSignal;
  /** false: no progress bar and no error panel. */
  panel?: boolean;
}

/** Starts Bailey in this page. Each call starts a program of its own. Rejects with an error that contains the cause and the remedy. */
export function load(options?: LoadOptions): Promise<Bailey>;

export interface Bailey {
  /** Appends a document to an element. */
  document(element: HTMLElement, options?: DocumentOptions): Promise<BaileyDocument>;
  /**
   * Returns sanitised HTML of Markdown. Nothing in it loads, runs or navigates.
   * Links have their target in data-href. Prefer document(), which adds two walls.
   */
  markdown(text: string): Promise<string>;
  /**
   * Runs untrusted JavaScript as the body of an async function, for example
   * "return 1 + 1". It runs at the level STRICT and without tools, in a worker
   * without network or storage that is killed at its time limit. A failure of the
   * code is a result with an error. The promise is rejected only if the run could
   * not begin.
   */
  run(code: string, options?: RunOptions): Promise<RunResult>;
  /** Creates an enclave for runs, with a level and tools of its own. */
  enclave(options?: EnclaveOptions): Promise<Enclave>;
}

export interface EnclaveOptions {
  /** Default STRICT, with a time limit of 5 s. */
  level?: 'STRICT' | 'SECURE' | 'STANDARD' | 'PERMISSIVE';
  /** Time limit of a run in milliseconds, 10 to 300,000. Default: the level's. */
  time?: number;
  /** Time limit of a tool call in milliseconds. Default: the level's. */
  toolTime?: number;
  /** The most runs at the same time, 1 to 64. Others wait. Default 4. */
  max?: number;
  /** The tools by name, which the code calls with callTool(name, args). Default: none. */
  tools?: Record<string, Tool>;
  /**
   * Keeps a worker ready that has everything but the code. A run then takes little more than half as
   * long. script-src must list blob:.
   */
  warm?: boolean;
  /**
   * Address of a page that `wasm_exec enclave` wrote for the same level, warm and policy. It gives the
   * enclave headers of its own and, on another site, a process of its own. frame-src must list it.
   */
  url?: string;
  /** Default "bailey". */
  trustedTypesPolicy?: string;
}

export interface Tool {
  description?: string;
  /** JSON Schema of the arguments, of type object. Default: no arguments are accepted. */
  parameters?: object;
  /** The code can also call it as mcp.<server>.<name without "<server>_">. */
  server?: string;
  /** Runs the tool in this page. The code gets its return value, or the message of its error. */
  run(args: unknown, call: { signal: AbortSignal }): unknown;
}

export interface Enclave {
  run(code: string, options?: RunOptions): Promise<RunResult>;
  /** Ends all runs and removes the frames. */
  close(): Promise<void>;
}

export interface RunOptions {
  /** The value of args in the code: a JSON value or a Uint8Array. */
  args?: unknown;
  /** Constants in the code, by name, with values of the same types. */
  context?: Record<string, unknown>;
  /** Time limit in milliseconds. It can only lower the enclave's. */
  time?: number;
  /** Kills the run. */
  signal?: AbortSignal;
  /** Called for each console call of the code, at once. */
  onConsole?: (row: ConsoleRow) => void;
}

export interface ConsoleRow {
  level: 'log' | 'info' | 'warn' | 'error' | 'debug' | 'trace';
  args: unknown[];
  /**
   * The arguments as a console shows them, at most 10,000 bytes, with escapes for invisible characters. Show this text
   * and not args, because values from the code can make String() and JSON.stringify() throw.
   */
  text: string;
  /** Milliseconds since the run began. */
  at: number;
}

export interface RunResult {
  success: boolean;
  /**
   * The value that the code returned: JSON values, Date, Map, Set, BigInt, Error,
   * typed arrays. Undefined members are left out. Without a return value it is null.
   */
  value: unknown;
  /** The value as text to show, at most 10,000 bytes. See ConsoleRow.text. */
  text: string;
  /** Set if the run failed. code is TIMEOUT, ABORTED, RESOURCE_LIMIT, EXECUTION_ERROR, … */
  error?: { code: string; name: string; message: string; stack: string };
  /** The run was ended early. console and stats are those until then. */
  partial: boolean;
  console: ConsoleRow[];
  /** duration is in milliseconds. */
  stats: { duration: number; toolCalls: number; consoleCalls: number; outputBytes: number };
}

export interface DocumentOptions {
  /** Accessible name of the frame. Default "Conversation". */
  label?: string;
  /** BCP 47 language of the text. */
  lang?: string;
  /** Maximum height in CSS pixels. A taller document scrolls. Default 1048576. */
  maxHeight?: number;
  /** Default "bailey". */
  trustedTypesPolicy?: string;
  theme?: Theme;
  /** Keeps the end of the document in view as it grows, as long as the user is there. */
  follow?: boolean;
  /** Called with the height in CSS pixels after each change. */
  onHeight?: (px: number) => void;
  /** Called when the user clicks a link. The link opens only if you open it. Ask the user first. */
  onLink?: (link: { section: string; url: string; path: string; host: string; text: string }) => void;
  /** Returns the bytes of an image (PNG, JPEG, GIF, WebP or AVIF, at most 4 MiB). Default: no image is shown. */
  onImage?: (request: { section: string; url: string; path: string }) => Promise<Uint8Array>;
  /** Called when the frame's policy has blocked something. */
  onViolation?: (violation: { directive: string; blocked: string; enforced: boolean; sample: string }) => void;
  onState?: (state: 'ready' | 'lost' | 'rebuilt' | 'failed' | 'closed') => void;
}

export interface Theme {
  /** "" takes the color scheme of the element around the document. */
  scheme?: 'light' | 'dark' | '';
  /** CSS custom properties such as --bailey-text, with values of at most 256 bytes. */
  variables?: Record<string, string>;
}

export interface BaileyDocument {
  /** Returns the section with this id. If there is none, it is added at the end. */
  section(id: string): Promise<Section>;
  setTheme(theme: Theme): Promise<void>;
  /** Resolves when all written text has been laid out. */
  flush(): Promise<void>;
  /** Returns the height in CSS pixels. */
  height(): Promise<number>;
  close(): Promise<void>;
}

export interface Section {
  /** Appends Markdown. Calls take effect in their order. */
  write(text: string): Promise<void>;
  setLabel(text: string): Promise<void>;
  /** Sets what the section is in the conversation, such as "user", "assistant" or "note". */
  setKind(kind: string): Promise<void>;
  /** Returns the HTML that is shown now. */
  html(): Promise<string>;
  /** Ends the section: its text is complete. */
  close(): Promise<void>;
  /** Empties the section, so that it can be written again. */
  reset(): Promise<void>;
  remove(): Promise<void>;
}
