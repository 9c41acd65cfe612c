package jsx

import (
	"testing"
)

// eval runs JavaScript in the test page, which has no policy.
func eval(t testing.TB, code string) Value {
	t.Helper()
	v, err := Call(Global(), "eval", "("+code+")")
	if err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return v
}

func ok[T any](t testing.TB, x T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func num(t testing.TB, v Value) int {
	t.Helper()
	n, err := Int(v)
	return ok(t, n, err)
}

// isTrue runs an expression of v, as a check made in JavaScript.
func isTrue(t testing.TB, check string, v ...any) bool {
	t.Helper()
	r, err := Invoke(eval(t, check), v...)
	if err != nil {
		t.Fatalf("%s: %v", check, err)
	}
	b, err := Bool(r)
	return ok(t, b, err)
}

// table is how many callbacks JavaScript could call.
func table() int {
	d := dispatch()
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.fns)
}

func idleWaiters() int {
	waiters.mu.Lock()
	defer waiters.mu.Unlock()
	return len(waiters.idle)
}

func newScope(t testing.TB) *Scope {
	s := NewScope(ScopeOptions{OnError: func(err error) { t.Errorf("OnError: %v", err) }})
	t.Cleanup(func() { s.Close() })
	return s
}

// foreign makes a same-origin frame, for values of another realm.
func foreign(t testing.TB) Value {
	t.Helper()
	f := eval(t, `(() => { const f = document.createElement("iframe"); document.body.append(f); return f })()`)
	t.Cleanup(func() { Call(f, "remove") })
	w, err := Get(f, "contentWindow")
	return ok(t, w, err)
}
