package protocol

import (
	"time"

	"github.com/bailey-go/bailey/internal/ids"
)

// TraceType is the kind of a trace event.
type TraceType string

const (
	TraceStart      TraceType = "execution_start"   // a run started
	TraceTool       TraceType = "tool_call"         // a tool was called
	TraceCapability TraceType = "capability_invoke" // a capability was used
	TracePermission TraceType = "permission"        // a policy or a user decided about a call
	traceError      TraceType = "error"             // an error occurred; Bailey itself writes errors into TraceEnd
	TraceEnd        TraceType = "execution_end"     // a run ended
)

// Valid reports whether t is one of the six types.
func (t TraceType) Valid() bool {
	switch t {
	case TraceStart, TraceTool, TraceCapability, TracePermission, traceError, TraceEnd:
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
	App        string     `json:"app,omitempty"` // the tool whose page made the call
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
	case !ids.Valid(e.TraceID) || !ids.Valid(e.ExecID):
		return bad("trace_id and exec_id must be ids")
	case e.ParentID != "" && !ids.Valid(e.ParentID) || e.RootID != "" && !ids.Valid(e.RootID):
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
