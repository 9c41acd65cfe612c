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
