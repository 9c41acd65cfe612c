package jsx

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

func aborted(t *testing.T, signal Value) bool {
	t.Helper()
	b, err := GetBool(signal, "aborted")
	return ok(t, b, err)
}

func TestSignal(t *testing.T) {
	cause := errors.New("the user said stop")
	for _, tt := range []struct {
		name string
		ctx  func() (context.Context, func())
		code Code
		text string
	}{
		{"cancel", func() (context.Context, func()) {
			ctx, cancel := context.WithCancel(t.Context())
			return ctx, cancel
		}, ErrAborted, "context canceled"},
		{"cause", func() (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(t.Context())
			return ctx, func() { cancel(cause) }
		}, ErrAborted, "context canceled: the user said stop"},
		{"deadline", func() (context.Context, func()) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
			t.Cleanup(cancel)
			return ctx, func() { <-ctx.Done() }
		}, ErrTimeout, "context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, end := tt.ctx()
			signal, stop := Signal(ctx)
			defer stop()
			if aborted(t, signal) || Live()[Signals] != 1 {
				t.Error("aborted before its time, or not counted")
			}
			end()
			until.True(t, "the signal", func() bool { return aborted(t, signal) })
			reason, _ := Get(signal, "reason")
			e := ErrorOf(reason)
			if e.Code() != tt.code || e.Message != tt.text {
				t.Errorf("reason %v", e)
			}
			if Live()[Signals] != 0 {
				t.Error("an aborted signal is still held")
			}
			late, stopLate := Signal(ctx)
			defer stopLate()
			if !aborted(t, late) || Live()[Signals] != 0 {
				t.Error("a signal of an ended context is not aborted at once")
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	signal, stop := Signal(ctx)
	stop()
	stop()
	cancel()
	until.Turns(5)
	if aborted(t, signal) || Live()[Signals] != 0 {
		t.Error("a signal that was let go of aborts, or is held")
	}
	if never, stop := Signal(context.Background()); !never.IsUndefined() {
		t.Error("a context that never ends has a signal")
	} else {
		stop()
	}
}

func TestSignalStopsWork(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	signal, stop := Signal(ctx)
	defer stop()
	p := must(Invoke(eval(t, `signal => new Promise((ok, no) => signal.addEventListener("abort", () => no(signal.reason)))`), signal))
	time.AfterFunc(3*time.Millisecond, cancel)
	// Awaited under another context, the rejection itself contains the reason.
	if _, err := Await(soon(t), p); !errors.Is(err, context.Canceled) || !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestWithSignal(t *testing.T) {
	s := newScope(t)
	controller := must(NewGlobal("AbortController"))
	signal := must(Get(controller, "signal"))
	ctx, cancel, err := WithSignal(t.Context(), s, signal)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if ctx.Err() != nil {
		t.Error("done before its time")
	}
	if _, err := Call(controller, "abort", ToError(context.DeadlineExceeded)); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, ErrTimeout) {
		t.Errorf("cause %v", cause)
	}
	// Aborted already.
	again, cancel2, err := WithSignal(t.Context(), s, signal)
	if err != nil || again.Err() == nil || !errors.Is(context.Cause(again), ErrTimeout) {
		t.Error(err, again.Err())
	}
	cancel2()
	// Never aborted, and let go of.
	other, cancel3, err := WithSignal(t.Context(), s, must(Get(must(NewGlobal("AbortController")), "signal")))
	if err != nil || other.Err() != nil {
		t.Error(err)
	}
	cancel3()
	none, cancel4, err := WithSignal(t.Context(), s, Undefined())
	if err != nil || none.Err() != nil {
		t.Error(err)
	}
	cancel4()
	if none.Err() == nil {
		t.Error("cancel does nothing without a signal")
	}
	until.True(t, "no listeners are left", func() bool { return Live()[Listeners] == 0 })
	if _, _, err := WithSignal(t.Context(), s, eval(t, `{}`)); !errors.Is(err, ErrType) {
		t.Error(err)
	}
}
