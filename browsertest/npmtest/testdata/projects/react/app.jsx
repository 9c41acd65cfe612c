import { StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import 'bailey/react';
import { report, text } from './outcome.mjs';

function Answer({ text, done }) {
  const ref = useRef(null);
  useEffect(() => {
    if (done) report(ref.current).catch((e) => { globalThis.failed = e.message; });
  }, [done]);
  return <bailey-document ref={ref} text={text} label="Answer" follow onlink={(e) => { globalThis.link = e.detail.url; }} />;
}

function App() {
  const [length, setLength] = useState(0);
  useEffect(() => {
    if (length >= text.length) return undefined;
    const next = setTimeout(() => setLength(length + 7));
    return () => clearTimeout(next);
  }, [length]);
  return <Answer text={text.slice(0, length)} done={length >= text.length} />;
}

createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>);
