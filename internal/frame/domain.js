// @ts-check
// The outer frame of a trust domain contains the policy. It makes and removes inner
// frames. It passes the ports of each inner frame to the host, and the programs for its
// workers from the host to each. It runs only this script, so it always answers a
// ping.
(() => {
  'use strict';
  const channel = new MessageChannel(), host = channel.port1;
  /** A copy of the page's first inner frame, from which later ones are made. @type {HTMLIFrameElement | null} */
  let model = null;
  /** The programs for every inner frame. @type {any} */
  let programs;
  /** Inner frames that were ready before the programs arrived. @type {Window[]} */
  const early = [];
  const give = (/** @type {Window} */ to) => (programs ? to.postMessage(programs, '*') : early.push(to));
  /** @type {(id: string) => HTMLIFrameElement | null} */
  const find = (id) => document.querySelector('iframe[data-id="' + id + '"]');
  const first = () => {
    const f = find('1');
    if (f && !model) model = /** @type {HTMLIFrameElement} */ (f.cloneNode(false));
  };
  // Only a message from the window of an inner frame is accepted, and only once. Its
  // script posts the hello before any other code could run in it.
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
  // A page from a server has a digest, which identifies its version and options.
  const digest = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name=bailey]'))?.content ?? '';
  parent.postMessage('bailey-domain\x1f' + digest, '*', [channel.port2]);
})();
