package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// ladder is a model of agents, each of which starts one below it, down to a depth. The last one does the
// work of the test. It keeps the requests of the agents by their levels, 0 for the run's own.
type ladder struct {
	depth      int
	background bool
	work       func(r sandbox.ModelRequest) sandboxtest.Turn // of the last one

	mu       sync.Mutex
	requests map[int][]sandbox.ModelRequest
}

// levelOf returns the level of the agent that a request is of.
func levelOf(r sandbox.ModelRequest) int { return strings.Count(r.Messages[0].Parts[0].Text, "deeper") }

func (l *ladder) next(r sandbox.ModelRequest) sandboxtest.Turn {
	level := levelOf(r)
	l.mu.Lock()
	if l.requests == nil {
		l.requests = map[int][]sandbox.ModelRequest{}
	}
	l.requests[level] = append(l.requests[level], r)
	l.mu.Unlock()
	switch {
	case level == l.depth:
		return l.work(r)
	case len(r.Messages) == 1:
		return sandboxtest.Turn{Calls: []sandbox.ToolCall{{Tool: "task", Args: args{"subagent_type": "general", "prompt": r.Messages[0].Parts[0].Text + " deeper", "background": l.background && level == l.depth-1}}}}
	}
	return sandboxtest.Say(fmt.Sprint("level ", level, " is done"))
}

// At each depth, in the foreground and as the last one in the background.
func atEachDepth(t *testing.T, do func(t *testing.T, l *ladder)) {
	for depth := 1; depth <= 5; depth++ {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprintf("depth %d, background %t", depth, background), func(t *testing.T) {
				do(t, &ladder{depth: depth, background: background})
			})
		}
	}
}

// once makes one call and then says that it is done.
func once(tool string, a args) func(r sandbox.ModelRequest) sandboxtest.Turn {
	return func(r sandbox.ModelRequest) sandboxtest.Turn {
		if len(r.Messages) == 1 {
			return sandboxtest.CallTool(tool, a)
		}
		return sandboxtest.Say("it is done")
	}
}

func ended(h *house) {
	for h.AgentsAtWork() > 0 {
		until.Turn()
	}
}

