import type { EmitFn, HTMLAttributes, PublicProps } from 'vue';
import type { BaileyConsentElement, BaileyConsentEventMap } from './agent.mjs';
import type { BaileyDocumentElement, LinkEvent, StateEvent, ViolationEvent } from './element.mjs';

export * from './element.mjs';

/** An element in a template, as Vue's documentation has it: its properties, and its events with the event itself. */
type Element<E extends HTMLElement, Props, Events> = new () => E & {
  /** @deprecated for templates alone */
  $props: HTMLAttributes & PublicProps & Props;
  /** @deprecated for templates alone */
  $emit: EmitFn<{ [K in keyof Events]: (event: Events[K]) => void }>;
};

declare module 'vue' {
  interface GlobalComponents {
    'bailey-document': Element<BaileyDocumentElement, Partial<Pick<BaileyDocumentElement, 'text' | 'theme' | 'scheme' | 'label' | 'follow' | 'maxHeight' | 'loadImage'>>,
      { link: LinkEvent; state: StateEvent; height: CustomEvent<number>; violation: ViolationEvent }>;
    /** Import 'bailey/agent' for the element itself. */
    'bailey-consent': Element<BaileyConsentElement, Partial<Pick<BaileyConsentElement, 'whose'>>, Pick<BaileyConsentEventMap, 'ask' | 'stop'>>;
  }
}
