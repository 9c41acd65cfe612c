import type { Bailey, Folder, LoadOptions } from './api.mjs';

export type { Bailey, Folder, LoadOptions };

/** Starts Bailey with box() in this page, from agent.wasm beside agent.mjs. It has all that load() of api.mjs has. */
export function load(options?: LoadOptions): Promise<BaileyAgent>;

export interface BaileyAgent extends Bailey {
  /**
   * Opens a box: a folder, a policy and tools for a model. Rejects with an error that names the option if the policy, a tool or
   * another option is wrong.
   */
  box(options: BoxOptions): Promise<Box>;
  /** Runs WASI programs. run() of the same object runs JavaScript. */
  wasi: {
    /**
     * Runs a WASI preview1 command to its end, in a worker of its own that has no network, no storage and no page, and is killed at a
     * limit. program is a module's bytes or its address, which the page's Content-Security-Policy must list in connect-src. A run that
     * fails is a result with error. Rejects if an option is wrong, or the program can't be fetched.
     */
    run(program: string | URL | Uint8Array | ArrayBuffer | Blob, options?: WASIOptions): Promise<WASIResult>;
  };
}

export interface WASIOptions {
  /** The arguments after the program's name. With env they have at most 1 MiB. */
  args?: string[];
  /** The program's name, which is its first argument. Default "program". */
  name?: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /**
   * The files below /, and all that the program has: contents by path, or a folder of the same load(). The result has what it changed of
   * contents. What it changes of a folder are steps of its undo. It is written after the program has ended by itself, and not if one of
   * the files was changed meanwhile. Contents are at most 10,000 files and 256 MiB. Default: none.
   */
  files?: Folder | Record<string, string | Uint8Array>;
  limits?: WASILimits;
  /** Kills the program. */
  signal?: AbortSignal;
  /** Of an address: the hash that the bytes must have, such as "sha384-…". */
  integrity?: string;
}

/** Limits of a run. A larger value than the default has no effect. */
export interface WASILimits {
  /** Milliseconds. Default 30,000. */
  time?: number;
  /** Bytes of WebAssembly memory. Default 512 MiB. */
  memory?: number;
  /** Bytes of stdout and stderr together. Default 64 MiB. */
  output?: number;
  /** Bytes read from files. Default 4 GiB. */
  read?: number;
  /** Bytes written to files. Default 256 MiB. */
  write?: number;
  /** Files open at once. Default 256. Over it an open fails, and the program goes on. */
  openFiles?: number;
}

export interface WASIResult {
  /** The program exited with 0, and its changes are written. */
  success: boolean;
  /** The exit code, -1 for a program that did not exit by itself. */
  exitCode: number;
  /** The output until the end of the run. new TextDecoder().decode() makes a text of it. */
  stdout: Uint8Array<ArrayBuffer>;
  stderr: Uint8Array<ArrayBuffer>;
  /** Why the run failed. An exit code that is not 0 is no error. */
  error?: { code: WASIErrorCode; message: string };
  /** Of contents as files: the files that the program made or changed, by path, and null for those that it removed. */
  files?: Record<string, Uint8Array<ArrayBuffer> | null>;
  /** duration is in milliseconds, with the compilation, which is done once: the last 8 programs, of at most 64 MiB, are kept. changes are the files and folders written back. */
  stats: { duration: number; changes: number };
}

/** TIMEOUT, RESOURCE_LIMIT and OUTPUT_TOO_LARGE are of limits, and ABORTED is of the signal. A signal while the program is loaded rejects the promise with its reason. */
export type WASIErrorCode = 'TIMEOUT' | 'RESOURCE_LIMIT' | 'OUTPUT_TOO_LARGE' | 'ABORTED' | 'EXECUTION_ERROR' | 'INVALID_PARAMS' | 'SECURITY_VIOLATION' | 'SANDBOX_ERROR';

/**
 * A model and the way to it. A policy must grant stream.send, and the page's Content-Security-Policy must list its host in
 * connect-src. A page can't keep a key secret from its user.
 */
