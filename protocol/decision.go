package protocol

// Action is what a policy says about a call.
type Action string

const (
	ActionAllow Action = "allow"
	ActionDeny  Action = "deny"
	ActionAsk   Action = "ask"
)

// Valid reports whether a is one of the three.
func (a Action) Valid() bool { return a == ActionAllow || a == ActionDeny || a == ActionAsk }

func (a Action) strictness() int {
	switch a {
	case ActionAllow:
		return 0
	case ActionAsk:
		return 1
	}
	return 2 // deny, and whatever is not understood
}

// Decision is an action with its reason. The zero Decision denies.
type Decision struct {
	Action Action `json:"action"`
	Reason string `json:"reason,omitempty"`
	Rule   *Rule  `json:"rule,omitempty"` // the rule that decided, if one did
	// Refines is the reason that goes with the error, such as [ReasonProtected].
	Refines Reason `json:"refines,omitempty"`
	// Private, if set, is the reason with the entry of the policy that decided, such as
	// `denied by denyRead "clients/acme/**"`. It is for the person and their log alone: an
	// entry can name files and hosts that a model does not know.
	Private string `json:"-"`
}

// Allow is the decision to go on.
func Allow() Decision { return Decision{Action: ActionAllow} }

// Deny is the decision not to, with a reason that the model gets to read.
func Deny(reason string) Decision { return Decision{Action: ActionDeny, Reason: reason} }

// Ask is the decision to let the person decide.
func Ask(reason string) Decision { return Decision{Action: ActionAsk, Reason: reason} }

// Narrow returns the stricter of two decisions: whoever looks at a call later may
// take away and never give.
func (d Decision) Narrow(other Decision) Decision {
	if other.Action.strictness() > d.Action.strictness() {
		return other
	}
	return d
}

// Headless is d with nobody there to ask.
func (d Decision) Headless() Decision {
	if d.Action == ActionAsk {
		d.Action = ActionDeny
		const nobody = "this needs a person's consent and nobody is there to ask: "
		d.Reason = nobody + d.Reason
		if d.Private != "" {
			d.Private = nobody + d.Private
		}
	}
	return d
}

// Err is nil for allow; otherwise an *[Error] with [ErrCapabilityDenied]. An ask
// that nobody answered is a denial.
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

// Answer is what a person says to an ask.
type Answer string

const (
	AnswerOnce    Answer = "once"
	AnswerSession Answer = "session" // and until the session ends
	AnswerProject Answer = "project" // and from now on, in this folder
	AnswerReject  Answer = "reject"
	AnswerNever   Answer = "never" // a rejection that is kept as a rule, as project is
)

// Valid reports whether a is one of the five. Anything else is to be taken for a
// rejection.
func (a Answer) Valid() bool {
	switch a {
	case AnswerOnce, AnswerSession, AnswerProject, AnswerReject, AnswerNever:
		return true
	}
	return false
}

// Decision is what the answer means for the call that was asked about.
func (a Answer) Decision() Decision {
	if a == AnswerOnce || a == AnswerSession || a == AnswerProject {
		return Decision{Action: ActionAllow, Reason: "the person said yes"}
	}
	return Decision{Action: ActionDeny, Reason: "the person said no", Refines: ReasonRejected}
}
