package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// RunOptions limit a run of the loop, together with all subagents that it starts, including those
// in the background. A field that is zero has its default.
type RunOptions struct {
	Steps     int           // number of requests to models, default 50
	Tokens    int64         // input and output tokens of all requests, default no limit. Running requests are completed.
	Time      time.Duration // duration of the whole run, default no limit
	Money     float64       // cost of all requests by Price, default no limit
	Agents    int           // number of subagents started, default 32. At most 8 of a session work at the same time.
	Price     Price
	MaxTokens int // tokens of one answer, 0 for the provider's default
	Retries   int // repetitions of one failed request, default 4, and -1 for none

	// OnSend is called with each complete request before it is sent to a model on another machine.
	// Show it to the user. It is not called again when a failed request is repeated, and not for the
	// requests of subagents.
	OnSend func(ModelRequest)
	// Context is the number of tokens from which Compact is called. The tokens of a request are
	// estimated as a quarter of the bytes of its messages. 0 is never. Compact returns a summary of
	// all messages so far, which replaces them in later requests. An error of Compact ends the run.
	Context int
	Compact func(ctx context.Context, old []ModelMessage) (summary string, err error)
	// Sleep waits before a request is repeated. nil waits with a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Price is the price of a million tokens, in any currency.
type Price struct{ Input, Output float64 }

const (
	defaultSteps   = 50
	defaultRetries = 4
	defaultAgents  = 32
	firstDelay     = 500 * time.Millisecond
	maxDelay       = 60 * time.Second
)

// Run lets a model answer in a session, and makes the calls that it requests. It ends when an
// answer has no calls, a budget is used up, or the run is interrupted. The iterator yields chunks
// as they arrive. Errors of tools go to the model. An error that the iterator yields ends the run.
// To break out of the loop interrupts the run. Of several opts the last one counts.
func (b *Box) Run(ctx context.Context, s *Session, m Model, opts ...RunOptions) iter.Seq2[Chunk, error] {
	o := RunOptions{}
	for _, x := range opts {
		o = x
	}
	if o.Steps == 0 {
		o.Steps = defaultSteps
	}
	if o.Retries == 0 {
		o.Retries = defaultRetries
	}
	if o.Agents == 0 {
		o.Agents = defaultAgents
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return func(yield func(Chunk, error) bool) {
		r := &run{box: b, s: s, model: m, o: o, yield: yield}
		r.whole(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run is one run of the loop. Only the iterator's goroutine calls yield.
type run struct {
	box    *Box
	s      *Session
	model  Model
	o      RunOptions
	yield  func(Chunk, error) bool
	gone   bool // the consumer has stopped iterating
	usage  Usage
	budget *budget
	done   []string // completed calls, for the report of an interruption
	final  string   // the text of the last message
}

func (r *run) emit(c Chunk) bool {
	if !r.gone {
		r.gone = true // if the consumer panics, it is not called again
		r.gone = !r.yield(c, nil)
	}
	return !r.gone
}

func (r *run) fail(err error) {
	r.emit(Chunk{Type: "error", ErrorText: protocol.Public(err).Message})
	if !r.gone {
		r.gone = true
		r.yield(Chunk{}, err)
	}
}

// whole starts the run, makes its steps and ends it.
func (r *run) whole(ctx context.Context) {
	if !r.model.Local() {
		if err := r.s.scope.gate.Authority.Check(protocol.Stream, ""); err != nil {
			r.fail(protocol.Errorf(protocol.ErrCapabilityDenied, "run", r.model.Name(), "the policy lets nothing be sent to a model; grant stream.send, or use a local model"))
			return
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	if err := r.s.start(cancel, r.model); err != nil {
		r.fail(err)
		return
	}
	status := StatusIdle
	defer func() { r.finish(ctx, status) }()
	if r.o.Time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.o.Time, errBudget("time"))
		defer stop()
	}
	r.share(ctx)
	if err := r.s.repair(ctx); err != nil {
		r.fail(err)
		return
	}
	ctx = in(ctx, r.s.scope)
	if err := r.steps(ctx); err != nil {
		status = r.ended(ctx, err)
	}
}

// share sets the run's budget. A subagent has the budget of the run that started it.
func (r *run) share(ctx context.Context) {
	sc := r.s.scope
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.root != sc { // a subagent received its budget when it was started
		r.budget = sc.budget
	}
	if r.budget == nil {
		r.budget = &budget{o: r.o}
		r.budget.deadline, _ = ctx.Deadline()
		sc.budget = r.budget
	}
}

func errBudget(what string) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "run", "", "the run's budget of %s is used up", what)
}

// ended emits the chunks of a run that did not finish, and returns the session's new status.
func (r *run) ended(ctx context.Context, err error) Status {
	if errors.Is(err, errGone) || ctx.Err() != nil && errors.Is(context.Cause(ctx), protocol.ErrAborted) || errors.Is(err, context.Canceled) && ctx.Err() != nil {
		r.emit(Chunk{Type: "data-stopped", Data: map[string]any{"done": r.done}})
		r.emit(Chunk{Type: "abort", Reason: protocol.Public(err).Message})
		return StatusIdle
	}
	if errors.Is(err, protocol.ErrResourceLimit) {
		r.emit(Chunk{Type: "data-budget", Data: map[string]any{"reason": protocol.Public(err).Message, "usage": r.usage}})
		r.emit(Chunk{Type: "finish", Reason: FinishOther})
		return StatusIdle
	}
	r.fail(err)
	return StatusError
}

// errGone is the error of a run whose consumer stopped iterating.
var errGone = protocol.Errorf(protocol.ErrAborted, "run", "", "nobody listens any more")

// start marks the session as busy with a run.
func (s *Session) start(stop context.CancelCauseFunc, m Model) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return protocol.Errorf(protocol.ErrSession, "run", s.rec.ID, "the session is closed")
	case s.stop != nil:
		return protocol.Errorf(protocol.ErrSession, "run", s.rec.ID, "a run is under way; steer it or interrupt it")
	}
	s.stop, s.status, s.rec.Model = stop, StatusBusy, m.Name()
	s.scope.mu.Lock()
	s.scope.model = m
	s.scope.mu.Unlock()
	return nil
}

func (s *Session) setStatus(st Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = st
}

func (r *run) steps(ctx context.Context) error {
	for step := 0; ; step++ {
		if err := r.hear(ctx); err != nil {
			return err
		}
		if step >= r.o.Steps {
			return errBudget("steps")
		}
		if err := r.budget.step(); err != nil {
			return err
		}
		if err := r.compact(ctx); err != nil {
			return err
		}
		a := &answer{run: r, msg: r.s.newMessage(protocol.RoleAssistant)}
		a.msg.Metadata.Model = r.model.Name()
		a.msg.Metadata.SystemPromptDigest = digest(r.box.o.Prompt)
		if step == 0 && !r.emit(Chunk{Type: "start", MessageID: a.msg.ID}) {
			return errGone
		}
		if !r.emit(Chunk{Type: "start-step"}) {
			return errGone
		}
		calls, finish, err := r.step(ctx, a)
		if err != nil {
			return err
		}
		if !r.emit(Chunk{Type: "finish-step"}) {
			return errGone
		}
		if err := r.budget.spent(); err != nil && calls > 0 {
			return err
		}
		r.s.mu.Lock()
		more := len(r.s.steer) > 0
		r.s.mu.Unlock()
		if calls == 0 && !more {
			r.emit(Chunk{Type: "finish", Reason: finish, Metadata: map[string]any{"usage": r.usage}})
			return nil
		}
	}
}

// step gets one answer from the model and makes its calls.
func (r *run) step(ctx context.Context, a *answer) (calls int, finish string, err error) {
	req := r.request()
	if r.o.OnSend != nil && !r.model.Local() {
		r.o.OnSend(req)
	}
	for try := 0; ; try++ {
		finish, err = a.stream(ctx, req)
		r.count(a.usage)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			_ = a.save(context.WithoutCancel(ctx)) // the answer so far is kept
			return 0, "", context.Cause(ctx)
		}
		var me *ModelError
		if !errors.As(err, &me) || !me.Retry || try >= r.o.Retries || errors.Is(err, errGone) {
			return 0, "", err
		}
		if err := r.wait(ctx, a, me, try); err != nil {
			return 0, "", err
		}
	}
	if err := a.save(ctx); err != nil {
		return 0, "", err
	}
	if len(a.calls) > 0 {
		if err := a.carryOut(ctx); err != nil {
			return 0, "", err
		}
	}
	r.final = a.text()
	return len(a.calls), finish, nil
}

