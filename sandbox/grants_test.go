package sandbox_test

import (
	"context"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

const asksAll = `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "shell.run", "action": "allow"}]}`

func withBash(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{})) }

// A tool has several effects. A grant for one of them on a file is no grant for another.
func TestGrantIsForThisEffect(t *testing.T) {
	reply := map[string]sandbox.Reply{
		"session": {Answer: policy.AnswerSession},
		"project": {Answer: policy.AnswerProject},
		"pattern": {Answer: policy.AnswerSession, Pattern: "notes/**"},
	}
	for name, r := range reply {
		t.Run(name, func(t *testing.T) {
			h := build(t, parse(t, asksAll), sandboxtest.Script(r), map[string]string{"notes/a.md": "one\n"}, withBash)
			h.ok(t, "bash", args{"command": "cat notes/a.md"})
			h.ok(t, "bash", args{"command": "cat notes/a.md"})
			if n := len(h.asker.Requests()); n != 1 {
				t.Errorf("asked %d times about what was granted", n)
			}
			h.ok(t, "bash", args{"command": "echo two > notes/a.md; echo two >> notes/a.md; rm notes/a.md; mv notes/a.md notes/b.md; true"})
			if got := h.file(t, "notes/a.md"); got != "one\n" {
				t.Errorf("leave to read it changed it: %q", got)
			}
		})
	}
}

// A grant to write a new file does not permit losing the content of an existing one.
func TestGrantToWriteIsNoneToDelete(t *testing.T) {
	h := build(t, parse(t, asksAll), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerSession}), nil, withBash)
	must(t, h.mem.WriteFile("a", []byte("old\n"), 0o644))
	h.ok(t, "bash", args{"command": "echo more >> a"})
	h.ok(t, "bash", args{"command": "echo more >> a"})
	if n := len(h.asker.Requests()); n != 1 {
		t.Errorf("asked %d times about what was granted", n)
	}
	h.ok(t, "bash", args{"command": "rm a; echo gone > a; true"})
	if got := h.file(t, "a"); got != "old\nmore\nmore\n" {
		t.Errorf("%q", got)
	}
}

// A command's name may look like a pattern for all commands.
func TestGrantForAStarIsNone(t *testing.T) {
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}}`),
		sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerSession}), map[string]string{"a": "a"}, func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(scripted(func(_ context.Context, c sandbox.Command) (int, error) { return 0, c.FS.WriteFile("a", nil, 0o644) })))
		})
	h.fails(t, "tool_run", args{"command": "*"}, protocol.ReasonNotFound)
	h.fails(t, "tool_run", args{"command": "prog", "write": []any{"a"}}, protocol.ErrCapabilityDenied)
	if got := h.file(t, "a"); got != "a" {
		t.Errorf("leave for a command that is not there was leave for all: %q", got)
	}
	for _, p := range h.asker.Requests()[0].Patterns {
		if p == "*" {
			t.Error("a pattern for all is suggested for one command")
		}
	}
}

// The rules for files below a moved folder apply at their old and at their new place.
func TestMovesKeepToRules(t *testing.T) {
	for name, c := range map[string]struct{ rule, from, to string }{
		"into what may not be written":       {`{"permission": "fs.write", "pattern": "b/private/**", "action": "deny"}`, "a", "b"},
		"this one file":                      {`{"permission": "fs.write", "pattern": "b/private/x", "action": "deny"}`, "a/private", "b/private"},
		"from where it may not be read":      {`{"permission": "fs.read", "pattern": "a/private/**", "action": "deny"}`, "a", "b"},
		"from where one is asked":            {`{"permission": "fs.read", "pattern": "a/**", "action": "ask"}`, "a/private/x", "b"},
		"by a tool that may not":             {`{"permission": "move", "pattern": "a/private/**", "action": "deny"}`, "a", "b"},
		"a file that may not be read itself": {`{"permission": "fs.read", "pattern": "a/private/x", "action": "deny"}`, "a/private/x", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]}, "rules": [{"permission": "*", "action": "allow"}, `+c.rule+`]}`), nil, map[string]string{"a/private/x": "x"}, withBash)
			if name != "by a tool that may not" {
				h.ok(t, "bash", args{"command": "mv " + c.from + " " + c.to + "; true"})
			}
			if res := h.Call(t.Context(), "move", args{"from": c.from, "to": c.to}); res.Err() == nil {
				t.Error("moved")
			}
			if got := h.file(t, "a/private/x"); got != "x" {
				t.Error(got)
			}
		})
	}
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}, {"permission": "fs.read", "pattern": "a/**", "action": "deny"}]}`), nil, map[string]string{"a/x": "x"})
	h.ok(t, "move", args{"from": "a/x", "to": "a/y"}) // where it may be read no more than before
}

// A refusal for a subagent applies to its starter, and to the next subagent.
func TestRefusalInASubagentHolds(t *testing.T) {
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerReject), map[string]string{"a": "x"})
	s := h.session(t)
	left := 5
	m := &sandboxtest.Model{Next: func(r sandbox.ModelRequest) sandboxtest.Turn {
		switch first := r.Messages[0].Parts[0].Text; {
		case first == "delete a" && len(r.Messages) == 1:
			return sandboxtest.CallTool("delete", args{"path": "a"})
		case first == "delete a" || left == 0:
			return sandboxtest.Say("done")
		}
		if left--; left == 0 {
			return sandboxtest.CallTool("delete", args{"path": "a"})
		}
		return sandboxtest.CallTool("task", args{"subagent_type": "general", "prompt": "delete a"})
	}}
	_, err := h.talk(t, s, m, "tidy up")
	must(t, err)
	if n := len(h.asker.Requests()); n != 1 {
		t.Errorf("asked %d times about the same", n)
	}
	left = 2
	_, err = h.talk(t, s, m, "yes, do it") // the user has spoken
	must(t, err)
	if n := len(h.asker.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}
