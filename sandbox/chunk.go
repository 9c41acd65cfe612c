package sandbox

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// ChunkType is the type of a [Chunk]. The types that begin with "data-" are this module's own, and each
// has a constant and a method of Chunk that returns its data. The others are those of AI SDK's UI message
// stream, version 7, under their names there:
//
//	start                   the answer begins: MessageID
//	start-step, finish-step a request to the model begins and ends
//	reset-step              the step is repeated: drop its parts. A data-retry comes before it
//	text-start, text-delta, text-end                 a text: ID, Delta
//	reasoning-start, reasoning-delta, reasoning-end  the model's thoughts: ID, Delta
//	tool-input-start, tool-input-delta               a call that the model writes: ToolCallID, ToolName, Delta
//	tool-input-available    the call is complete: ToolCallID, ToolName, Input
//	tool-input-error        the call can't be made: the same and ErrorText
//	tool-approval-request, tool-approval-response    a question about a call, and its answer: ApprovalID, ToolCallID, Approved
//	tool-output-available   the result: ToolCallID, Output, Preliminary
//	tool-output-error       the call failed: ToolCallID, ErrorText
//	tool-output-denied      the user declined: ToolCallID
//	file                    a file that the model made: URL, MediaType
//	source-url, source-document  a source of the answer: SourceID, URL, Title
//	message-metadata        Metadata
//	finish                  the answer is complete: Reason, such as "stop" or "length"
//	abort                   the run was stopped: Reason
//	error                   the run failed: ErrorText
type ChunkType string

// The types that a program acts on.
const (
	ChunkText         ChunkType = "text-delta"            // ChunkText is the next piece of a text, in Delta.
	ChunkToolOutput   ChunkType = "tool-output-available" // ChunkToolOutput is the result of a call, in Output.
	ChunkStopped      ChunkType = "data-stopped"          // ChunkStopped ends a run that was stopped. See [Chunk.Stopped].
	ChunkBudget       ChunkType = "data-budget"           // ChunkBudget ends a run whose budget is used up. See [Chunk.Budget].
	ChunkRetry        ChunkType = "data-retry"            // ChunkRetry comes before a failed request is repeated. See [Chunk.Retry].
	ChunkKept         ChunkType = "data-kept"             // ChunkKept lists what of a result the model does not receive. See [Chunk.Kept].
	ChunkCompaction   ChunkType = "data-compaction"       // ChunkCompaction is a summary in place of older messages. See [Chunk.Compaction].
	ChunkShortened    ChunkType = "data-shortened"        // ChunkShortened tells that a request was cut. See [Chunk.Shortened].
	ChunkSteer        ChunkType = "data-steer"            // ChunkSteer is a message of [Session.Steer] that the model receives now. See [Chunk.Steer].
	ChunkFilesRefused ChunkType = "data-files-refused"    // ChunkFilesRefused tells that the provider takes no files. See [Chunk.FilesRefused].
	ChunkApproval     ChunkType = "data-approval"         // ChunkApproval is a question about a call at work. See [Chunk.Approval].
)

// Chunk is an element of the stream that [Box.Run] yields, in the format of AI SDK's UI message
// stream, version 7. Package uistream writes it for version 6 too. Its JSON has only the members of
// its type. The comments name the types that use a field.
type Chunk struct {
	Type       ChunkType
	ID         string // of text-…, reasoning-… and data-…
	MessageID  string // of start
	Delta      string // of text-delta, reasoning-delta; inputTextDelta of tool-input-delta
	ToolCallID string
	ToolName   string
	Dynamic    bool // of tool-input-… and tool-output-…: the tool is of a server or a stranger, and not of the app
	Input      any
	Output     any
	// Preliminary is of tool-output-available: the call goes on, and another output follows. See
	// [RunOptions].Progress.
	Preliminary bool
	ErrorText   string // of error, tool-input-error, tool-output-error, tool-output-denied (not in its JSON)
	ApprovalID  string // of tool-approval-request and tool-approval-response
	Approved    bool   // of tool-approval-response
	Reason      string // finishReason of finish, reason of abort and tool-approval-response
	Metadata    any    // messageMetadata of start, finish, message-metadata
	Data        any    // of data-…; the methods Stopped, Budget, Retry, Kept, Compaction, Shortened, Steer, FilesRefused and Approval return it typed
	Transient   bool   // of data-…
	URL         string // of file (a data: URL) and source-url
	MediaType   string // of file and source-document
	SourceID    string // of source-url and source-document
	Title       string // of source-url and source-document
	Filename    string // of source-document
	// ProviderMetadata belongs to the provider, by its name, such as {"anthropic": {"signature": "…"}}:
	// of text-…, reasoning-…, tool-input-…, tool-output-…, file and source-…. Its values must be
	// objects. That of a file also has the id of its part, {"bailey": {"id": "…"}}. A data-retry names
	// it in "drop" if the file is void.
	ProviderMetadata map[string]any
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
	kind := string(c.Type)
	part, _, _ := strings.Cut(kind, "-")
	switch part {
	case "text", "reasoning", "tool", "file", "source":
		if len(c.ProviderMetadata) > 0 && !strings.HasPrefix(kind, "tool-approval") {
			m["providerMetadata"] = c.ProviderMetadata
		}
		if c.Dynamic && (strings.HasPrefix(kind, "tool-input-") || strings.HasPrefix(kind, "tool-output-")) {
			m["dynamic"] = true
		}
	}
	switch c.Type {
	case "file":
		m["url"], m["mediaType"] = c.URL, c.MediaType
	case "source-url":
		m["sourceId"], m["url"] = c.SourceID, c.URL
		opt("title", c.Title)
	case "source-document":
		m["sourceId"], m["mediaType"], m["title"] = c.SourceID, c.MediaType, c.Title
		opt("filename", c.Filename)
	case "start":
		opt("messageId", c.MessageID)
		if c.Metadata != nil {
			m["messageMetadata"] = c.Metadata
		}
	case "start-step", "finish-step", "reset-step":
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
	case "tool-approval-response":
		m["approvalId"], m["approved"] = c.ApprovalID, c.Approved
		opt("reason", c.Reason)
	case "tool-output-available":
		m["toolCallId"], m["output"] = c.ToolCallID, c.Output
		if c.Preliminary {
			m["preliminary"] = true
		}
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
		if !strings.HasPrefix(kind, "data-") {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "chunk", kind, "unknown type; types of the app's own must begin with data-")
		}
		opt("id", c.ID)
		m["data"] = c.Data
		if c.Transient {
			m["transient"] = true
		}
	}
	return json.Marshal(m)
}

