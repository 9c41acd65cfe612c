package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// endless is a model that sends events forever, and ignores its context.
type endless struct{ said atomic.Int64 }

func (*endless) Name() string { return "endless" }
func (*endless) Local() bool  { return true }
func (m *endless) Stream(context.Context, sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		for yield(sandbox.ModelEvent{Type: sandbox.PartText, Text: "and "}, nil) {
			m.said.Add(1)
		}
	}
}

// After an interruption there is no request to the model, no new call, and no further event of the
// model. The test counts events, so it needs no clock.
func TestStopEndsInBoundedSteps(t *testing.T) {
	t.Run("while the model speaks", func(t *testing.T) {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s, m := h.session(t), &endless{}
		_, err := s.Say(context.Background(), "go")
		must(t, err)
		after, stopped := "", false
		for c, err := range h.Run(context.Background(), s, m, sandbox.RunOptions{}) {
			must(t, err)
			if stopped {
				after += string(c.Type) + " "
			}
			if c.Type == "text-delta" && !stopped {
				s.Interrupt("enough")
				stopped = true
			}
		}
		if after != "text-end data-stopped abort " {
			t.Errorf("after the stop: %s", after)
		}
	})
	for _, at := range []int{1, 3} {
		t.Run(fmt.Sprint("in a tool, at step ", at), func(t *testing.T) {
			var s *sandbox.Session
			runs := 0
			count := sandbox.Tool{Tool: protocol.Tool{ID: "count", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
				if runs++; runs == at {
					s.Interrupt("enough")
				}
				return nil, nil
			}}
			h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), count) })
			s = h.session(t)
			m := &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn { return sandboxtest.CallTool("count", args{}) }}
			_, err := h.talk(t, s, m, "go")
			must(t, err)
			if runs != at || len(m.Requests()) != at {
				t.Errorf("%d runs and %d requests", runs, len(m.Requests()))
			}
		})
	}
	t.Run("while the user is asked", func(t *testing.T) {
		var s *sandbox.Session
		asked := 0
		h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) {
			o.Ask = sandbox.AskFunc(func(ctx context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
				asked++
				s.Interrupt("enough")
				out := make([]sandbox.Reply, 10)
				for i := range out {
					out[i].Answer = policy.AnswerOnce // too late
				}
				return out[:len(p.Requests)], nil
			})
		})
		s = h.session(t)
		m := &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn { return sandboxtest.CallTool("delete", args{"path": "a"}) }}
		_, err := h.talk(t, s, m, "go")
		must(t, err)
		if asked != 1 || len(m.Requests()) != 1 || h.file(t, "a") != "x" {
			t.Errorf("%d questions, %d requests, a is %q", asked, len(m.Requests()), h.file(t, "a"))
		}
	})
	t.Run("between retries", func(t *testing.T) {
		h := build(t, policy.AskBeforeChanges(), nil, nil)
		s := h.session(t)
		m := &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn {
			s.Interrupt("enough")
			return sandboxtest.Turn{Err: &sandbox.ModelError{Message: "busy", Retry: true}}
		}}
		_, err := h.talk(t, s, m, "go")
		must(t, err)
		if n := len(m.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// The time of an interruption is only logged here. The row sandbox.stop of the benchmarks limits it
// to 100 ms.
func TestStopOfAStuckTool(t *testing.T) {
	inside, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
		close(inside)
		<-end // ignores its context
		return nil, nil
	}}
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), stuck) })
	s := h.session(t)
	var began time.Time
	go func() {
		<-inside
		began = time.Now()
		s.Interrupt("enough")
	}()
	lines, err := h.talk(t, s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("stuck", args{})}}, "go")
	must(t, err)
	t.Logf("the run ended %v after the stop", time.Since(began))
	if !strings.HasSuffix(types(lines), "data-stopped abort") {
		t.Errorf("%s", types(lines))
	}
}

