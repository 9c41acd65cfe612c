package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// maxGlue bounds a wasm_exec.js, in bytes. That of Go 1.26 has 17,000.
const maxGlue = 1 << 20

// goModule reports whether programs of GOOS=js import from the module name. Go before 1.21 uses
// "go", later releases "gojs".
func goModule(name string) bool { return name == "gojs" || name == "go" }

// goJS reports whether the module is a program of GOOS=js.
func (m *Module) goJS() bool {
	return slices.ContainsFunc(m.m.Imports, func(i wasmbin.Import) bool { return goModule(i.Module) })
}

// CompileGo compiles a program that was built with GOOS=js GOARCH=wasm, like [Pool.Compile].
// wasmExec is the text of lib/wasm/wasm_exec.js from the same Go release that built the program.
//
// Its commands have the same arguments, environment, Dir, streams, files, limits and Kill as
// others. They can wait for input, for room in the output and for lazy files in every engine, also
// in WebKit. The differences are:
//
//   - The program has all of its worker's JavaScript through syscall/js, including fetch and the
//     origin's storage. Only the page's own policy limits it, so it runs in a trusted pool only.
//     CompileGo returns [protocol.ErrCapabilityDenied] for an untrusted pool.
//   - Arguments and environment have at most 8 KiB together.
//   - The worker is created when the command starts, because none is kept ready.
//   - File modes and owners are not kept, and there are no links.
//   - The clocks and random numbers are the browser's, so ClockResolution, Now and Seed have no
//     effect.
//
// Use GOOS=wasip1 for a program that does not need syscall/js.
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
