package enclave

import (
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// RunPhase is the progress of a run.
type RunPhase uint8

const (
	RunNew     RunPhase = iota // no message of the run has been received
	RunReady                   // the run has its worker
	RunRunning                 // the code was started
	RunEnded                   // the run has ended
)

// RunState checks the messages of one run from outside of it. It checks the order of the messages,
// the open tool calls, the use of the limits, and that there is exactly one end. The first error
// ends the run. The host uses it, where the code cannot reach it, and the broker's script follows the
// same rules. It is safe for concurrent use.
type RunState struct {
	mu     sync.Mutex
	limits protocol.Limits
	now    func() time.Time

	phase   RunPhase
	began   time.Time
	open    map[int]time.Time // calls without a response, by id
	last    int               // the id of the last call
	stats   protocol.Stats
	outcome protocol.Code // empty if the code returned a result, see byHost
	byHost  bool          // the host ended the run, so late messages are not an attack
	sawEnd  bool          // a result was received
}

// NewRunState returns the state of a new run with these limits. Zero limits are those of [protocol.Strict].
// now is the host's clock, usually time.Now. Limits out of their range or a nil clock give
// [protocol.ErrInvalidParams].
func NewRunState(limits protocol.Limits, now func() time.Time) (*RunState, error) {
	if err := limits.Validate(); err != nil {
		return nil, err
	}
	if now == nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "run", "", "a run needs a clock")
	}
	return &RunState{limits: limits.Or(protocol.Strict.Limits()), now: now, open: map[int]time.Time{}}, nil
}

// Phase returns the progress of the run.
func (s *RunState) Phase() RunPhase {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase
}

// Limits returns the limits of the run, with the defaults filled in.
func (s *RunState) Limits() protocol.Limits { return s.limits }

// Left returns the remaining time of a run that is never held. The time counts only from the start of the code to
// its end.
func (s *RunState) Left() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != RunRunning {
		return s.limits.Time
	}
	return s.limits.Time - s.now().Sub(s.began)
}

// Stats returns the resources that the run has used so far.
func (s *RunState) Stats() protocol.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == RunRunning {
		s.stats.Duration = s.now().Sub(s.began)
	}
	return s.stats
}

// Outcome returns the reason why the run ended, and ok is false while it runs. The code is empty if
// the code returned a result, which may be an error.
func (s *RunState) Outcome() (code protocol.Code, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcome, s.phase == RunEnded
}

// End ends the run from outside, for a time-out, an abort or a lost worker. It reports whether the
// run was still running.
func (s *RunState) End(code protocol.Code) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == RunEnded {
		return false
	}
	s.byHost = true
	s.end(code)
	return true
}

func (s *RunState) end(code protocol.Code) {
	if s.phase == RunRunning {
		s.stats.Duration = s.now().Sub(s.began)
	}
	s.phase, s.outcome = RunEnded, code
	clear(s.open)
}

// Send records m as sent to the code. It returns [protocol.ErrSession] if m may not be sent now.
func (s *RunState) Send(m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(why string) error { return protocol.Errorf(protocol.ErrSession, "send", m.Type(), "%s", why) }
	if !HostToBroker.carries(m.Type()) {
		return refuse("this message does not go to a run")
	}
	switch m := m.(type) {
	case *MsgStart:
		if s.phase != RunReady {
			return refuse("a run is started once, after the broker is ready")
		}
		s.phase, s.began = RunRunning, s.now()
	case *MsgToolResponse:
		if s.phase != RunRunning {
			return refuse("the run has ended")
		}
		if _, ok := s.open[m.CallID]; !ok {
			return refuse("there is no open call with that id")
		}
		delete(s.open, m.CallID)
	case *MsgHold:
		if s.phase != RunRunning {
			return refuse("a run is held only while it runs")
		}
	case *MsgAbort:
		if s.phase == RunEnded {
			return refuse("the run has ended")
		}
	}
	return nil
}

// Receive records m, of size bytes, as received from the broker. It returns nil if m may come now.
// An error ends the run, except [protocol.ErrSession]: it means that the host ended the run before m
// arrived, and m must be dropped. A message after the code's own result gives
// [protocol.ErrSecurityViolation].
func (s *RunState) Receive(m Message, size int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.receive(m, size)
	if err == nil {
		return nil
	}
	if s.phase != RunEnded {
		s.end(err.Code)
	}
	return err
}

func (s *RunState) receive(m Message, size int) *protocol.Error {
	op := m.Type()
	forged := func(why string) *protocol.Error {
		return protocol.Errorf(protocol.ErrSecurityViolation, "receive", op, "%s", why)
	}
	over := func(what string, limit int) *protocol.Error {
		return protocol.Errorf(protocol.ErrResourceLimit, "receive", op, "more than %d %s", limit, what)
	}
	if !BrokerToHost.carries(m.Type()) {
		return forged("this message does not come from a run")
	}
	if _, pong := m.(*MsgPong); pong {
		return nil // a sign of life may come at any time
	}
	if s.phase == RunEnded {
		if s.byHost && !s.sawEnd {
			if _, end := m.(*MsgResult); end {
				s.sawEnd = true
			}
			return protocol.Errorf(protocol.ErrSession, "receive", op, "the run had been ended")
		}
		return forged("it came after the end of the run")
	}
	if _, ready := m.(*MsgReady); ready != (s.phase == RunNew) {
		if ready {
			return forged("ready is said once")
		}
		return forged("it came before ready")
	}
	if _, violation := m.(*MsgViolation); s.phase == RunReady && !violation {
		return forged("it came before the run was started")
	}
	switch m := m.(type) {
	case *MsgReady:
		s.phase = RunReady
	case *MsgToolCall:
		if m.CallID <= s.last {
			return forged("the ids of calls must rise")
		}
		if s.stats.ToolCalls >= s.limits.ToolCalls {
			return over("tool calls", s.limits.ToolCalls)
		}
		if len(s.open) >= s.limits.Parallel {
			return over("tool calls at once", s.limits.Parallel)
		}
		s.stats.ToolCalls++
		s.last = m.CallID
		s.open[m.CallID] = s.now()
	case *MsgConsole:
		if s.stats.ConsoleCalls >= s.limits.ConsoleCalls {
			return over("calls of console", s.limits.ConsoleCalls)
		}
		if s.stats.ConsoleBytes+size > s.limits.ConsoleBytes {
			return over("bytes of console", s.limits.ConsoleBytes)
		}
		s.stats.ConsoleCalls++
		s.stats.ConsoleBytes += size
	case *MsgResult:
		s.sawEnd = true
		if size > s.limits.Output {
			return protocol.Errorf(protocol.ErrOutputTooLarge, "receive", op, "the result has %d bytes; the limit is %d", size, s.limits.Output)
		}
		s.stats.OutputBytes = size
		s.stats.EstimatedHeap = m.Heap
		s.end("")
	}
	return nil
}

// Open returns the ids of the tool calls without a response, in no order.
func (s *RunState) Open() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]int, 0, len(s.open))
	for id := range s.open {
		out = append(out, id)
	}
	return out
}

// ErrorName returns the name that code sees of an error with a code, as the enclave's own errors have it.
func ErrorName(c protocol.Code) string {
	switch c {
	case protocol.ErrTimeout:
		return "TimeoutError"
	case protocol.ErrAborted:
		return "AbortError"
	case protocol.ErrSecurityViolation:
		return "SecurityError"
	case protocol.ErrResourceLimit, protocol.ErrOutputTooLarge:
		return "ResourceLimitError"
	}
	return "SandboxError"
}
