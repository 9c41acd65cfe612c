// @ts-check
// The inner frame of an enclave. It only starts and kills workers. In Chromium it
// shares its thread with every sandboxed frame of the site, and in Firefox with the
// host. So nothing that could be flooded runs here.
(() => {
  'use strict';
  const channel = new MessageChannel(), host = channel.port1, data = new MessageChannel(), around = parent;
  let policyName = '';
  /** @type {Worker | undefined} */
  let broker;
  /** The frame in which a DOM enclave's code runs, a new one for each run. @type {HTMLIFrameElement | undefined} */
  let realm;
  const show = (/** @type {string[]} */ program, /** @type {MessagePort} */ port) => {
    const model = /** @type {HTMLTemplateElement} */ (document.getElementById('realm')).content.firstElementChild;
    const f = /** @type {HTMLIFrameElement} */ (/** @type {Element} */ (model).cloneNode(false));
    f.style.cssText = 'position:fixed;inset:0;width:100%;height:100%;border:0';
    f.onload = () => (f.onload = null, f.contentWindow?.postMessage({ program, policyName }, '*', [port]));
    document.body.append((realm = f));
  };
  const lost = (/** @type {string} */ why) => host.postMessage('lost\x1f' + String(why).slice(0, 500));
  /** @param {{broker: Blob, policyName: string}} programs */
  const spawn = (programs) => {
    policyName = programs.policyName;
    const types = /** @type {any} */ (globalThis).trustedTypes;
    const policy = types?.createPolicy(policyName, { createScriptURL: (/** @type {string} */ s) => s });
    const url = URL.createObjectURL(programs.broker);
    broker = new Worker(policy ? policy.createScriptURL(url) : url);
    // An error without a message means that the policy blocked the worker.
    broker.onerror = (e) => (e.preventDefault(), lost(e.message || 'blocked'));
    broker.onmessage = (e) => {
      if (e.data === 'up') URL.revokeObjectURL(url);
      if (e.data.word) realm?.remove();
      if (e.data.word === 'show') show(e.data.program, e.ports[0]);
    };
    broker.postMessage({ ...programs, broker: null }, [data.port1]);
  };
  host.onmessage = (e) => {
    const word = String(e.data).split('\x1f')[0];
    if (word === 'kill') broker?.terminate();
    if (word === 'run') broker?.postMessage({}, [e.ports[0]]);
  };
  // Other frames can post here too. Only the parent is accepted, and only once.
  addEventListener('message', function heard(e) {
    if (e.source !== around || !e.data?.broker) return;
    removeEventListener('message', heard);
    try {
      spawn(e.data);
    } catch (err) {
      lost('blocked: ' + err);
    }
  });
  around.postMessage('bailey-enclave', '*', [channel.port2, data.port2]);
})();
