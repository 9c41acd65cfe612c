package iframe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// run is one run of code. The pool's loop owns it.
type run struct {
	im      *poolImpl
	id      string
	program string // empty once the run has started
	text    string // the start message, without its generation
	start   *protocol.MsgStart
	limits  protocol.Limits
	opts    RunOptions
	lines   int // of the code
	state   *protocol.RunState
	began   time.Time
	ctx     context.Context // of the tools, ends with the run
	cancel  context.CancelFunc
	calls   *caller
	scope   *jsx.Scope
	slot    *frame.Slot
	open    map[int]*call
	result  protocol.RunResult
	aborted bool
	tries   int           // brokers that were lost before they started the run
	disarm  func()        // stops the timer of the time limit
	over    bool          // the result is final
	done    chan struct{} // closed when the result is complete

	answers     []string // to tool calls, not posted yet
	answerBytes int
}

// call is a tool call in progress.
type call struct {
	m  *protocol.MsgToolCall
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
	state, err := protocol.NewRunState(limits, time.Now)
	if err != nil {
		return nil, err
	}
	r := &run{im: im, id: id, program: program, text: strings.TrimPrefix(text, firstGeneration), start: start, limits: limits, opts: opts, lines: strings.Count(code, "\n") + 1, state: state,
		scope: jsx.NewScope(jsx.ScopeOptions{}), open: map[int]*call{}, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.calls = newCaller(context.WithoutCancel(ctx))
	defer r.cancel()
	defer r.scope.Close()
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
	if r.began.IsZero() && !r.result.Success {
		return nil, r.result.Err()
	}
	return &r.result, r.result.Err()
}

// Every batch begins with exactly this text.
const (
	generation      = `{"v":1,"gen":`
	firstGeneration = generation + "1"
)

// Begin starts the run of s on its broker, which is ready.
func (im *poolImpl) Begin(s *frame.Slot) {
	r := s.Job.(*run)
	r.slot, r.began, r.answers, r.answerBytes = s, time.Now(), nil, 0
	if r.tries == 0 {
		im.Count(func(st *frame.PoolStats) { st.Runs++ })
	}
	err := r.state.Receive(&protocol.MsgReady{}, 0) // it arrived before there was a run
	if err == nil {
		err = r.state.Send(r.start)
	}
	if err == nil {
		err = s.Data.Post(frame.Start(generation+strconv.Itoa(s.Gen)+r.text, r.program))
	}
	if err == nil {
		r.disarm, err = r.scope.AfterFunc(r.limits.Time, func() {
			im.Do(func() { im.end(r, protocol.ErrTimeout, fmt.Sprintf("the time limit of %v was reached", r.limits.Time)) })
		})
	}
	im.trace(r, protocol.TraceEvent{Type: protocol.TraceStart, Time: r.began})
	if err != nil {
		im.end(r, protocol.ErrSandbox, "the run could not be started: "+err.Error())
	}
}

// Retry reports whether a run may be given to another broker. This is the case if its own
// broker was lost before it reported a worker: until then no code has run, so no tool is called
// twice. In Firefox 153, while developer tools or similar software listen for workers, about
// one in fifty calls of new Worker inside a worker never returns.
func (r *run) Retry() bool {
	if r.over || r.aborted || r.tries >= maxTries {
		return false
	}
	state, err := protocol.NewRunState(r.limits, time.Now)
	if err != nil {
		return false
	}
	if r.disarm != nil {
		r.disarm()
	}
	r.tries++
	r.state, r.slot, r.disarm, r.result.Traces = state, nil, nil, nil
	return true
}

// maxTries is the number of times that a run may be given to another broker.
const maxTries = 3

// end ends a run early, with an error.
func (im *poolImpl) end(r *run, code protocol.Code, why string) {
	im.End(r, r.slot, code, why)
}

// Over reports whether the result is final.
func (r *run) Over() bool { return r.over }

// abort ends a run whose context has ended, after its grace.
func (im *poolImpl) abort(r *run, cause error) {
	if r.over || r.aborted {
		return
	}
	r.aborted = true
	code, why := protocol.ErrAborted, "the caller ended the run"
	if errors.Is(cause, context.DeadlineExceeded) {
		code, why = protocol.ErrTimeout, "the caller's deadline was reached"
	}
	r.cancel()
	if s := r.slot; s != nil && s.Job == r && r.opts.Grace > 0 {
		im.send(s, &protocol.MsgAbort{Reason: why})
		if _, err := r.scope.AfterFunc(r.opts.Grace, func() { im.Do(func() { im.end(r, code, why) }) }); err == nil {
			return
		}
	}
	im.end(r, code, why)
}

// send posts a message to a slot's broker. Answers to tool calls are kept until the loop is
// idle, so that the answers to many calls cross together.
func (im *poolImpl) send(s *frame.Slot, m protocol.Message) {
	r, ok := s.Job.(*run)
	if !ok || r.state.Send(m) != nil {
		return
	}
	text, err := encodeMessage(s.Gen, r.limits, m)
	if a, ok := m.(*protocol.MsgToolResponse); ok {
		if err != nil {
			p := protocol.Public(protocol.Errorf(protocol.CodeOf(err), "answer", "", "the tool's result can't be sent: %v", err))
			text, err = encodeMessage(s.Gen, r.limits, &protocol.MsgToolResponse{CallID: a.CallID, Error: &p})
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
		im.end(r, protocol.ErrSandbox, "a message could not be sent: "+err.Error())
	}
}

const (
	maxAnswers     = 256
	maxAnswerBytes = 1 << 20
)

func encodeMessage(gen int, l protocol.Limits, m protocol.Message) (string, error) {
	return protocol.EncodeBatch(protocol.Batch{Gen: gen, Messages: []protocol.Message{m}}, protocol.HostToBroker, l.JSON())
}

// flush posts the answers that were kept.
func (im *poolImpl) flush(r *run) {
	if len(r.answers) == 0 {
		return
	}
	text := r.answers[0]
	if len(r.answers) > 1 {
		var b strings.Builder
		b.Grow(r.answerBytes)
		// Each answer is a batch of one message, all with the same generation. They are joined
		// to one batch.
		head := strings.Index(text, "[") + 1
		b.WriteString(text[:head])
		for i, a := range r.answers {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(a[head : len(a)-len("]}")])
		}
		b.WriteString("]}")
		text = b.String()
	}
	r.answers, r.answerBytes = r.answers[:0], 0
	if err := r.slot.Data.Post(text); err != nil {
		im.end(r, protocol.ErrSandbox, "an answer could not be sent: "+err.Error())
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
	b, err := protocol.DecodeBatch(text, protocol.BrokerToHost, protocol.JSONLimits{
		Bytes: l.MessageBytes + l.ConsoleBytes + l.Output + 1<<16, Depth: l.MessageDepth + 4, Nodes: l.MessageNodes + l.ConsoleBytes,
	})
	if err != nil {
		im.Stop(s, protocol.ErrSecurityViolation, "the broker was made to send what it must not: "+err.Error())
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

func (im *poolImpl) message(s *frame.Slot, m protocol.Message, size int) {
	r, _ := s.Job.(*run)
	switch m.(type) {
	case *protocol.MsgReady:
		if r != nil {
			s.Started, r.program, r.text = true, "", ""
		}
		return
	case *protocol.MsgPong:
		im.Up(s)
		return
	}
	if r == nil { // of a run that has ended
		if _, ok := m.(*protocol.MsgViolation); ok {
			im.Stop(s, protocol.ErrSecurityViolation, "")
		}
		return
	}
	if v, ok := m.(*protocol.MsgViolation); ok {
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
	case *protocol.MsgConsole:
		row := protocol.ConsoleRow{Level: m.Level, Args: m.Args, At: time.Since(r.began)}
		r.result.Console = append(r.result.Console, row)
		if r.opts.OnConsole != nil {
			r.calls.inOrder(func(context.Context) { r.opts.OnConsole(row) })
		}
	case *protocol.MsgToolCall:
		c := &call{m, time.Now()}
		r.open[m.CallID] = c
		go im.tool(s, r, c)
	case *protocol.MsgResult:
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
func (im *poolImpl) result(r *run, m *protocol.MsgResult) {
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
	if r.over {
		return
	}
	r.state.End(code)
	r.result.Error = &protocol.RunError{Code: code, Name: errorName(code), Message: why}
	r.result.Partial = true
	r.im.complete(r)
}

// complete makes the result final. Open calls are traced as aborted, and the statistics are
// those counted by the host. Run returns after the last OnConsole call.
func (im *poolImpl) complete(r *run) {
	r.over = true
	r.cancel()
	_ = r.scope.Close()
	for id, c := range r.open {
		delete(r.open, id)
		im.trace(r, protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "aborted"})
	}
	e := protocol.TraceEvent{Type: protocol.TraceEnd, Time: time.Now(), Status: "ok"}
	if r.result.Error != nil {
		e.Status, e.Error = "error", r.result.Error.Error()
	}
	if !r.began.IsZero() {
		e.DurationMS = since(r.began)
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

func errorName(c protocol.Code) string {
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
