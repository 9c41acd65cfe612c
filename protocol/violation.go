package protocol

import "time"

// Violation is an attempt that was stopped.
type Violation struct {
	Time   time.Time `json:"ts"`
	Layer  string    `json:"layer"`             // the layer that stopped it: "csp", "broker", "policy" …
	Code   Code      `json:"code"`              // the kind of error
	Detail string    `json:"detail"`            // the attempt, in one line
	ExecID string    `json:"exec_id,omitempty"` // of the run in which it happened
	Tool   string    `json:"tool,omitempty"`
	Rule   string    `json:"rule,omitempty"`
	Reason Reason    `json:"reason,omitempty"` // [ReasonRejected] if the user declined
}
