package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/native"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// messagesPart returns the same as Session.Part, by way of Session.Messages.
func messagesPart(s *sandbox.Session, call string) (out sandbox.PartRecord) {
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if p.ToolCallID == call {
				out = p
			}
		}
	}
	return out
}

// When the end of a call is emitted, its result for the model is stored already.
func TestEndsAreStoredBeforeTheyAreTold(t *testing.T) {
	inside, end := make(chan struct{}, 1), make(chan struct{})
	defer close(end)
	stuck := sandbox.Tool{Tool: protocol.Tool{ID: "stuck", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
		inside <- struct{}{}
		<-end
		return nil, nil
	}}
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), stuck) })
	s := h.session(t)
	go func() { <-inside; s.Interrupt("enough") }()
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Text: "I'll look.", Calls: []sandbox.ToolCall{{ID: "wrong", Tool: "read", Args: json.RawMessage(`{"path":`)}, {ID: "right", Tool: "read", Args: args{"path": "a"}}, {ID: "none", Tool: "nothing", Args: args{}}}},
		{Calls: []sandbox.ToolCall{{ID: "stopped", Tool: "stuck", Args: args{}}}},
	}}
	_, err := s.Say(t.Context(), "go")
	must(t, err)
	ends := ""
	for c, err := range h.Run(t.Context(), s, m, sandbox.RunOptions{}) {
		must(t, err)
		switch c.Type {
		case "tool-input-error", "tool-output-error", "tool-output-available":
			ends += c.ToolCallID + " "
			p := messagesPart(s, c.ToolCallID)
			d, _ := p.Data.(map[string]any)
			if text, _ := d["model"].(string); !p.ToolState.Final() || text == "" {
				t.Errorf("%s of %s is told, and what is stored is %+v", c.Type, c.ToolCallID, p)
			}
			if q, ok := s.Part(c.ToolCallID); !ok || q.ID != p.ID {
				t.Errorf("Part gives %+v", q)
			}
		}
	}
	if ends != "wrong right none stopped " && ends != "wrong none right stopped " {
		t.Errorf("told: %s", ends)
	}
	ps := s.Messages()[1].Parts
	if len(ps) != 4 || ps[0].Type != "text" || ps[1].ToolCallID != "wrong" || ps[3].ToolCallID != "none" {
		t.Errorf("stored: %+v", ps)
	}
}

// A call in a failed attempt is void. No end of it is emitted.
func TestCallsOfAFailedTryAreNotStored(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s := h.session(t)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{
		{Calls: []sandbox.ToolCall{{ID: "wrong", Tool: "read", Args: json.RawMessage(`{`)}}, Cut: true}, sandboxtest.Say("done")}}
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	if _, ok := s.Part("wrong"); ok || types(lines) != "start start-step tool-input-start tool-input-delta data-retry reset-step text-start text-delta text-end finish-step finish" {
		t.Errorf("stored %t: %s", ok, types(lines))
	}
}

// If the consumer stops iterating at a call that can't be made, no other call of the answer is
// made.
func TestNothingIsDoneForNobody(t *testing.T) {
	done := false
	mark := sandbox.Tool{Tool: protocol.Tool{ID: "mark", Parameters: `{"type":"object"}`}, Run: func(context.Context, *sandbox.Call) (any, error) {
		done = true
		return nil, nil
	}}
	h := build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), mark) })
	s := h.session(t)
	_, err := s.Say(t.Context(), "go")
	must(t, err)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{{ID: "wrong", Tool: "read", Args: json.RawMessage(`{`)}, {ID: "other", Tool: "mark", Args: args{}}}}}}
	for c := range h.Run(t.Context(), s, m, sandbox.RunOptions{}) {
		if c.Type == "tool-input-error" {
			break
		}
	}
	if p, ok := s.Part("other"); done || !ok || p.ToolState != sandbox.ToolOutputError {
		t.Errorf("done %t: %+v", done, p)
	}
}

