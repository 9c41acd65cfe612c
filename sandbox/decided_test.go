package sandbox_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// The part of a call records the decisions. The part of an imported session has none.
func TestPartSaysWhoDecided(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerSession}, sandbox.Reply{Reason: "mine"}), map[string]string{"a": "x", "b": "x"})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Calls: []sandbox.ToolCall{{ID: "read", Tool: "read", Args: args{"path": "a"}}}},
		{Calls: []sandbox.ToolCall{{ID: "yes", Tool: "write", Args: args{"path": "new", "content": "y"}}}},
		{Calls: []sandbox.ToolCall{{ID: "again", Tool: "write", Args: args{"path": "new", "content": "z"}}}},
		{Calls: []sandbox.ToolCall{{ID: "no", Tool: "delete", Args: args{"path": "b"}}}},
	}}
	s := h.session(t)
	_, err := h.talk(t, s, m, "go")
	must(t, err)
	for call, want := range map[string][]string{
		"read":  {"fs.read on a: allow, by the rule "},
		"yes":   {"fs.write on new: ask (", "allow (the user agreed), by the rule allow write"},
		"again": {"fs.write on new: allow, by the rule allow write"},
		"no":    {"on b and all below: ask (", "ask (delete after access", "deny (the user declined: mine)"},
	} {
		p, _ := s.Part(call)
		d, _ := p.Data.(map[string]any)
		got := fmt.Sprint(d["decided"])
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in %s", call, w, got)
			}
		}
		if denied := d["reason"] == string(protocol.ReasonRejected); denied != (call == "no") {
			t.Errorf("%s: denied %v", call, denied)
		}
	}
	if got := fmt.Sprint(m.Requests()); strings.Contains(got, "the user agreed") {
		t.Error("a model is told who decided")
	}
	var file bytes.Buffer
	must(t, s.Export(&file))
	if !strings.Contains(file.String(), `"decided"`) {
		t.Error("an export leaves out who decided")
	}
	other, err := h.ImportSession(t.Context(), &file)
	must(t, err)
	for _, m := range other.Messages() {
		for _, p := range m.Parts {
			if d, _ := p.Data.(map[string]any); d["decided"] != nil {
				t.Errorf("who is not known says who decided: %v", d["decided"])
			}
		}
	}
}

// In a dry run the user is not asked about a call, and its part names no decision of the user.
func TestPartOfAPlanNamesNobody(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce}), nil)
	plan, err := h.Plan(t.Context())
	must(t, err)
	s, err := plan.Box.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	_, err = s.Say(t.Context(), "go")
	must(t, err)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{{ID: "w", Tool: "write", Args: args{"path": "new", "content": "y"}}}}}}
	for _, err := range plan.Box.Run(t.Context(), s, m, sandbox.RunOptions{}) {
		must(t, err)
	}
	p, _ := s.Part("w")
	d, _ := p.Data.(map[string]any)
	if got := fmt.Sprint(d["decided"]); !strings.Contains(got, "allow (it is asked about with the whole plan)") || strings.Contains(got, "the user") {
		t.Errorf("it says that %s", got)
	}
}
