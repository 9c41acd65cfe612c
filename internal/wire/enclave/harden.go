package enclave

import (
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Hardening describes the restrictions of a level on the realm of the code. The enclave's runtime
// implements them.
type Hardening struct {
	// Removed are the globals that are deleted before the code runs, in addition to those that the
	// runtime does not know.
	Removed []string
	// BlockedThrows is whether reading a property such as constructor throws, where it would reach a
	// hidden object. Otherwise the property is undefined. harden.js in internal/frame has the list.
	BlockedThrows bool
	// DefineProperty is whether the code may use Object.defineProperty, setPrototypeOf and the
	// like.
	DefineProperty bool
	// Eval is whether code may be made from strings. The frame's policy must allow it too.
	Eval bool
	// ClockResolution is the resolution of Date and performance.
	ClockResolution time.Duration
}

// global is a row of the table: some names, and the levels at which they are removed.
type global struct {
	names   []string
	removed [4]bool // STRICT, SECURE, STANDARD, PERMISSIVE
}

func globals() []global {
	const gone = true
	return []global{
		{[]string{"Function", "eval"}, [4]bool{gone, gone, gone, false}},
		{[]string{"globalThis", "self"}, [4]bool{gone, gone, false, false}},
		{[]string{"Proxy", "Reflect"}, [4]bool{gone, gone, false, false}},
		{[]string{"SharedArrayBuffer", "Atomics"}, [4]bool{gone, gone, gone, gone}},
		{[]string{"WebAssembly"}, [4]bool{gone, gone, gone, gone}},
		{[]string{"WeakRef", "FinalizationRegistry"}, [4]bool{gone, gone, gone, false}},
		{[]string{"ShadowRealm"}, [4]bool{gone, gone, gone, gone}},
		{[]string{"Iterator", "AsyncIterator"}, [4]bool{gone, gone, false, false}},
		{[]string{"performance", "Temporal"}, [4]bool{gone, false, false, false}},
		{AlwaysRemoved(), [4]bool{gone, gone, gone, gone}},
	}
}

// AlwaysRemoved returns the globals that no level has. They reach the network, another realm,
// storage, the user or a device.
func AlwaysRemoved() []string {
	return []string{
		"fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "fetchLater",
		"RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel",
		"Worker", "SharedWorker", "ServiceWorker", "importScripts", "BroadcastChannel", "MessageChannel", "MessagePort",
		"postMessage", "onmessage", "onmessageerror", "addEventListener", "removeEventListener", "dispatchEvent",
		"localStorage", "sessionStorage", "indexedDB", "caches", "CacheStorage", "cookieStore",
		"navigator", "location", "open", "close", "alert", "confirm", "prompt", "document",
		"Notification", "PushManager", "FileReaderSync", "FileSystemHandle", "FileSystemFileHandle", "FileSystemDirectoryHandle",
		"reportError", "trustedTypes", "scheduler", "requestAnimationFrame",
	}
}

// HardeningOf returns the restrictions of a level. An unknown level has those of
// [protocol.Strict].
func HardeningOf(l protocol.Level) Hardening {
	i := l
	if i > protocol.Permissive {
		i = protocol.Strict
	}
	h := [4]Hardening{
		{BlockedThrows: true, ClockResolution: 100 * time.Millisecond},
		{BlockedThrows: true, ClockResolution: 10 * time.Millisecond},
		{DefineProperty: true, ClockResolution: time.Millisecond},
		{DefineProperty: true, Eval: true, ClockResolution: time.Millisecond},
	}[i]
	for _, g := range globals() {
		if g.removed[i] {
			h.Removed = append(h.Removed, g.names...)
		}
	}
	return h
}
