package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// Progress is a line that a call says while it is under way.
type Progress struct {
	Session string // the id of its session
	Call    string // the model's own id of the call, as in [Chunk].ToolCallID
	Text    string
}

// Tell hands a line of text to [Options].OnProgress, for the call that ctx belongs to: what a
// runner of code or of commands prints, or what it waits for. Of calls that the call makes
// itself the lines are its own. Outside of a call, and where nobody hears, it does nothing.
func Tell(ctx context.Context, text string) {
	c, ok := ctx.Value(callKey{}).(*Call)
	if ok && c.model != "" && c.box.o.OnProgress != nil {
		c.box.o.OnProgress(Progress{Session: c.Session(), Call: c.model, Text: text})
	}
}

// StopCall ends one call of the run under way, by the model's own id of it; the run goes on,
// and the model hears why. It reports whether there was such a call, and doesn't wait.
func (s *Session) StopCall(call, why string) bool {
	s.scope.mu.Lock()
	stop := s.scope.stops[call]
	s.scope.mu.Unlock()
	if stop == nil {
		return false
	}
	stop(protocol.Errorf(protocol.ErrAborted, "call", "", "%s", why))
	return true
}

// stoppable makes a call of the model's one that StopCall finds, until it has ended.
func (s *scope) stoppable(call string, stop context.CancelCauseFunc) (ended func()) {
	if call == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops == nil {
		s.stops = map[string]context.CancelCauseFunc{}
	}
	s.stops[call] = stop
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.stops, call)
	}
}
