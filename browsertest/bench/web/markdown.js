// @ts-check
// Markdown in, DOM out: ours in Go, the peers, and the browser alone.
'use strict';

const out = /** @type {HTMLElement} */ (document.getElementById('out'));
const { marked, DOMPurify, Go } = /** @type {any} */ (globalThis);

/**
 * The functions that the Go program under test puts on the page.
 * @typedef {{
 *   render(text: string): string,
 *   open(set: (key: number, html: string) => void, drop: (key: number) => void): void,
 *   write(chunk: string): void,
 *   paint(): void,
 *   close(): void,
 * }} Ours
 */
/** @type {Ours} */
let ours;
/** @type {{text: string, chunks: string[], html: string, longChunks: string[], blocks: string[]}} */
let given;

/** Renders as the peers do by default: GFM, then DOMPurify with its defaults. */
const theirs = (/** @type {string} */ text) => DOMPurify.sanitize(marked.parse(text));

/**
 * Returns n pieces of text, the same on every run and machine. Their sizes vary as a
 * model's do, and no character is cut.
 * @param {string} text @param {number} n
 */
function split(text, n) {
  const points = [...text];
  const mean = points.length / n;
  const chunks = [];
  let seed = 1;
  let at = 0;
  for (let i = 0; i < n; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    const want = (i + 1) * mean + ((seed / 2147483648) - 0.5) * mean;
    const end = i === n - 1 ? points.length : Math.max(at + 1, Math.min(points.length, Math.round(want)));
    chunks.push(points.slice(at, end).join(''));
    at = end;
  }
  if (chunks.join('') !== text) throw new Error('the chunks do not make up the text');
  return chunks;
}

/** @param {string} text @param {string} longText @param {number} n */
const prepare = async (text, longText, n) => {
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch('/built/bench.wasm'), go.importObject);
  const ready = new Promise((done) => { /** @type {any} */ (globalThis).baileyReady = done; });
  go.run(instance);
  ours = await ready;
  const html = ours.render(text);
  const chunks = split(text, n);
  given = { text, chunks, html, longChunks: split(longText, n * 10), blocks: [] };
  const peers = theirs(text);
  // A contender that renders nothing would be the quickest.
  for (const [who, got] of [['ours', html], ['the peer', peers]]) {
    for (const tag of ['<h2', '<table', '<pre', '<code', '<li', '<blockquote', '<details']) {
      if (!got.includes(tag)) throw new Error(`${who} rendered no ${tag}>`);
    }
  }
  streamOurs(chunks, 5);
  const words = () => out.innerText.replace(/\s+/g, ' ').trim();
  const streamed = words();
  out.innerHTML = html;
  const whole = words();
  if (whole !== streamed) {
    let i = 0;
    while (whole[i] === streamed[i]) i++;
    throw new Error(`ours, streamed, reads differently from one shot: ${streamed.slice(Math.max(0, i - 20), i + 60)} | ${whole.slice(Math.max(0, i - 20), i + 60)}`);
  }
  given.blocks = [...out.children].map((el) => el.outerHTML);
  streamPeer(chunks, 5);
  const peerText = out.innerText.replace(/\s+/g, ' ').length;
  if (peerText < streamed.length * 0.9) throw new Error('the peer, streamed, lost text');
};

const oneshot = (/** @type {number} */ rounds) => turns({
  ours: () => insert(() => ours.render(given.text)),
  peer: () => insert(() => theirs(given.text)),
  floor: () => insert(() => given.html),
}, rounds, 20);

/** @param {() => string} make */
function insert(make) {
  out.textContent = '';
  const start = performance.now();
  out.innerHTML = make();
  return performance.now() - start;
}

/**
 * Ours: the stream returns which blocks to set and which to drop.
 * @param {string[]} chunks @param {number} each chunks between two paints
 */
function streamOurs(chunks, each) {
  out.textContent = '';
  /** @type {Map<number, HTMLElement>} */
  const blocks = new Map();
  const t = timer();
  ours.open((key, html) => {
    let el = blocks.get(key);
    if (!el) {
      el = document.createElement('div');
      blocks.set(key, el);
      out.append(el);
    }
    el.innerHTML = html;
  }, (key) => {
    blocks.get(key)?.remove();
    blocks.delete(key);
  });
  chunks.forEach((chunk, i) => {
    ours.write(chunk);
    if ((i + 1) % each === 0) {
      ours.paint();
      t.lap();
    }
  });
  ours.close();
  ours.paint();
  t.lap();
  return t.total('ours');
}

/**
 * The peers' best way: a block that the lexer has finished is rendered, sanitised and
 * inserted once. Only the last block is made again. (It gets late references and notes
 * wrong, unlike ours, and is timed with that fault.)
 * @param {string[]} chunks @param {number} each
 */
function streamPeer(chunks, each) {
  out.textContent = '';
  const open = document.createElement('div');
  out.append(open);
  let tail = '';
  const t = timer();
  const paint = () => {
    const tokens = marked.lexer(tail);
    let last = tokens.length - 1;
    while (last > 0 && tokens[last].type === 'space') last--;
    for (let i = 0; i < last; i++) {
      tail = tail.slice(tokens[i].raw.length);
      if (tokens[i].type === 'space') continue;
      const div = document.createElement('div');
      div.innerHTML = DOMPurify.sanitize(marked.parser([tokens[i]]));
      open.before(div);
    }
    open.innerHTML = theirs(tail);
  };
  chunks.forEach((chunk, i) => {
    tail += chunk;
    if ((i + 1) % each === 0) {
      paint();
      t.lap();
    }
  });
  paint();
  t.lap();
  return t.total('peer');
}

/** The least that must be done: each block's HTML is inserted into the page. */
function streamFloor() {
  out.textContent = '';
  const t = timer();
  for (const html of given.blocks) {
    const div = document.createElement('div');
    div.innerHTML = html;
    out.append(div);
  }
  t.lap();
  return t.total('floor');
}

/** @param {string[]} chunks */
function streamNaive(chunks) {
  out.textContent = '';
  let text = '';
  const t = timer();
  for (const chunk of chunks) {
    text += chunk;
    out.innerHTML = theirs(text);
    t.lap();
  }
  return t.total('peer');
}

function timer() {
  const start = performance.now();
  let last = start;
  let worst = 0;
  return {
    lap() {
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
    },
    /** @param {string} who */
    total: (who) => ({ [who]: last - start, [who + ' worst']: worst }),
  };
}

const stream = (/** @type {number} */ rounds, /** @type {number} */ each) => turns({
  ours: () => streamOurs(given.chunks, each),
  peer: () => streamPeer(given.chunks, each),
  floor: streamFloor,
}, rounds);

const naive = (/** @type {number} */ rounds) => turns({
  ours: () => streamOurs(given.chunks, 1),
  peer: () => streamNaive(given.chunks),
}, rounds, 0);

/** @param {number} rounds @param {number} each */
const linear = (rounds, each) => {
  const as = (/** @type {string} */ name, /** @type {Record<string, number>} */ got) => ({ [name]: Object.values(got)[0] });
  return turns({
    short: () => as('ours 20k', streamOurs(given.chunks, each)),
    long: () => as('ours 200k', streamOurs(given.longChunks, each)),
    peer: () => as('peer 200k', streamPeer(given.longChunks, each)),
  }, rounds, 1);
};

Object.assign(globalThis, { prepare, oneshot, stream, naive, linear });
