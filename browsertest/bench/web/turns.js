// @ts-check
'use strict';

/**
 * Runs contenders in turns, and returns the times that they return. The order rotates
 * from round to round, so that none always comes after the same other. Garbage is
 * collected between turns, so that none spends time on another's.
 *
 * A contender does its own untimed set-up, and returns milliseconds, or several
 * named figures.
 * @param {Record<string, () => number | Record<string, number> | Promise<number | Record<string, number>>>} contenders
 * @param {number} rounds
 * @param {number} [warmups]
 * @returns {Promise<Record<string, number[]>>}
 */
async function turns(contenders, rounds, warmups = 2) {
  /** @type {Record<string, number[]>} */
  const samples = {};
  const names = Object.keys(contenders);
  for (let round = -warmups; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round + warmups) % names.length];
      /** @type {any} */ (globalThis).gc?.();
      await new Promise((done) => setTimeout(done, 0));
      const took = await contenders[name]();
      if (round < 0) continue;
      const figures = typeof took === 'number' ? { [name]: took } : took;
      for (const [figure, value] of Object.entries(figures)) (samples[figure] ??= []).push(value);
    }
  }
  return samples;
}
