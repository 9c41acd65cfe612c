package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strconv"
	"strings"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

type anthropic struct{ o Options }

// Anthropic returns a model that uses Anthropic's Messages API.
func Anthropic(o Options) sandbox.Model {
	return &anthropic{o.withDefaults("https://api.anthropic.com/v1")}
}

func (m *anthropic) Name() string { return "anthropic/" + m.o.Model }
func (m *anthropic) Local() bool  { return m.o.local() }

// ContextTokens returns the number of tokens of a request, see [sandbox.RunOptions].
func (m *anthropic) ContextTokens() int { return cmp.Or(m.o.Context, 200_000) }

func (m *anthropic) host() string { return m.o.Host() }

func (m *anthropic) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		r, n := m.o.withFiles(r, isImageOrPDF, false), newNames(r)
		s := &anthropicStream{sink: sink{yield: yield}, names: n, open: map[int]*block{}}
		if err := m.o.thinking(true); err != nil {
			s.end(err)
			return
		}
		s.end(m.o.post(ctx, "/messages", m.header(), m.body(r, n), eventstream.MaxEvent, s.event))
	}
}

func (m *anthropic) header() map[string]string {
	return map[string]string{"x-api-key": m.o.Key, "anthropic-version": "2023-06-01", "anthropic-dangerous-direct-browser-access": "true"}
}

// anthropicTokens and anthropicThoughts are the default maximum length of an answer, without and
// with thoughts, which count too.
const anthropicTokens, anthropicThoughts = 8192, 16384

func (m *anthropic) body(r sandbox.ModelRequest, n names) map[string]any {
	tokens := m.o.ThinkingTokens
	thinks := m.o.Effort != "" && m.o.Effort != "none"
	byTokens := tokens > 0 || thinks && beforeEffort(m.o.Model)
	if byTokens {
		tokens = thoughtsWithin(cmp.Or(tokens, tokensFor(m.o.Effort)), m.o.maxTokens(r))
	}
	most := anthropicTokens
	if thinks || tokens > 0 {
		most = anthropicThoughts + tokens
	}
	body := map[string]any{"model": m.o.Model, "max_tokens": cmp.Or(m.o.maxTokens(r), most), "stream": true, "messages": anthropicMessages(r, n)}
	switch {
	case tokens > 0:
		body["thinking"] = map[string]any{"type": "enabled", "budget_tokens": tokens}
	case byTokens: // a short answer has no thoughts, and without this member there are none
	case m.o.Effort == "none":
		body["thinking"] = map[string]any{"type": "disabled"}
	case m.o.Effort != "":
		body["thinking"] = map[string]any{"type": "adaptive", "display": "summarized"}
		body["output_config"] = map[string]any{"effort": m.o.Effort}
	}
	if r.System != "" { // the system prompt and the tools before it are the same in each request
		body["system"] = []any{map[string]any{"type": "text", "text": r.System, "cache_control": ephemeral}}
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"name": n.wire(t.Name), "description": t.Description, "input_schema": t.Parameters})
	}
	if tools != nil {
		body["tools"] = tools
	}
	switch mode, tool := m.o.toolChoice(r); mode {
	case "auto", "none":
		body["tool_choice"] = map[string]any{"type": mode}
	case "required":
		body["tool_choice"] = map[string]any{"type": "any"}
	case "tool":
		body["tool_choice"] = map[string]any{"type": "tool", "name": n.wire(tool)}
	}
	if m.o.Temperature != nil {
		body["temperature"] = *m.o.Temperature
	}
	return body
}

// beforeEffort reports whether a model of Anthropic's has a version up to 4.5, such as
// "claude-sonnet-4-5" or "claude-opus-4-20250514". Those take a number of tokens.
// https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
func beforeEffort(model string) bool {
	var version []int
	for _, field := range strings.FieldsFunc(model, func(c rune) bool { return c == '-' || c == '.' || c == '@' }) {
		n, err := strconv.Atoi(field)
		if err == nil && len(field) <= 2 {
			version = append(version, n)
		} else if len(version) > 0 {
			break
		}
	}
	if len(version) == 0 {
		return false
	}
	return version[0] < 4 || version[0] == 4 && (len(version) == 1 || version[1] <= 5)
}

