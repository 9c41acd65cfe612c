//go:build !js

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

// transports returns connected transports, in memory.
func transports(*testing.T) (near, there sdk.Transport) { return sdk.NewInMemoryTransports() }

type echoIn struct {
	Text string `json:"text"`
	N    int    `json:"n,omitempty"`
}

type echoOut struct {
	Said string `json:"said"`
}

// far starts a server of the SDK.
func far(t *testing.T, o *sdk.StreamableHTTPOptions) (string, *stuckCall) {
	t.Helper()
	s, stuck := farServer()
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o))
	t.Cleanup(web.Close)
	return web.URL, stuck
}

func farServer() (*sdk.Server, *stuckCall) {
	w := &stuckCall{begun: make(chan struct{}), stopped: make(chan struct{})}
	var begun, stopped sync.Once
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
		begun.Do(func() { close(w.begun) })
		<-ctx.Done()
		stopped.Do(func() { close(w.stopped) })
		return nil, nil, ctx.Err()
	})
	return s, w
}

// stuckCall is the first call of the tool that does not end by itself.
type stuckCall struct{ begun, stopped chan struct{} }

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
	b, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: sandboxtest.Always(policy.AnswerOnce)})
	must(t, err)
	return b
}

// Our client works with the SDK's server, for each form of response that the server can send.
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
				return m, res.Err()
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

// A call that is stopped is cancelled at the server too.
func TestStopReachesTheServer(t *testing.T) {
	url, stuck := far(t, nil)
	b := boxOf(t, client(t, url))
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-stuck.begun
		stop()
	}()
	if err := b.Call(ctx, "far_stuck", args{"text": ""}).Err(); !errors.Is(err, protocol.ErrAborted) {
		t.Error(err)
	}
	<-stuck.stopped // a server that goes on ends the test at its limit
}

// Our own client finds the tools of a box that is served over streamable HTTP.
func TestBoxToBox(t *testing.T) {
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, mem.WriteFile("a.txt", []byte("content"), 0o644))
	p, err := policy.Parse(`{"capabilities": {"stream.send": true, "fs.read": ["."]}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
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
