package sandbox

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// A Model is a language model, or a replacement for one in a test. The package sandbox/provider has
// implementations.
type Model interface {
	// Name returns the model's name, for records.
	Name() string
	// Local reports whether the model runs on this machine. If so, no content leaves the machine,
	// and the capability stream.send is not needed.
	Local() bool
	// Stream requests the next message. The last event is an [EventFinish] or an error. A request
	// whose error wraps a [*ModelError] with Retry set is sent again, see [RunOptions].
	Stream(ctx context.Context, r ModelRequest) iter.Seq2[ModelEvent, error]
}

// ModelRequest is a request to a model: the system prompt, the conversation and the tools.
type ModelRequest struct {
	System    string
	Messages  []ModelMessage
	Tools     []ModelTool
	MaxTokens int // maximum length of the answer in tokens, 0 for the provider's default
}

// ModelTool is a tool as it is described to a model.
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

// ModelPart is a piece of a message. Its type decides which fields are set.
type ModelPart struct {
	Type   PartType
	Text   string          // of text, reasoning and results
	CallID string          // of a call and of its result: the same id
	Tool   string          // of a call and of its result
	Args   json.RawMessage // of a call
	Failed bool            // of a result
	// Meta belongs to the provider, such as a signature of reasoning. It is sent back to the same
	// model unchanged.
	Meta json.RawMessage
}

// PartType is the type of a [ModelPart].
type PartType string

// The types of message parts.
const (
	PartText      PartType = "text"      // PartText is text.
	PartReasoning PartType = "reasoning" // PartReasoning is reasoning of the model.
	PartCall      PartType = "call"      // PartCall is a tool call by the model.
	PartResult    PartType = "result"    // PartResult is the result of a tool call.
)

// ModelEvent is a piece of a model's answer as it streams.
type ModelEvent struct {
	Type   EventType
	Text   string          // of EventText, EventReasoning and EventCallDelta; of EventFinish the reason
	CallID string          // of calls
	Tool   string          // of EventCallStart and EventCall
	Args   json.RawMessage // of EventCall: all arguments; if they are not JSON, the call fails
	Usage  Usage           // of EventUsage: the total of the request so far
	Meta   json.RawMessage // of EventReasoning and EventCall: see [ModelPart]
}

// EventType is the type of a [ModelEvent].
type EventType string

// The types of events.
const (
	EventText      EventType = "text"       // EventText is a piece of the answer's text.
	EventReasoning EventType = "reasoning"  // EventReasoning is a piece of the model's reasoning.
	EventCallStart EventType = "call-start" // EventCallStart begins a tool call.
	EventCallDelta EventType = "call-delta" // EventCallDelta is a piece of a call's arguments as JSON.
	EventCall      EventType = "call"       // EventCall is a complete tool call.
	EventUsage     EventType = "usage"      // EventUsage is the number of tokens of the request so far.
	EventFinish    EventType = "finish"     // EventFinish ends the answer.
)

// The reasons of an [EventFinish], with the names of AI SDK.
const (
	FinishStop   = "stop"           // FinishStop is the normal end of an answer.
	FinishLength = "length"         // FinishLength is an answer that reached the maximum length.
	FinishFilter = "content-filter" // FinishFilter is an answer that the provider's content filter stopped.
	FinishCalls  = "tool-calls"     // FinishCalls is an answer that ends with tool calls.
	FinishError  = "error"          // FinishError is an answer that ended with an error.
	FinishOther  = "other"          // FinishOther is any other reason.
)

// Usage is the cost of a request in tokens.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"` // the part of Input that the provider had cached
}

// ModelError is an error response of a provider, or a connection that ended too early.
type ModelError struct {
	Status     int // HTTP status; 0 if there was no response, or it was cut off
	Message    string
	Retry      bool          // a new attempt may succeed
	RetryAfter time.Duration // the delay that the provider asked for, or 0
}

func (e *ModelError) Error() string { return "model: " + e.Message }

// Is reports true for [protocol.ErrExecution]. For a refusal (401, 403) it reports true for
// [protocol.ErrCapabilityDenied] instead.
func (e *ModelError) Is(target error) bool {
	if e.Status == 401 || e.Status == 403 {
		return target == error(protocol.ErrCapabilityDenied)
	}
	return target == error(protocol.ErrExecution)
}
