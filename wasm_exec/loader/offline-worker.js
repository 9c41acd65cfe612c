"use strict";
// A page without a network: the service worker that build writes in front of which it puts
// what the page consists of.

/**
 * @typedef {{version: string, files: Record<string, string>, keep: string[]}} OfflineBuild
 * @typedef {Event & {waitUntil(p: Promise<unknown>): void}} LifeEvent
 * @typedef {LifeEvent & {addRoutes?(rules: object): Promise<void>}} InstallEvent
 * @typedef {LifeEvent & {request: Request, respondWith(p: Promise<Response>): void}} AskEvent
 * @typedef {{postMessage(v: unknown): void}} Teller
 * @typedef {EventTarget & {skipWaiting(): Promise<void>, registration: {scope: string},
 *   clients: {claim(): Promise<void>, matchAll(o: {type: string}): Promise<Teller[]>}}} WorkerScope
 */

/** @type {OfflineBuild} */
const build = /** @type {any} */ (globalThis).baileyBuild;
const worker = /** @type {WorkerScope} */ (/** @type {unknown} */ (globalThis));
const base = new URL("./", location.href);
const prefix = "bailey-offline " + worker.registration.scope + " ";
// Copies of this build's files, and of what was used and may be kept of any build.
const own = prefix + build.version, kept = prefix + "kept";

/** Addresses of the build's files, with the hashes of their content. */
const listed = new Map(Object.entries(build.files).map(([path, hash]) => [new URL(path, base).href, hash]));

/** A name that its content gives: whatever has it is right for ever. @param {string} address */
const lasting = (address) => /\.[0-9a-f]{16}\.(wasm|js)$/.test(address);

/** @param {string} address */
const keeps = (address) => build.keep.some((path) => (path.endsWith("/") ? address.startsWith(new URL(path, base).href) : address === new URL(path, base).href));

/** The address that a request's copy has. @param {Request} request */
function addressOf(request) {
  const url = new URL(request.url);
  url.hash = "";
  if (request.mode === "navigate") url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  return url.href;
}

// All or nothing, and each file with the hash that the build gave it: a deployment under way
// leaves the copies of before.
async function install() {
  const cache = await caches.open(own);
  await Promise.all([...listed].map(async ([address, integrity]) => {
    const answer = await fetch(address, { cache: lasting(address) ? "default" : "no-store", integrity, redirect: "error" });
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    await cache.put(address, answer);
  }));
  // What is kept besides has no hash that is known; where it is missing, it is missing online too.
  const more = await caches.open(kept);
  for (const path of build.keep.filter((k) => !k.endsWith("/"))) {
    const answer = await fetch(new URL(path, base), { cache: "no-store", redirect: "error" });
    if (answer.ok) await more.put(new URL(path, base).href, answer);
  }
  await worker.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(prefix) && name !== own && name !== kept) await caches.delete(name);
  }
  await worker.clients.claim();
  for (const client of await worker.clients.matchAll({ type: "window" })) tell(client);
}

/** Which build is stored here: a page of another one knows that it is old. @param {Teller} client */
const tell = (client) => client.postMessage({ type: "bailey-version", version: build.version });

/** @param {string} address */
const copy = async (address) =>
  (await (await caches.open(own)).match(address)) || (keeps(address) ? (await caches.open(kept)).match(address) : undefined);

// The network first, so that a policy that changed holds from the next load on. The browser's own
// cache is passed by for documents: some servers' 304 would leave an old policy in it.
/** @param {AskEvent} event @param {string} address */
async function answer(event, address) {
  const { request } = event;
  if (lasting(address)) {
    const stored = await copy(address);
    if (stored) return stored;
  }
  let fresh;
  try {
    fresh = await (request.mode === "navigate" ? fetch(request, { cache: "no-store" }) : fetch(request));
  } catch (e) {
    const stored = await copy(address);
    if (stored) return stored;
    throw e;
  }
  if (fresh.status === 200 && fresh.type === "basic" && !fresh.redirected && !/no-store/.test(fresh.headers.get("Cache-Control") || "")) {
    event.waitUntil(renew(address, fresh.clone()).catch(() => undefined)); // a full disk is no failure of the page's
  }
  return fresh;
}

// The copy of a file has the headers that came last. Of another build's file there is none here:
// that build's worker stores it with all it belongs to.
/** @param {string} address @param {Response} fresh */
async function renew(address, fresh) {
  const hash = listed.get(address);
  if (!hash) return (await caches.open(kept)).put(address, fresh);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", await fresh.clone().arrayBuffer()));
  if (hash === "sha256-" + btoa(String.fromCharCode(...sum))) await (await caches.open(own)).put(address, fresh);
}

worker.addEventListener("install", (e) => {
  const event = /** @type {InstallEvent} */ (e);
  // What is sent is not answered here, and past this worker it is not copied into it: Chromium
  // frees such copies no sooner than it collects the worker's little garbage.
  const past = event.addRoutes?.({ condition: { not: { requestMethod: "GET" } }, source: "network" });
  event.waitUntil(Promise.all([install(), past?.catch(() => undefined)])); // an older one knows no "not"
});
worker.addEventListener("activate", (e) => /** @type {LifeEvent} */ (e).waitUntil(activate()));
worker.addEventListener("message", (e) => {
  const { data, source } = /** @type {MessageEvent} */ (e);
  if (data?.type === "bailey-version" && source) tell(/** @type {Teller} */ (/** @type {unknown} */ (source)));
});
worker.addEventListener("fetch", (e) => {
  const event = /** @type {AskEvent} */ (e);
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(base.href) || request.headers.has("Range")) return;
  const address = addressOf(request);
  if (listed.has(address) || keeps(address)) event.respondWith(answer(event, address));
});
