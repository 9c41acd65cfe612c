"use strict";
// The service worker of a page that no longer works without a network. It replaces the worker of an
// earlier build, deletes its copies and unregisters itself.

/**
 * @typedef {Event & {waitUntil(p: Promise<unknown>): void}} EndEvent
 * @typedef {EventTarget & {skipWaiting(): Promise<void>, registration: {scope: string, unregister(): Promise<boolean>}}} EndScope
 */

const leaving = /** @type {EndScope} */ (/** @type {unknown} */ (globalThis));

async function leave() {
  for (const name of await caches.keys()) {
    if (name.startsWith("bailey-offline " + leaving.registration.scope + " ")) await caches.delete(name);
  }
  await leaving.registration.unregister();
}

leaving.addEventListener("install", (e) => /** @type {EndEvent} */ (e).waitUntil(leaving.skipWaiting()));
leaving.addEventListener("activate", (e) => /** @type {EndEvent} */ (e).waitUntil(leave()));
