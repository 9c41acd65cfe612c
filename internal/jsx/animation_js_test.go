package jsx

import (
	"errors"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	until.True(t, what, done)
}

func TestAnimationOnceAFrame(t *testing.T) {
	s := newScope(t)
	n := 0
	a, err := s.Animation(func() { n++ })
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !a.Request() {
			t.Fatal("Request of an open Animation is false")
		}
	}
	if n != 0 || !a.Pending() {
		t.Error("it ran within Request")
	}
	waitFor(t, "a frame", func() bool { return n > 0 })
	until.Passed(FrameFallback + 100*time.Millisecond)
	if n != 1 || a.Pending() {
		t.Errorf("100 requests made %d runs", n)
	}
	a.Request()
	waitFor(t, "a second frame", func() bool { return n == 2 })
}

// stillFrames takes the page's frames away, as a hidden tab does.
func stillFrames(t testing.TB) {
	eval(t, `window.realFrames = [requestAnimationFrame, cancelAnimationFrame],
		window.cancelled = 0, window.requestAnimationFrame = () => 77, window.cancelAnimationFrame = id => { if (id === 77) window.cancelled++ }`)
	t.Cleanup(func() {
		eval(t, `[window.requestAnimationFrame, window.cancelAnimationFrame] = window.realFrames, delete window.realFrames, delete window.cancelled`)
	})
}

func TestAnimationRunsWithoutFrames(t *testing.T) {
	stillFrames(t)
	s := newScope(t)
	n := 0
	a, err := s.Animation(func() { n++ })
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	a.Request()
	waitFor(t, "the fallback", func() bool { return n == 1 })
	if took := time.Since(start); took < FrameFallback {
		t.Errorf("the fallback came after %v, before its time", took)
	}
	if num(t, eval(t, `window.cancelled`)) != 1 {
		t.Error("the frame was not taken back")
	}
}

func TestAnimationCloses(t *testing.T) {
	stillFrames(t)
	s := newScope(t)
	before := table()
	a, err := s.Animation(func() { t.Error("ran after Close") })
	if err != nil {
		t.Fatal(err)
	}
	a.Request()
	a.Close()
	a.Close()
	if a.Request() || a.Pending() {
		t.Error("a closed Animation takes requests")
	}
	if num(t, eval(t, `window.cancelled`)) != 1 || table() != before || Live()[Callbacks] != 0 {
		t.Errorf("not released: table %d, before %d, %v", table(), before, Live())
	}
	until.Passed(FrameFallback + 50*time.Millisecond)
	s.Close()
	if _, err := s.Animation(func() {}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestAnimationPanics(t *testing.T) {
	var errs []error
	s := NewScope(ScopeOptions{OnError: func(err error) { errs = append(errs, err) }})
	defer s.Close()
	n := 0
	a, err := s.Animation(func() {
		if n++; n == 1 {
			panic("frame")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	a.Request()
	waitFor(t, "the panic", func() bool { return len(errs) == 1 })
	a.Request()
	waitFor(t, "the frame after it", func() bool { return n == 2 })
}
