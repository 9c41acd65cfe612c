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
