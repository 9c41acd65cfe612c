package enclave_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

type clock struct{ t time.Time }

func newClock() *clock                   { return &clock{time.Unix(1_000, 0)} }
func (c *clock) now() time.Time          { return c.t }
func (c *clock) advance(d time.Duration) { c.t = c.t.Add(d) }

func running(t *testing.T, l protocol.Limits) (*enclave.RunState, *clock) {
	t.Helper()
	c := newClock()
	s, err := enclave.NewRunState(l, c.now)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Receive(&enclave.MsgReady{}, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Send(&enclave.MsgStart{Run: "r"}); err != nil {
		t.Fatal(err)
	}
	return s, c
}

func call(id int) *enclave.MsgToolCall { return &enclave.MsgToolCall{CallID: id, Tool: "t"} }

func TestRunEndsExactlyOnce(t *testing.T) {
	s, c := running(t, protocol.Limits{})
	c.advance(time.Second)
	if err := s.Receive(&enclave.MsgResult{Success: true}, 30); err != nil {
		t.Fatal(err)
	}
	if code, done := s.Outcome(); !done || code != "" {
		t.Errorf("%s %t", string(code), done)
	}
	if s.End(protocol.ErrTimeout) {
		t.Error("a run ended twice")
	}
	for _, m := range []enclave.Message{&enclave.MsgResult{Success: true}, call(1), &enclave.MsgConsole{Level: "log"}, &enclave.MsgReady{}, &enclave.MsgViolation{}} {
		if err := s.Receive(m, 10); !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Errorf("%s after the result: %v", m.Type(), err)
		}
	}
	if err := s.Receive(&enclave.MsgPong{}, 10); err != nil {
		t.Errorf("a sign of life after the result: %v", err)
	}
	if code, _ := s.Outcome(); code != "" {
		t.Error("what came later changed the outcome")
	}
	if st := s.Stats(); st.Duration != time.Second || st.OutputBytes != 30 {
		t.Errorf("%+v", st)
	}
}

func TestRunEndedByTheHostDropsWhatComes(t *testing.T) {
	s, c := running(t, protocol.Limits{})
	c.advance(4 * time.Second)
	if left := s.Left(); left != time.Second {
		t.Errorf("%v left", left)
	}
	if !s.End(protocol.ErrTimeout) || s.End(protocol.ErrAborted) {
		t.Error("End")
	}
	for _, m := range []enclave.Message{call(1), &enclave.MsgConsole{Level: "log"}, &enclave.MsgResult{Success: true}} {
		if err := s.Receive(m, 10); !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s after the end: %v", m.Type(), err)
		}
	}
	if err := s.Receive(&enclave.MsgResult{Success: true}, 10); !errors.Is(err, protocol.ErrSecurityViolation) {
		t.Errorf("a second result after the end: %v", err)
	}
	if code, done := s.Outcome(); code != protocol.ErrTimeout || !done {
		t.Errorf("%s", string(code))
	}
	if err := s.Send(&enclave.MsgToolResponse{CallID: 1}); err == nil {
		t.Error("an answer was sent to a run that ended")
	}
}

