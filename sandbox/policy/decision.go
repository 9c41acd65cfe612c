package policy

import "github.com/bailey-go/bailey/protocol"

// Decision is an action with its reason. The zero Decision denies.
type Decision struct {
	Action protocol.Action `json:"action"`
	Reason string          `json:"reason,omitempty"`
	Rule   *Rule           `json:"rule,omitempty"` // the rule that decided, or nil
	// Refines is the reason of the error, such as [protocol.ReasonProtected], or empty.
	Refines protocol.Reason `json:"refines,omitempty"`
	// Private, if set, is the reason with the entry of the policy that decided, such as `denied by
	// denyRead "clients/acme/**"`. It is for the user and the user's log only, because an entry can
	// name files and hosts that the model has not seen.
	Private string `json:"-"`
}

// allow returns the decision that a call may go on.
func allow() Decision { return Decision{Action: protocol.ActionAllow} }

// deny returns the decision that refuses a call. The model receives the reason.
func deny(reason string) Decision { return Decision{Action: protocol.ActionDeny, Reason: reason} }

// ask returns the decision that the user is asked about a call.
func ask(reason string) Decision { return Decision{Action: protocol.ActionAsk, Reason: reason} }

// Narrow returns the stricter of two decisions: deny before ask before allow. So a later check
// can forbid a call, but never allow it.
func (d Decision) Narrow(other Decision) Decision {
	if strictness(other.Action) > strictness(d.Action) {
		return other
	}
	return d
}

// strictness orders actions: allow, ask, deny. An unknown action is a denial.
func strictness(a protocol.Action) int {
	switch a {
	case protocol.ActionAllow:
		return 0
	case protocol.ActionAsk:
		return 1
	}
	return 2
}

// Headless returns d for a session without a user to ask: an ask becomes a denial.
func (d Decision) Headless() Decision {
	if d.Action == protocol.ActionAsk {
		d.Action = protocol.ActionDeny
		const nobody = "this needs the user's consent and nobody is there to ask: "
		d.Reason = nobody + d.Reason
		if d.Private != "" {
			d.Private = nobody + d.Private
		}
	}
	return d
}

// Err returns nil for allow, else an *[protocol.Error] with [protocol.ErrCapabilityDenied]. An ask that was not
// answered is a denial with [protocol.ReasonNobodyAsks].
func (d Decision) Err(op, subject string) error {
	switch d.Action {
	case protocol.ActionAllow:
		return nil
	case protocol.ActionAsk:
		return protocol.Errorf(protocol.ErrCapabilityDenied, op, subject, "%s", d.Headless().Reason).WithReason(protocol.ReasonNobodyAsks)
	}
	why := d.Reason
	if why == "" {
		why = "denied"
	}
	return protocol.Errorf(protocol.ErrCapabilityDenied, op, subject, "%s", why).WithReason(d.Refines)
}

// Answer is the answer of a user to a question about a call.
type Answer string

const (
	AnswerOnce    Answer = "once"    // yes, to this call
	AnswerSession Answer = "session" // yes, until the session ends
	AnswerProject Answer = "project" // yes, from now on in this folder
	AnswerReject  Answer = "reject"  // no, to this call
	AnswerNever   Answer = "never"   // no, stored as a rule like AnswerProject
)

// Valid reports whether a is one of the five answers. Any other value counts as a rejection, see
// [Answer.Decision].
func (a Answer) Valid() bool {
	switch a {
	case AnswerOnce, AnswerSession, AnswerProject, AnswerReject, AnswerNever:
		return true
	}
	return false
}

// Decision returns the decision about the call: allow for once, session and project, and deny with
// [protocol.ReasonRejected] for all other answers.
func (a Answer) Decision() Decision {
	if a == AnswerOnce || a == AnswerSession || a == AnswerProject {
		return Decision{Action: protocol.ActionAllow, Reason: "the user agreed"}
	}
	return Decision{Action: protocol.ActionDeny, Reason: "the user declined", Refines: protocol.ReasonRejected}
}
