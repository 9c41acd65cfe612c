//go:build !js

package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch/nethttp"
	"github.com/bailey-go/bailey/sandbox/policy"
	"github.com/bailey-go/bailey/sandbox/provider"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

type args = map[string]any

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func answers(t *testing.T, texts ...string) (provider.Options, *[]string) {
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		if len(bodies) > len(texts) {
			w.WriteHeader(400)
			return
		}
		_, _ = io.WriteString(w, texts[len(bodies)-1])
	}))
	t.Cleanup(s.Close)
	return provider.Options{Transport: nethttp.New(nil), URL: s.URL, Model: "m", Key: "key-1234"}, &bodies
}

func run(t *testing.T, m sandbox.Model) (chunks []sandbox.Chunk, s *sandbox.Session, err error) {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	must(t, dir.WriteFile("a", []byte("AAA"), 0o644))
	box, e := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges()})
	must(t, e)
	s, e = box.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, e)
	_, e = s.Say(t.Context(), "go")
	must(t, e)
	for c, x := range box.Run(t.Context(), s, m, sandbox.RunOptions{Sleep: func(context.Context, time.Duration) error { return nil }}) {
		if x != nil {
			err = x
			break
		}
		chunks = append(chunks, c)
	}
	return
}

func events(t *testing.T, m sandbox.Model) (out []sandbox.ModelEvent, err error) {
	for e, x := range m.Stream(t.Context(), sandbox.ModelRequest{Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "hi"}}}}}) {
		if x != nil {
			err = x
			continue
		}
		out = append(out, e)
	}
	return
}

const aStart, aEnd = `{"type":"message_start","message":{"usage":{"input_tokens":1}}}`, `{"type":"message_stop"}`
const aTool = `{"type":"content_block_start","index":8,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{}}}` + "\n\ndata: " + `{"type":"content_block_delta","index":8,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a\"}"}}` + "\n\ndata: " + `{"type":"content_block_stop","index":8}` + "\n\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}`

func think(i, text, sig string) string {
	return `{"type":"content_block_start","index":` + i + `,"content_block":{"type":"thinking","thinking":""}}` + "\n\ndata: " + `{"type":"content_block_delta","index":` + i + `,"delta":{"type":"thinking_delta","thinking":"` + text + `"}}` + "\n\ndata: " + `{"type":"content_block_delta","index":` + i + `,"delta":{"type":"signature_delta","signature":"` + sig + `"}}` + "\n\ndata: " + `{"type":"content_block_stop","index":` + i + `}`
}

// two blocks of thinking that follow one another become one, signed with the second's signature.
func TestThinkingBlocksStayApart(t *testing.T) {
	red := `{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"RED"}}` + "\n\ndata: " + `{"type":"content_block_stop","index":1}`
	for _, c := range []struct{ first, second, want string }{{think("0", "one", "S1"), think("1", "two", "S2"), `"signature":"S1"`}, {think("0", "one", "S1"), red, `"signature":"S1"`}} {
		o, bodies := answers(t, sse(aStart, c.first, c.second, aTool, aEnd), sse(aStart, aEnd))
		_, _, err := run(t, provider.Anthropic(o))
		must(t, err)
		if len(*bodies) < 2 || !strings.Contains((*bodies)[1], c.want) || strings.Contains((*bodies)[1], "onetwo") {
			t.Errorf("sent back: %s", (*bodies)[len(*bodies)-1])
		}
	}
}

func TestReasoningItemsStayApart(t *testing.T) {
	item := func(i string) string {
		return `{"type":"response.output_item.done","item":{"type":"reasoning","id":"rs_` + i + `","summary":[],"encrypted_content":"ENC` + i + `"}}`
	}
	call := `{"type":"response.output_item.done","item":{"type":"function_call","id":"fc","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"}}`
	done := `{"type":"response.completed","response":{}}`
	o, bodies := answers(t, sse(item("1"), item("2"), call, done), sse(done))
	_, _, err := run(t, provider.OpenAI(o))
	must(t, err)
	if !strings.Contains((*bodies)[1], "ENC1") {
		t.Errorf("the first is lost: %s", (*bodies)[1])
	}
}

