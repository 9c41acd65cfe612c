package jsx

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
)

func TestAwait(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
	defer cancel()
	for code, want := range map[string]string{
		`Promise.resolve(5)`:                         "5",
		`new Promise(r => setTimeout(r, 5, 5))`:      "5",
		`(async () => 5)()`:                          "5",
		`5`:                                          "5", // no promise
		`{then(ok) { ok(5) }}`:                       "5", // a thenable
		`{then(ok) { ok(5); ok(6); throw 7 }}`:       "5",
		`{then(ok) { ok(Promise.resolve(5)) }}`:      "5",
		`Promise.resolve()`:                          "undefined",
		`Promise.reject(new TypeError("bad"))`:       "TypeError: bad",
		`Promise.reject()`:                           "undefined was thrown",
		`{then(ok, no) { no(new RangeError("r")) }}`: "RangeError: r",
		`{then() { throw new RangeError("t") }}`:     "RangeError: t",
		`{get then() { throw new RangeError("g") }}`: "RangeError: g",
		`Object.defineProperty(Promise.resolve(5), "then", {get() { throw 1 }})`:                                                                                         "5", // the built-in is used
		`Object.defineProperty(Promise.resolve(5), "constructor", {get() { throw new RangeError("c") }})`:                                                                "RangeError: c",
		`(() => { class P extends Promise {}; return P.resolve(5) })()`:                                                                                                  "5",
		`(() => { const f = document.createElement("iframe"); document.body.append(f); setTimeout(() => f.remove(), 50); return f.contentWindow.Promise.resolve(5) })()`: "5",
		`document.createElement("p")`: "object", // an object that is no promise
		`Promise.resolve(10n)`:        "bigint",
		`10n`:                         "bigint",
	} {
		v, err := Await(ctx, eval(t, code))
		got := TypeOf(v)
		if err != nil {
			got = err.Error()
		} else if got == "number" {
			got = map[bool]string{true: "5", false: "?"}[num(t, v) == 5]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	eval(t, `window.unhandled = 0, window.onunhandledrejection = e => window.unhandled++`)
	defer eval(t, `window.onunhandledrejection = null, delete window.unhandled`)
	cause := errors.New("went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	box := eval(t, `(() => { const b = {}; b.p = new Promise((ok, no) => { b.no = no }); return b })()`)
	p, _ := Get(box, "p")
	time.AfterFunc(3*time.Millisecond, func() { cancel(cause) })
	before := table()
	if _, err := Await(ctx, p); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Fatal(err)
	}
	if n := Live()[Awaits]; n != 0 {
		t.Errorf("%d awaits live", n)
	}
	if n := table(); n > before {
		t.Errorf("%d callbacks in the table, before %d", n, before)
	}
	// A late rejection of it has no effect, and neither has that of a promise awaited too late.
	if _, err := Call(box, "no", ToError(errors.New("late"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Await(ctx, eval(t, `Promise.reject(new Error("too late"))`)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for range 5 {
		if err := Yield(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := num(t, eval(t, `window.unhandled`)); n != 0 {
		t.Errorf("%d unhandledrejection events", n)
	}
}

// TestAwaitAbandonedLeaksNothing cancels many awaits of promises that never
// settle, and of some that settle late.
func TestAwaitAbandonedLeaksNothing(t *testing.T) {
	waiting := idleWaiters()
	before := table()
	late := eval(t, `(() => { const b = {ok: []}; b.make = () => new Promise(r => b.ok.push(r)); return b })()`)
	for i := range 2_000 {
		ctx, cancel := context.WithCancel(t.Context())
		p := must(Call(late, "make"))
		if i%2 == 0 {
			p = eval(t, `new Promise(() => {})`)
		}
		done := make(chan error)
		go func() { _, err := Await(ctx, p); done <- err }()
		if i%100 == 0 {
			_ = Yield(t.Context())
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := Invoke(eval(t, `b => b.ok.forEach(f => f(1))`), late); err != nil {
		t.Fatal(err)
	}
	// A waiter that serves now must not get one of those settlements.
	for range 100 {
		if v, err := Await(t.Context(), eval(t, `new Promise(r => setTimeout(r, 0, 42))`)); err != nil || num(t, v) != 42 {
			t.Fatalf("%v, %v: a late settlement of another promise", v, err)
		}
	}
	if n, m := table()-before, idleWaiters()-waiting; n > m {
		t.Errorf("the table grew by %d, idle waiters by %d", n, m)
	}
	if n := Live()[Awaits]; n != 0 {
		t.Errorf("%d awaits live", n)
	}
}

func TestAwaitManyAtOnce(t *testing.T) {
	make := eval(t, `i => new Promise((ok, no) => setTimeout(i % 3 ? ok : no, i % 5, i))`)
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			p, err := Invoke(make, i)
			if err != nil {
				t.Error(err)
				return
			}
			v, err := Await(t.Context(), p)
			if i%3 == 0 {
				if err == nil {
					t.Errorf("%d was not rejected", i)
				}
			} else if n, _ := Int(v); n != i || err != nil {
				t.Errorf("%d became %d, %v", i, n, err)
			}
		})
	}
	wg.Wait()
	if n := idleWaiters(); n > maxIdleWaiters {
		t.Errorf("%d idle waiters kept, limit %d", n, maxIdleWaiters)
	}
}

func TestPromise(t *testing.T) {
	s := newScope(t)
	for _, tt := range []struct {
		fn   func(context.Context) (any, error)
		want string
	}{
		{func(context.Context) (any, error) { return 42, nil }, `42`},
		{func(context.Context) (any, error) { return nil, nil }, `undefined`},
		{func(context.Context) (any, error) { return map[string]any{"a": []byte{1}}, nil }, `[object Object]`},
		{func(ctx context.Context) (any, error) { until.Turn(); return nil, ErrQuota }, `QuotaExceededError: QuotaExceededError`},
		{func(context.Context) (any, error) { panic("boom") }, `Error: panic in a callback: boom`},
		{func(context.Context) (any, error) { return struct{}{}, nil }, `DataCloneError: a struct {} has no JavaScript form here; pass nil, bool, a number, string, []byte, []string, []any, map[string]any, map[string]string or a Value`},
	} {
		p, err := NewPromise(t.Context(), s, tt.fn)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Await(t.Context(), must(Invoke(eval(t, `p => p.then(String, String)`), p)))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := String(r, 0); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	p, err := NewPromise(t.Context(), s, func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Await(t.Context(), p); !errors.Is(err, ErrAborted) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := NewPromise(t.Context(), s, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
