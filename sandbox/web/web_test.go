package web_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/web"
)

// net is a fake network: it answers by address and records the requests.
type net struct {
	mu    sync.Mutex
	sent  []fetch.Request
	pages map[string]fetch.Response
	texts map[string]string
}

func (n *net) Do(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent = append(n.sent, r)
	res, ok := n.pages[r.URL]
	if !ok {
		res = fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/plain"}}
	}
	res.Body = io.NopCloser(strings.NewReader(n.texts[r.URL]))
	return &res, nil
}

func build(t *testing.T, n *net, text string, o web.BrokerOptions) *sandbox.Box {
	t.Helper()
	o.Transport = n
	b, err := web.NewBroker(o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(text, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{web.Fetch(b), web.Search(b, web.Brave("brave"))}})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

const some = `{"capabilities": {"net.fetch": ["example.com", "*.example.com", "api.search.brave.com"]}, "rules": [{"permission": "*", "action": "allow"}]}`

func get(b *sandbox.Box, url string) (map[string]any, error) {
	res := b.Call(context.Background(), "web_fetch", map[string]any{"url": url})
	m, _ := res.Data.(map[string]any)
	return m, res.Err()
}

func TestFetchIsMarkdown(t *testing.T) {
	n := &net{pages: map[string]fetch.Response{"https://example.com/a": {Status: 200, Header: map[string]string{"content-type": "text/html; charset=utf-8"}},
		"https://example.com/deep": {Status: 200, Header: map[string]string{"content-type": "text/html"}}, "https://example.com/png": {Status: 200, Header: map[string]string{"content-type": "image/png"}}},
		texts: map[string]string{"https://example.com/a": `<html><head><title>T</title><script>bad()</script></head><body><h1>Hi</h1><p>A <a href="/b">link</a> and <b>bold</b>.</p><ul><li>one</li></ul></body></html>`,
			"https://example.com/deep": strings.Repeat("<div>", 20000) + "words" + strings.Repeat("</div>", 20000)}}
	b := build(t, n, some, web.BrokerOptions{})
	m, err := get(b, "https://example.com/a")
	text := fmt.Sprint(m["content"])
	if err != nil || !strings.Contains(text, "# Hi") || !strings.Contains(text, "[link](/b)") || !strings.Contains(text, "**bold**") || strings.Contains(text, "bad()") {
		t.Errorf("%v %v", m, err)
	}
	if m, err := get(b, "https://example.com/deep"); err != nil || !strings.Contains(fmt.Sprint(m["content"]), "words") {
		t.Errorf("deep: %.80v %v", m, err)
	}
	if _, err := get(b, "https://example.com/png"); err == nil {
		t.Error("a picture is text")
	}
}

func TestFetchGoesNowhereElse(t *testing.T) {
	n := &net{pages: map[string]fetch.Response{
		"https://example.com/out":  {Status: 302, Header: map[string]string{"location": "https://evil.org/steal"}},
		"https://example.com/in":   {Status: 302, Header: map[string]string{"location": "//www.example.com/fine"}},
		"https://example.com/loop": {Status: 302, Header: map[string]string{"location": "/loop"}},
		"https://example.com/http": {Status: 302, Header: map[string]string{"location": "http://example.com/plain"}},
	}, texts: map[string]string{"https://www.example.com/fine": "fine"}}
	b := build(t, n, some, web.BrokerOptions{})
	for _, url := range []string{"https://evil.org/", "http://example.com/", "https://user:pass@example.com/", "https://example.com@evil.org/", "file:///etc/passwd", "javascript:1", "//evil.org", "https://example.com.evil.org/", "ftp://example.com",
		"https://example.com/?k=ghp_abcdefghij0123456789ABCDEFGHIJ012345", "https://example.com/%67hp_abcdefghij0123456789ABCDEFGHIJ012345", "https://example.com/{{secret:brave}}", "https://0x7f.1/", "https://[::1]/", "https://example.com:99999/", "data:text/plain,x", "https:///x", ""} {
		if m, err := get(b, url); err == nil {
			t.Errorf("%s: %v", url, m)
		}
	}
	if len(n.sent) != 0 {
		t.Fatalf("sent %v", n.sent)
	}
	for url, want := range map[string]int{"https://example.com/out": 1, "https://example.com/http": 1, "https://example.com/loop": 6} {
		n.sent = nil
		if m, err := get(b, url); err == nil || len(n.sent) != want {
			t.Errorf("%s: %v after %v", url, m, n.sent)
		}
	}
	n.sent = nil
	if m, err := get(b, "https://example.com/in"); err != nil || m["content"] != "fine" || m["url"] != "https://www.example.com/fine" {
		t.Errorf("%v %v", m, err)
	}
}

func TestBudgetsOfABroker(t *testing.T) {
	url := "https://example.com/x"
	for size, want := range map[int]bool{99: true, 100: true, 101: false} {
		n := &net{texts: map[string]string{url: strings.Repeat("x", size)}}
		if _, err := get(build(t, n, some, web.BrokerOptions{MaxBytes: 100}), url); (err == nil) != want {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	n := &net{texts: map[string]string{url: strings.Repeat("x", 100)}}
	b := build(t, n, some, web.BrokerOptions{MaxTotal: 150})
	for i, want := range []bool{true, true, false} {
		if _, err := get(b, url); (err == nil) != want {
			t.Errorf("request %d: %v", i, err)
		}
	}
	b = build(t, n, some, web.BrokerOptions{Rate: 2})
	for i, want := range []bool{true, true, false} {
		if _, err := get(b, url); (err == nil) != want {
			t.Errorf("request %d: %v", i, err)
		}
	}
}

// A relay receives the request that was decided for the real address, and no other.
func TestRelay(t *testing.T) {
	const relay = "https://app.example/relay"
	n := &net{texts: map[string]string{relay + "?url=https%3A%2F%2Fexample.com%2Fa%3Fb%3Dc%26d": "words"}}
	b := build(t, n, some, web.BrokerOptions{Relay: relay, Credentials: []web.Credential{{Name: "brave", Hosts: []string{"api.search.brave.com"}, Value: "KEY-12345"}}})
	if m, err := get(b, "https://example.com/a?b=c&d"); err != nil || m["content"] != "words" || m["url"] != "https://example.com/a?b=c&d" {
		t.Errorf("%v %v", m, err)
	}
	if _, err := get(b, relay+"?url=https://evil.org/"); err == nil || len(n.sent) != 1 {
		t.Errorf("%v, sent %v", err, n.sent)
	}
	b.Call(context.Background(), "web_search", map[string]any{"query": "go"})
	if len(n.sent) != 2 || !strings.HasPrefix(n.sent[1].URL, relay+"?url=https%3A%2F%2Fapi.search.brave.com%2F") || n.sent[1].Header["x-subscription-token"] != "KEY-12345" {
		t.Errorf("sent %v", n.sent)
	}
}

func TestRelayAddresses(t *testing.T) {
	n := &net{texts: map[string]string{"https://app.example/relay?key=1&url=https%3A%2F%2Fexample.com%2Fa": "words"}}
	if m, err := get(build(t, n, some, web.BrokerOptions{Relay: "https://app.example/relay?key=1"}), "https://example.com/a"); err != nil || m["content"] != "words" {
		t.Errorf("%v %v, sent %v", m, err, n.sent)
	}
	for relay, ok := range map[string]bool{
		"http://127.0.0.1:8080/r": true, "http://localhost/r": true, "https://app.example": true,
		"http://app.example/r": false, "http://127.evil.com/r": false, "/r": true, "/r?key=1": true, "//evil.org/r": false, "app.example/r": false, "https://a@app.example/r": false,
		"https://app.example/r#x": false, "https://app.example/r?url=x": false, "ftp://app.example/": false,
	} {
		if _, err := web.NewBroker(web.BrokerOptions{Relay: relay}); (err == nil) != ok {
			t.Errorf("%s: %v", relay, err)
		}
	}
	if _, err := web.NewBroker(web.BrokerOptions{Relay: "http://app.example/r", Insecure: true}); err != nil {
		t.Error(err)
	}
}

func TestInsecure(t *testing.T) {
	n := &net{texts: map[string]string{"http://example.com/": "words"}}
	if m, err := get(build(t, n, some, web.BrokerOptions{Insecure: true}), "http://example.com/"); err != nil || m["content"] != "words" {
		t.Errorf("%v %v", m, err)
	}
	if _, err := get(build(t, n, some, web.BrokerOptions{Insecure: true}), "http://evil.org/"); err == nil || len(n.sent) != 1 {
		t.Errorf("%v, sent %v", err, n.sent)
	}
}

func TestCredentialsAreForTheirHosts(t *testing.T) {
	n := &net{texts: map[string]string{"https://api.search.brave.com/res/v1/web/search?q=go&count=8": `{"web":{"results":[{"title":"Go","url":"https://go.dev","description":"your key is KEY-12345"}]}}`}}
	b := build(t, n, some, web.BrokerOptions{Credentials: []web.Credential{{Name: "brave", Hosts: []string{"api.search.brave.com"}, Value: "KEY-12345"}}})
	res := b.Call(context.Background(), "web_search", map[string]any{"query": "go"})
	if got := fmt.Sprint(res.Data); !strings.Contains(got, "https://go.dev") || strings.Contains(got, "KEY-12345") {
		t.Errorf("%v %s", res.Data, res.ErrorText)
	}
	if got := n.sent[0].Header["x-subscription-token"]; got != "KEY-12345" {
		t.Errorf("sent %q", got)
	}
	if res := b.Call(context.Background(), "web_search", map[string]any{"query": "what is ghp_abcdefghij0123456789ABCDEFGHIJ012345"}); res.Code != protocol.ErrSecurityViolation {
		t.Errorf("%+v", res)
	}
	other := build(t, n, some, web.BrokerOptions{Credentials: []web.Credential{{Name: "brave", Hosts: []string{"example.com"}, Value: "KEY-12345"}}})
	n.sent = nil
	if res := other.Call(context.Background(), "web_search", map[string]any{"query": "go"}); res.Code != protocol.ErrSecurityViolation || len(n.sent) != 0 {
		t.Errorf("%+v, sent %v", res, n.sent)
	}
	for i := range 25 {
		res = b.Call(context.Background(), "web_search", map[string]any{"query": "go"})
		_ = i
	}
	if res.Code != protocol.ErrResourceLimit {
		t.Errorf("the 26th search: %+v", res)
	}
	if _, err := web.NewBroker(web.BrokerOptions{Credentials: []web.Credential{{Name: "k", Hosts: []string{"*"}}}}); err == nil {
		t.Error("a credential for every host")
	}
}

func TestTavilySpeaksItsWire(t *testing.T) {
	r := web.Tavily("k").Request("go", 3)
	if string(r.Body) != `{"max_results":3,"query":"go"}` || r.Header["authorization"] != "Bearer {{secret:k}}" {
		t.Errorf("%s %v", r.Body, r.Header)
	}
	hits, err := web.Tavily("k").Results([]byte(`{"results":[{"title":"a","url":"u","content":"c"}]}`))
	if err != nil || len(hits) != 1 || hits[0] != (web.Result{Title: "a", URL: "u", Snippet: "c"}) {
		t.Errorf("%v %v", hits, err)
	}
}

// Casys PML's name for a fetch is this tool, with its policy.
func TestOtherSystemsNameForFetch(t *testing.T) {
	n := &net{texts: map[string]string{"https://example.com/a": "words"}}
	b := build(t, n, some, web.BrokerOptions{})
	res := b.Call(context.Background(), "mcp.fetch.fetch", map[string]any{"url": "https://example.com/a"})
	if m, _ := res.Data.(map[string]any); m["content"] != "words" || len(n.sent) != 1 {
		t.Errorf("%+v, sent %v", res, n.sent)
	}
	if res := b.Call(context.Background(), "mcp.fetch.fetch", map[string]any{"url": "https://evil.org/"}); res.Code != protocol.ErrCapabilityDenied || len(n.sent) != 1 {
		t.Errorf("%+v, sent %v", res, n.sent)
	}
}

// A host name that begins like an address of this machine is another host.
func TestOnlyThisMachineIsReachedWithoutTLS(t *testing.T) {
	b, err := web.NewBroker(web.BrokerOptions{Transport: fetch.TransportFunc(nil)})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"http://127.0.0.1/": "127.0.0.1:80", "http://localhost:8080/x": "localhost:8080", "http://127.example.org/": "", "http://127.0.0.1.example.org/": "", "http://example.org/": ""} {
		if got, err := b.Target(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
}
