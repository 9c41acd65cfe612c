// @ts-check
// The inner frame of a script enclave. It only spawns and kills: its thread is
// shared with every sandboxed frame of the site in Chromium, and is the host's own
// in Firefox, so nothing that could be flooded runs here.
(() => {
  'use strict';
  const channel = new MessageChannel(), host = channel.port1;
  const text = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? '';
  const { policy: policyName = '', config = '', warm } = document.getElementById('broker')?.dataset ?? {};
  /** @type {Worker | undefined} */
  let broker;
  /** The frame in which a DOM enclave's code runs; a new one for each run. @type {HTMLIFrameElement | undefined} */
  let realm;
  const show = (/** @type {string[]} */ program, /** @type {MessagePort} */ port) => {
    const model = /** @type {HTMLTemplateElement} */ (document.getElementById('realm')).content.firstElementChild;
    const f = /** @type {HTMLIFrameElement} */ (/** @type {Element} */ (model).cloneNode(false));
    f.style.cssText = 'position:fixed;inset:0;width:100%;height:100%;border:0';
    f.onload = () => (f.onload = null, f.contentWindow?.postMessage({ program, policyName }, '*', [port]));
    document.body.append((realm = f));
  };
  const lost = (/** @type {string} */ why) => host.postMessage('lost\x1f' + String(why).slice(0, 500));
  const spawn = () => {
    const types = /** @type {any} */ (globalThis).trustedTypes;
    const policy = types?.createPolicy(policyName, { createScriptURL: (/** @type {string} */ s) => s });
    const url = URL.createObjectURL(new Blob([text('broker')], { type: 'text/javascript' }));
    broker = new Worker(policy ? policy.createScriptURL(url) : url);
    // An error without a message is a worker that the policy kept from starting.
    broker.onerror = (e) => (e.preventDefault(), lost(e.message || 'blocked'));
    broker.onmessage = (e) => {
      if (e.data === 'up') URL.revokeObjectURL(url);
      if (e.data.word) realm?.remove();
      if (e.data.word === 'show') show(e.data.program, e.ports[0]);
    };
    const dom = !!document.getElementById('realm');
    broker.postMessage({ runtime: dom ? text('runtime') : new Blob([text('runtime')]), policyName, config, dom, warm: !!warm });
  };
  host.onmessage = (e) => {
    const [word, gen] = String(e.data).split('\x1f');
    if (word === 'kill') broker?.terminate();
    if (word === 'run') broker?.postMessage({ gen: +gen }, [e.ports[0]]);
  };
  // The broker is started at once: it is up when the host asks for the first run.
  try {
    spawn();
  } catch (e) {
    lost('blocked: ' + e);
  }
  parent.postMessage('bailey-enclave', '*', [channel.port2]);
})();
