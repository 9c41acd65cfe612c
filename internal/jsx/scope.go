package jsx

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// ScopeOptions are the options of a [Scope]. The zero value is useful.
type ScopeOptions struct {
	// OnError receives errors that no function can return, such as a panic in a callback, a timer
	// or a release, as a *PanicError. It must not block. By default they are written to the
	// console.
	OnError func(error)
}

// A Scope owns resources that must be released: callbacks, listeners, ports, timers and those given
// to Add. Close releases all of them, the last first. A resource that is added to a closed scope is
// released at once, and the call returns ErrClosed. Create one with [NewScope].
type Scope struct {
	onError func(error)

	mu     sync.Mutex
	closed bool
	root   held // a ring in which root.prev is the newest
	ctx    context.Context
	cancel context.CancelFunc
}

type held struct {
	prev, next *held
	release    func()
}

// NewScope returns an empty scope.
func NewScope(opts ScopeOptions) *Scope {
	s := &Scope{onError: opts.OnError}
	if s.onError == nil {
		s.onError = reportError
	}
	s.root.prev, s.root.next = &s.root, &s.root
	return s
}

// Add makes the scope the owner of release. It is called once: by the returned function, or by
// Close. On a closed scope it is called at once, and the error is ErrClosed.
func (s *Scope) Add(release func()) (done func(), err error) {
	return s.add(&held{release: release})
}

func (s *Scope) add(h *held) (done func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.guard(h.release)
		return func() {}, ErrClosed
	}
	h.prev, h.next = s.root.prev, &s.root
	h.prev.next, s.root.prev = h, h
	s.mu.Unlock()
	return func() {
		if s.detach(h) {
			s.guard(h.release)
		}
	}, nil
}

// AddCloser is Add for an io.Closer. The error of its Close goes to OnError.
func (s *Scope) AddCloser(c interface{ Close() error }) (done func(), err error) {
	return s.Add(func() {
		if err := c.Close(); err != nil {
			s.onError(err)
		}
	})
}

// detach removes h and reports whether it was still there.
func (s *Scope) detach(h *held) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.next == nil {
		return false
	}
	h.prev.next, h.next.prev = h.next, h.prev
	h.prev, h.next = nil, nil
	return true
}

// Child returns a scope that is closed with s, or before it. It has the same OnError.
func (s *Scope) Child() (*Scope, error) {
	c := NewScope(ScopeOptions{OnError: s.onError})
	done, err := s.Add(c.closeAll)
	if err != nil {
		return c, err
	}
	// Closing the child first removes it from its parent.
	_, err = c.Add(done)
	return c, err
}

// Context returns a context that Close cancels.
func (s *Scope) Context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		if s.closed {
			s.cancel()
		}
	}
	return s.ctx
}

// Closed reports whether Close was called.
func (s *Scope) Closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Close releases everything, the last added first. It is idempotent, and a release may call it. If
// a release panics, the others are still called.
func (s *Scope) Close() error { s.closeAll(); return nil }

func (s *Scope) closeAll() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	cancel := s.cancel
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	for {
		s.mu.Lock()
		h := s.root.prev
		s.mu.Unlock()
		if h == &s.root {
			return
		}
		if s.detach(h) {
			s.guard(h.release)
		}
	}
}

// guard runs fn and passes a panic to OnError, so that a panic of a callback does not end the
// program.
func (s *Scope) guard(fn func()) {
	defer func() {
		if v := recover(); v != nil {
			s.panicked(v)
		}
	}()
	fn()
}

func (s *Scope) panicked(v any) {
	defer func() {
		if again := recover(); again != nil {
			reportError(fmt.Errorf("jsx: OnError itself panicked: %v", again))
		}
	}()
	s.onError(&PanicError{Value: v, Stack: string(debug.Stack())})
}

// AfterFunc calls fn on its own goroutine after d, unless stop is called or the scope is closed
// before. Browsers throttle the timers of hidden pages to one a second, and later to one a minute.
func (s *Scope) AfterFunc(d time.Duration, fn func()) (stop func(), err error) {
	id := hold(Timers)
	h := &held{}
	ready := make(chan struct{}) // the timer may fire before the scope owns it
	t := time.AfterFunc(d, func() {
		<-ready
		if s.detach(h) { // else it was stopped, or the scope closed
			s.guard(h.release)
			s.guard(fn)
		}
	})
	h.release = func() { t.Stop(); drop(Timers, id) }
	stop, err = s.add(h)
	close(ready)
	return stop, err
}

// Every calls fn every d, never twice at once, until stop is called or the scope is closed. A d
// that is not positive is an error.
func (s *Scope) Every(d time.Duration, fn func()) (stop func(), err error) {
	if d <= 0 {
		return func() {}, fmt.Errorf("jsx: Every needs a positive interval, not %v", d)
	}
	quit := make(chan struct{})
	id := hold(Timers)
	stop, err = s.Add(func() { close(quit); drop(Timers, id) })
	if err != nil {
		return stop, err
	}
	go func() {
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				select {
				case <-quit: // both were ready
					return
				default:
					s.guard(fn)
				}
			}
		}
	}()
	return stop, nil
}
