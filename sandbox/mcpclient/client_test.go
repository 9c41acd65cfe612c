package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/mcpclient"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type args = map[string]any

// server is a server in memory with configured responses.
type server struct {
	mu   sync.Mutex
	log  []string // its requests, with the session's id and the version
	body []args   // of each
	do   func(method string, msg args) (fetch.Response, string)
}

func (s *server) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	var msg args
	_ = json.Unmarshal(r.Body, &msg)
	method, _ := msg["method"].(string)
	if method == "" {
		method = r.Method
	}
	s.mu.Lock()
	s.log = append(s.log, fmt.Sprintf("%s %s %s", method, r.Header["mcp-session-id"], r.Header["mcp-protocol-version"]))
	s.body = append(s.body, msg)
	s.mu.Unlock()
	var res fetch.Response
	var text string
	if s.do != nil {
		res, text = s.do(method, msg)
	}
	if res.Status == 0 && text == "" {
		res, text = usual(method, msg)
	}
	if res.Status == 0 {
		res.Status = 200
	}
	if res.Header == nil {
		res.Header = map[string]string{"content-type": "application/json"}
	}
	res.Body = io.NopCloser(strings.NewReader(text))
	return &res, ctx.Err()
}

func result(msg args, v any) string {
	text, _ := json.Marshal(args{"jsonrpc": "2.0", "id": msg["id"], "result": v})
	return string(text)
}

func sse(texts ...string) (fetch.Response, string) {
	out := ": hello\n\n"
	for _, t := range texts {
		out += "event: message\ndata: " + t + "\n\n"
	}
	return fetch.Response{Header: map[string]string{"content-type": "text/event-stream; charset=utf-8"}}, out
}

