package sandbox

import (
	"math"
	"time"

	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/internal/strictjson"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// SessionRecord is the stored form of a conversation with a model. It is the same for all stores.
type SessionRecord struct {
	ID              string         `json:"id"`
	Agent           string         `json:"agent"`
	Workspace       string         `json:"workspace,omitempty"`
	Model           string         `json:"model,omitempty"`
	ParentID        string         `json:"parent_id,omitempty"` // of a fork or of a subagent
	ParentMessageID string         `json:"parent_message_id,omitempty"`
	Permissions     policy.Rules   `json:"permissions,omitempty"`
	Metadata        map[string]any `json:"metadata,omitempty"`
	InputTokens     int64          `json:"input_tokens,omitempty"`
	OutputTokens    int64          `json:"output_tokens,omitempty"`
	CachedTokens    int64          `json:"cached_tokens,omitempty"`    // the part of InputTokens that providers had cached
	ReasoningTokens int64          `json:"reasoning_tokens,omitempty"` // the part of OutputTokens that models thought
	// Money is the cost of the session's requests and of those of its subagents, by the prices of the
	// runs, see [RunOptions].
	Money float64 `json:"money,omitempty"`
	// Sent is the number of bytes of each file that were sent to models elsewhere, if the policy has a
	// limit ([policy.SendPolicy].Above). Derived has the files whose text is in a file that a call wrote,
	// and Long the files that were longer than the limit when a call read them.
	Sent       map[string]float64  `json:"sent,omitempty"`
	Derived    map[string][]string `json:"derived,omitempty"`
	Long       []string            `json:"long,omitempty"`
	CreatedAt  time.Time           `json:"created_at"`
	UpdatedAt  time.Time           `json:"updated_at"`
	ArchivedAt time.Time           `json:"archived_at,omitzero"`
}

// Role is the role of the author of a message.
type Role string

const (
	RoleSystem    Role = "system"    // the app's instructions
	RoleUser      Role = "user"      // the user
	RoleAssistant Role = "assistant" // the model
)

// MessageRecord is a message of a session. Its content is in its [PartRecord] values.
type MessageRecord struct {
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"`
	Role      Role            `json:"role"`
	Metadata  MessageMetadata `json:"metadata,omitzero"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// MessageMetadata is the data about a message that is not part of its content.
type MessageMetadata struct {
	Usage              map[string]any `json:"usage,omitempty"`
	Model              string         `json:"model,omitempty"`
	QueuedAt           time.Time      `json:"queued_at,omitzero"`
	SnapshotID         string         `json:"snapshot_id,omitempty"` // of the folder's files, to restore them
	Trigger            string         `json:"trigger,omitempty"`
	SystemPromptDigest string         `json:"system_prompt_digest,omitempty"`
	Partial            bool           `json:"partial,omitempty"`  // the answer streams, or it ended too early
	HiddenAt           time.Time      `json:"hidden_at,omitzero"` // when a rewind hid the message, which is never deleted
}

// ToolState is the progress of a tool call.
type ToolState string

const (
	ToolInputStreaming  ToolState = "input-streaming"  // the model is still sending the arguments
	ToolInputAvailable  ToolState = "input-available"  // the arguments are complete
	ToolOutputAvailable ToolState = "output-available" // the call succeeded
	ToolOutputError     ToolState = "output-error"     // the call failed
)

// Final reports whether no other state may follow s.
func (s ToolState) Final() bool { return s == ToolOutputAvailable || s == ToolOutputError }

func (s ToolState) rank() int {
	switch s {
	case ToolInputStreaming:
		return 1
	case ToolInputAvailable:
		return 2
	case ToolOutputAvailable, ToolOutputError:
		return 3
	}
	return 0
}

// CanBecome reports whether a part in state s may be stored again in state next. States only
// advance, and no state follows a final one except itself.
func (s ToolState) CanBecome(next ToolState) bool {
	return next.rank() > 0 && (s == next || s.rank() < next.rank() && !s.Final())
}

// PartRecord is a part of a message: text, reasoning, a tool call, a file or data. A tool call is
// stored again under the same ToolCallID when its state changes.
type PartRecord struct {
	ID         string    `json:"id"`
	MessageID  string    `json:"message_id"`
	SessionID  string    `json:"session_id"`
	Index      int       `json:"index"`
	Type       string    `json:"type"`
	Data       any       `json:"data,omitempty"`
	ToolCallID string    `json:"tool_call_id,omitempty"`
	ToolState  ToolState `json:"tool_state,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
}

// Orphaned reports whether p is a tool call that was running when its session ended. It must become
// [ToolOutputError] before the session continues.
func (p *PartRecord) Orphaned() bool { return p.ToolCallID != "" && !p.ToolState.Final() }

func badRecord(kind, id, what string) error {
	return protocol.Errorf(protocol.ErrInvalidParams, kind, strictjson.Quote(id), "%s", what)
}

// Validate returns [protocol.ErrInvalidParams] with the first problem of the record, or nil.
func (s *SessionRecord) Validate() error {
	switch {
	case !ids.Valid(s.ID):
		return badRecord("session", s.ID, "the id must be 1 to 64 letters, digits, -, _ or dots")
	case s.ParentID != "" && !ids.Valid(s.ParentID) || s.ParentMessageID != "" && !ids.Valid(s.ParentMessageID):
		return badRecord("session", s.ID, "parent_id and parent_message_id must be ids")
	case s.ParentID == s.ID || s.ParentID == "" && s.ParentMessageID != "":
		return badRecord("session", s.ID, "the parent must be another session, and a parent message needs one")
	case s.InputTokens < 0 || s.OutputTokens < 0 || s.CachedTokens < 0 || s.ReasoningTokens < 0:
		return badRecord("session", s.ID, "token counts can't be negative")
	case !(s.Money >= 0) || math.IsInf(s.Money, 1): // also NaN
		return badRecord("session", s.ID, "money must be a number that is not negative")
	case s.UpdatedAt.Before(s.CreatedAt):
		return badRecord("session", s.ID, "updated before it was created")
	}
	for _, n := range s.Sent {
		if !(n >= 0) || math.IsInf(n, 1) {
			return badRecord("session", s.ID, "the bytes of a file that were sent can't be negative")
		}
	}
	return s.Permissions.Validate()
}

// Validate returns [protocol.ErrInvalidParams] with the first problem of the record, or nil.
func (m *MessageRecord) Validate() error {
	switch {
	case !ids.Valid(m.ID) || !ids.Valid(m.SessionID):
		return badRecord("message", m.ID, "id and session_id must be ids")
	case m.Role != RoleSystem && m.Role != RoleUser && m.Role != RoleAssistant:
		return badRecord("message", m.ID, "unknown role "+strictjson.Quote(string(m.Role)))
	case m.Metadata.SnapshotID != "" && !ids.Valid(m.Metadata.SnapshotID):
		return badRecord("message", m.ID, "snapshot_id must be an id")
	case m.UpdatedAt.Before(m.CreatedAt):
		return badRecord("message", m.ID, "updated before it was created")
	}
	return nil
}

// Validate returns [protocol.ErrInvalidParams] with the first problem of the record, or nil.
func (p *PartRecord) Validate() error {
	switch {
	case !ids.Valid(p.ID) || !ids.Valid(p.MessageID) || !ids.Valid(p.SessionID):
		return badRecord("part", p.ID, "id, message_id and session_id must be ids")
	case p.Index < 0:
		return badRecord("part", p.ID, "the index can't be negative")
	case p.Type == "" || len(p.Type) > 128 || protocol.ValidToolName(p.Type) != nil:
		return badRecord("part", p.ID, "the type must be a name, such as text, tool-read or data-compaction")
	case (p.ToolCallID == "") != (p.ToolState == ""):
		return badRecord("part", p.ID, "tool_call_id and tool_state belong together")
	case len(p.ToolCallID) > 256:
		return badRecord("part", p.ID, "tool_call_id is longer than 256 bytes")
	case p.ToolState != "" && p.ToolState.rank() == 0:
		return badRecord("part", p.ID, "unknown tool_state "+strictjson.Quote(string(p.ToolState)))
	case p.UpdatedAt.Before(p.CreatedAt):
		return badRecord("part", p.ID, "updated before it was created")
	}
	return nil
}
