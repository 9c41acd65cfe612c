package sandbox_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// planned makes the house that of a plan: its tools work on a copy of the folder.
func (h *house) planned(t testing.TB) {
	t.Helper()
	p, err := h.Plan(t.Context())
	must(t, err)
	h.Box = p.Box
}

// copied returns the store as a page leaves it that is closed now.
func copied(t *testing.T, from sandbox.Store) sandbox.Store {
	t.Helper()
	to := sandbox.MemoryStore()
	list, err := from.Sessions(t.Context())
	must(t, err)
	for _, r := range list {
		ms, ps, err := from.Messages(t.Context(), r.ID)
		must(t, err)
		must(t, to.Put(t.Context(), r, ms, ps))
	}
	return to
}

// below returns the line of each stored part of the model's in a session, and of the sessions of subagents that its
// calls name, one level further in.
func below(t *testing.T, store sandbox.Store, session, indent string) (lines []string) {
	t.Helper()
	ms, ps, err := store.Messages(t.Context(), session)
	must(t, err)
	own := map[string]bool{}
	for _, m := range ms {
		own[m.ID] = m.Role == sandbox.RoleAssistant
	}
	for _, p := range ps {
		d, _ := p.Data.(map[string]any)
		if !own[p.MessageID] {
			continue
		}
		if p.ToolCallID == "" {
			lines = append(lines, fmt.Sprint(indent, p.Type, " ", d["text"]))
			continue
		}
		out, _ := d["output"].(map[string]any)
		lines = append(lines, fmt.Sprint(indent, d["tool"], " of ", out["agent"]))
		if id, _ := out["session_id"].(string); id != "" {
			lines = append(lines, below(t, store, id, indent+" ")...)
		}
	}
	return lines
}

// A call of a subagent that was stopped, or whose page was closed, names the subagent and its session, which has the
// steps and the texts until then. It is so at each depth, and in a plan.
func TestStoppedSubagentIsStored(t *testing.T) {
	for _, plan := range []bool{false, true} {
		for _, how := range []string{"interrupted", "stopped", "closed"} {
			for depth := 1; depth <= 5; depth += 2 {
				synctest.Test(t, func(t *testing.T) {
					l := &ladder{depth: depth}
					store := sandbox.MemoryStore()
					rules := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
					h := build(t, rules, nil, nil, func(o *sandbox.Options) { o.Sessions = store })
					if plan {
						h.planned(t)
					}
					s := h.session(t)
					over := make(chan struct{})
					go func() {
						defer close(over)
						_, _ = h.talk(t, s, &waiting{Model: &sandboxtest.Model{Next: l.next}, depth: depth}, "go")
					}()
					<-time.After(2 * time.Second) // the text is stored a second after it came
					synctest.Wait()
					left := store
					switch how {
					case "interrupted":
						s.Interrupt("the user said so")
					case "stopped":
						h.Stop("the user said so")
					case "closed":
						left = copied(t, store)
						s.Interrupt("the test is over")
					}
					<-over
					s.Close()
					synctest.Wait() // the subagents end
					next := build(t, rules, nil, nil, func(o *sandbox.Options) { o.Sessions = left })
					again, err := next.OpenSession(t.Context(), s.ID())
					must(t, err)
					defer again.Close()
					list := again.Messages()
					p := list[1].Parts[0]
					d, _ := p.Data.(map[string]any)
					if p.ToolState != sandbox.ToolOutputError || d["error"] == nil || d["code"] != "ABORTED" {
						t.Errorf("plan %t, %s, depth %d: the call is %s, %v", plan, how, depth, p.ToolState, d)
					}
					want := ""
					for i := range depth {
						want += strings.Repeat(" ", i) + "task of general\n"
					}
					want += strings.Repeat(" ", depth) + "text I begin."
					got := strings.Join(below(t, left, s.ID(), ""), "\n")
					if !strings.HasPrefix(got, want) {
						t.Errorf("plan %t, %s, depth %d: stored are\n%s\nwant\n%s", plan, how, depth, got, want)
					}
				})
			}
		}
	}
}

// late is a store that takes its time for the sessions of subagents.
type late struct{ sandbox.Store }

func (l late) Put(ctx context.Context, s sandbox.SessionRecord, ms []sandbox.MessageRecord, ps []sandbox.PartRecord) error {
	if s.ParentID != "" {
		for range 1000 { // without the clock: the session is locked meanwhile
			runtime.Gosched()
		}
	}
	return l.Store.Put(ctx, s, ms, ps)
}

// A page that is closed as soon as a run was stopped loses nothing that its subagents have said, at each depth.
func TestStoppedSubagentIsStoredAtOnce(t *testing.T) {
	for _, how := range []string{"interrupted", "stopped", "this call alone"} {
		for depth := 1; depth <= 5; depth += 2 {
			synctest.Test(t, func(t *testing.T) {
				l := &ladder{depth: depth}
				store := late{sandbox.MemoryStore()}
				rules := parse(t, `{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
				h := build(t, rules, nil, nil, func(o *sandbox.Options) { o.Sessions = store })
				s := h.session(t)
				over := make(chan struct{})
				go func() {
					defer close(over)
					_, _ = h.talk(t, s, &waiting{Model: &sandboxtest.Model{Next: l.next}, depth: depth}, "go")
				}()
				<-time.After(500 * time.Millisecond) // the text has come, and is not stored yet
				synctest.Wait()
				switch how {
				case "interrupted":
					s.Interrupt("the user said so")
				case "stopped":
					h.Stop("the user said so")
				case "this call alone":
					p := s.Messages()[1].Parts[0]
					s.StopCall(p.ToolCallID, "the user stopped this step")
				}
				<-over
				left := copied(t, store)
				s.Close()
				synctest.Wait() // the subagents end, whether they were waited for or not
				want := strings.Repeat(" ", depth) + "text I begin."
				if got := strings.Join(below(t, left, s.ID(), ""), "\n"); !strings.Contains(got, want) {
					t.Errorf("%s, depth %d: stored are\n%s\nwant\n%s", how, depth, got, want)
				}
			})
		}
	}
}

// The provider's own data of a call that is stopped stays with it.
func TestStoppedCallKeepsItsSignature(t *testing.T) {
	began := make(chan struct{})
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "shell.run": ["*"], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}]}`), nil, nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), sandbox.ToolRun(halfway(began)))
	})
	s := h.session(t)
	go func() {
		<-began
		s.Interrupt("the user said so")
	}()
	m := &streamModel{next: func(_ int, _ sandbox.ModelRequest, yield func(sandbox.ModelEvent, error) bool) {
		yield(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: "c", Tool: "tool_run", Args: []byte(`{"command":"prog"}`), Meta: []byte(`{"signature":"S"}`)}, nil)
		yield(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: "tool-calls"}, nil)
	}}
	_, err := h.talk(t, s, m, "go")
	must(t, err)
	p, _ := s.Part("c")
	d, _ := p.Data.(map[string]any)
	out, _ := d["output"].(map[string]any)
	if d["error"] != "stopped" || d["meta"] != `{"signature":"S"}` || out["output"] != "half of it\n" || out["stderr"] != "a warning\n" {
		t.Errorf("stored: %v", d)
	}
	if got, _ := d["model"].(string); !strings.Contains(got, "the run was stopped before this call ended") || !strings.Contains(got, `The output until then: {"output":"half of it\n"`) {
		t.Errorf("the model gets %s", got)
	}
}
