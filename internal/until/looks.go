package until

import "context"

// Looks is a context for the tests of work that rests: it counts how often the work looks whether
// it is to end, and is canceled from look End on, if End is set. It is for one goroutine.
//
// How many looks a run takes depends on the machine, as a rest that is due by the clock looks once
// more. So a test asks each run itself whether it was ended, by [Looks.Ended].
type Looks struct {
	context.Context
	N   int // looks so far
	End int // 0: never
}

func (l *Looks) Err() error {
	if l.N++; l.Ended() {
		return context.Canceled
	}
	return l.Context.Err()
}

// Ended reports whether a look has found the context canceled.
func (l *Looks) Ended() bool { return l.End > 0 && l.N >= l.End }
