package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func (h *house) session(t testing.TB) *sandbox.Session {
	t.Helper()
	s, err := h.NewSession(context.Background(), sandbox.SessionOptions{})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// talk adds a message, runs the model, and returns the chunks, one line each.
func (h *house) talk(t testing.TB, s *sandbox.Session, m sandbox.Model, say string, o ...sandbox.RunOptions) (lines []string, err error) {
	t.Helper()
	if say != "" {
		_, err := s.Say(context.Background(), say)
		must(t, err)
	}
	opts := sandbox.RunOptions{Sleep: func(context.Context, time.Duration) error { return nil }}
	if len(o) > 0 {
		opts = o[0]
		opts.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	for c, e := range h.Run(context.Background(), s, m, opts) {
		if e != nil {
			err = e
			continue
		}
		text, jerr := json.Marshal(c)
		must(t, jerr)
		lines = append(lines, string(text))
	}
	return lines, err
}

// types returns the types of the chunks, with consecutive deltas merged.
func types(lines []string) string {
	var out []string
	for _, l := range lines {
		var c struct{ Type string }
		_ = json.Unmarshal([]byte(l), &c)
		if len(out) > 0 && out[len(out)-1] == c.Type && strings.HasSuffix(c.Type, "-delta") {
			continue
		}
		out = append(out, c.Type)
	}
	return strings.Join(out, " ")
}

func TestRunCarriesOutCalls(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"a.txt": "hello"})
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Reasoning: "look first", Text: "I'll look.", Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a.txt"}}}, Usage: sandbox.Usage{Input: 10, Output: 5}},
		sandboxtest.CallTool("edit", args{"path": "a.txt", "old_string": "hello", "new_string": "goodbye"}),
		sandboxtest.Say("It says goodbye now."),
	}}
	lines, err := h.talk(t, s, m, "say goodbye in a.txt")
	must(t, err)
	want := "start start-step reasoning-start reasoning-delta reasoning-end text-start text-delta text-end tool-input-start tool-input-delta tool-input-available tool-output-available finish-step " +
		"start-step tool-input-start tool-input-delta tool-input-available tool-approval-request tool-approval-response tool-output-available finish-step " +
		"start-step text-start text-delta text-end finish-step finish"
	if got := types(lines); got != want {
		t.Errorf("chunks:\n%s\nwant\n%s", got, want)
	}
	if h.file(t, "a.txt") != "goodbye" {
		t.Error(h.file(t, "a.txt"))
	}
	last := m.Requests()[2]
	var roles []string
	for _, msg := range last.Messages {
		for _, p := range msg.Parts {
			roles = append(roles, string(msg.Role)+":"+string(p.Type))
		}
	}
	if got := strings.Join(roles, " "); got != "user:text assistant:reasoning assistant:text assistant:call user:result assistant:call user:result" {
		t.Errorf("the model saw %s", got)
	}
	if r := s.Record(); r.InputTokens != 10 || r.OutputTokens != 5 || r.Model != "scripted" {
		t.Errorf("%+v", r)
	}
	for _, m := range s.Messages() {
		if m.Role == sandbox.RoleUser && m.Metadata.SnapshotID == "" {
			t.Error("no snapshot")
		}
	}
}

// A question names the model's id of the call, so that a page can show it beside the call. A call without a model has none.
func TestQuestionsNameTheCallOfTheModel(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, nil, func(o *sandbox.Options) {
		o.Skills = []sandbox.Skill{{Name: "brew", Description: "tea", Content: "boil", Source: ".skills/brew"}}
	})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Calls: []sandbox.ToolCall{{ID: "m-write", Tool: "write", Args: args{"path": "a.txt", "content": "x"}}, {ID: "m-skill", Tool: "skill", Args: args{"name": "brew"}},
			{ID: "m-kind", Tool: "write", Args: args{"path": ".bashrc", "content": "x"}}}},
		sandboxtest.Say("done"),
	}}
	_, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	h.Call(context.Background(), "write", args{"path": "b.txt", "content": "x"})
	got := map[string][]string{}
	for _, p := range asker.Prompts() {
		for _, r := range p.Requests {
			got[r.ToolCall] = append(got[r.ToolCall], r.Tool)
		}
	}
	for id, tool := range map[string]string{"m-write": "write", "m-skill": "skill", "": "write"} {
		if list := got[id]; len(list) == 0 || list[0] != tool {
			t.Errorf("questions of %q: %q, want one of %s (all: %q)", id, list, tool, got)
		}
	}
}

