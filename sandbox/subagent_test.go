package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// Each budget of a run holds for all its descendants together, at each depth and in a plan, and OnSend sees
// each request.
func TestBudgetsHoldForDescendants(t *testing.T) {
	usage := sandbox.Usage{Input: 600, Output: 400}
	for name, c := range map[string]struct {
		o        sandbox.RunOptions
		requests int // at most
		agents   int // at most
	}{
		"steps":  {sandbox.RunOptions{Steps: 3}, 3, 3},
		"tokens": {sandbox.RunOptions{Tokens: 3000}, 3, 3},
		"money":  {sandbox.RunOptions{Money: 3, InputPrice: 1000, OutputPrice: 1000}, 3, 3},
		"agents": {sandbox.RunOptions{Agents: 2}, 20, 2},
		"none":   {sandbox.RunOptions{}, 20, 5},
	} {
		for run := range 10 {
			depth, plan := 1+run/2, run%2 == 1
			t.Run(fmt.Sprintf("%s/%d/%t", name, depth, plan), func(t *testing.T) {
				p := parse(t, open)
				p.Grants = append(p.Grants, protocol.Grant{Capability: protocol.Stream})
				h := build(t, p, nil, map[string]string{"a": "x"})
				if plan {
					h.planned(t)
				}
				var mu sync.Mutex
				requests, sent := 0, 0
				agents := map[string]bool{}
				m := &sandboxtest.Model{}
				// Each agent above the depth starts one below it. The last one reads again and again.
				m.Next = func(r sandbox.ModelRequest) sandboxtest.Turn {
					mu.Lock()
					defer mu.Unlock()
					requests++
					first := r.Messages[0].Parts[0].Text
					last := r.Messages[len(r.Messages)-1].Parts[0]
					level := strings.Count(first, "deeper")
					if level > 0 {
						agents[first] = true
					}
					switch {
					case level < depth && last.Type == sandbox.PartText:
						return sandboxtest.Turn{Usage: usage, Calls: []sandbox.ToolCall{{Tool: "task", Args: args{"subagent_type": "general", "prompt": first + " deeper"}}}}
					case level < depth || requests >= 10:
						return sandboxtest.Turn{Usage: usage, Text: "done"}
					}
					return sandboxtest.Turn{Usage: usage, Calls: []sandbox.ToolCall{{Tool: "read", Args: args{"path": "a"}}}}
				}
				c.o.OnSend = func(sandbox.ModelRequest) {
					mu.Lock()
					defer mu.Unlock()
					sent++
				}
				_, err := h.talk(t, h.session(t), m, "go", c.o)
				if name == "none" || name == "agents" {
					must(t, err)
				}
				if name == "none" && (len(agents) != depth || requests < 10) {
					t.Errorf("without a budget: %d agents, %d requests", len(agents), requests)
				}
				if requests > c.requests || len(agents) > c.agents || requests == 0 {
					t.Errorf("%d requests, at most %d; %d agents, at most %d", requests, c.requests, len(agents), c.agents)
				}
				if sent != requests {
					t.Errorf("OnSend saw %d of %d requests", sent, requests)
				}
			})
		}
	}
}