// the error event as OpenAI sends it (recorded: vercel/ai openai-error.1.chunks.txt).
func TestResponsesNestedError(t *testing.T) {
	o, _ := answers(t, sse(`{"type":"error","sequence_number":2,"error":{"type":"tokens","code":"rate_limit_exceeded","message":"Rate limit reached","param":null}}`))
	_, err := events(t, provider.OpenAI(o))
	var me *sandbox.ModelError
	if !errors.As(err, &me) || me.Message != "Rate limit reached" || !me.Retry {
		t.Errorf("%+v", err)
	}
}

// calls of chat completions without an index, with an empty id, with both names of reasoning, with content in parts.
func TestChatVariants(t *testing.T) {
	end := `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
	call := func(more, path string) string {
		return `{"choices":[{"delta":{"tool_calls":[{` + more + `"type":"function","function":{"name":"read","arguments":"{\"path\":\"` + path + `\"}"}}]}}]}`
	}
	o, _ := answers(t, sse(call(`"id":"c1",`, "a"), call(`"id":"c2",`, "b"), end, "[DONE]"))
	ev, err := events(t, provider.OpenAIChat(o))
	must(t, err)
	n := 0
	for _, e := range ev {
		if e.Type == sandbox.PartCall && json.Valid(e.Args) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("without an index: %d calls", n)
	}
	o, _ = answers(t, sse(call(`"index":0,"id":"",`, "a"), end, "[DONE]"), sse(`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, "[DONE]"))
	chunks, _, err := run(t, provider.OpenAIChat(o))
	must(t, err)
	begun := map[string]bool{}
	for _, c := range chunks {
		switch c.Type {
		case "tool-input-start":
			begun[c.ToolCallID] = true
		case "tool-input-available":
			if !begun[c.ToolCallID] {
				t.Errorf("call %q was begun as %v", c.ToolCallID, begun)
			}
		}
	}
	o, _ = answers(t, sse(`{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, "[DONE]"))
	ev, err = events(t, provider.OpenAIChat(o))
	must(t, err)
	if ev[0].Text != "hm" {
		t.Errorf("reasoning %q (vLLM sends both names)", ev[0].Text)
	}
	o, _ = answers(t, sse(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"ok"}]},"finish_reason":"stop"}]}`, "[DONE]"))
	if _, err = events(t, provider.OpenAIChat(o)); err != nil {
		t.Errorf("content in parts (Mistral's reasoning models): %v", err)
	}
}

// a call's input in its content_block_start, and usage in message_delta.
func TestAnthropicVariants(t *testing.T) {
	o, _ := answers(t, sse(aStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}}`, `{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":50000,"output_tokens":1}}`, aEnd))
	ev, err := events(t, provider.Anthropic(o))
	must(t, err)
	for _, e := range ev {
		if e.Type == sandbox.PartCall && string(e.Args) == "{}" {
			t.Errorf("the input is lost")
		}
		if e.Type == sandbox.PartUsage && e.Usage.Input != 50000 {
			t.Errorf("input tokens %d", e.Usage.Input)
		}
	}
}

// a list of what to drop holds ids that no chunk has told.
func TestDropNamesWhatWasTold(t *testing.T) {
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Text: "x", Calls: []sandbox.ToolCall{{ID: "c1", Tool: "read", Args: args{"path": "a"}}}, Cut: true}, sandboxtest.Say("whole")}}
	chunks, _, err := run(t, m)
	must(t, err)
	told := map[string]bool{}
	for _, c := range chunks {
		told[c.ID], told[c.ToolCallID] = true, true
		if c.Type == "data-retry" {
			for _, id := range c.Data.(map[string]any)["drop"].([]any) {
				if !told[id.(string)] {
					t.Errorf("%v was never told of; the call was %v", id, "c1")
				}
			}
		}
	}
}

