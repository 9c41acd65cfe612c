package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/web"
)

// many returns n tools of an app, beside which the box has its own.
func many(n int) []sandbox.Tool {
	var list []sandbox.Tool
	for i := range n {
		t := sandbox.Tool{Run: func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"ok": true}, nil }}
		t.ID, t.Description = fmt.Sprintf("crm_%02d", i), fmt.Sprintf("Looks up customer number %d.", i)
		list = append(list, t)
	}
	list[0].ID, list[0].Description = "billing_invoice", "Makes a bill."
	list[1].ID, list[1].Description = "billing_refund", "Takes back an invoice."
	return list
}

// offered returns the ids of the tools that a request describes.
func offered(r sandbox.ModelRequest) []string {
	var ids []string
	for _, t := range r.Tools {
		ids = append(ids, t.Name)
	}
	return ids
}

// With more than 20 tools the model gets the basic ones, and finds the others by their words.
func TestToolSearch(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), many(30)...)
	})
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		sandboxtest.CallTool("tool_search", args{"query": "An INVOICE, please"}),
		sandboxtest.CallTool("billing_invoice", args{}),
		sandboxtest.CallTool("tool_search", args{"query": "customer"}),
		sandboxtest.CallTool("tool_search", args{"query": "zebra ... !"}),
		sandboxtest.Say("done"),
	}}
	_, err := h.talk(t, s, m, "go")
	must(t, err)
	first, second := offered(m.Requests()[0]), offered(m.Requests()[1])
	for _, id := range []string{"read", "edit", "undo", "tool_search"} {
		if !slices.Contains(first, id) {
			t.Errorf("%s is not offered: %q", id, first)
		}
	}
	if slices.ContainsFunc(first, func(id string) bool { return strings.HasPrefix(id, "crm_") || strings.HasPrefix(id, "billing_") }) {
		t.Errorf("offered before a search: %q", first)
	}
	if !slices.Contains(second, "billing_invoice") || !slices.Contains(second, "billing_refund") || slices.Contains(second, "crm_05") {
		t.Errorf("offered after a search: %q", second)
	}
	last := texts(m.Requests()[4])
	if i, j := strings.Index(last, `"billing_invoice"`), strings.Index(last, `"billing_refund"`); i < 0 || j < i { // a word of the name counts more
		t.Errorf("found in the order of %s", last)
	}
	if n := strings.Count(last, "crm_"); n != 10 {
		t.Errorf("%d of 28 tools are found at once, want 10", n)
	}
	if !strings.Contains(last, `{"matches":[]}`) {
		t.Errorf("a search for nothing: %s", last)
	}
}

// A conversation that is opened again, such as after a reload or for a plan, offers the tools that its model found.
func TestFoundToolsStayOffered(t *testing.T) {
	store := sandbox.MemoryStore()
	start := func() *house {
		return build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
			o.Sessions, o.Tools = store, append(sandbox.Standard(), many(30)...)
		})
	}
	h := start()
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("tool_search", args{"query": "invoice"}), sandboxtest.Say("done")}}
	_, err := h.talk(t, s, m, "go")
	must(t, err)
	s.Close()
	for _, plan := range []bool{false, true} {
		h := start()
		if plan {
			h.planned(t)
		}
		s, err := h.OpenSession(t.Context(), s.ID())
		must(t, err)
		_, err = h.talk(t, s, m, "and now?")
		must(t, err)
		got := offered(m.Requests()[len(m.Requests())-1])
		if !slices.Contains(got, "billing_invoice") || !slices.Contains(got, "billing_refund") || slices.Contains(got, "crm_05") {
			t.Errorf("plan %t: offered %q", plan, got)
		}
		s.Close()
	}
}

// Up to 20 tools are all offered, and there is nothing to search for.
func TestFewToolsAreAllOffered(t *testing.T) {
	own := len(sandbox.Standard())
	for n, all := range map[int]bool{19 - own: true, 20 - own: true, 21 - own: false} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), many(n)...) })
		m := &sandboxtest.Model{}
		_, err := h.talk(t, h.session(t), m, "go")
		must(t, err)
		got := offered(m.Requests()[0])
		if slices.Contains(got, "billing_refund") != all || slices.Contains(got, "tool_search") == all {
			t.Errorf("%d tools: %q", own+n, got)
		}
	}
}

