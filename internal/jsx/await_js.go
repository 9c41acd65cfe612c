package jsx

import (
	"context"
	"sync"
	"syscall/js"
)

// A waiter is a pair of JavaScript functions, resolve and reject, that settle one await at a time.
// An abandoned waiter is never used again, so that a late settlement has no effect.
type waiter struct {
	id         float64
	ok, failed js.Value
	settled    chan settlement // room for one
}

type settlement struct {
	ok bool
	v  js.Value
}

const maxIdleWaiters = 64

var waiters struct {
	mu   sync.Mutex
	idle []*waiter
}

func getWaiter() (*waiter, error) {
	waiters.mu.Lock()
	if n := len(waiters.idle); n > 0 {
		w := waiters.idle[n-1]
		waiters.idle = waiters.idle[:n-1]
		waiters.mu.Unlock()
		return w, nil
	}
	waiters.mu.Unlock()

	d := dispatch()
	w := &waiter{settled: make(chan settlement, 1)}
	var err error
	w.ok, w.id, err = d.register(func(args []js.Value) any {
		s := settlement{ok: args[0].Truthy()}
		if len(args) > 1 {
			s.v = args[1]
		}
		select {
		case w.settled <- s:
		default: // settled twice, which only a fake promise does
		}
		return nil
	}, true)
	if err != nil {
		return nil, err
	}
	if w.failed, err = d.bind(w.id, false); err != nil {
		d.release(w.id)
		return nil, err
	}
	return w, nil
}

// put stores a waiter whose await has settled, for the next await.
func (w *waiter) put() {
	waiters.mu.Lock()
	defer waiters.mu.Unlock()
	if len(waiters.idle) < maxIdleWaiters {
		waiters.idle = append(waiters.idle, w)
		return
	}
	dispatch().release(w.id)
}

// Await returns the value of the promise when it settles, or the error of ctx when ctx is done. A
// rejection is an *[Error]. If ctx ends first, no callback is left behind, and a later settlement has
// no effect, not even an unhandledrejection event. The work behind the promise continues unless it
// has a [Signal]. A value that is not a promise is returned as it is, and a thenable is adopted.
// Never await in a callback.
func Await(ctx context.Context, promise Value) (Value, error) {
	if t := typeOf(raw(promise)); t != js.TypeObject && t != js.TypeFunction {
		if ctx.Err() != nil {
			return Value{}, contextError(ctx)
		}
		return promise, nil
	}
	p := prim()
	if ctx.Err() != nil {
		// Without a handler, a rejection would be an unhandledrejection event.
		if _, err := attempt(p.then, raw(promise), p.noop, p.noop); err != nil {
			return Value{}, contextError(ctx) // not a promise
		}
		return Value{}, contextError(ctx)
	}
	w, err := getWaiter()
	if err != nil {
		return Value{}, err
	}
	if _, err := attempt(p.then, raw(promise), w.ok, w.failed); err != nil {
		// Not a promise of any realm. Promise.resolve adopts a thenable.
		adopted, err := invoke(p.resolve, raw(promise))
		if err == nil {
			_, err = invoke(p.then, adopted, w.ok, w.failed)
		}
		if err != nil {
			dispatch().release(w.id)
			return Value{}, err
		}
	}
	count := hold(Awaits)
	defer drop(Awaits, count)
	select {
	case s := <-w.settled:
		w.put()
		if !s.ok {
			return Value{}, describe(s.v)
		}
		return value(s.v), nil
	case <-ctx.Done():
		dispatch().release(w.id)
		return Value{}, contextError(ctx)
	}
}

// CallAwait calls a method that returns a promise, and returns the result of [Await].
func CallAwait(ctx context.Context, v Value, method string, args ...any) (Value, error) {
	promise, err := Call(v, method, args...)
	if err != nil {
		return Value{}, err
	}
	r, err := Await(ctx, promise)
	return r, withOp(err, method)
}
