package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Completions writes an answer of the Chat Completions API as a stream, for a scripted model.
type Completions struct {
	Input int // tokens of the request

	w http.ResponseWriter
}

// Called is a call of a tool in an answer.
type Called struct{ ID, Tool, Args string } // Args is JSON, or a text that should be JSON

// NewCompletions begins an answer.
func NewCompletions(w http.ResponseWriter) Completions {
	w.Header().Set("Content-Type", "text/event-stream")
	return Completions{w: w, Input: 10}
}

func (c Completions) send(v any) {
	b, _ := json.Marshal(v)
	fmt.Fprintf(c.w, "data: %s\n\n", b)
	c.w.(http.Flusher).Flush()
}

// Delta sends a piece of the answer, such as {"content": "Hello"}.
func (c Completions) Delta(d map[string]any) {
	c.send(map[string]any{"choices": []any{map[string]any{"delta": d}}})
}

// End sends the calls and the tokens of the answer, and ends it.
func (c Completions) End(calls []Called, tokens int) {
	finish := "stop"
	if len(calls) > 0 {
		var list []any
		for i, x := range calls {
			list = append(list, map[string]any{"index": i, "id": x.ID, "type": "function", "function": map[string]any{"name": x.Tool, "arguments": x.Args}})
		}
		c.Delta(map[string]any{"tool_calls": list})
		finish = "tool_calls"
	}
	c.send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": finish}}})
	c.send(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": c.Input, "completion_tokens": tokens}})
	fmt.Fprint(c.w, "data: [DONE]\n\n")
}
