// A user's file with the types of Svelte's templates. Each line after a @ts-expect-error must be an error.
import type { SvelteHTMLElements } from 'svelte/elements';
import type {} from 'bailey/svelte';

export const shown: SvelteHTMLElements['bailey-document'] = { text: '# Hello', follow: true, onlink: (event) => { open(event.detail.url); } };
export const asks: SvelteHTMLElements['bailey-consent'] = { whose: 'me', onstop: (event) => event.preventDefault() };
// @ts-expect-error text is a string
export const wrong: SvelteHTMLElements['bailey-document'] = { text: 1 };
// @ts-expect-error whose is a text or a function
export const wrongConsent: SvelteHTMLElements['bailey-consent'] = { whose: 1 };