// The policy's "send" and the limits of a credential apply to a subagent's requests, and OnSend sees them
// as they are sent.
func TestSubagentsSendNoMore(t *testing.T) {
	const secret = "the plan of the house"
	for level, want := range map[string]bool{"contents": true, "summary": false, "nothing": false} {
		atEachDepth(t, func(t *testing.T, l *ladder) {
			p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}], "send": {"default": "`+level+`"}}`)
			h := build(t, p, nil, map[string]string{"a": strings.Repeat("x\n", 2000) + secret + "\nghp_abcdefghij0123456789ABCDEFGHIJ012345\n" + strings.Repeat("y\n", 2000)})
			l.work = once("read", args{"path": "a", "offset": 1990.0, "limit": 20.0})
			var mu sync.Mutex
			var seen []string
			o := sandbox.RunOptions{OnSend: func(r sandbox.ModelRequest) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, texts(r))
			}}
			_, err := h.talk(t, h.session(t), &sandboxtest.Model{Next: l.next}, "go", o)
			must(t, err)
			ended(h)
			last := l.requests[l.depth]
			if len(last) != 2 {
				t.Fatalf("%d requests of the last agent", len(last))
			}
			got := texts(last[1])
			if strings.Contains(got, secret) != want || strings.Contains(got, "ghp_abc") {
				t.Errorf("send %s: %s", level, got)
			}
			all, sent := strings.Join(seen, "\x00"), 0
			for _, list := range l.requests {
				for _, r := range list {
					sent++
					if !strings.Contains(all, texts(r)) {
						t.Errorf("OnSend did not see %s", texts(r))
					}
				}
			}
			if sent != len(seen) {
				t.Errorf("OnSend saw %d of %d requests", len(seen), sent)
			}
		})
	}
}

// Each step of a subagent is in the audit log, with the subagent's session.
func TestSubagentsAreInTheAuditLog(t *testing.T) {
	atEachDepth(t, func(t *testing.T, l *ladder) {
		p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
		h := build(t, p, nil, map[string]string{"a": "x"})
		l.work = once("read", args{"path": "a"})
		s := h.session(t)
		_, err := h.talk(t, s, &sandboxtest.Model{Next: l.next}, "go")
		must(t, err)
		ended(h)
		list, err := h.Sessions(t.Context())
		must(t, err)
		parents := map[string]string{}
		for _, r := range list {
			parents[r.ID] = r.ParentID
		}
		found := 0
		var log bytes.Buffer
		must(t, h.Audit().Export(&log))
		for text := range strings.Lines(log.String()) {
			var line struct {
				Trace struct {
					Tool    string `json:"tool"`
					Session string `json:"root_id"`
				} `json:"trace"`
			}
			must(t, json.Unmarshal([]byte(text), &line))
			if line.Trace.Tool != "read" {
				continue
			}
			found++
			up, levels := line.Trace.Session, 0
			for ; parents[up] != ""; up = parents[up] {
				levels++
			}
			if up != s.ID() || levels != l.depth {
				t.Errorf("the session %q is %d levels below %q", line.Trace.Session, levels, up)
			}
		}
		if found == 0 {
			t.Error("no line about the read")
		}
	})
}

// A run's time ends the work of all its agents.
func TestTimeHoldsForDescendants(t *testing.T) {
	for depth := 1; depth <= 5; depth++ {
		for _, background := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				l := &ladder{depth: depth, background: background}
				p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
				h := build(t, p, nil, nil)
				began := time.Now()
				_, err := h.talk(t, h.session(t), &waiting{Model: &sandboxtest.Model{Next: l.next}, depth: depth}, "go", sandbox.RunOptions{Time: time.Minute})
				must(t, err)
				synctest.Wait()
				if !background && time.Since(began) != time.Minute {
					t.Errorf("depth %d: the run took %s", depth, time.Since(began))
				}
				for h.AgentsAtWork() > 0 { // those in the background go on until then
					until.Passed(time.Second)
				}
				if took := time.Since(began); took < time.Minute || took > time.Minute+time.Second {
					t.Errorf("depth %d, background %t: the agents worked %s", depth, background, took)
				}
			})
		}
	}
}

// waiting is a model whose last agent waits until its context ends.
type waiting struct {
	*sandboxtest.Model
	depth   int
	begun   func()
	mu      sync.Mutex
	stopped int
}

func (m *waiting) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	if levelOf(r) < m.depth {
		return m.Model.Stream(ctx, r)
	}
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for _, text := range []string{"I begin", "."} { // the first is taken when the second is received
			if !yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: text}, nil) {
				return
			}
		}
		if m.begun != nil {
			m.begun()
		}
		<-ctx.Done()
		m.mu.Lock()
		m.stopped++
		m.mu.Unlock()
		yield(sandbox.ModelEvent{}, context.Cause(ctx))
	}
}

// Stop of the box ends the agents at each depth, and an interruption of the session those that it waits
// for: those in the background go on. The text that they had is in their sessions.
func TestStopReachesDescendants(t *testing.T) {
	for _, how := range []string{"box", "session"} {
		atEachDepth(t, func(t *testing.T, l *ladder) {
			if how == "session" && l.background {
				return
			}
			p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
			store := sandbox.MemoryStore()
			h := build(t, p, nil, nil, func(o *sandbox.Options) { o.Sessions = store })
			s := h.session(t)
			m := &waiting{Model: &sandboxtest.Model{Next: l.next}, depth: l.depth}
			m.begun = func() {
				if how == "box" {
					h.Stop("the user said so")
				} else {
					s.Interrupt("the user said so")
				}
			}
			_, err := h.talk(t, s, m, "go")
			must(t, err)
			ended(h)
			until.True(t, "the model of the last agent is stopped", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.stopped == 1 })
			list, err := h.Sessions(t.Context())
			must(t, err)
			if len(list) != l.depth+1 {
				t.Errorf("%d sessions", len(list))
			}
			until.True(t, "its text is stored", func() bool {
				for _, r := range list {
					_, ps, err := store.Messages(t.Context(), r.ID)
					must(t, err)
					for _, part := range ps {
						data, _ := part.Data.(map[string]any)
						if text, _ := data["text"].(string); r.ID != s.ID() && strings.HasPrefix(text, "I begin") {
							return true
						}
					}
				}
				return false
			})
		})
	}
}

// At each depth 8 agents of a session work at the same time, and not a ninth.
func TestAgentsAtOnceAtEachDepth(t *testing.T) {
	for depth := 1; depth <= 5; depth++ {
		for _, more := range []int{-1, 0, 1} { // below, at and above the limit
			t.Run(fmt.Sprint(depth, " ", more), func(t *testing.T) {
				start := 8 - (depth - 1) + more // the agents above are at work, too
				release := make(chan struct{})
				p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`)
				h := build(t, p, nil, nil, func(o *sandbox.Options) {
					o.Tools = append(sandbox.Standard(), sandbox.Tool{Tool: protocol.Tool{ID: "wait", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
						<-release
						return "ok", nil
					}})
				})
				told := ""
				l := &ladder{depth: depth - 1}
				l.work = func(r sandbox.ModelRequest) sandboxtest.Turn {
					if len(r.Messages) == 1 {
						return tasks(start, true, 0)
					}
					for _, part := range r.Messages[len(r.Messages)-1].Parts {
						told += part.Text + "\n"
					}
					close(release)
					return sandboxtest.Say("done")
				}
				m := &sandboxtest.Model{}
				m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
					if strings.HasPrefix(r.Messages[0].Parts[0].Text, "go on") {
						return once("wait", args{})(r)
					}
					return l.next(r)
				}
				_, err := h.talk(t, h.session(t), m, "go", sandbox.RunOptions{Agents: 100})
				must(t, err)
				ended(h)
				want := max(0, more)
				if got := strings.Count(told, "8 subagents are at work already"); got != want {
					t.Errorf("%d of %d were refused, want %d: %s", got, start, want, told)
				}
			})
		}
	}
}

// The stream of a run with Progress shows the parts of its agents while they work, one below the other
// with their names and sessions. Without Progress there are none.
func TestAgentsAreSeen(t *testing.T) {
	for depth := 1; depth <= 5; depth++ {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			release := make(chan struct{})
			p := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
			h := build(t, p, nil, map[string]string{"a": "x"}, func(o *sandbox.Options) {
				o.Tools = append(sandbox.Standard(), sandbox.Tool{Tool: protocol.Tool{ID: "wait", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
					<-release
					return "ok", nil
				}})
			})
			l := &ladder{depth: depth}
			l.work = func(r sandbox.ModelRequest) sandboxtest.Turn {
				switch len(r.Messages) {
				case 1:
					return sandboxtest.Turn{Reasoning: "hm", Text: "I look.", Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a"}}}}
				case 3:
					return sandboxtest.CallTool("wait", args{})
				}
				return sandboxtest.Say("it is done")
			}
			s := h.session(t)
			_, err := s.Say(t.Context(), "go")
			must(t, err)
			seen, final := false, 0
			for c, err := range h.Run(t.Context(), s, &sandboxtest.Model{Next: l.next}, sandbox.RunOptions{Progress: time.Millisecond}) {
				must(t, err)
				if c.Type == "tool-output-available" && !c.Preliminary {
					final++
				}
				if !c.Preliminary || seen {
					continue
				}
				out, names := any(c.Output), 0
				var kinds []string
				for {
					m, _ := out.(map[string]any)
					if m == nil || m["agent"] != "general" || m["session_id"] == "" {
						break
					}
					names++
					out = nil
					kinds = nil
					list, _ := m["parts"].([]any)
					for _, part := range list {
						part := part.(map[string]any)
						kinds = append(kinds, fmt.Sprint(part["type"], " ", part["state"]))
						if part["type"] == "tool-task" {
							out = part["output"]
						}
					}
				}
				if got := strings.Join(kinds, ", "); names == depth && got == "step-start <nil>, reasoning done, text done, tool-read output-available, step-start <nil>, tool-wait input-available" {
					seen = true
					close(release)
				}
			}
			if !seen || final != 1 {
				t.Errorf("seen %t, %d results", seen, final)
			}
		})
	}
	l := &ladder{depth: 2, work: func(sandbox.ModelRequest) sandboxtest.Turn { return sandboxtest.Say("done") }}
	h := build(t, parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`), nil, nil)
	lines, err := h.talk(t, h.session(t), &sandboxtest.Model{Next: l.next}, "go")
	if must(t, err); strings.Contains(strings.Join(lines, ""), "preliminary") {
		t.Errorf("without Progress: %v", lines)
	}
}

// The money of a session is that of its requests and of all its agents. Tokens that were cached have a
// price of their own, and a reload has the same values.
func TestMoneyOfASession(t *testing.T) {
	usage := sandbox.Usage{Input: 1000, Output: 100, Cached: 400, Reasoning: 30}
	atEachDepth(t, func(t *testing.T, l *ladder) {
		store := sandbox.MemoryStore()
		h := build(t, parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}}`), nil, nil, func(o *sandbox.Options) { o.Sessions = store })
		s := h.session(t)
		l.work = func(sandbox.ModelRequest) sandboxtest.Turn { return sandboxtest.Say("done") }
		m := &sandboxtest.Model{Next: func(r sandbox.ModelRequest) sandboxtest.Turn {
			turn := l.next(r)
			turn.Usage = usage
			return turn
		}}
		_, err := h.talk(t, s, m, "go", sandbox.RunOptions{InputPrice: 10, OutputPrice: 50, CachedPrice: 1})
		must(t, err)
		ended(h)
		_, err = s.Say(t.Context(), "thanks") // stores the session's record
		must(t, err)
		each := (600*10.0 + 400*1 + 100*50) / 1e6
		requests := float64(2*l.depth + 1) // two of each agent, and one of the last
		again, err := store.Session(t.Context(), s.ID())
		must(t, err)
		for name, r := range map[string]sandbox.SessionRecord{"open": s.Record(), "stored": again} {
			if diff := r.Money - requests*each; diff > 1e-9 || diff < -1e-9 || r.CachedTokens != 800 || r.ReasoningTokens != 60 || r.InputTokens != 2000 {
				t.Errorf("%s: %v, want %v; %+v", name, r.Money, requests*each, r)
			}
		}
	})
}

