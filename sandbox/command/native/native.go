// Package native runs WASI modules outside of a browser, for the tool bash and the tool tool_run. It
// uses the interpreter and compiler of wazero, which is pure Go. The modules are the same ones that
// a page runs in workers, such as awk and jq of `make tools`.
//
//	runner, err := native.New(native.Options{
//		Commands: map[string]string{"awk": "awk.wasm", "jq": "jq.wasm"},
//		Fetch: func(_ context.Context, module string) ([]byte, error) {
//			return os.ReadFile(filepath.Join("build/tools", module))
//		},
//	})
//	tools := append(sandbox.Standard(), shell.Bash(shell.Options{Runner: runner}))
//
// A program sees only the files of its call. It changes copies of them in memory, and its changes
// are written back one by one after it has ended by itself. It has no network and starts no other
// program. The module is nested, so that a program that imports Bailey does not require wazero.
package native

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/bailey-go/bailey/internal/printed"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Options configure a [Runner]. Commands and Fetch are required.
type Options struct {
	// Commands maps the name of each command to its module, such as "awk" to "awk.wasm". The name
	// is the program's first argument.
	Commands map[string]string
	// Fetch returns a module. It is called when one of its commands first runs, and again after an
	// error.
	Fetch func(ctx context.Context, module string) ([]byte, error)
	// Env is the environment of each program, as "key=value". A command's own variables replace
	// those of the same name.
	Env []string
	// Time is the time limit of a run. The default is 30 s.
	Time time.Duration
	// Memory is the most bytes of memory of a program, rounded down to pages of 64 KiB. The default
	// is 512 MiB, and the maximum is 4 GiB less a page.
	Memory int64
	// Output is the most bytes on standard output and error together. The default is 64 MiB.
	Output int64
	// Write is the most bytes that a run may hold in changed files. The default is 256 MiB.
	Write int64
	// Read is the most bytes that a run may read from files. The default is 4 GiB.
	Read int64
	// Cache, if set, keeps compiled modules, so that the next start of the program does not compile them.
	// The caller closes it after the runner. Its folder has machine code: whoever can write to it runs
	// code as this user. A module that the cache can't read or store is compiled without it.
	Cache wazero.CompilationCache
}

const page = 64 << 10

// A Runner is a [sandbox.CommandRunner] over wazero. It is safe for concurrent use.
type Runner struct {
	o       Options
	names   []string
	runtime wazero.Runtime // with the cache

	mu      sync.Mutex
	modules map[string]*module
	plain   wazero.Runtime // without it, nil until it is needed
	closed  bool
}

var _ sandbox.CommandRunner = (*Runner)(nil)

// module is a module that is compiled, or being compiled.
type module struct {
	turn    chan struct{}
	code    wazero.CompiledModule
	runtime wazero.Runtime // that compiled it
}

// New returns a runner. Close it to release the compiled modules.
func New(o Options) (*Runner, error) {
	if len(o.Commands) == 0 || o.Fetch == nil {
		return nil, errors.New("native: Options: Commands and Fetch are needed")
	}
	for name, mod := range o.Commands {
		if name == "" || mod == "" {
			return nil, fmt.Errorf("native: Options.Commands: %q: %q: neither may be empty", name, mod)
		}
	}
	for _, l := range []struct {
		name         string
		value        *int64
		usual, least int64
		most         int64
	}{
		{"Time", (*int64)(&o.Time), int64(30 * time.Second), int64(time.Millisecond), int64(time.Hour)},
		{"Memory", &o.Memory, 512 << 20, page, 4<<30 - page},
		{"Output", &o.Output, 64 << 20, 1, 1 << 30},
		{"Write", &o.Write, 256 << 20, 1, 1 << 30},
		{"Read", &o.Read, 4 << 30, 1, 1 << 50},
	} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < l.least || *l.value > l.most {
			return nil, fmt.Errorf("native: Options.%s is %d; want %d to %d, or 0 for %d", l.name, *l.value, l.least, l.most, l.usual)
		}
	}
	o.Commands, o.Env = maps.Clone(o.Commands), slices.Clone(o.Env)
	runtime, err := newRuntime(o.Memory, o.Cache)
	if err != nil {
		return nil, err
	}
	return &Runner{o: o, names: slices.Sorted(maps.Keys(o.Commands)), runtime: runtime, modules: map[string]*module{}}, nil
}

func newRuntime(memory int64, cache wazero.CompilationCache) (wazero.Runtime, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(memory / page)).WithCloseOnContextDone(true)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		_ = runtime.Close(ctx)
		return nil, fmt.Errorf("native: %w", err)
	}
	return runtime, nil
}

// Start compiles all modules. Otherwise each is compiled when one of its commands first runs.
func (r *Runner) Start(ctx context.Context) error {
	for _, name := range slices.Compact(slices.Sorted(maps.Values(r.o.Commands))) {
		if _, err := r.compiled(ctx, name); err != nil {
			return failure(ctx, name, err)
		}
	}
	return nil
}

// Commands returns the names of the commands, sorted.
func (r *Runner) Commands() []string { return slices.Clone(r.names) }

// Close ends all runs and releases the compiled modules. The runner can't be used afterwards.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	err := r.runtime.Close(context.Background())
	if r.plain != nil {
		err = errors.Join(err, r.plain.Close(context.Background()))
	}
	return err
}

