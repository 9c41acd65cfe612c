package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// RunOptions limit a run of the loop, together with all subagents that it starts, including those
// in the background. A field that is zero has its default.
type RunOptions struct {
	Steps     int           // number of requests to models, default 50
	Tokens    int64         // input and output tokens of all requests, default no limit. Running requests are completed.
	Time      time.Duration // duration of the whole run, default no limit
	Money     float64       // cost of all requests by the prices below, default no limit
	Agents    int           // number of subagents started, default 32. At most 8 of a session work at the same time.
	MaxTokens int           // tokens of one answer, 0 for the provider's default
	Retries   int           // repetitions of one failed request, default 4, and -1 for none

	// InputPrice and OutputPrice are the prices of a million tokens, in the currency of Money. CachedPrice
	// is that of a million input tokens that the provider had cached, 0 for InputPrice.
	InputPrice, OutputPrice, CachedPrice float64
	// Progress is the time between two looks at the output of a running call. If it has changed, the run
	// yields it as a chunk tool-output-available with Preliminary. 0 is never. The call of a subagent has
	// the subagent's name, its session and its latest parts.
	Progress time.Duration
	// OnSend is called with each complete request before it is sent to a model on another machine,
	// also with those of subagents and for summaries. Show it to the user. It is not called again
	// when a failed request is repeated. Subagents call it concurrently.
	OnSend func(ModelRequest)
	// Context is the number of tokens that a request may have. Before a request with more than four
	// fifths of it, a summary replaces the older messages in all later requests. The last two turns
	// stay word for word, or the latest answers if those are too long. The messages stay in the
	// session, and [Session.Rewind] brings them back. If the provider refuses a request as too long,
	// the same is done, and the request is repeated. Tokens are those that the provider has counted;
	// what came later is estimated, an image as 1,600 tokens, another file as one for 128 bytes and at
	// least 1,600. 0 is the limit that the model tells by a method ContextTokens()
	// int, as those of package provider do, or 100,000. A negative number is no limit.
	Context int
	// Summarizer is the model that writes the summary, for example a cheaper one. nil is the model
	// of the run. Compact, if set, returns the summary in place of a model. An error ends the run.
	Summarizer Model
	Compact    func(ctx context.Context, old []ModelMessage) (summary string, err error)
	// Sleep waits before a request is repeated. nil waits with a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

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
// To break out of the loop interrupts the run.
func (b *Box) Run(ctx context.Context, s *Session, m Model, o RunOptions) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		r := &run{box: b, s: s, model: m, o: o.filled(), yield: yield}
		r.whole(ctx)
	}
}

// Compact replaces the older messages of a session by a summary in later requests, as [Box.Run] does
// before a request that would be too long. The messages stay in the session, and [Session.Rewind] to
// one of them brings them back. Compact reports whether there was anything to replace. The fields of
// o mean the same as in Run.
func (b *Box) Compact(ctx context.Context, s *Session, m Model, o RunOptions) (bool, error) {
	r := &run{box: b, s: s, model: m, o: o.filled(), yield: func(Chunk, error) bool { return true }}
	done := false
	err := r.guarded(ctx, func(ctx context.Context) (Status, error) {
		var err error
		done, err = r.compact(ctx, true)
		return StatusIdle, err
	})
	return done, err
}

// filled returns the options with their defaults.
func (o RunOptions) filled() RunOptions {
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
	return o
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
	money  float64
	budget *budget
	done   []string // completed calls, for the report of an interruption
	final  string   // the text of the last message
	plain  bool     // no files are sent: the provider has refused a request with files
}

func (r *run) emit(c Chunk) bool {
	if !r.gone {
		r.gone = true // if the consumer panics, it is not called again
		r.gone = !r.yield(c, nil)
	}
	return !r.gone
}

func (r *run) fail(err error) {
	text := protocol.Public(err).Message
	var me *ModelError
	if errors.As(err, &me) && me.Message != "" {
		text = me.Error()
	}
	r.emit(Chunk{Type: "error", ErrorText: text})
	if !r.gone {
		r.gone = true
		r.yield(Chunk{}, err)
	}
}

