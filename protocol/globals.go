package protocol

import "time"

// Hardening is what a level takes away from the realm code runs in. The enclave's
// runtime reads it; nothing here knows how it is done.
type Hardening struct {
	// Removed are the globals deleted before the code runs.
	Removed []string
	// BlockedThrows: reading a property of [BlockedProperties] throws, where it would
	// open what is hidden; otherwise it is undefined.
	BlockedThrows bool
	// DefineProperty: Object.defineProperty and its kin may be used.
	DefineProperty bool
	// Eval: code may be made from strings, if the frame's policy allows it too.
	Eval bool
	// ClockResolution is what Date and performance are coarsened to.
	ClockResolution time.Duration
}

// global is one row of the table: at which levels names are removed.
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

// AlwaysRemoved are the globals no level has: what reaches the network, another
// realm, storage, a person or a device.
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

// BlockedProperties are what a guarded object does not answer for: ways from an
// instance to its constructor and prototype, and the old accessors.
func BlockedProperties() []string {
	return []string{
		"__proto__", "prototype", "constructor", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
	}
}

// GuardedStatics are the methods of Object that STRICT and SECURE refuse.
func GuardedStatics() []string {
	return []string{"defineProperty", "defineProperties", "setPrototypeOf", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors"}
}

// Hardening returns what the level takes away.
func (l Level) Hardening() Hardening {
	i := l.index()
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
