package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/provider"
	"github.com/bailey-go/bailey/sandbox/sandboxtest"
)

// A server is a provider of a day: it checks the body of each request by the rules of its API, and answers with
// the turn of the worker in the provider's own stream.
type server struct {
	kind    string // "anthropic", "openai" or "gemini"
	turn    sandboxtest.Turn
	input   int64
	output  int64
	made    int      // signatures and ids of calls
	own     int      // signatures of its own that it got back
	foreign int      // calls of another provider that it got
	wrong   []string // broken rules
}

// model returns the model of package provider that asks the server.
func (s *server) model() sandbox.Model {
	o := provider.Options{Transport: s, Key: "key", Model: "m", Context: dayWindow, MaxTokens: 1000}
	switch s.kind {
	case "anthropic":
		return provider.Anthropic(o)
	case "openai":
		return provider.OpenAI(o)
	}
	return provider.Gemini(o)
}

var daySignature = regexp.MustCompile(`SIG-([a-z]+)-\d+`)

// Do implements [fetch.Transport].
func (s *server) Do(_ context.Context, r fetch.Request) (*fetch.Response, error) {
	for _, m := range daySignature.FindAllStringSubmatch(string(r.Body), -1) {
		if m[1] == s.kind {
			s.own++
		} else {
			s.fail("it got a signature of %s", m[1])
		}
	}
	var body map[string]any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		s.fail("no JSON: %v", err)
	}
	text := ""
	switch s.kind {
	case "anthropic":
		s.checkAnthropic(body)
		text = s.anthropic()
	case "openai":
		s.checkOpenAI(body)
		text = s.openAI()
	default:
		s.checkGemini(body)
		text = s.gemini()
	}
	return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/event-stream"}, Body: io.NopCloser(strings.NewReader(text))}, nil
}

func (s *server) fail(format string, args ...any) {
	s.wrong = append(s.wrong, s.kind+": "+fmt.Sprintf(format, args...))
}

// id returns the next id of a call, or signature.
func (s *server) id(format string) string {
	s.made++
	return fmt.Sprintf(format, s.kind, s.made)
}

// alien counts a call that another provider has made.
func (s *server) alien(id string) {
	if !strings.HasPrefix(id, "call-"+s.kind+"-") {
		s.foreign++
	}
}

