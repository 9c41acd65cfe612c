// @ts-check
// The outer frame of a trust domain: it holds the policy, makes inner frames and
// removes them, hands the ports of each to the host, and to each what the host gave
// for it: the programs of its workers. It runs nobody's code but this, so it always
// answers a ping.
(() => {
  'use strict';
  const channel = new MessageChannel(), host = channel.port1;
  /** The one the page was made with; later ones are copies of it. @type {HTMLIFrameElement | null} */
  let model = null;
  /** What every inner frame gets. @type {any} */
  let programs;
  /** Inner frames that came before it. @type {Window[]} */
  const early = [];
  const give = (/** @type {Window} */ to) => (programs ? to.postMessage(programs, '*') : early.push(to));
  /** @type {(id: string) => HTMLIFrameElement | null} */
  const find = (id) => document.querySelector('iframe[data-id="' + id + '"]');
  const first = () => {
    const f = find('1');
    if (f && !model) model = /** @type {HTMLIFrameElement} */ (f.cloneNode(false));
  };
  // Only the window of a frame that stands here is believed, and once: its script
  // says hello before anything else could run in it.
  addEventListener('message', (e) => {
    if (e.data !== 'bailey-enclave' || e.ports.length !== 2) return;
    first();
    for (const f of document.querySelectorAll('iframe')) {
      if (f.contentWindow !== e.source || f.dataset.heard) continue;
      f.dataset.heard = '1';
      if (f.dataset.shows) f.style.cssText = 'position:fixed;inset:0;width:100%;height:100%;border:0';
      give(/** @type {Window} */ (f.contentWindow));
      host.postMessage('inner\x1f' + f.dataset.id, [...e.ports]);
    }
  });
  host.onmessage = (e) => {
    if (typeof e.data === 'object') {
      programs = e.data;
      early.splice(0).forEach(give);
      return;
    }
    const [word, id] = String(e.data).split('\x1f');
    first();
    if (word === 'ping') host.postMessage('pong\x1f' + id);
    if (word === 'remove') find(id)?.remove();
    if (word === 'add' && model && !find(id)) {
      const f = /** @type {HTMLIFrameElement} */ (model.cloneNode(false));
      f.dataset.id = id;
      document.body.append(f);
    }
  };
  // A page that a server sent says which one it is.
  const digest = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name=bailey]'))?.content ?? '';
  parent.postMessage('bailey-domain\x1f' + digest, '*', [channel.port2]);
})();
