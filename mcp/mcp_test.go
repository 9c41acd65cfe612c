package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/mcp"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type args = map[string]any

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type echoIn struct {
	Text string `json:"text"`
	N    int    `json:"n,omitempty"`
}

type echoOut struct {
	Said string `json:"said"`
}

// far is a server of the SDK's.
func far(t *testing.T, o *sdk.StreamableHTTPOptions) (url string, stopped chan struct{}) {
	t.Helper()
	stopped = make(chan struct{})
	var once sync.Once
	s := sdk.NewServer(&sdk.Implementation{Name: "far", Version: "2"}, &sdk.ServerOptions{Instructions: "be kind", PageSize: 2})
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "Echoes."}, func(_ context.Context, _ *sdk.CallToolRequest, in echoIn) (*sdk.CallToolResult, echoOut, error) {
		return nil, echoOut{strings.Repeat(in.Text, max(1, in.N))}, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"}, func(context.Context, *sdk.CallToolRequest, echoIn) (*sdk.CallToolResult, any, error) {
		return nil, nil, errors.New("it broke")
	})
	sdk.AddTool(s, &sdk.Tool{Name: "progress"}, func(ctx context.Context, req *sdk.CallToolRequest, _ echoIn) (*sdk.CallToolResult, any, error) {
		for i := range 3 {
			_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: "x", Progress: float64(i)})
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "stuck"}, func(ctx context.Context, _ *sdk.CallToolRequest, _ echoIn) (*sdk.CallToolResult, any, error) {
		<-ctx.Done()
		once.Do(func() { close(stopped) })
		return nil, nil, ctx.Err()
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o))
	t.Cleanup(web.Close)
	return web.URL, stopped
}

func client(t *testing.T, url string) *mcpclient.Client {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "far", URL: url, Transport: nethttp.New(nil), Time: time.Minute})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close(context.Background())) })
	return c
}

func boxOf(t *testing.T, c *mcpclient.Client) *sandbox.Box {
	t.Helper()
	tools, err := c.Tools(t.Context())
	must(t, err)
	if len(tools) != 4 {
		t.Fatalf("%d tools", len(tools))
	}
	p, err := policy.Parse(fmt.Sprintf(`{"capabilities": {"net.fetch": [%q]}, "network": {"allowedDomains": [%q]}}`, c.Target(), c.Target()), policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: sandboxtest.Always(protocol.AnswerOnce)})
	must(t, err)
	return b
}

