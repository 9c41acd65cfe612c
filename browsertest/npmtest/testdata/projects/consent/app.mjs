import { load, transport } from './bailey/agent.mjs';
import { kit } from './kit.mjs';

// The element of index.html was there before its class.
const element = document.querySelector('bailey-consent');

kit(load, transport, async (own) => {
  const { bailey, all, box } = own;
  /** Has a box ask about writing a file, and resolves with what became of it. */
  own.begin = (options = {}, file = 'notes/a.md', content = '# Plan\n\n- one\n- two\n') => {
    const done = (async () => {
      const folder = await bailey.folder.memory();
      const b = await box({ folder, ask: element, ...options });
      own.last = { b, folder };
      const chunks = await all(own.session = await b.session(), { calls: [{ tool: 'write', args: { path: file, content } }] }, { text: 'went on' });
      return [await folder.text(file).then(() => 'written', () => 'not written'), own.text(chunks), chunks.at(-1).type];
    })();
    return done;
  };
  own.part = (id) => element.shadowRoot.getElementById(id);
  own.element = element;
});
