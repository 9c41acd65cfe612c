package jsx_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

// guest is the second Go program on the page: this test binary again, with
// JSX_GUEST set. It answers on an EventTarget that the host put on the page.
func guest(role string) error {
	s := jsx.NewScope(jsx.ScopeOptions{})
	target, err := jsx.Get(jsx.Global(), "jsxGuestTarget")
	if err != nil {
		return err
	}
	say := func(text string) {
		event, err := jsx.NewGlobal("CustomEvent", "guest", map[string]any{"detail": text})
		if err == nil {
			_, err = jsx.Call(target, "dispatchEvent", event)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "guest:", err)
		}
	}
	asked := jsx.Unbounded[string]()
	if _, err := s.Listen(target, "host", func(ev jsx.Value) {
		text, _ := jsx.GetString(ev, "detail", 100)
		asked.Push(text)
	}); err != nil {
		return err
	}
	if _, err := jsx.Trusted(""); err != nil {
		return err
	}
	say("ready")
	if role == "returns" {
		return nil // with the listener still there
	}
	for text, err := range asked.All(context.Background()) {
		if err != nil {
			return err
		}
		if text == "end" {
			break
		}
		// An await and a yield, so that both programs use all there is.
		promise, err := jsx.Lookup(jsx.Global(), "Promise")
		if err == nil {
			promise, err = jsx.Call(promise, "resolve", strings.ToUpper(text))
		}
		if err != nil {
			return err
		}
		v, err := jsx.Await(context.Background(), promise)
		if err != nil {
			return err
		}
		if err := jsx.Yield(context.Background()); err != nil {
			return err
		}
		answer, err := jsx.String(v, 100)
		if err != nil {
			return err
		}
		say(answer)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if live := jsx.Live(); live.Total() != 0 {
		return fmt.Errorf("left: %v", live)
	}
	say("bye")
	return nil
}

// startGuest runs the test's own binary a second time on this page.
func startGuest(t *testing.T, role string) (heard *jsx.Queue[string], say func(string), ended func() error) {
	t.Helper()
	s := jsx.NewScope(jsx.ScopeOptions{OnError: func(err error) { t.Error(err) }})
	t.Cleanup(func() { s.Close() })
	target, err := jsx.NewGlobal("EventTarget")
	if err != nil {
		t.Fatal(err)
	}
	if err := jsx.Set(jsx.Global(), "jsxGuestTarget", target); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jsx.Delete(jsx.Global(), "jsxGuestTarget") })
	heard = jsx.Unbounded[string]()
	if _, err := s.Listen(target, "guest", func(ev jsx.Value) {
		text, _ := jsx.GetString(ev, "detail", 100)
		heard.Push(text)
	}); err != nil {
		t.Fatal(err)
	}
	start, err := jsx.Call(jsx.Global(), "eval", `(async role => {
		const wasm = performance.getEntriesByType("resource").map(e => e.name).find(n => n.includes(".wasm"));
		const go = new Go();
		go.env = {JSX_GUEST: role, HOME: "/"};
		go.exit = code => { window.jsxGuestCode = code };
		const made = await WebAssembly.instantiateStreaming(fetch(wasm), go.importObject);
		return {over: go.run(made.instance).then(() => window.jsxGuestCode ?? 0)};
	})`)
	if err != nil {
		t.Fatal(err)
	}
	started, err := jsx.Invoke(start, role)
	if err != nil {
		t.Fatal(err)
	}
	box, err := jsx.Await(t.Context(), started)
	if err != nil {
		t.Fatal(err)
	}
	return heard, func(text string) {
			event, err := jsx.NewGlobal("CustomEvent", "host", map[string]any{"detail": text})
			if err == nil {
				_, err = jsx.Call(target, "dispatchEvent", event)
			}
			if err != nil {
				t.Error(err)
			}
		}, func() error {
			over, err := jsx.Get(box, "over")
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			code, err := jsx.Await(ctx, over)
			if err != nil {
				return err
			}
			if n, _ := jsx.Int(code); n != 0 {
				return fmt.Errorf("the guest exited with %d", n)
			}
			return nil
		}
}

func hear(t *testing.T, q *jsx.Queue[string], want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if got, err := q.Recv(ctx); got != want || err != nil {
		t.Fatalf("heard %q, %v; want %q", got, err, want)
	}
}

func TestTwoGoProgramsOnOnePage(t *testing.T) {
	before := jsx.Live()
	heard, say, ended := startGuest(t, "serves")
	hear(t, heard, "ready")
	for i := range 50 {
		say(fmt.Sprintf("word%d", i))
		// The host goes on meanwhile, with callbacks of the same numbers.
		if err := jsx.Yield(t.Context()); err != nil {
			t.Fatal(err)
		}
		hear(t, heard, fmt.Sprintf("WORD%d", i))
	}
	if over := jsx.Live().Over(before); over[jsx.Listeners] != 1 || over.Total() != 1 {
		t.Errorf("the host counts the guest's: %v", over)
	}
	say("end")
	hear(t, heard, "bye")
	if err := ended(); err != nil {
		t.Error(err)
	}
	say("after its end") // its listener is gone: nothing happens
	if err := jsx.Yield(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestMainReturnsWhileHandlersLive: callbacks that a finished program left on the page throw in the
// page, and the other program continues.
func TestMainReturnsWhileHandlersLive(t *testing.T) {
	heard, say, ended := startGuest(t, "returns")
	hear(t, heard, "ready")
	if err := ended(); err != nil {
		t.Error(err)
	}
	eval := func(code string) jsx.Value {
		v, err := jsx.Call(jsx.Global(), "eval", code)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	eval(`window.jsxUncaught = []; window.jsxHear = e => { window.jsxUncaught.push(e.message); e.preventDefault(); e.stopImmediatePropagation() };
		addEventListener("error", window.jsxHear, true)`)
	say("anybody there?")
	uncaught, _ := jsx.String(eval(`removeEventListener("error", window.jsxHear, true); const said = window.jsxUncaught.join(); delete window.jsxUncaught; delete window.jsxHear; said`), 1000)
	if !strings.Contains(uncaught, "exited") {
		t.Errorf("the page said %q: a handler of a finished program should say so", uncaught)
	}
	if v, err := jsx.Await(t.Context(), eval(`new Promise(r => setTimeout(r, 1, "alive"))`)); err != nil {
		t.Error(err)
	} else if s, _ := jsx.String(v, 10); s != "alive" {
		t.Error(s)
	}
	if heard.Len() != 0 {
		t.Error("a finished program spoke")
	}
}
