// A page with useChat, and for the test the classes of both versions.
import './zod.mjs';
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useChat } from '@ai-sdk/react';
import { AbstractChat } from 'ai';
import { AbstractChat as AbstractChat6 } from 'ai-6';
import { load, transport } from 'bailey/agent';
import { kit } from './kit.mjs';

/** A chat without a framework, and the errors that it had. */
const chatOf = (Class) => class extends Class {
  constructor(init) {
    const state = {
      status: 'ready', error: undefined, messages: init.messages ?? [],
      pushMessage: (m) => { state.messages = [...state.messages, m]; init.onChange?.(state); },
      popMessage: () => { state.messages = state.messages.slice(0, -1); },
      replaceMessage: (i, m) => { state.messages = state.messages.with(i, structuredClone(m)); init.onChange?.(state); },
      snapshot: (m) => structuredClone(m),
    };
    super({ ...init, state });
  }
};

/** The user's questions, below the call that each is about. */
function Page({ own, session }) {
  const [questions, setQuestions] = useState({});
  const [chat] = useState(() => transport(session));
  const { messages, sendMessage, regenerate, stop, status, error } = useChat({ id: session.id, transport: chat });
  own.ask = (q, { signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    setQuestions((all) => ({ ...all, [q.toolCallId]: { ...q, resolve } }));
  });
  const answer = (id, reply) => { questions[id].resolve(reply); setQuestions(({ [id]: _, ...rest }) => rest); };
  own.page = { send: sendMessage, regenerate, stop };
  return (
    <main data-status={status}>
      {messages.map((m) => <section key={m.id} className={m.role}>
        {m.parts.map((p, i) => {
          if (p.type === 'text') return <p key={i}>{p.text}</p>;
          if (p.type === 'file') return <img key={i} alt={p.filename} src={p.url} />;
          if (!p.type.startsWith('tool-')) return null;
          const q = questions[p.toolCallId];
          return <div key={i} className={p.state} id={p.toolCallId}>
            {p.type}: {p.state}
            {q && <form onSubmit={(e) => e.preventDefault()}>
              <h2>{q.title}</h2>
              {q.effects.filter((e) => !e.inTitle).map((e) => <p key={e.text}>{e.text}</p>)}
              <pre>{q.diff}</pre>
              {q.answers.filter((a) => a === 'once' || a === 'reject').map((a) => <button key={a} className={a} onClick={() => answer(p.toolCallId, a)}>{a}</button>)}
            </form>}
          </div>;
        })}
      </section>)}
      {error && <output>{error.message}</output>}
    </main>
  );
}

kit(load, transport, async (own) => {
  const { bailey, model } = own;
  const folder = await bailey.folder.memory();
  const box = await bailey.box({ model, folder, ask: (...given) => own.ask(...given) });
  Object.assign(own, { chats: { 6: chatOf(AbstractChat6), 7: chatOf(AbstractChat) }, folder });
  createRoot(document.getElementById('app')).render(<StrictMode><Page own={own} session={await box.session()} /></StrictMode>);
});
