package jsx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

func quiet(t *testing.T) (*Scope, *[]error) {
	var mu sync.Mutex
	errs := &[]error{}
	s := NewScope(ScopeOptions{OnError: func(err error) { mu.Lock(); *errs = append(*errs, err); mu.Unlock() }})
	t.Cleanup(func() { s.Close() })
	return s, errs
}

func TestScopeReleasesTheLastFirst(t *testing.T) {
	s, _ := quiet(t)
	var order []int
	for i := range 4 {
		if _, err := s.Add(func() { order = append(order, i) }); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s.Close()
	if !slices.Equal(order, []int{3, 2, 1, 0}) {
		t.Errorf("order %v", order)
	}
}

func TestScopeReleasesOnce(t *testing.T) {
	s, _ := quiet(t)
	n := 0
	done, err := s.Add(func() { n++ })
	if err != nil {
		t.Fatal(err)
	}
	done()
	done()
	s.Close()
	done()
	if n != 1 {
		t.Errorf("released %d times", n)
	}
}

func TestScopeClosedReleasesAtOnce(t *testing.T) {
	s, _ := quiet(t)
	s.Close()
	n := 0
	if _, err := s.Add(func() { n++ }); !errors.Is(err, ErrClosed) || n != 1 {
		t.Errorf("err %v, released %d times", err, n)
	}
	if _, err := s.Child(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := s.AfterFunc(0, func() { t.Error("ran") }); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := s.Every(time.Hour, func() {}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if n := Live()[Timers]; n != 0 {
		t.Errorf("%d timers left", n)
	}
	if s.Context().Err() == nil {
		t.Error("the context of a closed scope lives")
	}
}

func TestScopeCloseWithinClose(t *testing.T) {
	s, errs := quiet(t)
	var order []string
	s.Add(func() { order = append(order, "first") })
	s.Add(func() { panic("no") })
	s.Add(func() {
		s.Close()
		if _, err := s.Add(func() { order = append(order, "late") }); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	s.Close()
	if !slices.Equal(order, []string{"late", "first"}) {
		t.Errorf("order %v", order)
	}
	var p *PanicError
	if len(*errs) != 1 || !errors.As((*errs)[0], &p) || p.Value != "no" || !strings.Contains(p.Stack, "TestScopeCloseWithinClose") {
		t.Errorf("errors %v", *errs)
	}
}

func TestScopeChildren(t *testing.T) {
	s, errs := quiet(t)
	c, err := s.Child()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	c.Add(func() { n++; panic("in a child") })
	early, err := s.Child()
	if err != nil {
		t.Fatal(err)
	}
	early.Close()
	if s.root.next == &s.root || s.root.next.next != &s.root {
		t.Error("a closed child stays in its parent")
	}
	s.Close()
	if n != 1 || !c.Closed() || len(*errs) != 1 {
		t.Errorf("released %d times, closed %v, errors %v", n, c.Closed(), *errs)
	}
}

type closer struct{ err error }

func (c closer) Close() error { return c.err }

func TestScopeClosers(t *testing.T) {
	s, errs := quiet(t)
	bad := errors.New("bad")
	s.AddCloser(closer{})
	s.AddCloser(closer{bad})
	s.Close()
	if len(*errs) != 1 || (*errs)[0] != bad {
		t.Errorf("errors %v", *errs)
	}
}

func TestScopeOnErrorMayPanic(t *testing.T) {
	s := NewScope(ScopeOptions{OnError: func(error) { panic("again") }})
	s.Add(func() { panic("first") })
	s.Close()
}

func TestScopeContext(t *testing.T) {
	s, _ := quiet(t)
	ctx := s.Context()
	if ctx.Err() != nil || ctx != s.Context() {
		t.Error("not one live context")
	}
	s.Close()
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}

func TestTimers(t *testing.T) {
	s, errs := quiet(t)
	fired := make(chan int, 8)
	s.AfterFunc(time.Millisecond, func() { fired <- 1 })
	s.AfterFunc(2*time.Millisecond, func() { panic("timer") })
	stop, _ := s.AfterFunc(5*time.Millisecond, func() { t.Error("ran after stop") })
	s.AfterFunc(time.Hour, func() { t.Error("ran after Close") })
	stop()
	stop()
	if <-fired != 1 {
		t.Fatal()
	}
	var ticks atomic.Int32
	stopTick, err := s.Every(time.Millisecond, func() {
		if ticks.Add(1) == 3 {
			fired <- 3
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	<-fired
	stopTick()
	at := ticks.Load()
	until.Turns(10)
	if n := ticks.Load(); n > at+1 { // one may have been on its way
		t.Errorf("%d ticks after the stop", n-at)
	}
	if _, err := s.Every(0, func() {}); err == nil {
		t.Error("an interval of 0 succeeded")
	}
	if n := Live()[Timers]; n != 1 {
		t.Errorf("%d timers live, want the one of an hour", n)
	}
	s.Close()
	if n := Live()[Timers]; n != 0 {
		t.Errorf("%d timers left", n)
	}
	var p *PanicError
	if len(*errs) != 1 || !errors.As((*errs)[0], &p) || p.Value != "timer" {
		t.Errorf("errors %v", *errs)
	}
}

func TestCounts(t *testing.T) {
	base := Live()
	a, b := Track(Frames), Track(Frames)
	c := Track("enclaves")
	if got := Live().Over(base); got[Frames] != 2 || got["enclaves"] != 1 || got.Total() != 3 {
		t.Errorf("%v", got)
	}
	if s := (Counts{Frames: 2, Callbacks: 1}).String(); s != "callbacks 1, frames 2" {
		t.Error(s)
	}
	a()
	a() // once
	b()
	c()
	if got := Live().Over(base); got.Total() != 0 || got.String() != "none" {
		t.Errorf("%v", got)
	}
	live := Live()
	live["x"] = 1 // a copy
	if Live()["x"] != 0 {
		t.Error("Live is not a copy")
	}
}

func TestBudget(t *testing.T) {
	var b Budget
	if b.Over() {
		t.Error("over before it began")
	}
	b = Budget{Slice: time.Hour} // which no machine is slow enough to use up
	if err := b.Spend(t.Context()); err != nil || b.Over() {
		t.Error(err)
	}
	b.Slice = 5 * time.Millisecond
	until.Passed(6 * time.Millisecond)
	if !b.Over() {
		t.Error("not over after its slice")
	}
	began := b.start
	if err := b.Spend(t.Context()); err != nil || !b.start.After(began) {
		t.Errorf("a new slice did not begin: %v", err)
	}
	if err := b.Spend(closed()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Yield(closed()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
