package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

func TestPlanNeedsOneConsent(t *testing.T) {
	files := map[string]string{"keep": "k", "old.tmp": "gone"}
	for i := range 50 {
		files[fmt.Sprintf("f%02d.txt", i)] = fmt.Sprint(i)
	}
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerOnce), files)
	ctx := context.Background()
	p, err := h.Plan(ctx)
	must(t, err)
	for i := range 50 {
		res := p.Box.Call(ctx, "move", args{"from": fmt.Sprintf("f%02d.txt", i), "to": fmt.Sprintf("sorted/f%02d.txt", i)})
		must(t, res.Err())
	}
	must(t, p.Box.Call(ctx, "delete", args{"path": "old.tmp"}).Err())
	must(t, p.Box.Call(ctx, "write", args{"path": "index.md", "content": "# 50\n"}).Err())
	must(t, p.Box.Call(ctx, "write", args{"path": "run.bat", "content": "echo"}).Err())
	if res := p.Box.Call(ctx, "write", args{"path": ".mcp.json", "content": ""}); res.Code != protocol.ErrCapabilityDenied {
		t.Errorf("a plan does what no policy opens: %+v", res)
	}
	if h.file(t, "f00.txt") != "0" || len(h.asker.Prompts()) != 0 {
		t.Fatal("the dry run is wet")
	}
	done, err := p.Apply(ctx)
	must(t, err)
	if n := len(h.asker.Prompts()); n != 1 {
		t.Errorf("%d prompts", n)
	}
	r := h.asker.Requests()[0]
	if !strings.Contains(r.Reason, "run.bat, which is of the kind script") || r.Risk != protocol.RiskCritical {
		t.Errorf("a script hides in the plan: %s", r.Reason)
	}
	if !r.Destroys || !strings.Contains(r.Diff, "# 50") || !strings.Contains(r.Diff, "sorted/f00.txt") {
		t.Errorf("asked %+v", r.Title)
	}
	if len(done) < 100 || h.file(t, "sorted/f42.txt") != "42" || h.file(t, "index.md") != "# 50\n" {
		t.Errorf("%d changes", len(done))
	}
	if _, err := p.Apply(ctx); !errors.Is(err, protocol.ErrSession) {
		t.Errorf("applied twice: %v", err)
	}
	must(t, h.journal.Undo(ctx)) // one step
	if h.file(t, "f42.txt") != "42" || h.file(t, "old.tmp") != "gone" {
		t.Error("the plan is not one step for undo")
	}
}

func TestPlanRefusedAndConflicting(t *testing.T) {
	ctx := context.Background()
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Reason: "no"}, sandbox.Reply{Answer: policy.AnswerOnce}), map[string]string{"a": "x"})
	for range 2 {
		p, err := h.Plan(ctx)
		must(t, err)
		must(t, p.Box.Call(ctx, "delete", args{"path": "a"}).Err())
		if len(h.asker.Prompts()) == 1 {
			h.mem.WriteFile("a", []byte("theirs"), 0o644)
		}
		_, err = p.Apply(ctx)
		if second := len(h.asker.Prompts()) == 2; second != errors.Is(err, protocol.ReasonStale) || !second && !errors.Is(err, protocol.ReasonRejected) {
			t.Errorf("applied: %v after %d prompts", err, len(h.asker.Prompts()))
		}
	}
	if n := len(h.asker.Prompts()); n != 2 {
		t.Errorf("%d prompts", n)
	}
	if h.file(t, "a") != "theirs" {
		t.Errorf("a is %q", h.file(t, "a"))
	}
	nobody := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"})
	p, err := nobody.Plan(ctx)
	must(t, err)
	must(t, p.Box.Call(ctx, "delete", args{"path": "a"}).Err())
	if _, err := p.Apply(ctx); !errors.Is(err, protocol.ErrCapabilityDenied) || nobody.file(t, "a") != "x" {
		t.Errorf("headless: %v", err)
	}
}

