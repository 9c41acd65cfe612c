package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// The user is not asked about an edit that will fail. The model receives the error.
func TestNobodyIsAskedAboutADoomedEdit(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, map[string]string{"a": "one\none\n", "unread": "one\n"})
	h.ok(t, "read", args{"path": "a"})
	edit := func(path, from, to string) args {
		return args{"path": path, "old_string": from, "new_string": to}
	}
	for _, c := range []struct {
		a    args
		want error
	}{
		{edit("a", "three", "3"), protocol.ReasonNotFound},
		{edit("a", "one", "1"), protocol.ReasonAmbiguous},
		{edit("a", "one", "one"), protocol.ReasonNoOp},
		{edit("unread", "one", "1"), protocol.ReasonNotRead},
		{edit("nowhere", "one", "1"), protocol.ReasonNotFound},
	} {
		h.fails(t, "edit", c.a, c.want)
	}
	must(t, h.mem.WriteFile("a", []byte("one\ntwo\n"), 0o644))
	h.fails(t, "edit", edit("a", "one", "1"), protocol.ReasonStale)
	if n := len(asker.Requests()); n != 0 {
		t.Errorf("asked %d times: %+v", n, asker.Requests())
	}
	h.ok(t, "read", args{"path": "a"})
	h.ok(t, "edit", edit("a", "one", "1"))
	if n := len(asker.Requests()); n != 1 || h.file(t, "a") != "1\ntwo\n" {
		t.Errorf("an edit that can be made: asked %d times, %q", n, h.file(t, "a"))
	}
}

// The same holds for all other changes that will fail.
func TestNobodyIsAskedAboutADoomedChange(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, map[string]string{"a": "one\n", "b": "two\n", "unread": "three\n"})
	version := h.ok(t, "read", args{"path": "a"})["version"]
	must(t, h.mem.WriteFile("a", []byte("other\n"), 0o644))
	for _, c := range []struct {
		tool string
		a    args
		want error
	}{
		{"write", args{"path": "a", "content": "x"}, protocol.ReasonStale},
		{"write", args{"path": "a", "content": "x", "version": version}, protocol.ReasonStale},
		{"write", args{"path": "gone", "content": "x", "version": version}, protocol.ReasonStale},
		{"write", args{"path": "unread", "content": "x"}, protocol.ReasonNotRead},
		{"move", args{"from": "a", "to": "b"}, protocol.ErrExecution},
		{"move", args{"from": "nowhere", "to": "c"}, protocol.ReasonNotFound},
	} {
		h.fails(t, c.tool, c.a, c.want)
	}
	if n := len(asker.Requests()); n != 0 {
		t.Errorf("asked %d times: %+v", n, asker.Requests())
	}
	h.ok(t, "read", args{"path": "a"})
	h.ok(t, "write", args{"path": "a", "content": "mine"})
	h.ok(t, "write", args{"path": "new", "content": "n"})
	h.ok(t, "move", args{"from": "a", "to": "c"})
	h.ok(t, "move", args{"from": "c", "to": "b", "replace": true})
	h.ok(t, "delete", args{"path": "b"})
	if n := len(asker.Requests()); n != 5 {
		t.Errorf("asked %d times about five changes that can be made", n)
	}
}

func TestNobodyIsAskedAboutADoomedDelete(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, nil)
	h.fails(t, "delete", args{"path": "nowhere"}, protocol.ReasonNotFound)
	h.fails(t, "delete", args{"path": "."}, protocol.ErrInvalidParams)
	if n := len(asker.Requests()); n != 0 {
		t.Errorf("asked %d times: %+v", n, asker.Requests())
	}
}

