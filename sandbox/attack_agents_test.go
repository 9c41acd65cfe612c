package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// family runs a model in which every agent has the same turn, until the requests are used up, and
// waits until all agents have ended. It returns the number of requests and all results of the
// tools.
func family(t *testing.T, off bool, o sandbox.RunOptions, turn func(n int) sandboxtest.Turn) (requests int, told string) {
	t.Helper()
	p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
	h := build(t, p, nil, nil, func(o *sandbox.Options) {
		if off {
			o.Without("agents")
		}
	})
	const most = 100 // ends a test without the defence: twice the maximum of any run of these tests
	var mu sync.Mutex
	under, idle := 0, make(chan struct{}, 1)
	m := &sandboxtest.Model{}
	m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
		mu.Lock()
		defer mu.Unlock()
		requests++
		for _, part := range r.Messages[len(r.Messages)-1].Parts {
			told += part.Text + "\n"
		}
		if requests > most {
			select {
			case idle <- struct{}{}:
			default:
			}
			return sandboxtest.Say("enough")
		}
		under++
		return turn(requests)
	}
	_, err := h.talk(t, h.session(t), m, "go", o)
	must(t, err)
	for h.AgentsAtWork() > 0 && !func() bool { mu.Lock(); defer mu.Unlock(); return requests > most }() {
		until.Turn()
	}
	h.Stop("enough")
	for h.AgentsAtWork() > 0 {
		until.Turn()
	}
	mu.Lock()
	defer mu.Unlock()
	return requests, told
}

func tasks(n int, background bool, at int) (t sandboxtest.Turn) {
	for i := range n {
		t.Calls = append(t.Calls, sandbox.ToolCall{Tool: "task", Args: args{"subagent_type": "general", "prompt": fmt.Sprint("go on ", at, " ", i), "background": background}})
	}
	return t
}

// In whatever way a model starts subagents, the run's limits apply to their number and to their
// cost.
func TestAttackSubagentsWithoutNumber(t *testing.T) {
	native.Only(t)
	count := attack.Start(t, "14")
	spend := func(turn sandboxtest.Turn) sandboxtest.Turn {
		turn.Usage = sandbox.Usage{Input: 600, Output: 400}
		return turn
	}
	for _, c := range []struct {
		name string
		o    sandbox.RunOptions
		most int // requests
		turn func(n int) sandboxtest.Turn
	}{
		{"forty in the background in each answer", sandbox.RunOptions{}, 50, func(n int) sandboxtest.Turn { return tasks(40, true, n) }},
		{"one in the background in each answer", sandbox.RunOptions{}, 50, func(n int) sandboxtest.Turn { return tasks(1, true, n) }},
		{"two that are waited for", sandbox.RunOptions{}, 50, func(n int) sandboxtest.Turn { return tasks(2, false, n) }},
		{"both ways", sandbox.RunOptions{}, 50, func(n int) sandboxtest.Turn { return tasks(3, n%2 == 0, n) }},
		{"with few steps", sandbox.RunOptions{Steps: 7}, 7, func(n int) sandboxtest.Turn { return tasks(5, true, n) }},
		{"by tokens", sandbox.RunOptions{Steps: 1000, Tokens: 20_000}, 20 + 9, func(n int) sandboxtest.Turn { return spend(tasks(3, true, n)) }},
		{"by money", sandbox.RunOptions{Steps: 1000, Money: 0.02, InputPrice: 1, OutputPrice: 1}, 20 + 9, func(n int) sandboxtest.Turn { return spend(tasks(3, true, n)) }},
	} {
		n, _ := family(t, false, c.o, c.turn)
		count.Try(fmt.Sprintf("%s (%d requests)", c.name, n), n > c.most)
		n, _ = family(t, true, c.o, c.turn)
		count.Off(c.name, n > c.most)
	}
}

// The number of subagents of a run, below, at and above.
func TestNumberOfSubagents(t *testing.T) {
	for _, c := range []struct{ most, start, refused int }{{3, 2, 0}, {3, 3, 0}, {3, 4, 1}, {0, 32, 0}, {0, 33, 1}} {
		started := 0
		_, told := family(t, false, sandbox.RunOptions{Steps: 1000, Agents: c.most}, func(n int) sandboxtest.Turn {
			if started == c.start { // the last answer of the root and of each subagent
				return sandboxtest.Say("done")
			}
			if n%2 == 0 { // a subagent's only request
				return sandboxtest.Say("done")
			}
			started++
			return tasks(1, false, n)
		})
		if got := strings.Count(told, "budget of subagents"); got != c.refused {
			t.Errorf("%d of %d: %d were refused\n%s", c.start, c.most, got, told)
		}
	}
}

