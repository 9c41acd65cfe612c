package stopclock_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/stopclock"
)

var errLate = errors.New("late")

// sleep lets the time of the bubble pass, and waits for all that happens at that time.
func sleep(d time.Duration) {
	<-time.After(d) // of the bubble
	synctest.Wait()
}

func ended(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errLate) }

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late atomic.Int32
		ctx, c := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate, Late: func() { late.Add(1) }})
		defer c.Stop()
		sleep(time.Second - 1)
		if ctx.Err() != nil || late.Load() != 0 {
			t.Error("it ended below the limit")
		}
		sleep(1)
		if !ended(ctx) || late.Load() != 1 {
			t.Errorf("at the limit: %v, %d", context.Cause(ctx), late.Load())
		}
	})
}

func TestStopEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate})
		c.Stop()
		c.Stop()
		sleep(time.Hour)
		if context.Cause(ctx) != context.Canceled {
			t.Error(context.Cause(ctx))
		}
	})
}

func TestStartAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := stopclock.New(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate})
		defer c.Stop()
		sleep(time.Hour) // it is not started
		c.Start()
		release := c.Hold()
		sleep(time.Hour)
		c.Rest()
		sleep(time.Hour)
		c.Start() // it is held
		sleep(time.Hour)
		release()
		if sleep(time.Second - 1); ctx.Err() != nil {
			t.Error("it ended below its limit")
		}
		if sleep(1); !ended(ctx) {
			t.Error("it goes on at its limit")
		}
	})
}

// Holds of any clock pause all clocks of the tree, and they nest.
func TestHold(t *testing.T) {
	for _, of := range []string{"top", "middle", "low", "beside"} {
		synctest.Test(t, func(t *testing.T) {
			start := func(ctx context.Context) (context.Context, *stopclock.Clock) {
				ctx, c := stopclock.Start(ctx, stopclock.Options{Limit: time.Second, Cause: errLate})
				t.Cleanup(c.Stop)
				return ctx, c
			}
			top, _ := start(t.Context())
			middle, _ := start(top)
			low, _ := start(middle)
			beside, _ := start(top)
			all := map[string]context.Context{"top": top, "middle": middle, "low": low, "beside": beside}
			sleep(600 * time.Millisecond)
			first := stopclock.Hold(all[of])
			second := stopclock.Hold(context.WithoutCancel(all["low"]))
			sleep(10 * time.Hour)
			first()
			first()
			sleep(10 * time.Hour)
			later, _ := start(middle) // it begins while it is held
			second()
			sleep(400*time.Millisecond - 1)
			for name, ctx := range all {
				if ctx.Err() != nil {
					t.Errorf("a hold of %s: %s ended below its limit", of, name)
				}
			}
			sleep(1)
			for name, ctx := range all {
				if !ended(ctx) {
					t.Errorf("a hold of %s: %s goes on at its limit", of, name)
				}
			}
			if later.Err() == nil {
				t.Error("a clock outlived those above it")
			}
		})
	}
}

func TestPauseIsOfOneClockAndThoseBelow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top, a := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate})
		defer a.Stop()
		middle, b := stopclock.Start(context.WithoutCancel(top), stopclock.Options{Limit: time.Second, Cause: errLate})
		defer b.Stop()
		low, c := stopclock.Start(middle, stopclock.Options{Limit: time.Second, Cause: errLate})
		defer c.Stop()
		defer b.Pause()()
		sleep(time.Second)
		if !ended(top) || middle.Err() != nil || low.Err() != nil {
			t.Errorf("%v, %v, %v", top.Err(), middle.Err(), low.Err())
		}
	})
}

// The sum of all pauses has a bound. What is above it counts.
func TestMost(t *testing.T) {
	for _, c := range []struct {
		name  string
		pause time.Duration // in two parts
		over  bool
	}{
		{"below", stopclock.Most - 1, false},
		{"at", stopclock.Most, false},
		{"above", stopclock.Most + 1, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			var paused atomic.Int32 // tells a pause and its end apart by sign and number
			ctx, clock := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Most: stopclock.Most, Cause: errLate, Paused: func(on bool) {
				if on {
					paused.Add(1)
				} else {
					paused.Add(100)
				}
			}})
			defer clock.Stop()
			sleep(500 * time.Millisecond)
			release := stopclock.Hold(ctx)
			sleep(time.Minute)
			release()
			release = stopclock.Hold(ctx)
			sleep(c.pause - time.Minute)
			release()
			sleep(500*time.Millisecond - 1)
			if ended(ctx) != c.over {
				t.Errorf("%s the bound: ended %v", c.name, ended(ctx))
			}
			sleep(1)
			if !ended(ctx) || paused.Load() != 202 {
				t.Errorf("%s: ended %v, told %d", c.name, ended(ctx), paused.Load())
			}
		})
	}
}

// A pause that nobody ends is no way around the limit.
func TestMostEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, clock := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Most: stopclock.Most, Cause: errLate})
		defer clock.Stop()
		defer stopclock.Hold(ctx)()
		if sleep(stopclock.Most + time.Second - 1); ended(ctx) {
			t.Error("it ended early")
		}
		if sleep(1); !ended(ctx) {
			t.Error("it goes on")
		}
	})
}

// A clock whose owner is at work runs, even if it is held.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate, Busy: true})
		defer c.Stop()
		defer stopclock.Hold(ctx)()
		sleep(500 * time.Millisecond)
		c.Busy(false)
		sleep(time.Hour)
		c.Busy(true)
		sleep(500*time.Millisecond - 1)
		if ctx.Err() != nil {
			t.Error("the time in which it rested counted")
		}
		sleep(1)
		if !ended(ctx) {
			t.Error("the time in which it worked did not count")
		}
	})
}

func TestWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate})
		defer c.Stop()
		own, d := stopclock.Start(stopclock.Without(ctx), stopclock.Options{Limit: time.Minute, Cause: errLate})
		defer d.Stop()
		defer stopclock.Hold(own)()
		if sleep(time.Second); !ended(ctx) {
			t.Error("a clock without one above it paused another")
		}
		if stopclock.Without(t.Context()) != t.Context() {
			t.Error("another context")
		}
	})
}

// A context that was made elsewhere pauses a clock all the same.
func TestOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := stopclock.Start(t.Context(), stopclock.Options{Limit: time.Second, Cause: errLate})
		defer c.Stop()
		low, d := stopclock.Start(ctx, stopclock.Options{Limit: time.Second, Cause: errLate})
		defer d.Stop()
		if c.On(low) != low {
			t.Error("a context below lost its own clock")
		}
		defer stopclock.Hold(c.On(t.Context()))()
		if sleep(time.Hour); ctx.Err() != nil || low.Err() != nil {
			t.Error("the clocks ran")
		}
		var none *stopclock.Clock
		none.Hold()()
		none.Pause()()
		stopclock.Hold(none.On(t.Context()))()
	})
}
