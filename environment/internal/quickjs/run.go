package quickjs

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// A run is one run of code. Its goroutine alone uses the engine. Tools run on goroutines of their own
// and hand their answers over. It follows the rules of an enclave's broker (internal/frame/broker.js)
// and of its host (iframe/enclave_run_js.go).
type run struct {
	r      *Runner
	id     string
	limits protocol.Limits
	lines  int
	nonce  string
	tools  *protocol.Toolset
	vm     *vm
	state  *enclave.RunState
	began  time.Time
	end    context.CancelCauseFunc // ends the engine
	ctx    context.Context         // of the engine
	limit  *stopclock.Clock
	told   func(protocol.ConsoleRow)
	result protocol.RunResult
	over   bool  // the result is complete
	most   int64 // bytes of memory that the engine had at most, once it has ended

	timers  timers
	due     map[int]*timer
	open    map[int]*call
	answers chan answer
	recent  []time.Time
	ofTool  map[string][]time.Time
}

// call is a tool call in progress.
type call struct {
	m  *enclave.MsgToolCall
	at time.Time
}

type answer struct {
	c   *call
	out any
	err error
}

// stopped is the reason for which a run ends early.
type stopped struct {
	code protocol.Code
	why  string
}

func (s *stopped) Error() string { return s.why }

const (
	gen       = 1     // the generation of all messages: an engine has one run
	maxTimers = 2_000 // timers at once
)

// RunCode runs code with the tools. An error of the code itself is in the result. If ctx ends, the
// error is its cause.
func (r *Runner) RunCode(ctx context.Context, tools *protocol.Toolset, code string, args any) (*protocol.RunResult, error) {
	return r.run(ctx, tools, code, args, nil, r.o.Limits, func(row protocol.ConsoleRow) { sandbox.ReportProgress(ctx, said(row)) })
}

// StripTypes returns TypeScript as JavaScript, with each statement on its line. The library that does it runs in an engine of
// its own, without tools. If code is no TypeScript, the error is a *[protocol.RunError].
func (r *Runner) StripTypes(ctx context.Context, code string) (string, error) {
	return r.types.Strip(ctx, code)
}

// value runs code of ours with args and without tools, within the limits of the strictest level, and returns its value.
func (r *Runner) value(ctx context.Context, code string, args any) (any, error) {
	res, err := r.run(ctx, nil, code, args, nil, protocol.Strict.Limits(), func(protocol.ConsoleRow) {})
	if err != nil {
		return nil, err
	}
	return res.Value, res.Err()
}

// said returns a row of the console as one line.
func said(row protocol.ConsoleRow) string {
	words := make([]string, len(row.Args))
	for i, a := range row.Args {
		if s, ok := a.(string); ok {
			words[i] = s
		} else if s, err := enclave.EncodeValue(a, protocol.JSONLimits{}); err == nil {
			words[i] = s
		}
	}
	return strings.Join(words, " ")
}

