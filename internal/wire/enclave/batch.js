// @ts-check
// The functions for batches that both ends of a broker need, see messages.js.
const baileyBatch = (() => {
  'use strict';
  const { isInteger, exec, has, REFUSED, bad, fits } = baileyBuiltins;
  const VERSION = 1, MAX_ID = 2147483647, NAME = /^[a-zA-Z][a-zA-Z0-9:_-]{0,255}$/;
  /** Returns a batch of messages that are already text, separated by commas. A broker forwards the
   * messages that it has checked with it.
   * @param {number} gen @param {string} msgs @param {Caps} caps */
  const joinBatch = (gen, msgs, caps) => {
    if (!isInteger(gen) || gen < 1 || gen > MAX_ID) throw bad('the generation must be a whole number from 1');
    const s = '{"v":' + VERSION + ',"gen":' + gen + ',"msgs":[' + msgs + ']}';
    fits(s, caps.bytes);
    return s;
  };
  /** @type {(name: string) => boolean} */
  const isToolName = (name) => exec(NAME, name) !== null && !has(REFUSED, name);
  return { VERSION, MAX_ID, NAME, joinBatch, isToolName };
})();