// Apply makes only the changes that the user saw, even if the model continues meanwhile.
func TestPlanDoesNotGrowWhileThePersonReads(t *testing.T) {
	ctx := t.Context()
	var p *sandbox.Plan
	program, begun := make(chan *fsaccess.FS, 1), make(chan struct{})
	more := []sandbox.ToolCall{
		{Tool: "delete", Args: args{"path": "b"}}, {Tool: "write", Args: args{"path": "late", "content": "l"}}, {Tool: "mkdir", Args: args{"path": "dir"}},
		{Tool: "move", Args: args{"from": "a", "to": "c"}}, {Tool: "bash", Args: args{"command": "echo x >> new"}}, {Tool: "tool_run", Args: args{"command": "prog", "write": []any{"d"}}},
	}
	asker := &sandboxtest.Asker{Reply: func(sandbox.Request) sandbox.Reply {
		for _, c := range more {
			if p.Box.Call(ctx, c.Tool, c.Args).Err() == nil && c.Tool != "bash" {
				t.Errorf("%s went well", c.Tool)
			}
		}
		if view := <-program; (*view).WriteFile("d", nil, 0o644) == nil {
			t.Error("a program that was left behind goes on")
		}
		return sandbox.Reply{Answer: policy.AnswerOnce}
	}}
	pol := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "shell.run", "action": "allow"}, {"permission": "tool_run", "action": "allow"}]}`)
	h := build(t, pol, asker, map[string]string{"a": "x", "b": "y"}, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{}), sandbox.ToolRun(scripted(func(ctx context.Context, c sandbox.Command) (int, error) {
			select {
			case program <- &c.FS:
				close(begun)
				<-ctx.Done()
			default: // a second prompt
			}
			return 0, nil
		})))
	})
	var err error
	p, err = h.Plan(ctx)
	must(t, err)
	must(t, p.Box.Call(ctx, "write", args{"path": "new", "content": "n"}).Err())
	go p.Box.Call(ctx, "tool_run", args{"command": "prog", "write": []any{"d"}})
	<-begun
	done, err := p.Apply(ctx)
	must(t, err)
	if len(done) != 1 || h.file(t, "new") != "n" || h.file(t, "a") != "x" || h.file(t, "b") != "y" {
		t.Errorf("did %v", done)
	}
}

// A write that was running in the copy when the plan was shown is not applied.
func TestAttackPlanChangesWhileItIsShown(t *testing.T) {
	count := attack.Start(t, "04")
	ctx := t.Context()
	for name, late := range map[string]func(f *fsaccess.Overlay) error{
		"a new file":           func(f *fsaccess.Overlay) error { return f.WriteFile("evil", []byte("e"), 0o644) },
		"other content":        func(f *fsaccess.Overlay) error { return f.WriteFile("new", []byte("evil"), 0o644) },
		"a file of the folder": func(f *fsaccess.Overlay) error { return f.WriteFile("a", []byte("evil"), 0o644) },
		"a removal":            func(f *fsaccess.Overlay) error { return f.Remove("a") },
		"a move":               func(f *fsaccess.Overlay) error { return f.Rename("a", "b") },
		"a new folder":         func(f *fsaccess.Overlay) error { return f.Mkdir("d", 0o755) },
	} {
		attempt := func(off bool) bool {
			var p *sandbox.Plan
			asker := &sandboxtest.Asker{Reply: func(sandbox.Request) sandbox.Reply {
				must(t, late(p.Copy()))
				return sandbox.Reply{Answer: policy.AnswerOnce}
			}}
			h := build(t, policy.AskBeforeChanges(), asker, map[string]string{"a": "x"}, func(o *sandbox.Options) {
				if off {
					o.Without("same")
				}
			})
			var err error
			p, err = h.Plan(ctx)
			must(t, err)
			must(t, p.Box.Call(ctx, "write", args{"path": "new", "content": "n"}).Err())
			_, err = p.Apply(ctx)
			if !off && !errors.Is(err, protocol.ReasonStale) {
				t.Errorf("%s: %v", name, err)
			}
			_, gone := h.mem.Stat("new")
			return gone == nil
		}
		count.Try(name, attempt(false))
		count.Off(name, attempt(true))
	}
}
