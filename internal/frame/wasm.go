package frame

import (
	_ "embed" // for the workers' scripts
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
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

// Messages of the broker of a WebAssembly program. A message is a string, or bytes that begin
// with one of these codes and the generation as a u32. The worker below the broker sends the
// same messages without a generation, and each output separately.
const (
	WasmPong = "pong"

	WasmStarted  byte = 1 // a worker has the module
	WasmOutput   byte = 2 // {u8 descriptor, u32 length, bytes}…
	WasmInput    byte = 3 // the program waits for input
	WasmExit     byte = 4 // u32 code, stats, changes
	WasmFailed   byte = 5 // string code, string message, stats
	WasmAsk      byte = 6 // u32 id, u8 kind, u8 mount, string path
	WasmResult   byte = 7 // string: results of an exported function, as JSON
	WasmStopped  byte = 8 // like WasmFailed, sent by the broker: the worker may still be running
	WasmCompiled byte = 9 // the module's id instead of the generation, string: the error, or ""
)

// Kinds of WasmAsk.
const (
	WasmAskDir  = 1
	WasmAskFile = 2
	WasmAskFunc = 7
)

// Kinds of change in WasmExit.
const (
	WasmRemove byte = 1 + iota
	WasmRemoveDir
	WasmMakeDir
	WasmWrite  // bytes
	WasmRename // string: the new path
)

// GoGlue returns the first script in the worker of a program of GOOS=js: the wasm_exec.js of
// its Go, followed by our replacement for the parts of Node.js that it uses.
func GoGlue(wasmExec string) string { return wasmExec + "\n;" + wasmGoText + "\n;" }

var wasmBrokerProgram = sync.OnceValue(func() string {
	return "(()=>{'use strict';" + jsx.PackedJS + wasmBrokerText + "baileyWasmBroker(self)})()"
})

var wasmRunnerProgram = sync.OnceValue(func() string {
	return "(()=>{'use strict';" + jsx.PackedJS + wasmTreeText + wasiText + wasiFilesText + wasmRunText + "baileyRun(self)})()"
})
