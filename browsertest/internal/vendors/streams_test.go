package vendors

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// A stream is a response of a vendor's server. All are written here after the vendors' public
// documentation of their formats.
type stream struct {
	peer, name string
	status     int               // 0 is 200
	header     map[string]string // beside the content type
	text       string
	broken     bool // the connection breaks after the text
	small      bool // the peer gets one byte at a time, and otherwise one event at a time
}

type (
	obj  = map[string]any
	list = []any
)

func js(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// data returns events without names.
func data(events ...any) string {
	var b strings.Builder
	for _, e := range events {
		if s, ok := e.(string); ok {
			fmt.Fprintf(&b, "data: %s\n\n", s)
		} else {
			fmt.Fprintf(&b, "data: %s\n\n", js(e))
		}
	}
	return b.String()
}

// named returns events with the names that are in their member type.
func named(events ...obj) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e["type"], js(e))
	}
	return b.String()
}

// split divides a text after every n characters.
func split(s string, n int) (out []string) {
	r := []rune(s)
	for len(r) > n {
		out, r = append(out, string(r[:n])), r[n:]
	}
	return append(out, string(r))
}

const (
	odd   = "Grüße, 世界 👩‍👩‍👧 \u2028 \u0000 \"q\" \\ </script> \uFFFD"
	times = "Mon, 23 Nov 2026 10:00:30 GMT" // 30 s after the clock of the test
)

var bigText = strings.Repeat("All work and no play. 世界 ", 2000)

// The failures are those that all vendors' servers have, by the form of their body.
func failures(peer string, body func(status int, message string) string) (out []stream) {
	add := func(name string, status int, header map[string]string, text string) {
		out = append(out, stream{peer: peer, name: name, status: status, header: header, text: text})
	}
	for _, status := range []int{400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529} {
		add(fmt.Sprint("status ", status), status, nil, body(status, "that was wrong"))
	}
	add("retry after 7 s", 429, map[string]string{"retry-after": "7"}, body(429, "slow down"))
	add("retry after 1.5 s", 503, map[string]string{"retry-after": "1.5"}, body(503, "slow down"))
	add("retry after 250 ms", 429, map[string]string{"retry-after-ms": "250", "retry-after": "9"}, body(429, "slow down"))
	add("no retry of a 400 with a delay", 400, map[string]string{"retry-after": "7"}, body(400, "no"))
	add("a body that is HTML", 502, nil, "<html><body>Bad gateway</body></html>")
	add("an empty body", 500, nil, "")
	return out
}

