package until

import "context"

// Looks is a context for tests of work that pauses. It counts the checks of the context,
// and is canceled from check number End on, if End is set. It is for one goroutine.
//
// The number of checks in a run depends on the machine, because a pause that is due by the
// clock checks once more. So a test uses [Looks.Ended] to find out whether a run was ended.
type Looks struct {
	context.Context
	N   int // checks so far
	End int // the check that cancels, 0 for never
}

// Err counts one check and returns [context.Canceled] from check number End on.
func (l *Looks) Err() error {
	if l.N++; l.Ended() {
		return context.Canceled
	}
	return l.Context.Err()
}

// Ended reports whether a check has found the context canceled.
func (l *Looks) Ended() bool { return l.End > 0 && l.N >= l.End }
