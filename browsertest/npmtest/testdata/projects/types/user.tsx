// A user's file with JSX.
import { useRef } from 'react';
import type { BaileyDocumentElement } from 'bailey/react';

export const Answer = ({ text }: { text: string }) => {
  const ref = useRef<BaileyDocumentElement>(null);
  return <bailey-document ref={ref} text={text} label="Answer" follow onlink={(event) => { open(event.detail.url); }} />;
};
// @ts-expect-error text is a string
export const wrong = <bailey-document text={1} />;