// "To break the loop is to interrupt the run", which keeps what came until then.
func TestBreakKeepsWhatCame(t *testing.T) {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	box, err := sandbox.New(sandbox.Options{FS: dir, Policy: policy.AskBeforeChanges()})
	must(t, err)
	s, err := box.NewSession(t.Context(), sandbox.SessionOptions{})
	must(t, err)
	_, err = s.Say(t.Context(), "go")
	must(t, err)
	n := 0
	for range box.Run(t.Context(), s, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say(strings.Repeat("text ", 20))}}, sandbox.RunOptions{}) {
		if n++; n == 6 {
			break
		}
	}
	if len(s.Messages()) != 2 {
		t.Errorf("%d messages", len(s.Messages()))
	}
}

// the scripted model cuts characters.
func TestScriptedModelKeepsCharacters(t *testing.T) {
	chunks, _, err := run(t, &sandboxtest.Model{Turns: []sandboxtest.Turn{sandboxtest.Say("Hello, é世😀")}})
	must(t, err)
	for _, c := range chunks {
		if !utf8.ValidString(c.Delta) {
			t.Errorf("%q", c.Delta)
		}
	}
}

// An id that is empty, too long or used twice is replaced, and start, pieces and call agree about it.
func TestIDsOfCallsAgree(t *testing.T) {
	long := strings.Repeat("x", 257)
	read := func(id, path string) sandbox.ToolCall {
		return sandbox.ToolCall{ID: id, Tool: "read", Args: args{"path": path}}
	}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Calls: []sandbox.ToolCall{read("c1", "a"), read("c1", "b"), read(long, "c"), read(strings.Repeat("x", 256), "d")}}, sandboxtest.Say("done")}}
	chunks, _, err := run(t, m)
	must(t, err)
	paths := map[string]string{}
	var state = map[string]sandbox.ChunkType{}
	for _, c := range chunks {
		switch c.Type {
		case "tool-input-start":
			if state[c.ToolCallID] != "" {
				t.Errorf("%q is begun twice", c.ToolCallID)
			}
		case "tool-input-delta":
			paths[c.ToolCallID] += c.Delta
		case "tool-input-available":
			if want := c.Input.(map[string]any)["path"].(string); !strings.Contains(paths[c.ToolCallID], want) {
				t.Errorf("%q has the pieces %q, and the path %q", c.ToolCallID, paths[c.ToolCallID], want)
			}
		case "tool-output-available", "tool-output-error":
			if state[c.ToolCallID] != "tool-input-available" {
				t.Errorf("%q has a result after %q", c.ToolCallID, state[c.ToolCallID])
			}
		default:
			continue
		}
		state[c.ToolCallID] = c.Type
	}
	if len(state) != 4 || state[""] != "" || state[long] != "" || state["c1"] == "" {
		t.Errorf("%v", state)
	}
}

// An error keeps the text that came, and the error's chunk says what the provider said.
func TestErrorKeepsWhatCame(t *testing.T) {
	broken := &sandbox.ModelError{Status: 400, Message: "bad request: quota"}
	m := &sandboxtest.Model{Turns: []sandboxtest.Turn{{Text: "half an answer", Calls: []sandbox.ToolCall{{ID: "c1", Tool: "read", Args: args{"path": "a"}}}, Err: broken}}}
	chunks, s, err := run(t, m)
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if c := chunks[len(chunks)-1]; c.Type != "error" || !strings.Contains(c.ErrorText, "quota") {
		t.Errorf("%+v", c)
	}
	list := s.Messages()
	if len(list) != 2 || !strings.Contains(fmt.Sprint(list[1].Parts), "half an answer") {
		t.Fatalf("%+v", list)
	}
	for _, p := range list[1].Parts {
		if p.ToolCallID != "" && p.ToolState != sandbox.ToolOutputError {
			t.Errorf("the call is left %s", p.ToolState)
		}
	}
}