// whole starts the run, makes its steps and ends it.
func (r *run) whole(ctx context.Context) {
	err := r.guarded(ctx, func(ctx context.Context) (Status, error) {
		if err := r.steps(ctx); err != nil {
			return r.ended(ctx, err), nil
		}
		return StatusIdle, nil
	})
	if err != nil {
		r.fail(err)
	}
}

// guarded calls do while no other run uses the session, within the limit of time. It returns the
// error of do, or the error that kept it from being called.
func (r *run) guarded(ctx context.Context, do func(ctx context.Context) (Status, error)) (err error) {
	if !r.model.Local() {
		if err := r.s.scope.gate.Authority.Check(protocol.Stream, ""); err != nil {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "run", r.model.Name(), "the policy does not allow sending to a remote model; grant stream.send, or use a local model")
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	if err := r.s.start(cancel, r.model); err != nil {
		return err
	}
	status := StatusIdle
	defer func() {
		if e := r.finish(ctx, status); err == nil {
			err = e
		}
	}()
	if r.o.Time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, r.o.Time, errBudget("time"))
		defer stop()
	}
	r.share(ctx)
	if err := r.s.repair(ctx); err != nil {
		return err
	}
	status, err = do(in(ctx, r.s.scope))
	return err
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
		r.emit(Chunk{Type: ChunkStopped, Data: map[string]any{"done": r.done}})
		r.emit(Chunk{Type: "abort", Reason: protocol.Public(err).Message})
		return StatusIdle
	}
	if errors.Is(err, protocol.ErrResourceLimit) {
		r.emit(Chunk{Type: ChunkBudget, Data: map[string]any{"reason": protocol.Public(err).Message, "usage": r.usage}})
		r.emit(Chunk{Type: "finish", Reason: "other"})
		return StatusIdle
	}
	r.fail(err)
	return StatusError
}

// errGone is the error of a run whose consumer stopped iterating.
var errGone = protocol.Errorf(protocol.ErrAborted, "run", "", "the consumer of the run has stopped")

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
		if done, err := r.compact(ctx, false); err != nil {
			return err
		} else if err := r.budget.spent(); done && err != nil {
			return err
		}
		if ctx.Err() != nil { // a stopped run sends nothing more
			return context.Cause(ctx)
		}
		a := &answer{run: r, msg: r.s.newMessage(RoleAssistant)}
		a.msg.Metadata.Model = r.model.Name()
		a.msg.Metadata.SystemPromptDigest = digest(r.box.o.SystemPrompt)
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
			meta := map[string]any{"usage": r.usage}
			if r.money > 0 {
				meta["money"] = r.money
			}
			r.emit(Chunk{Type: "finish", Reason: finishReason(finish), Metadata: meta})
			return nil
		}
	}
}

// step gets one answer from the model and makes its calls.
func (r *run) step(ctx context.Context, a *answer) (calls int, finish string, err error) {
	req, err := r.request(ctx)
	if err != nil {
		return 0, "", err
	}
	req.Messages = r.fitted(req)
	smaller := 0 // how often the request was made smaller because the provider refused it
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
			err = context.Cause(ctx)
			a.keep(ctx, err)
			return 0, "", err
		}
		var me *ModelError
		if errors.As(err, &me) && me.TooLong && smaller < 3 && len(a.parts) == 0 {
			smaller++
			if req, err = r.smaller(ctx, req, smaller, err); err != nil {
				return 0, "", err
			}
			try--
			continue
		}
		if errors.As(err, &me) && len(a.parts) == 0 && r.withoutFiles(&req, me) {
			try--
			continue
		}
		if !errors.As(err, &me) || !me.Retry || try >= r.o.Retries || errors.Is(err, errGone) {
			a.keep(ctx, err)
			return 0, "", err
		}
		if err := r.wait(ctx, a, me, try); err != nil {
			a.keep(ctx, err)
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
	r.usage.Reasoning += u.Reasoning
	money := r.o.price(u)
	r.money += money
	r.budget.spend(u, money)
	r.s.spend(u, money)
}

