package sandbox

import (
	"context"

	"github.com/bailey-go/bailey/protocol"
)

// Progress is a line of text from a running call.
type Progress struct {
	Session string // the id of the session
	Call    string // the model's id of the call, as in [Chunk].ToolCallID
	Text    string
}

// Tell calls [Options].OnProgress with a line of text for the call that ctx belongs to. For
// example, a command runner reports the output of a program this way. Lines of calls that a call
// makes itself are reported under the outer call. Tell does nothing outside of a call, and if
// OnProgress is nil.
func Tell(ctx context.Context, text string) {
	c, ok := ctx.Value(callKey{}).(*Call)
	if ok && c.model != "" && c.box.o.OnProgress != nil {
		c.box.o.OnProgress(Progress{Session: c.Session(), Call: c.model, Text: text})
	}
}

// StopCall ends one call of the active run, by the model's id of the call. The run continues, and
// the model receives why as the call's error. It reports whether there was such a call, and does
// not wait for it.
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

// stoppable registers a call for StopCall. The returned function removes it.
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
