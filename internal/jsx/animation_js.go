package jsx

import (
	"sync"
	"syscall/js"
	"time"
)

// FrameFallback is how long an [Animation] waits for an animation frame before it runs without one.
// A hidden tab or a frame out of view gets no animation frames.
const FrameFallback = 250 * time.Millisecond

// An Animation runs a function at most once an animation frame, however often it is requested.
// Create one with [Scope.Animation].
type Animation struct {
	s               *Scope
	fn              func()
	f               Value
	request, cancel js.Value // undefined where there are no frames
	timer           *time.Timer
	release         func()

	mu      sync.Mutex
	pending bool
	closed  bool
	frame   js.Value
}

// Animation returns an Animation of fn. fn runs in a callback or on a goroutine of its own, and
// never twice at once. It must not block.
func (s *Scope) Animation(fn func()) (*Animation, error) {
	a := &Animation{s: s, fn: fn}
	p := prim()
	for name, to := range map[string]*js.Value{"requestAnimationFrame": &a.request, "cancelAnimationFrame": &a.cancel} {
		v, err := invoke(p.reflectGet, js.Global(), p.key(name))
		if err == nil && v.Type() == js.TypeFunction {
			*to = v
		}
	}
	f, releaseFunc, err := s.Func(func([]Value) { a.fire(true) })
	if err != nil {
		return nil, err
	}
	a.f = f
	a.timer = time.AfterFunc(time.Hour, func() { a.fire(false) })
	a.timer.Stop()
	a.release, err = s.Add(func() { a.stop(); releaseFunc() })
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Request makes fn run with the next animation frame, or after [FrameFallback] without one. It
// reports whether the Animation is open.
func (a *Animation) Request() bool {
	a.mu.Lock()
	if a.closed || a.pending {
		a.mu.Unlock()
		return !a.closed
	}
	a.pending = true
	a.mu.Unlock()
	wait := 16 * time.Millisecond
	if !a.request.IsUndefined() {
		if id, err := invoke(a.request, raw(a.f)); err == nil {
			a.mu.Lock()
			a.frame = id
			a.mu.Unlock()
			wait = FrameFallback
		}
	}
	a.timer.Reset(wait)
	return true
}

// fire runs fn if it is due, and cancels the other of the two wake-ups.
func (a *Animation) fire(byFrame bool) {
	a.mu.Lock()
	due, frame := a.pending && !a.closed, a.frame
	a.pending, a.frame = false, js.Undefined()
	a.mu.Unlock()
	if !due {
		return
	}
	if byFrame {
		a.timer.Stop()
	} else {
		a.cancelFrame(frame)
	}
	a.s.guard(a.fn)
}

func (a *Animation) cancelFrame(frame js.Value) {
	if !frame.IsUndefined() && !a.cancel.IsUndefined() {
		_, _ = invoke(a.cancel, frame)
	}
}

// Pending reports whether fn is due.
func (a *Animation) Pending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pending
}

// Close cancels a request and releases the callback. It is idempotent.
func (a *Animation) Close() error { a.release(); return nil }

func (a *Animation) stop() {
	a.mu.Lock()
	frame := a.frame
	a.closed, a.pending, a.frame = true, false, js.Undefined()
	a.mu.Unlock()
	a.timer.Stop()
	a.cancelFrame(frame)
}
