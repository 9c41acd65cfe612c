// A user's file with the types of Vue's templates. Each line after a @ts-expect-error must be an error.
import type { GlobalComponents } from 'vue';
import type { LinkEvent } from 'bailey/vue';

type Props<K extends 'bailey-document' | 'bailey-consent'> = InstanceType<GlobalComponents[K]>['$props'];
export const shown: Props<'bailey-document'> = { text: '# Hello', follow: true, maxHeight: 400, class: 'answer' };
export const asks: Props<'bailey-consent'> = { whose: (session) => session };
declare const emit: InstanceType<GlobalComponents['bailey-document']>['$emit'];
export const sends = (event: LinkEvent) => emit('link', event);
// @ts-expect-error a link has an event
export const wrongEvent = () => emit('link', 1);
// @ts-expect-error text is a string
export const wrong: Props<'bailey-document'> = { text: 1 };
// @ts-expect-error whose is a text or a function
export const wrongConsent: Props<'bailey-consent'> = { whose: 1 };
