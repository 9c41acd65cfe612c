package provider

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

type responses struct{ o Options }

// OpenAI returns a model that uses OpenAI's Responses API. The server stores nothing: it returns
// reasoning in encrypted form, which is sent back with later requests.
func OpenAI(o Options) sandbox.Model {
	return &responses{o.withDefaults("https://api.openai.com/v1")}
}

func (m *responses) Name() string { return "openai/" + m.o.Model }
func (m *responses) Local() bool  { return m.o.local() }

// ContextTokens returns the number of tokens of a request, see [sandbox.RunOptions].
func (m *responses) ContextTokens() int { return m.o.openAIContext() }

func (m *responses) host() string { return m.o.Host() }

func (m *responses) Stream(ctx context.Context, r sandbox.ModelRequest) iter.Seq2[sandbox.ModelEvent, error] {
	return func(yield func(sandbox.ModelEvent, error) bool) {
		r, n := m.o.withFiles(r, isImageOrPDF, false), newNames(r)
		s := &responsesStream{sink: sink{yield: yield}, names: n, items: map[string]*block{}}
		if err := m.o.thinking(false); err != nil {
			s.end(err)
			return
		}
		s.end(m.o.post(ctx, "/responses", m.o.bearer(), m.body(r, n), maxImageEvent, s.event))
	}
}

func (m *responses) body(r sandbox.ModelRequest, n names) map[string]any {
	body := map[string]any{"model": m.o.Model, "stream": true, "store": false, "include": []string{"reasoning.encrypted_content"}, "input": responsesInput(r, n)}
	if r.System != "" {
		body["instructions"] = r.System
	}
	if n := m.o.maxTokens(r); n > 0 {
		body["max_output_tokens"] = n
	}
	if m.o.Effort != "" {
		body["reasoning"] = map[string]any{"effort": m.o.Effort, "summary": "auto"}
	}
	var tools []any
	for _, t := range r.Tools {
		tools = append(tools, map[string]any{"type": "function", "name": n.wire(t.Name), "description": t.Description, "parameters": t.Parameters, "strict": false})
	}
	if tools != nil {
		body["tools"] = tools
	}
	switch mode, tool := m.o.toolChoice(r); mode {
	case "auto", "none", "required":
		body["tool_choice"] = mode
	case "tool":
		body["tool_choice"] = map[string]any{"type": "function", "name": n.wire(tool)}
	}
	if m.o.Temperature != nil {
		body["temperature"] = *m.o.Temperature
	}
	return body
}

func responsesInput(r sandbox.ModelRequest, n names) []any {
	out := []any{}
	for _, msg := range r.Messages {
		role, kind := "user", "input_text"
		if msg.Role == sandbox.RoleAssistant {
			role, kind = "assistant", "output_text"
		}
		var files []any // a text and the files in front of it are one message
		say := func(text ...any) {
			if content := append(files, text...); len(content) > 0 {
				out = append(out, map[string]any{"type": "message", "role": role, "content": content})
			}
			files = nil
		}
		for _, p := range msg.Parts {
			switch p.Type {
			case sandbox.PartText:
				say(outputText(kind, p.Text))
			case sandbox.PartFile:
				for _, f := range p.Files {
					files = append(files, responsesFile(f))
				}
			case sandbox.PartReasoning:
				if item := reasoningItem(p.Meta); item != nil {
					out = append(out, item)
				}
			case sandbox.PartCall:
				out = append(out, map[string]any{"type": "function_call", "call_id": p.CallID, "name": n.wire(p.Tool), "arguments": string(orEmpty(p.Args))})
			case sandbox.PartResult:
				out = append(out, map[string]any{"type": "function_call_output", "call_id": p.CallID, "output": responsesOutput(p)})
			}
		}
		say()
		// The API refuses thoughts without the item that they led to. An answer that was broken off has none.
		for n := len(out); n > 0 && out[n-1].(map[string]any)["type"] == "reasoning"; n-- {
			out = out[:n-1]
		}
	}
	return out
}

// responsesOutput returns a result: a text, or a list if it has files.
func responsesOutput(p sandbox.ModelPart) any {
	if len(p.Files) == 0 {
		return p.Text
	}
	list := []any{map[string]any{"type": "input_text", "text": p.Text}}
	for _, f := range p.Files {
		list = append(list, responsesFile(f))
	}
	return list
}

// outputText returns a text of a message. The API requires annotations of its own texts.
func outputText(kind, text string) map[string]any {
	out := map[string]any{"type": kind, "text": text}
	if kind == "output_text" {
		out["annotations"] = []any{}
	}
	return out
}

