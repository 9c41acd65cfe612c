import { StrictMode, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { load, transport } from 'bailey/agent';
import { kit } from './kit.mjs';

function App({ own }) {
  const ref = useRef(null);
  const [shown, setShown] = useState(true);
  const [title, setTitle] = useState('');
  own.show = setShown;
  own.ask = () => ref.current;
  Object.defineProperty(own, 'element', { configurable: true, get: () => ref.current });
  return <main>
    <h1>{title}</h1>
    {shown && <bailey-consent ref={ref} whose={() => 'In a component'} onask={(e) => setTitle(e.detail.title)} onstop={() => setTitle('stopped')} />}
  </main>;
}

kit(load, transport, (own) => createRoot(document.getElementById('app')).render(<StrictMode><App own={own} /></StrictMode>));