// price returns the price of a request.
func (o *RunOptions) price(u Usage) float64 {
	cached := o.CachedPrice
	if cached == 0 {
		cached = o.InputPrice
	}
	return (float64(u.Input-u.Cached)*o.InputPrice + float64(u.Cached)*cached + float64(u.Output)*o.OutputPrice) / 1e6
}

// smaller returns a request that a provider has refused as too long, with the older messages
// summarised the first time, and with its longest texts cut. If nothing can be left out, it returns
// the provider's error.
func (r *run) smaller(ctx context.Context, req ModelRequest, time int, refused error) (ModelRequest, error) {
	before := tokensOfMessages(req.Messages)
	if time == 1 {
		done, err := r.compact(ctx, true)
		if err != nil {
			return req, err
		}
		if err := r.budget.spent(); err != nil { // by the summary
			return req, err
		}
		if done {
			if req, err = r.request(ctx); err != nil {
				return req, err
			}
		}
	}
	if tokensOfMessages(req.Messages) >= before {
		req.Messages = r.shorten(req.Messages, before*2/3)
	}
	if tokensOfMessages(req.Messages) >= before {
		return req, refused
	}
	if r.o.OnSend != nil && !r.model.Local() {
		r.o.OnSend(req)
	}
	return req, nil
}

// withoutFiles replaces the files of a request that a provider has refused by a line for each, and
// reports whether there were any. It does so for the rest of the run. One file that a provider can't
// read, such as a damaged PDF, would otherwise end each later run of the conversation, too.
func (r *run) withoutFiles(req *ModelRequest, me *ModelError) bool {
	if lastWithFiles(req.Messages) < 0 || me.Status != 400 && me.Status != 413 && me.Status != 415 && me.Status != 422 {
		return false
	}
	r.plain = true
	req.Messages = described(req.Messages)
	r.emit(Chunk{Type: ChunkFilesRefused, Data: map[string]any{"reason": me.Message}})
	if r.o.OnSend != nil && !r.model.Local() {
		r.o.OnSend(*req)
	}
	return true
}

// wait waits before a request is repeated: longer each time, or as long as the provider asked for.
// The parts of the failed answer are dropped.
func (r *run) wait(ctx context.Context, a *answer, me *ModelError, try int) error {
	d := delay(me, try)
	r.s.setStatus(StatusRetrying)
	defer r.s.setStatus(StatusBusy)
	if !r.emit(Chunk{Type: ChunkRetry, Transient: true, Data: map[string]any{"attempt": try + 1, "after_ms": ms(d), "reason": me.Message, "drop": a.ids()}}) || !r.emit(Chunk{Type: "reset-step"}) {
		return errGone
	}
	a.reset()
	return r.o.Sleep(ctx, d)
}

// delay returns the time before another try: longer each time, or as long as the provider asked for.
func delay(me *ModelError, try int) time.Duration {
	if me.RetryAfter > 0 {
		return min(me.RetryAfter, maxDelay)
	}
	d := min(firstDelay<<try, maxDelay)
	return d/2 + rand.N(d/2+1)
}

// request returns the next request to the model.
func (r *run) request(ctx context.Context) (req ModelRequest, err error) {
	req = r.outline()
	req.Messages, err = r.s.load(ctx, req.Messages)
	return req, err
}