func TestSteerOutsideARunIsSaid(t *testing.T) {
	ctx := context.Background()
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s, m := h.session(t), &sandboxtest.Model{}
	must(t, s.Steer(ctx, "hello"))
	if ms := s.Messages(); len(ms) != 1 || ms[0].Role != sandbox.RoleUser || fmt.Sprint(ms[0].Parts[0].Data) != "map[text:hello]" {
		t.Fatalf("%+v", ms)
	}
	lines, err := h.talk(t, s, m, "")
	must(t, err)
	if got := fmt.Sprint(m.Requests()[0].Messages); len(m.Requests()) != 1 || strings.Count(got, "hello") != 1 || strings.Contains(types(lines), "data-steer") {
		t.Errorf("the model heard %s; %s", got, types(lines))
	}
	must(t, s.Steer(ctx, "more")) // behind a run as before one
	_, err = h.talk(t, s, m, "")
	must(t, err)
	last := m.Requests()[1].Messages
	if got := last[len(last)-1].Parts[0].Text; got != "more" {
		t.Errorf("the model heard %q last", got)
	}
	s.Close()
	if err := s.Steer(ctx, "late"); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("closed: %v", err)
	}
}

// A message that is queued when the model has no further step is not lost. It is the last message,
// and the next run answers it.
func TestSteerAtTheEndIsSaid(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	for name, m := range map[string]*sandboxtest.Model{
		"done":     {Turns: []sandboxtest.Turn{sandboxtest.Say("done")}},
		"an error": {Turns: []sandboxtest.Turn{{Err: errors.New("no")}}},
	} {
		s := h.session(t)
		_, err := s.Say(t.Context(), "go")
		must(t, err)
		for c, err := range h.Run(t.Context(), s, m, sandbox.RunOptions{Retries: -1}) {
			if c.Type == "finish" || err != nil {
				must(t, s.Steer(t.Context(), "and more"))
			}
		}
		ms := s.Messages()
		last := ms[len(ms)-1]
		if last.Role != sandbox.RoleUser || fmt.Sprint(last.Parts[0].Data) != "map[text:and more]" {
			t.Errorf("%s: the last message is %+v", name, last)
		}
		next := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("yes")}}
		_, err = h.talk(t, s, next, "")
		must(t, err)
		if got := next.Requests()[0].Messages; got[len(got)-1].Parts[0].Text != "and more" {
			t.Errorf("%s: the model heard %+v", name, got)
		}
	}
}

// Text of a folder's skill reaches the model only after the user saw and accepted exactly this
// text, once per session.
func TestFolderSkillsAreAccepted(t *testing.T) {
	skill := sandbox.Skill{Name: "helper", Description: "helps", Content: "obey the folder", Source: "skills/helper/SKILL.md"}
	asker := sandboxtest.Script(sandbox.Reply{}, sandbox.Reply{Answer: policy.AnswerOnce})
	h := build(t, policy.AskBeforeChanges(), asker, nil, func(o *sandbox.Options) {
		o.Skills = []sandbox.Skill{skill, {Name: "own", Content: "of the app", Trusted: true}}
	})
	see := func(ctx context.Context) bool {
		text, err := json.Marshal(h.Call(ctx, "skill", args{"name": "helper"}))
		must(t, err)
		return strings.Contains(string(text), "obey")
	}
	for range 2 { // refused, and then not asked about again
		if see(context.Background()) {
			t.Error("seen after a no")
		}
	}
	if n := len(asker.Prompts()); n != 1 {
		t.Errorf("%d prompts", n)
	}
	if m := h.ok(t, "skill", args{"name": "own"}); m["content"] != "of the app" {
		t.Error(m)
	}
	ctx := h.session(t).Context(context.Background()) // another session asks again
	for range 2 {
		if !see(ctx) {
			t.Error("not seen after a yes")
		}
	}
	prompts := asker.Prompts()
	if len(prompts) != 2 || !strings.Contains(fmt.Sprint(prompts[1]), "obey the folder") {
		t.Errorf("%d prompts: %v", len(prompts), prompts)
	}
	if see(context.Background()) {
		t.Error("what one session accepted another sees")
	}
}

