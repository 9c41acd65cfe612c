package rate_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/rate"
	"github.com/bailey-go/bailey/protocol"
)

func TestRateAtBelowAndAbove(t *testing.T) {
	c := newClock()
	r, err := rate.New(3, time.Second, c.now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := r.Allow(); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		c.advance(100 * time.Millisecond)
	}
	if err := r.Allow(); !errors.Is(err, protocol.ErrResourceLimit) || !strings.Contains(err.Error(), "wait 700ms") {
		t.Errorf("the fourth: %v", err)
	}
	c.advance(699 * time.Millisecond)
	if r.Allow() == nil {
		t.Error("a millisecond too early")
	}
	c.advance(time.Millisecond)
	if err := r.Allow(); err != nil {
		t.Errorf("a second after the first: %v", err)
	}
	c.advance(-time.Hour) // a clock that is set back must open nothing
	if r.Allow() == nil {
		t.Error("a clock that ran backwards opened the window")
	}
	// In no second more than three, however the calls fall.
	c = newClock()
	r, _ = rate.New(3, time.Second, c.now)
	var taken []time.Time
	for i := range 400 {
		c.advance(time.Duration(37+i%90) * time.Millisecond)
		if r.Allow() == nil {
			taken = append(taken, c.now())
		}
	}
	for i := range taken {
		if i >= 3 && taken[i].Sub(taken[i-3]) < time.Second {
			t.Fatalf("four calls in %v", taken[i].Sub(taken[i-3]))
		}
	}
	if len(taken) < 60 {
		t.Errorf("only %d were let through", len(taken))
	}
	for _, bad := range []struct {
		n   int
		per time.Duration
	}{{0, time.Second}, {-1, time.Second}, {1, 0}, {100_001, time.Second}} {
		if _, err := rate.New(bad.n, bad.per, c.now); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if _, err := rate.New(1, 1, nil); err == nil {
		t.Error("no clock is taken")
	}
}

type clock struct{ t time.Time }

func newClock() *clock                   { return &clock{time.Unix(1_000, 0)} }
func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }
