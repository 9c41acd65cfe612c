package sandbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// A worker of Casys PML elsewhere has the rules of a model elsewhere: the gate, and what the policy sends.
func TestAnswerPML(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	_ = mem.WriteFile("a.txt", []byte("six"), 0o644)
	_ = mem.WriteFile("key.txt", []byte("sk-ant-api03-"+strings.Repeat("a1B2", 23)+"AA"), 0o644)
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}, {"permission": "mcp:far:echo", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	user := &sandboxtest.Asker{}
	echo := sandbox.Tool{Tool: protocol.Tool{ID: "far_echo", Server: "far", Untrusted: true, Parameters: `{"type":"object"}`}, Run: func(_ context.Context, c *sandbox.Call) (any, error) { return c.Args, nil }}
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: user, Tools: append(sandbox.Standard(), echo)})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, message, want, not string }{
		{"a file", `{"type":"rpc_call","id":"1","server":"filesystem","tool":"read_file","args":{"path":"a.txt"}}`, `"content":"six"`, ""},
		{"a credential", `{"type":"rpc_call","id":"2","server":"filesystem","tool":"read_file","args":{"path":"key.txt"}}`, `"success":true`, "a1B2a1B2"},
		{"a question, declined", `{"type":"rpc_call","id":"3","server":"filesystem","tool":"write_file","args":{"path":"b.txt","content":"x"}}`, `"error":"PermissionError: `, ""},
		{"a server's tool", `{"type":"rpc_call","id":"4","server":"far","tool":"echo","args":{"a":1}}`, `"result":{"a":1}`, ""},
		{"a tool of no server", `{"type":"rpc_call","id":"5","server":"near","tool":"echo","args":{}}`, `"error":"RuntimeError: `, ""},
		{"a tool of the box under its own name", `{"type":"rpc_call","id":"6","server":"","tool":"read","args":{"path":"a.txt"}}`, `"success":false`, "six"},
		{"a name that is put together", `{"type":"rpc_call","id":"7","server":"far_echo","tool":"","args":{}}`, `"success":false`, ""},
		{"no args", `{"type":"rpc_call","id":"8","server":"filesystem","tool":"read_file"}`, `"success":false`, ""},
		{"no id", `{"type":"rpc_call","server":"filesystem","tool":"read_file","args":{"path":"a.txt"}}`, `"id":"unknown"`, "six"},
		{"another message", `{"type":"init","code":"","toolDefinitions":[]}`, `"success":false`, ""},
	} {
		got := box.AnswerPML(t.Context(), c.message, false)
		if !strings.Contains(got, c.want) || !strings.Contains(got, `"type":"rpc_result"`) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if n := len(user.Prompts()); n != 1 {
		t.Errorf("%d questions", n)
	}
	if got := box.AnswerPML(t.Context(), `{"type":"rpc_call","id":"2","server":"filesystem","tool":"read_file","args":{"path":"key.txt"}}`, true); !strings.Contains(got, "a1B2a1B2") {
		t.Errorf("a worker of this machine has %s", got)
	}
}
