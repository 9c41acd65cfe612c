"use strict";
// The page's side of its service worker. It registers the worker, and sends the page an event when
// another build has been stored.

/** @type {{version: string, worker: string}} */
const build = /** @type {any} */ (globalThis).baileyBuild;

/** @typedef {{createPolicy(name: string, rules: object): {createScriptURL(url: string): string}}} Types */

async function watch() {
  const registry = navigator.serviceWorker;
  // @ts-ignore build imports this file as a module
  const address = new URL(build.worker, import.meta.url).href;
  let told = false;
  registry.addEventListener("message", ({ data }) => {
    if (told || data?.type !== "bailey-version" || data.version === build.version) return;
    told = true;
    dispatchEvent(new CustomEvent("bailey-update", { detail: { version: data.version } }));
  });
  registry.startMessages();
  const types = /** @type {{trustedTypes?: Types}} */ (/** @type {unknown} */ (globalThis)).trustedTypes;
  const policy = types?.createPolicy("bailey", {
    /** @param {string} url */
    createScriptURL(url) {
      if (url !== address) throw new TypeError("only the service worker of the build");
      return url;
    },
  });
  const registration = await registry.register(policy ? policy.createScriptURL(address) : address, { updateViaCache: "none" });
  const check = async () => {
    await registration.update().catch(() => undefined); // without a network no newer build can be found
    registration.active?.postMessage({ type: "bailey-version" });
  };
  addEventListener("online", check);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && check());
  setInterval(check, 3_600_000);
  (await registry.ready).active?.postMessage({ type: "bailey-version" });
}

// Without a secure context, or if the user blocks site data, the page works only with a network.
if (navigator.serviceWorker) watch().catch((e) => console.info(`bailey: no copy for the time without a network: ${e}`));
