package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// Our client uses a server in the same page over a MessagePort. Its tools are asked about like any server's,
// and need no network.
func TestClientOverAPort(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	far, err := sandbox.New(sandbox.Options{FS: mem, Policy: p})
	must(t, err)
	server, err := mcp.NewServer(far, mcp.Options{Tools: []string{"read", "grep"}, Resources: []string{"a.txt"}})
	must(t, err)
	a, b := channel(t)
	served, err := server.Connect(t.Context(), mcp.Port(jsx.ToRaw(a)), nil)
	must(t, err)
	c, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "page", Port: jsx.ToRaw(b), OnChange: func() {}})
	must(t, err)
	tools, err := c.Tools(t.Context())
	must(t, err)
	box := func(asker sandbox.Asker) *sandbox.Box {
		t.Helper()
		p, err := policy.Parse(`{"capabilities": {"code.run": true}}`, policy.Options{})
		must(t, err)
		b, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: asker})
		must(t, err)
		return b
	}
	yes := sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce})
	res := box(yes).Call(t.Context(), "page_read", args{"path": "a.txt"})
	if m, _ := res.Data.(args); !strings.Contains(m["content"].(string), "content") || !strings.Contains(yes.Prompts()[0].Requests[0].Title, "the MCP server page in this page, for its tool read") {
		t.Errorf("%+v, asked %+v", res, yes.Prompts())
	}
	if res := box(nil).Call(t.Context(), "page_read", args{"path": "a.txt"}); res.Code != protocol.ErrCapabilityDenied {
		t.Errorf("nobody was asked: %+v", res)
	}
	res = box(sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "page_resources", args{"uri": "file:///a.txt"})
	if m, _ := res.Data.(args); m["content"] != "content\n" {
		t.Errorf("%+v", res)
	}
	many := make([]sandbox.ToolCall, 20)
	for i := range many {
		many[i] = sandbox.ToolCall{Tool: "page_grep", Args: args{"pattern": "cont"}}
	}
	for _, res := range box(sandboxtest.Always(policy.AnswerOnce)).CallAll(t.Context(), many...) {
		must(t, res.Err())
	}
	must(t, c.Close(context.Background()))
	_ = served.Wait()
	if res := box(sandboxtest.Always(policy.AnswerOnce)).Call(t.Context(), "page_read", args{"path": "a.txt"}); res.Err() == nil {
		t.Error("after the end it answers")
	}
}

// A port whose other side is silent, closed, or sends what is no message.
func TestAClientsPort(t *testing.T) {
	a, b := channel(t)
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("stopped")
	go stop(cause)
	if _, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "page", Port: jsx.ToRaw(b)}); !errors.Is(err, cause) {
		t.Errorf("silent: %v", err)
	}
	_ = a
	for name, text := range map[string]any{"the end": "", "a number": 1.0, "no JSON": "{", "another id": `{"jsonrpc":"2.0","id":99,"result":{}}`} {
		t.Run(name, func(t *testing.T) {
			a, b := channel(t)
			ctx, stop := context.WithCancelCause(t.Context())
			s := jsx.NewScope(jsx.ScopeOptions{})
			defer s.Close()
			port, err := s.Port(a)
			must(t, err)
			must(t, port.OnMessage(func(jsx.Message) {
				_ = port.Post(text)
				if name == "another id" {
					go stop(cause)
				}
			}))
			if _, err := mcpclient.Connect(ctx, mcpclient.Options{Name: "page", Port: jsx.ToRaw(b)}); err == nil {
				t.Error("connected")
			}
		})
	}
	for name, o := range map[string]mcpclient.Options{"no port": {Port: 1}, "another object": {Port: jsx.ToRaw(jsx.Global())}, "an address too": {URL: "https://x.example/", Port: jsx.ToRaw(b)}} {
		o.Name = "page"
		if _, err := mcpclient.Connect(t.Context(), o); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
