package shell

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/userland/when"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// watched is the context that the interpreter checks before each of its steps. It
// therefore also counts the steps, yields to other goroutines and the page, and ends a
// recursion before it runs out of stack.
type watched struct {
	context.Context
	mu      sync.Mutex
	steps   int
	budget  jsx.Budget
	bad     error
	held    int // bytes held by the commands
	most    int // the most bytes ever held
	breaths int // how often commands offered to yield

	known func(name string) string    // the path of a command
	help  func(names []string) string // the text of help
	kept  map[string]*bytes.Buffer    // what process substitutions read or write, by name
	names int

	off off
}

const (
	maxSteps  = 20_000_000
	maxFrames = 4000 // frames of Go, which are some 300 calls of shell functions; in wasm 15,000 are too many
)

func newWatched(ctx context.Context) *watched { return &watched{Context: ctx} }

// Err counts a step. It returns an error if the script has ended or exceeds a limit.
func (w *watched) Err() error {
	if err := w.Context.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	w.steps++
	n := w.steps
	bad := w.bad
	w.mu.Unlock()
	switch {
	case bad != nil:
		return bad
	case n > maxSteps:
		return w.fail("the script takes too many steps")
	}
	// A look at the stack takes longer than most steps, so one in eight looks, at random: no order of the steps of
	// several shells lets one of them go down without a look.
	var pc [1]uintptr
	if !w.off.bounds && rand.N(8) == 0 && runtime.Callers(maxFrames, pc[:]) > 0 {
		return w.fail("functions call one another too deeply")
	}
	if n%64 == 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		if err := w.budget.Spend(w.Context); err != nil {
			return err
		}
	}
	return nil
}

// fail ends the script because it exceeds a limit.
func (w *watched) fail(why string) error {
	return w.end(protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "%s", why))
}

// end ends the script with an error. It keeps and returns the first error.
func (w *watched) end(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad == nil {
		w.bad = err
	}
	return w.bad
}

// panicked ends the script after a panic, which is a fault in the interpreter or a
// command.
func (w *watched) panicked(value any) error {
	return w.end(protocol.Errorf(protocol.ErrExecution, "bash", "", "the shell failed and ended the script; what it did until then is done (%.200s)", fmt.Sprint(value)))
}

// contain runs f, and returns an error if it panics.
func (w *watched) contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = w.panicked(v)
		}
	}()
	return f()
}

// bounds returns the bounds of the interpreter.
func (w *watched) bounds() interp.Bounds {
	return interp.Bounds{Parse: parse, Panicked: w.panicked, Uncontained: w.off.contain, Unbounded: w.off.bounds, Refuse: w.fail, Words: braces,
		Regexp: expression, Keep: w.keep, Drop: w.drop, Known: w.known, Help: w.help,
		Time: func(t time.Time, layout string) string { text, _ := when.Format(t, layout); return text }}
}

func (w *watched) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bad
}

// maxKept is the most process substitutions at once.
const maxKept = 64

// keep stores the content of a process substitution under a name. Without content, a command writes it.
func (w *watched) keep(content []byte) (string, error) {
	w.mu.Lock()
	full := len(w.kept) >= maxKept
	w.mu.Unlock()
	if full {
		return "", w.fail("more than 64 process substitutions at once")
	}
	if !w.hold(len(content)) {
		return "", w.fail("the commands of the script hold more than 96 MiB at once")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kept == nil {
		w.kept = map[string]*bytes.Buffer{}
	}
	w.names++
	name := fmt.Sprintf("/dev/fd/%d", 62+w.names)
	w.kept[name] = bytes.NewBuffer(content)
	return name, nil
}

func (w *watched) drop(name string) []byte {
	w.mu.Lock()
	b := w.kept[name]
	delete(w.kept, name)
	w.mu.Unlock()
	if b == nil {
		return nil
	}
	w.release(b.Len())
	return b.Bytes()
}

// substituted returns the content of a process substitution.
func (w *watched) substituted(name string) ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, ok := w.kept[name]
	if !ok {
		return nil, false
	}
	return b.Bytes(), true
}

// substitution writes to a process substitution.
type substitution struct {
	w    *watched
	name string
}

func (s substitution) Read([]byte) (int, error) { return 0, io.EOF }
func (s substitution) Close() error             { return nil }
func (s substitution) Write(p []byte) (int, error) {
	if !s.w.hold(len(p)) {
		return 0, s.w.fail("the commands of the script hold more than 96 MiB at once")
	}
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if b := s.w.kept[s.name]; b != nil {
		return b.Write(p)
	}
	return 0, io.ErrClosedPipe
}