export interface ModelOptions {
  /**
   * openai is the Responses API, openai-chat the Chat Completions that most servers of local models have. browser is the browser's own
   * model, and commands no model but rules for plain requests. These two take no further option.
   */
  provider: 'anthropic' | 'openai' | 'openai-chat' | 'gemini' | 'browser' | 'commands';
  /** The provider's name of the model. */
  name?: string;
  /** API key. It is sent in a header alone, and is in no error. */
  key?: string;
  /** Address of the server up to its version, such as "http://localhost:11434/v1". Default: the provider's own. */
  url?: string;
  header?: Record<string, string>;
  /** The most tokens of an answer. Default: the provider's, 8,192 for anthropic. */
  maxTokens?: number;
  /** The tokens that the model accepts. A longer conversation gets a summary. Default: by provider. */
  context?: number;
  effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';
  thinkingTokens?: number;
  /** The model takes no files. */
  textOnly?: boolean;
  temperature?: number;
  /** auto, none, required, or the name of a tool. */
  toolChoice?: string;
  /** Further members of the body of each request. */
  body?: Record<string, unknown>;
  /** The url is on this machine, so that no content leaves it, and stream.send is not needed. */
  onDevice?: boolean;
}

export interface BoxOptions {
  model: ModelOptions;
  /** An open folder of the same load(). Its steps are those of the box's undo. Default: none, and the tools for files are missing. */
  folder?: Folder;
  /**
   * The policy as of docs/policy.md: an object, or its JSON. Default: the model may read the folder, is asked about before each change of
   * it, and has no network and no code.
   */
  policy?: object | string;
  /**
   * Asks the user: a <bailey-consent> in the page, or a function. It is called for one question at a time, and may return the element that
   * shows it, such as () => ref.current of a component. A function that shows the question itself shows title, the text of each effect
   * whose inTitle is false, risk, destroys, untrusted, agent and diff, and accepts an answer only while they are in view. Default: each
   * question is refused. So is one for which ask throws, or returns another value, and one whose element is not in the page. If the
   * function never settles, the call waits until stop(), and signal aborts.
   */
  ask?: BaileyConsentElement | ((question: Question, call: { signal: AbortSignal }) => Asked | Promise<Asked>);
  /**
   * Answers the model's own questions, a list of texts for each. server is set for questions of an MCP server: say that they are its own.
   * Default: the model's tool for questions fails, and a server's questions are refused.
   */
  answer?: (questions: ModelQuestion[], call: { signal: AbortSignal; server?: string }) => string[][] | Promise<string[][]>;
  /** Tools of the page by name. */
  tools?: Record<string, AgentTool>;
  /** false: without the tools read, write, edit, glob, grep, delete, move, mkdir, diff, undo, todo, question, skill and task. Default true. */
  standard?: boolean;
  /** Adds the tool code_run: JavaScript or TypeScript in an enclave, with the policy's limits. It needs code.run. Default false. */
  code?: boolean;
  /** Adds the tool bash: a shell over the folder. It needs shell.run. Default false. */
  shell?: boolean;
  /**
   * Adds the tool tool_run, and commands to bash: the WASI programs of a tools.json, by its address. "make tools" of the repository builds
   * such a folder, with grep, sort, sed, jq, git, sqlite3 and more. Each module is fetched from beside the file when one of its commands runs for
   * the first time, and does not run if its SHA-256 is not that of the file, which is trusted. It needs shell.run. Default: bash has its
   * built-in commands alone.
   */
  commands?: string | URL;
  /**
   * Adds the tools of MCP servers, as <name>_<tool>. They are untrusted: the user is asked before each call, unless a rule decides
   * otherwise. Needs net.fetch for the host of each address. box() rejects if a server can't be reached.
   */
  mcp?: MCPServer[];
  /** Adds the tool web_fetch, if it is set. It needs net.fetch. relay is an address of yours that fetches pages without CORS. */
  web?: boolean | { relay?: string };
  /**
   * Instructions that the model may load by name with the tool skill: the texts of SKILL.md files in the open format Agent Skills, and
   * folders with them. The user accepts each before the model receives it, unless it is trusted. No line of a skill, such as
   * allowed-tools, gives a permission. box() rejects if a text is no skill. A folder's files that are none are in skills().refused.
   */
  skills?: SkillSource[];
  /**
   * Secrets of the user by their names, such as the key of an API. They add the tools secrets and web_request. The model gets names, hosts
   * and placeholders, and no value. web_request puts the value into a header of a GET request to one of the secret's hosts, if the policy
   * grants secrets.use for the name and net.fetch for the host, and the user agrees. An answer that repeats the value has the placeholder
   * in its place. A relay of the option web must be one of the secret's hosts, too. The list needs secrets.has.
   */
  secrets?: Record<string, Secret>;
  /**
   * Name of the IndexedDB database for secrets, encrypted with a key that no script can export. A script of the same origin can still have
   * them decrypted. Default: in memory, until the page is left. It adds the tools of the option secrets.
   */
  secretStore?: string;
  /** Name of the IndexedDB database for the sessions. They are not encrypted. Default: in memory until close(). */
  store?: string;
  systemPrompt?: string;
  /** Stores a rule that the user wants to keep: the answers project and never. Add it to the policy's rules at the next start. */
  remember?: (rule: object) => void | Promise<void>;
  /** Called with the progress lines of running calls. */
  onProgress?: (progress: { session: string; toolCallId: string; text: string }) => void;
}

