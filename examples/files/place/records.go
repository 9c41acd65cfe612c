package place

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Recorder makes records of the parts of an answer, so that the page stores it like one of its own.
type Recorder struct {
	session, model string
	messages       []sandbox.MessageRecord
	parts          []sandbox.PartRecord
	open           bool           // the last part is a text or thoughts that go on
	calls          map[string]int // the places of calls in parts
	step           int            // the parts before the present step
}

// NewRecorder returns a recorder of an answer by a model in a session.
func NewRecorder(session, model string) *Recorder {
	return &Recorder{session: session, model: model, calls: map[string]int{}}
}

func id(kind string) string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails
	return kind + hex.EncodeToString(b[:])
}

// Add adds a part of the stream.
func (r *Recorder) Add(c sandbox.Chunk) {
	switch c.Type {
	case "start-step":
		r.open, r.step = false, len(r.parts)
		now := time.Now()
		r.messages = append(r.messages, sandbox.MessageRecord{ID: id("msg-"), SessionID: r.session, Role: sandbox.RoleAssistant, Metadata: sandbox.MessageMetadata{Model: r.model}, CreatedAt: now, UpdatedAt: now})
	case "reset-step":
		for call, at := range r.calls {
			if at >= r.step {
				delete(r.calls, call)
			}
		}
		r.parts, r.open = r.parts[:r.step], false
	case "text-start", "text-end", "reasoning-start", "reasoning-end":
		r.open = false
	case "text-delta":
		r.text("text", c.Delta)
	case "reasoning-delta":
		r.text("reasoning", c.Delta)
	case "tool-input-available":
		r.call(c, sandbox.ToolInputAvailable, map[string]any{"tool": c.ToolName, "input": c.Input})
	case "tool-input-error":
		r.call(c, sandbox.ToolOutputError, map[string]any{"tool": c.ToolName, "input": fmt.Sprint(c.Input), "error": c.ErrorText, "model": "error: " + c.ErrorText})
	case "tool-output-available":
		if !c.Preliminary {
			r.end(c.ToolCallID, sandbox.ToolOutputAvailable, map[string]any{"output": c.Output, "model": "(this was done in another place)"})
		}
	case "tool-output-error":
		r.end(c.ToolCallID, sandbox.ToolOutputError, map[string]any{"error": c.ErrorText, "model": "error: " + c.ErrorText})
	case "tool-output-denied":
		r.end(c.ToolCallID, sandbox.ToolOutputError, map[string]any{"error": Declined, "reason": string(protocol.ReasonRejected), "model": "error: " + Declined})
	}
}

// Declined is the error of a call that the user declined.
const Declined = "You said no."

func (r *Recorder) add(kind string, data map[string]any) *sandbox.PartRecord {
	if len(r.messages) == 0 {
		r.Add(sandbox.Chunk{Type: "start-step"})
	}
	now := time.Now()
	r.parts = append(r.parts, sandbox.PartRecord{ID: id("prt-"), MessageID: r.messages[len(r.messages)-1].ID, SessionID: r.session, Index: len(r.parts) - r.step, Type: kind, Data: data, CreatedAt: now, UpdatedAt: now})
	return &r.parts[len(r.parts)-1]
}

func (r *Recorder) text(kind, delta string) {
	if n := len(r.parts); !r.open || n == 0 || r.parts[n-1].Type != kind {
		r.add(kind, map[string]any{"text": ""})
	}
	r.open = true
	d := r.parts[len(r.parts)-1].Data.(map[string]any)
	d["text"] = d["text"].(string) + delta
}

func (r *Recorder) call(c sandbox.Chunk, state sandbox.ToolState, data map[string]any) {
	r.open = false
	if _, twice := r.calls[c.ToolCallID]; twice || protocol.ValidToolName("tool-"+c.ToolName) != nil {
		return
	}
	p := r.add("tool-"+c.ToolName, data)
	p.ToolCallID, p.ToolState = c.ToolCallID, state
	r.calls[c.ToolCallID] = len(r.parts) - 1
}

func (r *Recorder) end(call string, state sandbox.ToolState, data map[string]any) {
	at, ok := r.calls[call]
	if !ok || r.parts[at].ToolState.Final() {
		return
	}
	all := r.parts[at].Data.(map[string]any)
	for k, v := range data {
		all[k] = v
	}
	r.parts[at].ToolState, r.parts[at].UpdatedAt = state, time.Now()
}

// Records returns the messages and parts. whole reports that the answer came to its end. Calls without a result, and a
// part that has no valid record, are failed or left out.
func (r *Recorder) Records(whole bool) ([]sandbox.MessageRecord, []sandbox.PartRecord) {
	for i := range r.parts {
		if p := &r.parts[i]; p.Orphaned() {
			r.end(p.ToolCallID, sandbox.ToolOutputError, map[string]any{"error": "stopped", "model": "error ABORTED: the run was stopped before this ended"})
		}
	}
	parts := slices.DeleteFunc(slices.Clone(r.parts), func(p sandbox.PartRecord) bool { return p.Validate() != nil })
	messages := slices.DeleteFunc(slices.Clone(r.messages), func(m sandbox.MessageRecord) bool {
		return !slices.ContainsFunc(parts, func(p sandbox.PartRecord) bool { return p.MessageID == m.ID })
	})
	if n := len(messages); n > 0 && !whole {
		messages[n-1].Metadata.Partial = true
	}
	return messages, parts
}
