//go:build !js

package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/web"
)

// loopback sends requests for an engine's host to a server on this machine, over HTTP.
type loopback struct{ server *httptest.Server }

func (l loopback) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	method := r.Method
	if method == "" {
		method = "GET"
	}
	req, err := http.NewRequestWithContext(ctx, method, l.server.URL+u.RequestURI(), strings.NewReader(string(r.Body)))
	if err != nil {
		return nil, err
	}
	req.Host = u.Host
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	res, err := l.server.Client().Do(req)
	if err != nil {
		return nil, err
	}
	head := map[string]string{}
	for k := range res.Header {
		head[strings.ToLower(k)] = res.Header.Get(k)
	}
	return &fetch.Response{Status: res.StatusCode, Header: head, Body: res.Body}, nil
}

// engines are both engines, with a check of their request for "go & c" with 3 results, and a
// complete response in the real format.
var engines = []struct {
	name, host, full string
	engine           web.Engine
	check            func(r *http.Request, body string) string
}{
	{"brave", "api.search.brave.com",
		`{"type":"search","query":{"original":"go","more_results_available":true},"mixed":{"type":"mixed","main":[]},"web":{"type":"search","family_friendly":true,"results":[
			{"title":"The Go Programming Language","url":"https://go.dev/","is_source_local":false,"description":"An <strong>open source</strong> language","profile":{"name":"Go"},"meta_url":{"scheme":"https"}},
			{"title":"two","url":"https://two.example/","description":"b"},{"title":"three","url":"https://three.example/","description":"c"},{"title":"one too many","url":"https://four.example/","description":"d"}]}}`,
		web.Brave("k"), func(r *http.Request, body string) string {
			switch {
			case r.Method != "GET" || r.URL.Path != "/res/v1/web/search" || body != "":
				return "it is no GET of the search"
			case r.URL.Query().Get("q") != "go & c" || r.URL.Query().Get("count") != "3":
				return "the query is " + r.URL.RawQuery
			case r.Header.Get("X-Subscription-Token") != "KEY-12345" || r.Header.Get("Accept") != "application/json":
				return "the headers are not right"
			}
			return ""
		}},
	{"tavily", "api.tavily.com",
		`{"query":"go","follow_up_questions":null,"answer":null,"images":[],"results":[
			{"title":"The Go Programming Language","url":"https://go.dev/","content":"An <strong>open source</strong> language","score":0.98,"raw_content":null},
			{"title":"two","url":"https://two.example/","content":"b","score":0.5},{"title":"three","url":"https://three.example/","content":"c"},{"title":"one too many","url":"https://four.example/","content":"d"}],"response_time":1.2}`,
		web.Tavily("k"), func(r *http.Request, body string) string {
			var sent map[string]any
			switch err := json.Unmarshal([]byte(body), &sent); {
			case r.Method != "POST" || r.URL.RequestURI() != "/search":
				return "it is no POST of a search"
			case err != nil || len(sent) != 2 || sent["query"] != "go & c" || sent["max_results"] != 3.0:
				return "the body is " + body
			case r.Header.Get("Authorization") != "Bearer KEY-12345" || r.Header.Get("Content-Type") != "application/json":
				return "the headers are not right"
			}
			return ""
		}},
}

