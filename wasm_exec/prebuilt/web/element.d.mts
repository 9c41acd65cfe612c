import type { Bailey, DocumentOptions, Section, Theme } from './api.mjs';

export type LinkEvent = CustomEvent<Parameters<NonNullable<DocumentOptions['onLink']>>[0]>;
export type ViolationEvent = CustomEvent<Parameters<NonNullable<DocumentOptions['onViolation']>>[0]>;
export type StateEvent = CustomEvent<Parameters<NonNullable<DocumentOptions['onState']>>[0]>;

/**
 * Has all elements of the page use this program, which load() returned. Call it in the module that imports
 * this one, before anything is awaited. Without it the first element calls load().
 */
export function use(bailey: Bailey | Promise<Bailey>): void;

/** The events of a <bailey-document>, beside those of each element. */
export interface BaileyDocumentEventMap extends HTMLElementEventMap {
  /** The user clicked a link. Nothing opens by itself. The event bubbles. */
  link: LinkEvent;
  /** The height in CSS pixels has changed. */
  height: CustomEvent<number>;
  state: StateEvent;
  violation: ViolationEvent;
  /** The document could not be made. The message of detail names the cause and the remedy. */
  error: ErrorEvent & CustomEvent<Error>;
}

/**
 * <bailey-document> shows Markdown behind two frames. What is written before it is in the page, or while it
 * is out of it, is shown when it is there. label, follow and maxHeight take effect at that time.
 */
export class BaileyDocumentElement extends HTMLElement {
  /** Appends Markdown to the section "1". It takes no nodes. */
  append(...text: string[]): Promise<void>;
  /**
   * The Markdown of the section "1". If a value begins with the text shown, only the rest is added, so
   * that a framework can set the growing text of a stream. Also an attribute.
   */
  text: string;
  /** Returns the section with this id. If there is none, its first change adds it at the end. */
  section(id: string): Section;
  /** Resolves when all written text has been laid out. */
  flush(): Promise<void>;
  /** The height in CSS pixels. */
  readonly height: number;
  theme: Theme;
  /** Attribute scheme: light or dark. Default: that of the page. */
  scheme: 'light' | 'dark' | '';
  /** Attribute label: the accessible name. Default "Conversation". */
  label: string;
  /** Attribute follow: keeps the end in view as the document grows, as long as the user is there. */
  follow: boolean;
  /** Attribute max-height, in CSS pixels. A taller document scrolls. */
  maxHeight: number;
  /** Returns the bytes of an image, see DocumentOptions.onImage. Default null: no image is shown. */
  loadImage: NonNullable<DocumentOptions['onImage']> | null;

  addEventListener<K extends keyof BaileyDocumentEventMap>(type: K, listener: (this: BaileyDocumentElement, event: BaileyDocumentEventMap[K]) => unknown, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'bailey-document': BaileyDocumentElement;
  }
}
