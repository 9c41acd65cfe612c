import type { Bailey } from './api.mjs';

export type SecurityLevel = 'STRICT' | 'SECURE' | 'STANDARD' | 'PERMISSIVE';

/** Answers the tool calls of the code. It gets any name that the code gives, so check it. */
export type ToolHandler = (toolName: string, args: Record<string, unknown>) => unknown;

/** The limits of the class, each in one place. Times are in milliseconds, sizes in bytes. */
export const LIMITS: {
  /** What large operations of the code may request of memory, by an estimate. */
  readonly memory: number;
  /** Runs of an enclave, and operations of parallel(), at the same time. */
  readonly parallel: number;
  readonly operationsPerSecond: number;
  /** Calls of one tool within enumerationWindow. */
  readonly enumeration: number;
  readonly enumerationWindow: number;
  /** Characters of a tool's name. */
  readonly toolName: number;
  readonly levels: Readonly<Record<SecurityLevel, {
    readonly timeout: number;
    readonly maxToolCalls: number;
    readonly maxConsoleCalls: number;
    readonly maxConsoleOutputBytes: number;
    /** Errors have the stack of the code. */
    readonly stacks: boolean;
  }>>;
};

export interface EnclaveCompatOptions {
  /** The program that load() returned. Default: one for all enclaves, loaded by the first run. */
  bailey?: Bailey | Promise<Bailey>;
  /** Default STANDARD. */
  securityLevel?: SecurityLevel;
  /** Time limit of a run. Default: the level's, see LIMITS. */
  timeout?: number;
  maxToolCalls?: number;
  /** Default LIMITS.memory. */
  memoryLimit?: number;
  maxConsoleOutputBytes?: number;
  maxConsoleCalls?: number;
  /** Constants of the code. Values without a JSON form are left out. */
  globals?: Record<string, unknown>;
  toolHandler?: ToolHandler;
  /** false: names such as eval and constructor are not refused before the run. Default true. */
  validate?: boolean;
  doubleIframe?: {
    enabled?: boolean;
    parentTimeoutBuffer?: number;
    parentValidation?: Partial<ParentValidationConfig>;
  };
  /** Ignored: code is not transformed, and loops end by the time limit. */
  maxIterations?: number;
  transform?: boolean;
  preset?: 'agentscript' | 'strict' | 'secure' | 'standard' | 'permissive';
  secureProxyConfig?: object;
  allowFunctionsInGlobals?: boolean;
  /** Must be empty: no text becomes code. */
  customSerializablePatterns?: never[];
}

export interface ParentValidationConfig {
  validateOperationNames: boolean;
  allowedOperationPattern: RegExp;
  blockedOperationPatterns: RegExp[];
  maxOperationsPerSecond: number;
  /** false: neither the calls of one tool are counted, nor suspiciousPatterns asked. Default true. */
  blockSuspiciousSequences: boolean;
  rapidEnumerationThreshold: number;
  rapidEnumerationOverrides: Record<string, number>;
  suspiciousPatterns: SuspiciousPattern[];
}

/** A function that refuses a call after the calls of the same run before it. */
export interface SuspiciousPattern {
  id: string;
  description: string;
  detect(operationName: string, args: unknown, history: { operationName: string; timestamp: number; argKeys: string[] }[]): boolean;
}

export interface ExecutionError {
  name: string;
  message: string;
  stack?: string;
  /** VALIDATION_ERROR, EXECUTION_TIMEOUT, EXECUTION_ABORTED, MAX_TOOL_CALLS_EXCEEDED, ENCLAVE_ERROR, or a code of Bailey. */
  code?: string;
  data?: Record<string, unknown>;
}

export interface ExecutionResult<T = unknown> {
  success: boolean;
  value?: T;
  error?: ExecutionError;
  /** iterationCount is always 0. */
  stats: { duration: number; toolCallCount: number; iterationCount: number; startTime: number; endTime: number };
}

/** Runs code of a model, with the API of BrowserEnclave of @enclave-vm/browser. docs/interop.md lists the differences. */
export class EnclaveCompat {
  constructor(options?: EnclaveCompatOptions);
  /** Runs code. It never rejects. */
  run<T = unknown>(code: string, toolHandler?: ToolHandler): Promise<ExecutionResult<T>>;
  getSecurityLevel(): SecurityLevel;
  /** Ends all runs, whose error is EXECUTION_ABORTED, and removes the frames. */
  dispose(): void;
}

export { EnclaveCompat as BrowserEnclave };
