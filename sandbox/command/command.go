// Package command gives package sandbox's tool tool_run, and the shell, WASI modules of
// package worker to run. Modules are fetched when their first command is run; several
// commands may be one module's, which tells them apart by its first argument.
//
//	runner, err := command.New(pool, command.Options{
//		Commands: map[string]string{"grep": "core.wasm", "sort": "core.wasm"},
//		Fetch:    fetchModule,
//	})
//	tools := append(sandbox.Standard(), sandbox.ToolRun(runner))
//
// A program sees the files of its call and nothing else; what it changed is written back
// when it has ended by itself. Tools that the person has installed can be commands too
// ([Options].Packages), below the names that are built in. It trusts Fetch to bring the right bytes: check them against
// a digest there, if they come from elsewhere.
package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/worker"
)

// Options say which commands there are. Commands and Fetch are needed.
type Options struct {
	// Commands is the module of each command, by the command's name.
	Commands map[string]string
	// Fetch brings a module. It is asked again after an error, and when the module was
	// let go of.
	Fetch func(ctx context.Context, module string) ([]byte, error)
	// Keep is how many compiled modules are kept; default 8. The one that was used the
	// longest ago goes first.
	Keep int
	// Limits narrow the pool's.
	Limits worker.Limits
	// Files says how programs get their files.
	Files worker.FileMode
	// Env is the environment of each, as "key=value". Packages get none.
	Env []string
	// Packages are tools that the person has installed, as commands too: only in an
	// untrusted pool, and never in the place of a name in Commands.
	Packages *worker.Packages
}

// Runner is a [sandbox.CommandRunner] over a pool. It is safe for several goroutines.
type Runner struct {
	engine engine
	o      Options
	names  []string

	mu      sync.Mutex
	modules map[string]*module
	uses    int64
}

var _ sandbox.CommandRunner = (*Runner)(nil)

// engine compiles modules: a pool of workers, or a test's.
type engine interface {
	compile(ctx context.Context, wasm []byte) (program, error)
}

// program is a compiled module. close lets go of it; runs under way go on.
type program interface {
	run(ctx context.Context, c sandbox.Command) (int, error)
	runPackage(ctx context.Context, pkg *worker.Package, params map[string]any, c sandbox.Command) (int, error)
	close()
}

// module is one that is here, or comes. Who holds turn may set prog.
type module struct {
	turn chan struct{}
	prog program
	used int64
	busy int // runs that have it, or wait for it
}

// New makes a runner. The pool stays the caller's to close.
func New(pool *worker.Pool, o Options) (*Runner, error) {
	if pool == nil {
		return nil, errors.New("command: New needs a pool; make one with worker.NewPool")
	}
	return newRunner(&poolEngine{pool, o}, o)
}

func newRunner(e engine, o Options) (*Runner, error) {
	if len(o.Commands) == 0 && o.Packages == nil || len(o.Commands) > 0 && o.Fetch == nil {
		return nil, errors.New("command: Options: Commands and Fetch are needed, or Packages")
	}
	for name, mod := range o.Commands {
		if name == "" || mod == "" {
			return nil, fmt.Errorf("command: Options.Commands: %q: %q: neither may be empty", name, mod)
		}
	}
	if o.Keep < 0 {
		return nil, fmt.Errorf("command: Options.Keep is %d; it can't be negative", o.Keep)
	}
	if o.Keep == 0 {
		o.Keep = 8
	}
	o.Commands, o.Env = maps.Clone(o.Commands), slices.Clone(o.Env)
	return &Runner{engine: e, o: o, names: slices.Sorted(maps.Keys(o.Commands)), modules: map[string]*module{}}, nil
}

// Commands are the names, sorted: those that are built in, then those that are installed.
func (r *Runner) Commands() []string {
	names := slices.Clone(r.names)
	if r.o.Packages == nil {
		return names
	}
	more, _ := r.o.Packages.Names(context.Background()) // a store that fails has none
	return append(names, slices.DeleteFunc(more, r.builtIn)...)
}