// Both engines over HTTP: their requests, the results, and each kind of failure. The key is only in
// the request.
func TestEnginesOnTheWire(t *testing.T) {
	for _, e := range engines {
		for _, tt := range []struct {
			name   string
			status int
			body   string
			rows   int
			code   protocol.Code
			says   string
		}{
			{"full", 200, e.full, 3, "", ""},
			{"nothing", 200, `{}`, 0, "", ""},
			{"null", 200, `null`, 0, "", ""},
			{"empty lists", 200, `{"results":[],"web":{"results":[]}}`, 0, "", ""},
			{"no web", 200, `{"type":"search","query":{"original":"go"},"web":null,"results":null}`, 0, "", ""},
			{"no body", 200, ``, 0, protocol.ErrExecution, "can't be read"},
			{"cut", 200, e.full[:len(e.full)-20], 0, protocol.ErrExecution, "can't be read"},
			{"a page", 200, `<html>welcome</html>`, 0, protocol.ErrExecution, "can't be read"},
			{"other types", 200, `{"results":"KEY-12345","web":{"results":7}}`, 0, protocol.ErrExecution, "can't be read"},
			{"bad key", 401, `{"detail":{"error":"KEY-12345 is no key"}}`, 0, protocol.ErrExecution, "does not accept the key (401)"},
			{"no right", 403, `{}`, 0, protocol.ErrExecution, "does not accept the key (403)"},
			{"too many", 429, `{"type":"ErrorResponse","error":{"code":"RATE_LIMITED","detail":"KEY-12345"}}`, 0, protocol.ErrResourceLimit, "429"},
			{"over the plan", 432, `{}`, 0, protocol.ErrExecution, "answered 432"},
			{"broken", 500, e.full, 0, protocol.ErrExecution, "answered 500"},
		} {
			t.Run(e.name+" "+tt.name, func(t *testing.T) {
				requests, wrong := 0, ""
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					requests++
					if wrong = e.check(r, string(body)); r.Host != e.host {
						wrong = "the host is " + r.Host
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(tt.status)
					io.WriteString(w, tt.body)
				}))
				defer s.Close()
				broker, err := web.NewBroker(web.BrokerOptions{Transport: loopback{s}, Credentials: []web.Credential{{Name: "k", Hosts: []string{e.host}, Value: "KEY-12345"}}})
				if err != nil {
					t.Fatal(err)
				}
				p, err := policy.Parse(`{"capabilities": {"net.fetch": ["`+e.host+`"]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b, err := sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{web.Search(broker, e.engine)}})
				if err != nil {
					t.Fatal(err)
				}
				res := b.Call(context.Background(), "web_search", map[string]any{"query": "go & c", "max_results": 3.0})
				if requests != 1 || wrong != "" {
					t.Errorf("%d requests; %s", requests, wrong)
				}
				if strings.Contains(fmt.Sprint(res), "KEY-12345") {
					t.Errorf("the key is in the result: %v", res)
				}
				if tt.code != "" {
					if res.Code != tt.code || !strings.Contains(res.ErrorText, tt.says) {
						t.Errorf("%+v", res)
					}
					return
				}
				m, _ := res.Data.(map[string]any)
				rows, ok := m["results"].([]any)
				if res.Err() != nil || !ok || len(rows) != tt.rows {
					t.Fatalf("%+v", res)
				}
				if tt.rows > 0 {
					want := map[string]any{"title": "The Go Programming Language", "url": "https://go.dev/", "snippet": "An <strong>open source</strong> language"}
					if fmt.Sprint(rows[0]) != fmt.Sprint(want) {
						t.Errorf("%v", rows[0])
					}
				}
			})
		}
	}
}

// A server that does not answer is a descriptive error.
func TestEngineThatIsAway(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	broker, err := web.NewBroker(web.BrokerOptions{Transport: loopback{s}, Credentials: []web.Credential{{Name: "k", Hosts: []string{"api.tavily.com"}, Value: "KEY-12345"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(`{"capabilities": {"net.fetch": ["api.tavily.com"]}, "rules": [{"permission": "*", "action": "allow"}]}`, policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := sandbox.New(sandbox.Options{Policy: p, Tools: []sandbox.Tool{web.Search(broker, web.Tavily("k"))}})
	if err != nil {
		t.Fatal(err)
	}
	if res := b.Call(context.Background(), "web_search", map[string]any{"query": "go"}); res.Code != protocol.ErrExecution || !strings.Contains(res.ErrorText, "did not answer") || strings.Contains(res.ErrorText, "127.0.0.1") {
		t.Errorf("%+v", res)
	}
}
