package sandbox

import (
	"context"
	"encoding/json"

	"github.com/bailey-go/bailey/protocol"
)

// modelMessages returns the conversation for a model: the messages after the last compaction, with
// its summary before them, and without hidden messages.
func (s *Session) modelMessages(m Model) []ModelMessage {
	s.mu.Lock()
	list := s.visible()
	s.mu.Unlock()
	first, summary := 0, ""
	for i, m := range list {
		for _, p := range m.Parts {
			if p.Type == "data-compaction" {
				d, _ := p.Data.(map[string]any)
				summary, _ = d["summary"].(string)
				first = i + 1
			}
		}
	}
	var out []ModelMessage
	if first > 0 {
		out = append(out, ModelMessage{protocol.RoleUser, []ModelPart{{Type: PartText, Text: "Summary of the conversation so far:\n" + summary}}})
	}
	for _, msg := range list[first:] {
		out = append(out, modelMessage(msg, m)...)
	}
	return out
}

// modelMessage returns one stored message in the form for a model. An assistant's message is
// followed by a message with the results of its calls.
func modelMessage(m Message, to Model) []ModelMessage {
	model := to.Name()
	msg, results := ModelMessage{Role: m.Role}, ModelMessage{Role: protocol.RoleUser}
	for _, p := range m.Parts {
		d, _ := p.Data.(map[string]any)
		str := func(key string) string { v, _ := d[key].(string); return v }
		var meta json.RawMessage
		if s := str("meta"); s != "" && m.Metadata.Model == model {
			meta = json.RawMessage(s)
		}
		switch {
		case p.Type == "text":
			if str("text") != "" {
				msg.Parts = append(msg.Parts, ModelPart{Type: PartText, Text: str("text")})
			}
		case p.Type == "reasoning":
			if m.Metadata.Model == model { // the reasoning of another model is of no use
				msg.Parts = append(msg.Parts, ModelPart{Type: PartReasoning, Text: str("text"), Meta: meta})
			}
		case p.ToolCallID != "":
			args, err := json.Marshal(d["input"])
			if _, isText := d["input"].(string); err != nil || isText || d["input"] == nil {
				args = []byte("{}")
			}
			name := str("tool")
			if protocol.ValidToolName(name) != nil {
				name = "unknown"
			}
			msg.Parts = append(msg.Parts, ModelPart{Type: PartCall, CallID: p.ToolCallID, Tool: name, Args: args, Meta: meta})
			text := str("model")
			if far, ok := d["far"].(string); ok && !to.Local() { // a model on this machine had received more
				text = far
			}
			results.Parts = append(results.Parts, ModelPart{Type: PartResult, CallID: p.ToolCallID, Tool: name, Text: text, Failed: p.ToolState == protocol.ToolOutputError})
		}
	}
	var out []ModelMessage
	if len(msg.Parts) > 0 {
		out = append(out, msg)
	}
	if len(results.Parts) > 0 {
		out = append(out, results)
	}
	return out
}

// fewMessages is the largest number of messages that is never summarized.
const fewMessages = 4

// compact calls Compact if the request would be too long, and stores its summary as a message. The
// older messages stay in the session.
func (r *run) compact(ctx context.Context) error {
	if r.o.Context == 0 || r.o.Compact == nil {
		return nil
	}
	list := r.s.modelMessages(r.model)
	size := 0
	for _, m := range list {
		for _, p := range m.Parts {
			size += len(p.Text) + len(p.Args)
		}
	}
	if size/4 < r.o.Context || len(list) <= fewMessages {
		return nil
	}
	summary, err := r.o.Compact(ctx, list)
	if err != nil {
		return err
	}
	m := r.s.newMessage(protocol.RoleUser)
	m.Metadata.Trigger = "compaction"
	p := r.s.newPart(m, 0, "data-compaction", map[string]any{"summary": summary, "messages": float64(len(list))})
	if err := r.s.put(ctx, []protocol.MessageRecord{m}, []protocol.PartRecord{p}); err != nil {
		return err
	}
	r.emit(Chunk{Type: "data-compaction", ID: m.ID, Data: map[string]any{"messages": float64(len(list))}})
	return nil
}