// A run is held while it runs, and neither before nor afterwards.
func TestOnlyARunThatRunsIsHeld(t *testing.T) {
	fresh, err := enclave.NewRunState(protocol.Limits{}, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := running(t, protocol.Limits{})
	if err := s.Send(&enclave.MsgHold{On: true}); err != nil {
		t.Error(err)
	}
	s.End(protocol.ErrAborted)
	for name, s := range map[string]*enclave.RunState{"before": fresh, "afterwards": s} {
		if err := s.Send(&enclave.MsgHold{On: true}); !errors.Is(err, protocol.ErrSession) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestForgedMessagesEndARun(t *testing.T) {
	for name, do := range map[string]func(s *enclave.RunState) error{
		"an id twice":            func(s *enclave.RunState) error { s.Receive(call(1), 1); return s.Receive(call(1), 1) },
		"an id that falls":       func(s *enclave.RunState) error { s.Receive(call(5), 1); return s.Receive(call(4), 1) },
		"ready again":            func(s *enclave.RunState) error { return s.Receive(&enclave.MsgReady{}, 1) },
		"a start from within":    func(s *enclave.RunState) error { return s.Receive(&enclave.MsgStart{Run: "x"}, 1) },
		"an answer from within":  func(s *enclave.RunState) error { return s.Receive(&enclave.MsgToolResponse{CallID: 1}, 1) },
		"an abort from within":   func(s *enclave.RunState) error { return s.Receive(&enclave.MsgAbort{}, 1) },
		"a hold from within":     func(s *enclave.RunState) error { return s.Receive(&enclave.MsgHold{On: true}, 1) },
		"a ping from the inside": func(s *enclave.RunState) error { return s.Receive(&enclave.MsgPing{}, 1) },
	} {
		s, _ := running(t, protocol.Limits{})
		if err := do(s); !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Errorf("%s: %v", name, err)
		}
		if code, done := s.Outcome(); !done || code != protocol.ErrSecurityViolation {
			t.Errorf("%s did not end the run", name)
		}
	}
	for name, m := range map[string]enclave.Message{"call": call(1), "result": &enclave.MsgResult{Success: true}, "console": &enclave.MsgConsole{Level: "log"}} {
		s, err := enclave.NewRunState(protocol.Limits{}, newClock().now)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Receive(m, 1); !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Errorf("%s before ready: %v", name, err)
		}
		s, _ = enclave.NewRunState(protocol.Limits{}, newClock().now)
		s.Receive(&enclave.MsgReady{}, 1)
		if err := s.Receive(m, 1); !errors.Is(err, protocol.ErrSecurityViolation) {
			t.Errorf("%s before the start: %v", name, err)
		}
	}
}

func TestSendFollowsTheRun(t *testing.T) {
	s, err := enclave.NewRunState(protocol.Limits{}, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	if s.Send(&enclave.MsgStart{}) == nil {
		t.Error("started before ready")
	}
	s.Receive(&enclave.MsgReady{}, 1)
	if err := s.Send(&enclave.MsgStart{}); err != nil {
		t.Fatal(err)
	}
	if s.Send(&enclave.MsgStart{}) == nil {
		t.Error("started twice")
	}
	if s.Send(&enclave.MsgToolResponse{CallID: 1}) == nil {
		t.Error("answered a call that was not made")
	}
	if s.Send(&enclave.MsgResult{}) == nil || s.Send(&enclave.MsgReady{}) == nil {
		t.Error("sent what does not go to a run")
	}
	s.Receive(call(1), 1)
	if open := s.Open(); len(open) != 1 || open[0] != 1 {
		t.Errorf("open: %v", open)
	}
	if err := s.Send(&enclave.MsgToolResponse{CallID: 1}); err != nil {
		t.Error(err)
	}
	if s.Send(&enclave.MsgToolResponse{CallID: 1}) == nil {
		t.Error("answered twice")
	}
	if err := s.Send(&enclave.MsgAbort{}); err != nil {
		t.Error(err)
	}
}

func TestRunLimitsAtBelowAndAbove(t *testing.T) {
	limits := protocol.Limits{ToolCalls: 3, ConsoleCalls: 3, ConsoleBytes: 100, Output: 50, Parallel: 2}
	answer := func(s *enclave.RunState, id int) { s.Send(&enclave.MsgToolResponse{CallID: id}) }
	console := &enclave.MsgConsole{Level: "log"}
	for _, c := range []struct {
		name string
		do   func(s *enclave.RunState) error
		want error
	}{
		{"calls at", func(s *enclave.RunState) error {
			for i := 1; i < 3; i++ {
				s.Receive(call(i), 1)
				answer(s, i)
			}
			return s.Receive(call(3), 1)
		}, nil},
		{"calls above", func(s *enclave.RunState) error {
			for i := 1; i <= 3; i++ {
				s.Receive(call(i), 1)
				answer(s, i)
			}
			return s.Receive(call(4), 1)
		}, protocol.ErrResourceLimit},
		{"open at", func(s *enclave.RunState) error { s.Receive(call(1), 1); return s.Receive(call(2), 1) }, nil},
		{"open above", func(s *enclave.RunState) error {
			s.Receive(call(1), 1)
			s.Receive(call(2), 1)
			return s.Receive(call(3), 1)
		}, protocol.ErrResourceLimit},
		{"console calls at", func(s *enclave.RunState) error {
			s.Receive(console, 1)
			s.Receive(console, 1)
			return s.Receive(console, 1)
		}, nil},
		{"console calls above", func(s *enclave.RunState) error {
			for range 3 {
				s.Receive(console, 1)
			}
			return s.Receive(console, 1)
		}, protocol.ErrResourceLimit},
		{"console bytes below", func(s *enclave.RunState) error { return s.Receive(console, 99) }, nil},
		{"console bytes at", func(s *enclave.RunState) error { s.Receive(console, 99); return s.Receive(console, 1) }, nil},
		{"console bytes above", func(s *enclave.RunState) error { s.Receive(console, 99); return s.Receive(console, 2) }, protocol.ErrResourceLimit},
		{"output at", func(s *enclave.RunState) error { return s.Receive(&enclave.MsgResult{Success: true}, 50) }, nil},
		{"output above", func(s *enclave.RunState) error { return s.Receive(&enclave.MsgResult{Success: true}, 51) }, protocol.ErrOutputTooLarge},
	} {
		s, _ := running(t, limits)
		err := c.do(s)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, done := s.Outcome(); c.want != nil && !done {
			t.Errorf("%s: the first excess must end the run", c.name)
		}
	}
	if _, err := enclave.NewRunState(protocol.Limits{Time: -1}, time.Now); err == nil {
		t.Error("bad limits are taken")
	}
	if _, err := enclave.NewRunState(protocol.Limits{}, nil); err == nil {
		t.Error("a run without a clock")
	}
}

// For any messages in any order, counts stay within the limits, and a run that has ended stays
// ended.
func TestRandomRuns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	ends := map[protocol.Code]int{}
	for range 3000 {
		c := newClock()
		s, err := enclave.NewRunState(protocol.Limits{ToolCalls: 5, ConsoleCalls: 4, ConsoleBytes: 50, Output: 20, Parallel: 3}, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if rnd.IntN(10) > 0 {
			s.Receive(&enclave.MsgReady{}, 1)
			s.Send(&enclave.MsgStart{})
		}
		id, ended, end := 0, false, protocol.Code("")
		for range 30 {
			c.advance(time.Millisecond)
			switch rnd.IntN(12) {
			case 0, 1, 2, 3:
				id += rnd.IntN(8) / 7
				id++
				s.Receive(call(id), 1)
			case 4, 5, 6:
				s.Send(&enclave.MsgToolResponse{CallID: 1 + rnd.IntN(6)})
			case 7, 8:
				s.Receive(&enclave.MsgConsole{Level: "log"}, rnd.IntN(30))
			case 9:
				s.Receive(&enclave.MsgResult{Success: true}, rnd.IntN(25))
			case 10:
				s.Receive(&enclave.MsgReady{}, 1)
			case 11:
				if rnd.IntN(3) == 0 {
					s.End(protocol.ErrAborted)
				}
			}
			code, done := s.Outcome()
			if ended && (!done || code != end) {
				t.Fatal("a run that ended went on, or ended otherwise")
			}
			ended, end = done, code
			if st := s.Stats(); st.ToolCalls > 5 || st.ConsoleCalls > 4 || st.ConsoleBytes > 50 || st.OutputBytes > 20 || len(s.Open()) > 3 || done && len(s.Open()) > 0 {
				t.Fatalf("over a limit: %+v, %v", st, s.Open())
			}
		}
		if ended {
			ends[end]++
		}
	}
	if len(ends) < 5 {
		t.Errorf("the runs ended in few ways: %v", ends)
	}
}