// Precheck is not called for a file that may not be read without asking, because its error would
// reveal the content.
func TestADoomedEditTellsNothingUnasked(t *testing.T) {
	for _, rules := range []string{
		`{"permission": "fs.read", "action": "ask"}`,
		`{"permission": "fs.read", "action": "allow"}, {"permission": "fs.read", "pattern": "secret", "action": "ask"}`,
		`{"permission": "read", "action": "ask"}, {"permission": "edit", "action": "ask"}`,
	} {
		asker := &sandboxtest.Asker{} // rejects everything
		h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [`+rules+`]}`), asker, map[string]string{"secret": "the word is swordfish\n"})
		for _, guess := range []string{"swordfish", "dolphin"} {
			asked := len(asker.Requests())
			res := h.fails(t, "edit", args{"path": "secret", "old_string": guess, "new_string": "x", "version": "any"}, protocol.ReasonRejected)
			if n := len(asker.Requests()); guess == "swordfish" && n != asked+1 || strings.Contains(res.ErrorText, "not in the file") {
				t.Errorf("%s: %s: asked %d times, told %q", rules, guess, n-asked, res.ErrorText)
			}
		}
	}
}

// If Precheck panics, the user is asked as usual.
func TestPrecheckThatPanics(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, nil, func(o *sandbox.Options) {
		o.Tools = []sandbox.Tool{{
			Tool: protocol.Tool{ID: "odd", Description: "Odd.", Requires: []protocol.Grant{{Capability: protocol.FSWrite}}},
			Needs: func(context.Context, *sandbox.Call) ([]policy.Need, error) {
				return []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: "a"}}, nil
			},
			Precheck: func(context.Context, *sandbox.Call) error { panic("odd") },
			Run:      func(context.Context, *sandbox.Call) (any, error) { return "well", nil },
		}}
	})
	if res := h.Call(context.Background(), "odd", nil); res.Data != "well" || len(asker.Requests()) != 1 {
		t.Errorf("%+v, asked %d times", res, len(asker.Requests()))
	}
}

// others are commands, one of which requires a question.
type others struct {
	scripted
	sum string
}

func (o *others) AskCommand(context.Context, string) (reason, key string, err error) {
	return "it was installed", o.sum, nil
}

// A third-party command in a call that the rules ask about too is one question with both reasons.
// After the user agreed, it is not asked about again in the session.
func TestOneQuestionForACommandOfOthers(t *testing.T) {
	ran := 0
	o := &others{scripted(func(_ context.Context, c sandbox.Command) (int, error) {
		if !c.Asked {
			t.Error("it runs unasked")
		}
		ran++
		return 0, nil
	}), strings.Repeat("a", 64)}
	for _, c := range []struct {
		name, rules string
		a           args
		again       int // further questions about the same call
	}{
		{"the rules allow all", `{"permission": "*", "action": "allow"}`, args{"command": "prog"}, 0},
		{"the rules ask about commands", `{"permission": "shell.run", "action": "ask"}`, args{"command": "prog", "args": []any{"x"}}, 1},
		{"the rules ask about files", `{"permission": "shell.run", "action": "allow"}`, args{"command": "prog", "write": []any{"out"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran, o.sum = 0, strings.Repeat("a", 64)
			asker := sandboxtest.Always(policy.AnswerOnce)
			h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["prog"]}, "rules": [`+c.rules+`]}`), asker, nil, func(opt *sandbox.Options) {
				opt.Tools = []sandbox.Tool{sandbox.ToolRun(o)}
			})
			h.ok(t, "tool_run", c.a)
			all := asker.Requests()
			if len(all) != 1 || ran != 1 {
				t.Fatalf("asked %d times, ran %d times: %+v", len(all), ran, all)
			}
			if r := all[0]; !r.Untrusted || r.Risk != protocol.RiskHigh && r.Risk != protocol.RiskCritical ||
				!strings.HasPrefix(r.Title, "run prog") || !strings.Contains(r.Title, "prog, which was installed (aaaaaaaaaaaa)") || !strings.HasPrefix(r.Reason, "it was installed") {
				t.Errorf("asked %+v", r)
			}
			h.ok(t, "tool_run", c.a)
			if n := len(asker.Requests()); n != 1+c.again || ran != 2 {
				t.Errorf("once more: asked %d times, ran %d times", n-1, ran)
			}
			for _, r := range asker.Requests()[1:] {
				if r.Untrusted || strings.Contains(r.Title, "installed") {
					t.Errorf("it says again what was accepted: %+v", r)
				}
			}
			o.sum = strings.Repeat("b", 64) // another of the name
			h.ok(t, "tool_run", c.a)
			if all := asker.Requests(); len(all) != 2+c.again || !strings.Contains(all[len(all)-1].Title, "bbbb") {
				t.Errorf("another command of the name: %d questions", len(all)-1-c.again)
			}
			asker.Reply = nil // no
			o.sum = strings.Repeat("c", 64)
			h.fails(t, "tool_run", c.a, protocol.ReasonRejected)
			if ran != 3 {
				t.Errorf("it ran after a no")
			}
		})
	}
}
