package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// readAnthropic returns a request to the Messages API in the form of the scripts.
func readAnthropic(body []byte) (r chatRequest, err error) {
	type block struct {
		Type, Text string
		Content    json.RawMessage
	}
	var in struct {
		Model    string
		System   json.RawMessage
		Tools    []json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return r, err
	}
	blocks := func(raw json.RawMessage) (list []block) {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return []block{{Type: "text", Text: text}}
		}
		_ = json.Unmarshal(raw, &list)
		return list
	}
	text := func(list []block) (out string) {
		for _, b := range list {
			out += b.Text
		}
		return out
	}
	r.Model, r.Tools = in.Model, in.Tools
	if len(in.System) > 0 {
		r.Messages = append(r.Messages, chatMessage{Role: "system", Content: text(blocks(in.System))})
	}
	for _, m := range in.Messages {
		said := ""
		for _, b := range blocks(m.Content) {
			switch b.Type {
			case "text":
				said += b.Text
			case "tool_result": // comes before the texts
				r.Messages = append(r.Messages, chatMessage{Role: "tool", Content: text(blocks(b.Content))})
			case "tool_use":
			default:
				return r, fmt.Errorf("a block of type %q", b.Type)
			}
		}
		if said != "" {
			r.Messages = append(r.Messages, chatMessage{Role: m.Role, Content: said})
		}
	}
	return r, nil
}

// writeAnthropic sends an answer as a stream of the Messages API.
func (t turn) writeAnthropic(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v object) {
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", v["type"], b)
		w.(http.Flusher).Flush()
	}
	send(object{"type": "message_start", "message": object{"id": "m", "role": "assistant", "usage": object{"input_tokens": max(t.input, 10), "output_tokens": 1}}})
	at := 0
	part := func(start object, delta object) {
		send(object{"type": "content_block_start", "index": at, "content_block": start})
		send(object{"type": "content_block_delta", "index": at, "delta": delta})
		send(object{"type": "content_block_stop", "index": at})
		at++
	}
	if t.text != "" {
		part(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": t.text})
	}
	why := "end_turn"
	for i, c := range t.calls {
		args, _ := json.Marshal(c.args)
		part(object{"type": "tool_use", "id": fmt.Sprintf("a%d-%d", n, i), "name": c.tool, "input": object{}}, object{"type": "input_json_delta", "partial_json": string(args)})
		why = "tool_use"
	}
	send(object{"type": "message_delta", "delta": object{"stop_reason": why}, "usage": object{"output_tokens": len(t.text)/4 + 10}})
	send(object{"type": "message_stop"})
}
