import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { BaileyConsentElement, BaileyConsentEventMap } from './agent.mjs';
import type { BaileyDocumentElement, LinkEvent, StateEvent, ViolationEvent } from './element.mjs';

export * from './element.mjs';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'bailey-document': DetailedHTMLProps<HTMLAttributes<BaileyDocumentElement>, BaileyDocumentElement> & Partial<
        Pick<BaileyDocumentElement, 'text' | 'theme' | 'scheme' | 'label' | 'follow' | 'maxHeight' | 'loadImage'>> & {
        onlink?: (event: LinkEvent) => void;
        onstate?: (event: StateEvent) => void;
        onheight?: (event: CustomEvent<number>) => void;
        onviolation?: (event: ViolationEvent) => void;
      };
      /** Import 'bailey/agent' for the element itself. */
      'bailey-consent': DetailedHTMLProps<HTMLAttributes<BaileyConsentElement>, BaileyConsentElement> & Partial<Pick<BaileyConsentElement, 'whose'>> & {
        onask?: (event: BaileyConsentEventMap['ask']) => void;
        onstop?: (event: BaileyConsentEventMap['stop']) => void;
      };
    }
  }
}