// anthropicMessages returns the messages, with consecutive messages of the same role merged.
func anthropicMessages(r sandbox.ModelRequest, n names) []any {
	type message struct {
		Role    string `json:"role"`
		Content []any  `json:"content"`
	}
	var list []*message
	for _, msg := range r.Messages {
		role := "user"
		if msg.Role == sandbox.RoleAssistant {
			role = "assistant"
		}
		if len(list) == 0 || list[len(list)-1].Role != role {
			list = append(list, &message{Role: role})
		}
		at := list[len(list)-1]
		for _, p := range msg.Parts {
			if c := anthropicPart(p, n); c != nil {
				at.Content = append(at.Content, c)
			}
			if p.Type == sandbox.PartFile {
				for _, f := range p.Files {
					at.Content = append(at.Content, anthropicFile(f))
				}
			}
		}
	}
	var out []*message
	for _, msg := range list {
		// The API refuses a message that ends with thoughts. An answer that was broken off does.
		for n := len(msg.Content); n > 0 && isThinking(msg.Content[n-1]); n-- {
			msg.Content = msg.Content[:n-1]
		}
		switch {
		case len(msg.Content) == 0:
		case len(out) > 0 && out[len(out)-1].Role == msg.Role: // nothing of the message between them is left
			out[len(out)-1].Content = append(out[len(out)-1].Content, msg.Content...)
		default:
			out = append(out, msg)
		}
	}
	if len(out) > 0 { // the next request begins with all of these messages
		parts := out[len(out)-1].Content
		if part, _ := parts[len(parts)-1].(map[string]any); part != nil {
			part["cache_control"] = ephemeral
		}
	}
	return values(out)
}

// values returns a list for JSON, nil for an empty one.
func values[T any](list []T) (out []any) {
	for _, v := range list {
		out = append(out, v)
	}
	return out
}

// isThinking reports whether a block is thoughts.
func isThinking(block any) bool {
	m, _ := block.(map[string]any)
	return m["type"] == "thinking" || m["type"] == "redacted_thinking"
}

// ephemeral marks the end of what the server may keep for the next request.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
var ephemeral = map[string]any{"type": "ephemeral"}

func anthropicPart(p sandbox.ModelPart, n names) any {
	switch p.Type {
	case sandbox.PartText:
		if strings.TrimSpace(p.Text) == "" {
			return nil // the API refuses a text without a character that shows
		}
		return map[string]any{"type": "text", "text": p.Text}
	case sandbox.PartReasoning:
		var meta struct{ Signature, Redacted string }
		if json.Unmarshal(p.Meta, &meta) != nil {
			return nil // the API refuses reasoning without its signature
		}
		if meta.Redacted != "" {
			return map[string]any{"type": "redacted_thinking", "data": meta.Redacted}
		}
		return map[string]any{"type": "thinking", "thinking": p.Text, "signature": meta.Signature}
	case sandbox.PartCall:
		return map[string]any{"type": "tool_use", "id": p.CallID, "name": n.wire(p.Tool), "input": orEmpty(p.Args)}
	case sandbox.PartResult:
		var content any = p.Text
		if len(p.Files) > 0 {
			var list []any
			if strings.TrimSpace(p.Text) != "" {
				list = append(list, map[string]any{"type": "text", "text": p.Text})
			}
			for _, f := range p.Files {
				list = append(list, anthropicFile(f))
			}
			content = list
		}
		return map[string]any{"type": "tool_result", "tool_use_id": p.CallID, "content": content, "is_error": p.Failed}
	}
	return nil
}

type block struct {
	kind, id, name  string
	given           string // the id that the server gave, if id may be a generated one
	args, signature strings.Builder
	input           json.RawMessage // the arguments that came with the block's start
}

type anthropicStream struct {
	sink
	names names
	open  map[int]*block
	bare  *block // the last call, if it has no arguments. It may have been cut off
	usage anthropicUsage
	stop  string
}

type anthropicEvent struct {
	Type    string           `json:"type"`
	Index   int              `json:"index"`
	Message anthropicMessage `json:"message"`
	Block   struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		JSON       string `json:"partial_json"`
		Thinking   string `json:"thinking"`
		Signature  string `json:"signature"`
		StopReason string `json:"stop_reason"`

		Citation json.RawMessage `json:"citation"`
	} `json:"delta"`
	Usage anthropicUsage `json:"usage"`
	Error struct {
		Type string `json:"type"`
	} `json:"error"`
}

// anthropicMessage is the message at the start of a stream. Some servers have a text in its place, in an
// error.
type anthropicMessage struct {
	Usage anthropicUsage `json:"usage"`
}

func (m *anthropicMessage) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return nil
	}
	type plain anthropicMessage
	return json.Unmarshal(b, (*plain)(m))
}

