package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// maxModule is the size of the largest module that Compile accepts, in bytes: 256 MiB.
const maxModule = 256 << 20

// A Module is a compiled WebAssembly module of one pool. Make one with [Pool.Compile].
type Module struct {
	pool *Pool
	m    *wasmbin.Module
	kind kind
	glue string // the wasm_exec.js of a goProgram, or the JavaScript of a program of Emscripten
	tool bool   // a goProgram that is of Emscripten
	size int

	mu       sync.Mutex
	variants map[wasmbin.Caps]*variant
	closed   bool
}

// kind is the kind of program that a module is.
type kind uint8

const (
	library     kind = iota // it only exports functions
	wasiProgram             // it is for WASI preview1
	goProgram               // it was built with GOOS=js: see CompileJS
)

// variant is a module with its maxima lowered to one set of limits.
type variant struct {
	id     int
	module *Module
	caps   wasmbin.Caps
	impl   variantImpl
}

// Compile checks a module, lowers the maximum of its memory and tables to the pool's limits, and
// has the browser compile it. It returns [protocol.ErrInvalidParams] if the bytes are no valid
// module, or if the module imports a global, a tag or an unknown function of WASI. It returns
// [protocol.ErrResourceLimit] if the module is larger than 256 MiB, if its initial memory or
// tables exceed the limits, or if its memory is shared or 64-bit. wasm may be changed afterwards.
//
// A module is for WASI preview1 ("wasm32-wasi", GOOS=wasip1) if it imports functions of preview1
// or exports _start. [Pool.Command] runs such a module. [Pool.Call] calls the exported functions
// of others.
func (p *Pool) Compile(ctx context.Context, wasm []byte) (*Module, error) {
	if len(wasm) > maxModule {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "compile", "", "the module has %d bytes; the limit is %d", len(wasm), maxModule)
	}
	m, err := parseModule(ctx, slices.Clone(wasm))
	if err != nil {
		return nil, err
	}
	return p.compile(ctx, m)
}

func (p *Pool) compile(ctx context.Context, m *Module) (*Module, error) {
	m.pool = p
	v, err := m.variant(ctx, p.opts.Limits.caps())
	if err != nil {
		return nil, err
	}
	if err := p.impl.compile(ctx, v); err != nil {
		_ = m.Close()
		return nil, err
	}
	return m, nil
}

func parseModule(ctx context.Context, wasm []byte) (*Module, error) {
	var budget jsx.Budget
	m, err := wasmbin.Parse(wasm, func(n int) error { return budget.Steps(ctx, n) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "%w", err)
	}
	for _, i := range m.Imports {
		if i.Module == "wasi_unstable" || i.Module == "wasi" {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "it imports %s, which is older than WASI preview1; build it with a newer toolchain", i.Module)
		}
		if i.Module == wasmbin.WASI && (i.Kind != wasmbin.Func || !slices.Contains(preview1[:], i.Name)) {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "it imports %s.%s, which WASI preview1 does not have", i.Module, i.Name)
		}
		if i.Kind == wasmbin.Global || i.Kind == wasmbin.Tag {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "it imports the %v %s.%s, which the host does not provide", i.Kind, i.Module, i.Name)
		}
	}
	k := library
	if m.IsWASI() {
		k = wasiProgram
	}
	return &Module{m: m, kind: k, size: len(wasm), variants: map[wasmbin.Caps]*variant{}}, nil
}

// variant returns the module lowered to c. Each c is lowered once.
func (m *Module) variant(ctx context.Context, c wasmbin.Caps) (*variant, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, errors.New("worker: the module is closed")
	}
	if v := m.variants[c]; v != nil {
		return v, nil
	}
	if len(m.variants) >= maxVariants {
		return nil, fmt.Errorf("worker: a module was run with more than %d different limits of memory and tables; choose fewer", maxVariants)
	}
	wasm, err := m.m.Lower(c)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "compile", "", "%w", err)
	}
	v := &variant{module: m, caps: c}
	if err := v.impl.set(ctx, m.pool, v, wasm); err != nil {
		return nil, err
	}
	m.variants[c] = v
	return v, nil
}

const maxVariants = 16

// WASI reports whether the module is for WASI preview1.
func (m *Module) WASI() bool { return m.kind == wasiProgram }

// Size returns the size of the original module, in bytes.
func (m *Module) Size() int { return m.size }

// Imports returns the module's imports, as "module.name", without those of WASI.
func (m *Module) Imports() []string {
	var list []string
	for _, i := range m.m.Imports {
		if i.Module != wasmbin.WASI {
			list = append(list, i.Module+"."+i.Name)
		}
	}
	return list
}

// Exports returns the names of the module's exported functions.
func (m *Module) Exports() []string {
	var list []string
	for _, e := range m.m.Exports {
		if e.Kind == wasmbin.Func {
			list = append(list, e.Name)
		}
	}
	return list
}

// Close releases the module's compiled code. Commands that already run go on. Close returns
// nil.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		for _, v := range m.variants {
			v.impl.release(m.pool, v)
		}
	}
	return nil
}