/**
 * A skill or a folder of skills: the text of a SKILL.md of at most 64 KiB, or a folder of the same load() with files NAME/SKILL.md below
 * paths. Default of paths: .agents/skills, .claude/skills and .skills. name is that of a text, by default the name in its front matter, and
 * source is the text's origin for the question. trusted marks skills of the page's own: the model learns of them by the system prompt, and
 * receives them without a question. Default false.
 */
export type SkillSource =
  | string
  | Folder
  | { text: string; name?: string; source?: string; trusted?: boolean; folder?: undefined }
  | { folder: Folder; paths?: string[]; trusted?: boolean; text?: undefined };

export interface SkillInfo {
  name: string;
  description: string;
  /** The path of the file, or the source of a text. */
  source: string;
  trusted: boolean;
  license: string;
  compatibility: string;
  metadata: Record<string, string>;
  /** For display. They are no permission. */
  allowedTools: string[];
  /** The arguments in a word, such as "[file]". */
  argumentHint: string;
  /** The model can't load it. */
  userOnly: boolean;
  /** Do not offer it as a command. */
  modelOnly: boolean;
}

export interface Secret {
  /** 8 to 4,096 printable ASCII characters in one line. */
  value: string;
  /** 1 to 16 hosts, as in a policy: api.example.org, *.example.org, localhost:8080. */
  hosts: string[];
}

/** An MCP server, by an address or in the page. */
export type MCPServer = {
  /** A letter, then letters, digits, _ and -, at most 64 characters. */
  name: string;
  /** Time limit of a call in milliseconds, at most 300,000. Default 60,000. */
  time?: number;
  /** The most bytes of an answer. Default 8 MiB. */
  maxBytes?: number;
} & ({
  /** Address of its streamable HTTP: https, or http on this machine. On another origin it sends CORS headers, and exposes Mcp-Session-Id. */
  url: string;
  /** Further headers of each request. */
  header?: Record<string, string>;
  /** Returns the token of each request's Authorization header, such as that of an OAuth library of the page. */
  token?: () => string | Promise<string>;
  port?: undefined;
} | {
  /** A port to a server in this page. Each message is one JSON-RPC message as a string, and "" is the end. The box closes it. */
  port: MessagePort;
  url?: undefined;
});

export type Risk = 'low' | 'medium' | 'high' | 'critical';

