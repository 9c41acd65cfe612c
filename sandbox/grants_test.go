package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bailey-go/bailey/internal/native"
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

// keeps returns an option that adds the rules of answers to a list.
func keeps(kept *[]policy.Rule) func(*sandbox.Options) {
	return func(o *sandbox.Options) {
		o.Remember = func(_ context.Context, r policy.Rule) error { *kept = append(*kept, r); return nil }
	}
}

// Never about one file is for that file alone, whatever its name is.
func TestNeverIsExact(t *testing.T) {
	for _, name := range []string{"a.txt", "~", "~/x", "~x", "a~", "*", "?", "[a]", "a]", "[", "!a", "{a,b}", "my file.txt", "é", "-", "*/**", "a.txt:80", "https:"} {
		for _, path := range []string{name, "other.txt"} {
			var kept []policy.Rule
			h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerNever), map[string]string{name: "x", "other.txt": "y"}, keeps(&kept))
			h.fails(t, "delete", args{"path": name}, protocol.ErrCapabilityDenied)
			e, err := h.Explain(context.Background(), "delete", args{"path": path})
			must(t, err)
			if got := e.Decision.Action == protocol.ActionDeny; got != (path == name) || len(kept) == 0 {
				t.Errorf("after never to delete %s, %s: %v, kept %v", name, path, e.Decision.Action, kept)
			}
			if h.asker.Prompts()[0].Requests[0].Once {
				t.Errorf("%s: no lasting answer", name)
			}
		}
	}
}

// Never about a new file, whose name the model chooses, does not forbid the tool in the whole folder.
func TestNeverToANewFile(t *testing.T) {
	for _, pattern := range []string{"", "~/x", "[~]/**"} {
		h := build(t, policy.AskBeforeChanges(), sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerNever, Pattern: pattern}), nil)
		h.fails(t, "write", args{"path": "~/x", "content": "x"}, protocol.ErrCapabilityDenied)
		e, err := h.Explain(context.Background(), "write", args{"path": "thesis.tex", "content": "x"})
		must(t, err)
		if e.Decision.Action == protocol.ActionDeny {
			t.Errorf("%q: thesis.tex is %v, %s", pattern, e.Decision.Action, e.Decision.Private)
		}
	}
}

// Never about a command is for that command alone.
func TestNeverToACommand(t *testing.T) {
	p := parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."], "shell.run": ["sed", "wc"]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`)
	for _, c := range []struct {
		never, command, read string
		want                 protocol.Action
	}{
		{"notes.txt", "sed", "notes.txt", protocol.ActionDeny}, {"notes.txt", "wc", "notes.txt", protocol.ActionAsk}, {"notes.txt", "wc", "other.txt", protocol.ActionAsk},
		{".", "sed", "notes.txt", protocol.ActionDeny}, {".", "wc", "notes.txt", protocol.ActionAsk},
	} {
		var kept []policy.Rule
		h := build(t, p, sandboxtest.Always(policy.AnswerNever), map[string]string{"notes.txt": "x", "other.txt": "y"}, keeps(&kept), func(o *sandbox.Options) {
			o.Tools = append(sandbox.Standard(), sandbox.ToolRun(named{"sed wc", nil}))
		})
		h.fails(t, "tool_run", args{"command": "sed", "read": []any{c.never}}, protocol.ErrCapabilityDenied)
		e, err := h.Explain(context.Background(), "tool_run", args{"command": c.command, "read": []any{c.read}})
		must(t, err)
		if e.Decision.Action != c.want {
			t.Errorf("after never to sed %s, %s %s: %v, kept %v", c.never, c.command, c.read, e.Decision.Action, kept)
		}
	}
}

// A request that no rule can stand for says so, and a lasting answer to it holds for this call alone.
func TestOnce(t *testing.T) {
	native.Only(t)
	synctest.Test(t, longNamesOnce) // on a busy machine 512 folders take longer than a tool may
}

func longNamesOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		once bool
	}{{strings.Repeat("d/", 511) + "x", false}, {strings.Repeat("d/", 511) + "xx", false}, {strings.Repeat("d/", 512) + "x", true}, {strings.Repeat("[d/", 204) + "xxxx", false}, {strings.Repeat("[d/", 204) + "xxxxx", true}} {
		for _, answer := range []policy.Answer{policy.AnswerNever, policy.AnswerProject, policy.AnswerSession} {
			var kept []policy.Rule
			h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(answer), nil, keeps(&kept))
			s := h.session(t)
			r := h.Call(s.Context(t.Context()), "write", args{"path": c.name, "content": "x"})
			if asked := h.asker.Prompts()[0].Requests[0].Once; asked != c.once {
				t.Errorf("%d bytes: once is %t", len(c.name), asked)
			}
			if c.once && (len(kept) > 0 || strings.Contains(r.ErrorText, "not kept")) {
				t.Errorf("%s, %d bytes: kept %v, %v", answer, len(c.name), kept, r.Err())
			}
			if (r.Err() == nil) != (answer != policy.AnswerNever) {
				t.Errorf("%s, %d bytes: %v", answer, len(c.name), r.Err())
			}
		}
	}
	h := build(t, policy.AskBeforeChanges(), sandboxtest.Always(policy.AnswerReject), nil, func(o *sandbox.Options) {
		o.Skills = []sandbox.Skill{{Name: "helper", Content: "x", Source: ".skills/helper/SKILL.md"}}
	})
	h.fails(t, "skill", args{"name": "helper"}, protocol.ErrCapabilityDenied)
	plan, err := h.Plan(t.Context())
	must(t, err)
	plan.Box.Call(t.Context(), "write", args{"path": "new.txt", "content": "x"})
	_, _ = plan.Apply(t.Context())
	for _, p := range h.asker.Prompts() {
		if !p.Requests[0].Once {
			t.Errorf("%q may be answered for longer", p.Requests[0].Title)
		}
	}
	if n := len(h.asker.Prompts()); n != 2 {
		t.Errorf("%d questions", n)
	}
}

// A name with characters of patterns, such as a page of a web framework, is as good as any other.
func TestNamesWithBrackets(t *testing.T) {
	files := map[string]string{"app/[id]/page.tsx": "one\n", "app/[...all].ts": "two\n", "app/i/page.tsx": "three\n", "app/a]": "four\n"}
	read := named{"prog", func(_ context.Context, c sandbox.Command) (int, error) {
		for _, arg := range c.Args {
			data, err := c.FS.ReadFile(arg)
			if err != nil {
				return 1, err
			}
			_, _ = c.Stdout.Write(data)
		}
		return 0, nil
	}}
	for _, answer := range []policy.Answer{policy.AnswerSession, policy.AnswerNever} {
		for path := range files {
			h := build(t, parse(t, asksAll), sandboxtest.Always(answer), files)
			s := h.session(t)
			for range 2 {
				r := h.Call(s.Context(t.Context()), "read", args{"path": path})
				if (r.Err() == nil) != (answer == policy.AnswerSession) {
					t.Errorf("%s, %s: %v", answer, path, r.Err())
				}
			}
			if n := len(h.asker.Prompts()); n != 1 || h.asker.Prompts()[0].Requests[0].Once {
				t.Errorf("%s, %s: asked %d times", answer, path, n)
			}
		}
	}
	for _, c := range []struct{ read, path string }{{"app/[id]", "app/[id]/page.tsx"}, {"app/[id]/page.tsx", "app/[id]/page.tsx"}, {"app/[...all].ts", "app/[...all].ts"}, {"app/a]", "app/a]"}, {"app/[id]", "app/i/page.tsx"}} {
		h := build(t, parse(t, asksAll), sandboxtest.Always(policy.AnswerOnce), files, withBash, func(o *sandbox.Options) {
			o.Tools = append(o.Tools, sandbox.ToolRun(read))
		})
		r := h.Call(t.Context(), "tool_run", args{"command": "prog", "args": []any{c.path}, "read": []any{c.read}})
		if got := fmt.Sprint(r.Data); strings.Contains(got, strings.TrimSpace(files[c.path])) != (c.path != "app/i/page.tsx") {
			t.Errorf("read %s, %s: %v %v", c.read, c.path, got, r.Err())
		}
	}
}
