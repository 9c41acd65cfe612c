package protocol

import (
	"strconv"
	"sync/atomic"
	"time"
)

// TraceType is the kind of a trace event.
type TraceType string

const (
	TraceStart      TraceType = "execution_start"   // a run started
	TraceTool       TraceType = "tool_call"         // a tool was called
	TraceCapability TraceType = "capability_invoke" // a capability was used
	TracePermission TraceType = "permission"        // a policy or a user decided about a call
	TraceError      TraceType = "error"             // an error occurred
	TraceEnd        TraceType = "execution_end"     // a run ended
)

// Valid reports whether t is one of the six types.
func (t TraceType) Valid() bool {
	switch t {
	case TraceStart, TraceTool, TraceCapability, TracePermission, TraceError, TraceEnd:
		return true
	}
	return false
}

// TraceEvent is one event of a run: an action or a decision.
type TraceEvent struct {
	TraceID    string     `json:"trace_id"`
	ParentID   string     `json:"parent_trace_id,omitempty"`
	RootID     string     `json:"root_id,omitempty"`
	ExecID     string     `json:"exec_id"`
	Type       TraceType  `json:"type"`
	Time       time.Time  `json:"ts"`
	DurationMS float64    `json:"duration_ms,omitempty"`
	Tool       string     `json:"tool,omitempty"`
	Server     string     `json:"server,omitempty"`
	Capability Capability `json:"capability,omitempty"`
	Decision   Action     `json:"decision,omitempty"`
	Rule       string     `json:"rule,omitempty"`
	Input      any        `json:"input,omitempty"`
	Output     any        `json:"output,omitempty"`
	Status     string     `json:"status,omitempty"` // "ok", "error", "denied", "aborted"
	Error      string     `json:"error,omitempty"`
}

// Validate returns [ErrInvalidParams] with the first problem of an event from an untrusted source,
// or nil.
func (e *TraceEvent) Validate() error {
	bad := func(what string) error {
		return Errorf(ErrInvalidParams, "trace", quote(e.TraceID), "%s", what)
	}
	switch {
	case !validID(e.TraceID) || !validID(e.ExecID):
		return bad("trace_id and exec_id must be ids")
	case e.ParentID != "" && !validID(e.ParentID) || e.RootID != "" && !validID(e.RootID):
		return bad("parent_trace_id and root_id must be ids")
	case e.ParentID == e.TraceID:
		return bad("an event can't be its own parent")
	case !e.Type.Valid():
		return bad("unknown type " + quote(string(e.Type)))
	case !(e.DurationMS >= 0):
		return bad("the duration is negative or not a number")
	case e.Capability != "" && !e.Capability.Valid():
		return bad("unknown capability " + quote(string(e.Capability)))
	case e.Decision != "" && !e.Decision.Valid():
		return bad("unknown decision " + quote(string(e.Decision)))
	}
	switch e.Status {
	case "", "ok", "error", "denied", "aborted":
		return nil
	}
	return bad("unknown status " + quote(e.Status))
}

// IDs makes ids that are unique for one prefix, such as "run-7f3a.12". An id is a name and not a
// secret. An IDs is safe for concurrent use.
type IDs struct {
	prefix string
	n      atomic.Uint64
}

// NewIDs returns a source of ids. The prefix must have 1 to 40 letters, digits, hyphens,
// underscores or dots.
func NewIDs(prefix string) (*IDs, error) {
	if !validID(prefix) || len(prefix) > 40 {
		return nil, Errorf(ErrInvalidParams, "id", quote(prefix), "the prefix must be 1 to 40 letters, digits, -, _ or dots")
	}
	return &IDs{prefix: prefix}, nil
}

// Next returns the next id: the prefix, a dot and a number to the base 36.
func (i *IDs) Next() string { return i.prefix + "." + strconv.FormatUint(i.n.Add(1), 36) }

// validID reports whether s can be the id of a run, a trace or a session: 1 to 64 letters, digits,
// hyphens, underscores and dots, and not a name that reaches a prototype.
func validID(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '-' && c != '_' && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 64 && !reservedKey(s)
}
