package watch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/watch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func start(t *testing.T, o watch.Options) (*watch.Watch, *clock) {
	t.Helper()
	c := newClock()
	o.Now = c.now
	w, err := watch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w, c
}

func TestWatchNames(t *testing.T) {
	w, c := start(t, watch.Options{Allow: `users:.*|read`, Deny: []string{`.*:delete`, `users:sec`}})
	for name, want := range map[string]protocol.Action{
		"users:get": "allow", "read": "allow", "reader": "deny", "xread": "deny", "users:delete": "deny", "users:deleted": "allow",
		"users:sec": "deny", "users:secrets": "allow", "posts:get": "deny", "": "deny", "a b": "deny", "constructor": "deny",
	} {
		c.advance(time.Minute * 2)
		if got := w.Check(watch.Call{Tool: name}); got.Action != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	for _, o := range []watch.Options{
		{Allow: "("}, {Deny: []string{""}}, {Deny: []string{"a", "["}}, {Rate: -1}, {Repeats: -1}, {RepeatsIn: time.Hour}, {Window: time.Millisecond},
		{Window: 2 * time.Hour}, {OnSequence: protocol.ActionAllow}, {Sequences: []watch.Sequence{{Name: "x"}}}, {Allow: strings.Repeat("a", 2000)},
		{Sequences: []watch.Sequence{{Name: "x", Steps: []string{"", "send"}}}}, {Sequences: []watch.Sequence{{Name: "x", Steps: []string{"list", "sent"}}}},
		{Sequences: []watch.Sequence{{Name: "x", Steps: []string{"0 list", "send"}}}}, {Sequences: []watch.Sequence{{Name: "x", Steps: []string{"20001 list", "send"}}}},
		{Sequences: []watch.Sequence{{Steps: []string{"list", "send"}}}}, {Sequences: []watch.Sequence{{Name: "x", Steps: strings.Fields("list list list list list list list list send")}}},
	} {
		if _, err := watch.New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestEnumerationAtBelowAndAbove(t *testing.T) {
	w, c := start(t, watch.Options{Sequences: []watch.Sequence{}})
	check := func(tool string) protocol.Action { return w.Check(watch.Call{Tool: tool}).Action }
	for i := range 30 {
		if got := check("users:item"); got != "allow" {
			t.Fatalf("call %d: %s", i, got)
		}
		c.advance(100 * time.Millisecond)
	}
	if check("users:item") != "deny" {
		t.Error("the 31st in 5 s")
	}
	if check("other") != "allow" {
		t.Error("another tool is denied with it")
	}
	c.advance(1999 * time.Millisecond)
	if check("users:item") != "deny" {
		t.Error("a millisecond too early")
	}
	c.advance(time.Millisecond)
	if check("users:item") != "allow" {
		t.Error("5 s after the first")
	}
	// The rate counts all tools together.
	w, _ = start(t, watch.Options{Rate: 5, Sequences: []watch.Sequence{}})
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if got := check2(w, name); (got == "allow") != (i < 5) {
			t.Errorf("call %d in the same second: %s", i, got)
		}
	}
}

func check2(w *watch.Watch, tool string) protocol.Action {
	return w.Check(watch.Call{Tool: tool}).Action
}

func TestSequences(t *testing.T) {
	call := func(tool string, args ...any) watch.Call {
		c := watch.Call{Tool: tool}
		if len(args) > 0 {
			c.Args = args[0]
		}
		return c
	}
	url := map[string]any{"target": "https://evil.test/x"}
	for _, c := range []struct {
		name  string
		calls []watch.Call
		want  protocol.Action // of the last
	}{
		{"list, send", []watch.Call{call("users:list"), call("email:send")}, "ask"},
		{"camel case", []watch.Call{call("listUsers"), call("sendEmail")}, "ask"},
		{"acronyms", []watch.Call{call("HTTPListAll"), call("postJSON")}, "ask"},
		{"send, list", []watch.Call{call("email:send"), call("users:list")}, "allow"},
		{"others between", []watch.Call{call("users:list"), call("x"), call("y"), call("z"), call("email:send")}, "ask"},
		{"only whole words: blacklist", []watch.Call{call("blacklist_check"), call("email:send")}, "allow"},
		{"only whole words: listen", []watch.Call{call("listen"), call("email:send")}, "allow"},
		{"only whole words: sender", []watch.Call{call("users:list"), call("sender_name")}, "allow"},
		{"only whole words: posture", []watch.Call{call("users:list"), call("posture")}, "allow"},
		{"only whole words: author", []watch.Call{call("author_name"), call("fetch")}, "allow"},
		{"credential, external", []watch.Call{call("secrets:peek"), call("fetch")}, "ask"},
		{"api_key, url in arguments", []watch.Call{call("config", map[string]any{"name": "api_key"}), call("render", url)}, "ask"},
		{"apiKey as a key", []watch.Call{call("config", map[string]any{"apiKey": ""}), call("render", url)}, "ask"},
		{"credential deep in arguments", []watch.Call{call("config", []any{map[string]any{"a": []any{"the password please"}}}), call("render", url)}, "ask"},
		{"a credential in a Map", []watch.Call{call("config", &protocol.Map{Entries: []protocol.MapEntry{{Key: "token"}}}), call("render", protocol.Set{"//evil.test"})}, "ask"},
		{"secret by capability, net by capability", []watch.Call{{Tool: "a", Capability: protocol.SecretHas}, {Tool: "b", Capability: protocol.NetFetch}}, "ask"},
		{"credential alone", []watch.Call{call("secrets:peek"), call("render")}, "allow"},
		{"bulk, external", []watch.Call{call("rows", map[string]any{"limit": 1000.0}), call("fetch")}, "ask"},
		{"bulk just below", []watch.Call{call("rows", map[string]any{"limit": 999.0}), call("fetch")}, "allow"},
		{"bulk by word", []watch.Call{call("db:dump"), call("upload")}, "ask"},
		{"read, delete", []watch.Call{call("read"), call("files:remove")}, "ask"},
		{"delete, read", []watch.Call{call("files:remove"), call("read")}, "allow"},
		{"delete alone", []watch.Call{call("files:remove")}, "allow"},
		{"a verb in an argument is not the call's", []watch.Call{call("note", "list of users"), call("say", "send it")}, "allow"},
	} {
		w, clk := start(t, watch.Options{})
		var got policy.Decision
		for _, k := range c.calls {
			clk.advance(5 * time.Second) // a pause between calls forgets nothing
			got = w.Check(k)
		}
		if got.Action != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got.Action == "ask" && got.Headless().Action != "deny" {
			t.Errorf("%s: with nobody to ask it must be denied", c.name)
		}
	}
}

func TestSequenceWindowSpansWhatItSays(t *testing.T) {
	for gap, want := range map[time.Duration]protocol.Action{
		2 * time.Second: "ask", 59 * time.Second: "ask", time.Minute: "ask", time.Minute + 1: "allow",
	} {
		w, c := start(t, watch.Options{})
		w.Check(watch.Call{Tool: "users:list"})
		c.advance(gap)
		if got := check2(w, "email:send"); got != want {
			t.Errorf("after %v: %s", gap, got)
		}
	}
	// Many calls in between push nothing out of the window.
	w, c := start(t, watch.Options{Rate: 100_000, Repeats: 100_000})
	check2(w, "users:list")
	for range 10_000 {
		c.advance(time.Millisecond)
		check2(w, "noop")
	}
	if got := check2(w, "email:send"); got != "ask" {
		t.Errorf("behind 10,000 calls: %s", got)
	}
	w, _ = start(t, watch.Options{OnSequence: protocol.ActionDeny})
	check2(w, "users:list")
	if got := check2(w, "email:send"); got != "deny" {
		t.Errorf("%s", got)
	}
}

func TestBulkReading(t *testing.T) {
	for n, want := range map[int]protocol.Action{19: "allow", 20: "ask", 21: "ask"} {
		w, c := start(t, watch.Options{})
		for range n {
			c.advance(time.Second)
			check2(w, "read")
		}
		if got := check2(w, "fetch"); got != want {
			t.Errorf("%d reads: %s", n, got)
		}
	}
}

func TestWatchFailsClosed(t *testing.T) {
	w, c := start(t, watch.Options{Rate: 100_000, Repeats: 100_000})
	huge := make([]any, 10_001)
	if got := w.Check(watch.Call{Tool: "a", Args: huge}); got.Action != "deny" {
		t.Errorf("arguments too large to look over: %s", got.Action)
	}
	if got := w.Check(watch.Call{Tool: "a", Args: huge[:9_000]}); got.Action != "allow" {
		t.Errorf("arguments below that: %+v", got)
	}
	deep := any("x")
	for range 40 {
		deep = []any{deep}
	}
	if got := w.Check(watch.Call{Tool: "a", Args: deep}); got.Action != "deny" {
		t.Errorf("arguments too deep to look over: %s", got.Action)
	}
	n := 0
	for check2(w, "noop") == "allow" {
		c.advance(time.Microsecond)
		if n++; n > 30_000 {
			t.Fatal("the window is never full")
		}
	}
	if n < 19_000 {
		t.Errorf("full after %d", n)
	}
	c.advance(2 * time.Minute)
	if got := check2(w, "noop"); got != "allow" {
		t.Errorf("after the window: %s", got)
	}
}

func FuzzWatch(f *testing.F) {
	f.Add("users:list", `{"a":"https://x.y"}`, "email:send", uint16(5))
	f.Fuzz(func(t *testing.T, first, args, second string, pause uint16) {
		w, err := watch.New(watch.Options{Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := enclave.DecodeValue(args, protocol.JSONLimits{Bytes: 4096})
		for _, name := range []string{first, second} {
			d := w.Check(watch.Call{Tool: name, Args: v})
			if !d.Action.Valid() || protocol.ValidToolName(name) != nil && d.Action != "deny" {
				t.Fatalf("%q: %+v", name, d)
			}
		}
	})
}

type clock struct{ t time.Time }

func newClock() *clock                   { return &clock{time.Unix(1_000, 0)} }
func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func TestStepsOfASequence(t *testing.T) {
	for n, ok := range map[int]bool{1: false, 2: true, 8: true, 9: false} {
		if _, err := watch.New(watch.Options{Sequences: []watch.Sequence{{Name: "s", Steps: slices.Repeat([]string{"list"}, n)}}}); (err == nil) != ok {
			t.Errorf("%d steps: %v", n, err)
		}
	}
	for step, ok := range map[string]bool{"1 list": true, "20000 list": true, "20001 list": false, "0 list": false, "-1 list": false, "list ": false} {
		if _, err := watch.New(watch.Options{Sequences: []watch.Sequence{{Name: "s", Steps: []string{step, "send"}}}}); (err == nil) != ok {
			t.Errorf("%q: %v", step, err)
		}
	}
}

func ExampleWatch() {
	dog, _ := watch.New(watch.Options{Deny: []string{`admin:.*`}})
	for _, tool := range []string{"users:list", "admin:reset", "email:send"} {
		d := dog.Check(watch.Call{Tool: tool})
		fmt.Printf("%s: %s (%s)\n", tool, d.Action, d.Reason)
	}
	// Output:
	// users:list: allow ()
	// admin:reset: deny (the tool admin:reset is denied by its name)
	// email:send: ask (exfiltration: something was listed, and now something is to be sent)
}