// anthropicUsage is the count of tokens of a message. The last event that has a number wins: servers
// count more while they stream, and some begin with 0.
type anthropicUsage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Details struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *anthropicUsage) add(v anthropicUsage) {
	for _, n := range []struct {
		to   *int64
		from int64
	}{{&u.Input, v.Input}, {&u.Output, v.Output}, {&u.Read, v.Read}, {&u.Created, v.Created}, {&u.Details.Thinking, v.Details.Thinking}} {
		if n.from > 0 {
			*n.to = n.from
		}
	}
}

func (u anthropicUsage) usage() sandbox.Usage {
	return sandbox.Usage{Input: u.Input + u.Read + u.Created, Output: u.Output, Cached: u.Read, Reasoning: u.Details.Thinking}
}

func (s *anthropicStream) event(ev eventstream.Event) error {
	var e anthropicEvent
	if err := decode(ev, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		s.usage.add(e.Message.Usage)
	case "content_block_start":
		return s.begin(&e)
	case "content_block_delta":
		return s.delta(&e)
	case "content_block_stop":
		return s.finishBlock(e.Index)
	case "message_delta":
		s.usage.add(e.Usage)
		s.stop = e.Delta.StopReason
	case "message_stop":
		reason := anthropicFinish(s.stop)
		if err := s.sendBare(cutShort(reason)); err != nil {
			return err
		}
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: s.usage.usage()}); err != nil {
			return err
		}
		return s.send(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: reason})
	case "error":
		retry := false
		switch e.Error.Type {
		case "overloaded_error", "api_error", "rate_limit_error", "timeout_error", "":
			retry = true
		}
		message := errorText([]byte(ev.Data))
		return &sandbox.ModelError{Message: cmp.Or(message, "the model failed"), Retry: retry, TooLong: tooLong(message)}
	}
	return nil // ping, and future event types
}

// sendBare sends the call that has no arguments, if there is one.
func (s *anthropicStream) sendBare(cut bool) error {
	b := s.bare
	if s.bare = nil; b == nil {
		return nil
	}
	args := "{}"
	if cut {
		args = cutOff
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: b.id, Tool: b.name, Args: json.RawMessage(args)})
}

func (s *anthropicStream) begin(e *anthropicEvent) error {
	if err := s.sendBare(false); err != nil { // another block follows, so the call was complete
		return err
	}
	b := &block{kind: e.Block.Type, id: e.Block.ID, name: s.names.back(e.Block.Name)}
	s.open[e.Index] = b
	switch b.kind {
	case "tool_use":
		b.input = e.Block.Input
		return s.send(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: b.id, Tool: b.name})
	case "text":
		if e.Block.Text != "" {
			return s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: e.Block.Text})
		}
	case "thinking":
		b.signature.WriteString(e.Block.Signature)
		if e.Block.Thinking != "" {
			return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: e.Block.Thinking})
		}
	case "redacted_thinking":
		meta, _ := json.Marshal(map[string]string{"redacted": e.Block.Data})
		return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Meta: meta})
	}
	return nil
}

func (s *anthropicStream) delta(e *anthropicEvent) error {
	b := s.open[e.Index]
	switch e.Delta.Type {
	case "text_delta":
		return s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: e.Delta.Text})
	case "citations_delta":
		return s.cite(e.Delta.Citation)
	case "thinking_delta":
		return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: e.Delta.Thinking})
	case "signature_delta":
		if b != nil {
			b.signature.WriteString(e.Delta.Signature)
		}
	case "input_json_delta":
		if b == nil || b.kind != "tool_use" {
			return nil
		}
		b.args.WriteString(e.Delta.JSON)
		return s.send(sandbox.ModelEvent{Type: sandbox.PartCallDelta, CallID: b.id, Text: e.Delta.JSON})
	}
	return nil
}

func (s *anthropicStream) finishBlock(index int) error {
	b := s.open[index]
	delete(s.open, index)
	switch {
	case b == nil:
	case b.kind == "tool_use":
		args := json.RawMessage(b.args.String())
		if len(args) == 0 {
			args = orEmpty(b.input)
			if bytes.Equal(bytes.Join(bytes.Fields(args), nil), []byte("{}")) { // the reason at the end of the message tells whether it is complete
				err := s.sendBare(false)
				s.bare = b
				return err
			}
		}
		return s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: b.id, Tool: b.name, Args: args})
	case b.kind == "thinking" && b.signature.Len() > 0:
		meta, _ := json.Marshal(map[string]string{"signature": b.signature.String()})
		return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Meta: meta})
	}
	return nil
}

func anthropicFinish(reason string) string {
	switch reason {
	case "end_turn", "stop_sequence":
		return finishStop
	case "tool_use":
		return finishCalls
	case "max_tokens", "model_context_window_exceeded":
		return finishLength
	case "refusal":
		return finishFilter
	}
	return finishOther
}