// What an answer with an error says about a new attempt.
func TestRetries(t *testing.T) {
	google := func(delay string) string {
		return `{"error":{"code":429,"message":"slow down","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`
	}
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		retry  bool
		after  time.Duration
	}{
		"400":                     {400, nil, `{"error":{"message":"no"}}`, false, 0},
		"401":                     {401, nil, `{"error":{"message":"no"}}`, false, 0},
		"429":                     {429, map[string]string{"Retry-After": "2"}, ``, true, 2 * time.Second},
		"milliseconds":            {429, map[string]string{"Retry-After-Ms": "1500", "Retry-After": "9"}, ``, true, 1500 * time.Millisecond},
		"not milliseconds":        {429, map[string]string{"Retry-After-Ms": "soon", "Retry-After": "9"}, ``, true, 9 * time.Second},
		"negative":                {429, map[string]string{"Retry-After-Ms": "-1"}, ``, true, 0},
		"Google's":                {429, nil, google("3.5s"), true, 3500 * time.Millisecond},
		"Google's in a list":      {429, nil, "[" + google("3.5s") + "]", true, 3500 * time.Millisecond},
		"Google's that is broken": {429, nil, google("a while"), true, 0},
		"it must not be repeated": {500, map[string]string{"X-Should-Retry": "false"}, ``, false, 0},
		"it may be repeated":      {400, map[string]string{"X-Should-Retry": "true"}, ``, true, 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for k, v := range c.header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := events(t, provider.OpenAIChat(provider.Options{Transport: nethttp.New(nil), URL: server.URL, Model: "m"}))
		server.Close()
		var me *sandbox.ModelError
		if !errors.As(err, &me) || me.Retry != c.retry || me.RetryAfter != c.after {
			t.Errorf("%s: %+v", name, err)
		}
	}
	for code, retry := range map[string]bool{`400`: false, `401`: false, `429`: true, `502`: true, `"rate_limited"`: true, `null`: true} {
		o, _ := answers(t, sse(`{"error":{"code":`+code+`,"message":"m"}}`))
		_, err := events(t, provider.OpenAIChat(o))
		var me *sandbox.ModelError
		if !errors.As(err, &me) || me.Retry != retry {
			t.Errorf("in a stream: %s: %+v", code, err)
		}
	}
}

