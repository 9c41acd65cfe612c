// @ts-check
// Messages and answers of sessions, for agent.mjs and transport.mjs.

/** @typedef {import('./agent.d.mts').Session} Session */
/** @typedef {import('./agent.d.mts').Chunk} Chunk */
/** @typedef {{ message: string, next: () => Promise<Chunk[] | null>, end: () => Promise<void> }} Answer */

/** The program's functions that begin an answer. @type {WeakMap<Session, (message: unknown, options: unknown) => Promise<Answer>>} */
export const starters = new WeakMap();

/**
 * Stores a message, and begins the answer to it.
 * @param {Session} session @param {any} message @param {any} options
 * @returns {Promise<Answer>}
 */
export const begin = async (session, message, options) => {
  const start = starters.get(session);
  if (!start) throw new TypeError('this is no session of box.session()');
  return start(await messageOf(message), options);
};

/** Returns a message in the program's form: a text, or a text and files. A UIMessage of AI SDK is one, too. @param {any} message */
export const messageOf = async (message) => {
  if (!message || typeof message !== 'object') return message;
  if (!Array.isArray(message.parts)) return { ...message, ...(message.files && { files: await Promise.all([...message.files].map(fileOf)) }) };
  /** @type {any[]} */
  const parts = message.parts;
  return {
    text: parts.filter((p) => p?.type === 'text').map((p) => p.text).join('\n'),
    files: await Promise.all(parts.filter((p) => p?.type === 'file').map(fileOf)),
  };
};

/**
 * Returns a file in the program's form. It may be a File or a Blob, have its bytes as data, or a data: or blob: URL as a FileUIPart
 * of AI SDK has.
 * @param {any} file
 */
export const fileOf = async (file) => {
  if (file instanceof Blob) return { name: 'name' in file ? String(file.name) : undefined, mediaType: bare(file.type), data: await bytes(file) };
  if (!file || typeof file !== 'object' || typeof file.url !== 'string') return file?.data instanceof Blob ? { ...file, data: await bytes(file.data) } : file;
  const named = { name: file.filename ?? file.name, mediaType: bare(file.mediaType) };
  if (file.url.startsWith('blob:')) return { ...named, data: await bytes(await (await fetch(file.url)).blob()) };
  const [, type, base64, text] = /^data:([^,]*?)(;base64)?,(.*)$/s.exec(file.url) ?? [];
  if (text === undefined) throw new TypeError('a file must have a data: or a blob: URL. The program loads no other address.');
  // Not by fetch(), which the page's policy may not let load a data: URL.
  const decoded = base64 ? atob(text.replace(/%[0-9a-f]{2}/gi, decodeURIComponent)) : unescaped(text);
  return { ...named, mediaType: named.mediaType ?? bare(type), data: Uint8Array.from(decoded, (c) => c.charCodeAt(0)) };
};

/** Returns the bytes of a percent-encoded text, a character each. @param {string} text */
const unescaped = (text) => [...new TextEncoder().encode(text)].map((b) => String.fromCharCode(b)).join('').replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));

/** Returns a media type without parameters, or undefined for none. @param {string | undefined} type */
const bare = (type) => type?.split(';')[0].trim().toLowerCase() || undefined;

/** @param {Blob} blob */
const bytes = async (blob) => new Uint8Array(await blob.arrayBuffer());