/** An effect of a call, such as {capability: 'fs.write', subject: 'notes/a.md'}. */
export interface Effect {
  /** fs.read, fs.write, net.fetch, shell.run, code.run, … */
  capability: string;
  /** A path, a host or a command. "" for a capability without one. */
  subject?: string;
  /** Of a path: read, write, create, remove, … Default: read for fs.read, write for fs.write. */
  op?: string;
  /** It covers all below the path. */
  tree?: boolean;
  /** Content is lost. The user is asked, unless a rule for exactly this tool allows it. */
  destroys?: boolean;
  /** A verb with its object for the question, such as "send a.pdf to the printer". */
  words?: string;
}

/** A tool of the page. Its arguments come from the model: they match the schema, and are not trusted beyond it. */
export interface AgentTool {
  description?: string;
  /** JSON Schema of the arguments, of type object. Default: no arguments are accepted. */
  parameters?: object;
  /**
   * The effects of a call, for the policy. A function returns those of its arguments, and the same for the same ones. The policy
   * decides about them before run is called. Without effects the call runs at once, unless a rule names the tool.
   */
  effects?: Effect[] | ((args: any, call: { signal: AbortSignal; session: string }) => Effect[] | Promise<Effect[]>);
  /** The capabilities of all effects that the function may return. */
  requires?: string[];
  /** Returns for the question the content that the call would change, send or run. It returns the same for the same arguments. */
  preview?: (args: any, call: { signal: AbortSignal; session: string }) => string | { title?: string; diff?: string } | Promise<string | { title?: string; diff?: string }>;
  /** Time limit of run in milliseconds, at most 300,000. Default 10,000. */
  time?: number;
  /**
   * Does the work in this page. The model gets its return value as JSON has it, or the message of its error. A text, or the member content
   * of an object, is cut after 200 KiB, and the model can read the rest. Any other result of more fails with OUTPUT_TOO_LARGE. After the
   * time limit, and after stop(), the result is ignored, and signal aborts.
   */
  run(args: any, call: ToolCall): unknown;
}

export interface ToolCall {
  signal: AbortSignal;
  /** Id of the session. */
  session: string;
  /** Adds a file to the result, which the model receives, too. */
  addFile(file: AgentFile): Promise<void>;
  /** The box's folder as far as the call's effects go. Another path rejects with SECURITY_VIOLATION. Missing without a folder. */
  folder?: {
    list(path: string): Promise<{ name: string; path: string; folder: boolean; size: number }[]>;
    read(path: string): Promise<Uint8Array<ArrayBuffer>>;
    text(path: string): Promise<string>;
    write(path: string, data: string | Uint8Array): Promise<void>;
    remove(path: string): Promise<void>;
  };
}

/** A question of consent. Its texts have escapes for invisible characters, and the model may have chosen them: show them as text. */
export interface Question {
  /** The box's id of the call. */
  call: string;
  /** The model's id of the call, as in the chunks and the parts of messages. "" if no model asked for it. */
  toolCallId: string;
  tool: string;
  /** One line, to be read after "May the assistant". */
  title: string;
  /** The tool's own text. Do not trust it if untrusted is set. */
  description: string;
  /** All effects of the call. */
  effects: { text: string; risk: Risk; destroys: boolean; inTitle: boolean; needs: Need[] }[];
  /** The call's arguments. */
  input: unknown;
  needs: Need[];
  /** The highest risk of the effects. */
  risk: Risk;
  /** Content is lost. An answer for longer than once needs a pattern. */
  destroys: boolean;
  /** The tool, or the skill, is of a stranger. */
  untrusted: boolean;
  /** Why the user is asked. */
  reason: string;
  /** The content that would be written, removed, sent or run. */
  diff: string;
  /** diff is a unified diff of the box. Any other text may imitate one. */
  unified: boolean;
  session: string;
  /** The subagent that makes the call, or "". */
  agent: string;
  /** The tool whose page makes the call, or "". */
  app: string;
  /** Suggested patterns for an answer, the narrowest first. */
  patterns: string[];
  /** The answers to offer. */
  answers: Answer[];
}

export interface Need {
  capability: string;
  op: string;
  subject: string;
  tree: boolean;
  destroys: boolean;
}

