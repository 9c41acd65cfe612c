//go:build !js

package provider_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/headers"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// ends are the end of a stream for each provider, and the form of a call and of its result in its
// requests.
var ends = map[string]struct {
	done         string
	call, result string
}{
	"anthropic": {sse(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"all done"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), `"type":"tool_use"`, `"type":"tool_result"`},
	"chat":      {sse(`{"choices":[{"delta":{"content":"all done"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `[DONE]`), `"tool_calls":[`, `"role":"tool"`},
	"responses": {sse(`{"type":"response.output_text.delta","delta":"all done"}`, `{"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":2}}}`), `"type":"function_call"`, `"type":"function_call_output"`},
	"gemini":    {sse(`{"candidates":[{"content":{"role":"model","parts":[{"text":"all done"}]},"finishReason":"STOP"}]}`), `"functionCall":`, `"functionResponse":`},
}

// far is a provider with prepared answers. It records its requests.
type far struct {
	model  sandbox.Model
	bodies []string
}

// Without an address it is the provider's own.
func TestHostOfAModel(t *testing.T) {
	for want, m := range map[string]sandbox.Model{"api.anthropic.com": provider.Anthropic(provider.Options{}), "api.openai.com": provider.OpenAI(provider.Options{}),
		"generativelanguage.googleapis.com": provider.Gemini(provider.Options{}), "localhost:11434": provider.OpenAIChat(provider.Options{URL: "http://localhost:11434/v1"}), "": provider.Commands()} {
		if got := provider.Host(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func provided(t *testing.T, name string, answers ...string) *far {
	t.Helper()
	f := &far{}
	o := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		f.bodies = append(f.bodies, string(b))
		if len(f.bodies) > len(answers) {
			rw.WriteHeader(http.StatusBadRequest)
			return
		}
		rw.Header().Set("content-type", "text/event-stream")
		_, _ = io.WriteString(rw, answers[len(f.bodies)-1])
	})
	o.Model = name
	f.model = wires()[name].make(o)
	return f
}

// A conversation continues with another provider's model in the middle of its tool calls, after a
// reload. The page's headers show that the reload is needed. The session still exists, and its
// history is sent in the other provider's format, without the first one's signatures. Back at the
// first provider, the signatures are sent again.
func TestSwitchingTheProvider(t *testing.T) {
	ctx := context.Background()
	for first := range ends {
		for second := range ends {
			if first == second {
				continue
			}
			t.Run(first+" to "+second, func(t *testing.T) {
				folder, kept := fsaccess.NewMemory(fsaccess.MemoryOptions{}), fsaccess.NewMemory(fsaccess.MemoryOptions{})
				if err := folder.WriteFile("a", []byte("what a holds"), 0o644); err != nil {
					t.Fatal(err)
				}
				p, err := policy.Parse(`{"capabilities": {"fs.read": ["."], "stream.send": true}, "rules": [{"permission": "fs.read", "action": "allow"}]}`, policy.Options{})
				if err != nil {
					t.Fatal(err)
				}
				page := func() *sandbox.Box { // a newly loaded page
					b, err := sandbox.New(sandbox.Options{FS: folder, Policy: p, Sessions: sandbox.FolderStore(kept)})
					if err != nil {
						t.Fatal(err)
					}
					return b
				}
				run := func(b *sandbox.Box, s *sandbox.Session, m sandbox.Model, text string, steps int) {
					t.Helper()
					if _, err := s.Say(ctx, text); err != nil {
						t.Fatal(err)
					}
					for c, err := range b.Run(ctx, s, m, sandbox.RunOptions{Steps: steps}) {
						if err != nil || c.Type == "error" {
							t.Fatalf("%+v %v", c, err)
						}
					}
				}
				a := provided(t, first, wires()[first].turn, ends[first].done)
				z := provided(t, second, ends[second].done)

				sent := func(hosts ...string) headers.Headers {
					p.Page.Connect = hosts
					use, err := policy.PageUse(p)
					if err != nil {
						t.Fatal(err)
					}
					h, err := headers.For(use)
					if err != nil {
						t.Fatal(err)
					}
					return h
				}
				if h := sent(provider.Host(a.model)); !h.Reaches(provider.Host(a.model)) || h.Reaches(provider.Host(z.model)) {
					t.Fatalf("%s reaches %s, or not %s", h.CSP, provider.Host(z.model), provider.Host(a.model))
				}
				box := page()
				s, err := box.NewSession(ctx, sandbox.SessionOptions{})
				if err != nil {
					t.Fatal(err)
				}
				run(box, s, a.model, "please read a", 1) // the model has asked for tools, and not seen what came of it
				s.Close()

				if !sent(provider.Host(a.model), provider.Host(z.model)).Reaches(provider.Host(z.model)) {
					t.Fatal("after the reload it does not reach the second one")
				}
				box = page()
				if s, err = box.OpenSession(ctx, s.ID()); err != nil {
					t.Fatal(err)
				}
				run(box, s, z.model, "and what is in it?", 0)
				if len(z.bodies) != 1 {
					t.Fatalf("%d requests", len(z.bodies))
				}
				for _, want := range []string{"please read a", "Hello there", "what a holds", "and what is in it?", ends[second].call, ends[second].result, `"read"`} {
					if !strings.Contains(z.bodies[0], want) {
						t.Errorf("%s is not told %s:\n%s", second, want, z.bodies[0])
					}
				}
				if strings.Contains(z.bodies[0], "SIG") || !json.Valid([]byte(z.bodies[0])) {
					t.Errorf("another's signature, or no JSON:\n%s", z.bodies[0])
				}
				if n, calls := strings.Count(z.bodies[0], ends[second].result), strings.Count(z.bodies[0], `my_tool`); n < 1 || calls < 1 {
					t.Errorf("%d results, my_tool %d times", n, calls)
				}

				run(box, s, a.model, "thanks", 0)
				last := a.bodies[len(a.bodies)-1]
				if !strings.Contains(last, "all done") || !strings.Contains(last, ends[first].result) || first != "chat" && !strings.Contains(last, "SIG") {
					t.Errorf("back at %s:\n%s", first, last)
				}
				if text := s.Messages()[len(s.Messages())-1]; text.Role != sandbox.RoleAssistant {
					t.Errorf("the last word is %+v", text)
				}
				s.Close()
			})
		}
	}
}