// The words of servers about a request that is too long, and words that only look like them.
func TestTooLong(t *testing.T) {
	for text, status := range map[string]int{
		`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`:               400,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`:   400,
		`{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}`: 400,
		`{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`:       400,
		`{"error":"request body too large for the context window"}`:                                                                  413,
		`{"error":{"message":"This model's maximum prompt length is 131072 but the request contains 136973 tokens."}}`:               400,
		`{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)"}}`:               400,
		`{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]"}}`:             400,
		`{"error":{"code":"InvalidParameter","message":"Input length 203743 exceeds the maximum length 202752"}}`:                    400,
		`{"error":{"code":"1261","message":"Prompt exceeds max length"}}`:                                                            400,
		`{"error":{"message":"prompt token count of 5000 exceeds the limit of 4096","code":"model_max_prompt_tokens_exceeded"}}`:     400,
		`{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`:      413,
		"{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens\"}":    422,
		`{"error":{"message":"Prompt has 5000 tokens, but the configured context size is 4096 tokens"}}`:                             400,
		`{"message":"Input is too long for requested model."}`:                                                                       400,
		"<html><head><title>413 Request Entity Too Large</title></head></html>":                                                      413,
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`:                         413,
		``: 413,
		`-{"error":{"message":"Too many tokens, please wait before trying again."}}`:                                                      429,
		`-{"error":{"message":"This request would exceed your rate limit of 40,000 input tokens per minute"}}`:                            429,
		`-{"error":{"message":"Unknown parameter: context"}}`:                                                                             400,
		"-{\"error\":{\"message\":\"`max_tokens` must be less than or equal to `16384`, less than the `context_window` of this model\"}}": 400,
		`-`: 400,
	} {
		body, no := strings.CutPrefix(text, "-")
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		for name, make := range map[string]func(provider.Options) sandbox.Model{"anthropic": provider.Anthropic, "chat": provider.OpenAIChat, "responses": provider.OpenAI, "gemini": provider.Gemini} {
			_, err := events(t, make(provider.Options{Transport: nethttp.New(nil), URL: server.URL, Model: "m"}))
			var me *sandbox.ModelError
			if !errors.As(err, &me) || me.TooLong == no {
				t.Errorf("%s: %d %s: %+v", name, status, body, err)
			}
		}
		server.Close()
	}
	for name, c := range map[string]struct {
		make func(provider.Options) sandbox.Model
		line string
	}{
		"anthropic": {provider.Anthropic, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`},
		"chat":      {provider.OpenAIChat, `{"error":{"message":"maximum context length","code":400}}`},
		"responses": {provider.OpenAI, `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"no"}}}`},
		"gemini":    {provider.Gemini, `{"error":{"code":400,"message":"input token count exceeds"}}`},
	} {
		o, _ := answers(t, sse(c.line))
		_, err := events(t, c.make(o))
		var me *sandbox.ModelError
		if !errors.As(err, &me) || !me.TooLong {
			t.Errorf("%s, in a stream: %+v", name, err)
		}
	}
}

// Items of the Responses API that are not known do not end an answer.
func TestUnknownItems(t *testing.T) {
	o, _ := answers(t, sse(`{"type":"response.output_item.done","item":{"type":"shell_call","id":"x","arguments":{"a":1}}}`, `{"type":"response.shell.delta","delta":{"b":2}}`,
		`{"type":"response.output_text.delta","delta":"ok"}`, `{"type":"response.completed","response":{}}`))
	ev, err := events(t, provider.OpenAI(o))
	must(t, err)
	if ev[0].Text != "ok" {
		t.Errorf("%+v", ev)
	}
}

