//go:build !js

package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/provider"
)

func TestHeadless(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("milk\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	rules := provider.Commands()
	log := filepath.Join(dir, "..", "audit.jsonl")
	read := func(name string) string {
		data, _ := os.ReadFile(filepath.Join(dir, name))
		return string(data)
	}
	if err := run(dir, "", log, true, rules, []string{"list the files", "delete a.txt", "add eggs to a.txt"}); err != nil {
		t.Fatal(err)
	}
	if read("a.txt") != "milk\n" {
		t.Errorf("changed without anyone to ask: %q", read("a.txt"))
	}
	pol := filepath.Join(dir, "..", "policy.json")
	if err := os.WriteFile(pol, []byte(`{"filesystem": {"allowWrite": ["."]}, "rules": [{"permission": "*", "action": "allow"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(dir, pol, log, true, rules, []string{"add eggs to a.txt", "replace milk with oats in a.txt", "organise the files by type"}); err != nil {
		t.Fatal(err)
	}
	if got := read("documents/a.txt"); got != "oats\neggs\n" {
		t.Errorf("a.txt is %q", got)
	}
	if err := run(dir, pol, log, true, rules, []string{"undo"}); err != nil { // another program, the same journal
		t.Fatal(err)
	}
	if got := read("a.txt"); got != "oats\neggs\n" {
		t.Errorf("after undo: %q", got)
	}
	if fi, err := os.Stat(log); err != nil || fi.Size() == 0 {
		t.Error("no audit log")
	}
}

// The loop works at the address of each provider, over TLS, with the key of the environment. A server of
// the test has that name. It answers as the provider does: first with a call, then with its result.
func TestProvidersAddresses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, c := range []struct {
		choice    choice
		asked     string // the host and the path
		key       func(http.Header) string
		call, say []string // events
	}{
		{choice{"anthropic", "claude-sonnet-4-5", ""}, "api.anthropic.com/v1/messages", func(h http.Header) string { return h.Get("X-Api-Key") },
			[]string{`{"type":"message_start","message":{"usage":{"input_tokens":5}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a.txt\"}"}}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`},
			[]string{`{"type":"message_start","message":{"usage":{"input_tokens":5}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It says milk."}}`,
				`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`, `{"type":"message_stop"}`}},
		{choice{"openrouter", "x/y", ""}, "openrouter.ai/api/v1/chat/completions", func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
			[]string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `[DONE]`},
			[]string{`{"choices":[{"index":0,"delta":{"content":"It says milk."}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `[DONE]`}},
		{choice{"openai", "gpt-5", ""}, "api.openai.com/v1/responses", func(h http.Header) string { return strings.TrimPrefix(h.Get("Authorization"), "Bearer ") },
			[]string{`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"read","arguments":"{\"path\":\"a.txt\"}"}}`, `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5,"output_tokens":3}}}`},
			[]string{`{"type":"response.output_text.delta","output_index":0,"delta":"It says milk."}`, `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":5,"output_tokens":3}}}`}},
		{choice{"gemini", "gemini-2.5-pro", ""}, "generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:streamGenerateContent", func(h http.Header) string { return h.Get("X-Goog-Api-Key") },
			[]string{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"a.txt"}}}]},"finishReason":"STOP"}]}`},
			[]string{`{"candidates":[{"content":{"parts":[{"text":"It says milk."}]},"finishReason":"STOP"}]}`}},
	} {
		t.Run(c.choice.provider, func(t *testing.T) {
			var asked, bodies []string
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				asked, bodies = append(asked, r.Host+r.URL.Path+" "+c.key(r.Header)), append(bodies, string(body))
				w.Header().Set("Content-Type", "text/event-stream")
				events := c.call
				if len(bodies) > 1 {
					events = c.say
				}
				for _, e := range events {
					fmt.Fprintf(w, "data: %s\n\n", e)
				}
			}))
			defer server.Close()
			tr := server.Client().Transport.(*http.Transport).Clone()
			tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				if !strings.HasSuffix(address, ":443") {
					t.Errorf("connected to %s", address)
				}
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			}
			tr.TLSClientConfig = &tls.Config{RootCAs: tr.TLSClientConfig.RootCAs, ServerName: "example.com"}
			m, err := c.choice.model(func(name string) string { return "KEY of " + name }, nethttp.New(&http.Client{Transport: tr}))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("MILK of the file\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := run(dir, "", os.DevNull, true, m, []string{"what is in a.txt?"}); err != nil {
				t.Fatal(err)
			}
			want := c.asked + " KEY of " + services[c.choice.provider].key
			if len(asked) != 2 || asked[0] != want || asked[1] != want {
				t.Fatalf("asked %q, want twice %q", asked, want)
			}
			if strings.Contains(bodies[0], "MILK") || !strings.Contains(bodies[1], "MILK of the file") || !json.Valid([]byte(bodies[1])) {
				t.Errorf("the second request has not the result of the call: %s", bodies[1])
			}
		})
	}
}

// An option that is missing or wrong is told by name, and no key is looked for elsewhere.
func TestChoiceOfAModel(t *testing.T) {
	none := func(string) string { return "" }
	for _, c := range []struct {
		choice choice
		key    string
		want   string // of the error, or ""
	}{
		{choice{}, "", ""},
		{choice{name: "x"}, "", "-provider"},
		{choice{url: "http://localhost"}, "", "-provider"},
		{choice{provider: "claude", name: "x"}, "k", "anthropic, chat, gemini, openai, openrouter"},
		{choice{provider: "openai"}, "k", "-model"},
		{choice{provider: "openai", name: "x"}, "", "OPENAI_API_KEY"},
		{choice{provider: "openrouter", name: "x"}, "", "OPENROUTER_API_KEY"},
		{choice{provider: "chat", name: "x"}, "", ""},
		{choice{provider: "openai", name: "x"}, "k", ""},
	} {
		env := none
		if c.key != "" {
			env = func(string) string { return c.key }
		}
		m, err := c.choice.model(env, network())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || (m == nil) == (err == nil) {
			t.Errorf("%+v: %v, want %q", c.choice, err, c.want)
		}
	}
}
