// @ts-check
// A transport for useChat and Chat of AI SDK (npm package ai). The types are in agent.d.mts.
import { begin, starters } from './session.mjs';

/** @typedef {import('./agent.d.mts').Box} Box */
/** @typedef {import('./agent.d.mts').Session} Session */
/** @typedef {import('./agent.d.mts').Chunk} Chunk */

/** One run of a chat. Its chunks are kept until it ends, so that a stream can begin again. */
class Run {
  /** @type {Chunk[]} */
  chunks = [];
  done = false;
  /** The page has aborted it. */
  aborted = false;
  /** @type {unknown} */
  error;
  /** @type {Promise<void>} */
  #more;
  #wake = () => {};

  /** @param {import('./session.mjs').Answer} answer */
  constructor(answer) {
    this.#more = this.#next();
    this.ended = this.#read(answer);
  }

  /** @param {import('./session.mjs').Answer} answer */
  async #read(answer) {
    try {
      for (let list = await answer.next(); list; list = await answer.next()) {
        this.chunks.push(...list);
        this.#wake();
      }
    } catch (error) {
      if (this.chunks.at(-1)?.type !== 'error') this.error = error; // else the chunk has told it
    }
    await answer.end().catch(() => {}); // the session may have been closed
    this.done = true;
    this.#wake();
  }

  /** @returns {Promise<void>} */
  #next() {
    return new Promise((resolve) => { this.#wake = () => { this.#more = this.#next(); resolve(); }; });
  }

  /** @param {AbortSignal} [signal] ends the stream and not the run @returns {ReadableStream<any>} */
  stream(signal) {
    let at = 0;
    return new ReadableStream({
      start: (controller) => signal?.addEventListener('abort', () => { try { controller.error(signal.reason); } catch { /* it has ended */ } }, { once: true }),
      pull: async (controller) => {
        while (at === this.chunks.length && !this.done) await this.#more;
        if (at < this.chunks.length) controller.enqueue(this.chunks[at++]);
        else if (this.error) controller.error(this.error);
        else controller.close();
      },
    });
  }
}

/** One conversation: a chat of the page, and its session. */
class Chat {
  /** @type {Run | undefined} */
  run;
  /** The session's ids of messages of the user that this page has sent, by those of the page. @type {Map<string, string>} */
  #ids = new Map();

  /** @param {Session} session @param {{ version?: 6 | 7, rewindFiles?: boolean, send?: object }} options */
  constructor(session, options) {
    this.session = session;
    this.options = options;
  }

  /** Returns the session's id of a message of the page. @param {string} id */
  async #stored(id) {
    return this.#ids.get(id) ?? (await this.session.messages()).find((m) => m.id === id)?.id;
  }

  /** @param {{ messages: any[], trigger: string, messageId?: string, abortSignal?: AbortSignal }} request */
  async send({ messages, trigger, messageId, abortSignal }) {
    const message = messages.at(-1);
    if (message?.role !== 'user') throw new Error('transport: the last message is not of the user. Questions are answered by the option ask of the box, so useChat has nothing to send after one: leave out sendAutomaticallyWhen.');
    if (this.run?.aborted) await this.run.ended; // stop() does not wait for it
    if (trigger === 'regenerate-message' || messageId) {
      const id = await this.#stored(message.id); // undefined if the session has refused the message
      if (id) await this.session.rewind(id, { files: this.options.rewindFiles ?? false });
    }
    const answer = await begin(this.session, message, { ...this.options.send, version: this.options.version ?? 7, signal: abortSignal });
    this.#ids.set(message.id, answer.message);
    const run = this.run = new Run(answer);
    abortSignal?.addEventListener('abort', () => { run.aborted = true; }, { once: true });
    run.ended.then(() => { if (this.run === run) this.run = undefined; });
    return run.stream();
  }
}

/** @type {typeof import('./agent.d.mts').transport} */
export const transport = (target, options = {}) => {
  /** @type {Map<string, Promise<Chat>>} */
  const chats = new Map();
  /** @param {string} id */
  const open = async (id) => {
    if (starters.has(/** @type {Session} */ (target))) return /** @type {Session} */ (target);
    const box = /** @type {Box} */ (target);
    const stored = (await box.sessions()).some((s) => s.id === id);
    return box.session(stored ? id : undefined);
  };
  /** @param {string} id */
  const chatOf = (id) => {
    let chat = chats.get(id);
    if (!chat) {
      chat = open(id).then((session) => new Chat(session, options));
      chats.set(id, chat);
      chat.catch(() => chats.delete(id)); // the next message tries again
    }
    return chat;
  };
  return {
    resumeStreamIsReplay: true,
    sendMessages: async (request) => (await chatOf(request.chatId)).send(request),
    reconnectToStream: async ({ chatId, abortSignal }) => {
      const chat = await chats.get(chatId);
      return chat?.run?.stream(abortSignal) ?? null;
    },
    session: async (chatId) => (await chatOf(chatId)).session,
  };
};