// A subagent in the background continues after its starter has ended, with only its own
// permissions. Box.Stop ends it.
func TestBackgroundAgents(t *testing.T) {
	inside, goOn := make(chan struct{}, 1), make(chan struct{})
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Parameters: `{"type":"object"}`}, Run: func(ctx context.Context, _ *sandbox.Call) (any, error) {
		inside <- struct{}{}
		select {
		case <-goOn:
			return "went on", nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
	for _, stop := range []bool{false, true} {
		t.Run(fmt.Sprint("stopped: ", stop), func(t *testing.T) {
			done := make(chan struct{})
			agentTurns := []sandboxtest.Turn{sandboxtest.CallTool("stuck", args{}), sandboxtest.CallTool("write", args{"path": "b", "content": "x"}), sandboxtest.Say("the answer")}
			agent := &sandboxtest.Model{OnDevice: true} // its grants have no stream.send
			agent.Next = func(sandbox.ModelRequest) sandboxtest.Turn {
				turn := agentTurns[0]
				agentTurns = agentTurns[1:]
				return turn
			}
			h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"a": "x"}, func(o *sandbox.Options) {
				o.Tools = append(sandbox.Standard(), stuck)
				o.Agents = []sandbox.Agent{{Name: "reader", Model: agent, Grants: []protocol.Grant{{Capability: protocol.FSRead}}}}
				o.Sessions = watchedStore{sandbox.MemoryStore(), done}
			})
			s := h.session(t)
			m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("task", args{"subagent_type": "reader", "prompt": "look", "background": true}), sandboxtest.Say("started")}}
			lines, err := h.talk(t, s, m, "go")
			must(t, err)
			all := strings.Join(lines, "")
			at := strings.Index(all, `"session_id":"ses-`)
			if at < 0 || !strings.HasSuffix(types(lines), "finish") {
				t.Fatalf("%s", all)
			}
			id := all[at+len(`"session_id":"`):][:len("ses-")+18]
			select {
			case <-inside: // it works, and its starter has ended
			case <-done:
				sub, err := h.OpenSession(context.Background(), id)
				must(t, err)
				t.Fatal("it ended before it began to work:", sub.Messages())
			}
			if _, err := h.OpenSession(context.Background(), id); !errors.Is(err, protocol.ErrSession) {
				t.Errorf("its session is not its own: %v", err)
			}
			if stop {
				if list := h.Stop("enough"); !strings.Contains(strings.Join(list, " "), id) {
					t.Errorf("stopped %v without %s", list, id)
				}
			} else {
				goOn <- struct{}{}
			}
			<-done
			sub, err := h.OpenSession(context.Background(), id)
			must(t, err)
			defer sub.Close()
			said := fmt.Sprint(sub.Messages())
			if strings.Contains(said, "the answer") == stop || sub.Record().ParentID != s.ID() {
				t.Errorf("stopped %t: %s", stop, said)
			}
			if _, err := h.mem.Stat("b"); err == nil {
				t.Error("it wrote, and may only read")
			}
		})
	}
}

// watchedStore reports when the second locked session is released.
type watchedStore struct {
	sandbox.Store
	done chan struct{}
}

func (w watchedStore) Lock(ctx context.Context, id string) (func(), error) {
	unlock, err := w.Store.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	rec, rerr := w.Store.Session(ctx, id)
	sub := rerr != nil && len(sessionsOf(w.Store)) > 0 || rec.Agent == "reader"
	return func() {
		unlock()
		if sub {
			select {
			case <-w.done:
			default:
				close(w.done)
			}
		}
	}, nil
}

func sessionsOf(s sandbox.Store) []sandbox.SessionRecord {
	list, _ := s.Sessions(context.Background())
	return list
}
