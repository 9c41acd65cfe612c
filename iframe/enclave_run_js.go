package iframe

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// run is one run of code. The pool's loop owns it.
type run struct {
	frame.Run
	im      *poolImpl
	id      string
	program string // empty once the run has started
	text    string // the start message, as a batch of any generation
	start   *enclave.MsgStart
	limits  protocol.Limits
	opts    RunOptions
	lines   int // of the code
	state   *enclave.RunState
	ctx     context.Context  // of the tools, ends with the run
	limit   *stopclock.Clock // of the run, and of ctx
	calls   *caller
	open    map[int]*call
	result  protocol.RunResult
	done    chan struct{} // closed when the result is complete

	answers     []string // to tool calls, not posted yet
	answerBytes int
}

// call is a tool call in progress.
type call struct {
	m  *enclave.MsgToolCall
	at time.Time
}

func (im *poolImpl) run(ctx context.Context, code string, opts RunOptions) (*protocol.RunResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, protocol.Errorf(protocol.CodeOf(err), "run", "", "%w", err)
	}
	id := im.ids.Next()
	program, text, start, limits, err := newProgram(im.opts, code, id, opts)
	if err != nil {
		return nil, err
	}
	state, err := enclave.NewRunState(limits, time.Now)
	if err != nil {
		return nil, err
	}
	r := &run{im: im, id: id, program: program, text: text, start: start, limits: limits, opts: opts, lines: strings.Count(code, "\n") + 1, state: state,
		open: map[int]*call{}, done: make(chan struct{})}
	r.Run = frame.NewRun(im.Pool, r)
	r.ctx, r.limit = stopclock.New(ctx, stopclock.Options{Limit: limits.Time, Most: cmp.Or(im.opts.most, stopclock.Most), Cause: context.DeadlineExceeded,
		Late:   func() { im.Do(func() { r.End(protocol.ErrTimeout, frame.TimeText(limits.Time)) }) },
		Paused: func(on bool) { im.Do(func() { im.hold(r, on) }) }})
	r.calls = newCaller(context.WithoutCancel(ctx))
	defer r.limit.Stop()
	defer r.Scope.Close()
	defer r.calls.close()
	im.Do(func() { im.Submit(r) })
	select {
	case <-r.done:
	case <-ctx.Done():
		im.Do(func() { im.abort(r, context.Cause(ctx)) })
	case <-im.Done():
	}
	select {
	case <-r.done:
	case <-im.Done():
		select {
		case <-r.done:
		default:
			if err := im.Err(); err != nil {
				return nil, err
			}
			return nil, ErrClosed
		}
	}
	if r.Began.IsZero() && !r.result.Success {
		return nil, r.result.Err()
	}
	return &r.result, r.result.Err()
}

// Begin starts the run of s on its broker, which is ready.
func (im *poolImpl) Begin(s *frame.Slot) {
	r := s.Job.(*run)
	r.Run.Begin(s)
	r.answers, r.answerBytes = nil, 0
	err := r.state.Receive(&enclave.MsgReady{}, 0) // it arrived before there was a run
	if err == nil {
		err = r.state.Send(r.start)
	}
	if err == nil {
		err = s.Data.Post(frame.Start(enclave.Rebase(r.text, s.Gen), r.program))
	}
	r.limit.Start()
	im.trace(r, protocol.TraceEvent{Type: protocol.TraceStart, Time: r.Began})
	if err != nil {
		r.Fail(frame.NotStarted, err)
	}
}

// Retry is [frame.Run.Retry], with a new state.
func (r *run) Retry() bool {
	state, err := enclave.NewRunState(r.limits, time.Now)
	if err != nil || !r.Run.Retry() {
		return false
	}
	r.limit.Rest()
	r.state, r.result.Traces = state, nil
	return true
}

// abort ends a run whose context has ended, after its grace.
func (im *poolImpl) abort(r *run, cause error) {
	r.limit.Stop()
	r.Abort(cause, r.opts.Grace, func(s *frame.Slot, _ protocol.Code, why string) { im.send(s, &enclave.MsgAbort{Reason: why}) })
}

// hold pauses the broker's time limit while a person is asked, or ends that. The broker goes on counting if the code
// works meanwhile.
func (im *poolImpl) hold(r *run, on bool) {
	if s := r.Broker(); s != nil {
		im.send(s, &enclave.MsgHold{On: on})
	}
}

// send posts a message to a slot's broker. Answers to tool calls are kept until the loop is
// idle, so that the answers to many calls cross together.
func (im *poolImpl) send(s *frame.Slot, m enclave.Message) {
	r, ok := s.Job.(*run)
	if !ok || r.state.Send(m) != nil {
		return
	}
	text, err := encodeMessage(s.Gen, r.limits, m)
	if a, ok := m.(*enclave.MsgToolResponse); ok {
		if err != nil {
			p := protocol.Public(protocol.Errorf(protocol.CodeOf(err), "answer", "", "the tool's result can't be sent: %v", err))
			text, err = encodeMessage(s.Gen, r.limits, &enclave.MsgToolResponse{CallID: a.CallID, Error: &p})
		}
		if err == nil {
			r.answers = append(r.answers, text)
			if r.answerBytes += len(text); len(r.answers) >= maxAnswers || r.answerBytes > maxAnswerBytes {
				im.flush(r)
			}
			return
		}
	}
	if err == nil {
		err = s.Data.Post(text)
	}
	if err != nil {
		r.Fail("a message could not be sent", err)
	}
}

