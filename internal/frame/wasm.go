package frame

import (
	_ "embed" // for the workers' scripts
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/wasm"
)

// An untrusted WebAssembly program runs in the frames of an enclave. They contain a broker of
// its own kind (wasmbroker.js) and below it, for each run, a worker with our WASI (wasmtree.js,
// wasi.js, wasifiles.js, wasmrun.js). A direct pool has the same workers without the frames.

var (
	//go:embed wasmbroker.js
	wasmBrokerText string
	//go:embed wasmtree.js
	wasmTreeText string
	//go:embed wasi.js
	wasiText string
	//go:embed wasifiles.js
	wasiFilesText string
	//go:embed wasmrun.js
	wasmRunText string
	//go:embed wasmgo.js
	wasmGoText string
	//go:embed wasmtool.js
	wasmToolText string
)

// GoGlue returns the first script in the worker of a program of GOOS=js: the wasm_exec.js of
// its Go, followed by our replacement for the parts of Node.js that it uses.
func GoGlue(wasmExec string) string { return wasmExec + "\n;" + wasmGoText + "\n;" }

// ToolGlue returns the first script in the worker of a program of Emscripten: its own JavaScript,
// without the globals that reach other workers or a server, and the host of its files.
func ToolGlue(script string) string {
	return "for(let o=self,n;o;o=Object.getPrototypeOf(o))for(n of '" + toolRemoved + "'.split(' '))delete o[n];\n" + script + "\n;" + wasmGoText + "\n;" + wasmToolText + "\n;"
}

// toolRemoved are names of globals. The policy of the frames stops most of their effects too.
const toolRemoved = "BroadcastChannel Worker SharedWorker importScripts fetch XMLHttpRequest WebSocket WebSocketStream EventSource WebTransport caches indexedDB RTCPeerConnection navigator"

var (
	wasmOnce     sync.Once
	wasmPrograms Programs
)

// WasmPrograms returns the programs for WebAssembly.
func WasmPrograms() *Programs {
	wasmOnce.Do(func() {
		wasmPrograms = Programs{
			broker: Hint + "(()=>{'use strict';" + compact(jsx.PackedJS+wasm.JS+wasmBrokerText) + "baileyWasmBroker(self)})()",
			runner: Hint + "(()=>{'use strict';" + compact(jsx.PackedJS+wasm.JS+wasmTreeText+wasiText+wasiFilesText+wasmRunText) + "baileyRun(self)})()",
			wasm:   true,
		}
	})
	return &wasmPrograms
}
