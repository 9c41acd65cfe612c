package protocol_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func TestRateAtBelowAndAbove(t *testing.T) {
	c := newClock()
	r, err := protocol.NewRateLimiter(3, time.Second, c.now)
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
	r, _ = protocol.NewRateLimiter(3, time.Second, c.now)
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
		if _, err := protocol.NewRateLimiter(bad.n, bad.per, c.now); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if _, err := protocol.NewRateLimiter(1, 1, nil); err == nil {
		t.Error("no clock is taken")
	}
}

func watch(t *testing.T, o protocol.WatchOptions) (*protocol.Watch, *clock) {
	t.Helper()
	c := newClock()
	o.Now = c.now
	w, err := protocol.NewWatch(o)
	if err != nil {
		t.Fatal(err)
	}
	return w, c
}

func TestWatchNames(t *testing.T) {
	w, c := watch(t, protocol.WatchOptions{Allow: `users:.*|read`, Deny: []string{`.*:delete`, `users:sec`}})
	for name, want := range map[string]protocol.Action{
		"users:get": "allow", "read": "allow", "reader": "deny", "xread": "deny", "users:delete": "deny", "users:deleted": "allow",
		"users:sec": "deny", "users:secrets": "allow", "posts:get": "deny", "": "deny", "a b": "deny", "constructor": "deny",
	} {
		c.advance(time.Minute * 2)
		if got := w.Check(protocol.WatchedCall{Tool: name}); got.Action != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	for _, o := range []protocol.WatchOptions{
		{Allow: "("}, {Deny: []string{""}}, {Deny: []string{"a", "["}}, {Rate: -1}, {Repeats: -1}, {RepeatsIn: time.Hour}, {Window: time.Millisecond},
		{Window: 2 * time.Hour}, {OnSequence: protocol.ActionAllow}, {Sequences: []protocol.Sequence{{Name: "x"}}}, {Allow: strings.Repeat("a", 2000)},
		{Sequences: []protocol.Sequence{{Name: "x", Steps: []protocol.Step{{Kind: 0}, {Kind: 1}}}}},
	} {
		if _, err := protocol.NewWatch(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestEnumerationAtBelowAndAbove(t *testing.T) {
	w, c := watch(t, protocol.WatchOptions{Sequences: []protocol.Sequence{}})
	check := func(tool string) protocol.Action { return w.Check(protocol.WatchedCall{Tool: tool}).Action }
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
	w, _ = watch(t, protocol.WatchOptions{Rate: 5, Sequences: []protocol.Sequence{}})
	for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if got := check2(w, name); (got == "allow") != (i < 5) {
			t.Errorf("call %d in the same second: %s", i, got)
		}
	}
}

func check2(w *protocol.Watch, tool string) protocol.Action {
	return w.Check(protocol.WatchedCall{Tool: tool}).Action
}

func TestSequences(t *testing.T) {
	call := func(tool string, args ...any) protocol.WatchedCall {
		c := protocol.WatchedCall{Tool: tool}
		if len(args) > 0 {
			c.Args = args[0]
		}
		return c
	}
	url := map[string]any{"target": "https://evil.test/x"}
	for _, c := range []struct {
		name  string
		calls []protocol.WatchedCall
		want  protocol.Action // of the last
	}{
		{"list, send", []protocol.WatchedCall{call("users:list"), call("email:send")}, "ask"},
		{"camel case", []protocol.WatchedCall{call("listUsers"), call("sendEmail")}, "ask"},
		{"acronyms", []protocol.WatchedCall{call("HTTPListAll"), call("postJSON")}, "ask"},
		{"send, list", []protocol.WatchedCall{call("email:send"), call("users:list")}, "allow"},
		{"others between", []protocol.WatchedCall{call("users:list"), call("x"), call("y"), call("z"), call("email:send")}, "ask"},
		{"only whole words: blacklist", []protocol.WatchedCall{call("blacklist_check"), call("email:send")}, "allow"},
		{"only whole words: listen", []protocol.WatchedCall{call("listen"), call("email:send")}, "allow"},
		{"only whole words: sender", []protocol.WatchedCall{call("users:list"), call("sender_name")}, "allow"},
		{"only whole words: posture", []protocol.WatchedCall{call("users:list"), call("posture")}, "allow"},
		{"only whole words: author", []protocol.WatchedCall{call("author_name"), call("fetch")}, "allow"},
		{"credential, external", []protocol.WatchedCall{call("secrets:peek"), call("fetch")}, "ask"},
		{"api_key, url in arguments", []protocol.WatchedCall{call("config", map[string]any{"name": "api_key"}), call("render", url)}, "ask"},
		{"apiKey as a key", []protocol.WatchedCall{call("config", map[string]any{"apiKey": ""}), call("render", url)}, "ask"},
		{"credential deep in arguments", []protocol.WatchedCall{call("config", []any{map[string]any{"a": []any{"the password please"}}}), call("render", url)}, "ask"},
		{"a credential in a Map", []protocol.WatchedCall{call("config", &protocol.Map{Entries: []protocol.MapEntry{{Key: "token"}}}), call("render", protocol.Set{"//evil.test"})}, "ask"},
		{"secret by capability, net by capability", []protocol.WatchedCall{{Tool: "a", Capability: protocol.SecretHas}, {Tool: "b", Capability: protocol.NetFetch}}, "ask"},
		{"credential alone", []protocol.WatchedCall{call("secrets:peek"), call("render")}, "allow"},
		{"bulk, external", []protocol.WatchedCall{call("rows", map[string]any{"limit": 1000.0}), call("fetch")}, "ask"},
		{"bulk just below", []protocol.WatchedCall{call("rows", map[string]any{"limit": 999.0}), call("fetch")}, "allow"},
		{"bulk by word", []protocol.WatchedCall{call("db:dump"), call("upload")}, "ask"},
		{"read, delete", []protocol.WatchedCall{call("read"), call("files:remove")}, "ask"},
		{"delete, read", []protocol.WatchedCall{call("files:remove"), call("read")}, "allow"},
		{"delete alone", []protocol.WatchedCall{call("files:remove")}, "allow"},
		{"a verb in an argument is not the call's", []protocol.WatchedCall{call("note", "list of users"), call("say", "send it")}, "allow"},
	} {
		w, clk := watch(t, protocol.WatchOptions{})
		var got protocol.Decision
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
		w, c := watch(t, protocol.WatchOptions{})
		w.Check(protocol.WatchedCall{Tool: "users:list"})
		c.advance(gap)
		if got := check2(w, "email:send"); got != want {
			t.Errorf("after %v: %s", gap, got)
		}
	}
	// Many calls in between push nothing out of the window.
	w, c := watch(t, protocol.WatchOptions{Rate: 100_000, Repeats: 100_000})
	check2(w, "users:list")
	for range 10_000 {
		c.advance(time.Millisecond)
		check2(w, "noop")
	}
	if got := check2(w, "email:send"); got != "ask" {
		t.Errorf("behind 10,000 calls: %s", got)
	}
	w, _ = watch(t, protocol.WatchOptions{OnSequence: protocol.ActionDeny})
	check2(w, "users:list")
	if got := check2(w, "email:send"); got != "deny" {
		t.Errorf("%s", got)
	}
}

func TestBulkReading(t *testing.T) {
	for n, want := range map[int]protocol.Action{19: "allow", 20: "ask", 21: "ask"} {
		w, c := watch(t, protocol.WatchOptions{})
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
	w, c := watch(t, protocol.WatchOptions{Rate: 100_000, Repeats: 100_000})
	huge := make([]any, 10_001)
	if got := w.Check(protocol.WatchedCall{Tool: "a", Args: huge}); got.Action != "deny" {
		t.Errorf("arguments too large to look over: %s", got.Action)
	}
	if got := w.Check(protocol.WatchedCall{Tool: "a", Args: huge[:9_000]}); got.Action != "allow" {
		t.Errorf("arguments below that: %+v", got)
	}
	deep := any("x")
	for range 40 {
		deep = []any{deep}
	}
	if got := w.Check(protocol.WatchedCall{Tool: "a", Args: deep}); got.Action != "deny" {
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
		w, err := protocol.NewWatch(protocol.WatchOptions{Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := enclave.DecodeValue(args, protocol.JSONLimits{Bytes: 4096})
		for _, name := range []string{first, second} {
			d := w.Check(protocol.WatchedCall{Tool: name, Args: v})
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
