package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

func TestSubagentsMayNoMore(t *testing.T) {
	p := parse(t, open)
	p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.Stream})
	h := build(t, p, nil, map[string]string{"src/a": "x", "b": "y"}, func(o *sandbox.Options) {
		o.Agents = []sandbox.Agent{{Name: "reader", Tools: []string{"read", "glob", "write", "task"}, Grants: []protocol.Grant{{Capability: protocol.FSRead, Scope: []string{"src"}}, {Capability: protocol.Stream}}}}
	})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		sandboxtest.CallTool("task", args{"subagent_type": "reader", "prompt": "look"}),
		{Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "src/a"}}, {Tool: "read", Args: args{"path": "b"}}, {Tool: "write", Args: args{"path": "src/c", "content": ""}}, {Tool: "delete", Args: args{"path": "src/a"}}}},
		sandboxtest.Say("x is in it"),
		sandboxtest.Say("the agent says: x is in it"),
	}}
	s := h.session(t)
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	if !strings.Contains(strings.Join(lines, ""), `"output":"x is in it"`) {
		t.Error(strings.Join(lines, "\n"))
	}
	sub := m.Requests()[2].Messages
	var failed []bool
	for _, p := range sub[len(sub)-1].Parts {
		failed = append(failed, p.Failed)
	}
	if !slices.Equal(failed, []bool{false, true, true, true}) {
		t.Errorf("failed: %v in %v", failed, sub)
	}
	list, err := h.Sessions(context.Background())
	must(t, err)
	if len(list) != 2 || list[0].ParentID == "" && list[1].ParentID == "" {
		t.Errorf("sessions %+v", list)
	}
}

func TestSubagentsEndAtTheirDepth(t *testing.T) {
	p := parse(t, open)
	p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.Stream})
	h := build(t, p, nil, nil)
	n := 0
	m := &sandboxtest.Model{}
	m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
		if last := r.Messages[len(r.Messages)-1]; last.Parts[0].Type == sandbox.PartResult {
			return sandboxtest.Say(last.Parts[0].Text)
		}
		n++
		return sandboxtest.CallTool("task", args{"subagent_type": "general", "prompt": fmt.Sprint("deeper ", n)})
	}
	lines, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	if n != 6 || !strings.Contains(strings.Join(lines, ""), "no deeper") {
		t.Errorf("%d agents: %v", n, lines)
	}
}