func TestRunRetriesAndGivesUp(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	busy := &sandbox.ModelError{Status: 529, Message: "overloaded", Retry: true}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Text: "half a sent", Err: busy}, {Text: "cut", Cut: true}, sandboxtest.Say("whole")}}
	s := h.session(t)
	lines, err := h.talk(t, s, m, "hi")
	must(t, err)
	if n := strings.Count(types(lines), "data-retry"); n != 2 {
		t.Errorf("%d retries: %s", n, types(lines))
	}
	msgs := s.Messages()
	if ps := msgs[len(msgs)-1].Parts; len(ps) != 1 || fmt.Sprint(ps[0].Data) != "map[text:whole]" {
		t.Errorf("kept %v", ps)
	}
	m = &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn { return sandboxtest.Turn{Err: busy} }}
	if _, err := h.talk(t, s, m, "again"); !errors.Is(err, busy) || len(m.Requests()) != 5 {
		t.Errorf("%v after %d", err, len(m.Requests()))
	}
	m = &sandboxtest.Model{Turns: []sandboxtest.Turn{{Err: busy}}}
	if _, err := h.talk(t, s, m, "once", sandbox.RunOptions{Retries: -1}); !errors.Is(err, busy) || len(m.Requests()) != 1 {
		t.Errorf("without another try: %v after %d", err, len(m.Requests()))
	}
	m = &sandboxtest.Model{Turns: []sandboxtest.Turn{{Err: &sandbox.ModelError{Status: 401, Message: "bad key"}}}}
	if _, err := h.talk(t, s, m, "again"); !errors.Is(err, protocol.ErrCapabilityDenied) || len(m.Requests()) != 1 || s.Status() != sandbox.StatusError {
		t.Errorf("%v after %d", err, len(m.Requests()))
	}
}

// OnSend is called only with requests that leave this machine.
func TestOnSend(t *testing.T) {
	for _, here := range []bool{false, true} {
		h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"})
		var heard []sandbox.ModelRequest
		m := &sandboxtest.Model{OnDevice: here, Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "a"}), sandboxtest.Say("done")}}
		_, err := h.talk(t, h.session(t), m, "go", sandbox.RunOptions{OnSend: func(r sandbox.ModelRequest) { heard = append(heard, r) }})
		must(t, err)
		want := m.Requests()
		if here {
			want = nil
		}
		if fmt.Sprint(heard) != fmt.Sprint(want) {
			t.Errorf("on this machine %v: heard %v, want %v", here, heard, want)
		}
	}
}

func TestRunBudgets(t *testing.T) {
	for name, o := range map[string]sandbox.RunOptions{
		"steps": {Steps: 3}, "tokens": {Tokens: 30}, "money": {Money: 3, InputPrice: 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"})
			m := &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn {
				return sandboxtest.Turn{Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a"}}}, Usage: sandbox.Usage{Input: 10}}
			}}
			lines, err := h.talk(t, h.session(t), m, "go", o)
			must(t, err)
			if len(m.Requests()) != 3 || !strings.HasSuffix(types(lines), "data-budget finish") {
				t.Errorf("%d requests: %s", len(m.Requests()), types(lines))
			}
		})
	}
}

