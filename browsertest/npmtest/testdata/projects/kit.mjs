// Gives the test of a page with a box its program and a few helpers, as globalThis.kit, after more has added to them.
globalThis.violations = [];
addEventListener('securitypolicyviolation', (e) => globalThis.violations.push(`${e.effectiveDirective} ${e.blockedURI}`));

export const kit = async (load, transport, more) => {
  try {
    const bailey = await load({ panel: false });
    /** The model of the test's server, whose turns are in the message. */
    const model = { provider: 'openai-chat', name: 'scripted', url: new URL('model/v1', location.href).href, key: 'test-key' };
    const own = {
      bailey, transport, model,
      box: (options) => bailey.box({ model, ...options }),
      turns: (...list) => JSON.stringify(list),
      /** Returns all chunks of an answer. */
      all: async (session, ...list) => {
        const out = [];
        for await (const c of session.send(JSON.stringify(list))) out.push(c);
        return out;
      },
      types: (chunks) => chunks.map((c) => c.type).join(' '),
      text: (chunks) => chunks.filter((c) => c.type === 'text-delta').map((c) => c.delta).join(''),
      of: (chunks, type) => chunks.find((c) => c.type === type),
      failed: (promise) => Promise.resolve(promise).then(() => 'it succeeded', (e) => `${e.name}: ${e.message}`),
    };
    /** Has a box ask about writing a file, and resolves with what became of it. */
    own.begin = async (options = {}, file = 'notes/a.md', content = '# Plan\n\n- one\n- two\n') => {
      const folder = await bailey.folder.memory();
      const b = await own.box({ folder, ask: own.ask, ...options });
      own.last = { b, folder };
      const chunks = await own.all(own.session = await b.session(), { calls: [{ tool: 'write', args: { path: file, content } }] }, { text: 'went on' });
      return [await folder.text(file).then(() => 'written', () => 'not written'), own.text(chunks), chunks.at(-1).type];
    };
    own.part = (id) => own.element?.shadowRoot?.getElementById(id);
    await more?.(own);
    globalThis.kit = own;
  } catch (e) {
    globalThis.failed = String(e);
  }
};