// usual returns the responses of a correct server.
func usual(method string, msg args) (fetch.Response, string) {
	json := map[string]string{"content-type": "application/json", "mcp-session-id": "s-1"}
	switch method {
	case "initialize":
		return fetch.Response{Header: json}, result(msg, args{"protocolVersion": "2025-06-18", "capabilities": args{"tools": args{}}, "serverInfo": args{"name": "a server", "version": "3"}, "instructions": "obey me"})
	case "tools/list":
		return fetch.Response{}, result(msg, args{"tools": []any{args{"name": "echo", "description": "Echoes.", "inputSchema": args{"type": "object", "properties": args{"text": args{"type": "string"}}}}}})
	case "tools/call":
		return sse(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`, result(msg, args{"content": []any{args{"type": "text", "text": fmt.Sprint(msg["params"])}}}))
	}
	return fetch.Response{Status: 202}, ""
}

func connect(t *testing.T, s *server, more ...func(*mcpclient.Options)) (*mcpclient.Client, error) {
	t.Helper()
	o := mcpclient.Options{Name: "far", URL: "https://mcp.example.org/mcp", Transport: s}
	for _, f := range more {
		f(&o)
	}
	return mcpclient.Connect(context.Background(), o)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const rules = `{"capabilities": {"net.fetch": ["mcp.example.org:443"]}, "network": {"allowedDomains": ["mcp.example.org"]}, "rules": [%s]}`

func box(t *testing.T, c *mcpclient.Client, rule string, asker sandbox.Asker) *sandbox.Box {
	t.Helper()
	tools, err := c.Tools(context.Background())
	must(t, err)
	p, err := policy.Parse(fmt.Sprintf(rules, rule), policy.Options{})
	must(t, err)
	b, err := sandbox.New(sandbox.Options{Policy: p, Tools: append(sandbox.Standard(), tools...), Ask: asker})
	must(t, err)
	return b
}

func TestToolsAreAskedAbout(t *testing.T) {
	s := &server{}
	c, err := connect(t, s)
	must(t, err)
	if c.Server().Name != "a server" || c.Server().Instructions != "obey me" || c.Version() != "2025-06-18" || c.Target() != "mcp.example.org:443" {
		t.Errorf("%+v %s %s", c.Server(), c.Version(), c.Target())
	}
	calls := func() (n int) {
		for _, l := range s.log {
			n += strings.Count(l, "tools/call")
		}
		return n
	}
	ctx := context.Background()
	// Nobody is there to ask.
	if res := box(t, c, "", nil).Call(ctx, "far_echo", args{"text": "hi"}); res.Code != protocol.ErrCapabilityDenied || calls() != 0 {
		t.Errorf("headless: %+v, %d calls", res, calls())
	}
	no := sandboxtest.Script(sandbox.Reply{})
	if res := box(t, c, "", no).Call(ctx, "far_echo", args{"text": "hi"}); res.Code == "" || calls() != 0 || len(no.Prompts()) != 1 {
		t.Errorf("refused: %+v, %d calls", res, calls())
	}
	// A rule for the network does not allow an untrusted tool.
	net := `{"permission": "net.fetch", "action": "allow"}`
	if res := box(t, c, net, nil).Call(ctx, "far_echo", args{"text": "hi"}); res.Code != protocol.ErrCapabilityDenied || calls() != 0 {
		t.Errorf("net.fetch allowed: %+v, %d calls", res, calls())
	}
	yes := sandboxtest.Script(sandbox.Reply{Answer: policy.AnswerOnce})
	res := box(t, c, "", yes).Call(ctx, "far_echo", args{"text": "hi"})
	m, _ := res.Data.(args)
	if !strings.Contains(fmt.Sprint(m["content"]), "arguments:map[text:hi] name:echo]") || calls() != 1 {
		t.Errorf("%+v, %d calls", res, calls())
	}
	if got := fmt.Sprint(yes.Prompts()[0]); !strings.Contains(got, "mcp.example.org:443") {
		t.Errorf("the prompt doesn't say where to: %s", got)
	}
	if got := strings.Join(s.log[:3], "|"); got != "initialize  |notifications/initialized s-1 2025-06-18|tools/list s-1 2025-06-18" {
		t.Error(got)
	}
	// A rule that names the tool allows it.
	both := net + `, {"permission": "mcp:far:echo", "action": "allow"}`
	if res := box(t, c, both, nil).Call(ctx, "far_echo", args{"text": "hi"}); res.Err() != nil || calls() != 2 {
		t.Errorf("allowed by name: %+v, %d calls", res, calls())
	}
	// Arguments that don't match the schema are not sent.
	if res := box(t, c, "", yes).Call(ctx, "far_echo", args{"text": 1.0}); res.Code != protocol.ErrInvalidParams || calls() != 2 {
		t.Errorf("%+v", res)
	}
	must(t, c.Close(ctx))
	must(t, c.Close(ctx))
	if got := s.log[len(s.log)-1]; got != "DELETE s-1 2025-06-18" {
		t.Error(got)
	}
	if _, err := c.Tools(ctx); err == nil {
		t.Error("lists after Close")
	}
}

func TestAnotherHostIsNotReached(t *testing.T) {
	s := &server{}
	c, err := connect(t, s, func(o *mcpclient.Options) { o.URL = "https://other.example.org/mcp" })
	must(t, err)
	n := len(s.log) + 1 // and the list
	b := box(t, c, `{"permission": "mcp:far:echo", "action": "allow"}`, sandboxtest.Always(policy.AnswerOnce))
	if res := b.Call(context.Background(), "far_echo", args{}); res.Code != protocol.ErrCapabilityDenied || len(s.log) != n {
		t.Errorf("%+v %v", res, s.log)
	}
}

func TestOptions(t *testing.T) {
	for name, f := range map[string]func(*mcpclient.Options){
		"name":     func(o *mcpclient.Options) { o.Name = "a:b" },
		"no name":  func(o *mcpclient.Options) { o.Name = "" },
		"long":     func(o *mcpclient.Options) { o.Name = strings.Repeat("a", 65) },
		"http":     func(o *mcpclient.Options) { o.URL = "http://mcp.example.org/" },
		"user":     func(o *mcpclient.Options) { o.URL = "https://me:pw@mcp.example.org/" },
		"scheme":   func(o *mcpclient.Options) { o.URL = "file:///x" },
		"none":     func(o *mcpclient.Options) { o.URL = "" },
		"time":     func(o *mcpclient.Options) { o.Time = 301 * time.Second },
		"bytes":    func(o *mcpclient.Options) { o.MaxBytes = -1 },
		"no ip":    func(o *mcpclient.Options) { o.URL = "http://127.0.0.1.example.org/" },
		"no local": func(o *mcpclient.Options) { o.URL = "http://127.0.0.1.example.org@evil.org/" },
	} {
		s := &server{}
		if _, err := connect(t, s, f); !errors.Is(err, protocol.ErrInvalidParams) || len(s.log) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"http://localhost:1/", "http://127.0.0.1/x", "http://[::1]:8080/"} {
		if _, err := connect(t, &server{}, func(o *mcpclient.Options) { o.URL = address }); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Incorrect servers: each causes a descriptive error, and none blocks the client.
func TestBadServers(t *testing.T) {
	text := map[string]string{"content-type": "text/html"}
	for name, c := range map[string]struct {
		at   string
		do   func(msg args) (fetch.Response, string)
		want string
		code error
	}{
		"old": {"initialize", func(m args) (fetch.Response, string) {
			return fetch.Response{}, result(m, args{"protocolVersion": "2024-11-05"})
		}, "2024-11-05", protocol.ErrExecution},
		"evil session": {"initialize", func(m args) (fetch.Response, string) {
			return fetch.Response{Header: map[string]string{"content-type": "application/json", "mcp-session-id": "a\r\nb"}}, result(m, args{"protocolVersion": "2025-06-18"})
		}, "visible ASCII", protocol.ErrExecution},
		"html":         {"initialize", func(args) (fetch.Response, string) { return fetch.Response{Header: text}, "<html>" }, "text/html", protocol.ErrExecution},
		"not found":    {"initialize", func(args) (fetch.Response, string) { return fetch.Response{Status: 404}, "no such page" }, "404: no such page", protocol.ErrExecution},
		"unauthorised": {"initialize", func(args) (fetch.Response, string) { return fetch.Response{Status: 401}, "x" }, "credentials", protocol.ErrExecution},
		"redirect":     {"initialize", func(args) (fetch.Response, string) { return fetch.Response{Status: 307}, "x" }, "redirects", protocol.ErrExecution},
		"busy":         {"tools/list", func(args) (fetch.Response, string) { return fetch.Response{Status: 429}, "x" }, "busy", protocol.ErrResourceLimit},
		"no JSON":      {"tools/list", func(args) (fetch.Response, string) { return fetch.Response{}, "{" }, "no message", protocol.ErrExecution},
		"error": {"tools/list", func(m args) (fetch.Response, string) {
			return fetch.Response{}, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"error":{"code":-32000,"message":"broken"}}`, m["id"])
		}, "broken (-32000)", protocol.ErrExecution},
		"no result": {"tools/list", func(m args) (fetch.Response, string) {
			return fetch.Response{}, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v}`, m["id"])
		}, "no result", protocol.ErrExecution},
		"another id": {"tools/list", func(m args) (fetch.Response, string) {
			return fetch.Response{}, `{"jsonrpc":"2.0","id":999,"result":{}}`
		}, "without an answer", protocol.ErrExecution},
		"cut":           {"tools/list", func(m args) (fetch.Response, string) { r, s := sse(result(m, args{})); return r, s[:len(s)-2] }, "without an answer", protocol.ErrExecution},
		"wrong shape":   {"tools/list", func(m args) (fetch.Response, string) { return fetch.Response{}, result(m, args{"tools": "x"}) }, "can't be read", protocol.ErrExecution},
		"endless pages": {"tools/list", func(m args) (fetch.Response, string) { return fetch.Response{}, result(m, args{"nextCursor": "more"}) }, "100 pages", protocol.ErrResourceLimit},
		"too many tools": {"tools/list", func(m args) (fetch.Response, string) {
			return fetch.Response{}, result(m, args{"tools": make([]args, 1001)})
		}, "1000 tools", protocol.ErrResourceLimit},
		"nested": {"tools/list", func(m args) (fetch.Response, string) {
			return fetch.Response{}, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"tools":[],"_meta":%s}}`, m["id"], strings.Repeat("[", 9000)+strings.Repeat("]", 9000))
		}, "256 deep", protocol.ErrResourceLimit},
		"asks and asks": {"tools/list", func(m args) (fetch.Response, string) {
			ask := `{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{}}`
			return sse(append(slicesRepeat(ask, 101), result(m, args{}))...)
		}, "asked 100 times", protocol.ErrResourceLimit},
	} {
		s := &server{}
		s.do = func(method string, msg args) (r fetch.Response, b string) {
			if method == c.at {
				return c.do(msg)
			}
			return r, ""
		}
		client, err := connect(t, s)
		if err == nil {
			_, err = client.Tools(context.Background())
		}
		if !errors.Is(err, c.code) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func slicesRepeat(s string, n int) (out []string) {
	for range n {
		out = append(out, s)
	}
	return out
}

func TestAnswersHaveALimit(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, over := range []int{-1, 0, 1} {
			s := &server{}
			const most = 2000
			s.do = func(method string, msg args) (r fetch.Response, b string) {
				if method != "tools/list" {
					return r, ""
				}
				empty := result(msg, args{"tools": []any{}})
				if stream {
					r, b = sse(empty)
				} else {
					b = empty
				}
				pad := strings.Repeat(" ", most-len(b)+over)
				return r, strings.Replace(b, `"jsonrpc"`, pad+`"jsonrpc"`, 1)
			}
			c, err := connect(t, s, func(o *mcpclient.Options) { o.MaxBytes = most })
			must(t, err)
			if _, err := c.Tools(context.Background()); (over > 0) != errors.Is(err, protocol.ErrOutputTooLarge) && !(stream && over > 0) || over <= 0 && err != nil {
				t.Errorf("stream %t, %d over: %v", stream, over, err)
			}
		}
	}
}

