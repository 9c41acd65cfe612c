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
	// Stream requests the next message. The last event is a [PartFinish] or an error. A request
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
	Role  Role
	Parts []ModelPart
}

// ModelPart is a piece of a message. Its type decides which fields are set.
type ModelPart struct {
	Type   PartType        // PartText, PartReasoning, PartFile, PartCall or PartResult
	Text   string          // of text, reasoning and results
	CallID string          // of a call and of its result: the same id
	Tool   string          // of a call and of its result
	Args   json.RawMessage // of a call
	Failed bool            // of a result
	// Files are the files of a PartFile or of a result. A model that does not take a file of its type
	// gets its String as a text.
	Files []File
	// Meta belongs to the provider, such as a signature of reasoning. It is sent back to the same
	// model unchanged, and so is a file that the model made if it has Meta. For any other file of a
	// model there is a line.
	Meta json.RawMessage
}

// ModelEvent is a piece of a model's answer as it streams.
type ModelEvent struct {
	Type   PartType        // all but PartResult
	Text   string          // of PartText, PartReasoning, PartCallDelta and PartFinish
	CallID string          // of calls
	Tool   string          // of PartCallStart and PartCall
	Args   json.RawMessage // of PartCall: all arguments; if they are not JSON, the call fails
	Usage  Usage           // of PartUsage: the total of the request so far
	Meta   json.RawMessage // of PartText, PartReasoning, PartCall and PartFile: see [ModelPart]
	File   File            // of PartFile: a file that the model made, such as an image
	Source Source          // of PartSource
}

// Source is a page or a document that an answer relies on, as the provider tells it. The model or a
// stranger may have chosen all of it. A source of a page has a URL. One without a URL is a document.
type Source struct {
	URL       string // an address that begins with https:// or http://, of at most 8,192 bytes; others are left out
	Title     string // for the user, cut after 1,000 bytes; of a document "document" if it is empty
	MediaType string // of a document, such as "application/pdf"; "text/plain" if it is empty
	Filename  string // of a document, or empty
}

// PartType is the type of a [ModelPart], or of a [ModelEvent] as it streams.
type PartType string

// The types of the parts of messages and of streamed answers.
const (
	PartText      PartType = "text"       // PartText is text, or the next piece of it in a stream.
	PartReasoning PartType = "reasoning"  // PartReasoning is reasoning of the model, or the next piece of it in a stream.
	PartFile      PartType = "file"       // PartFile is a file, such as an image.
	PartSource    PartType = "source"     // PartSource is a source of the answer, in a stream. At most 100 of an answer are kept.
	PartCallStart PartType = "call-start" // PartCallStart begins a tool call in a stream.
	PartCallDelta PartType = "call-delta" // PartCallDelta is a piece of a call's arguments as JSON, in a stream.
	PartCall      PartType = "call"       // PartCall is a complete tool call by the model.
	PartResult    PartType = "result"     // PartResult is the result of a tool call.
	PartUsage     PartType = "usage"      // PartUsage is the number of tokens of the request so far, in a stream.
	// PartFinish ends a stream. Its Text is the reason with a name of AI SDK: "stop" is the normal
	// end, "length" an answer that reached the maximum length, "content-filter" one that the
	// provider stopped, "tool-calls" one that ends with tool calls, and any other text counts as "other".
	PartFinish PartType = "finish"
)

// Usage is the cost of a request in tokens.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"` // the part of Input that the provider had cached
	// Reasoning is the part of Output that the model thought, 0 if the provider does not tell.
	Reasoning int64 `json:"reasoning,omitempty"`
}

// checked returns the usage within its limits. A server that tells a negative number, or one that
// overflows a sum, would lift the budgets of a run.
func (u Usage) checked() Usage {
	limit := func(n, most int64) int64 { return max(0, min(n, most)) }
	u.Input, u.Output = limit(u.Input, 1<<40), limit(u.Output, 1<<40)
	u.Cached, u.Reasoning = limit(u.Cached, u.Input), limit(u.Reasoning, u.Output)
	return u
}

// ModelError is an error response of a provider, or a connection that ended too early.
type ModelError struct {
	Status     int // HTTP status; 0 if there was no response, or it was cut off
	Message    string
	Retry      bool          // a new attempt may succeed
	TooLong    bool          // the request has more tokens than the model accepts
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