// How many subagents work at the same time, below, at and above.
func TestSubagentsAtOnce(t *testing.T) {
	for _, c := range []struct{ start, refused int }{{7, 0}, {8, 0}, {9, 1}, {10, 2}} {
		release := make(chan struct{})
		p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
		h := build(t, p, nil, nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.Tool{Tool: protocol.Tool{ID: "wait", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
				<-release
				return "ok", nil
			}})
		})
		told, first := "", true
		m := &sandboxtest.Model{Next: func(r sandbox.ModelRequest) sandboxtest.Turn {
			if first {
				first = false
				return tasks(c.start, true, 0)
			}
			last := r.Messages[len(r.Messages)-1]
			if last.Parts[0].Type != sandbox.PartResult { // a subagent's first request
				return sandboxtest.CallTool("wait", args{})
			}
			if last.Parts[0].Tool == "task" {
				for _, part := range last.Parts {
					told += part.Text
				}
				close(release)
			}
			return sandboxtest.Say("done")
		}}
		_, err := h.talk(t, h.session(t), m, "go")
		must(t, err)
		if got := strings.Count(told, "8 subagents are at work already"); got != c.refused {
			t.Errorf("of %d, %d were refused: %s", c.start, got, told)
		}
		for h.AgentsAtWork() > 0 {
			until.Turn()
		}
	}
}

// The watchdog treats a family of agents as one: it detects a sequence that is split between
// agents, and the limits of a session apply to the family.
func TestAttackFamilyIsWatchedAsOne(t *testing.T) {
	count := attack.Start(t, "14")
	for _, c := range []struct {
		name  string
		calls int // of each of four agents
	}{{"calls of one tool", 60}, {"uses of something scarce", 3}} {
		attempt := func(off bool) bool {
			p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
			h := build(t, p, nil, nil, func(o *sandbox.Options) {
				o.Watch = &sandbox.WatchOptions{Rate: 1000, Repeats: 100}
				o.Tools = append(sandbox.Standard(), sandbox.Tool{Tool: protocol.Tool{ID: "scarce", Parameters: `{"type":"object"}`}, Run: func(_ context.Context, c *sandbox.Call) (any, error) {
					return "ok", c.CountUse("scarce", 10)
				}}, sandbox.Tool{Tool: protocol.Tool{ID: "plain", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) { return "ok", nil }})
				if off {
					o.Without("agents")
				}
			})
			failed := false
			var mu sync.Mutex
			root := true
			m := &sandboxtest.Model{}
			m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
				mu.Lock()
				defer mu.Unlock()
				if root {
					root = false
					return tasks(4, false, 0)
				}
				last := r.Messages[len(r.Messages)-1]
				if last.Parts[0].Type == sandbox.PartResult {
					for _, part := range last.Parts {
						failed = failed || part.Failed
					}
					return sandboxtest.Say("done")
				}
				tool := map[bool]string{true: "plain", false: "scarce"}[c.calls > 10]
				var turn sandboxtest.Turn
				for range c.calls {
					turn.Calls = append(turn.Calls, sandbox.ToolCall{Tool: tool, Args: args{}})
				}
				return turn
			}
			_, err := h.talk(t, h.session(t), m, "go")
			must(t, err)
			return !failed
		}
		count.Try(c.name, attempt(false))
		count.Off(c.name, attempt(true))
	}
}

// stopsAtBirth stops the box at the moment when a subagent's session is created.
type stopsAtBirth struct {
	sandbox.Store
	stop func()
}

func (s stopsAtBirth) Put(ctx context.Context, r sandbox.SessionRecord, m []sandbox.MessageRecord, p []sandbox.PartRecord) error {
	if r.Agent != "" {
		s.stop()
	}
	return s.Store.Put(ctx, r, m, p)
}

// A call that is stopped while it starts a subagent starts none, because nothing would stop that
// subagent.
func TestStopWhileASubagentStarts(t *testing.T) {
	p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
	for _, background := range []bool{true, false} {
		for _, n := range []int{1, 5} {
			var h *house
			stops := make(chan struct{}, 100)
			h = build(t, p, nil, nil, func(o *sandbox.Options) {
				o.Sessions = stopsAtBirth{sandbox.MemoryStore(), func() { h.Stop("the user said so"); stops <- struct{}{} }}
			})
			s := h.session(t)
			var mu sync.Mutex
			of := 0
			m := &sandboxtest.Model{}
			m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
				mu.Lock()
				defer mu.Unlock()
				for _, part := range r.Messages[0].Parts {
					if strings.Contains(part.Text, "go on") {
						of++
					}
				}
				if len(r.Messages) > 2 || of > 0 {
					return sandboxtest.Say("done")
				}
				return tasks(n, background, 0)
			}
			_, err := h.talk(t, s, m, "start", sandbox.RunOptions{})
			must(t, err)
			<-stops
			for h.AgentsAtWork() > 0 {
				until.Turn()
			}
			mu.Lock()
			if of > 0 {
				t.Errorf("background %t, %d: %d requests of subagents after the stop", background, n, of)
			}
			mu.Unlock()
		}
	}
}
