package jsx

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

func TestFunc(t *testing.T) {
	s := newScope(t)
	before := table()
	var got []string
	f, release, err := s.Func(func(args []Value) {
		for _, a := range args {
			got = append(got, TypeOf(a))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Invoke(f, 1, "s", nil, Undefined(), eval(t, "1n")); err != nil || !r.IsUndefined() {
		t.Fatal(r, err)
	}
	if strings.Join(got, " ") != "number string null undefined bigint" {
		t.Errorf("arguments %v", got)
	}
	if n := Live()[Callbacks]; n != 1 || table() != before+1 {
		t.Errorf("%d callbacks, table %d", n, table())
	}
	release()
	release()
	got = nil
	eval(t, `window.complaints = 0, window.consoleError = console.error, console.error = () => window.complaints++`)
	defer eval(t, `console.error = window.consoleError, delete window.consoleError, delete window.complaints`)
	if r, err := Invoke(f, 1); err != nil || !r.IsUndefined() || got != nil {
		t.Errorf("a released callback ran: %v, %v, %v", r, err, got)
	}
	if n := num(t, eval(t, `window.complaints`)); n != 0 {
		t.Error("a late call is complained about in the console")
	}
	if n := Live()[Callbacks]; n != 0 || table() != before {
		t.Errorf("%d callbacks, table %d, before %d", n, table(), before)
	}
}

func TestFunctionResults(t *testing.T) {
	var errs []error
	s := NewScope(ScopeOptions{OnError: func(err error) { errs = append(errs, err) }})
	defer s.Close()
	for _, tt := range []struct {
		x     any
		check string
		errs  int
	}{
		{nil, `v => v === undefined`, 0}, {5, `v => v === 5`, 0}, {[]byte{1}, `v => v[0] === 1`, 0},
		{map[string]any{"__proto__": 1}, `v => Object.hasOwn(v, "__proto__")`, 0},
		{Null(), `v => v === null`, 0},
		{struct{}{}, `v => v === undefined`, 1},
	} {
		errs = nil
		f, release, err := s.Function(func([]Value) any { return tt.x })
		if err != nil {
			t.Fatal(err)
		}
		r, err := Invoke(f)
		if err != nil || !isTrue(t, tt.check, r) || len(errs) != tt.errs {
			t.Errorf("%#v: %v, %v, OnError %v", tt.x, r, err, errs)
		}
		release()
	}
}

func TestPanicInACallbackIsReported(t *testing.T) {
	var errs []error
	s := NewScope(ScopeOptions{OnError: func(err error) { errs = append(errs, err) }})
	defer s.Close()
	f, _, err := s.Func(func([]Value) { panic(errors.New("boom")) })
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Invoke(f); err != nil || !r.IsUndefined() {
		t.Fatal(r, err)
	}
	// And when the browser calls, with no Go below.
	if _, err := Call(Global(), "setTimeout", f, 0); err != nil {
		t.Fatal(err)
	}
	until.True(t, "a report", func() bool { return len(errs) > 1 })
	var p *PanicError
	if len(errs) != 2 || !errors.As(errs[1], &p) || p.Unwrap() == nil || !strings.Contains(p.Stack, "TestPanicInACallbackIsReported") {
		t.Errorf("errors %v", errs)
	}
}

func TestDefaultReportGoesToTheConsole(t *testing.T) {
	eval(t, `window.said = [], window.consoleError = console.error, console.error = (...a) => window.said.push(a.join(" "))`)
	s := NewScope(ScopeOptions{})
	f, _, err := s.Func(func([]Value) { panic("for the console") })
	if err == nil {
		_, err = Invoke(f)
	}
	s.Close()
	said, _ := String(eval(t, `window.said.join("\n")`), 0)
	eval(t, `console.error = window.consoleError, delete window.consoleError, delete window.said`)
	if err != nil || !strings.Contains(said, "for the console") || !strings.Contains(said, "callback_js_test.go") {
		t.Errorf("%v; the console got %q", err, said)
	}
}

func TestCallbacksNest(t *testing.T) {
	s := newScope(t)
	depth := 0
	var f Value
	f, _, err := s.Function(func(args []Value) any {
		n, _ := Int(args[0])
		if n == 0 {
			return 0
		}
		depth++
		r, err := Invoke(f, n-1) // out to JavaScript and back in, on this goroutine
		if err != nil {
			t.Error(err)
		}
		m, _ := Int(r)
		return m + 1
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Invoke(f, 50); err != nil || num(t, r) != 50 || depth != 50 {
		t.Error(r, err, depth)
	}
}

func TestListen(t *testing.T) {
	s := newScope(t)
	before := table()
	target := eval(t, `new EventTarget`)
	fire := func(name string) {
		t.Helper()
		if _, err := Invoke(eval(t, `(t, n) => t.dispatchEvent(new Event(n))`), target, name); err != nil {
			t.Fatal(err)
		}
	}
	n, once := 0, 0
	remove, err := s.Listen(target, "a", func(ev Value) {
		if name, _ := GetString(ev, "type", 10); name != "a" {
			t.Errorf("type %q", name)
		}
		n++
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(target, "a", func(Value) { once++ }, ListenOptions{Once: true, Passive: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen(target, "a", func(Value) {}, ListenOptions{Capture: true}); err != nil {
		t.Fatal(err)
	}
	if c := Live()[Listeners]; c != 3 {
		t.Errorf("%d listeners, want 3", c)
	}
	fire("a")
	fire("a")
	fire("b")
	if n != 2 || once != 1 || Live()[Listeners] != 2 {
		t.Errorf("n %d, once %d, %v", n, once, Live())
	}
	remove()
	remove()
	fire("a")
	if n != 2 {
		t.Error("a removed listener was called")
	}
	s.Close()
	fire("a")
	if table() != before || Live()[Listeners] != 0 {
		t.Errorf("left: table %d (before %d), %v", table(), before, Live())
	}
	if _, err := s.Listen(target, "a", func(Value) {}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	open := newScope(t)
	if _, err := open.Listen(eval(t, `{}`), "a", func(Value) {}); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "listen to a") {
		t.Error(err)
	}
	if table() != before || Live()[Listeners] != 0 {
		t.Errorf("left after the failures: table %d (before %d), %v", table(), before, Live())
	}
}

func TestListenerOfAGoneFrame(t *testing.T) {
	s := newScope(t)
	w := foreign(t)
	if _, err := s.Listen(w, "message", func(Value) {}); err != nil {
		t.Fatal(err)
	}
	frame, _ := Get(w, "frameElement")
	if _, err := Call(frame, "remove"); err != nil {
		t.Fatal(err)
	}
	s.Close() // the target is gone; nothing to complain about
	if n := Live()[Listeners]; n != 0 {
		t.Errorf("%d listeners left", n)
	}
}
