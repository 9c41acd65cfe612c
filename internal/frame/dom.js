// @ts-check
// The frame of a DOM enclave in which the untrusted code itself runs. It waits for a
// script and a port from its parent, once, and runs the script. It reports only the
// browser's errors about the script. The runtime in the script takes over the port
// before the code runs.
(() => {
  'use strict';
  const G = /** @type {any} */ (globalThis), around = parent;
  // Other frames can post here too. Only the parent is accepted, and only once.
  const heard = (/** @type {MessageEvent} */ e) => {
    if (e.source !== around || !Array.isArray(e.data?.program) || e.ports.length !== 1) return;
    removeEventListener('message', heard, true);
    e.stopImmediatePropagation();
    const port = e.ports[0], { postMessage } = MessagePort.prototype, { apply } = Reflect;
    const say = (/** @type {string} */ s) => apply(postMessage, port, ['failed\x1f' + s.slice(0, 1000)]);
    addEventListener('error', (e) => e.isTrusted && (e.preventDefault(), say((+e.lineno || 0) + '\x1f' + e.message)));
    const { revokeObjectURL } = URL, script = document.createElement('script'), url = URL.createObjectURL(new Blob(e.data.program, { type: 'text/javascript' }));
    const policy = G.trustedTypes?.createPolicy(e.data.policyName, { createScriptURL: (/** @type {string} */ s) => s });
    script.onload = () => revokeObjectURL(url);
    script.onerror = () => say('0\x1fblocked');
    Object.defineProperty(G, 'baileyPort', { value: port, configurable: true });
    script.src = policy ? policy.createScriptURL(url) : url;
    document.head.append(script);
    script.remove();
  };
  addEventListener('message', heard, true);
})();