// RunCommand runs a command to its end. The error is a [protocol.Error] if the program was
// killed, broke or could not be started; an exit code that is not 0 is no error.
func (r *Runner) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	name, ok := r.o.Commands[c.Name]
	if !ok {
		pkg, err := r.installed(ctx, c.Name)
		if err != nil {
			return 0, failure(ctx, c.Name, err)
		}
		if pkg != nil {
			return r.runPackage(ctx, pkg, c)
		}
		return 0, protocol.Errorf(protocol.ErrExecution, "run", c.Name, "there is no such command").WithReason(protocol.ReasonNotFound)
	}
	m := r.hold(name)
	defer r.release(m)
	prog, err := r.program(ctx, m, func(ctx context.Context) ([]byte, error) {
		wasm, err := r.o.Fetch(ctx, name)
		if err != nil {
			err = fmt.Errorf("the module %s could not be fetched: %w", name, err)
		}
		return wasm, err
	})
	if err != nil {
		return 0, failure(ctx, c.Name, err)
	}
	exit, err := prog.run(ctx, c)
	if err != nil {
		return 0, failure(ctx, c.Name, err)
	}
	return exit, nil
}

// failure tells what went wrong with a code that the model can go by.
func failure(ctx context.Context, name string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if e := (*protocol.Error)(nil); errors.As(err, &e) {
		return e
	}
	if e := (*worker.ExitError)(nil); errors.As(err, &e) {
		return protocol.Errorf(e.Code, "run", name, "%w", err)
	}
	if e := (*worker.ConflictError)(nil); errors.As(err, &e) {
		return protocol.Errorf(protocol.ErrExecution, "run", name, "%w", err).WithReason(protocol.ReasonStale)
	}
	return protocol.Errorf(protocol.ErrExecution, "run", name, "%w", err)
}

func (r *Runner) hold(name string) *module {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.modules[name]
	if m == nil {
		m = &module{turn: make(chan struct{}, 1)}
		r.modules[name] = m
	}
	r.uses++
	m.used = r.uses
	m.busy++
	return m
}

// release lets go of the modules over what is kept, the least recently used first.
func (r *Runner) release(m *module) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.busy--
	for len(r.modules) > r.o.Keep {
		oldest := ""
		for name, m := range r.modules {
			if m.busy == 0 && (oldest == "" || m.used < r.modules[oldest].used) {
				oldest = name
			}
		}
		if oldest == "" {
			return // all are in use
		}
		r.drop(oldest)
	}
}

// drop is called with mu held, for a module that nobody uses.
func (r *Runner) drop(name string) {
	if p := r.modules[name].prog; p != nil {
		p.close()
	}
	delete(r.modules, name)
}

// program fetches and compiles a module once. Whoever comes meanwhile waits, and tries by
// itself if that failed: the other's context may have ended.
func (r *Runner) program(ctx context.Context, m *module, fetch func(context.Context) ([]byte, error)) (program, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if m.prog != nil {
		return m.prog, nil
	}
	wasm, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	m.prog, err = r.engine.compile(ctx, wasm)
	return m.prog, err
}

// Close lets go of the compiled modules that nothing runs. A later run fetches them again.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, m := range r.modules {
		if m.busy == 0 {
			r.drop(name)
		}
	}
	return nil
}

// losing is the question about what a program removes, by names of the folder.
func losing(c sandbox.Command) func(context.Context, map[string]string) error {
	return func(ctx context.Context, lost map[string]string) error {
		if c.Losing == nil {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "it may not remove files here, or move them away; nothing was written back")
		}
		named := make(map[string]string, len(lost))
		for from, to := range lost {
			named[strings.TrimPrefix(from, "/")] = strings.TrimPrefix(to, "/")
		}
		return c.Losing(ctx, named)
	}
}

// poolEngine is a pool of workers.
type poolEngine struct {
	pool *worker.Pool
	o    Options
}

func (e *poolEngine) compile(ctx context.Context, wasm []byte) (program, error) {
	m, err := e.pool.Compile(ctx, wasm)
	if err != nil {
		return nil, err
	}
	return &poolProgram{e, m}, nil
}

type poolProgram struct {
	e *poolEngine
	m *worker.Module
}

func (p *poolProgram) close() { _ = p.m.Close() }

func (p *poolProgram) run(ctx context.Context, c sandbox.Command) (int, error) {
	cmd := p.e.pool.Command(ctx, p.m, c.Name, c.Args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	cmd.Limits, cmd.Files, cmd.Env, cmd.Losing = p.e.o.Limits, p.e.o.Files, p.e.o.Env, losing(c)
	if c.FS != nil {
		cmd.FS = c.FS
	}
	return exitOf(cmd.Run())
}