// preview1 are the functions of WASI preview1.
var preview1 = [...]string{
	"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get", "clock_time_get",
	"fd_advise", "fd_allocate", "fd_close", "fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_fdstat_set_rights",
	"fd_filestat_get", "fd_filestat_set_size", "fd_filestat_set_times", "fd_pread", "fd_prestat_get", "fd_prestat_dir_name",
	"fd_pwrite", "fd_read", "fd_readdir", "fd_renumber", "fd_seek", "fd_sync", "fd_tell", "fd_write",
	"path_create_directory", "path_filestat_get", "path_filestat_set_times", "path_link", "path_open", "path_readlink",
	"path_remove_directory", "path_rename", "path_symlink", "path_unlink_file",
	"poll_oneoff", "proc_exit", "proc_raise", "sched_yield", "random_get", "sock_accept", "sock_recv", "sock_send", "sock_shutdown",
}

// maxGlue bounds a wasm_exec.js, in bytes. That of Go 1.26 has 17,000.
const maxGlue = 1 << 20

// goModule reports whether programs of GOOS=js import from the module name. Go before 1.21 uses
// "go", later releases "gojs".
func goModule(name string) bool { return name == "gojs" || name == "go" }

// goJS reports whether the module is a program of GOOS=js.
func (m *Module) goJS() bool {
	return slices.ContainsFunc(m.m.Imports, func(i wasmbin.Import) bool { return goModule(i.Module) })
}

// CompileJS compiles a program that comes with JavaScript of its own, like [Pool.Compile]. It was built
// with GOOS=js GOARCH=wasm, or by Emscripten.
//
// For GOOS=js, script is the text of lib/wasm/wasm_exec.js from the same Go release that built the program. Its commands have the same arguments, environment, Dir, streams, files, limits and Kill as
// others. They can wait for input, for room in the output and for lazy files in every engine, also
// in WebKit. The differences are:
//
//   - The program has all of its worker's JavaScript through syscall/js, including fetch and the
//     origin's storage. Only the page's own policy limits it, so it runs in a trusted pool only.
//     CompileJS returns [protocol.ErrCapabilityDenied] for an untrusted pool.
//   - Arguments and environment have at most 8 KiB together.
//   - The worker is created when the command starts, because none is kept ready.
//   - File modes and owners are not kept, and there are no links.
//   - The clocks and random numbers are the browser's, so ClockResolution, Now and Seed have no
//     effect.
//
// Use GOOS=wasip1 for a program that does not need syscall/js.
//
// A program of Emscripten has a script of at most 1 MiB. CompileJS takes it for
// an untrusted pool only, if script sets self.baileyProgram, as docs/programs.md describes.
// Its JavaScript is code that nobody has reviewed: it has the frame's policy, which permits no
// loading, and the limits of time, output and files, but JavaScript's own memory has no limit.
func (p *Pool) CompileJS(ctx context.Context, wasm []byte, script string) (*Module, error) {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.ErrInvalidParams, "compile", "", format, args...)
	}
	if strings.Contains(script, "self.baileyProgram") {
		return p.compileTool(ctx, wasm, script)
	}
	if !p.opts.Trusted {
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "compile", "", "a program of GOOS=js has all of its worker's JavaScript, so it runs in a trusted pool only; build it with GOOS=wasip1 for this one")
	}
	if len(wasm) > maxModule {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "compile", "", "the module has %d bytes; the limit is %d", len(wasm), maxModule)
	}
	if len(script) > maxGlue || !strings.Contains(script, "globalThis.Go") {
		return nil, bad("that is not a wasm_exec.js; it is in lib/wasm of the Go release that built the program")
	}
	m, err := parseModule(ctx, slices.Clone(wasm))
	if err != nil {
		return nil, err
	}
	for _, i := range m.m.Imports {
		if !goModule(i.Module) {
			return nil, bad("it imports %s.%s, which a program of GOOS=js does not", i.Module, i.Name)
		}
	}
	if _, ok := m.m.Export("run"); !ok || !m.goJS() {
		return nil, bad("it is not a program of GOOS=js; use Compile")
	}
	m.kind, m.glue = goProgram, script
	return p.compile(ctx, m)
}

// compileTool compiles a program of Emscripten with its JavaScript.
func (p *Pool) compileTool(ctx context.Context, wasm []byte, script string) (*Module, error) {
	if p.opts.Trusted {
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "compile", "", "a program of Emscripten brings JavaScript, which would have the page's origin in a trusted pool; use an untrusted one")
	}
	if len(wasm) > maxModule || len(script) > maxGlue {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "compile", "", "the module has %d bytes and its JavaScript %d; the limits are %d and %d", len(wasm), len(script), maxModule, maxGlue)
	}
	m, err := parseModule(ctx, slices.Clone(wasm))
	if err != nil {
		return nil, err
	}
	if m.kind != library || m.goJS() {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "it is a program of WASI or of Go; use Compile")
	}
	m.kind, m.glue, m.tool = goProgram, script, true
	return p.compile(ctx, m)
}