func TestRejectedAndDeniedDiffer(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Reason: "mine"}), map[string]string{"a": "x"})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{{Tool: "delete", Args: args{"path": "a"}}, {Tool: "write", Args: args{"path": ".mcp.json", "content": ""}},
		{Tool: "nothing", Args: args{}}, {Tool: "read", Args: json.RawMessage(`{"path":`)}}}}}
	lines, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	all := strings.Join(lines, "\n")
	for _, want := range []string{`{"toolCallId":"t1","type":"tool-output-denied"}`, `"toolCallId":"t2","type":"tool-output-error"`, `"toolCallId":"t3","type":"tool-output-error"`, `"toolName":"read","type":"tool-input-error"`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if got := fmt.Sprint(m.Requests()[1].Messages); !strings.Contains(got, "mine") {
		t.Error("the model isn't told the user's reason")
	}
}

func TestInterruptStopsAndListsWhatWasDone(t *testing.T) {
	started, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
		close(started)
		<-over // ignores its context
		return nil, nil
	}}
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), stuck) })
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "a"}), sandboxtest.CallTool("stuck", args{})}}
	go func() { <-started; s.Interrupt("enough") }()
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	if got := types(lines); !strings.HasSuffix(got, "tool-output-error data-stopped abort") {
		t.Error(got)
	}
	if !strings.Contains(strings.Join(lines, ""), `"done":["read`) {
		t.Error("what was done isn't listed")
	}
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if p.Orphaned() {
				t.Error("an orphan is left")
			}
		}
	}
}

func TestSteerIsHeardAtTheNextStep(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"})
	s := h.session(t)
	m := &sandboxtest.Model{}
	m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
		if len(r.Messages) == 1 {
			must(t, s.Steer(context.Background(), "and be brief"))
			return sandboxtest.CallTool("read", args{"path": "a"})
		}
		return sandboxtest.Say("ok")
	}
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	if !strings.Contains(types(lines), "data-steer") {
		t.Error(types(lines))
	}
	last := m.Requests()[1].Messages
	if got := last[len(last)-1].Parts[0].Text; got != "and be brief" {
		t.Errorf("the model heard %q last", got)
	}
}

