// Package quickjs runs the code of the tool code_run outside of a browser, in QuickJS compiled to
// WebAssembly below wazero. The code is the body of an async function, with the globals, limits,
// errors and traces of an enclave in a page, because the same runtime and the same messages are used.
//
// Each run has an engine of its own. The engine has a fixed maximum of memory, is ended at any
// instruction, and has one import with an effect: a function that hands a text to this package. It has
// no files, no network and no modules. The package trusts the engine's file, whose SHA-256 is pinned,
// and no message of it.
package quickjs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed" // for the prelude
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/internal/typescript"
	"github.com/bailey-go/bailey/protocol"
)

// EngineSHA256 is the hash of the engine, the file quickjs.wasm of version 3.6.2 of the npm package quickjs-wasi.
const EngineSHA256 = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"

//go:embed prelude.js
var prelude string

// Options configure a [Runner].
type Options struct {
	// Engine returns the engine's file, see [EngineSHA256].
	Engine func(ctx context.Context) ([]byte, error)
	// Level and Limits are those of an enclave.
	Level  protocol.Level
	Limits protocol.Limits
	// Memory is the most bytes of memory of a run, rounded down to pages of 64 KiB, 8 MiB to 4 GiB less
	// a page. The default is 256 MiB.
	Memory int64
	// Most is the number of runs at once. Further runs wait. The default is 4.
	Most int
	// Cache, if set, keeps the compiled engine between launches, see package compiled. The caller closes it
	// after the runner. If the cache can't read or store the engine, it is compiled without it.
	Cache wazero.CompilationCache

	off []frame.Layer // layers that a test switches off
	mem bool          // memory has no limit, for a test
	// rests has code that works count as code that rests, for a test: it costs no time while a person is asked.
	rests bool
}

const page = 64 << 10

// A Runner is a [sandbox.CodeRunner]. It is safe for concurrent use.
//
// [sandbox.CodeRunner]: https://pkg.go.dev/github.com/bailey-go/bailey/sandbox#CodeRunner
type Runner struct {
	o     Options
	types typescript.Stripper
	ids   *ids.Source
	turns chan struct{}

	mu      sync.Mutex
	runtime wazero.Runtime // nil until the first run
	code    wazero.CompiledModule
	closed  bool
}

// New returns a runner. The engine is compiled at the first run.
func New(o Options) (*Runner, error) {
	if o.Engine == nil {
		return nil, errors.New("quickjs: Options.Engine is needed: a function that returns quickjs.wasm")
	}
	if err := o.Limits.Validate(); err != nil {
		return nil, fmt.Errorf("quickjs: Options: %w", err)
	}
	if o.Level > protocol.Permissive {
		return nil, fmt.Errorf("quickjs: Options: unknown level %d", o.Level)
	}
	if o.Memory == 0 {
		o.Memory = 256 << 20
	}
	if o.Memory < 8<<20 || o.Memory > 4<<30-page {
		return nil, fmt.Errorf("quickjs: Options.Memory is %d; want %d to %d, or 0 for %d", o.Memory, 8<<20, int64(4<<30-page), 256<<20)
	}
	if o.Most == 0 {
		o.Most = 4
	}
	if o.Most < 1 || o.Most > 64 {
		return nil, fmt.Errorf("quickjs: Options.Most is %d; want 1 to 64, or 0 for 4", o.Most)
	}
	o.Limits = o.Limits.Or(o.Level.Limits())
	source, err := ids.New("run")
	if err != nil {
		return nil, err
	}
	r := &Runner{o: o, ids: source, turns: make(chan struct{}, o.Most)}
	r.types.Library, r.types.Run = typescript.Library, r.value
	return r, nil
}

