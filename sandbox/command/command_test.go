package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/worker"
)

// fake is an engine whose programs follow a script.
type fake struct {
	mu       sync.Mutex
	compiled []string
	closed   []string
	fail     error
	run      func(ctx context.Context, c sandbox.Command) (int, error)
}

func (f *fake) compile(_ context.Context, wasm []byte, _ string) (program, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return nil, f.fail
	}
	f.compiled = append(f.compiled, string(wasm))
	return &fakeProgram{f, string(wasm)}, nil
}

type fakeProgram struct {
	f    *fake
	name string
}

func (p *fakeProgram) run(ctx context.Context, c sandbox.Command) (int, error) {
	if p.f.run == nil {
		return 0, nil
	}
	return p.f.run(ctx, c)
}

func (p *fakeProgram) runPackage(ctx context.Context, pkg *worker.Package, params map[string]any, c sandbox.Command) (int, error) {
	c.Name = "package " + pkg.Name
	return p.run(ctx, c)
}

func (p *fakeProgram) close() {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.closed = append(p.f.closed, p.name)
}

func fetched(_ context.Context, module string) ([]byte, error) { return []byte(module), nil }

func runnerOf(t *testing.T, e engine, o Options) *Runner {
	t.Helper()
	if o.Fetch == nil {
		o.Fetch = fetched
	}
	if o.Commands == nil {
		o.Commands = map[string]string{"a": "m1", "b": "m1", "c": "m2", "d": "m3"}
	}
	r, err := newRunner(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"nothing":     {},
		"no fetch":    {Commands: map[string]string{"a": "m"}},
		"no commands": {Fetch: fetched},
		"no name":     {Fetch: fetched, Commands: map[string]string{"": "m"}},
		"no module":   {Fetch: fetched, Commands: map[string]string{"a": ""}},
		"keep":        {Fetch: fetched, Commands: map[string]string{"a": "m"}, Keep: -1},
	} {
		if _, err := newRunner(&fake{}, o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := New(nil, Options{Fetch: fetched, Commands: map[string]string{"a": "m"}}); err == nil {
		t.Error("no pool: taken")
	}
	if got := fmt.Sprint(runnerOf(t, &fake{}, Options{}).Commands()); got != "[a b c d]" {
		t.Error(got)
	}
}

// Concurrent users fetch and compile a module once. The least recently used module is dropped.
func TestModulesAreSharedAndKept(t *testing.T) {
	e := &fake{}
	r := runnerOf(t, e, Options{Keep: 2})
	run := func(name string) {
		t.Helper()
		if _, err := r.RunCommand(context.Background(), sandbox.Command{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { run([]string{"a", "b"}[i%2]) })
	}
	wg.Wait()
	run("c")
	run("a")
	if got := fmt.Sprint(e.compiled, e.closed); got != "[m1 m2] []" {
		t.Error(got)
	}
	run("d") // one over Keep: m2 is the oldest
	run("a")
	if got := fmt.Sprint(e.compiled, e.closed); got != "[m1 m2 m3] [m2]" {
		t.Error(got)
	}
	r.Close()
	if len(e.closed) != 3 {
		t.Error(e.closed)
	}
	run("c")
	if got := fmt.Sprint(e.compiled); got != "[m1 m2 m3 m2]" {
		t.Error(got)
	}
}

// A module in use is not dropped, and dropping does not wait for it.
func TestModulesInUseStay(t *testing.T) {
	e := &fake{}
	r := runnerOf(t, e, Options{Keep: 1})
	e.run = func(ctx context.Context, c sandbox.Command) (int, error) {
		if c.Name != "a" {
			return 0, nil
		}
		_, err := r.RunCommand(ctx, sandbox.Command{Name: "c"})
		if len(e.closed) != 1 || e.closed[0] != "m2" {
			t.Errorf("closed %v while m1 ran", e.closed)
		}
		return 3, err
	}
	if exit, err := r.RunCommand(context.Background(), sandbox.Command{Name: "a"}); exit != 3 || err != nil {
		t.Error(exit, err)
	}
}

func TestFailures(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	e := &fake{}
	fetch := errors.New("offline")
	r := runnerOf(t, e, Options{Fetch: func(context.Context, string) ([]byte, error) { return nil, fetch }})
	_, err := r.RunCommand(ctx, sandbox.Command{Name: "nope"})
	if !errors.Is(err, protocol.ReasonNotFound) {
		t.Error(err)
	}
	_, err = r.RunCommand(ctx, sandbox.Command{Name: "a"})
	if !errors.Is(err, protocol.ErrExecution) || !errors.Is(err, fetch) || !strings.Contains(protocol.Public(err).Message, "m1 could not be fetched") {
		t.Error(err)
	}
	r.o.Fetch = fetched // a later run tries again
	e.fail = protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "no module")
	if _, err = r.RunCommand(ctx, sandbox.Command{Name: "a"}); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Error(err)
	}
	e.fail = nil
	for _, c := range []struct{ err, want error }{
		{&worker.ExitError{Code: protocol.ErrTimeout, Reason: "30 s"}, protocol.ErrTimeout},
		{&worker.ExitError{Code: protocol.ErrOutputTooLarge, Reason: "64 MiB"}, protocol.ErrOutputTooLarge},
		{&worker.ConflictError{Paths: []string{"x"}}, protocol.ReasonStale},
		{fs.ErrClosed, protocol.ErrExecution},
		{worker.ErrQueueFull, protocol.ErrResourceLimit},
	} {
		e.run = func(context.Context, sandbox.Command) (int, error) { return 0, c.err }
		if _, err := r.RunCommand(ctx, sandbox.Command{Name: "a"}); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.err, err, c.want)
		}
	}
	stop := errors.New("stopped")
	e.run = func(ctx context.Context, _ sandbox.Command) (int, error) { cancel(stop); return 0, io.ErrUnexpectedEOF }
	if _, err := r.RunCommand(ctx, sandbox.Command{Name: "a"}); !errors.Is(err, stop) {
		t.Error(err)
	}
	if _, err := r.RunCommand(ctx, sandbox.Command{Name: "c"}); !errors.Is(err, stop) {
		t.Error(err)
	}
}