func objects(v any) (out []map[string]any) {
	list, _ := v.([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		out = append(out, m)
	}
	return out
}

func word(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// checkAnthropic checks that the roles alternate, that the results of calls are the first blocks of the message
// behind them, and that thoughts come before all else and are signed.
func (s *server) checkAnthropic(body map[string]any) {
	if n, _ := body["max_tokens"].(float64); n <= 0 {
		s.fail("max_tokens is %v", body["max_tokens"])
	}
	var open []string // calls of the message before
	ids := map[string]bool{}
	for i, m := range objects(body["messages"]) {
		role := word(m, "role")
		if want := []string{"user", "assistant"}[i%2]; role != want {
			s.fail("message %d is of %q", i, role)
		}
		var calls, results []string
		seen := "" // the type of the block before
		for _, b := range objects(m["content"]) {
			kind := word(b, "type")
			switch {
			case kind == "text" && strings.TrimSpace(word(b, "text")) == "":
				s.fail("message %d has an empty text", i)
			case kind == "thinking" && (role != "assistant" || word(b, "signature") == "" || seen != "" && seen != "thinking"):
				s.fail("message %d has thoughts of %s behind %q, signed %q", i, role, seen, word(b, "signature"))
			case kind == "tool_use":
				id := word(b, "id")
				if ids[id] || role != "assistant" {
					s.fail("message %d repeats the call %q, or is not the assistant's", i, id)
				}
				if _, is := b["input"].(map[string]any); !is {
					s.fail("the input of %q is %v", id, b["input"])
				}
				ids[id] = true
				s.alien(id)
				calls = append(calls, id)
			case kind == "tool_result":
				if seen != "" && seen != "tool_result" {
					s.fail("message %d has a result behind %q", i, seen)
				}
				results = append(results, word(b, "tool_use_id"))
			case !slices.Contains([]string{"text", "thinking"}, kind):
				s.fail("a block is %q", kind)
			}
			seen = kind
		}
		if seen == "thinking" {
			s.fail("message %d ends with thoughts", i)
		}
		slices.Sort(results)
		if slices.Sort(open); !slices.Equal(open, results) {
			s.fail("message %d has the results of %q, want those of %q", i, results, open)
		}
		open = calls
	}
	if open != nil {
		s.fail("%q have no results", open)
	}
}

// checkOpenAI checks that each call has one result behind it, and that thoughts are whole and followed by an item
// of the model.
func (s *server) checkOpenAI(body map[string]any) {
	if body["store"] != false {
		s.fail("store is %v", body["store"])
	}
	open, done := map[string]bool{}, map[string]bool{}
	before := ""
	for i, m := range objects(body["input"]) {
		kind, id := word(m, "type"), word(m, "call_id")
		model := kind == "function_call" || kind == "message" && word(m, "role") == "assistant" || kind == "reasoning"
		if before == "reasoning" && !model {
			s.fail("item %d, %s, follows thoughts", i, kind)
		}
		switch kind {
		case "reasoning":
			if word(m, "encrypted_content") == "" {
				s.fail("thoughts without content")
			}
		case "function_call":
			if !json.Valid([]byte(word(m, "arguments"))) || open[id] || done[id] {
				s.fail("the call %q is there twice, or its arguments are %q", id, word(m, "arguments"))
			}
			open[id] = true
			s.alien(id)
		case "function_call_output":
			if !open[id] {
				s.fail("a result of %q, which no call has", id)
			}
			delete(open, id)
			done[id] = true
		case "message":
			want := map[string]string{"user": "input_text", "assistant": "output_text"}[word(m, "role")]
			for _, c := range objects(m["content"]) {
				if word(c, "type") != want {
					s.fail("a text of %s is %q", word(m, "role"), word(c, "type"))
				}
			}
			if len(open) > 0 && word(m, "role") == "user" {
				s.fail("item %d is the user's, while %v have no result", i, open)
			}
		default:
			s.fail("an item is %q", kind)
		}
		before = kind
	}
	if len(open) > 0 || before == "reasoning" {
		s.fail("%v have no results, or the end is thoughts: %s", open, before)
	}
}

// checkGemini checks that the results of calls are the next content behind them, with the names in the same order.
func (s *server) checkGemini(body map[string]any) {
	var open []string
	for i, m := range objects(body["contents"]) {
		role := word(m, "role")
		if role != "user" && role != "model" || i == 0 && role != "user" {
			s.fail("content %d is of %q", i, role)
		}
		var calls, results []string
		for _, p := range objects(m["parts"]) {
			if c, is := p["functionCall"].(map[string]any); is {
				calls = append(calls, word(c, "name"))
				if role != "model" {
					s.fail("a call of %q", role)
				}
				if word(p, "thoughtSignature") == "" && len(calls) == 1 {
					s.foreign++
				}
			}
			if r, is := p["functionResponse"].(map[string]any); is {
				results = append(results, word(r, "name"))
				if _, is := r["response"].(map[string]any); !is || role != "user" {
					s.fail("a result of %q is %v", role, r["response"])
				}
			}
			if p["thought"] == true {
				s.fail("thoughts are sent")
			}
		}
		if len(objects(m["parts"])) == 0 || !slices.Equal(open, results) {
			s.fail("content %d has the results of %q, want those of %q", i, results, open)
		}
		open = calls
	}
	if open != nil {
		s.fail("%q have no results", open)
	}
}

// events returns a stream of events.
func dayEvents(list ...any) string {
	var b strings.Builder
	for _, e := range list {
		raw, _ := json.Marshal(e)
		fmt.Fprintf(&b, "data: %s\n\n", raw)
	}
	return b.String()
}

// pieces returns the text in pieces of at most 100 bytes.
func (s *server) pieces() (out []string) {
	for text := s.turn.Text; text != ""; {
		k := min(len(text), 100)
		out, text = append(out, text[:k]), text[k:]
	}
	return out
}

func (s *server) anthropic() string {
	list := []any{args{"type": "message_start", "message": args{"usage": args{"input_tokens": s.input, "output_tokens": 1}}}}
	n := 0
	block := func(start args, deltas ...any) {
		list = append(list, args{"type": "content_block_start", "index": n, "content_block": start})
		for _, d := range deltas {
			list = append(list, args{"type": "content_block_delta", "index": n, "delta": d})
		}
		list = append(list, args{"type": "content_block_stop", "index": n})
		n++
	}
	block(args{"type": "thinking", "thinking": "", "signature": ""}, args{"type": "thinking_delta", "thinking": "I think."}, args{"type": "signature_delta", "signature": s.id("SIG-%s-%d")})
	if s.turn.Text != "" {
		var deltas []any
		for _, p := range s.pieces() {
			deltas = append(deltas, args{"type": "text_delta", "text": p})
		}
		block(args{"type": "text", "text": ""}, deltas...)
	}
	why := "end_turn"
	for _, c := range s.turn.Calls {
		raw, _ := json.Marshal(c.Args)
		block(args{"type": "tool_use", "id": s.id("call-%s-%d"), "name": c.Tool, "input": args{}}, args{"type": "input_json_delta", "partial_json": string(raw)})
		why = "tool_use"
	}
	return dayEvents(append(list, args{"type": "message_delta", "delta": args{"stop_reason": why}, "usage": args{"output_tokens": s.output}}, args{"type": "message_stop"})...)
}

func (s *server) openAI() string {
	thought := args{"type": "reasoning", "id": s.id("rs-%s-%d"), "summary": []any{}, "encrypted_content": s.id("SIG-%s-%d")}
	list := []any{args{"type": "response.created", "response": args{}}, args{"type": "response.output_item.added", "item": args{"type": "reasoning", "id": thought["id"]}},
		args{"type": "response.reasoning_summary_text.delta", "delta": "I think."}, args{"type": "response.output_item.done", "item": thought}}
	for _, p := range s.pieces() {
		list = append(list, args{"type": "response.output_text.delta", "delta": p})
	}
	for _, c := range s.turn.Calls {
		raw, _ := json.Marshal(c.Args)
		item := args{"type": "function_call", "id": s.id("fc-%s-%d"), "call_id": s.id("call-%s-%d"), "name": c.Tool, "arguments": string(raw)}
		list = append(list, args{"type": "response.output_item.added", "item": item}, args{"type": "response.output_item.done", "item": item})
	}
	return dayEvents(append(list, args{"type": "response.completed", "response": args{"usage": args{"input_tokens": s.input, "output_tokens": s.output}}})...)
}

func (s *server) gemini() string {
	content := func(parts ...any) args {
		return args{"candidates": []any{args{"content": args{"role": "model", "parts": parts}}}}
	}
	list := []any{content(args{"text": "I think.", "thought": true})}
	for _, p := range s.pieces() {
		list = append(list, content(args{"text": p}))
	}
	var calls []any
	for i, c := range s.turn.Calls {
		call := args{"functionCall": args{"name": c.Tool, "args": c.Args}}
		if i == 0 { // the first call of an answer is signed
			call["thoughtSignature"] = s.id("SIG-%s-%d")
		}
		calls = append(calls, call)
	}
	if calls != nil {
		list = append(list, content(calls...))
	}
	end := args{"candidates": []any{args{"content": args{"role": "model", "parts": []any{args{"text": ""}}}, "finishReason": "STOP"}}, "usageMetadata": args{"promptTokenCount": s.input, "candidatesTokenCount": s.output}}
	return dayEvents(append(list, end)...)
}
