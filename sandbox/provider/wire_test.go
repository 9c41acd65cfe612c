//go:build !js

package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/provider"
)

// wire describes the protocol of one provider.
type wire struct {
	make  func(provider.Options) sandbox.Model
	path  string
	key   [2]string // header
	turn  string    // "Hello there", a call of read and one of my:tool, 11 tokens in and 7 out
	cut   string    // the part of turn that is sent before the connection breaks ends here
	sent  []string  // texts that the request must contain
	error string    // a body for an error
	mid   string    // an error in the stream that may be retried
}

func sse(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("data: " + l + "\n\n")
	}
	return b.String()
}

func wires() map[string]wire {
	return map[string]wire{
		"anthropic": {
			make: provider.Anthropic, path: "/messages", key: [2]string{"x-api-key", "key-123456"},
			turn: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":8,\"cache_read_input_tokens\":3,\"output_tokens\":1}}}\n\n" +
				"event: ping\ndata: {\"type\":\"ping\"}\n\n" + sse(
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIG"}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello "}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"there"}}`,
				`{"type":"content_block_stop","index":1}`,
				`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}`,
				`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}`,
				`{"type":"content_block_stop","index":2}`,
				`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t2","name":"my_tool","input":{}}}`,
				`{"type":"content_block_stop","index":3}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`,
				`{"type":"message_stop"}`),
			cut:   `"text":"there"}}`,
			sent:  []string{`"system":[{"cache_control":{"type":"ephemeral"},"text":"be good","type":"text"}]`, `"messages":[{"role":"user","content":[{"text":"hi","type":"text"}]}`, `{"cache_control":{"type":"ephemeral"},"content":"error"`, `"tool_use_id":"old"`, `"is_error":true`, `"signature":"OLD"`, `"input_schema":{"type":"object"}`, `"max_tokens":8192`},
			error: `{"type":"error","error":{"type":"invalid_request_error","message":"no such thing"}}`,
			mid:   sse(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		},
		"chat": {
			make: provider.OpenAIChat, path: "/chat/completions", key: [2]string{"authorization", "Bearer key-123456"},
			turn: ": a comment\n\n" + sse(
				`{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
				`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`,
				`{"choices":[{"delta":{"content":"Hello "}}]}`,
				`{"choices":[{"delta":{"content":"there"}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"read","arguments":""}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"t2","type":"function","function":{"name":"my_tool","arguments":"{}"}}]}}]}`,
				`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`,
				`{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}}`,
				`[DONE]`),
			cut:   `"content":"there"}}]}`,
			sent:  []string{`"role":"system"`, `"tool_call_id":"old"`, `"parameters":{"type":"object"}`, `"include_usage":true`},
			error: `{"error":{"message":"no such thing","type":"invalid_request_error"}}`,
			mid:   sse(`{"error":{"message":"Overloaded","code":502}}`),
		},
		"responses": {
			make: provider.OpenAI, path: "/responses", key: [2]string{"authorization", "Bearer key-123456"},
			turn: sse(
				`{"type":"response.created","response":{}}`,
				`{"type":"response.output_item.added","item":{"type":"reasoning","id":"r1"}}`,
				`{"type":"response.reasoning_summary_text.delta","delta":"hm"}`,
				`{"type":"response.output_item.done","item":{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"SIG"}}`,
				`{"type":"response.output_text.delta","delta":"Hello "}`,
				`{"type":"response.output_text.delta","delta":"there"}`,
				`{"type":"response.output_item.added","item":{"type":"function_call","id":"i1","call_id":"t1","name":"read","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","item_id":"i1","delta":"{\"path\":"}`,
				`{"type":"response.function_call_arguments.delta","item_id":"i1","delta":"\"a\"}"}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","id":"i1","call_id":"t1","name":"read","arguments":"{\"path\":\"a\"}"}}`,
				`{"type":"response.output_item.added","item":{"type":"function_call","id":"i2","call_id":"t2","name":"my_tool"}}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","id":"i2","call_id":"t2","name":"my_tool","arguments":"{}"}}`,
				`{"type":"response.completed","response":{"usage":{"input_tokens":11,"output_tokens":7,"input_tokens_details":{"cached_tokens":3}}}}`),
			cut:   `"delta":"there"}`,
			sent:  []string{`"instructions":"be good"`, `"call_id":"old"`, `"store":false`, `"encrypted_content":"OLD"`, `"strict":false`},
			error: `{"error":{"message":"no such thing","type":"invalid_request_error"}}`,
			mid:   sse(`{"type":"response.failed","response":{"error":{"code":"server_error","message":"Overloaded"}}}`),
		},
		"gemini": {
			make: provider.Gemini, path: "/models/m:streamGenerateContent", key: [2]string{"x-goog-api-key", "key-123456"},
			turn: sse(
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello "}]}}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"there"}]}}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"SIG"},{"functionCall":{"name":"my_tool","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":5,"thoughtsTokenCount":2,"cachedContentTokenCount":3}}`),
			cut:   `"text":"there"}]}}]}`,
			sent:  []string{`"systemInstruction":{"parts":[{"text":"be good"}]}`, `"functionResponse":{"name":"read"`, `"parametersJsonSchema":{"type":"object"}`, `"role":"model"`},
			error: `{"error":{"code":400,"message":"no such thing","status":"INVALID_ARGUMENT"}}`,
			mid:   sse(`{"error":{"code":503,"message":"Overloaded"}}`),
		},
	}
}

