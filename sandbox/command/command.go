// Package command runs WASI modules in a pool of package worker, for the tool tool_run of package
// sandbox and for the shell. A module is fetched when one of its commands runs for the first time.
// Several commands may share a module, which then selects the command by its first argument.
//
//	runner, err := command.New(pool, command.Options{
//		Commands: map[string]string{"grep": "core.wasm", "sort": "core.wasm"},
//		Fetch:    fetchModule,
//	})
//	tools := append(sandbox.Standard(), sandbox.ToolRun(runner))
//
// A program sees only the files of its call. Its changes are written back after it has ended by
// itself. Tools that the user installed can be commands too, see [Options].Packages. A built-in
// command takes precedence over an installed one of the same name. The package trusts Fetch to
// return the right bytes. If they come from elsewhere, compare them with a digest in Fetch.
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

// Options configure a [Runner]. Either Commands and Fetch, or Packages, is required.
type Options struct {
	// Commands maps the name of each command to its module, such as "grep" to "core.wasm".
	Commands map[string]string
	// Fetch returns a module. It is called again after an error, and after the module was dropped.
	Fetch func(ctx context.Context, module string) ([]byte, error)
	// Keep is the maximum number of compiled modules in memory. The default is 8. The least
	// recently used module is dropped first. Modules in use are not dropped.
	Keep int
	// Limits are the limits of each run. They can only lower those of the pool.
	Limits worker.Limits
	// Files is the way in which programs access their files.
	Files worker.FileMode
	// Env is the environment of each program, as "key=value". A command's own variables replace
	// those of the same name. Packages get an empty environment.
	Env []string
	// Packages are the tools that the user installed. They run only in an untrusted pool, and never
	// in place of a name in Commands.
	Packages *worker.Packages

	scripts map[string]string // of programs of Emscripten, by module
}

// A Runner is a [sandbox.CommandRunner] over a pool. It is safe for concurrent use.
type Runner struct {
	engine engine
	o      Options
	names  []string

	mu      sync.Mutex
	modules map[string]*module
	uses    int64
}

var _ sandbox.CommandRunner = (*Runner)(nil)

// engine compiles modules. It is a pool of workers, or a fake in tests.
type engine interface {
	// script is empty, or that of a program of Emscripten.
	compile(ctx context.Context, wasm []byte, script string) (program, error)
}

// program is a compiled module. close releases it, but does not end its runs.
type program interface {
	run(ctx context.Context, c sandbox.Command) (int, error)
	runPackage(ctx context.Context, pkg *worker.Package, params map[string]any, c sandbox.Command) (int, error)
	close()
}

// module is a module that is compiled, or being compiled. The holder of turn may set prog.
type module struct {
	turn chan struct{}
	prog program
	used int64
	busy int // runs that use it or wait for it
}

// New returns a runner. The caller remains responsible for closing the pool.
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

// Commands returns the names of all commands: the built-in ones, sorted, then the installed ones.
func (r *Runner) Commands() []string {
	names := slices.Clone(r.names)
	if r.o.Packages == nil {
		return names
	}
	more, _ := r.o.Packages.Names(context.Background()) // if the store fails, there are none
	return append(names, slices.DeleteFunc(more, r.builtIn)...)
}

// BuiltIn returns the names of the commands of [Options].Commands, sorted. Installed ones are not among them.
func (r *Runner) BuiltIn() []string { return slices.Clone(r.names) }

// RunCommand runs a command to its end and returns its exit code. A nonzero exit code is no error.
// If the program was killed, crashed or could not be started, the error is a [protocol.Error].
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
	prog, err := r.program(ctx, m, func(ctx context.Context) ([]byte, string, error) {
		wasm, err := r.o.Fetch(ctx, name)
		if err != nil {
			return nil, "", fmt.Errorf("the module %s could not be fetched: %w", name, err)
		}
		script := r.o.scripts[name]
		if script == "" {
			return wasm, "", nil
		}
		text, err := r.o.Fetch(ctx, script)
		if err != nil {
			err = fmt.Errorf("the script %s could not be fetched: %w", script, err)
		}
		return wasm, string(text), err
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

// failure returns an error with a code that is meaningful to the model.
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

// release ends one use of a module, and drops modules beyond Keep, the least recently used first.
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

// drop removes a module that is not in use. mu is held.
func (r *Runner) drop(name string) {
	if p := r.modules[name].prog; p != nil {
		p.close()
	}
	delete(r.modules, name)
}

// program fetches and compiles a module once. Concurrent callers wait. If the first one fails, the
// next one tries again, because the failure may come from the first caller's context.
func (r *Runner) program(ctx context.Context, m *module, fetch func(context.Context) ([]byte, string, error)) (program, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if m.prog != nil {
		return m.prog, nil
	}
	wasm, script, err := fetch(ctx)
	if err != nil {
		return nil, err
	}
	m.prog, err = r.engine.compile(ctx, wasm, script)
	return m.prog, err
}

// Close releases the compiled modules that are not in use. A later run fetches them again.
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

// changing returns the question about a command's changes, with paths relative to the folder.
func changing(c sandbox.Command) func(context.Context, []protocol.FileChange) error {
	return func(ctx context.Context, changes []protocol.FileChange) error {
		named := slices.Clone(changes)
		for i, ch := range changes {
			if c.Changing == nil && (ch.Size < 0 || ch.From != "") {
				return protocol.Errorf(protocol.ErrCapabilityDenied, "run", c.Name, "it may not remove files here, or move them away; nothing was written back")
			}
			named[i].Path, named[i].From, named[i].Same = strings.TrimPrefix(ch.Path, "/"), strings.TrimPrefix(ch.From, "/"), strings.TrimPrefix(ch.Same, "/")
		}
		if c.Changing == nil {
			return nil
		}
		return c.Changing(ctx, named)
	}
}

// environ returns the variables of both lists. Those of the second one replace those of the first
// with the same name, and PWD is left to the working directory.
func environ(first, second []string) []string {
	out := slices.Clone(first)
	for _, v := range second {
		name, _, _ := strings.Cut(v, "=")
		out = slices.DeleteFunc(out, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		if name != "PWD" {
			out = append(out, v)
		}
	}
	return out
}

// poolEngine is an engine over a pool of workers.
type poolEngine struct {
	pool *worker.Pool
	o    Options
}

func (e *poolEngine) compile(ctx context.Context, wasm []byte, script string) (program, error) {
	var m *worker.Module
	var err error
	if script != "" {
		m, err = e.pool.CompileJS(ctx, wasm, script)
	} else {
		m, err = e.pool.Compile(ctx, wasm)
	}
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
	cmd.Limits, cmd.Files, cmd.Changing = p.e.o.Limits, p.e.o.Files, changing(c)
	cmd.Dir, cmd.Env = c.Dir, environ(p.e.o.Env, c.Env)
	if c.FS != nil {
		cmd.FS = c.FS
	}
	return exitOf(cmd.Run())
}