func TestModelSeesWhatThePolicySends(t *testing.T) {
	p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "*", "action": "allow"}],
		"send": {"summaries": ["data"], "nothing": ["private"]}}`)
	h := build(t, p, nil, map[string]string{"open": "plain words", "data/d.csv": "row one\nrow two\n", "private/p": "row secret", "key": "token = ghp_abcdefghij0123456789ABCDEFGHIJ012345"})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{
		{Tool: "read", Args: args{"path": "open"}}, {Tool: "read", Args: args{"path": "data/d.csv"}}, {Tool: "read", Args: args{"path": "private/p"}},
		{Tool: "grep", Args: args{"pattern": "row"}}, {Tool: "read", Args: args{"path": "key"}}, {Tool: "glob", Args: args{"pattern": "**"}}}}}}
	lines, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	sent := fmt.Sprint(m.Requests()[1].Messages)
	for _, leak := range []string{"row one", "row secret", "ghp_abc", "private/p"} {
		if strings.Contains(strings.ReplaceAll(sent, `{"path":"private/p"}`, ""), leak) && !(leak == "private/p" && strings.Count(sent, leak) == 1) {
			t.Errorf("the model saw %q", leak)
		}
	}
	for _, want := range []string{"plain words", "2 lines", "data/d.csv", "github token removed"} {
		if !strings.Contains(sent, want) {
			t.Errorf("the model didn't see %q in %s", want, sent)
		}
	}
	if all := strings.Join(lines, ""); !strings.Contains(all, "row secret") || !strings.Contains(all, "data-kept") {
		t.Error("the user doesn't see the whole")
	}
	none := parse(t, `{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`)
	h = build(t, none, nil, nil)
	m = &sandboxtest.Model{}
	if _, err := h.talk(t, h.session(t), m, "go"); !errors.Is(err, protocol.ErrCapabilityDenied) || len(m.Requests()) != 0 {
		t.Errorf("sent without stream.send: %v", err)
	}
	m = &sandboxtest.Model{OnDevice: true}
	if _, err := h.talk(t, h.session(t), m, "go"); err != nil {
		t.Errorf("a local model needs no leave: %v", err)
	}
}

func TestSessionsAreThereAgain(t *testing.T) {
	for name, open := range stores(t) {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			with := func(o *sandbox.Options) { o.Sessions = open() }
			h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), map[string]string{"a": "one"}, with)
			s := h.session(t)
			m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "a"}), sandboxtest.CallTool("write", args{"path": "a", "content": "two"}), sandboxtest.Say("done")}}
			_, err := h.talk(t, s, m, "first")
			must(t, err)
			second, err := s.Say(ctx, "second")
			must(t, err)
			m.Turns = []sandboxtest.Turn{sandboxtest.CallTool("write", args{"path": "a", "content": "three"}), sandboxtest.Say("done")}
			_, err = h.talk(t, s, m, "")
			must(t, err)
			if _, err := h.OpenSession(ctx, s.ID()); !errors.Is(err, protocol.ErrSession) {
				t.Errorf("opened twice: %v", err)
			}
			must(t, s.Rewind(ctx, second, true))
			if h.file(t, "a") != "two" {
				t.Errorf("rewound to %q", h.file(t, "a"))
			}
			if n := len(s.Messages()); n != 4 {
				t.Errorf("%d messages after the rewind", n)
			}
			f, err := s.Fork(ctx, "")
			must(t, err)
			if f.Record().ParentID != s.ID() || len(f.Messages()) != 4 || f.Messages()[0].ID == s.Messages()[0].ID {
				t.Errorf("fork %+v", f.Record())
			}
			f.Close()
			var out bytes.Buffer
			must(t, s.Export(&out))
			id := s.ID()
			s.Close()
			h = build(t, policy.AskBeforeChanges(), nil, nil, with)
			s, err = h.OpenSession(ctx, id)
			must(t, err)
			if n := len(s.Messages()); n != 4 {
				t.Errorf("%d messages after opening again", n)
			}
			s.Close()
			i, err := h.ImportSession(ctx, &out)
			must(t, err)
			if i.ID() == id || len(i.Messages()) != 4 {
				t.Errorf("import %+v", i.Record())
			}
			i.Close()
			if _, err := h.OpenSession(ctx, "ses-none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("none: %v", err)
			}
		})
	}
}

func TestOrphanedCallsAreRepaired(t *testing.T) {
	ctx := context.Background()
	store := sandbox.FolderStore(fsaccess.NewMemory(fsaccess.MemoryOptions{}))
	now := time.Now().UTC()
	rec := sandbox.SessionRecord{ID: "ses-x", Agent: "main", CreatedAt: now, UpdatedAt: now}
	ms := []sandbox.MessageRecord{{ID: "m1", SessionID: rec.ID, Role: sandbox.RoleUser, CreatedAt: now, UpdatedAt: now}, {ID: "m2", SessionID: rec.ID, Role: sandbox.RoleAssistant, CreatedAt: now, UpdatedAt: now}}
	ps := []sandbox.PartRecord{{ID: "p1", MessageID: "m1", SessionID: rec.ID, Type: "text", Data: args{"text": "go"}, CreatedAt: now, UpdatedAt: now},
		{ID: "p2", MessageID: "m2", SessionID: rec.ID, Type: "tool-delete", ToolCallID: "t1", ToolState: sandbox.ToolInputAvailable, Data: args{"tool": "delete", "input": args{"path": "a"}}, CreatedAt: now, UpdatedAt: now}}
	must(t, store.Put(ctx, rec, ms, ps))
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) { o.Sessions = store })
	s, err := h.OpenSession(ctx, rec.ID)
	must(t, err)
	defer s.Close()
	m := &sandboxtest.Model{}
	_, err = h.talk(t, s, m, "go on")
	must(t, err)
	seen := fmt.Sprint(m.Requests()[0].Messages)
	if !strings.Contains(seen, "ABORTED") || h.file(t, "a") != "x" {
		t.Errorf("the model saw %s", seen)
	}
}
