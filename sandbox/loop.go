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

// RunOptions bound a run of the loop, together with all subagents that come from it, also
// those in the background. What is zero takes the default.
type RunOptions struct {
	Steps     int           // requests to models; 50
	Tokens    int64         // of all requests together, in and out; no limit. Requests under way end.
	Time      time.Duration // of the whole run; no limit
	Money     float64       // by Price; no limit
	Agents    int           // subagents that are started; 32, and at most 8 of a session work at once
	Price     Price
	MaxTokens int // of one answer; the provider's default
	Retries   int // of one request; 4, and -1 for none

	// OnSend hears what is about to be sent, whole: show it to the person.
	OnSend func(ModelRequest)
	// Context is how many tokens a request may have, as estimated from its bytes,
	// before Compact is asked for a summary of all messages. 0 is never.
	Context int
	Compact func(ctx context.Context, old []ModelMessage) (summary string, err error)
	// Sleep waits before another try; a timer if nil.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Price is what a million tokens cost, in any currency.
type Price struct{ Input, Output float64 }

const (
	defaultSteps   = 50
	defaultRetries = 4
	defaultAgents  = 32
	firstDelay     = 500 * time.Millisecond
	maxDelay       = 60 * time.Second
)

// Run lets a model answer in a session, and carries out the calls it makes, until it
// makes no more, a budget is used up, or it is interrupted. It yields chunks as they
// come. Errors of tools go to the model; an error that is yielded ends the run. To
// break the loop is to interrupt the run.
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

// run is one run of the loop. Only the goroutine of the iterator yields.
type run struct {
	box    *Box
	s      *Session
	model  Model
	o      RunOptions
	yield  func(Chunk, error) bool
	gone   bool // nobody takes chunks any more
	usage  Usage
	budget *budget
	done   []string // what was done, for an interruption's list
	final  string   // the text of the last message
}

func (r *run) emit(c Chunk) bool {
	if !r.gone {
		r.gone = true // if the consumer panics, it is called no more
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

// whole takes the session, runs, and gives it back.
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

// share makes the run's budget: a subagent's is that of whoever started it.
func (r *run) share(ctx context.Context) {
	sc := r.s.scope
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.root != sc { // it was given when the subagent was started
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

// ended tells how a run that did not finish ended.
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

// errGone: the consumer broke the loop.
var errGone = protocol.Errorf(protocol.ErrAborted, "run", "", "nobody listens any more")

// start takes the session for a run.
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

// step is one answer of the model with its calls carried out.
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
			_ = a.save(context.WithoutCancel(ctx)) // what came until then is kept
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

// wait is the pause before another try: longer each time, unless the provider said how
// long. What the failed try had said is void.
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

// request is what the model gets to see now.
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

// fewTools is how many tools a model is shown without having to search.
const fewTools = 20

// shown reports whether a model is told of a tool: one of a few, one it can't do
// without, or one it found.
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

// skillList names the app's own skills. Those of a folder are found by their name only
// once the person has accepted one: their descriptions are not believed either.
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