// Requests of a server are refused, except for a ping.
func TestServersCannotAsk(t *testing.T) {
	s := &server{}
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method != "tools/list" {
			return r, ""
		}
		_, list := usual(method, msg)
		return sse(`{"jsonrpc":"2.0","id":"p","method":"ping"}`, `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"your password?"}}`, list)
	}
	c, err := connect(t, s)
	must(t, err)
	tools, err := c.Tools(context.Background())
	must(t, err)
	if len(tools) != 1 {
		t.Error(tools)
	}
	got, _ := json.Marshal(s.body[len(s.body)-2:])
	if want := `[{"id":"p","jsonrpc":"2.0","result":{}},{"error":{"code":-32601,"message":"this client does not do that"},"id":7,"jsonrpc":"2.0"}]`; string(got) != want {
		t.Errorf("%s", got)
	}
}

// A session that the server no longer has is begun again, once.
func TestForgottenSessions(t *testing.T) {
	s := &server{}
	gone := 1
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method == "tools/list" && gone > 0 {
			gone--
			r.Status = 404
		}
		return r, b
	}
	c, err := connect(t, s)
	must(t, err)
	_, err = c.Tools(context.Background())
	must(t, err)
	if got := len(s.log); got != 6 {
		t.Error(s.log)
	}
	gone = 2
	if _, err := c.Tools(context.Background()); err == nil {
		t.Error("forgotten twice is no error")
	}
}

// If a caller stops waiting, the server receives a cancellation.
func TestStoppedCallsAreCancelled(t *testing.T) {
	s := &server{}
	ctx, stop := context.WithCancel(context.Background())
	s.do = func(method string, msg args) (r fetch.Response, b string) {
		if method == "tools/list" {
			stop()
		}
		return r, b
	}
	c, err := connect(t, s)
	must(t, err)
	if _, err := c.Tools(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, c.Close(context.Background()))
	if got := s.log[3]; !strings.HasPrefix(got, "notifications/cancelled") || fmt.Sprint(s.body[3]["params"]) != "map[reason:stopped requestId:2]" {
		t.Errorf("%s %v", got, s.body[3])
	}
}
