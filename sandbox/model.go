package sandbox

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Model is a language model, or what stands in for one. See sandbox/provider.
type Model interface {
	// Name is the model's name, for records.
	Name() string
	// Local reports whether everything stays on this machine: then nothing is sent
	// anywhere, and the capability stream.send is not needed.
	Local() bool
	// Stream asks for the next message. The events end with EventFinish, or with an
	// error; one that wraps a [*ModelError] may be worth another try.
	Stream(ctx context.Context, r ModelRequest) iter.Seq2[ModelEvent, error]
}

// ModelRequest is what a model gets to see.
type ModelRequest struct {
	System    string
	Messages  []ModelMessage
	Tools     []ModelTool
	MaxTokens int // of the answer; 0 is the provider's default
}

// ModelTool is a tool as a model sees it.
type ModelTool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema
}

// ModelMessage is a message of the conversation.
type ModelMessage struct {
	Role  protocol.Role
	Parts []ModelPart
}

// ModelPart is a piece of a message: which fields are set follows from its type.
type ModelPart struct {
	Type   PartType
	Text   string          // of text, of reasoning, of a result
	CallID string          // of a call and of its result
	Tool   string          // of a call and of its result
	Args   json.RawMessage // of a call
	Failed bool            // of a result
	// Meta is the provider's own, such as a signature of reasoning; it goes back to
	// the same provider as it came.
	Meta json.RawMessage
}

// PartType is what a part of a message is.
type PartType string

const (
	PartText      PartType = "text"
	PartReasoning PartType = "reasoning"
	PartCall      PartType = "call"
	PartResult    PartType = "result"
)

// ModelEvent is a piece of a model's answer as it streams.
type ModelEvent struct {
	Type   EventType
	Text   string          // of EventText, EventReasoning, EventCallDelta; of EventFinish the reason
	CallID string          // of calls
	Tool   string          // of EventCallStart and EventCall
	Args   json.RawMessage // of EventCall: the whole; what is no JSON is an error of the call
	Usage  Usage           // of EventUsage: so far, not added
	Meta   json.RawMessage // of EventReasoning and EventCall: see [ModelPart]
}

// EventType is what an event tells.
type EventType string

const (
	EventText      EventType = "text"
	EventReasoning EventType = "reasoning"
	EventCallStart EventType = "call-start"
	EventCallDelta EventType = "call-delta"
	EventCall      EventType = "call"
	EventUsage     EventType = "usage"
	EventFinish    EventType = "finish"
)

// Reasons to finish, as AI SDK has them.
const (
	FinishStop   = "stop"
	FinishLength = "length"
	FinishFilter = "content-filter"
	FinishCalls  = "tool-calls"
	FinishError  = "error"
	FinishOther  = "other"
)

// Usage is what a request cost, in tokens.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"` // of Input
}

// ModelError is what a provider answered in place of a message.
type ModelError struct {
	Status     int // of HTTP; 0 if there was no answer, or it was cut off
	Message    string
	Retry      bool          // another try may help
	RetryAfter time.Duration // if the provider said so
}

func (e *ModelError) Error() string { return "model: " + e.Message }

// Is makes it an execution error, and of a refusal (401, 403) a denial.
func (e *ModelError) Is(target error) bool {
	if e.Status == 401 || e.Status == 403 {
		return target == error(protocol.ErrCapabilityDenied)
	}
	return target == error(protocol.ErrExecution)
}