func (r *Runner) run(ctx context.Context, tools *protocol.Toolset, code string, args any, constants map[string]any, limits protocol.Limits, told func(protocol.ConsoleRow)) (*protocol.RunResult, error) {
	if tools == nil {
		tools = &protocol.Toolset{}
	}
	if len(code) > limits.Code {
		return nil, protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the code has %d bytes; the limit is %d", len(code), limits.Code)
	}
	id := r.ids.Next()
	start := &enclave.MsgStart{Run: id, Args: args, Context: constants, Limits: limits, Servers: map[string][]string{}}
	for t := range tools.All() {
		start.Tools = append(start.Tools, t.ID)
		if short, ok := strings.CutPrefix(t.ID, t.Server+"_"); ok && t.Server != "" && protocol.ValidToolName(short) == nil {
			start.Servers[t.Server] = append(start.Servers[t.Server], short)
		}
	}
	// The encoder checks the names before they become parameters of a function.
	text, err := enclave.EncodeBatch(enclave.Batch{Gen: gen, Messages: []enclave.Message{start}}, enclave.HostToBroker, protocol.JSONLimits{Bytes: 256 << 20, Depth: 128, Nodes: 10_000_000})
	if err != nil {
		return nil, err
	}
	state, err := enclave.NewRunState(limits, clock)
	if err != nil {
		return nil, err
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	names := make([]string, 0, len(constants))
	for n := range constants {
		names = append(names, n)
	}
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := r.Start(ctx); err != nil {
		return nil, err
	}
	x := &run{r: r, id: id, limits: limits, lines: strings.Count(code, "\n") + 1, nonce: "n" + hex.EncodeToString(random), tools: tools, state: state, told: told,
		due: map[int]*timer{}, open: map[int]*call{}, answers: make(chan answer), ofTool: map[string][]time.Time{}}
	inner, end := context.WithCancelCause(ctx)
	defer end(nil)
	x.began = clock()
	// The clock pauses while a person is asked and the engine waits. Code that works meanwhile is counted.
	timed, limit := stopclock.Start(inner, stopclock.Options{Limit: limits.Time, Most: stopclock.Most, Busy: !x.r.o.rests,
		Cause: &stopped{protocol.ErrTimeout, fmt.Sprintf("the time limit of %v was reached", limits.Time)}})
	defer limit.Stop()
	x.ctx, x.end, x.limit = context.WithValue(timed, runKey{}, x), end, limit
	x.trace(protocol.TraceEvent{Type: protocol.TraceStart, Time: x.began})
	err = x.drive(frame.Program{Code: code, Nonce: x.nonce, Names: names}, start, text)
	if x.vm != nil {
		x.most = int64(x.vm.mod.Memory().Size()) // memory never shrinks
		_ = x.vm.mod.Close(context.Background())
	}
	if !x.over {
		x.fail(err)
	}
	end(nil) // of the tools too
	if cause := context.Cause(ctx); cause != nil {
		return &x.result, cause
	}
	return &x.result, nil
}

// postlude removes what the engine lacks and the runtime only looked at.
const postlude = `delete this.URL; delete this.Intl;`

// drive runs the code to its end. The error says why it ended early.
func (x *run) drive(p frame.Program, start *enclave.MsgStart, text string) error {
	v, err := x.r.engine(x.ctx)
	if err != nil {
		return err
	}
	x.vm = v
	f, err := v.eval(prelude, "prelude")
	if err != nil {
		return fmt.Errorf("the prelude: %w", err)
	}
	host, err := v.function("host")
	if err != nil {
		return err
	}
	deliver, err := v.apply(f, host)
	if err != nil {
		return fmt.Errorf("the prelude: %w", err)
	}
	page := frame.DomainPage{PolicyName: "bailey", Level: x.r.o.Level, Off: x.r.o.off, Programs: frame.EnclavePrograms()}
	script, err := v.eval(page.Script(p.Text()), "blob:code")
	if t := (*thrown)(nil); errors.As(err, &t) && t.name == "SyntaxError" {
		x.syntax(t)
		return nil
	}
	if err != nil {
		return fmt.Errorf("the runtime: %w", err)
	}
	v.drop(script)
	if value, err := v.eval(postlude, "postlude"); err != nil {
		return fmt.Errorf("the runtime: %w", err)
	} else {
		v.drop(value)
	}
	if err := errors.Join(x.state.Receive(&enclave.MsgReady{}, 0), x.state.Send(start)); err != nil {
		return err
	}
	if err := v.say(deliver, "message", text); err != nil {
		return fmt.Errorf("the runtime: %w", err)
	}
	for {
		if err := v.jobs(); err != nil {
			if err := x.uncaught(err); err != nil {
				return err
			}
			continue
		}
		if x.over {
			return nil
		}
		do, err := x.wait(deliver)
		if err == nil {
			err = do()
		}
		if err != nil {
			return err
		}
	}
}

// wait waits for the next event of the run and returns the function that hands it to the code. While it waits, the
// code rests.
func (x *run) wait(deliver uint64) (do func() error, err error) {
	var ring <-chan time.Time
	if len(x.timers) > 0 {
		t := time.NewTimer(time.Until(x.timers[0].at))
		defer t.Stop()
		ring = t.C
	}
	x.limit.Busy(false)
	defer x.limit.Busy(!x.r.o.rests)
	select {
	case <-x.ctx.Done():
		return nil, context.Cause(x.ctx)
	case <-ring:
		t := heap.Pop(&x.timers).(*timer)
		delete(x.due, t.id)
		return func() error { return x.uncaught(x.vm.say(deliver, "timer", strconv.Itoa(t.id))) }, nil
	case a := <-x.answers:
		return func() error {
			text, err := x.answer(a)
			if err != nil || text == "" {
				return err
			}
			return x.vm.say(deliver, "message", text)
		}, nil
	}
}

// uncaught shows an error that was thrown outside of any promise, such as in a timer. The run goes on.
func (x *run) uncaught(err error) error {
	t := (*thrown)(nil)
	if !errors.As(err, &t) {
		return err
	}
	text := strings.ReplaceAll(t.Error(), x.nonce, "…")
	return x.console(&enclave.MsgConsole{Level: "error", Args: []any{"Uncaught " + text[:min(len(text), 1000)]}}, len(text)+64)
}

// syntax ends a run whose code can't be parsed.
func (x *run) syntax(t *thrown) {
	message := t.message
	if strings.Contains(message, x.nonce) {
		message = "the code closes a brace that it did not open"
	}
	if _, rest, ok := strings.Cut(t.stack, "blob:code:"); ok {
		line, _, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n > 1 && n <= x.lines+1 {
			message += " (line " + strconv.Itoa(n-1) + ")"
		}
	}
	x.state.End(protocol.ErrInvalidParams)
	x.result.Error = &protocol.RunError{Code: protocol.ErrInvalidParams, Name: "SyntaxError", Message: message}
	x.complete()
}

// host is the only way out of the engine. It runs within a call of the engine.
func (x *run) host(ctx context.Context, n, args uint32) uint32 {
	v := x.vm
	var text [2]string
	for i := range text {
		if uint32(i) >= n {
			break
		}
		at, ok := v.mod.Memory().ReadUint32Le(args + uint32(4*i))
		if !ok {
			return 0
		}
		s, err := v.text(uint64(at), max(x.limits.MessageBytes, x.limits.Output+1<<16, x.limits.ConsoleBytes+1<<16))
		if err != nil {
			x.stop(protocol.ErrResourceLimit, "a message that is too long: "+err.Error())
			return 0
		}
		text[i] = s
	}
	out, err := x.word(text[0], text[1])
	if err != nil {
		x.end(err)
		return 0
	}
	value, err := v.string(out)
	if err != nil {
		x.end(err)
		return 0
	}
	return uint32(value)
}

// stop ends the engine at its next instruction.
func (x *run) stop(code protocol.Code, why string) { x.end(&stopped{code, why}) }

// word does what the prelude asks for. The code can reach none of these words by itself, and may do
// nothing more with them if it could.
func (x *run) word(word, text string) (string, error) {
	switch word {
	case "post":
		if x.over {
			return "", nil
		}
		return "", x.heard(text)
	case "random":
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > 65536 {
			return "", &stopped{protocol.ErrSecurityViolation, "a number of random bytes that is not allowed"}
		}
		b := make([]byte, n)
		_, _ = rand.Read(b)
		return hex.EncodeToString(b), nil
	case "timer":
		id, ms, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(id)
		wait, err2 := strconv.ParseFloat(ms, 64)
		if err != nil || err2 != nil || wait < 0 || wait > 1<<31 {
			return "", &stopped{protocol.ErrSecurityViolation, "a timer that is not allowed"}
		}
		if len(x.timers) >= maxTimers {
			return "", &stopped{protocol.ErrResourceLimit, fmt.Sprintf("more than %d timers at once", maxTimers)}
		}
		t := &timer{id: n, at: time.Now().Add(time.Duration(wait * float64(time.Millisecond)))}
		if x.due[n] == nil {
			x.due[n] = t
			heap.Push(&x.timers, t)
		}
		return "", nil
	case "clear":
		n, _ := strconv.Atoi(text)
		if t := x.due[n]; t != nil {
			delete(x.due, n)
			heap.Remove(&x.timers, t.index)
		}
		return "", nil
	}
	return "", &stopped{protocol.ErrSecurityViolation, "a word that the host does not know"}
}

// heard handles a message of the code.
func (x *run) heard(text string) error {
	if text == "up" {
		return nil
	}
	if len(text) > max(x.limits.MessageBytes, x.limits.Output+4096) {
		return &stopped{protocol.ErrResourceLimit, fmt.Sprintf("a message of %d bytes; the limit is %d", len(text), x.limits.MessageBytes)}
	}
	l := x.limits.JSON()
	l.Bytes = max(l.Bytes, x.limits.Output+4096)
	b, err := enclave.DecodeBatch(text, enclave.CodeToBroker, l)
	if err != nil {
		return &stopped{protocol.CodeOf(err), "a message that is not allowed: " + err.Error()}
	}
	if b.Gen != gen || len(b.Messages) == 0 {
		return &stopped{protocol.ErrSecurityViolation, "a batch of another run, or an empty one"}
	}
	for i, m := range b.Messages {
		if x.over {
			return &stopped{protocol.ErrSecurityViolation, "it came after the result"}
		}
		switch m := m.(type) {
		case *enclave.MsgConsole:
			err = x.console(m, b.Sizes[i])
		case *enclave.MsgToolCall:
			err = x.receive(m, b.Sizes[i])
			if err == nil {
				x.called(m)
			}
		case *enclave.MsgResult:
			if err = x.receive(m, b.Sizes[i]); err == nil {
				x.ended(m)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// receive counts a message.
func (x *run) receive(m enclave.Message, size int) error {
	if err := x.state.Receive(m, size); err != nil {
		return &stopped{protocol.CodeOf(err), err.Error()}
	}
	return nil
}

func (x *run) console(m *enclave.MsgConsole, size int) error {
	if x.over {
		return nil
	}
	if err := x.receive(m, size); err != nil {
		return err
	}
	row := protocol.ConsoleRow{Level: m.Level, Args: m.Args, At: time.Since(x.began)}
	x.result.Console = append(x.result.Console, row)
	if x.told != nil {
		x.told(row)
	}
	return nil
}

// called starts a tool call, or refuses it if there are too many in a short time.
func (x *run) called(m *enclave.MsgToolCall) {
	c := &call{m, clock()}
	x.open[m.CallID] = c
	now := c.at
	within := func(list []time.Time, d time.Duration) []time.Time {
		return slices.DeleteFunc(list, func(t time.Time) bool { return now.Sub(t) >= d })
	}
	x.recent = within(x.recent, time.Second)
	x.ofTool[m.Tool] = within(x.ofTool[m.Tool], x.limits.RepeatsIn)
	var refused error
	switch {
	case len(x.recent) >= x.limits.Rate:
		refused = protocol.Errorf(protocol.ErrResourceLimit, "", "", "more than %d tool calls a second; wait, then call again", x.limits.Rate)
	case len(x.ofTool[m.Tool]) >= x.limits.Repeats:
		refused = protocol.Errorf(protocol.ErrResourceLimit, "", "", "%s was called %d times within %d ms; wait, then call again", m.Tool, x.limits.Repeats, x.limits.RepeatsIn.Milliseconds())
	default:
		x.recent = append(x.recent, now)
		x.ofTool[m.Tool] = append(x.ofTool[m.Tool], now)
	}
	go func() {
		a := answer{c: c, err: refused}
		if refused == nil {
			a.out, a.err = x.tool(m)
		}
		select {
		case x.answers <- a:
		case <-x.ctx.Done():
		}
	}()
}

// tool makes a call. It waits no longer than the tool's time limit.
func (x *run) tool(m *enclave.MsgToolCall) (any, error) {
	t, err := x.tools.Lookup(m.Tool)
	if err != nil {
		return nil, err
	}
	args := m.Args
	if args == nil {
		args = map[string]any{}
	}
	if err := t.Check(args); err != nil {
		return nil, err
	}
	limit := x.limits.ToolTime
	if t.Time > 0 {
		limit = min(limit, t.Time)
	}
	tooLate := protocol.Errorf(protocol.ErrTimeout, "call", t.ID, "no answer within %v", limit)
	ctx, clock := stopclock.Start(x.ctx, stopclock.Options{Limit: limit, Cause: tooLate})
	defer clock.Stop()
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a = answer{err: protocol.Errorf(protocol.ErrExecution, "call", t.ID, "the tool failed")}
			}
			done <- a
		}()
		a.out, a.err = t.Execute(ctx, args)
	}()
	select {
	case a := <-done:
		if ctx.Err() != nil && x.ctx.Err() == nil {
			return nil, tooLate
		}
		return a.out, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answer returns the message with an answer for the code, or "" for a call that is no longer open.
func (x *run) answer(a answer) (string, error) {
	c := a.c
	if x.open[c.m.CallID] != c {
		return "", nil
	}
	delete(x.open, c.m.CallID)
	e := protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "ok", Output: a.out}
	m := &enclave.MsgToolResponse{CallID: c.m.CallID, Result: a.out}
	if a.err != nil {
		p := protocol.Public(a.err)
		m.Result, m.Error = nil, &p
		e.Output, e.Status, e.Error = nil, "error", a.err.Error()
		if p.Code == protocol.ErrCapabilityDenied {
			e.Status = "denied"
		}
	}
	x.trace(e)
	if err := x.state.Send(m); err != nil {
		return "", nil
	}
	encode := func(m enclave.Message) (string, error) {
		return enclave.EncodeBatch(enclave.Batch{Gen: gen, Messages: []enclave.Message{m}}, enclave.HostToBroker, x.limits.JSON())
	}
	text, err := encode(m)
	if err != nil {
		p := protocol.Public(protocol.Errorf(protocol.CodeOf(err), "answer", "", "the tool's result can't be sent: %v", err))
		text, err = encode(&enclave.MsgToolResponse{CallID: m.CallID, Error: &p})
	}
	return text, err
}

// ended ends a run with the value that the code returned, or the error that it threw.
func (x *run) ended(m *enclave.MsgResult) {
	x.result.Success, x.result.Value = m.Success, m.Value
	if m.Error != nil {
		e := *m.Error
		switch e.Code { // the code may report only its own mistakes
		case protocol.ErrInvalidParams, protocol.ErrOutputTooLarge, protocol.ErrResourceLimit:
		default:
			e.Code = protocol.ErrExecution
		}
		e.Stack = frame.CleanStack(strings.ReplaceAll(e.Stack, x.nonce, "…"), x.lines)
		x.result.Error = &e
	}
	x.complete()
}

// fail ends a run early. The parts of the result that are complete stay in it.
func (x *run) fail(err error) {
	code, why := protocol.ErrSandbox, "the engine failed"
	if cause := context.Cause(x.ctx); cause != nil {
		err = cause
	}
	var (
		early *stopped
		exit  *sys.ExitError
	)
	switch {
	case errors.As(err, &early):
		code, why = early.code, early.why
	case errors.Is(err, context.Canceled), errors.Is(err, protocol.ErrAborted):
		code, why = protocol.ErrAborted, err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		code, why = protocol.ErrTimeout, err.Error()
	case errors.Is(err, errMemory):
		code, why = protocol.ErrResourceLimit, fmt.Sprintf("the code used all of its %d bytes of memory", x.r.o.Memory)
	case errors.As(err, &exit):
		code, why = protocol.ErrAborted, "the run was ended"
	case err != nil:
		why, _, _ = strings.Cut(err.Error(), "\n")
		if strings.Contains(why, "stack overflow") {
			code, why = protocol.ErrResourceLimit, "the code calls itself too deeply"
		}
	}
	x.state.End(code)
	x.result.Error = &protocol.RunError{Code: code, Name: enclave.ErrorName(code), Message: why}
	x.result.Partial = true
	x.complete()
}

func (x *run) complete() {
	x.over = true
	for _, id := range sorted(x.open) {
		c := x.open[id]
		x.trace(protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "aborted"})
	}
	clear(x.open)
	e := protocol.TraceEvent{Type: protocol.TraceEnd, Time: clock(), Status: "ok", DurationMS: since(x.began)}
	if x.result.Error != nil {
		e.Status, e.Error = "error", x.result.Error.Error()
	}
	x.trace(e)
	x.result.Stats = x.state.Stats()
}

func (x *run) trace(e protocol.TraceEvent) {
	e.TraceID, e.ExecID = x.r.ids.Next(), x.id
	if len(x.result.Traces) > 0 {
		e.RootID, e.ParentID = x.result.Traces[0].TraceID, x.result.Traces[0].TraceID
	}
	x.result.Traces = append(x.result.Traces, e)
}

func since(t time.Time) float64 { return float64(clock().Sub(t)) / float64(time.Millisecond) }

func sorted(m map[int]*call) (out []int) {
	for id := range m {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// timer is a timer of the code, in the heap of its run.
type timer struct {
	id, index int
	at        time.Time
}

type timers []*timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at.Before(t[j].at) || t[i].at.Equal(t[j].at) && t[i].id < t[j].id
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i]; t[i].index, t[j].index = i, j }
func (t *timers) Push(v any)   { e := v.(*timer); e.index = len(*t); *t = append(*t, e) }
func (t *timers) Pop() any {
	old := *t
	e := old[len(old)-1]
	*t = old[:len(old)-1]
	return e
}
