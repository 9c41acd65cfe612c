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
