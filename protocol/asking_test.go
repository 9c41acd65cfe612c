package protocol_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/protocol"
)

// A question of any length, up to the bound, costs a call no time, and the rest of its time is left.
func TestAsking(t *testing.T) {
	late := errors.New("late")
	synctest.Test(t, func(t *testing.T) {
		run, outer := stopclock.Start(t.Context(), stopclock.Options{Limit: 5 * time.Second, Most: stopclock.Most, Cause: late})
		defer outer.Stop()
		ctx, clock := stopclock.Start(run, stopclock.Options{Limit: 2 * time.Second, Cause: late})
		defer clock.Stop()
		pass := func(d time.Duration) {
			time.Sleep(d) // the bubble's own clock
			synctest.Wait()
		}
		pass(time.Second)
		done := protocol.Asking(context.WithoutCancel(ctx))
		pass(time.Hour)
		done()
		done()
		if pass(time.Second - 1); ctx.Err() != nil {
			t.Error("the question cost the call time")
		}
		if pass(1); context.Cause(ctx) != late {
			t.Error("the call goes on above its limit")
		}
		if pass(3*time.Second - 1); run.Err() != nil {
			t.Error("the question cost the run time")
		}
		if pass(1); context.Cause(run) != late {
			t.Error("the run goes on above its limit")
		}
	})
	protocol.Asking(t.Context())() // outside of a call
}
