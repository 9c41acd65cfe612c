// @ts-check
// Bailey with box(), for pages without Go. The types are in agent.d.mts. The module itself touches no page, so that a server may
// import it.
import { assets } from './agent-assets.mjs';
import { asking } from './consent.mjs';
import { start, guarded, unguarded } from './program.mjs';
import { begin, fileOf, messageOf, starters } from './session.mjs';

export { BaileyConsentElement } from './consent.mjs';
export { transport } from './transport.mjs';

/** @type {typeof import('./agent.d.mts').load} */
export const load = async (options = {}) => {
  const program = await start(assets(), options);
  return { ...program, box: async (options) => boxOf(await program.box(own(options))) };
};

/** Returns the options of a box with the program's own objects in them. @param {any} options */
const own = (options) => {
  if (!options || typeof options !== 'object') return options;
  const { tools, ...rest } = options;
  if ('folder' in rest) rest.folder = unguarded(rest.folder);
  if ('ask' in rest) rest.ask = asking(rest.ask);
  if (tools === undefined) return rest;
  return { ...rest, tools: tools && typeof tools === 'object' ? Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, toolOf(tool)])) : tools };
};

/** Returns a tool whose run gets objects with checks in their methods. @param {any} tool */
const toolOf = (tool) => {
  if (typeof tool?.run !== 'function') return tool;
  return { ...tool, run: (/** @type {unknown} */ args, /** @type {any} */ call) => {
    const { addFile, ...rest } = guarded(call);
    return tool.run(args, { ...rest, addFile: async (/** @type {any} */ file) => addFile(await fileOf(file)) });
  } };
};

/** @param {any} box @returns {import('./agent.d.mts').Box} */
const boxOf = (box) => ({
  ...box,
  session: async (id) => sessionOf(await box.session(id)),
  importSession: async (text) => sessionOf(await box.importSession(text)),
});

/** @param {any} session @returns {import('./agent.d.mts').Session} */
const sessionOf = (session) => {
  /** @type {import('./agent.d.mts').Session} */
  const outer = {
    ...session,
    async *send(message, options) {
      const answer = await begin(outer, message, options);
      try {
        for (let list = await answer.next(); list; list = await answer.next()) yield* list;
      } finally {
        await answer.end().catch(() => {}); // the session may have been closed
      }
    },
    steer: async (message) => session.steer(await messageOf(message)),
    fork: async (message) => sessionOf(await session.fork(message)),
  };
  starters.set(outer, session.send);
  return outer;
};