const (
	maxAnswers     = 256
	maxAnswerBytes = 1 << 20
)

func encodeMessage(gen int, l protocol.Limits, m enclave.Message) (string, error) {
	return enclave.EncodeBatch(enclave.Batch{Gen: gen, Messages: []enclave.Message{m}}, enclave.HostToBroker, l.JSON())
}

// flush posts the answers that were kept.
func (im *poolImpl) flush(r *run) {
	if len(r.answers) == 0 {
		return
	}
	text := enclave.Join(r.answers)
	r.answers, r.answerBytes = r.answers[:0], 0
	if err := r.Slot.Data.Post(text); err != nil {
		r.Fail("an answer could not be sent", err)
	}
}

// heard handles a message from the broker of s. The broker is trusted, but its messages are
// checked all the same, because it parses text from the untrusted worker.
func (im *poolImpl) heard(s *frame.Slot, text string) {
	s.Pong()
	switch text {
	case frame.Ready:
		im.Up(s)
		return
	case frame.Idle:
		im.Idle(s)
		return
	}
	l := im.opts.Limits
	b, err := enclave.DecodeBatch(text, enclave.BrokerToHost, protocol.JSONLimits{
		Bytes: l.MessageBytes + l.ConsoleBytes + l.Output + 1<<16, Depth: l.MessageDepth + 4, Nodes: l.MessageNodes + l.ConsoleBytes,
	})
	if err != nil {
		im.Stop(s, protocol.ErrSecurityViolation, "the broker sent a message that is not allowed: "+err.Error())
		return
	}
	if b.Gen != s.Gen {
		return
	}
	for i, m := range b.Messages {
		if !im.Live(s) {
			return // an earlier message ended the broker
		}
		im.message(s, m, b.Sizes[i])
	}
}

func (im *poolImpl) message(s *frame.Slot, m enclave.Message, size int) {
	r, _ := s.Job.(*run)
	switch m.(type) {
	case *enclave.MsgReady:
		if r != nil {
			s.Started, r.program, r.text = true, "", ""
		}
		return
	case *enclave.MsgPong:
		im.Up(s)
		return
	}
	if r == nil { // of a run that has ended
		if _, ok := m.(*enclave.MsgViolation); ok {
			im.Stop(s, protocol.ErrSecurityViolation, "")
		}
		return
	}
	if v, ok := m.(*enclave.MsgViolation); ok {
		if v.Code == protocol.ErrSandbox && strings.HasPrefix(v.Detail, "blocked") {
			im.Fail(im.blocked())
		}
		im.Stop(s, v.Code, v.Detail)
		return
	}
	if err := r.state.Receive(m, size); err != nil {
		im.Stop(s, protocol.CodeOf(err), err.Error())
		return
	}
	switch m := m.(type) {
	case *enclave.MsgConsole:
		row := protocol.ConsoleRow{Level: m.Level, Args: m.Args, At: time.Since(r.Began)}
		r.result.Console = append(r.result.Console, row)
		if r.opts.OnConsole != nil {
			r.calls.inOrder(func(context.Context) { r.opts.OnConsole(row) })
		}
	case *enclave.MsgToolCall:
		c := &call{m, time.Now()}
		r.open[m.CallID] = c
		go im.tool(s, r, c)
	case *enclave.MsgResult:
		im.Ended(s)
		im.result(r, m)
	}
}

func (im *poolImpl) trace(r *run, e protocol.TraceEvent) {
	e.TraceID, e.ExecID = im.ids.Next(), r.id
	if len(r.result.Traces) > 0 {
		e.RootID, e.ParentID = r.result.Traces[0].TraceID, r.result.Traces[0].TraceID
	}
	r.result.Traces = append(r.result.Traces, e)
}

// result ends a run with the value that the code returned, or the error that it threw.
func (im *poolImpl) result(r *run, m *enclave.MsgResult) {
	r.result.Success, r.result.Value = m.Success, m.Value
	if m.Error != nil {
		e := *m.Error
		e.Code = claimed(e.Code)
		e.Stack = frame.CleanStack(e.Stack, r.lines)
		r.result.Error = &e
	}
	im.complete(r)
}

// Finish ends a run early, with an error. The parts of the result that are complete stay in it.
func (r *run) Finish(code protocol.Code, why string) {
	if r.Over() {
		return
	}
	r.state.End(code)
	r.result.Error = &protocol.RunError{Code: code, Name: enclave.ErrorName(code), Message: why}
	r.result.Partial = true
	r.im.complete(r)
}

// complete makes the result final. Open calls are traced as aborted, and the statistics are
// those counted by the host. Run returns after the last OnConsole call.
func (im *poolImpl) complete(r *run) {
	r.limit.Stop()
	r.Close()
	for id, c := range r.open {
		delete(r.open, id)
		im.trace(r, protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "aborted"})
	}
	e := protocol.TraceEvent{Type: protocol.TraceEnd, Time: time.Now(), Status: "ok"}
	if r.result.Error != nil {
		e.Status, e.Error = "error", r.result.Error.Error()
	}
	if !r.Began.IsZero() {
		e.DurationMS = since(r.Began)
	}
	im.trace(r, e)
	r.result.Stats = r.state.Stats()
	done := func(context.Context) { close(r.done) }
	if r.opts.OnConsole != nil {
		r.calls.inOrder(done)
	} else {
		done(nil)
	}
}
