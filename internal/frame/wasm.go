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
)

// GoGlue returns the first script in the worker of a program of GOOS=js: the wasm_exec.js of
// its Go, followed by our replacement for the parts of Node.js that it uses.
func GoGlue(wasmExec string) string { return wasmExec + "\n;" + wasmGoText + "\n;" }

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