// Our client and the SDK's server understand each other, however the server answers.
func TestClientAgainstTheSDK(t *testing.T) {
	for name, o := range map[string]*sdk.StreamableHTTPOptions{"stream": nil, "JSON": {JSONResponse: true}, "stateless": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			url, _ := far(t, o)
			c := client(t, url)
			if c.Server().Name != "far" || c.Server().Instructions != "be kind" || c.Version() != "2025-11-25" {
				t.Errorf("%+v %s", c.Server(), c.Version())
			}
			b := boxOf(t, c)
			call := func(tool string, a args) (args, error) {
				res := b.Call(t.Context(), tool, a)
				m, _ := res.Data.(args)
				return m, sandbox.ErrorOf(res)
			}
			if m, err := call("far_echo", args{"text": "é\n"}); err != nil || m["content"] != `{"said":"é\n"}` || fmt.Sprint(m["structured"]) != "map[said:é\n]" {
				t.Errorf("%v %v", m, err)
			}
			big := strings.Repeat("x", 1000)
			if m, err := call("far_echo", args{"text": big, "n": 1000.0}); err != nil || len(m["structured"].(args)["said"].(string)) != 1_000_000 {
				t.Errorf("a megabyte: %v", err)
			}
			if _, err := call("far_fail", args{"text": ""}); !errors.Is(err, protocol.ErrExecution) || !strings.Contains(err.Error(), "it broke") {
				t.Error(err)
			}
			if m, err := call("far_progress", args{"text": ""}); err != nil || m["content"] != "done" {
				t.Errorf("%v %v", m, err)
			}
			if _, err := call("far_echo", args{}); !errors.Is(err, protocol.ErrInvalidParams) {
				t.Error(err)
			}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if m, err := call("far_echo", args{"text": fmt.Sprint(i)}); err != nil || m["content"] != fmt.Sprintf(`{"said":"%d"}`, i) {
						t.Errorf("%d: %v %v", i, m, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// A call that is stopped is stopped at the server too.
func TestStopReachesTheServer(t *testing.T) {
	url, stopped := far(t, nil)
	b := boxOf(t, client(t, url))
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	if err := sandbox.ErrorOf(b.Call(ctx, "far_stuck", args{"text": ""})); !errors.Is(err, protocol.ErrAborted) {
		t.Error(err)
	}
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Error("the server goes on")
	}
}

// house is a box with a file, served by the SDK to a client of the SDK's.
func house(t *testing.T, o mcp.Options, asker sandbox.Asker) (*sdk.ClientSession, *fsaccess.Folder) {
	t.Helper()
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	must(t, mem.WriteFile("private", []byte("secret"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "fs.write": ["."]}, "filesystem": {"denyRead": ["private"], "allowWrite": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p, Ask: asker})
	must(t, err)
	server, err := mcp.NewServer(box, o)
	must(t, err)
	near, there := sdk.NewInMemoryTransports()
	_, err = server.Connect(t.Context(), there, nil)
	must(t, err)
	s, err := sdk.NewClient(&sdk.Implementation{Name: "someone", Version: "1"}, nil).Connect(t.Context(), near, nil)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s, mem
}

func TestServesTheBox(t *testing.T) {
	no := sandboxtest.Script(sandbox.Reply{}, sandbox.Reply{Answer: protocol.AnswerOnce})
	s, mem := house(t, mcp.Options{Tools: []string{"read", "write"}}, no)
	list, err := s.ListTools(t.Context(), nil)
	must(t, err)
	if len(list.Tools) != 2 {
		t.Errorf("%d tools are served", len(list.Tools))
	}
	call := func(tool string, a args) (string, bool) {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: a})
		if err != nil {
			return err.Error(), true
		}
		text, _ := res.Content[0].(*sdk.TextContent)
		return text.Text, res.IsError
	}
	if text, bad := call("read", args{"path": "a.txt"}); bad || !strings.Contains(text, "content") {
		t.Error(text)
	}
	for name, c := range map[string]struct {
		tool string
		a    args
		want string
	}{
		"denied":     {"read", args{"path": "private"}, "CAPABILITY_DENIED"},
		"escape":     {"read", args{"path": "../x"}, "INVALID_PARAMS"},
		"schema":     {"read", args{"nope": 1}, "INVALID_PARAMS"},
		"prototype":  {"read", args{"path": "a.txt", "__proto__": 1}, "error "},
		"not served": {"delete", args{"path": "a.txt"}, "unknown tool"},
	} {
		if text, bad := call(c.tool, c.a); !bad || !strings.Contains(text, c.want) || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, bad := call("write", args{"path": "b.txt", "content": "x"}); !bad || !strings.Contains(text, "CAPABILITY_DENIED") {
		t.Errorf("the person said no: %s", text)
	}
	if _, err := mem.Stat("b.txt"); err == nil {
		t.Error("written after a no")
	}
	if text, bad := call("write", args{"path": "c.txt", "content": "x"}); bad {
		t.Errorf("the person said yes: %s", text)
	}
	if data, _ := mem.ReadFile("c.txt"); string(data) != "x" {
		t.Errorf("c.txt is %q", data)
	}
}

// Served over streamable HTTP, the box's tools are there for our own client too.
func TestBoxToBox(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
	must(t, err)
	box, err := sandbox.New(sandbox.Options{FS: mem, Policy: p})
	must(t, err)
	session, err := box.NewSession(t.Context(), sandbox.SessionOptions{Ephemeral: true})
	must(t, err)
	t.Cleanup(session.Close)
	server, err := mcp.NewServer(box, mcp.Options{Tools: []string{"read", "grep", "glob", "todo"}, Session: session})
	must(t, err)
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(web.Close)
	c := client(t, web.URL)
	res := boxOf(t, c).Call(t.Context(), "far_read", args{"path": "a.txt"})
	m, _ := res.Data.(args)
	if !strings.Contains(fmt.Sprint(m["structured"]), "content:content") {
		t.Errorf("%+v", res)
	}
}

func TestOptions(t *testing.T) {
	box, err := sandbox.New(sandbox.Options{Policy: policy.Careful()})
	must(t, err)
	for name, o := range map[string]mcp.Options{"none": {}, "unknown": {Tools: []string{"nope"}}} {
		if _, err := mcp.NewServer(box, o); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