/** once: yes, to this call. session: until the session ends. project: from now on. reject: no. never: no, and no further question. */
export type Answer = 'once' | 'session' | 'project' | 'reject' | 'never';

export interface Reply {
  answer: Answer;
  /** Of session and project: a pattern such as one of patterns. Default: exactly the question's subject. */
  pattern?: string;
  /** Of reject: sent to the model. */
  reason?: string;
}

/** What the option ask may return. Any other value, such as null, refuses the question. */
export type Asked = Reply | Answer | BaileyConsentElement | null | undefined;

/** The events of a <bailey-consent>, beside those of each element. They do not bubble. */
export interface BaileyConsentEventMap extends HTMLElementEventMap {
  /** A question is shown. */
  ask: CustomEvent<{ title: string; session: string }>;
  /** The user pressed Stop or Escape. After it the run that asks ends, unless preventDefault() was called. */
  stop: CustomEvent<{ session: string }>;
}

/**
 * <bailey-consent> is the dialog of consent for boxes: box({ask: element}). It shows the effects and the difference of a call, and takes
 * an answer that allows something only while all of them are in view, and not from a script. Boxes may share it: their questions wait
 * for their turn. It has the attribute hidden while it shows none. A question that is open when the element is removed is refused, and
 * one that is moved goes on. The custom properties --bailey-ask-… change its colours, see docs/bundler.md.
 */
export class BaileyConsentElement extends HTMLElement {
  /** A text about the session that asks, such as "In the chat “Taxes”", or a function that returns it. Also an attribute. Default: none. */
  whose: string | ((session: string) => string) | null;

