package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
	"github.com/bailey-go/bailey/sandbox/shell"
)

// A refusal does not quote the policy's entries to the model, because they can contain names that
// the model must not learn. The user's log contains the entry.
func TestRefusalsDoNotQuoteThePolicy(t *testing.T) {
	const secret = "zeppelin"
	p := parse(t, `{
		"capabilities": {"stream.send": true, "fs.read": ["."], "fs.write": ["."], "shell.run": ["*"]},
		"filesystem": {"denyRead": ["read/[zeppelin]*", "project-zeppelin"], "denyWrite": ["write/[zeppelin]*", "hr/zeppelin/pay.csv"], "allowWrite": ["."]},
		"credentials": {"files": [{"path": "vault/[zeppelin]*", "mode": "deny"}]},
		"rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "fs.write", "action": "allow"}, {"permission": "shell.run", "action": "allow"},
			{"permission": "fs.read", "pattern": "rule/[zeppelin]*", "action": "deny"}, {"permission": "fs.write", "pattern": "rule/[zeppelin]*", "action": "deny"},
			{"permission": "fs.read", "pattern": "asked/[zeppelin]*", "action": "ask"}]}`)
	h := build(t, p, nil, map[string]string{"read/z1": "x", "write/z1": "x", "hr/zeppelin/pay.csv": "x", "vault/z1": "x", "rule/z1": "x", "asked/z1": "x", "a": "x"},
		func(o *sandbox.Options) { o.Tools = append(sandbox.Standard(), shell.Bash(shell.Options{})) })
	rows := []struct {
		tool string
		args args
		log  bool // the entry is in the log of the call itself
	}{
		{"read", args{"path": "read/z1"}, true},
		{"read", args{"path": "PROJEC~1/a"}, true},
		{"read", args{"path": "vault/z1"}, true},
		{"read", args{"path": "rule/z1"}, true},
		{"read", args{"path": "asked/z1"}, true},
		{"write", args{"path": "write/z2", "content": "x"}, true},
		{"write", args{"path": "vault/z2", "content": "x"}, true},
		{"write", args{"path": "rule/z2", "content": "x"}, true},
		{"write", args{"path": "read/z2", "content": "x"}, false},
		{"edit", args{"path": "write/z1", "old_string": "x", "new_string": "y"}, true},
		{"delete", args{"path": "hr"}, true},
		{"delete", args{"path": "write/z1"}, true},
		{"move", args{"from": "a", "to": "write/z3"}, true},
		{"move", args{"from": "read/z1", "to": "b"}, false},
		{"mkdir", args{"path": "write/z4"}, true},
		{"list", args{"path": "PROJEC~1"}, false},
		{"grep", args{"pattern": "x", "path": "read/z1"}, false},
		{"bash", args{"command": "cat read/z1"}, false},
		{"bash", args{"command": "echo x > write/z1"}, false},
		{"bash", args{"command": "rm -r hr"}, false},
		{"bash", args{"command": "cat rule/z1"}, false},
		{"bash", args{"command": "cat vault/z1 asked/z1"}, false},
	}
	m := &sandboxtest.Model{}
	for i, r := range rows {
		m.Turns = append(m.Turns, sandboxtest.Turn{Calls: []sandbox.ToolCall{{ID: fmt.Sprint("c", i), Tool: r.tool, Args: r.args}}})
	}
	m.Turns = append(m.Turns, sandboxtest.Say("done"))
	s := h.session(t)
	_, err := h.talk(t, s, m, "go")
	must(t, err)
	if got := fmt.Sprintf("%+v", m.Requests()); strings.Contains(strings.ToLower(got), secret) {
		at := strings.Index(strings.ToLower(got), secret)
		t.Errorf("the model reads %q", got[max(at-200, 0):min(at+100, len(got))])
	}
	for i, r := range rows {
		part, _ := s.Part(fmt.Sprint("c", i))
		if part.ToolState == sandbox.ToolOutputAvailable && r.tool != "bash" && r.tool != "grep" {
			t.Errorf("%s %v went through", r.tool, r.args)
		}
		d, _ := part.Data.(map[string]any)
		if got := fmt.Sprint(d["decided"]); r.log && !strings.Contains(got, secret) {
			t.Errorf("%s %v: the log does not name the entry: %s", r.tool, r.args, got)
		}
	}
}
