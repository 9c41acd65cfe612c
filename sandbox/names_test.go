package sandbox_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// Casys PML's built-in MCP names are names for our tools with our policy: a rule for one name
// applies to calls with the other.
func TestOtherSystemsNames(t *testing.T) {
	for name, want := range map[string]string{
		"mcp.filesystem.read_file": "read", "mcp.filesystem.write_file": "write", "mcp.fetch.fetch": "web_fetch", "mcp.shell.run_command": "bash",
		"read": "read", "mcp.filesystem.delete_file": "mcp.filesystem.delete_file", "MCP.fetch.fetch": "MCP.fetch.fetch", "": "",
	} {
		if got := sandbox.BuiltinName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	h := build(t, parse(t, `{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "rules": [{"permission": "*", "action": "allow"}, {"permission": "write", "pattern": "b", "action": "deny"}]}`), nil, map[string]string{"a": "text"})
	if got := h.ok(t, "mcp.filesystem.read_file", args{"path": "a"}); got["content"] != "text" {
		t.Errorf("%v", got)
	}
	h.ok(t, "mcp.filesystem.write_file", args{"path": "c", "content": "new"})
	if h.file(t, "c") != "new" {
		t.Error("c was not written")
	}
	h.fails(t, "mcp.filesystem.write_file", args{"path": "b", "content": "new"}, protocol.ErrCapabilityDenied)
	h.fails(t, "mcp.filesystem.read_file", args{"path": 1.0}, protocol.ErrInvalidParams)
	for _, name := range []string{"mcp.fetch.fetch", "mcp.shell.run_command"} { // this box has neither
		h.fails(t, name, args{}, protocol.ErrToolNotFound)
	}
	for _, e := range h.traces {
		if strings.HasPrefix(e.Tool, "mcp.") && sandbox.BuiltinName(e.Tool) != e.Tool {
			t.Errorf("traced as %s", e.Tool)
		}
	}
}

// env.read is a capability like the others: it is limited by names of variables, from a policy or
// from --allow-env, and is asked about unless a rule allows it.
func TestEnvRead(t *testing.T) {
	read := sandbox.Tool{Tool: protocol.Tool{ID: "env_get", Requires: []protocol.Grant{{Capability: protocol.EnvRead}},
		Parameters: `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *sandbox.Call) ([]policy.Need, error) {
			m := c.Args.(map[string]any)
			return []policy.Need{{Capability: protocol.EnvRead, Subject: m["name"].(string)}}, nil
		},
		Run: func(_ context.Context, c *sandbox.Call) (any, error) {
			name := c.Args.(map[string]any)["name"].(string)
			gated := sandbox.Gate(map[string]string{"LANG": "de", "TOKEN": "t"})
			env, err := gated.Get(c.Permit, policy.Need{Capability: protocol.EnvRead, Subject: name})
			return map[string]any{"value": env[name]}, err
		}}
	flags, err := policy.FromFlags([]string{"--allow-env=LANG"}, policy.Options{})
	must(t, err)
	for _, p := range []*policy.Policy{flags, parse(t, `{"capabilities": {"env.read": ["LANG"]}, "rules": [{"permission": "env_get", "action": "ask"}]}`)} {
		asker := sandboxtest.Always(policy.AnswerOnce)
		h := build(t, p, asker, nil, func(o *sandbox.Options) { o.Tools = []sandbox.Tool{read} })
		if got := h.ok(t, "env_get", args{"name": "LANG"}); got["value"] != "de" {
			t.Errorf("%v", got)
		}
		asked := len(asker.Requests())
		if asked > 0 && asker.Requests()[0].Risk != protocol.RiskHigh {
			t.Errorf("the risk is %s", asker.Requests()[0].Risk)
		}
		for _, name := range []string{"TOKEN", "LANGUAGE", "LAN", "lang", "*", ""} {
			h.fails(t, "env_get", args{"name": name}, protocol.ErrCapabilityDenied)
		}
		if n := len(asker.Requests()); n != asked {
			t.Errorf("asked %d times about what is not granted", n-asked)
		}
	}
	h := build(t, parse(t, open), sandboxtest.Always(policy.AnswerOnce), nil, func(o *sandbox.Options) { o.Tools = []sandbox.Tool{read} })
	h.fails(t, "env_get", args{"name": "LANG"}, protocol.ErrCapabilityDenied)
}

// An ephemeral session with its messages and effects is only in memory, and is gone after Close.
func TestEphemeralSessions(t *testing.T) {
	ctx := context.Background()
	store := sandbox.MemoryStore()
	h := build(t, policy.AskBeforeChanges(), nil, map[string]string{"a": "x"}, func(o *sandbox.Options) { o.Sessions = store })
	s, err := h.NewSession(ctx, sandbox.SessionOptions{Ephemeral: true})
	must(t, err)
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.CallTool("read", args{"path": "a"}), sandboxtest.Say("it is x")}}
	_, err = h.talk(t, s, m, "go")
	must(t, err)
	if n := len(s.Messages()); n < 2 {
		t.Errorf("%d messages", n)
	}
	kept := h.session(t)
	list, err := h.Sessions(ctx)
	must(t, err)
	if len(list) != 1 || list[0].ID != kept.ID() {
		t.Errorf("stored: %v", list)
	}
	s.Close()
	if _, err := h.OpenSession(ctx, s.ID()); err == nil {
		t.Error("it can be opened again")
	}
	kept.Close()
	again, err := h.OpenSession(ctx, kept.ID())
	must(t, err)
	again.Close()
}

// Before each write the user sees the change of the current file, and not the model's description.
func TestPromptsShowTheRealDiff(t *testing.T) {
	asker := sandboxtest.Always(policy.AnswerOnce)
	h := build(t, policy.AskBeforeChanges(), asker, map[string]string{"a": "one\ntwo\n", "b": "one\ntwo\n"})
	h.ok(t, "read", args{"path": "a"})
	h.ok(t, "read", args{"path": "b"})
	for _, tt := range []struct {
		tool string
		a    args
		want []string
	}{
		{"write", args{"path": "a", "content": "one\n2\n"}, []string{"--- a/a\n+++ b/a\n", "-two\n+2\n"}},
		{"write", args{"path": "a", "content": "uno\n2\n"}, []string{"--- a/a\n+++ b/a\n", "-one\n+uno\n"}},
		{"write", args{"path": "new", "content": "n\n"}, []string{"--- /dev/null\n+++ b/new\n", "+n\n"}},
		{"edit", args{"path": "b", "old_string": "one", "new_string": "1"}, []string{"--- a/b\n+++ b/b\n", "-one\n+1\n"}},
		{"move", args{"from": "new", "to": "old"}, []string{"rename from new\nrename to old\n"}},
		{"delete", args{"path": "b"}, []string{"--- a/b\n+++ /dev/null\n", "-1\n-two\n"}},
	} {
		before, name := len(asker.Requests()), fmt.Sprint(tt.a["path"])
		old := h.file(t, name)
		h.asker.Reply = func(r sandbox.Request) sandbox.Reply {
			if tt.tool != "move" && h.file(t, name) != old {
				t.Errorf("%s %v was done before the answer", tt.tool, tt.a)
			}
			return sandbox.Reply{Answer: policy.AnswerOnce}
		}
		h.ok(t, tt.tool, tt.a)
		all := asker.Requests()
		if len(all) != before+1 {
			t.Fatalf("%s %v: %d prompts", tt.tool, tt.a, len(all)-before)
		}
		for _, part := range tt.want {
			if !strings.Contains(all[before].Diff, part) {
				t.Errorf("%s %v: %q is not in\n%s", tt.tool, tt.a, part, all[before].Diff)
			}
		}
	}
}