  addEventListener<K extends keyof BaileyConsentEventMap>(type: K, listener: (this: BaileyConsentElement, event: BaileyConsentEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'bailey-consent': BaileyConsentElement;
  }
}

export interface ModelQuestion {
  question: string;
  header: string;
  options: { label: string; description: string }[];
  multiSelect: boolean;
}

/**
 * A file of a message or a result: an image, a PDF, a text. The limits are 3.75 MiB of an image, 8 MiB of another file, and 10 files and
 * 12 MiB of a message.
 */
export type AgentFile = Blob | { name?: string; mediaType?: string; data: Uint8Array | Blob } | { filename?: string; mediaType?: string; url: string };

/** A message of the user: a text, a text with files, or a UIMessage of AI SDK. */
export type Message = string | { text?: string; files?: Iterable<AgentFile> } | { parts: readonly any[] };

/**
 * A box. The name of an error is that of a Folder's error, or a code of docs/errors, such as INVALID_PARAMS, CAPABILITY_DENIED or
 * SESSION_ERROR.
 */
export interface Box {
  /** Begins a session, or opens a stored one. Rejects with SESSION_ERROR if it is open elsewhere, NotFoundError if there is none. */
  session(id?: string): Promise<Session>;
  /** Returns the stored sessions, the last changed one first. */
  sessions(): Promise<SessionInfo[]>;
  /** Removes a session that is not open. */
  removeSession(id: string): Promise<void>;
  /** Reads what export() wrote, under a new id. Grants, summaries and reasoning of the file are left out. */
  importSession(text: string): Promise<Session>;
  /** Calls a tool without a model, through the same steps, and returns its output. */
  call(tool: string, args?: object): Promise<unknown>;
  /** Returns the policy's decision about a call, which is not made. */
  explain(tool: string, args?: object): Promise<{ decision: 'allow' | 'ask' | 'deny'; reason: string; text: string }>;
  /** Returns the skills, and the files that are none. A reason may quote the file: it is for the user, and not for a model. */
  skills(): Promise<{ skills: SkillInfo[]; refused: { path: string; reason: string }[] }>;
  /**
   * Returns a skill's text with its arguments put in, for a user who calls it as a command: send it as a message. $ARGUMENTS, $0 and $1
   * become the arguments. Nothing in it is run. Arguments have at most 4 KiB. Rejects with NotFoundError if there is no such skill.
   */
  skillText(name: string, args?: string): Promise<string>;
  /** Returns the hosts and the placeholders of the secrets. No method returns a value. */
  secrets(): Promise<Record<string, { hosts: string[]; placeholder: string }>>;
  /** Stores a secret, or replaces it with its hosts. A name is a small letter, then up to 62 of a-z, 0-9, _ and -. A box has at most 100. */
  setSecret(name: string, secret: Secret): Promise<void>;
  removeSecret(name: string): Promise<void>;
  /**
   * Returns a text with the values of its placeholders, for a request of the page's own tool to host, a "host:port". Send it there alone,
   * without redirects, and keep it nowhere. Rejects with SECURITY_VIOLATION if a secret is not for the host.
   */
  fillSecrets(text: string, host: string): Promise<string>;
  /**
   * Returns an answer of host, a "host:port", with the values of that host's secrets replaced by their placeholders, also where they are
   * escaped, in base64 or reversed. Call it before a tool of the page returns the answer.
   */
  hideSecrets(text: string, host: string): Promise<string>;
  /**
   * Begins a dry run over a copy of the folder. Its changes are not asked about until apply(). Other effects that would need a question are
   * refused. Rejects with SESSION_ERROR without a folder.
   */
  plan(): Promise<Plan>;
  /** Returns the tools, and why one can't be used here. */
  tools(): Promise<{ name: string; available: boolean; reason: string }[]>;
  /** Ends every running call, those of its plans too. The model gets why. */
  stop(why?: string): Promise<void>;
  /** Ends all runs, and closes the sessions and the plans. */
  close(): Promise<void>;
}

/** A dry run. Call tools of its box, or let a session of it run, then show diff() or call apply(). */
export interface Plan {
  /** A box over the copy, with the same policy, tools and sessions. Its answers are those of the real box at the time of plan(). */
  readonly box: Box;
  /** Returns the changes that apply() would make, by path. size is in bytes, and 0 for a folder. */
  changes(): Promise<{ path: string; kind: 'added' | 'changed' | 'removed'; folder: boolean; size: number }[]>;
  /** Returns all changes as one unified diff. */
  diff(): Promise<string>;
  /**
   * Asks the user once about all changes, and makes them if the user agrees, as one step of the folder's undo. Returns the changes. If a
   * file was changed meanwhile by another program, nothing is written, and it rejects with ConflictError. A plan is applied once, and its
   * box writes nothing from then on.
   */
  apply(): Promise<{ path: string; kind: 'added' | 'changed' | 'removed'; folder: boolean; size: number }[]>;
  /** Drops the copy. */
  close(): Promise<void>;
}

export interface SessionInfo {
  id: string;
  /** Of rename(), or "". */
  title: string;
  model: string;
  /** The session that it is a fork of, or "". */
  parent: string;
  /** Milliseconds since 1970. */
  created: number;
  updated: number;
  archived: boolean;
  inputTokens: number;
  outputTokens: number;
  money: number;
}

export interface SendOptions {
  /** Stops the answer, as stop() does. */
  signal?: AbortSignal;
  /** The major version of AI SDK whose chunks are made. Default 7. */
  version?: 6 | 7;
  /** Another model for this answer. */
  model?: ModelOptions;
  /** The most requests to the model. Default 50. */
  steps?: number;
  /** The most tokens of all requests. Default: no limit. */
  tokens?: number;
  /** Time limit in milliseconds. Default: none. */
  time?: number;
  /** The most tokens of one answer. */
  maxTokens?: number;
  /** Repetitions of a failed request. Default 4. */
  retries?: number;
  /** The most subagents. Default 32. */
  agents?: number;
  /** Milliseconds between two looks at the output of a running call, which then comes as a preliminary one. Default: never. */
  progress?: number;
}

export interface Session {
  readonly id: string;
  /**
   * Sends a message, and returns the answer as chunks. Nothing happens before the iteration begins. To leave the loop stops the answer.
   * Without a message the model continues, for example after an error. Rejects with SESSION_ERROR while another answer is under way.
   */
  send(message?: Message, options?: SendOptions): AsyncGenerator<Chunk, void, undefined>;
  /** Adds a message for the model to read before its next step. */
  steer(message: Message): Promise<void>;
  /** Stops the answer and its calls, also during a question. */
  stop(why?: string): Promise<void>;
  /** Ends one call. The answer goes on. */
  stopCall(toolCallId: string): Promise<boolean>;
  /** Returns the messages in the form of AI SDK's UIMessage, for useChat, too. */
  messages(): Promise<UIMessage[]>;
  /** Hides a message of the user and all after it. With files, the folder is restored to its state before, as a step that can be undone. */
  rewind(message: string, options?: { files?: boolean }): Promise<void>;
  /** Returns a new session with the messages up to one, or with all. */
  fork(message?: string): Promise<Session>;
  rename(title: string): Promise<void>;
  /** Replaces the older messages by a summary, in requests only. Returns whether there was anything to replace. */
  compact(): Promise<boolean>;
  /** Forgets the answers of the user for this session. */
  forget(): Promise<void>;
  info(): Promise<SessionInfo>;
  /** Returns the model's list of tasks. */
  todos(): Promise<{ content: string; status: string; priority: string }[]>;
  /** Returns the whole session as JSON. */
  export(): Promise<string>;
  close(): Promise<void>;
}

/** A message in the form of AI SDK. */
export interface UIMessage {
  id: string;
  role: 'system' | 'user' | 'assistant';
  metadata?: any;
  parts: any[];
}

/** A chunk of an answer: one of AI SDK's UI message stream. The types that begin with data- are Bailey's own. */
export type Chunk =
  | { type: 'start'; messageId?: string; messageMetadata?: unknown }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string; providerMetadata?: any }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string; providerMetadata?: any }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic?: boolean }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; dynamic?: boolean; providerMetadata?: any }
  | { type: 'tool-input-error'; toolCallId: string; toolName: string; input: unknown; errorText: string; dynamic?: boolean }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; preliminary?: boolean; dynamic?: boolean }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string; dynamic?: boolean }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'file'; url: string; mediaType: string; providerMetadata?: any }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'source-document'; sourceId: string; mediaType: string; title: string; filename?: string }
  | { type: 'message-metadata'; messageMetadata: unknown }
  | { type: 'finish'; finishReason?: string; messageMetadata?: unknown }
  | { type: 'abort'; reason?: string }
  | { type: 'error'; errorText: string }
  | { type: `data-${string}`; id?: string; data: any; transient?: boolean };