func (r *run) count(u Usage) {
	r.usage.Input += u.Input
	r.usage.Output += u.Output
	r.usage.Cached += u.Cached
	r.budget.spend(u)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.rec.InputTokens += u.Input
	r.s.rec.OutputTokens += u.Output
}

// wait waits before a request is repeated: longer each time, or as long as the provider asked for.
// The parts of the failed answer are dropped.
func (r *run) wait(ctx context.Context, a *answer, me *ModelError, try int) error {
	d := min(firstDelay<<try, maxDelay)
	d = d/2 + rand.N(d/2+1)
	if me.RetryAfter > 0 {
		d = min(me.RetryAfter, maxDelay)
	}
	r.s.setStatus(StatusRetrying)
	defer r.s.setStatus(StatusBusy)
	if !r.emit(Chunk{Type: "data-retry", Transient: true, Data: map[string]any{"attempt": try + 1, "after_ms": ms(d), "reason": me.Message, "drop": a.ids()}}) {
		return errGone
	}
	a.reset()
	return r.o.Sleep(ctx, d)
}

// request returns the next request to the model.
func (r *run) request() ModelRequest {
	req := ModelRequest{System: r.box.o.Prompt, MaxTokens: r.o.MaxTokens, Messages: r.s.modelMessages(r.model)}
	if r.s.scope.prompt != "" {
		req.System = r.s.scope.prompt
	}
	if list := r.box.skillList(); list != "" {
		req.System += list
	}
	for t := range r.box.tools.All() {
		if !r.box.shown(r.s.scope, t.ID) {
			continue
		}
		schema := t.Parameters
		if schema == "" {
			schema = `{"type":"object","properties":{},"additionalProperties":false}`
		}
		req.Tools = append(req.Tools, ModelTool{t.ID, t.Description, json.RawMessage(schema)})
	}
	return req
}

// fewTools is the number of tools up to which a model receives the descriptions of all of them.
const fewTools = 20

// shown reports whether a tool's description is sent to the model. With more than fewTools tools
// these are the basic ones and those that the model found with tool_search.
func (b *Box) shown(s *scope, id string) bool {
	if s.only != nil && !s.only[id] {
		return false
	}
	if len(b.byID) <= fewTools {
		return id != "tool_search"
	}
	switch id {
	case "read", "write", "edit", "glob", "grep", "bash", "todo", "question", "task", "skill", "tool_search":
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools[id]
}

// skillList returns the list of the app's own skills for the system prompt. Skills of a folder are
// not listed, because their descriptions are not trusted either. The user must accept such a skill
// when the model asks for it by name.
func (b *Box) skillList() string {
	out := ""
	for _, s := range b.o.Skills {
		if s.Trusted {
			out += "\n- " + s.Name + ": " + s.Description
		}
	}
	if out == "" {
		return ""
	}
	return "\n\nSkills, to be had by the tool skill:" + out
}
