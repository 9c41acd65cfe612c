package enclave_test

import (
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func TestGlobalsOfTheLevels(t *testing.T) {
	rows := map[string]string{ // R removed, A available; STRICT SECURE STANDARD PERMISSIVE
		"Function": "RRRA", "eval": "RRRA", "globalThis": "RRAA", "Proxy": "RRAA", "Reflect": "RRAA", "SharedArrayBuffer": "RRRR",
		"Atomics": "RRRR", "WebAssembly": "RRRR", "WeakRef": "RRRA", "FinalizationRegistry": "RRRA", "ShadowRealm": "RRRR",
		"Iterator": "RRAA", "AsyncIterator": "RRAA", "performance": "RAAA", "Temporal": "RAAA",
	}
	for _, g := range []string{
		"fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker", "SharedWorker", "ServiceWorker", "importScripts", "localStorage",
		"sessionStorage", "indexedDB", "caches", "navigator", "open", "close", "alert", "confirm", "prompt", "document", "BroadcastChannel",
	} {
		rows[g] = "RRRR"
	}
	for name, row := range rows {
		for i := range 4 {
			removed := slices.Contains(enclave.HardeningOf(protocol.Level(i)).Removed, name)
			if removed != (row[i] == 'R') {
				t.Errorf("%s at %s: removed %t", name, protocol.Level(i), removed)
			}
		}
	}
	for _, name := range []string{"Object", "Array", "Map", "Promise", "JSON", "Math", "Date", "RegExp", "Error", "String"} {
		if slices.Contains(enclave.HardeningOf(protocol.Strict).Removed, name) {
			t.Errorf("%s is removed: ordinary code needs it", name)
		}
	}
	if h := enclave.HardeningOf(protocol.Secure); !h.BlockedThrows || h.DefineProperty || h.Eval || h.ClockResolution == 0 {
		t.Errorf("SECURE: %+v", h)
	}
	if h := enclave.HardeningOf(protocol.Permissive); h.BlockedThrows || !h.DefineProperty || !h.Eval {
		t.Errorf("PERMISSIVE: %+v", h)
	}
}