// Pieces of calls as servers of chat completions send them. A + stands for a generated id.
func TestPiecesOfCalls(t *testing.T) {
	piece := func(text string) string { return `{"choices":[{"delta":{"tool_calls":[` + text + `]}}]}` }
	for name, c := range map[string]struct {
		pieces []string
		want   []string
	}{
		"by index":                               {[]string{`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x\":"}}`, `{"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"1}"}}`}, []string{`a {"x":1}`, `b {}`}},
		"the id in every piece":                  {[]string{`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"x\":"}}`, `{"index":0,"id":"a","function":{"arguments":"1}"}}`}, []string{`a {"x":1}`}},
		"a new id, same index":                   {[]string{`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}`}, []string{`a {}`, `b {}`}},
		"no index, pieces":                       {[]string{`{"id":"a","function":{"name":"read","arguments":"{\"x\":"}}`, `{"function":{"arguments":"1}"}}`, `{"id":"b","function":{"name":"read","arguments":""}}`}, []string{`a {"x":1}`, `b {}`}},
		"no index and no id":                     {[]string{`{"function":{"name":"read","arguments":"{}"}}`, `{"function":{"name":"read","arguments":"{}"}}`}, []string{`+ {}`, `+ {}`}},
		"a late id":                              {[]string{`{"index":0,"function":{"name":"read","arguments":""}}`, `{"index":0,"id":"a","function":{"arguments":"{\"x\":"}}`, `{"index":0,"id":"a","function":{"arguments":"1}"}}`}, []string{`+ {"x":1}`}},
		"a late id after arguments":              {[]string{`{"index":0,"function":{"name":"read","arguments":"{\"x\":"}}`, `{"index":0,"id":"a","function":{"name":"read","arguments":"1}"}}`}, []string{`+ {"x":1}`}},
		"a late id without an index":             {[]string{`{"function":{"name":"read","arguments":""}}`, `{"id":"a","function":{"arguments":"{}"}}`}, []string{`+ {}`}},
		"a late id, then a second call":          {[]string{`{"index":0,"function":{"name":"read","arguments":""}}`, `{"index":0,"id":"a","function":{"arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"read","arguments":"{\"x\":1}"}}`}, []string{`+ {}`, `b {"x":1}`}},
		"an id for the second call only":         {[]string{`{"index":0,"function":{"name":"read","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"read","arguments":"{\"x\":1}"}}`}, []string{`+ {}`, `b {"x":1}`}},
		"an id for another tool":                 {[]string{`{"index":0,"function":{"name":"read","arguments":""}}`, `{"index":0,"id":"b","function":{"name":"write","arguments":"{}"}}`}, []string{`+ {}`, `b {}`}},
		"an id and no index for the second call": {[]string{`{"function":{"name":"read","arguments":"{}"}}`, `{"id":"b","function":{"name":"read","arguments":"{\"x\":1}"}}`}, []string{`+ {}`, `b {"x":1}`}},
	} {
		var all []string
		for _, p := range c.pieces {
			all = append(all, piece(p))
		}
		o, _ := answers(t, sse(append(all, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...))
		ev, err := events(t, provider.OpenAIChat(o))
		must(t, err)
		var got []string
		for _, e := range ev {
			if e.Type == sandbox.PartCall {
				id := e.CallID
				if len(id) > 1 {
					id = "+"
				}
				got = append(got, id+" "+string(e.Args))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The calls of an answer as "tool arguments", or the error's text.
func called(t *testing.T, m sandbox.Model) string {
	t.Helper()
	ev, err := events(t, m)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, e := range ev {
		if e.Type == sandbox.PartCall {
			out = append(out, e.Tool+" "+string(e.Args))
		}
	}
	return strings.Join(out, "; ")
}

// Arguments are a text of JSON, or the object itself, as some servers send it. Other values are an
// error, because the call would be made with arguments that the model did not choose.
func TestArgumentsOfAnotherType(t *testing.T) {
	const unread = "model: a piece of the answer can't be read"
	for arguments, want := range map[string]string{
		`"{\"path\":\"a\"}"`: `read {"path":"a"}`, `{"path":"a"}`: `read {"path":"a"}`, ` {"path": "a"} `: `read {"path": "a"}`, `{}`: `read {}`,
		`null`: `read {}`, `""`: `read {}`, `"\u007b}"`: `read {}`, `7`: unread, `["a"]`: unread, `true`: unread,
	} {
		o, _ := answers(t, sse(`{"type":"response.output_item.added","item":{"type":"function_call","id":"i","call_id":"c","name":"read"}}`,
			`{"type":"response.output_item.done","item":{"type":"function_call","id":"i","call_id":"c","name":"read","arguments":`+arguments+`}}`, `{"type":"response.completed","response":{}}`))
		if got := called(t, provider.OpenAI(o)); got != want {
			t.Errorf("responses, %s: %s, want %s", arguments, got, want)
		}
		o, _ = answers(t, sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":`+arguments+`}}]},"finish_reason":"tool_calls"}]}`, "[DONE]"))
		if got := called(t, provider.OpenAIChat(o)); got != want {
			t.Errorf("chat, %s: %s, want %s", arguments, got, want)
		}
	}
	// The other providers pass on a value of another type, and the box refuses it.
	o, _ := answers(t, sse(aStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":"{}"}}`, `{"type":"content_block_stop","index":0}`, aEnd))
	if got := called(t, provider.Anthropic(o)); got != `read "{}"` {
		t.Errorf("anthropic: %s", got)
	}
	o, _ = answers(t, sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":"{}"}}]},"finishReason":"STOP"}]}`))
	if got := called(t, provider.Gemini(o)); got != `read "{}"` {
		t.Errorf("gemini: %s", got)
	}
}

// A call that is cut off before its arguments is an error, because without them it would be another
// call. A call without arguments that is complete is made.
func TestCallsCutOff(t *testing.T) {
	const cut = "read the answer ended before the arguments"
	chat := func(reason string, pieces ...string) string {
		var lines []string
		for _, p := range pieces {
			lines = append(lines, `{"choices":[{"delta":{"tool_calls":[`+p+`]}}]}`)
		}
		return sse(append(lines, `{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`, "[DONE]")...)
	}
	named := func(i string) string { return `{"index":` + i + `,"id":"c` + i + `","function":{"name":"read"}}` }
	block := func(i, rest string) string {
		return `{"type":"content_block_start","index":` + i + `,"content_block":{"type":"tool_use","id":"t` + i + `","name":"read"` + rest + `}}`
	}
	stop := func(i string) string { return `{"type":"content_block_stop","index":` + i + `}` }
	message := func(reason string, lines ...string) string {
		return sse(append(append([]string{aStart}, lines...), `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"}}`, aEnd)...)
	}
	item := func(i, rest string) string {
		return `{"type":"response.output_item.done","item":{"type":"function_call","id":"i` + i + `","call_id":"c` + i + `","name":"read"` + rest + `}}`
	}
	const (
		whole   = `{"type":"response.completed","response":{}}`
		limit   = `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`
		blocked = `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`
	)
	for _, c := range []struct {
		make              func(provider.Options) sandbox.Model
		name, turn, calls string
	}{
		{provider.OpenAIChat, "length", chat("length", named("0")), cut},
		{provider.OpenAIChat, "filter", chat("content_filter", named("0")), cut},
		{provider.OpenAIChat, "whole", chat("tool_calls", named("0")), "read {}"},
		{provider.OpenAIChat, "stop", chat("stop", named("0")), "read {}"},
		{provider.OpenAIChat, "cut, but with arguments", chat("length", `{"index":0,"id":"c","function":{"name":"read","arguments":"{}"}}`), "read {}"},
		{provider.OpenAIChat, "cut within arguments", chat("length", `{"index":0,"id":"c","function":{"name":"read","arguments":"{\"a"}}`), `read {"a`},
		{provider.Anthropic, "length", message("max_tokens", block("0", `,"input":{ }`), stop("0")), cut},
		{provider.Anthropic, "length, no input", message("max_tokens", block("0", ``), stop("0")), cut},
		{provider.Anthropic, "window", message("model_context_window_exceeded", block("0", ``), stop("0")), cut},
		{provider.Anthropic, "refusal", message("refusal", block("0", ``), stop("0")), cut},
		{provider.Anthropic, "no end of the block", message("max_tokens", block("0", ``)), ""},
		{provider.Anthropic, "whole", message("tool_use", block("0", `,"input":{}`), stop("0")), "read {}"},
		{provider.Anthropic, "two", message("max_tokens", block("0", `,"input":{}`), stop("0"), block("1", `,"input":{}`), stop("1")), "read {}; " + cut},
		{provider.Anthropic, "the first has arguments", message("max_tokens", block("0", `,"input":{"path":"a"}`), stop("0"), block("1", ``), stop("1")), `read {"path":"a"}; ` + cut},
		{provider.Anthropic, "two, whole", message("tool_use", block("0", ``), stop("0"), block("1", ``), stop("1")), "read {}; read {}"},
		{provider.OpenAI, "length", sse(item("0", ``), limit), cut},
		{provider.OpenAI, "length, empty", sse(item("0", `,"arguments":""`), limit), cut},
		{provider.OpenAI, "filter", sse(item("0", `,"arguments":""`), blocked), cut},
		{provider.OpenAI, "whole", sse(item("0", `,"arguments":""`), whole), "read {}"},
		{provider.OpenAI, "cut, but with arguments", sse(item("0", `,"arguments":"{}"`), limit), "read {}"},
		{provider.OpenAI, "two", sse(item("0", ``), item("1", ``), limit), "read {}; " + cut},
		{provider.OpenAI, "two, the first incomplete", sse(item("0", `,"status":"incomplete"`), item("1", `,"arguments":"{}"`), limit), cut + "; read {}"},
	} {
		o, _ := answers(t, c.turn)
		if got := called(t, c.make(o)); got != c.calls {
			t.Errorf("%s, %s: %q, want %q", c.make(o).Name(), c.name, got, c.calls)
		}
	}
	// Without arguments, undo takes back a change. The box makes no call of it, and the next request has an error in its place.
	for _, c := range []struct {
		make func(provider.Options) sandbox.Model
		turn string
		last string
	}{
		{provider.OpenAIChat, chat("length", `{"index":0,"id":"c0","function":{"name":"undo"}}`), sse(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`, "[DONE]")},
		{provider.Anthropic, strings.ReplaceAll(message("max_tokens", block("0", ``), stop("0")), `"read"`, `"undo"`), message("end_turn")},
		{provider.OpenAI, strings.ReplaceAll(sse(item("0", ``), limit), `"read"`, `"undo"`), sse(whole)},
	} {
		o, bodies := answers(t, c.turn, c.last)
		chunks, _, err := run(t, c.make(o))
		must(t, err)
		var types []string
		for _, x := range chunks {
			if strings.HasPrefix(string(x.Type), "tool-") {
				types = append(types, string(x.Type))
			}
		}
		if got := strings.TrimPrefix(strings.Join(types, " "), "tool-input-start "); got != "tool-input-error" {
			t.Errorf("%s: %s", c.make(o).Name(), got)
		}
		if len(*bodies) != 2 || !strings.Contains((*bodies)[1], "the arguments are invalid") {
			t.Errorf("%s: %d requests, and the last does not have the error", c.make(o).Name(), len(*bodies))
		}
	}
}

// Ids that are generated, because a provider or a server gives none, are of one call only, also where
// the same request is sent again and where a summary has made the conversation shorter.
func TestGeneratedIDs(t *testing.T) {
	turns := map[string]string{
		"chat":   sse(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{}"}},{"index":1,"function":{"name":"read","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, "[DONE]"),
		"gemini": sse(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{}}},{"functionCall":{"name":"read","args":{}}}]},"finishReason":"STOP"}]}`),
	}
	models := map[string]sandbox.Model{"commands": provider.Commands()}
	for name, turn := range turns {
		o, _ := answers(t, turn, turn, turn)
		models[name] = map[string]func(provider.Options) sandbox.Model{"chat": provider.OpenAIChat, "gemini": provider.Gemini}[name](o)
	}
	r := sandbox.ModelRequest{Tools: everyTool, Messages: []sandbox.ModelMessage{{Role: sandbox.RoleUser, Parts: []sandbox.ModelPart{{Type: sandbox.PartText, Text: "list the files"}}}}}
	for name, m := range models {
		seen := map[string]bool{}
		for range 3 {
			begun := ""
			for e, err := range m.Stream(t.Context(), r) {
				must(t, err)
				switch e.Type {
				case sandbox.PartCallStart:
					begun += e.CallID + " "
				case sandbox.PartCall:
					if seen[e.CallID] || e.CallID == "" || len(e.CallID) > 40 || !strings.Contains(begun, e.CallID+" ") {
						t.Errorf("%s: %q, begun as %q, seen %v", name, e.CallID, begun, seen)
					}
					seen[e.CallID] = true
				}
			}
		}
		if len(seen) < 3 {
			t.Errorf("%s: %d ids", name, len(seen))
		}
	}
}
