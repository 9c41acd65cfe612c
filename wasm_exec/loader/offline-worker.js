"use strict";
// The service worker of a page that works without a network. build puts the list of the page's files
// in front of this script.

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
// Names of the caches: of this build's files, and of the kept files of any build.
const own = prefix + build.version, kept = prefix + "kept";

/** Addresses of the build's files, with the hashes of their content. They are checked at install. */
const listed = new Map(Object.entries(build.files).map(([path, hash]) => [new URL(path, base).href, hash]));

/** Reports whether the name contains a hash of the content, so that a copy never gets old. @param {string} address */
const lasting = (address) => /\.[0-9a-f]{16}\.(wasm|js)$/.test(address);

/** Reports whether a file belongs to keep. @param {string} address */
const keeps = (address) => build.keep.some((path) => (path.endsWith("/") ? address.startsWith(new URL(path, base).href) : address === new URL(path, base).href));

/** Returns the address under which the response to a request is stored. @param {Request} request */
function addressOf(request) {
  const url = new URL(request.url);
  url.hash = "";
  if (request.mode === "navigate") url.search = "";
  if (url.pathname.endsWith("/")) url.pathname += "index.html";
  return url.href;
}

// Stores all files or none, and checks the hash of each. If a deployment is under way, the earlier
// copies stay in use.
async function install() {
  const cache = await caches.open(own);
  await Promise.all([...listed].map(async ([address, integrity]) => {
    const answer = await fetch(address, { cache: lasting(address) ? "default" : "no-store", integrity, redirect: "error" });
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    await cache.put(address, answer);
  }));
  // The kept files have no known hash. A file that is missing on the server is skipped.
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

/** Sends a client the version of the stored build. A page of another build then knows that it is old. @param {Teller} client */
const tell = (client) => client.postMessage({ type: "bailey-version", version: build.version });

/** Returns the stored response, if any. @param {string} address */
const copy = async (address) =>
  (await (await caches.open(own)).match(address)) || (keeps(address) ? (await caches.open(kept)).match(address) : undefined);

// Requests from the network first, so that a changed policy applies from the next load on. For
// documents it does not use the browser's own cache, because the 304 of some servers would leave an
// old policy in it.
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
    event.waitUntil(renew(address, fresh.clone()).catch(() => undefined)); // a full disk must not fail the response
  }
  return fresh;
}

// Replaces the copy of a file, so that it has the latest headers. A file of another build is not
// stored: the worker of that build stores all of its files together.
/** @param {string} address @param {Response} fresh */
async function renew(address, fresh) {
  const hash = listed.get(address);
  if (!hash) return (await caches.open(kept)).put(address, fresh);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", await fresh.clone().arrayBuffer()));
  if (hash === "sha256-" + btoa(String.fromCharCode(...sum))) await (await caches.open(own)).put(address, fresh);
}

worker.addEventListener("install", (e) => {
  const event = /** @type {InstallEvent} */ (e);
  // Requests with a body bypass this worker. Otherwise Chromium would copy their bodies into it, and
  // free the copies only when it collects the worker's garbage, of which there is little.
  const past = event.addRoutes?.({ condition: { not: { requestMethod: "GET" } }, source: "network" });
  event.waitUntil(Promise.all([install(), past?.catch(() => undefined)])); // older browsers have no "not"
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