// reasoningItem returns stored reasoning as it was received. A stored conversation may have been
// written by anyone, so no other type of item is sent.
func reasoningItem(meta json.RawMessage) any {
	var item struct {
		Type      string `json:"type"`
		ID        string `json:"id"`
		Encrypted string `json:"encrypted_content"`
		Summary   []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"summary"`
	}
	if json.Unmarshal(meta, &item) != nil || item.Type != "reasoning" || item.Encrypted == "" {
		return nil
	}
	summary := []any{}
	for _, s := range item.Summary {
		summary = append(summary, map[string]any{"type": s.Type, "text": s.Text})
	}
	return map[string]any{"type": item.Type, "id": item.ID, "summary": summary, "encrypted_content": item.Encrypted}
}

type responsesStream struct {
	sink
	names names
	items map[string]*block
	calls int
	bare  *responsesItem // the last call, if it has no arguments. It may have been cut off
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Status    text            `json:"status"`
	Arguments json.RawMessage `json:"arguments"` // of a function_call a text or an object
	Encrypted string          `json:"encrypted_content"`
	Summary   json.RawMessage `json:"summary"`
	Result    text            `json:"result"` // of an image_generation_call, in base64
}

type responsesError struct {
	Code    text   `json:"code"`
	Message string `json:"message"`
}

// err returns the error of an event.
func (e responsesError) err() error {
	retry := e.Code == "server_error" || e.Code == "rate_limit_exceeded"
	return &sandbox.ModelError{Message: cmp.Or(e.Message, "the model failed"), Retry: retry || e == responsesError{}, TooLong: tooLong(string(e.Code) + " " + e.Message)}
}

// text is a string. Another value, as some items of the API have in the place of one, is empty.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*string)(t)) != nil {
		*t = ""
	}
	return nil
}

type responsesEvent struct {
	Type           string          `json:"type"`
	Delta          text            `json:"delta"`
	ItemID         string          `json:"item_id"`
	Annotation     json.RawMessage `json:"annotation"`
	Item           responsesItem   `json:"item"`
	Error          *responsesError `json:"error"`
	responsesError                 // of the same event from some servers
	Response       struct {
		Error      *responsesError `json:"error"`
		Incomplete *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *struct {
			Input   int64 `json:"input_tokens"`
			Output  int64 `json:"output_tokens"`
			Details struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			Out struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
		} `json:"usage"`
	} `json:"response"`
}

func (s *responsesStream) event(ev eventstream.Event) error {
	if ev.Data == "[DONE]" {
		return nil
	}
	var e responsesEvent
	if err := decode(ev, &e); err != nil {
		return err
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		return s.send(sandbox.ModelEvent{Type: sandbox.PartText, Text: string(e.Delta)})
	case "response.output_text.annotation.added":
		return s.cite(e.Annotation)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Text: string(e.Delta)})
	case "response.output_item.added":
		if err := s.sendBare(false); err != nil { // another item follows, so the call was complete
			return err
		}
		if e.Item.Type == "function_call" {
			s.items[e.Item.ID] = &block{id: e.Item.CallID, name: s.names.back(e.Item.Name)}
			return s.send(sandbox.ModelEvent{Type: sandbox.PartCallStart, CallID: e.Item.CallID, Tool: s.names.back(e.Item.Name)})
		}
	case "response.function_call_arguments.delta":
		if b := s.items[e.ItemID]; b != nil {
			return s.send(sandbox.ModelEvent{Type: sandbox.PartCallDelta, CallID: b.id, Text: string(e.Delta)})
		}
	case "response.output_item.done":
		return s.item(e.Item)
	case "response.completed", "response.incomplete":
		return s.done(&e)
	case "response.failed":
		if e.Response.Error != nil {
			return e.Response.Error.err()
		}
		return responsesError{}.err()
	case "error":
		if e.Error != nil {
			return e.Error.err()
		}
		return e.responsesError.err()
	}
	return nil
}

// sendBare sends the call that has no arguments, if there is one.
func (s *responsesStream) sendBare(cut bool) error {
	it := s.bare
	if s.bare = nil; it == nil {
		return nil
	}
	args := "{}"
	if cut || it.Status == "incomplete" {
		args = cutOff
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: it.CallID, Tool: s.names.back(it.Name), Args: json.RawMessage(args)})
}

func (s *responsesStream) item(it responsesItem) error {
	if err := s.sendBare(false); err != nil {
		return err
	}
	switch it.Type {
	case "function_call":
		s.calls++
		var args arguments
		if len(it.Arguments) > 0 {
			if err := args.UnmarshalJSON(it.Arguments); err != nil {
				return unread()
			}
		}
		if args == "" { // the end of the answer tells whether it is complete
			s.bare = &it
			return nil
		}
		return s.send(sandbox.ModelEvent{Type: sandbox.PartCall, CallID: it.CallID, Tool: s.names.back(it.Name), Args: json.RawMessage(args)})
	case "image_generation_call": // https://developers.openai.com/api/docs/guides/tools-image-generation
		if data, err := base64.StdEncoding.DecodeString(string(it.Result)); err == nil && len(data) > 0 {
			return s.send(sandbox.ModelEvent{Type: sandbox.PartFile, File: sandbox.File{Name: "image", Data: data}})
		}
	case "reasoning":
		if it.Encrypted == "" {
			return nil
		}
		summary := it.Summary
		if len(summary) == 0 {
			summary = json.RawMessage("[]")
		}
		meta, err := json.Marshal(map[string]any{"type": "reasoning", "id": it.ID, "summary": summary, "encrypted_content": it.Encrypted})
		if err != nil {
			return err
		}
		return s.send(sandbox.ModelEvent{Type: sandbox.PartReasoning, Meta: meta})
	}
	return nil
}

func (s *responsesStream) done(e *responsesEvent) error {
	if err := s.sendBare(e.Response.Incomplete != nil); err != nil {
		return err
	}
	if u := e.Response.Usage; u != nil {
		if err := s.send(sandbox.ModelEvent{Type: sandbox.PartUsage, Usage: sandbox.Usage{Input: u.Input, Output: u.Output, Cached: u.Details.Cached, Reasoning: u.Out.Reasoning}}); err != nil {
			return err
		}
	}
	reason := finishStop
	switch inc := e.Response.Incomplete; {
	case inc != nil && inc.Reason == "max_output_tokens":
		reason = finishLength
	case inc != nil && inc.Reason == "content_filter":
		reason = finishFilter
	case inc != nil:
		reason = finishOther
	case s.calls > 0:
		reason = finishCalls
	}
	return s.send(sandbox.ModelEvent{Type: sandbox.PartFinish, Text: reason})
}
