package shell

import (
	"context"
	"runtime"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// watched is the context an interpreter asks before each of its steps: so it is also
// where steps are counted, where other goroutines and the page get their turn, and
// where a recursion is stopped before it runs out of stack.
type watched struct {
	context.Context
	mu     sync.Mutex
	steps  int
	budget jsx.Budget
	bad    error
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
	if runtime.Callers(maxFrames, pc[:]) > 0 {
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

func (w *watched) fail(why string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad == nil {
		w.bad = protocol.Errorf(protocol.ErrResourceLimit, "bash", "", "%s", why)
	}
	return w.bad
}

func (w *watched) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bad
}