// Anthropic's Messages API. https://platform.claude.com/docs/en/build-with-claude/streaming
func anthropicStreams() (out []stream) {
	add := func(name, text string) { out = append(out, stream{peer: "anthropic", name: name, text: text}) }
	start := func(usage obj) obj {
		return obj{"type": "message_start", "message": obj{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}}
	}
	begin := start(obj{"input_tokens": 11, "output_tokens": 1})
	stop := func(reason string) []obj {
		return []obj{{"type": "message_delta", "delta": obj{"stop_reason": reason, "stop_sequence": nil}, "usage": obj{"output_tokens": 23}}, {"type": "message_stop"}}
	}
	block := func(i int, first obj, deltas ...obj) []obj {
		events := []obj{{"type": "content_block_start", "index": i, "content_block": first}}
		for _, d := range deltas {
			events = append(events, obj{"type": "content_block_delta", "index": i, "delta": d})
		}
		return append(events, obj{"type": "content_block_stop", "index": i})
	}
	text := func(i int, pieces ...string) []obj {
		var deltas []obj
		for _, p := range pieces {
			deltas = append(deltas, obj{"type": "text_delta", "text": p})
		}
		return block(i, obj{"type": "text", "text": ""}, deltas...)
	}
	tool := func(i int, id string, pieces ...string) []obj {
		var deltas []obj
		for _, p := range pieces {
			deltas = append(deltas, obj{"type": "input_json_delta", "partial_json": p})
		}
		return block(i, obj{"type": "tool_use", "id": id, "name": "read", "input": obj{}}, deltas...)
	}
	think := func(i int, thought, signature string) []obj {
		var deltas []obj
		for _, p := range split(thought, 4) {
			deltas = append(deltas, obj{"type": "thinking_delta", "thinking": p})
		}
		if signature != "" {
			deltas = append(deltas, obj{"type": "signature_delta", "signature": signature})
		}
		return block(i, obj{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	redacted := func(i int, d string) []obj {
		return block(i, obj{"type": "redacted_thinking", "data": d})
	}
	whole := func(reason string, blocks ...[]obj) string {
		events := []obj{begin}
		for _, b := range blocks {
			events = append(events, b...)
		}
		return named(append(events, stop(reason)...)...)
	}
	hello := whole("end_turn", text(0, "Hel", "lo"))
	usage := func(first, last obj) string {
		return named(append(append([]obj{start(first)}, text(0, "x")...), obj{"type": "message_delta", "delta": obj{"stop_reason": "end_turn"}, "usage": last}, obj{"type": "message_stop"})...)
	}
	failing := func(kind string) string {
		return named(append(append([]obj{begin}, text(0, "Hel")...), obj{"type": "error", "error": obj{"type": kind, "message": "it went wrong"}})...)
	}

	add("text", hello)
	add("odd characters", whole("end_turn", text(0, split(odd, 1)...)))
	out = append(out, stream{peer: "anthropic", name: "odd characters, byte by byte", text: whole("end_turn", text(0, odd)), small: true})
	add("much text", whole("end_turn", text(0, split(bigText, 50)...)))
	add("empty pieces", whole("end_turn", text(0, "", "a", "", "", "b", "")))
	add("a text of no pieces", whole("end_turn", text(0)))
	add("no block", whole("end_turn"))
	add("a text that begins with its block", whole("end_turn", block(0, obj{"type": "text", "text": "Hel"}, obj{"type": "text_delta", "text": "lo"})))
	add("three texts", whole("end_turn", text(0, "a"), text(1, "b"), text(2, "c")))
	add("lines that end with CR LF", strings.ReplaceAll(hello, "\n", "\r\n"))
	add("lines that end with CR", strings.ReplaceAll(hello, "\n", "\r"))
	add("a byte order mark", "\uFEFF"+hello)
	add("comments and pings", ": hello\n\n"+strings.Replace(hello, "event: content_block_delta", ": wait\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nevent: content_block_delta", 2))
	add("fields that are not known", strings.ReplaceAll(hello, "event: ", "id: 7\nretry: 10\nother: x\nevent: "))
	add("no space after the colon", strings.ReplaceAll(strings.ReplaceAll(hello, "data: ", "data:"), "event: ", "event:"))
	add("data in two lines", strings.Replace(hello, `,"index":0,`, ",\ndata: \"index\":0,", 1))
	add("events without names", data(begin, text(0, "x")[0], text(0, "x")[1], text(0, "x")[2], stop("end_turn")[0], stop("end_turn")[1]))
	add("no empty line at the end", strings.TrimSuffix(hello, "\n\n"))
	add("events after the end", hello+named(obj{"type": "ping"}))

	add("one call", whole("tool_use", tool(0, "toolu_1", `{"pa`, `th": "`, `a"}`)))
	add("text and a call", whole("tool_use", text(0, "I look."), tool(1, "toolu_1", `{"path":"a"}`)))
	add("three calls", whole("tool_use", tool(0, "toolu_1", `{"n":1}`), tool(1, "toolu_2", `{"n":2}`), tool(2, "toolu_3", `{"n":3}`)))
	add("a call without arguments", whole("tool_use", tool(0, "toolu_1")))
	add("a call with an empty piece", whole("tool_use", tool(0, "toolu_1", "")))
	add("a call whose arguments come with its block", whole("tool_use", block(0, obj{"type": "tool_use", "id": "toolu_1", "name": "read", "input": obj{"path": "a"}})))
	add("arguments with odd characters", whole("tool_use", tool(0, "toolu_1", split(js(obj{"x": odd}), 3)...)))
	add("arguments of every type", whole("tool_use", tool(0, "toolu_1", `{"a":[1,-2.5,1e3,true,false,null,"",{}],"b":{"c":{"d":[[]]}}}`)))
	add("arguments of many members", whole("tool_use", tool(0, "toolu_1", split(js(obj{"x": bigText}), 500)...)))
	add("a call that the limit cuts", whole("max_tokens", tool(0, "toolu_1", `{"path":"a`)))
	one, two := tool(0, "toolu_1", `{"n":`, `1}`), tool(1, "toolu_2", `{"n":`, `2}`)
	add("pieces of two calls in turn", named(append([]obj{begin, one[0], two[0], one[1], two[1], one[2], two[2], one[3], two[3]}, stop("tool_use")...)...))

	add("thoughts", whole("end_turn", think(0, "I should greet.", "SIG1"), text(1, "Hello")))
	add("thoughts and a call", whole("tool_use", think(0, "I should look.", "SIG1"), tool(1, "toolu_1", `{}`)))
	add("two blocks of thoughts", whole("tool_use", think(0, "one", "SIG1"), think(1, "two", "SIG2"), tool(2, "toolu_1", `{"n":1}`)))
	add("thoughts between calls", whole("tool_use", think(0, "one", "SIG1"), tool(1, "toolu_1", `{"n":1}`), think(2, "two", "SIG2"), tool(3, "toolu_2", `{"n":2}`)))
	add("redacted thoughts", whole("end_turn", redacted(0, "RED1"), text(1, "Hello")))
	add("thoughts and redacted thoughts", whole("tool_use", think(0, "one", "SIG1"), redacted(1, "RED1"), redacted(2, "RED2"), tool(3, "toolu_1", `{"n":1}`)))
	add("thoughts without text", whole("end_turn", think(0, "", "SIG1"), text(1, "Hello")))
	add("thoughts without a signature", whole("end_turn", think(0, "hm", ""), text(1, "Hello")))
	add("a signature in two pieces", whole("end_turn", block(0, obj{"type": "thinking", "thinking": ""}, obj{"type": "thinking_delta", "thinking": "hm"}, obj{"type": "signature_delta", "signature": "SI"}, obj{"type": "signature_delta", "signature": "G1"})))
	add("thoughts of odd characters", whole("end_turn", think(0, odd, "SIG1+/=="), text(1, "Hello")))
	add("thoughts that begin with their block", whole("end_turn", block(0, obj{"type": "thinking", "thinking": "h", "signature": ""}, obj{"type": "thinking_delta", "thinking": "m"}, obj{"type": "signature_delta", "signature": "SIG1"}), text(1, "Hello")))
	add("a signature that comes with its block", whole("end_turn", block(0, obj{"type": "thinking", "thinking": "hm", "signature": "SIG1"}), text(1, "Hello")))

	add("usage at the start alone", usage(obj{"input_tokens": 100, "output_tokens": 5}, obj{}))
	add("usage at the end alone", usage(obj{}, obj{"input_tokens": 100, "output_tokens": 5}))
	add("more usage at the end", usage(obj{"input_tokens": 43, "output_tokens": 1}, obj{"input_tokens": 61, "output_tokens": 90}))
	add("usage from 0", usage(obj{"input_tokens": 0, "output_tokens": 0}, obj{"input_tokens": 61, "output_tokens": 90}))
	add("usage of a cache", usage(obj{"input_tokens": 3, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 100, "output_tokens": 1}, obj{"output_tokens": 9}))
	add("usage of a cache at the end", usage(obj{"input_tokens": 3, "output_tokens": 1}, obj{"output_tokens": 9, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 7}))
	add("usage of thoughts", usage(obj{"input_tokens": 3, "output_tokens": 1}, obj{"output_tokens": 900, "output_tokens_details": obj{"thinking_tokens": 700}}))
	add("usage of null", usage(obj{"input_tokens": 3, "cache_read_input_tokens": nil, "output_tokens": 1}, obj{"output_tokens": 9, "cache_creation_input_tokens": nil}))

	for _, reason := range []string{"end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded", "a_new_reason"} {
		add("the end "+reason, whole(reason, text(0, "x")))
	}
	for _, kind := range []string{"overloaded_error", "rate_limit_error", "api_error", "invalid_request_error", "authentication_error"} {
		add("in the stream: "+kind, failing(kind))
	}
	add("an error at the start of the stream", named(obj{"type": "error", "error": obj{"type": "overloaded_error", "message": "Overloaded"}}))
	add("a flat error in the stream", named(begin, obj{"type": "error", "message": "it went wrong"}))
	add("cut after a text", strings.SplitAfter(hello, "\n\n")[0]+strings.SplitAfter(hello, "\n\n")[1]+strings.SplitAfter(hello, "\n\n")[2])
	add("cut before the last event", strings.TrimSuffix(hello, named(obj{"type": "message_stop"})))
	add("cut within an event", hello[:strings.Index(hello, `"text":"lo"`)])
	add("cut after nothing", "")
	out = append(out, stream{peer: "anthropic", name: "a connection that breaks", text: hello[:len(hello)/2], broken: true})
	add("an event that is no JSON", named(begin)+"event: content_block_delta\ndata: {\"type\":\n\n"+named(stop("end_turn")...))
	add("events of an unknown type", named(begin, obj{"type": "a_new_event", "index": 0})+strings.TrimPrefix(hello, named(begin)))
	add("a block of an unknown type", whole("end_turn", block(0, obj{"type": "a_new_block", "text": "no"}), text(1, "Hello")))
	add("a piece of an unknown type", whole("end_turn", block(0, obj{"type": "text", "text": ""}, obj{"type": "a_new_delta", "text": "no"}, obj{"type": "text_delta", "text": "Hello"})))
	add("a search of the server's", whole("end_turn",
		block(0, obj{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": obj{}}, obj{"type": "input_json_delta", "partial_json": `{"query":"x"}`}),
		block(1, obj{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": list{obj{"type": "web_search_result", "url": "https://a.example/", "title": "A", "encrypted_content": "E"}}}),
		block(2, obj{"type": "text", "text": "", "citations": list{}}, obj{"type": "citations_delta", "citation": obj{"type": "web_search_result_location", "url": "https://a.example/", "title": "A", "cited_text": "x", "encrypted_index": "I"}}, obj{"type": "text_delta", "text": "It is x."})))
	add("a source that is a document", whole("end_turn",
		block(0, obj{"type": "text", "text": "", "citations": list{}}, obj{"type": "text_delta", "text": "It is x."}, obj{"type": "citations_delta", "citation": obj{"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": "Report", "start_char_index": 0, "end_char_index": 1}})))
	body := func(status int, message string) string {
		return js(obj{"type": "error", "error": obj{"type": "some_error", "message": message}, "request_id": "req_1"})
	}
	out = append(out, failures("anthropic", body)...)
	out = append(out,
		stream{peer: "anthropic", name: "a 400 that may be tried again", status: 400, header: map[string]string{"x-should-retry": "true"}, text: body(400, "busy")},
		stream{peer: "anthropic", name: "a 500 that must not be tried again", status: 500, header: map[string]string{"x-should-retry": "false"}, text: body(500, "no")},
		stream{peer: "anthropic", name: "status 409", status: 409, text: body(409, "conflict")},
		stream{peer: "anthropic", name: "too long a prompt", status: 400, text: body(400, "prompt is too long: 250000 tokens > 200000 maximum")})
	return out
}

// chunk returns an event of the Chat Completions API.
func chunk(delta obj, finish any) obj {
	return obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": list{obj{"index": 0, "delta": delta, "finish_reason": finish}}}
}

func chatText(pieces ...string) (out []any) {
	out = append(out, chunk(obj{"role": "assistant", "content": ""}, nil))
	for _, p := range pieces {
		out = append(out, chunk(obj{"content": p}, nil))
	}
	return out
}

func chatEnd(reason string) []any { return list{chunk(obj{}, reason), "[DONE]"} }

func usageChunk(usage obj) obj {
	return obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": list{}, "usage": usage}
}

func chatCall(i int, id, args string) obj {
	return chunk(obj{"tool_calls": list{obj{"index": i, "id": id, "type": "function", "function": obj{"name": "read", "arguments": args}}}}, nil)
}

func chatArgs(i int, args string) obj {
	return chunk(obj{"tool_calls": list{obj{"index": i, "function": obj{"arguments": args}}}}, nil)
}

func join(lists ...[]any) string {
	var all []any
	for _, l := range lists {
		all = append(all, l...)
	}
	return data(all...)
}

// commonChat returns the streams that every server of the Chat Completions API may send.
func commonChat(peer string) (out []stream) {
	add := func(name, text string) { out = append(out, stream{peer: peer, name: name, text: text}) }
	hello := join(chatText("Hel", "lo"), chatEnd("stop"))
	add("text", hello)
	add("odd characters", join(chatText(split(odd, 1)...), chatEnd("stop")))
	out = append(out, stream{peer: peer, name: "odd characters, byte by byte", text: join(chatText(odd), chatEnd("stop")), small: true})
	add("much text", join(chatText(split(bigText, 50)...), chatEnd("stop")))
	add("empty pieces", join(chatText("", "a", "", "b", ""), chatEnd("stop")))
	add("no text", join(chatText(), chatEnd("stop")))
	add("lines that end with CR LF", strings.ReplaceAll(hello, "\n", "\r\n"))
	add("comments", ": PROCESSING\n\n"+strings.ReplaceAll(hello, "data: {", ": wait\n\ndata: {"))
	add("one call", join(chatText(), list{chatCall(0, "call_1", ""), chatArgs(0, `{"pa`), chatArgs(0, `th":"a"}`)}, chatEnd("tool_calls")))
	add("text and a call", join(chatText("I look."), list{chatCall(0, "call_1", `{"path":"a"}`)}, chatEnd("tool_calls")))
	add("three calls", join(chatText(), list{chatCall(0, "call_1", ""), chatArgs(0, `{"n":1}`), chatCall(1, "call_2", ""), chatArgs(1, `{"n":2}`), chatCall(2, "call_3", ""), chatArgs(2, `{"n":3}`)}, chatEnd("tool_calls")))
	add("arguments with odd characters", join(chatText(), append(list{chatCall(0, "call_1", "")}, args(split(js(obj{"x": odd}), 3))...), chatEnd("tool_calls")))
	add("a call without arguments", join(chatText(), list{chatCall(0, "call_1", "")}, chatEnd("tool_calls")))
	add("arguments of every type", join(chatText(), list{chatCall(0, "call_1", `{"a":[1,-2.5,1e3,true,null,""],"b":{"c":{}}}`)}, chatEnd("tool_calls")))
	for _, reason := range []string{"stop", "length", "content_filter", "a_new_reason"} {
		add("the end "+reason, join(chatText("x"), chatEnd(reason)))
	}
	last := chunk(obj{"content": "."}, "stop")
	last["usage"] = obj{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
	add("usage in the last piece", join(chatText("x"), list{last, "[DONE]"}))
	add("no usage", hello)
	add("cut after text", join(chatText("Hel")))
	add("cut within an event", hello[:strings.LastIndex(hello, `"content":"lo"`)])
	out = append(out, stream{peer: peer, name: "a connection that breaks", text: join(chatText("Hel")), broken: true})
	add("an event that is no JSON", join(chatText("Hel"), list{`{"choices":`}, chatEnd("stop")))
	return out
}

func args(pieces []string) (out []any) {
	for _, p := range pieces {
		out = append(out, chatArgs(0, p))
	}
	return out
}

// OpenAI's Chat Completions API, and servers that have it.
// https://developers.openai.com/api/reference/resources/chat/subresources/completions/streaming-events
func chatStreams() (out []stream) {
	out = commonChat("chat")
	add := func(name, text string) { out = append(out, stream{peer: "chat", name: name, text: text}) }
	usage := func(u obj) string {
		return join(chatText("x"), list{chunk(obj{}, "stop"), usageChunk(u), "[DONE]"})
	}
	hello := join(chatText("Hel", "lo"), chatEnd("stop"))
	add("a refusal", join(list{chunk(obj{"role": "assistant", "refusal": ""}, nil), chunk(obj{"refusal": "I can't "}, nil), chunk(obj{"refusal": "do that."}, nil)}, chatEnd("stop")))
	add("cached and reasoning tokens", usage(obj{"prompt_tokens": 2000, "completion_tokens": 300, "prompt_tokens_details": obj{"cached_tokens": 1920, "audio_tokens": 0}, "completion_tokens_details": obj{"reasoning_tokens": 256}}))
	add("usage after the last piece", usage(obj{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}))
	add("usage in every piece", join(list{func() obj {
		c := chunk(obj{"role": "assistant", "content": "a"}, nil)
		c["usage"] = obj{"prompt_tokens": 5, "completion_tokens": 1}
		return c
	}(), func() obj {
		c := chunk(obj{"content": "b"}, "stop")
		c["usage"] = obj{"prompt_tokens": 5, "completion_tokens": 2}
		return c
	}(), "[DONE]"}))
	add("usage of null", join(chatText("x"), list{func() obj {
		c := chunk(obj{}, "stop")
		c["usage"] = nil
		return c
	}(), usageChunk(obj{"prompt_tokens": 5, "completion_tokens": 6, "prompt_tokens_details": nil}), "[DONE]"}))
	add("no end mark", join(chatText("Hel", "lo"), list{chunk(obj{}, "stop")}))
	add("an end mark without a reason", join(chatText("Hel"), list{"[DONE]"}))
	add("a filter's first piece without choices", data(obj{"id": "", "object": "", "model": "", "created": 0, "choices": list{}, "prompt_filter_results": list{}})+hello)
	add("the end function_call", join(chatText("x"), chatEnd("function_call")))
	add("pieces of two calls in turn", join(chatText(), list{chatCall(0, "call_1", `{"n":`), chatCall(1, "call_2", `{"n":`), chatArgs(0, "1}"), chatArgs(1, "2}")}, chatEnd("tool_calls")))
	add("two calls in one piece", join(chatText(), list{chunk(obj{"tool_calls": list{obj{"index": 0, "id": "call_1", "type": "function", "function": obj{"name": "read", "arguments": `{"n":1}`}}, obj{"index": 1, "id": "call_2", "type": "function", "function": obj{"name": "read", "arguments": `{"n":2}`}}}}, nil)}, chatEnd("tool_calls")))
	add("the id in every piece", join(chatText(), list{chatCall(0, "call_1", `{"n":`), chunk(obj{"tool_calls": list{obj{"index": 0, "id": "call_1", "function": obj{"arguments": "1}"}}}}, nil)}, chatEnd("tool_calls")))
	add("calls without an index", join(chatText(), list{chunk(obj{"tool_calls": list{obj{"id": "call_1", "type": "function", "function": obj{"name": "read", "arguments": `{"n":1}`}}}}, nil), chunk(obj{"tool_calls": list{obj{"id": "call_2", "type": "function", "function": obj{"name": "read", "arguments": `{"n":2}`}}}}, nil)}, chatEnd("tool_calls")))
	add("another id at the same index", join(chatText(), list{chatCall(0, "call_1", `{"n":1}`), chatCall(0, "call_2", `{"n":2}`)}, chatEnd("tool_calls")))
	add("calls without an id", join(chatText(), list{chatCall(0, "", `{"n":1}`), chatCall(1, "", `{"n":2}`)}, chatEnd("tool_calls")))
	add("arguments that are an object", join(chatText(), list{chunk(obj{"tool_calls": list{obj{"index": 0, "id": "call_1", "type": "function", "function": obj{"name": "read", "arguments": obj{"n": 1}}}}}, nil)}, chatEnd("tool_calls")))
	add("a call that the limit cuts", join(chatText(), list{chatCall(0, "call_1", `{"path":"a`)}, chatEnd("length")))
	add("a call, and the end stop", join(chatText(), list{chatCall(0, "call_1", `{"n":1}`)}, chatEnd("stop")))
	add("reasoning", join(list{chunk(obj{"role": "assistant", "reasoning": "h"}, nil), chunk(obj{"reasoning": "m"}, nil)}, chatText("Hello"), chatEnd("stop")))
	add("reasoning_content", join(list{chunk(obj{"role": "assistant", "reasoning_content": "h"}, nil), chunk(obj{"reasoning_content": "m", "content": nil}, nil)}, chatText("Hello"), chatEnd("stop")))
	add("both names of reasoning", join(list{chunk(obj{"role": "assistant", "reasoning": "hm", "reasoning_content": "hm"}, nil)}, chatText("Hello"), chatEnd("stop")))
	two := chunk(obj{"role": "assistant", "content": "first"}, nil)
	two["choices"] = append(two["choices"].(list), obj{"index": 1, "delta": obj{"role": "assistant", "content": "second"}, "finish_reason": nil})
	ends := chunk(obj{}, "stop")
	ends["choices"] = append(ends["choices"].(list), obj{"index": 1, "delta": obj{}, "finish_reason": "length"})
	add("two choices", data(two, ends, "[DONE]"))
	add("a source", join(chatText("It is x."), list{chunk(obj{"annotations": list{obj{"type": "url_citation", "url_citation": obj{"url": "https://a.example/", "title": "A", "start_index": 0, "end_index": 4}}}}, nil)}, chatEnd("stop")))
	add("an error in the stream", join(chatText("Hel"), list{obj{"error": obj{"message": "it went wrong", "type": "server_error", "code": nil}}}))
	add("an error at the start of the stream", data(obj{"error": obj{"message": "it went wrong", "type": "server_error"}}, "[DONE]"))
	add("a flat error in the stream", join(chatText("Hel"), list{obj{"error": "it went wrong"}}))
	add("an error of null", data(func() obj {
		c := chunk(obj{"role": "assistant", "content": "Hello"}, "stop")
		c["error"] = nil
		return c
	}(), "[DONE]"))
	add("a piece without a delta", join(chatText("Hello"), list{obj{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": list{obj{"index": 0, "finish_reason": "stop"}}}, "[DONE]"}))
	body := func(status int, message string) string {
		return js(obj{"error": obj{"message": message, "type": "some_error", "param": nil, "code": nil}})
	}
	out = append(out, failures("chat", body)...)
	out = append(out,
		stream{peer: "chat", name: "a 400 that may be tried again", status: 400, header: map[string]string{"x-should-retry": "true"}, text: body(400, "busy")},
		stream{peer: "chat", name: "a 429 that must not be tried again", status: 429, header: map[string]string{"x-should-retry": "false"}, text: body(429, "insufficient_quota")},
		stream{peer: "chat", name: "status 409", status: 409, text: body(409, "conflict")},
		stream{peer: "chat", name: "an error that is a text", status: 400, text: js(obj{"error": "no such model"})})
	return out
}

// OpenAI's Responses API.
// https://developers.openai.com/api/reference/resources/responses/streaming-events
type response struct {
	events []obj
	output []any
}

func newResponse() *response {
	r := &response{}
	r.add(obj{"type": "response.created", "response": r.state("in_progress", nil)})
	r.add(obj{"type": "response.in_progress", "response": r.state("in_progress", nil)})
	return r
}

func (r *response) add(e obj) {
	e["sequence_number"] = len(r.events)
	r.events = append(r.events, e)
}

func (r *response) state(status string, more obj) obj {
	s := obj{"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m", "error": nil, "incomplete_details": nil, "output": append(list{}, r.output...), "usage": nil}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// item adds an item: how it begins, the events between, and how it ends.
func (r *response) item(first obj, between []obj, last obj) *response {
	i := len(r.output)
	r.add(obj{"type": "response.output_item.added", "output_index": i, "item": first})
	for _, e := range between {
		e["output_index"], e["item_id"] = i, first["id"]
		r.add(e)
	}
	r.output = append(r.output, last)
	r.add(obj{"type": "response.output_item.done", "output_index": i, "item": last})
	return r
}

func (r *response) message(kind string, notes list, pieces ...string) *response {
	id, key := fmt.Sprint("msg_", len(r.output)), "text"
	if kind == "refusal" {
		key = "refusal"
	}
	part := func(text string, notes list) obj {
		p := obj{"type": kind, key: text}
		if kind == "output_text" {
			p["annotations"] = notes
		}
		return p
	}
	between := []obj{{"type": "response.content_part.added", "content_index": 0, "part": part("", list{})}}
	for _, p := range pieces {
		between = append(between, obj{"type": "response." + kind + ".delta", "content_index": 0, "delta": p})
	}
	for i, n := range notes {
		between = append(between, obj{"type": "response.output_text.annotation.added", "content_index": 0, "annotation_index": i, "annotation": n})
	}
	all := strings.Join(pieces, "")
	between = append(between, obj{"type": "response." + kind + ".done", "content_index": 0, key: all}, obj{"type": "response.content_part.done", "content_index": 0, "part": part(all, notes)})
	whole := func(status string, content ...any) obj {
		return obj{"type": "message", "id": id, "role": "assistant", "status": status, "content": append(list{}, content...)}
	}
	return r.item(whole("in_progress"), between, whole("completed", part(all, notes)))
}

func (r *response) text(pieces ...string) *response {
	return r.message("output_text", list{}, pieces...)
}

func (r *response) call(id string, pieces ...string) *response {
	call := func(status, args string) obj {
		return obj{"type": "function_call", "id": "fc_" + id, "call_id": id, "name": "read", "status": status, "arguments": args}
	}
	var between []obj
	for _, p := range pieces {
		between = append(between, obj{"type": "response.function_call_arguments.delta", "delta": p})
	}
	all := strings.Join(pieces, "")
	between = append(between, obj{"type": "response.function_call_arguments.done", "arguments": all})
	return r.item(call("in_progress", ""), between, call("completed", all))
}

func (r *response) think(id, encrypted string, summaries ...string) *response {
	item := func(list list, encrypted string) obj {
		return obj{"type": "reasoning", "id": id, "summary": list, "encrypted_content": encrypted}
	}
	var between []obj
	all := list{}
	for i, s := range summaries {
		between = append(between, obj{"type": "response.reasoning_summary_part.added", "summary_index": i, "part": obj{"type": "summary_text", "text": ""}})
		for _, p := range split(s, 5) {
			between = append(between, obj{"type": "response.reasoning_summary_text.delta", "summary_index": i, "delta": p})
		}
		between = append(between, obj{"type": "response.reasoning_summary_text.done", "summary_index": i, "text": s}, obj{"type": "response.reasoning_summary_part.done", "summary_index": i, "part": obj{"type": "summary_text", "text": s}})
		all = append(all, obj{"type": "summary_text", "text": s})
	}
	return r.item(item(list{}, ""), between, item(all, encrypted))
}

func (r *response) done(usage obj) string {
	r.add(obj{"type": "response.completed", "response": r.state("completed", obj{"usage": usage})})
	return named(r.events...)
}

func (r *response) incomplete(reason string) string {
	r.add(obj{"type": "response.incomplete", "response": r.state("incomplete", obj{"incomplete_details": obj{"reason": reason}, "usage": someUsage})})
	return named(r.events...)
}

var someUsage = obj{"input_tokens": 11, "output_tokens": 7, "total_tokens": 18, "input_tokens_details": obj{"cached_tokens": 0}, "output_tokens_details": obj{"reasoning_tokens": 0}}

func responsesStreams() (out []stream) {
	add := func(name, text string) { out = append(out, stream{peer: "responses", name: name, text: text}) }
	hello := newResponse().text("Hel", "lo").done(someUsage)
	add("text", hello)
	add("odd characters", newResponse().text(split(odd, 1)...).done(someUsage))
	out = append(out, stream{peer: "responses", name: "odd characters, byte by byte", text: newResponse().text(odd).done(someUsage), small: true})
	add("much text", newResponse().text(split(bigText, 500)...).done(someUsage))
	add("empty pieces", newResponse().text("", "a", "", "b", "").done(someUsage))
	add("no output", newResponse().done(someUsage))
	add("two messages", newResponse().text("one ").text("two").done(someUsage))
	add("lines that end with CR LF", strings.ReplaceAll(hello, "\n", "\r\n"))
	add("comments", ": hello\n\n"+strings.ReplaceAll(hello, "event: ", ": wait\n\nevent: "))
	add("events without names", strings.ReplaceAll(data(strings.Split(strings.ReplaceAll(strings.TrimSpace(hello), "\n\n", "\x1e"), "\x1e")[0]), "data: event", "event")+strings.Join(strings.SplitAfter(hello, "\n\n")[1:], ""))
	add("an end mark", hello+data("[DONE]"))
	add("a refusal", newResponse().message("refusal", nil, "I can't ", "do that.").done(someUsage))
	add("one call", newResponse().call("call_1", `{"pa`, `th":"a"}`).done(someUsage))
	add("text and a call", newResponse().text("I look.").call("call_1", `{"path":"a"}`).done(someUsage))
	add("three calls", newResponse().call("call_1", `{"n":1}`).call("call_2", `{"n":2}`).call("call_3", `{"n":3}`).done(someUsage))
	add("a call without arguments", newResponse().call("call_1").done(someUsage))
	add("an empty object", newResponse().call("call_1", "{}").done(someUsage))
	add("arguments with odd characters", newResponse().call("call_1", split(js(obj{"x": odd}), 3)...).done(someUsage))
	add("arguments of every type", newResponse().call("call_1", `{"a":[1,-2.5,1e3,true,null,""],"b":{"c":{}}}`).done(someUsage))
	add("a call that the limit cuts", newResponse().call("call_1", `{"path":"a`).incomplete("max_output_tokens"))
	add("thoughts", newResponse().think("rs_1", "ENC1", "I should greet.").text("Hello").done(someUsage))
	add("thoughts in two parts", newResponse().think("rs_1", "ENC1", "first. ", "second.").text("Hello").done(someUsage))
	add("thoughts without a summary", newResponse().think("rs_1", "ENC1").text("Hello").done(someUsage))
	add("two items of thoughts", newResponse().think("rs_1", "ENC1", "one").think("rs_2", "ENC2", "two").call("call_1", `{"n":1}`).done(someUsage))
	add("thoughts between calls", newResponse().think("rs_1", "ENC1", "one").call("call_1", `{"n":1}`).think("rs_2", "ENC2", "two").call("call_2", `{"n":2}`).done(someUsage))
	add("thoughts that are not encrypted", newResponse().think("rs_1", "", "one").text("Hello").done(someUsage))
	raw := newResponse()
	raw.item(obj{"type": "reasoning", "id": "rs_1", "summary": list{}, "content": list{}}, []obj{
		{"type": "response.content_part.added", "content_index": 0, "part": obj{"type": "reasoning_text", "text": ""}},
		{"type": "response.reasoning_text.delta", "content_index": 0, "delta": "h"}, {"type": "response.reasoning_text.delta", "content_index": 0, "delta": "m"}},
		obj{"type": "reasoning", "id": "rs_1", "summary": list{}, "content": list{obj{"type": "reasoning_text", "text": "hm"}}})
	add("thoughts of an open model", raw.text("Hello").done(someUsage))
	add("cached and reasoning tokens", newResponse().text("x").done(obj{"input_tokens": 2000, "output_tokens": 300, "total_tokens": 2300, "input_tokens_details": obj{"cached_tokens": 1920}, "output_tokens_details": obj{"reasoning_tokens": 256}}))
	add("no usage", newResponse().text("x").done(nil))
	add("usage without details", newResponse().text("x").done(obj{"input_tokens": 5, "output_tokens": 6}))
	for _, reason := range []string{"max_output_tokens", "content_filter", "a_new_reason"} {
		add("the end "+reason, newResponse().text("x").incomplete(reason))
	}
	add("a source", newResponse().message("output_text", list{obj{"type": "url_citation", "url": "https://a.example/", "title": "A", "start_index": 0, "end_index": 4}}, "It is x.").done(someUsage))
	add("a source that is a file", newResponse().message("output_text", list{obj{"type": "file_citation", "file_id": "file_1", "filename": "r.txt", "index": 3}}, "It is x.").done(someUsage))
	add("a search of the server's", newResponse().item(obj{"type": "web_search_call", "id": "ws_1", "status": "in_progress"}, []obj{{"type": "response.web_search_call.searching"}, {"type": "response.web_search_call.completed"}}, obj{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": obj{"type": "search", "query": "x"}}).text("Hello").done(someUsage))
	picture := base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"))
	add("a picture", newResponse().item(obj{"type": "image_generation_call", "id": "ig_1", "status": "in_progress", "result": nil}, []obj{{"type": "response.image_generation_call.partial_image", "partial_image_index": 0, "partial_image_b64": "AAAA"}}, obj{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": picture}).text("Here.").done(someUsage))
	add("an item of an unknown type", newResponse().item(obj{"type": "a_new_call", "id": "x_1", "arguments": obj{"a": 1}}, []obj{{"type": "response.a_new_call.delta", "delta": obj{"b": 2}}}, obj{"type": "a_new_call", "id": "x_1", "arguments": obj{"a": 1}}).text("Hello").done(someUsage))
	failed := newResponse().text("Hel")
	failed.add(obj{"type": "response.failed", "response": failed.state("failed", obj{"error": obj{"code": "server_error", "message": "it went wrong"}})})
	add("an answer that failed", named(failed.events...))
	limited := newResponse()
	limited.add(obj{"type": "response.failed", "response": limited.state("failed", obj{"error": obj{"code": "rate_limit_exceeded", "message": "too fast"}})})
	add("an answer that the limit of requests ended", named(limited.events...))
	event := func(name string, e obj) {
		r := newResponse().text("Hel")
		e["type"] = "error"
		r.add(e)
		add(name, named(r.events...))
	}
	event("a flat error in the stream", obj{"code": "server_error", "message": "it went wrong", "param": nil})
	event("a nested error in the stream", obj{"error": obj{"type": "tokens", "code": "rate_limit_exceeded", "message": "it went wrong", "param": nil}})
	add("cut after text", strings.Join(strings.SplitAfter(hello, "\n\n")[:6], ""))
	add("cut before the last event", strings.Join(strings.SplitAfter(hello, "\n\n")[:len(strings.SplitAfter(hello, "\n\n"))-2], ""))
	add("cut within an event", hello[:strings.Index(hello, `"delta":"lo"`)])
	out = append(out, stream{peer: "responses", name: "a connection that breaks", text: strings.Join(strings.SplitAfter(hello, "\n\n")[:6], ""), broken: true})
	add("an event that is no JSON", strings.Join(strings.SplitAfter(hello, "\n\n")[:6], "")+"event: response.output_text.delta\ndata: {\"type\":\n\n"+strings.Join(strings.SplitAfter(hello, "\n\n")[6:], ""))
	body := func(status int, message string) string {
		return js(obj{"error": obj{"message": message, "type": "some_error", "param": nil, "code": nil}})
	}
	return append(out, failures("responses", body)...)
}

// Google's Gemini API. https://ai.google.dev/api/generate-content
func geminiStreams() (out []stream) {
	add := func(name, text string) { out = append(out, stream{peer: "gemini", name: name, text: text}) }
	usage := obj{"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18}
	parts := func(parts ...any) obj {
		return obj{"candidates": list{obj{"content": obj{"role": "model", "parts": parts}, "index": 0}}, "usageMetadata": obj{"promptTokenCount": 11, "totalTokenCount": 11}, "modelVersion": "m", "responseId": "r1"}
	}
	last := func(reason string, p ...any) obj {
		return obj{"candidates": list{obj{"content": obj{"role": "model", "parts": append(list{}, p...)}, "finishReason": reason, "index": 0}}, "usageMetadata": usage, "modelVersion": "m", "responseId": "r1"}
	}
	text := func(s string) obj { return obj{"text": s} }
	call := func(args any, signature string) obj {
		p := obj{"functionCall": obj{"name": "read", "args": args}}
		if signature != "" {
			p["thoughtSignature"] = signature
		}
		return p
	}
	hello := data(parts(text("Hel")), last("STOP", text("lo")))
	add("text", hello)
	add("odd characters", data(parts(text(odd)), last("STOP", text(odd))))
	out = append(out, stream{peer: "gemini", name: "odd characters, byte by byte", text: data(parts(text(odd)), last("STOP")), small: true})
	add("much text", data(parts(text(bigText)), last("STOP", text("."))))
	add("empty pieces", data(parts(text("")), parts(text("a")), parts(), last("STOP", text(""))))
	add("several texts in one piece", data(last("STOP", text("a"), text("b"), text("c"))))
	add("lines that end with CR LF", strings.ReplaceAll(hello, "\n", "\r\n"))
	add("no content at the end", data(parts(text("Hello")), obj{"candidates": list{obj{"finishReason": "STOP", "index": 0}}, "usageMetadata": usage}))
	add("one call", data(last("STOP", call(obj{"path": "a"}, ""))))
	add("text and a call", data(parts(text("I look.")), last("STOP", call(obj{"path": "a"}, ""))))
	add("three calls", data(parts(call(obj{"n": 1}, ""), call(obj{"n": 2}, "")), last("STOP", call(obj{"n": 3}, ""))))
	add("a call with an id", data(last("STOP", obj{"functionCall": obj{"id": "fc_1", "name": "read", "args": obj{"n": 1}}})))
	add("a call without arguments", data(last("STOP", obj{"functionCall": obj{"name": "read"}})))
	add("arguments of null", data(last("STOP", call(nil, ""))))
	add("arguments with odd characters", data(last("STOP", call(obj{"x": odd}, ""))))
	add("arguments of every type", data(last("STOP", call(obj{"a": list{1, -2.5, true, nil, ""}, "b": obj{"c": obj{}}}, ""))))
	add("a signature of a call", data(last("STOP", call(obj{"n": 1}, "SIG1"))))
	add("a signature of the first call", data(last("STOP", call(obj{"n": 1}, "SIG1"), call(obj{"n": 2}, ""))))
	add("signatures of both calls", data(parts(call(obj{"n": 1}, "SIG1")), last("STOP", call(obj{"n": 2}, "SIG2"))))
	add("a signature of a text", data(parts(text("Hel")), last("STOP", obj{"text": "lo", "thoughtSignature": "SIG1"})))
	add("a signature of an empty text", data(parts(text("Hello")), last("STOP", obj{"text": "", "thoughtSignature": "SIG1"})))
	add("signatures of texts and calls", data(parts(obj{"text": "a", "thoughtSignature": "SIG1"}), last("STOP", call(obj{"n": 1}, "SIG2"))))
	add("thoughts", data(parts(obj{"text": "I should ", "thought": true}), parts(obj{"text": "greet.", "thought": true}), last("STOP", text("Hello"))))
	add("thoughts and a signed call", data(parts(obj{"text": "hm", "thought": true}), last("STOP", call(obj{"n": 1}, "SIG1"))))
	add("cached and reasoning tokens", data(obj{"candidates": list{obj{"content": obj{"role": "model", "parts": list{text("x")}}, "finishReason": "STOP", "index": 0}}, "usageMetadata": obj{"promptTokenCount": 2000, "candidatesTokenCount": 44, "thoughtsTokenCount": 256, "cachedContentTokenCount": 1900, "totalTokenCount": 2300}}))
	add("tokens of a tool of the server's", data(obj{"candidates": list{obj{"content": obj{"role": "model", "parts": list{text("x")}}, "finishReason": "STOP", "index": 0}}, "usageMetadata": obj{"promptTokenCount": 20, "toolUsePromptTokenCount": 300, "candidatesTokenCount": 4, "totalTokenCount": 324}}))
	add("no usage", data(obj{"candidates": list{obj{"content": obj{"role": "model", "parts": list{text("x")}}, "finishReason": "STOP"}}}))
	for _, reason := range []string{"STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "NO_IMAGE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "FINISH_REASON_UNSPECIFIED", "A_NEW_REASON"} {
		add("the end "+reason, data(last(reason, text("x"))))
	}
	add("a prompt that is blocked", data(obj{"promptFeedback": obj{"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": obj{"promptTokenCount": 11}}))
	two := last("STOP", text("first"))
	two["candidates"] = append(two["candidates"].(list), obj{"content": obj{"role": "model", "parts": list{text("second")}}, "finishReason": "MAX_TOKENS", "index": 1})
	add("two candidates", data(two))
	picture := base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"))
	add("a picture", data(parts(text("Here:")), last("STOP", obj{"inlineData": obj{"mimeType": "image/gif", "data": picture}})))
	add("a source", data(parts(text("It is x.")), obj{"candidates": list{obj{"finishReason": "STOP", "index": 0, "groundingMetadata": obj{"webSearchQueries": list{"x"}, "groundingChunks": list{obj{"web": obj{"uri": "https://a.example/", "title": "A"}}, obj{"web": obj{"uri": "https://b.example/", "title": "B"}}}}}}, "usageMetadata": usage}))
	add("code that the server runs", data(parts(obj{"executableCode": obj{"language": "PYTHON", "code": "1+1"}}, obj{"codeExecutionResult": obj{"outcome": "OUTCOME_OK", "output": "2"}}), last("STOP", text("Two."))))
	add("an error in the stream", data(parts(text("Hel")), obj{"error": obj{"code": 503, "message": "it went wrong", "status": "UNAVAILABLE"}}))
	add("a limit in the stream", data(parts(text("Hel")), obj{"error": obj{"code": 429, "message": "too fast", "status": "RESOURCE_EXHAUSTED"}}))
	add("a refusal in the stream", data(obj{"error": obj{"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}))
	add("cut after text", data(parts(text("Hel"))))
	add("cut within an event", hello[:strings.Index(hello, `"text":"lo"`)])
	out = append(out, stream{peer: "gemini", name: "a connection that breaks", text: data(parts(text("Hel"))), broken: true})
	add("an event that is no JSON", data(parts(text("Hel")), `{"candidates":`, last("STOP", text("lo"))))
	body := func(status int, message string) string {
		return js(obj{"error": obj{"code": status, "message": message, "status": "SOME"}})
	}
	out = append(out, failures("gemini", body)...)
	return append(out,
		stream{peer: "gemini", name: "a delay in the body", status: 429, text: js(obj{"error": obj{"code": 429, "message": "too fast", "status": "RESOURCE_EXHAUSTED", "details": list{obj{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}}}})},
		stream{peer: "gemini", name: "an error in a list", status: 400, text: js(list{obj{"error": obj{"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}})})
}

// OpenRouter's API. https://openrouter.ai/docs/use-cases/reasoning-tokens,
// https://openrouter.ai/docs/features/multimodal/image-generation
func openRouterStreams() (out []stream) {
	out = commonChat("openrouter")
	add := func(name, text string) { out = append(out, stream{peer: "openrouter", name: name, text: text}) }
	detail := func(text string, d ...any) obj {
		return chunk(obj{"role": "assistant", "content": "", "reasoning": text, "reasoning_details": append(list{}, d...)}, nil)
	}
	thought := func(text string) obj {
		return obj{"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0}
	}
	add("reasoning", join(list{detail("h", thought("h")), detail("m", thought("m"))}, chatText("Hello"), chatEnd("stop")))
	add("signed reasoning", join(list{detail("hm", thought("hm")), detail("", obj{"type": "reasoning.text", "signature": "SIG1", "format": "anthropic-claude-v1", "index": 0})}, chatText("Hello"), chatEnd("stop")))
	add("signed reasoning and a call", join(list{detail("hm", thought("hm")), detail("", obj{"type": "reasoning.text", "signature": "SIG1", "format": "anthropic-claude-v1", "index": 0}), chatCall(0, "call_1", `{"n":1}`)}, chatEnd("tool_calls")))
	add("encrypted reasoning", join(list{chunk(obj{"role": "assistant", "content": "", "reasoning_details": list{obj{"type": "reasoning.encrypted", "data": "ENC1", "id": "rs_1", "format": "openai-responses-v1", "index": 0}}}, nil)}, chatText("Hello"), chatEnd("stop")))
	add("a summary and encrypted reasoning", join(list{detail("short", obj{"type": "reasoning.summary", "summary": "short", "format": "openai-responses-v1", "index": 0}), detail("", obj{"type": "reasoning.encrypted", "data": "ENC1", "id": "rs_1", "format": "openai-responses-v1", "index": 0})}, chatText("Hello"), chatEnd("stop")))
	add("reasoning in details alone", join(list{chunk(obj{"role": "assistant", "content": "", "reasoning_details": list{thought("hm")}}, nil)}, chatText("Hello"), chatEnd("stop")))
	add("a summary in details alone", join(list{chunk(obj{"role": "assistant", "content": "", "reasoning_details": list{obj{"type": "reasoning.summary", "summary": "short", "index": 0}}}, nil)}, chatText("Hello"), chatEnd("stop")))
	add("a signature after a call", join(list{detail("hm", thought("hm")), chatCall(0, "call_1", `{"n":1}`), detail("", obj{"type": "reasoning.encrypted", "data": "ENC1", "id": "call_1", "format": "google-gemini-v1", "index": 0})}, chatEnd("tool_calls")))
	picture := base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"))
	add("a picture", join(chatText("Here."), list{chunk(obj{"images": list{obj{"type": "image_url", "index": 0, "image_url": obj{"url": "data:image/gif;base64," + picture}}}}, nil)}, chatEnd("stop")))
	add("two pictures", join(list{chunk(obj{"role": "assistant", "content": "", "images": list{obj{"type": "image_url", "image_url": obj{"url": "data:image/gif;base64," + picture}}, obj{"type": "image_url", "image_url": obj{"url": "data:image/gif;base64," + picture}}}}, nil)}, chatEnd("stop")))
	add("a source", join(chatText("It is x."), list{chunk(obj{"annotations": list{obj{"type": "url_citation", "url_citation": obj{"url": "https://a.example/", "title": "A", "start_index": 0, "end_index": 4, "content": "x"}}}}, nil)}, chatEnd("stop")))
	add("the cost", join(chatText("x"), list{chunk(obj{}, "stop"), usageChunk(obj{"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120, "cost": 0.0021, "prompt_tokens_details": obj{"cached_tokens": 64}, "completion_tokens_details": obj{"reasoning_tokens": 12}}), "[DONE]"}))
	add("a reason of the server behind it", join(chatText("x"), list{func() obj {
		c := chunk(obj{}, "stop")
		c["choices"].(list)[0].(obj)["native_finish_reason"] = "end_turn"
		return c
	}(), "[DONE]"}))
	for _, code := range []any{400, 401, 402, 429, 502, "server_error"} {
		c := chunk(obj{"content": ""}, "error")
		c["error"] = obj{"code": code, "message": "it went wrong"}
		add(fmt.Sprint("in the stream: ", code), join(chatText("Hel"), list{c}))
	}
	body := func(status int, message string) string {
		return js(obj{"error": obj{"code": status, "message": message, "metadata": obj{}}})
	}
	return append(out, failures("openrouter", body)...)
}

// Mistral's API. https://docs.mistral.ai/api/endpoint/chat, https://docs.mistral.ai/capabilities/reasoning
func mistralStreams() (out []stream) {
	out = commonChat("mistral")
	add := func(name, text string) { out = append(out, stream{peer: "mistral", name: name, text: text}) }
	think := func(text string) obj {
		return chunk(obj{"content": list{obj{"type": "thinking", "thinking": list{obj{"type": "text", "text": text}}}}}, nil)
	}
	add("thoughts", join(list{chunk(obj{"role": "assistant", "content": ""}, nil), think("I should "), think("greet.")}, chatText("Hello"), chatEnd("stop")))
	add("text in a list", join(list{think("hm"), chunk(obj{"content": list{obj{"type": "text", "text": "Hel"}}}, nil), chunk(obj{"content": list{obj{"type": "text", "text": "lo"}}}, nil)}, chatEnd("stop")))
	add("thoughts and text in one list", join(list{chunk(obj{"content": list{obj{"type": "thinking", "thinking": list{obj{"type": "text", "text": "hm"}}}, obj{"type": "text", "text": "Hello"}}}, nil)}, chatEnd("stop")))
	add("a reference", join(list{chunk(obj{"content": list{obj{"type": "text", "text": "It is x"}, obj{"type": "reference", "reference_ids": list{1}}}}, nil)}, chatEnd("stop")))
	add("the end model_length", join(chatText("x"), chatEnd("model_length")))
	add("the end error", join(chatText("x"), chatEnd("error")))
	add("calls at once", join(list{chunk(obj{"content": "", "tool_calls": list{obj{"id": "D681PevKs", "function": obj{"name": "read", "arguments": `{"n":1}`}, "index": 0}, obj{"id": "E681PevKs", "function": obj{"name": "read", "arguments": `{"n":2}`}, "index": 1}}}, "tool_calls")}, list{"[DONE]"}))
	for name, u := range map[string]obj{"num_cached_tokens": {"num_cached_tokens": 64}, "prompt_tokens_details": {"prompt_tokens_details": obj{"cached_tokens": 64}}, "prompt_token_details": {"prompt_token_details": obj{"cached_tokens": 64}}} {
		u["prompt_tokens"], u["completion_tokens"], u["total_tokens"] = 100, 20, 120
		c := chunk(obj{"content": "x"}, "stop")
		c["usage"] = u
		add("tokens of a cache: "+name, data(c, "[DONE]"))
	}
	out = append(out, stream{peer: "mistral", name: "status 401, flat", status: 401, text: js(obj{"message": "Unauthorized", "request_id": "1"})},
		stream{peer: "mistral", name: "status 422, flat", status: 422, text: js(obj{"object": "error", "message": "no such model", "type": "invalid_request_error", "param": nil, "code": nil})},
		stream{peer: "mistral", name: "status 429, flat", status: 429, text: js(obj{"object": "error", "message": "too fast", "type": "rate_limited", "param": nil, "code": "1300"})})
	return out
}

// DeepSeek's API. https://api-docs.deepseek.com/api/create-chat-completion
func deepSeekStreams() (out []stream) {
	out = commonChat("deepseek")
	add := func(name, text string) { out = append(out, stream{peer: "deepseek", name: name, text: text}) }
	think := func(text string) obj {
		return chunk(obj{"role": "assistant", "content": nil, "reasoning_content": text}, nil)
	}
	say := func(text string) obj { return chunk(obj{"content": text, "reasoning_content": nil}, nil) }
	add("thoughts", join(list{think("I should "), think("greet."), say("Hello")}, chatEnd("stop")))
	add("thoughts and a call", join(list{think("hm"), chatCall(0, "call_1", `{"n":1}`)}, chatEnd("tool_calls")))
	add("thoughts, text and two calls", join(list{think("hm"), say("I look."), chatCall(0, "call_1", ""), chatArgs(0, `{"n":1}`), chatCall(1, "call_2", ""), chatArgs(1, `{"n":2}`)}, chatEnd("tool_calls")))
	add("thoughts of odd characters", join(list{think(odd), say("x")}, chatEnd("stop")))
	add("the end insufficient_system_resource", join(chatText("x"), chatEnd("insufficient_system_resource")))
	c := chunk(obj{"content": "x"}, "stop")
	c["usage"] = obj{"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36, "completion_tokens_details": obj{"reasoning_tokens": 30}}
	add("tokens of a cache and of thoughts", data(c, "[DONE]"))
	body := func(status int, message string) string {
		return js(obj{"error": obj{"message": message, "type": "some_error", "param": nil, "code": "x"}})
	}
	for _, status := range []int{400, 401, 402, 422, 429, 500, 503} {
		out = append(out, stream{peer: "deepseek", name: fmt.Sprint("status ", status), status: status, text: body(status, "that was wrong")})
	}
	return out
}
