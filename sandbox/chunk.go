package sandbox

import (
	"encoding/json"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Chunk is an element of the stream that [Box.Run] yields, in the format of AI SDK's UI message
// stream, version 6. Its JSON has only the members of its type. The comments name the types that
// use a field.
type Chunk struct {
	Type       string // such as "text-delta" or "tool-output-available"
	ID         string // of text-…, reasoning-… and data-…
	MessageID  string // of start
	Delta      string // of text-delta, reasoning-delta; inputTextDelta of tool-input-delta
	ToolCallID string
	ToolName   string
	Input      any
	Output     any
	ErrorText  string // of error, tool-input-error, tool-output-error
	ApprovalID string // of tool-approval-request
	Reason     string // finishReason of finish, reason of abort
	Metadata   any    // messageMetadata of start, finish, message-metadata
	Data       any    // of data-…
	Transient  bool   // of data-…
}

// MarshalJSON returns the chunk as JSON for AI SDK. An unknown type is an error. Types of the app's
// own must begin with "data-".
func (c Chunk) MarshalJSON() ([]byte, error) {
	m := map[string]any{"type": c.Type}
	opt := func(key, v string) {
		if v != "" {
			m[key] = v
		}
	}
	switch c.Type {
	case "start":
		opt("messageId", c.MessageID)
		if c.Metadata != nil {
			m["messageMetadata"] = c.Metadata
		}
	case "start-step", "finish-step":
	case "text-start", "text-end", "reasoning-start", "reasoning-end":
		m["id"] = c.ID
	case "text-delta", "reasoning-delta":
		m["id"], m["delta"] = c.ID, c.Delta
	case "tool-input-start":
		m["toolCallId"], m["toolName"] = c.ToolCallID, c.ToolName
	case "tool-input-delta":
		m["toolCallId"], m["inputTextDelta"] = c.ToolCallID, c.Delta
	case "tool-input-available":
		m["toolCallId"], m["toolName"], m["input"] = c.ToolCallID, c.ToolName, c.Input
	case "tool-input-error":
		m["toolCallId"], m["toolName"], m["input"], m["errorText"] = c.ToolCallID, c.ToolName, c.Input, c.ErrorText
	case "tool-approval-request":
		m["approvalId"], m["toolCallId"] = c.ApprovalID, c.ToolCallID
	case "tool-output-available":
		m["toolCallId"], m["output"] = c.ToolCallID, c.Output
	case "tool-output-error":
		m["toolCallId"], m["errorText"] = c.ToolCallID, c.ErrorText
	case "tool-output-denied":
		m["toolCallId"] = c.ToolCallID
	case "message-metadata":
		m["messageMetadata"] = c.Metadata
	case "finish":
		opt("finishReason", c.Reason)
		if c.Metadata != nil {
			m["messageMetadata"] = c.Metadata
		}
	case "abort":
		opt("reason", c.Reason)
	case "error":
		m["errorText"] = c.ErrorText
	default:
		if !strings.HasPrefix(c.Type, "data-") {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "chunk", c.Type, "unknown type; what is your own begins with data-")
		}
		opt("id", c.ID)
		m["data"] = c.Data
		if c.Transient {
			m["transient"] = true
		}
	}
	return json.Marshal(m)
}
