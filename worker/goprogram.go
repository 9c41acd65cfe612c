package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// maxGlue bounds a wasm_exec.js, in bytes; Go 1.26's has 17,000.
const maxGlue = 1 << 20

// goModule reports whether that is what programs of GOOS=js import from.
func goModule(name string) bool { return name == "gojs" || name == "go" }

// goJS reports whether the module is a program of GOOS=js.
func (m *Module) goJS() bool {
	return slices.ContainsFunc(m.m.Imports, func(i wasmbin.Import) bool { return goModule(i.Module) })
}

// CompileGo is [Pool.Compile] for a program that was built with GOOS=js GOARCH=wasm. wasmExec
// is the text of lib/wasm/wasm_exec.js of the very Go release that built it.
//
// Its commands are as others: arguments, environment, Dir, streams, files, limits, Kill. They
// wait for input, room and lazy files in every engine, WebKit too. The differences: syscall/js
// gives such a program all that its worker has, fetch and the origin's storage among it, so it
// runs in a trusted pool only, and nothing but the page's own policy holds it; arguments and
// environment have 8 KiB together; a worker is made at its start, none waits; file modes and
// owners are not kept, and there are no links; the clocks and random numbers are the
// browser's, so ClockResolution, Now and Seed do nothing.
//
// Prefer GOOS=wasip1 where the program needs no syscall/js.
func (p *Pool) CompileGo(ctx context.Context, wasm []byte, wasmExec string) (*Module, error) {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.ErrInvalidParams, "compile", "", format, args...)
	}
	if !p.opts.Trusted {
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "compile", "", "a program of GOOS=js has all of its worker's JavaScript, so it runs in a trusted pool only; build it with GOOS=wasip1 for this one")
	}
	if len(wasm) > MaxModule {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "compile", "", "the module has %d bytes; the limit is %d", len(wasm), MaxModule)
	}
	if len(wasmExec) > maxGlue || !strings.Contains(wasmExec, "globalThis.Go") {
		return nil, bad("that is no wasm_exec.js; it is in lib/wasm of the Go release that built the program")
	}
	m, err := parseModule(slices.Clone(wasm))
	if err != nil {
		return nil, err
	}
	for _, i := range m.m.Imports {
		if !goModule(i.Module) {
			return nil, bad("it imports %s.%s, which a program of GOOS=js does not", i.Module, i.Name)
		}
	}
	if _, ok := m.m.Export("run"); !ok || !m.goJS() {
		return nil, bad("it is no program of GOOS=js; use Compile")
	}
	m.glue = wasmExec
	return p.compile(ctx, m)
}