// A server that tells a negative number of tokens, or one that overflows, does not lift a budget.
func TestUsageHasLimits(t *testing.T) {
	for _, u := range []sandbox.Usage{{Input: -1e15, Output: 10}, {Input: 10, Output: -1e15}, {Input: 1 << 62, Output: 1 << 62}, {Input: 10, Output: 10, Cached: 1e15}, {Input: 10, Output: 10, Cached: -5, Reasoning: -5}, {Input: 10, Output: 10, Reasoning: 1e15}} {
		h := build(t, parse(t, open), nil, map[string]string{"a": "x"})
		n := 0
		m := &sandboxtest.Model{OnDevice: true, Next: func(sandbox.ModelRequest) sandboxtest.Turn {
			n++
			turn := sandboxtest.CallTool("read", args{"path": "a"})
			turn.Usage = u
			return turn
		}}
		s := h.session(t)
		_, err := h.talk(t, s, m, "go", sandbox.RunOptions{Tokens: 35, Money: 1e9, InputPrice: 1, OutputPrice: 1})
		must(t, err)
		r := s.Record()
		if n < 1 || n > 4 || r.InputTokens < 0 || r.OutputTokens < 0 || r.Money < 0 || r.CachedTokens > r.InputTokens || r.ReasoningTokens > r.OutputTokens {
			t.Errorf("%+v: %d requests, %+v", u, n, r)
		}
		must(t, r.Validate())
	}
}

// A call of a subagent is shown from its first word on, while the model writes its arguments.
func TestSubagentsCallIsShownWhileItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := parse(t, open)
		p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.Stream})
		h := build(t, p, nil, map[string]string{"a": "x"})
		m := &streamModel{next: func(try int, r sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
			switch try {
			case 1:
				yield(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: "c", Tool: "task", Args: []byte(`{"subagent_type":"general","prompt":"read"}`)}, nil)
			case 2:
				yield(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: "r", Tool: "read"}, nil)
				<-time.After(time.Second)
				yield(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: "r", Tool: "read", Args: []byte(`{"path":"a"}`)}, nil)
			}
			yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "stop"}, nil)
		}}
		s := h.session(t)
		_, err := s.Say(t.Context(), "go")
		must(t, err)
		seen := ""
		for c, err := range h.Run(t.Context(), s, m, sandbox.RunOptions{Progress: 10 * time.Millisecond}) {
			must(t, err)
			if c.Type != "tool-output-available" || !c.Preliminary {
				continue
			}
			out, _ := c.Output.(map[string]any)
			parts, _ := out["parts"].([]any)
			for _, part := range parts {
				if part, _ := part.(map[string]any); part["type"] == "tool-read" {
					seen += fmt.Sprint(part["state"], " ", part["input"], "\n")
				}
			}
		}
		if !strings.HasPrefix(seen, "input-streaming <nil>\n") || strings.Count(seen, "input-streaming") != 1 {
			t.Errorf("it shows\n%s", seen)
		}
	})
}