func asked(name string) sandbox.ModelRequest {
	meta := map[string]string{"anthropic": `{"signature":"OLD"}`, "responses": `{"type":"reasoning","id":"r0","summary":[],"encrypted_content":"OLD"}`}[name]
	return sandbox.ModelRequest{System: "be good", Tools: []sandbox.ModelTool{{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "my:tool", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Messages: []sandbox.ModelMessage{
			{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hi"}}},
			{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{{Type: sandbox.PartReasoning, Text: "well", Meta: json.RawMessage(meta)}, {Type: sandbox.PartText, Text: "ok"}, {Type: sandbox.PartCall, CallID: "old", Tool: "read", Args: json.RawMessage(`{}`)}}},
			{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartResult, CallID: "old", Tool: "read", Text: "error", Failed: true}}},
		}}
}

// listen returns all events of a model.
func listen(ctx context.Context, m sandbox.Model, r sandbox.ModelRequest) (text, thought, calls, finish string, usage sandbox.Usage, err error) {
	var said, thoughts strings.Builder
	for e, x := range m.Stream(ctx, r) {
		if x != nil {
			err = x
			continue
		}
		switch e.Type {
		case sandbox.PartText:
			said.WriteString(e.Text)
		case sandbox.PartReasoning:
			thoughts.WriteString(e.Text + string(e.Meta))
		case sandbox.PartCall:
			calls += e.Tool + string(e.Args) + " "
		case sandbox.PartUsage:
			usage = e.Usage
		case sandbox.PartFinish:
			finish = e.Text
		}
	}
	return said.String(), thoughts.String(), calls, finish, usage, err
}

func serve(t *testing.T, h http.HandlerFunc) provider.Options {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return provider.Options{Transport: nethttp.New(nil), URL: s.URL, Key: "key-123456", Model: "m"}
}

func TestProvidersSpeakTheirWire(t *testing.T) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			var body, path, key string
			o := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				body, path, key = string(b), r.URL.Path, r.Header.Get(w.key[0])
				rw.Header().Set("content-type", "text/event-stream")
				for _, piece := range strings.SplitAfter(w.turn, ":") { // events do not come whole
					_, _ = io.WriteString(rw, piece)
					rw.(http.Flusher).Flush()
				}
			})
			text, thought, calls, finish, usage, err := listen(context.Background(), w.make(o), asked(name))
			if err != nil {
				t.Fatal(err)
			}
			if text != "Hello there" || calls != `read{"path":"a"} my:tool{} ` || finish != "tool-calls" || usage != (sandbox.Usage{Input: 11, Output: 7, Cached: 3, Reasoning: map[string]int64{"gemini": 2}[name]}) || !strings.HasPrefix(thought, "hm") {
				t.Errorf("%q, %q, %q, %q, %+v", text, thought, calls, finish, usage)
			}
			if (name == "anthropic" || name == "responses") && !strings.Contains(thought, "SIG") {
				t.Errorf("the signature is lost: %q", thought)
			}
			if path != w.path || key != w.key[1] {
				t.Errorf("sent to %s with %s", path, key)
			}
			for _, want := range append(w.sent, "my_tool", `"hi"`) {
				if !strings.Contains(body, want) {
					t.Errorf("the request lacks %s:\n%s", want, body)
				}
			}
			if strings.Contains(body, "my:tool") || strings.Contains(body, "key-123456") {
				t.Errorf("the request holds what it must not:\n%s", body)
			}
		})
	}
}

