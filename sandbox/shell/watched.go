package shell

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/shell/internal/interp"
)

// watched is the context an interpreter asks before each of its steps: so it is also
// where steps are counted, where other goroutines and the page get their turn, and
// where a recursion is stopped before it runs out of stack.
type watched struct {
	context.Context
	mu      sync.Mutex
	steps   int
	budget  jsx.Budget
	bad     error
	held    int // bytes that commands hold
	most    int // the most they ever held
	breaths int // how often commands asked for the page's turn

	off off
}

const (
	maxSteps  = 20_000_000
	maxFrames = 4000 // of Go, which is some 300 calls of shell functions; in wasm 15,000 are too many
)

func newWatched(ctx context.Context) *watched { return &watched{Context: ctx} }

// Err counts a step.
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
	var pc [1]uintptr
	if !w.off.bounds && runtime.Callers(maxFrames, pc[:]) > 0 {
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

// fail ends the script, as it takes more than it may.
func (w *watched) fail(why string) error {
	return w.end(protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "%s", why))
}

// end ends the script with an error; the first one is kept.
func (w *watched) end(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad == nil {
		w.bad = err
	}
	return w.bad
}

// panicked ends the script after a panic, which is a fault of the interpreter's or of a command's.
func (w *watched) panicked(value any) error {
	return w.end(protocol.Errorf(protocol.ErrExecution, "bash", "", "the shell failed and ended the script; what it did until then is done (%.200s)", fmt.Sprint(value)))
}

// contain runs f, and makes an error of a panic.
func (w *watched) contain(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = w.panicked(v)
		}
	}()
	return f()
}

// bounds are the interpreter's.
func (w *watched) bounds() interp.Bounds {
	return interp.Bounds{Parse: parse, Panicked: w.panicked, Uncontained: w.off.contain, Unbounded: w.off.bounds, Refuse: w.fail, Words: braces,
		Regexp: func(text string) (*regexp.Regexp, error) {
			p, err := expression(text, false, false)
			if err != nil {
				return nil, err
			}
			return p.Regexp, nil
		}}
}

func (w *watched) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bad
}
