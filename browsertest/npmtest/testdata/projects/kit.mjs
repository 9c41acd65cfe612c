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
    await more?.(own);
    globalThis.kit = own;
  } catch (e) {
    globalThis.failed = String(e);
  }
};