// Start compiles the engine, which the first run does otherwise.
func (r *Runner) Start(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return protocol.Errorf(protocol.ErrSession, "run", "", "the runner is closed")
	}
	if r.code != nil {
		return nil
	}
	wasm, err := r.o.Engine(ctx)
	if err != nil {
		return protocol.Errorf(protocol.ErrSandbox, "run", "", "the engine quickjs.wasm could not be read: %w", err)
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != EngineSHA256 {
		return protocol.Errorf(protocol.ErrSandbox, "run", "", "the engine quickjs.wasm is another file than that of quickjs-wasi 3.6.2: its SHA-256 is %x, and it must be %s", sum, EngineSHA256)
	}
	// The engine belongs to the runner, and not to the call that happens to start it.
	rt, code, err := r.compile(context.WithoutCancel(ctx), wasm, r.o.Cache)
	if err != nil && r.o.Cache != nil {
		rt, code, err = r.compile(context.WithoutCancel(ctx), wasm, nil)
	}
	if err != nil {
		return err
	}
	r.runtime, r.code = rt, code
	return nil
}

func (r *Runner) compile(ctx context.Context, wasm []byte, cache wazero.CompilationCache) (wazero.Runtime, wazero.CompiledModule, error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(true)
	if !r.o.mem {
		config = config.WithMemoryLimitPages(uint32(r.o.Memory / page))
	}
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, config)
	_, err := wasi_snapshot_preview1.Instantiate(ctx, rt)
	if err == nil {
		err = imports(ctx, rt)
	}
	if err != nil {
		return nil, nil, errors.Join(err, rt.Close(ctx))
	}
	code, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		return nil, nil, errors.Join(protocol.Errorf(protocol.ErrSandbox, "run", "", "the engine can't be compiled: %w", err), rt.Close(ctx))
	}
	return rt, code, nil
}

// Close ends all runs. The runner can't be used afterwards.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.runtime == nil {
		return nil
	}
	err := r.runtime.Close(context.Background())
	r.runtime, r.code = nil, nil
	return err
}

// runKey is the context's key of the run that an engine belongs to.
type runKey struct{}

// imports are the functions of the host. All but one have no effect.
func imports(ctx context.Context, rt wazero.Runtime) error {
	number := func() int32 { return 0 }
	_, err := rt.NewHostModuleBuilder("env").
		NewFunctionBuilder().WithFunc(func(ctx context.Context, m api.Module, name, size, this, n, args uint32) uint32 {
		r, _ := ctx.Value(runKey{}).(*run)
		if r == nil {
			return 0
		}
		return r.host(ctx, n, args)
	}).Export("host_call").
		NewFunctionBuilder().WithFunc(number).Export("host_interrupt").
		NewFunctionBuilder().WithFunc(func(promise, reason, handled uint32) {}).Export("host_promise_rejection").
		NewFunctionBuilder().WithFunc(func(base, name uint32) uint32 { return 0 }).Export("host_module_normalize").
		NewFunctionBuilder().WithFunc(func(name, size uint32) uint32 { return 0 }).Export("host_module_load").
		NewFunctionBuilder().WithFunc(func(high, low uint32) int32 { return 0 }).Export("host_get_timezone_offset").
		Instantiate(ctx)
	return err
}

// engine returns a new engine. The context ends it.
func (r *Runner) engine(ctx context.Context) (*vm, error) {
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	r.mu.Lock()
	rt, code := r.runtime, r.code
	r.mu.Unlock()
	if rt == nil {
		return nil, protocol.Errorf(protocol.ErrSession, "run", "", "the runner is closed")
	}
	mod, err := rt.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithRandSource(rand.Reader).WithSysWalltime().WithSysNanotime())
	if err != nil {
		return nil, err
	}
	v := &vm{ctx: ctx, mod: mod}
	code0, err := v.call("qjs_init")
	if err == nil && code0 != 0 {
		err = errMemory
	}
	if err != nil {
		return nil, errors.Join(err, mod.Close(context.Background()))
	}
	// The stack of WebAssembly is fixed in the module, so the engine checks its own before it overflows.
	if _, err := v.call("qjs_set_max_stack_size", stack); err != nil {
		return nil, errors.Join(err, mod.Close(context.Background()))
	}
	return v, nil
}

// stack is the most bytes of the engine's stack.
const stack = 192 << 10

// clock returns the time of a run, for tests.
var clock = time.Now
