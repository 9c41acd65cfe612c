package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// One call is stopped. Its progress until then was reported, also that of its inner calls. The run
// continues, and the model receives the reason.
func TestStopCall(t *testing.T) {
	var s *sandbox.Session
	var h *house
	var heard []sandbox.Progress
	found := map[string]bool{}
	hang := sandbox.Tool{Tool: protocol.Tool{ID: "hang", Parameters: `{"type":"object"}`}, Run: func(ctx context.Context, c *sandbox.Call) (any, error) {
		sandbox.ReportProgress(ctx, "here")
		h.Call(ctx, "glob", args{"pattern": "*"})
		id := heard[0].Call
		found["other"], found[id] = s.StopCall("other", "no"), s.StopCall(id, "the user ended it")
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	h = build(t, policy.AskBeforeChanges(), nil, nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), hang)
		o.OnProgress = func(p sandbox.Progress) { heard = append(heard, p) }
	})
	s = h.session(t)
	turns := []sandboxtest.Turn{sandboxtest.CallTool("hang", args{}), sandboxtest.Say("well")}
	m := &sandboxtest.Model{Next: func(sandbox.ModelRequest) sandboxtest.Turn {
		turn := turns[0]
		turns = turns[1:]
		return turn
	}}
	lines, err := h.talk(t, s, m, "go")
	must(t, err)
	said := []string{}
	for _, p := range heard {
		if p.Session != s.ID() || p.Call != heard[0].Call || p.Call == "" {
			t.Errorf("%+v", p)
		}
		said = append(said, p.Text)
	}
	if !slices.Equal(said, []string{"here", "→ glob *"}) {
		t.Errorf("heard %q", said)
	}
	if found["other"] || !found[heard[0].Call] {
		t.Errorf("found %v", found)
	}
	if got := types(lines); !strings.Contains(got, "tool-output-error") || strings.Contains(got, "abort") || len(turns) != 0 {
		t.Errorf("%s; %d turns left", got, len(turns))
	}
	if got := fmt.Sprint(m.Requests()[1].Messages); !strings.Contains(got, "the user ended it") {
		t.Errorf("the model heard %s", got)
	}
	if s.StopCall(heard[0].Call, "again") {
		t.Error("a call that ended is found")
	}
	sandbox.ReportProgress(context.Background(), "nobody")
}

func TestRename(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), nil, nil)
	s, err := h.NewSession(t.Context(), sandbox.SessionOptions{Metadata: map[string]any{"own": 1.0}})
	must(t, err)
	old := s.Record().Metadata
	must(t, s.Rename(t.Context(), "Notes"))
	list, err := h.Sessions(t.Context())
	must(t, err)
	if m := list[0].Metadata; m["title"] != "Notes" || m["own"] != 1.0 || old["title"] != nil {
		t.Errorf("%v, before %v", m, old)
	}
}