// data returns a value of the data of a chunk of a type, or nil.
func (c Chunk) data(of ChunkType, key string) any {
	m, _ := c.Data.(map[string]any)
	if c.Type != of {
		return nil
	}
	return m[key]
}

func (c Chunk) words(of ChunkType, key string) string {
	s, _ := c.data(of, key).(string)
	return s
}

// number returns a number that the run or a JSON decoder has put there.
func (c Chunk) number(of ChunkType, key string) int {
	switch n := c.data(of, key).(type) {
	case int:
		return n
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

func (c Chunk) list(of ChunkType, key string) []string {
	switch l := c.data(of, key).(type) {
	case []string:
		return l
	case []any:
		var out []string
		for _, v := range l {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// Stopped returns the calls that were complete when the run was stopped, one line each. The chunk is a
// [ChunkStopped].
func (c Chunk) Stopped() (done []string) { return c.list(ChunkStopped, "done") }

// Budget returns the budget that is used up, in words, and the tokens of the run. The chunk is a
// [ChunkBudget].
func (c Chunk) Budget() (reason string, used Usage) {
	switch u := c.data(ChunkBudget, "usage").(type) {
	case Usage:
		used = u
	case map[string]any:
		if text, err := json.Marshal(u); err == nil {
			_ = json.Unmarshal(text, &used)
		}
	}
	return c.words(ChunkBudget, "reason"), used
}

// Retry returns the number of the next attempt, the delay before it, the reason of the failure, and the
// ids of the parts that the failed attempt has shown and that are void. The chunk is a [ChunkRetry].
func (c Chunk) Retry() (attempt int, after time.Duration, reason string, drop []string) {
	return c.number(ChunkRetry, "attempt"), time.Duration(c.number(ChunkRetry, "after_ms")) * time.Millisecond, c.words(ChunkRetry, "reason"), c.list(ChunkRetry, "drop")
}

// Kept returns the id of a call and what of its result the model does not receive, such as a sentence
// about the policy's "send". The chunk is a [ChunkKept].
func (c Chunk) Kept() (call string, kept []string) {
	return c.words(ChunkKept, "toolCallId"), c.list(ChunkKept, "kept")
}

// Compaction returns the number of messages that a summary replaces in later requests, and the summary.
// The chunk is a [ChunkCompaction].
func (c Chunk) Compaction() (messages int, summary string) {
	return c.number(ChunkCompaction, "messages"), c.words(ChunkCompaction, "summary")
}

// Shortened returns the estimated number of tokens that the model does not receive. The chunk is a
// [ChunkShortened].
func (c Chunk) Shortened() (tokens int) { return c.number(ChunkShortened, "tokens") }

// Steer returns the text of the message. The chunk is a [ChunkSteer], and its ID is the message's.
func (c Chunk) Steer() (text string) { return c.words(ChunkSteer, "text") }

// FilesRefused returns the provider's reason for taking no files. The chunk is a [ChunkFilesRefused].
func (c Chunk) FilesRefused() (reason string) { return c.words(ChunkFilesRefused, "reason") }

// Approval returns the id of a call at work that the user is asked about. answered is false for the
// question itself, whose chunk has the same ID. The chunk is a [ChunkApproval].
func (c Chunk) Approval() (call string, approved, answered bool) {
	approved, answered = c.data(ChunkApproval, "approved").(bool)
	return c.words(ChunkApproval, "toolCallId"), approved, answered
}
