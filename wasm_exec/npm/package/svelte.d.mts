import type { HTMLAttributes } from 'svelte/elements';
import type { BaileyConsentElement, BaileyConsentEventMap } from './agent.mjs';
import type { BaileyDocumentElement, LinkEvent, StateEvent, ViolationEvent } from './element.mjs';

export * from './element.mjs';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'bailey-document': HTMLAttributes<BaileyDocumentElement> & Partial<
      Pick<BaileyDocumentElement, 'text' | 'theme' | 'scheme' | 'label' | 'follow' | 'maxHeight' | 'loadImage'>> & {
      onlink?: (event: LinkEvent) => void;
      onstate?: (event: StateEvent) => void;
      onheight?: (event: CustomEvent<number>) => void;
      onviolation?: (event: ViolationEvent) => void;
    };
    /** Import 'bailey/agent' for the element itself. */
    'bailey-consent': HTMLAttributes<BaileyConsentElement> & Partial<Pick<BaileyConsentElement, 'whose'>> & {
      onask?: (event: BaileyConsentEventMap['ask']) => void;
      onstop?: (event: BaileyConsentEventMap['stop']) => void;
    };
  }
}
