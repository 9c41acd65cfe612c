package mcp_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// control selects the behaviour of the server that TestInBrowsers started.
func control(t *testing.T, do string) string {
	t.Helper()
	res, err := fetch.Browser().Do(context.Background(), fetch.Request{Method: "POST", URL: os.Getenv("BAILEY_MCP_CONTROL") + "?do=" + strings.ReplaceAll(do, " ", "%20")})
	must(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	must(t, err)
	return string(data)
}

// boxOf returns a box with the tools of a client and a user who agrees to everything.
func boxOf(t *testing.T, c *mcpclient.Client) *sandbox.Box {
	t.Helper()
	tools, err := c.Tools(t.Context())
	must(t, err)
	p, err := policy.Parse(`{"capabilities": {"net.fetch": ["`+c.Target()+`"]}, "network": {"allowedDomains": ["`+c.Target()+`"]}}`, policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{Policy: p, Tools: tools, Ask: sandboxtest.Always(policy.AnswerOnce)})
	must(t, err)
	return b
}

func pageClient(t *testing.T) (*mcpclient.Client, func(tool string, a args) (args, error)) {
	t.Helper()
	c, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "far", URL: os.Getenv("BAILEY_MCP_URL")})
	must(t, err)
	t.Cleanup(func() { must(t, c.Close(context.Background())) })
	b := boxOf(t, c)
	return c, func(tool string, a args) (args, error) {
		res := b.Call(t.Context(), tool, a)
		m, _ := res.Data.(args)
		return m, res.Err()
	}
}

// Our client works with the SDK's server at another origin, over the page's fetch.
func TestClientInAPage(t *testing.T) {
	if os.Getenv("BAILEY_MCP_URL") == "" {
		t.Skip("needs a server: go test -run TestInBrowsers, natively, starts one and runs this")
	}
	control(t, "well")
	control(t, "log")
	c, call := pageClient(t)
	if m, err := call("far_echo", args{"text": "é\n"}); err != nil || m["content"] != `{"said":"é\n"}` {
		t.Errorf("%v %v", m, err)
	}
	if m, err := call("far_echo", args{"text": strings.Repeat("x", 1000), "n": 1000.0}); err != nil || len(m["structured"].(args)["said"].(string)) != 1_000_000 {
		t.Errorf("a megabyte: %v", err)
	}
	if m, err := call("far_progress", args{"text": ""}); err != nil || m["content"] != "done" {
		t.Errorf("a stream with progress: %v %v", m, err)
	}
	if _, err := call("far_fail", args{"text": ""}); !errors.Is(err, protocol.ErrExecution) || !strings.Contains(err.Error(), "it broke") {
		t.Error(err)
	}
	log := control(t, "log")
	if !strings.Contains(log, "OPTIONS session=false") || !strings.Contains(log, "POST session=true") || strings.Count(log, "POST session=false") != 1 || strings.Contains(log, "cookie=true") {
		t.Errorf("the server saw\n%s", log)
	}
	t.Run("stop", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		b := boxOf(t, c)
		ended := make(chan error, 1)
		go func() { ended <- b.Call(ctx, "far_stuck", args{"text": ""}).Err() }()
		control(t, "begun")
		stop()
		if err := <-ended; !errors.Is(err, protocol.ErrAborted) {
			t.Error(err)
		}
		if control(t, "stopped") != "yes" {
			t.Error("the server goes on")
		}
	})
	t.Run("forgotten session", func(t *testing.T) {
		control(t, "forget")
		if m, err := call("far_echo", args{"text": "again"}); err != nil || m["content"] != `{"said":"again"}` {
			t.Errorf("%v %v", m, err)
		}
	})
	t.Run("restart", func(t *testing.T) {
		control(t, "stop")
		if _, err := call("far_echo", args{"text": "x"}); !errors.Is(err, protocol.ErrExecution) || !strings.Contains(err.Error(), "not there") {
			t.Error(err)
		}
		control(t, "start")
		if m, err := call("far_echo", args{"text": "back"}); err != nil || m["content"] != `{"said":"back"}` {
			t.Errorf("%v %v", m, err)
		}
	})
	for mode, want := range map[string]string{"no JSON": "no message", "half an event": "without an answer", "cut": "not known", "html": "text/html", "redirect": "redirects"} {
		t.Run(mode, func(t *testing.T) {
			control(t, mode)
			defer control(t, "well")
			if m, err := call("far_echo", args{"text": "x"}); !errors.Is(err, protocol.ErrExecution) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v %v", m, err)
			}
		})
	}
	t.Run("slow", func(t *testing.T) {
		control(t, "slow")
		defer control(t, "well")
		slow, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "slow", URL: os.Getenv("BAILEY_MCP_URL"), Time: time.Second})
		must(t, err)
		defer slow.Close(context.Background())
		b := boxOf(t, slow)
		if err := b.Call(t.Context(), "slow_echo", args{"text": "x"}).Err(); !errors.Is(err, protocol.ErrTimeout) {
			t.Error(err)
		}
	})
	if m, err := call("far_echo", args{"text": "after all"}); err != nil || m["content"] != `{"said":"after all"}` {
		t.Errorf("%v %v", m, err)
	}
	for mode, want := range map[string]string{"no CORS": "CORS", "no session header": "Mcp-Session-Id"} {
		t.Run(mode, func(t *testing.T) {
			control(t, mode)
			defer control(t, "well")
			c, err := mcpclient.Connect(t.Context(), mcpclient.Options{Name: "far", URL: os.Getenv("BAILEY_MCP_URL")})
			if err == nil {
				_, err = c.Tools(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}
