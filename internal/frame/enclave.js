// @ts-check
// The inner frame of a script enclave. It only spawns and kills: its thread is
// shared with every sandboxed frame of the site in Chromium, and is the host's own
// in Firefox, so nothing that could be flooded runs here.
(() => {
  'use strict';
  const channel = new MessageChannel(), host = channel.port1;
  const text = (/** @type {string} */ id) => document.getElementById(id)?.textContent ?? '';
  const policyName = document.getElementById('broker')?.dataset.policy ?? '';
  /** @type {Worker | undefined} */
  let broker;
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
    };
    broker.postMessage({ runtime: new Blob([text('runtime')]), policyName });
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