// The tools of an agent count, and not those of its box. Without tool_search there is no way to find one, so all are
// offered.
func TestToolsOfAnAgentAreOffered(t *testing.T) {
	all := many(30)
	var ids []string
	for _, tool := range all {
		ids = append(ids, tool.ID)
	}
	for name, c := range map[string]struct {
		tools []string
		want  int
	}{
		"few":                    {[]string{"read", "crm_05"}, 2},
		"20 without a search":    {ids[:20], 20},
		"21 without a search":    {ids[:21], 21},
		"20 beside a search":     {append([]string{"tool_search"}, ids[:19]...), 19},
		"21 with a search":       {append([]string{"tool_search"}, ids[:20]...), 1},
		"some that do not exist": {append([]string{"read", "tool_search", "none"}, ids[:18]...), 19},
	} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), all...)
			o.Agents = []sandbox.Agent{{Name: "clerk", Tools: c.tools}}
		})
		m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("task", args{"subagent_type": "clerk", "prompt": "look"}), sandboxtest.Say("none"), sandboxtest.Say("done")}}
		_, err := h.talk(t, h.session(t), m, "go")
		must(t, err)
		if got := offered(m.Requests()[1]); len(got) != c.want || c.want == 1 && got[0] != "tool_search" {
			t.Errorf("%s: %d are offered, want %d: %q", name, len(got), c.want, got)
		}
	}
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = all })
	m := &sandboxtest.Model{}
	_, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	if got := offered(m.Requests()[0]); len(got) != 30 {
		t.Errorf("a box without tool_search offers %q", got)
	}
}

// A subagent finds only tools that it may use.
func TestAttackSearchOfASubagent(t *testing.T) {
	count := attack.Start(t, "sent")
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), many(30)...)
		o.Agents = []sandbox.Agent{{Name: "clerk", Tools: []string{"read", "tool_search", "crm_05"}}}
	})
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		sandboxtest.CallTool("task", args{"subagent_type": "clerk", "prompt": "look"}),
		sandboxtest.CallTool("tool_search", args{"query": "invoice customer"}), // the clerk's
		sandboxtest.Say("none"),
		sandboxtest.CallTool("tool_search", args{"query": "invoice customer"}),
		sandboxtest.Say("done"),
	}}
	_, err := h.talk(t, h.session(t), m, "go")
	must(t, err)
	var found []string
	for _, i := range []int{2, 4} {
		for _, p := range m.Requests()[i].Messages[len(m.Requests()[i].Messages)-1].Parts {
			if p.Type == sandbox.PartResult && p.Tool == "tool_search" {
				found = append(found, p.Text)
			}
		}
	}
	if len(found) != 2 || !strings.Contains(found[0], "crm_05") {
		t.Fatalf("found: %q", found)
	}
	for _, tool := range []string{"billing_invoice", "crm_06"} {
		count.Try("the subagent finds "+tool, strings.Contains(found[0], tool))
		count.Off("the main agent finds "+tool, strings.Contains(found[1], tool))
	}
}

// With many tools of servers and of the app, the web and the undo stay in the model's list.
func TestTheWebAndUndoStayOffered(t *testing.T) {
	b, err := web.NewBroker(web.BrokerOptions{Transport: fetch.TransportFunc(nil)})
	must(t, err)
	for n, found := range map[int]bool{0: true, 60: false} {
		h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), web.Fetch(b), web.Search(b, web.Brave("brave")))
			if n > 0 {
				o.Tools = append(o.Tools, many(n)...)
			}
		})
		m := &sandboxtest.Model{}
		_, err := h.talk(t, h.session(t), m, "go")
		must(t, err)
		got := offered(m.Requests()[0])
		for _, id := range []string{"web_fetch", "web_search", "undo", "read", "edit"} {
			if !slices.Contains(got, id) {
				t.Errorf("with %d more tools %s is not offered: %q", n, id, got)
			}
		}
		if slices.Contains(got, "tool_search") == found || slices.Contains(got, "mkdir") != found {
			t.Errorf("with %d more tools: %q", n, got)
		}
	}
}