// An answer has at most 1,000 parts. What came until then is stored, and the request is not repeated.
func TestPartsOfAnAnswerHaveALimit(t *testing.T) {
	native.Only(t)
	think := sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: "x", Meta: json.RawMessage(`{"signature":"s"}`)}
	call := func(kind sandbox.PartType, id int) sandbox.ModelEvent {
		return sandbox.ModelEvent{Type: kind, CallID: fmt.Sprint("c", id), Tool: "nope", Args: json.RawMessage(`{}`)}
	}
	for name, c := range map[string]struct {
		event  func(i int) []sandbox.ModelEvent
		stored int // parts of 1,000 events
	}{
		"thoughts": {func(int) []sandbox.ModelEvent { return []sandbox.ModelEvent{think} }, 1000},
		"texts and thoughts": {func(i int) []sandbox.ModelEvent {
			if i%2 == 0 {
				return []sandbox.ModelEvent{{Type: sandbox.PartText, Text: "x"}, {Type: sandbox.PartText, Text: "y"}}
			}
			return []sandbox.ModelEvent{think}
		}, 1000},
		"calls":           {func(i int) []sandbox.ModelEvent { return []sandbox.ModelEvent{call(sandbox.PartCall, i)} }, 1000},
		"calls of one id": {func(int) []sandbox.ModelEvent { return []sandbox.ModelEvent{call(sandbox.PartCall, 0)} }, 1000},
		"calls with their begin": {func(i int) []sandbox.ModelEvent {
			return []sandbox.ModelEvent{call(sandbox.PartCallStart, i), call(sandbox.PartCall, i)}
		}, 1000},
		"begun calls": {func(i int) []sandbox.ModelEvent {
			return []sandbox.ModelEvent{call(sandbox.PartCallStart, i), {Type: sandbox.PartCallDelta, CallID: fmt.Sprint("c", i), Text: "{"}}
		}, 0},
	} {
		for _, n := range []int{999, 1000, 1001} {
			h := build(t, policy.AskBeforeChanges(), nil, nil)
			s := h.session(t)
			var list []sandbox.ModelEvent
			for i := range n {
				list = append(list, c.event(i)...)
			}
			if n == 1000 { // a source more is left out
				list = append(list, sandbox.ModelEvent{Type: sandbox.PartSource, Source: sandbox.Source{URL: "https://a.example/"}})
			}
			m := &yields{Model: &sandboxtest.Model{}, events: [][]sandbox.ModelEvent{list}}
			_, err := h.talk(t, s, m, "go", sandbox.RunOptions{Context: -1})
			var me *sandbox.ModelError
			if above := errors.As(err, &me); above != (n > 1000) || above && (me.Retry || !strings.Contains(me.Message, "more than 1,000 parts")) {
				t.Errorf("%d %s: %v", n, name, err)
			}
			requests := 1
			if n <= 1000 && strings.HasPrefix(name, "calls") {
				requests = 2 // with the results
			}
			if got := len(m.Requests()); got != requests {
				t.Errorf("%d %s: %d requests", n, name, got)
			}
			stored := 0
			if all := s.Messages(); len(all) > 1 {
				stored = len(all[1].Parts)
				for _, p := range all[1].Parts {
					if p.Orphaned() {
						t.Fatalf("%d %s: a call has no result", n, name)
					}
				}
			}
			if stored != min(n, c.stored) {
				t.Errorf("%d %s: %d parts are stored", n, name, stored)
			}
		}
	}
}

func TestPart(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "one", "b": "two"})
	s := h.session(t)
	read := func(path string) *sandboxtest.Model {
		return &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{{ID: "c", Tool: "read", Args: args{"path": path}}}}, sandboxtest.Say("done")}}
	}
	input := func(id string) string {
		p, _ := s.Part(id)
		d, _ := p.Data.(map[string]any)
		return fmt.Sprint(d["input"])
	}
	_, err := h.talk(t, s, read("a"), "first")
	must(t, err)
	second, err := s.Say(t.Context(), "second")
	must(t, err)
	_, err = h.talk(t, s, read("b"), "")
	must(t, err)
	// Servers without ids of their own count the messages, and a summary makes those fewer.
	ids := []string{}
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if p.ToolCallID != "" {
				ids = append(ids, p.ToolCallID)
			}
		}
	}
	if len(ids) != 2 || ids[0] != "c" || ids[1] == "c" || input("c") != "map[path:a]" || input(ids[1]) != "map[path:b]" {
		t.Fatalf("two calls with one id: %q, %s", ids, input("c"))
	}
	must(t, s.Rewind(t.Context(), second, false))
	if _, ok := s.Part(ids[1]); ok || input("c") != "map[path:a]" {
		t.Errorf("when the second is hidden, %t %s", ok, input("c"))
	}
	for _, id := range []string{"", "other"} {
		if p, ok := s.Part(id); ok {
			t.Errorf("%q: %+v", id, p)
		}
	}
}
