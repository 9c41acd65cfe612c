/** Options of {@link load}. */
export interface LoadOptions {
  /** Address of the program. Default: bailey.wasm beside api.mjs. */
  wasm?: string | URL;
  /** Address of the library that removes the types of TypeScript. It is loaded when it is first needed. Default: typescript.txt beside api.mjs. */
  typescript?: string | URL;
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
  /** Opens folders: of the user's computer, of the browser, or in memory. */
  folder: Folders;
}

/**
 * Opens folders. A method that shows a dialogue is called in the handler of a click or a key press, else it is
 * rejected with a SecurityError. If the user closes the dialogue, the name of the error is AbortError. If the user
 * or the browser refuses, it is NotAllowedError.
 */
export interface Folders {
  /** Shows the browser's dialogue for folders. Rejects with a NotSupportedError in a browser without one (Firefox, Safari): offer upload(). */
  pick(options?: PickOptions): Promise<Folder>;
  /** Shows the dialogue for uploads, which every browser has. Changes are made to a copy in memory: zip() takes them out. */
  upload(options?: FolderOptions): Promise<Folder>;
  /**
   * Opens a folder of the browser's own storage, which only this site sees, without a dialogue. It is made if it is
   * not there. The name is a path such as "notes".
   */
  storage(name: string, options?: FolderOptions): Promise<Folder>;
  /** Makes an empty folder in memory. */
  memory(options?: FolderOptions & {
    /** The most bytes of all its files. Default: no limit. */
    maxBytes?: number;
  }): Promise<Folder>;
  /** Returns the folders that remember() or the option remember has stored. */
  remembered(): Promise<{ name: string; folder: string; write: boolean; lastUse: number; granted: boolean }[]>;
  /**
   * Opens a stored folder. "last" is the one that was used last. If granted is false, the browser asks the user again,
   * and needs a click.
   */
  restore(name: string, options?: FolderOptions): Promise<Folder>;
}

export interface FolderOptions {
  /**
   * Whether changes can be undone. true: until the page is closed. A name: also afterwards, if the same name is given
   * again for the same folder, and only in one tab at a time. The steps are then in the browser's own storage. A
   * history has at most 1,000 steps of 30 days and 256 MiB. Default true.
   */
  undo?: boolean | string;
}

export interface PickOptions extends FolderOptions {
  /** Asks for the right to write in the same dialogue. Default false. See Folder.requestWrite. */
  write?: boolean;
  /** The dialogue opens where it was last closed with the same id: at most 32 letters, digits, "-" and "_". */
  id?: string;
  /** The folder that is shown the first time. */
  startIn?: 'desktop' | 'documents' | 'downloads' | 'music' | 'pictures' | 'videos';
  /** Stores the folder under this name, for restore(). */
  remember?: string;
  /** Shows the dialogue for files, and opens a folder with those that the user chose. */
  files?: boolean;
}

/**
 * A folder. Paths are relative with slashes, such as "a/b.txt", and "." is the folder itself. No path leads out, and
 * symbolic links are not followed. Await a call before the next one that depends on it: calls under way at the same time
 * have no order. The names of errors are those of DOMException where it has one: NotFoundError,
 * InvalidModificationError (the name exists), ReadOnlyError, NotAllowedError, QuotaExceededError,
 * NoModificationAllowedError (another tab or program has the file open), ConflictError (another program has changed it)
 * and NothingError (no step is left).
 */
export interface Files {
  /** Returns what is in a folder, sorted by name. Default ".". Times are in milliseconds since 1970, 0 if unknown. */
  list(path?: string): Promise<{ name: string; path: string; folder: boolean; link: boolean; size: number; modified: number }[]>;
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns a file as a text. Rejects if its bytes are not UTF-8. */
  text(path: string): Promise<string>;
  /** Returns the version of a file's content, for write(), and "absent" if there is no such file. */
  version(path: string): Promise<string>;
  /**
   * Replaces a file in one step, and returns its new version. With options.version nothing is written if the file has
   * another version: the name of the error is ConflictError.
   */
  write(path: string, data: string | Uint8Array, options?: { version?: string }): Promise<string>;
  /** Makes a folder and those above it. One that exists is no error. */
  mkdir(path: string): Promise<void>;
  /** Removes a file or an empty folder, or with recursive a whole tree. */
  remove(path: string, options?: { recursive?: boolean }): Promise<void>;
  /** Moves a file or a folder. Nothing replaces a folder. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Finds the lines of text files that match a regular expression with the syntax of RE2, whose time grows with the
   * text only. max: default 1,000.
   */
  search(pattern: string, options?: { path?: string; max?: number }): Promise<{ path: string; line: number; column: number; text: string }[]>;
  /** Returns a folder as a ZIP archive. Default ".". */
  zip(path?: string): Promise<Uint8Array<ArrayBuffer>>;
}

export interface Folder extends Files {
  /** The name to show. "" for a folder in memory. */
  readonly name: string;
  /** Asks for the right to write to a folder that was opened for reading. Needs a click. */
  requestWrite(): Promise<void>;
  /** Stores a picked or dropped folder for restore(), and returns the name: another folder's name gets a number. */
  remember(name: string): Promise<string>;
  close(): Promise<void>;
  /** Returns the steps, the newest first. The methods from here on are missing if the folder was opened with undo: false. */
  history(): Promise<Step[]>;
  /** Undoes the last step, and never overwrites what another program has changed since: that is a ConflictError. */
  undo(): Promise<void>;
  /** Takes back the last undo, if nothing was changed since. */
  redo(): Promise<void>;
  /** Undoes any step. */
  revert(id: number): Promise<void>;
  /** Returns the changes of a step as unified diffs. */
  diff(id: number): Promise<string>;
  /** Makes all changes of a function one step. If it throws, they are undone. Only the folder that it gets may be used in it, and the step ends when all its calls have. */
  group(label: string, change: (work: Files) => Promise<void> | void): Promise<void>;
}

export interface Step {
  id: number;
  /** Milliseconds since 1970. */
  time: number;
  /** The first change: write, create, mkdir, remove, rename, undo, redo or undoto. */
  op: string;
  /** The label of group(), or "". */
  label: string;
  paths: string[];
  /** An undo of the step is in force. */
  undone: boolean;
  /** Size of what is kept for the undo. */
  bytes: number;
}

export interface EnclaveOptions {
  /** Default STRICT, with a time limit of 5 s. */
  level?: 'STRICT' | 'SECURE' | 'STANDARD' | 'PERMISSIVE';
  /** Time limit of a run in milliseconds, 10 to 300,000. Default: the level's. */
  time?: number;
  /** Time limit of a tool call in milliseconds. Default: the level's. */
  toolTime?: number;
  /** Further limits of a run. Default: the level's. */
  limits?: {
    toolCalls?: number;
    consoleCalls?: number;
    /** Bytes of all console calls. */
    consoleBytes?: number;
    /** Bytes of the value. */
    output?: number;
    /** Tool calls in a second. */
    rate?: number;
    /** Calls of one tool within 5 s. Default 30. */
    repeats?: number;
    /** Operations of parallel() at the same time, at most 20. Default 10. */
    concurrent?: number;
    /** Bytes of memory that known large operations may request, by an estimate. */
    heapMemory?: number;
  };
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
  /**
   * typescript removes the types before the run, and checks nothing but the syntax. Lines and columns stay. A namespace is a SyntaxError.
   * Default "javascript".
   */
  language?: 'javascript' | 'typescript';
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