// outline returns the next request without the contents of files.
func (r *run) outline() ModelRequest {
	req := ModelRequest{System: r.box.o.SystemPrompt, MaxTokens: r.o.MaxTokens, Messages: newest(r.s.modelMessages(r.model), false)}
	if r.plain {
		req.Messages = described(req.Messages)
	}
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
// these are the basic ones and those that the model found with tool_search. An agent that can't search has all of its
// tools.
func (b *Box) shown(s *scope, id string) bool {
	if s.only != nil && !s.only[id] {
		return false
	}
	if n, searches := b.toolsOf(s); n <= fewTools || !searches {
		return id != "tool_search"
	}
	switch id {
	case "read", "write", "edit", "glob", "grep", "bash", "undo", "todo", "question", "task", "skill", "web_fetch", "web_search", "tool_search":
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools[id]
}

// toolsOf returns the number of tools that an agent has, and whether tool_search is among them.
func (b *Box) toolsOf(s *scope) (n int, searches bool) {
	if s.only == nil {
		return len(b.byID), b.byID["tool_search"] != nil
	}
	for id := range s.only {
		if b.byID[id] != nil {
			n++
			searches = searches || id == "tool_search"
		}
	}
	return n, searches
}

// skillList returns the list of the app's own skills for the system prompt. Skills of a folder are
// not listed, because their descriptions are not trusted either. The user must accept such a skill
// when the model asks for it by name.
func (b *Box) skillList() string {
	out := ""
	for _, s := range b.o.Skills {
		if s.Trusted && !s.UserOnly {
			// A line for each skill, whatever line ends the description has.
			out += "\n- " + s.Name + ": " + strings.Join(strings.Fields(s.Description), " ")
		}
	}
	if out == "" {
		return ""
	}
	return "\n\nSkills, to be had by the tool skill:" + out
}

// finish stores the queued messages before it releases the session. A run that began in between
// would not send them to the model, and would put its answer before them.
func (r *run) finish(ctx context.Context, st Status) (err error) {
	for !r.s.giveBack(st, err != nil) {
		if _, _, err = r.s.hear(ctx); err != nil {
			st = StatusError
		}
	}
	return err
}

// hear stores all queued messages and emits a chunk for each.
func (r *run) hear(ctx context.Context) error {
	for {
		id, h, err := r.s.hear(ctx)
		if id == "" || err != nil {
			return err
		}
		data := map[string]any{"text": h.text}
		if len(h.files) > 0 {
			var list []any
			for _, f := range h.files {
				list = append(list, f.record())
			}
			data["files"] = list
		}
		r.emit(Chunk{Type: ChunkSteer, ID: id, Data: data})
	}
}

// budget is the shared budget of a run and all subagents that it starts.
type budget struct {
	o        RunOptions
	deadline time.Time // zero is no deadline

	mu     sync.Mutex
	steps  int
	tokens int64
	money  float64
	agents int
}

// step takes one request from the budget, or returns the error of the budget that is used up. The
// tokens and money of running requests are not known yet.
func (b *budget) step() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.used(); err != nil {
		return err
	}
	b.steps++
	return nil
}

// left returns the error that step would return now.
func (b *budget) left() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used()
}

// used returns the error of the budget that allows no further request, or nil. mu is held.
func (b *budget) used() error {
	switch {
	case b.steps >= b.o.Steps:
		return errBudget("steps")
	case b.o.Tokens > 0 && b.tokens >= b.o.Tokens:
		return errBudget("tokens")
	case b.o.Money > 0 && b.money >= b.o.Money:
		return errBudget("money")
	}
	return nil
}

// agent takes one subagent from the budget.
func (b *budget) agent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents >= b.o.Agents {
		return errBudget("subagents")
	}
	b.agents++
	return nil
}

func (b *budget) spend(u Usage, money float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += u.Input + u.Output
	b.money += money
}

// spent returns the error of the budget that is used up, or nil.
func (b *budget) spent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.o.Tokens > 0 && b.tokens >= b.o.Tokens:
		return errBudget("tokens")
	case b.o.Money > 0 && b.money >= b.o.Money:
		return errBudget("money")
	}
	return nil
}

// maxAlive is the maximum number of active subagents of a session, over all its runs.
const maxAlive = 8

// agentSlot takes a slot for an active subagent. The returned function frees it, once.
func (s *scope) agentSlot() (end func(), err error) {
	r := s.root
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alive >= maxAlive {
		return nil, errAlive
	}
	r.alive++
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.alive--
	}), nil
}

// finishReason returns a model's reason by one of AI SDK's names.
func finishReason(reason string) string {
	switch reason {
	case "stop", "length", "content-filter", "tool-calls", "error":
		return reason
	}
	return "other"
}