export interface TransportOptions {
  /** The major version of the page's AI SDK. Default 7. */
  version?: 6 | 7;
  /** Whether an edited message and a regenerated answer also restore the folder to its state before. Default false. */
  rewindFiles?: boolean;
  /** Options of each answer. */
  send?: Omit<SendOptions, 'signal' | 'version'>;
}

/**
 * Returns a ChatTransport for useChat and Chat of AI SDK: all chats of it use one session, or, with a box, a chat uses the session with
 * its id, or a new one. The session has the conversation: only the last message of the page is sent, and messages that the page has
 * removed stay. Give useChat the messages of session.messages(). An edited message, and an answer that is regenerated, rewind the
 * session first. Questions go to the option ask of the box, with toolCallId. The stream has the question and the answer as
 * tool-approval-request and tool-approval-response, to show, and addToolApprovalResponse() answers nothing.
 */
export function transport(target: Box | Session, options?: TransportOptions): Transport;

export interface Transport {
  readonly resumeStreamIsReplay: true;
  sendMessages(request: { trigger: 'submit-message' | 'regenerate-message'; chatId: string; messageId: string | undefined; messages: any[]; abortSignal: AbortSignal | undefined }): Promise<ReadableStream<any>>;
  /** Returns the chunks of the running answer from its beginning, or null if none runs. The signal ends the stream, and not the answer. */
  reconnectToStream(request: { chatId: string; abortSignal?: AbortSignal }): Promise<ReadableStream<any> | null>;
  /** Returns the session of a chat, for stop(), steer() and the like. */
  session(chatId: string): Promise<Session>;
}