// compiled fetches and compiles a module once. Concurrent callers wait, and after an error the next
// one tries again.
func (r *Runner) compiled(ctx context.Context, name string) (*module, error) {
	r.mu.Lock()
	m := r.modules[name]
	if m == nil {
		m = &module{turn: make(chan struct{}, 1)}
		r.modules[name] = m
	}
	r.mu.Unlock()
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if m.code != nil {
		return m, nil
	}
	wasm, err := r.o.Fetch(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("the module %s could not be fetched: %w", name, err)
	}
	m.runtime = r.runtime
	m.code, err = m.runtime.CompileModule(ctx, wasm)
	if err != nil && r.o.Cache != nil && ctx.Err() == nil {
		// The stored code may be damaged, or the disk full.
		if m.runtime, err = r.withoutCache(); err != nil {
			return nil, err
		}
		m.code, err = m.runtime.CompileModule(ctx, wasm)
	}
	return m, err
}

// withoutCache returns the runtime without the cache.
func (r *Runner) withoutCache() (wazero.Runtime, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the runner is closed")
	}
	var err error
	if r.plain == nil {
		r.plain, err = newRuntime(r.o.Memory, nil)
	}
	return r.plain, err
}

// RunCommand runs a command to its end and returns its exit code. A nonzero exit code is no error.
// If the program was ended, crashed or could not be started, the error is a [protocol.Error] and
// none of its changes is written back.
func (r *Runner) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	name, ok := r.o.Commands[c.Name]
	if !ok {
		return 0, protocol.Errorf(protocol.ErrExecution, "run", c.Name, "there is no such command").WithReason(protocol.ReasonNotFound)
	}
	mod, err := r.compiled(ctx, name)
	if err != nil {
		return 0, failure(ctx, c.Name, err)
	}
	// The user is asked about the program before and after its run. While it runs, another command of a pipeline may ask,
	// for which the program waits in a read or a write. That time does not count, and time in which it works does.
	timed, limit := stopclock.Start(ctx, stopclock.Options{Limit: r.o.Time, Most: stopclock.Most, Busy: true,
		Cause: protocol.Errorf(protocol.ErrTimeout, "run", c.Name, "the program ran longer than %s", r.o.Time)})
	defer limit.Stop()
	inner, end := context.WithCancelCause(timed)
	defer end(nil)
	out := printed.New(r.o.Output, func() {
		end(protocol.Errorf(protocol.ErrOutputTooLarge, "run", c.Name, "the program printed more than %d bytes", r.o.Output))
	})
	config := wazero.NewModuleConfig().WithName("").WithArgs(append([]string{c.Name}, c.Args...)...).
		WithStdin(stream{limit, reader(c.Stdin), nil}).WithStdout(out.To(stream{limit, nil, c.Stdout})).WithStderr(out.To(stream{limit, nil, c.Stderr})).
		WithSysWalltime().WithSysNanotime().WithRandSource(rand.Reader)
	var pwd []string
	if c.Dir != "" {
		pwd = append(pwd, "PWD="+c.Dir)
	}
	for _, v := range environ(append(slices.Clone(r.o.Env), append(slices.Clone(c.Env), pwd...)...)) {
		key, value, _ := strings.Cut(v, "=")
		config = config.WithEnv(key, value)
	}
	var files *tree
	if c.FS != nil {
		files = newTree(c.FS, r.o.Read, r.o.Write, func(err error) { end(err) })
		config = config.WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(files, "/"))
	}
	inst, err := mod.runtime.InstantiateModule(inner, mod.code, config)
	if inst != nil {
		_ = inst.Close(inner)
	}
	exit := 0
	if cause := context.Cause(inner); cause != nil {
		return 0, failure(ctx, c.Name, cause)
	}
	if status := (*sys.ExitError)(nil); errors.As(err, &status) {
		exit = int(status.ExitCode())
	} else if err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return 0, protocol.Errorf(protocol.ErrExecution, "run", c.Name, "the program crashed: %s", text)
	}
	if files != nil {
		if err := files.writeBack(ctx, c); err != nil {
			return 0, failure(ctx, c.Name, err)
		}
	}
	return exit, nil
}

// failure returns an error with a code that is meaningful to the model.
func failure(ctx context.Context, name string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if e := (*protocol.Error)(nil); errors.As(err, &e) {
		return e
	}
	return protocol.Errorf(protocol.ErrExecution, "run", name, "%w", err)
}

// stream is a stream of a program, in whose calls the program waits.
type stream struct {
	limit *stopclock.Clock
	r     io.Reader
	w     io.Writer
}

func (s stream) Read(p []byte) (int, error) {
	s.limit.Busy(false)
	defer s.limit.Busy(true)
	return s.r.Read(p)
}

func (s stream) Write(p []byte) (int, error) {
	if s.w == nil {
		return len(p), nil
	}
	s.limit.Busy(false)
	defer s.limit.Busy(true)
	return s.w.Write(p)
}

func reader(r io.Reader) io.Reader {
	if r == nil {
		return bytes.NewReader(nil)
	}
	return r
}

// environ returns the last value of each variable.
func environ(list []string) (out []string) {
	for i, v := range list {
		name, _, ok := strings.Cut(v, "=")
		later := slices.ContainsFunc(list[i+1:], func(o string) bool { return strings.HasPrefix(o, name+"=") })
		if ok && name != "" && !later && !strings.Contains(v, "\x00") {
			out = append(out, v)
		}
	}
	return out
}
