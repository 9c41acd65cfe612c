package protocol

// Action is the result of a policy for a call.
type Action string

const (
	ActionAllow Action = "allow" // the call may go on
	ActionDeny  Action = "deny"  // the call is refused
	ActionAsk   Action = "ask"   // the user decides
)

// Valid reports whether a is one of the three actions.
func (a Action) Valid() bool { return a == ActionAllow || a == ActionDeny || a == ActionAsk }

func (a Action) strictness() int {
	switch a {
	case ActionAllow:
		return 0
	case ActionAsk:
		return 1
	}
	return 2 // deny, and unknown actions
}

// Decision is an action with its reason. The zero Decision denies.
type Decision struct {
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"`
	Rule   *Rule  `json:"rule,omitempty"` // the rule that decided, or nil
	// Refines is the reason of the error, such as [ReasonProtected], or empty.
	Refines Reason `json:"refines,omitempty"`
	// Private, if set, is the reason with the entry of the policy that decided, such as `denied by
	// denyRead "clients/acme/**"`. It is for the user and the user's log only, because an entry can
	// name files and hosts that the model has not seen.
	Private string `json:"-"`
}

// Allow returns the decision that a call may go on.
func Allow() Decision { return Decision{Action: ActionAllow} }

// Deny returns the decision that refuses a call. The model receives the reason.
func Deny(reason string) Decision { return Decision{Action: ActionDeny, Reason: reason} }

// Ask returns the decision that the user is asked about a call.
func Ask(reason string) Decision { return Decision{Action: ActionAsk, Reason: reason} }

// Narrow returns the stricter of two decisions: deny before ask before allow. So a later check
// can forbid a call, but never allow it.
func (d Decision) Narrow(other Decision) Decision {
	if other.Action.strictness() > d.Action.strictness() {
		return other
	}
	return d
}

// Headless returns d for a session without a user to ask: an ask becomes a denial.
func (d Decision) Headless() Decision {
	if d.Action == ActionAsk {
		d.Action = ActionDeny
		const nobody = "this needs the user's consent and nobody is there to ask: "
		d.Reason = nobody + d.Reason
		if d.Private != "" {
			d.Private = nobody + d.Private
		}
	}
	return d
}

// Err returns nil for allow, else an *[Error] with [ErrCapabilityDenied]. An ask that was not
// answered is a denial with [ReasonNobodyAsks].
func (d Decision) Err(op, subject string) error {
	switch d.Action {
	case ActionAllow:
		return nil
	case ActionAsk:
		return Errorf(ErrCapabilityDenied, op, subject, "%s", d.Headless().Reason).WithReason(ReasonNobodyAsks)
	}
	why := d.Reason
	if why == "" {
		why = "denied"
	}
	return Errorf(ErrCapabilityDenied, op, subject, "%s", why).WithReason(d.Refines)
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
// [ReasonRejected] for all other answers.
func (a Answer) Decision() Decision {
	if a == AnswerOnce || a == AnswerSession || a == AnswerProject {
		return Decision{Action: ActionAllow, Reason: "the user agreed"}
	}
	return Decision{Action: ActionDeny, Reason: "the user declined", Refines: ReasonRejected}
}