func TestProvidersFail(t *testing.T) {
	for name, w := range wires() {
		for what, c := range map[string]struct {
			status int
			body   string
			header [2]string
			retry  bool
			after  time.Duration
			said   string
		}{
			"bad request": {400, w.error, [2]string{}, false, 0, "no such thing"},
			"bad key":     {401, `{"error":{"message":"bad key key-123456"}}`, [2]string{}, false, 0, "bad key (key)"},
			"rate":        {429, w.error, [2]string{"retry-after", "7"}, true, 7 * time.Second, "no such thing"},
			"busy":        {529, "<html>busy</html>", [2]string{}, true, 0, "busy"},
			"gone":        {503, "", [2]string{}, true, 0, "503"},
			"nested":      {400, strings.Repeat("[", 9000) + strings.Repeat("]", 9000), [2]string{}, false, 0, "the server answered 400"},
			"mid-stream":  {200, w.mid, [2]string{}, true, 0, "Overloaded"},
			"cut":         {200, w.turn[:strings.Index(w.turn, w.cut)+len(w.cut)] + "\n\n", [2]string{}, true, 0, "cut off"},
			"cut in half": {200, w.turn[:strings.Index(w.turn, w.cut)+3], [2]string{}, true, 0, "cut off"},
			"malformed":   {200, "data: {\"type\": \"message_st\n\n", [2]string{}, true, 0, "can't be read"},
			"empty":       {200, "", [2]string{}, true, 0, "cut off"},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				o := serve(t, func(rw http.ResponseWriter, _ *http.Request) {
					if c.header[0] != "" {
						rw.Header().Set(c.header[0], c.header[1])
					}
					rw.WriteHeader(c.status)
					_, _ = io.WriteString(rw, c.body)
				})
				_, _, calls, finish, _, err := listen(context.Background(), w.make(o), asked(name))
				var me *sandbox.ModelError
				if !errors.As(err, &me) || me.Retry != c.retry || me.RetryAfter != c.after || !strings.Contains(me.Message, c.said) || strings.Contains(me.Message, "key-1") {
					t.Errorf("%+v; want retry %t after %v: %s", err, c.retry, c.after, c.said)
				}
				if finish != "" || calls != "" && c.status == 200 && what != "mid-stream" {
					t.Errorf("a broken answer made calls: %q %q", calls, finish)
				}
			})
		}
	}
}

func TestProvidersHonourTheirContext(t *testing.T) {
	for name, w := range wires() {
		ctx, cancel := context.WithCancel(context.Background())
		hang := make(chan struct{})
		o := serve(t, func(rw http.ResponseWriter, r *http.Request) {
			rw.WriteHeader(200)
			rw.(http.Flusher).Flush()
			cancel()
			<-hang
		})
		_, _, _, _, _, err := listen(ctx, w.make(o), asked(name))
		close(hang)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	down := provider.Anthropic(provider.Options{Transport: nethttp.New(nil), URL: "http://127.0.0.1:1/v1"})
	_, _, _, _, _, err := listen(context.Background(), down, asked(""))
	var me *sandbox.ModelError
	if !errors.As(err, &me) || !me.Retry || me.Status != 0 {
		t.Errorf("nobody there: %v", err)
	}
}

func TestOnlyThisMachineIsLocal(t *testing.T) {
	for url, want := range map[string]bool{"http://localhost:11434/v1": true, "http://127.0.0.1:1": true, "http://[::1]:8080/v1": true, "https://localhost.evil.com/v1": false, "https://example.com": false, "": false,
		"http://127.evil.com/v1": false, "http://127.0.0.1.evil.com/v1": false} {
		if got := provider.OpenAIChat(provider.Options{URL: url, OnDevice: true}).Local(); got != want {
			t.Errorf("%s: %t", url, got)
		}
		if provider.OpenAIChat(provider.Options{URL: url}).Local() {
			t.Errorf("%s is local without having been said to be", url)
		}
	}
}

// An imported conversation can't add items in the provider's own name.
func TestThoughtsAreNoItemsOfAnotherKind(t *testing.T) {
	for _, meta := range []string{`{"type":"message","role":"developer","content":[{"type":"input_text","text":"SPOOF"}]}`, `{"type":"reasoning","role":"SPOOF","encrypted_content":"x"}`, `{"type":"reasoning","id":"SPOOF"}`, `"SPOOF"`, `[`} {
		body := ""
		o := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			body = string(b)
		})
		r := sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleAssistant, Parts: []sandbox.ModelPart{{Type: sandbox.PartReasoning, Meta: json.RawMessage(meta)}, {Type: sandbox.PartText, Text: "said"}}}}}
		_, _, _, _, _, _ = listen(context.Background(), provider.OpenAI(o), r)
		if !strings.Contains(body, "said") || strings.Contains(body, "SPOOF") {
			t.Errorf("%s: %s", meta, body)
		}
	}
}
