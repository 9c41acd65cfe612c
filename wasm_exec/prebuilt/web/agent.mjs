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
  const { wasi, ...program } = await start(assets(), options);
  return {
    ...program,
    box: async (options) => boxOf(await program.box(own(options))),
    wasi: { run: async (from, { integrity, ...options } = {}) => wasi(await programOf(from, { integrity, signal: options.signal }), 'files' in options ? { ...options, files: unguarded(options.files) } : options) },
  };
};

/** Returns the bytes of a file of the page. @param {string | URL} url @param {RequestInit} [init] */
const fetched = async (url, init) => {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${url} could not be fetched: ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
};

/** Returns the bytes of a program. @param {any} from @param {RequestInit} init @returns {Promise<unknown>} */
const programOf = async (from, init) => {
  if (typeof from === 'string' || from instanceof URL) return fetched(from, init);
  if (init.integrity) throw new TypeError('wasi.run(program, options): integrity is for an address; the bytes are yours');
  return from instanceof ArrayBuffer ? new Uint8Array(from) : from instanceof Blob ? new Uint8Array(await from.arrayBuffer()) : from;
};

/** Returns the option commands in the form that the program takes: it asks for the catalogue by "", and for the files beside it by name. @param {any} at */
const commandsOf = (at) => {
  if (typeof at !== 'string' && !(at instanceof URL)) return at;
  const url = new URL(at, document.baseURI);
  return { fetch: (/** @type {string} */ name, /** @type {AbortSignal} */ signal) => fetched(name ? new URL(name, url) : url, { signal }) };
};

/** Returns the options of a box with the program's own objects in them. @param {any} options */
const own = (options) => {
  if (!options || typeof options !== 'object') return options;
  const { tools, ...rest } = options;
  if ('folder' in rest) rest.folder = unguarded(rest.folder);
  if ('ask' in rest) rest.ask = asking(rest.ask);
  if (Array.isArray(rest.skills)) rest.skills = rest.skills.map((/** @type {any} */ s) => s && typeof s === 'object' && 'folder' in s ? { ...s, folder: unguarded(s.folder) } : unguarded(s));
  if ('commands' in rest) rest.commands = commandsOf(rest.commands);
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
  plan: async () => planOf(await box.plan()),
});

/** @param {any} plan @returns {import('./agent.d.mts').Plan} */
const planOf = (plan) => ({ ...plan, box: boxOf(plan.box) });

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
