// A user's file with JSX.
import { useRef } from 'react';
import type { BaileyConsentElement } from 'bailey/agent';
import type { BaileyDocumentElement } from 'bailey/react';

export const Answer = ({ text }: { text: string }) => {
  const ref = useRef<BaileyDocumentElement>(null);
  return <bailey-document ref={ref} text={text} label="Answer" follow onlink={(event) => { open(event.detail.url); }} />;
};
export const Consent = ({ chat }: { chat: string }) => {
  const ref = useRef<BaileyConsentElement>(null);
  return <bailey-consent ref={ref} whose={() => chat} onask={(event) => { document.title = event.detail.title; }} onstop={(event) => event.preventDefault()} />;
};
// @ts-expect-error whose is a text or a function
export const wrongConsent = <bailey-consent whose={1} />;
// @ts-expect-error text is a string
export const wrong = <bailey-document text={1} />;
