package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// ToolCall is a call for [Box.CallAll].
type ToolCall struct {
	ID   string // the model's id of the call, or empty
	Tool string
	Args any // a tree of JSON values, JSON text ([]byte or json.RawMessage), or a struct

	to     string                                 // the receiver of the result if it is not the session's model
	asking func(Request)                          // called before the user is asked
	done   func(res protocol.ToolResult, c *Call) // called when the call has ended
}

// Call makes one call of a tool, through every step: schema, capability, watchdog, consent, the
// tool's own work, truncation and trace. It always returns a result. A failure is in the result,
// with a message that is meant for a model. If a tool exceeds its time limit, Call returns at once
// and the tool's permit ends, even if the tool's goroutine still runs.
func (b *Box) Call(ctx context.Context, id string, args any) protocol.ToolResult {
	return b.CallAll(ctx, ToolCall{Tool: id, Args: args})[0]
}

// Told is a call's result in the form that a model receives, after the send policy and the
// redaction of credentials.
type Told struct {
	Text string // the result as JSON, or the error as text
	// Kept lists the content that was withheld: a sentence about the policy's "send", or the kind
	// of a credential, such as "github token".
	Kept   []string
	Result protocol.ToolResult // the complete result, for use on this machine
}

// CallFor makes a call for a model other than the session's, such as that of a client of package
// mcp. The result contains only the content that the policy's "send" allows, without credentials.
// If local is set, the model is on this machine and receives the complete result. Otherwise, if the
// policy does not grant stream.send, the tool does not run.
func (b *Box) CallFor(ctx context.Context, id string, args any, local bool) (t Told) {
	if !local {
		if err := b.scopeOf(ctx).gate.Authority.Check(protocol.Stream, ""); err != nil {
			t.Result = protocol.ToolResult{Type: protocol.ResultError, Code: protocol.ErrCapabilityDenied, ErrorText: "the policy lets nothing be sent to a model elsewhere; grant stream.send"}
			t.Text = "error " + string(t.Result.Code) + ": " + t.Result.ErrorText
			return t
		}
	}
	to := ""
	if !local {
		to = "the client that is connected"
	}
	b.gate.Expect(1)
	b.call(ctx, ToolCall{Tool: id, Args: args, to: to, done: func(res protocol.ToolResult, c *Call) {
		t.Result = res
		t.Text, t.Kept = c.forModel(ctx, res, local)
	}}, make(chan struct{}, 1))
	return t
}

// maxAtOnce is the maximum number of calls that run concurrently.
const maxAtOnce = 10

// CallAll makes the calls concurrently, at most ten at a time, and returns their results in the
// order of calls. Their requests for consent share one prompt where possible.
func (b *Box) CallAll(ctx context.Context, calls ...ToolCall) []protocol.ToolResult {
	out := make([]protocol.ToolResult, len(calls))
	// All calls of a batch are announced before the first one asks. A call takes its turn only
	// after consent: calls that wait for a turn would keep the prompt from becoming complete.
	b.gate.Expect(len(calls))
	slots := make(chan struct{}, maxAtOnce)
	var wg sync.WaitGroup
	for i, c := range calls {
		if len(calls) == 1 {
			out[0] = b.call(ctx, c, slots)
			break
		}
		wg.Go(func() { out[i] = b.call(ctx, c, slots) })
	}
	wg.Wait()
	return out
}

// call makes one call, from the schema check to the trace.
func (b *Box) call(ctx context.Context, tc ToolCall, slots chan struct{}) (res protocol.ToolResult) {
	began := b.o.Now()
	var made *Call
	if tc.done != nil {
		defer func() { tc.done(res, made) }()
	}
	waits := sync.OnceFunc(b.gate.Done) // this call asks no more questions, or has ended
	defer waits()
	c, err := b.prepare(ctx, tc.Tool, tc.Args)
	made, c.asking, c.model, c.to = c, tc.asking, tc.ID, tc.to
	parent, ok := ctx.Value(callKey{}).(*Call)
	c.parent = parent
	if ok && c.to == "" {
		c.to = parent.to
	}
	if ok && tc.ID == "" {
		c.model = parent.model
		Tell(ctx, "→ "+tc.Tool+" "+subject(c.Args))
	}
	defer c.tellParent()
	t := &tracer{box: b, call: c, began: began}
	c.trace = t
	t.start(tc)
	if err != nil {
		return t.end(nil, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	b.track(c.ID, cancel)
	defer b.untrack(c.ID)
	defer c.scope.stoppable(tc.ID, cancel)()

	if err := c.findNeeds(ctx); err != nil {
		return t.end(nil, err)
	}
	p := c.passage(c.needs)
	p.Step, p.Shown = t.step, &gate.Shown{}
	if c.tool.Foresee != nil {
		p.Foresee = c.foresee
	}
	permit, end, err := b.gate.Pass(ctx, p)
	if err != nil {
		return t.end(nil, err)
	}
	c.Permit = permit
	defer c.scope.end(c.ID)
	defer end()
	waits()
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return t.end(nil, context.Cause(ctx))
	}
	if c.tool.turn {
		select {
		case b.turn <- struct{}{}:
			defer func() { <-b.turn }()
		case <-ctx.Done():
			return t.end(nil, context.Cause(ctx))
		}
	}
	if err := b.gate.Same(ctx, p); err != nil {
		return t.end(nil, err)
	}
	data, err := c.run(ctx)
	return t.end(data, err)
}

func (b *Box) track(id string, cancel context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[id] = cancel
}

// subject returns the main argument of a call, such as its path, for a progress line.
func subject(args any) string {
	m, _ := args.(map[string]any)
	for _, key := range []string{"path", "from", "pattern", "command", "url", "name"} {
		if s, ok := m[key].(string); ok {
			return s
		}
	}
	return ""
}

func (b *Box) untrack(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, id)
}

// prepare returns the call with its tool, and checks the arguments.
func (b *Box) prepare(ctx context.Context, id string, args any) (*Call, error) {
	c := &Call{ID: b.ids.Next(), box: b, scope: b.scopeOf(ctx), FS: b.fs, asks: b.defers, level: protocol.SendContents}
	if c.scope.only != nil && !c.scope.only[Resolve(id)] {
		return c, protocol.Errorf(protocol.ErrToolNotFound, "call", id, "this agent has no such tool")
	}
	tree, err := argsTree(ctx, args)
	if err != nil {
		return c, err
	}
	if !b.o.off.clone {
		tree = gate.Clone(tree)
	}
	c.Args = tree
	if _, err := b.tools.Lookup(Resolve(id)); err != nil {
		return c, err
	}
	c.tool = b.byID[Resolve(id)]
	return c, c.tool.Check(tree)
}

// argsTree returns the arguments as a tree of JSON values. The result may be the caller's own map.
func argsTree(ctx context.Context, args any) (any, error) {
	switch a := args.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		if plain(a, 64) {
			return a, nil
		}
	case []byte:
		return parseArgs(ctx, string(a))
	case json.RawMessage:
		return parseArgs(ctx, string(a))
	}
	text, err := json.Marshal(args)
	if err != nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "call", "", "the arguments are not JSON")
	}
	return parseArgs(ctx, string(text))
}

// plain reports whether v consists only of types that decoded JSON has.
func plain(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool, float64, string:
		return true
	case []any:
		return depth > 0 && !slices.ContainsFunc(v, func(e any) bool { return !plain(e, depth-1) })
	case map[string]any:
		for _, e := range v {
			if depth == 0 || !plain(e, depth-1) {
				return false
			}
		}
		return true
	}
	return false
}

// parseArgs decodes the arguments of a call. It yields to the page now and then.
func parseArgs(ctx context.Context, text string) (any, error) {
	if text == "" {
		return map[string]any{}, nil
	}
	var budget jsx.Budget
	tree, err := protocol.ParseJSON(text, protocol.JSONLimits{Bytes: 16 << 20, Rest: func() error { return budget.Spend(ctx) }})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeOf(err), "call", "", "the arguments are not right: %w", err)
	}
	return tree, nil
}

func (c *Call) findNeeds(ctx context.Context) (err error) {
	if c.tool.Needs == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = protocol.Errorf(protocol.ErrExecution, "call", c.tool.ID, "the tool failed before it could say what it needs")
			c.box.violation(protocol.Violation{Layer: "tool", Code: protocol.ErrExecution, Detail: "panic in the needs of " + c.tool.ID, ExecID: c.ID, Tool: c.tool.ID})
		}
	}()
	needs, err := c.tool.Needs(ctx, c)
	if err != nil {
		return publicError(c.tool.ID, err)
	}
	for _, n := range needs {
		if n.Capability.ScopeKind() == protocol.ScopePaths && !fs.ValidPath(n.Subject) {
			return protocol.Errorf(protocol.ErrInvalidParams, c.tool.ID, strconv.Quote(n.Subject), "this is not a path inside the folder: use names parted by /, without a leading slash, . or ..")
		}
	}
	c.needs = c.FS.Resolve(ctx, needs)
	c.touch(c.needs)
	return nil
}

func (c *Call) passage(needs []Need) gate.Passage {
	command := policy.Command(needs)
	if command == "" {
		command = policy.Command(c.needs)
	}
	return gate.Passage{Scope: c.scope.gate, Call: c.ID, Tool: &c.tool.Tool, Command: command, Args: c.Args, Needs: needs, Request: c.request, Asking: c.asking, Defer: c.asks, Sends: c.sends,
		Folder: &c.FS, Sent: c.sentTo, Content: c.content}
}

// look returns the call for Preview and Foresee, with a permit that covers reading alone.
func (c *Call) look(preview Permit) *Call {
	return &Call{ID: c.ID, Args: c.Args, Permit: preview, FS: c.FS, tool: c.tool, box: c.box, scope: c.scope, change: c.change}
}

// foresee returns the error of the tool's Foresee. If Foresee panics, it returns nil, so the user
// is asked.
func (c *Call) foresee(ctx context.Context, preview Permit) (err error) {
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	return publicError(c.tool.ID, c.tool.Foresee(ctx, c.look(preview)))
}

// request returns the question about the call, with the tool's title and preview.
func (c *Call) request(ctx context.Context, preview Permit) (r Request) {
	r.Description, r.Agent = c.tool.Description, c.scope.agent
	if c.tool.Preview == nil {
		return r
	}
	defer func() {
		if v := recover(); v != nil {
			r.Title, r.Diff = "", "(what would change can't be shown: the tool's preview failed)"
		}
	}()
	r.Title, r.Diff = c.tool.Preview(ctx, c.look(preview))
	if c.tool.also != nil {
		c.tool.also(ctx, c, &r)
	}
	return r
}

// sentTo returns the receiver of the content that n reads, or "" if none of it is sent.
func (c *Call) sentTo(n Need) string {
	to := c.to
	c.scope.mu.Lock()
	if m := c.scope.model; to == "" && m != nil && !m.Local() {
		to = "the model " + gate.Spelled(m.Name())
	}
	c.scope.mu.Unlock()
	send := &c.box.policy.Policy.Send
	least := send.For(n.Subject)
	most := least
	if n.Tree {
		least, most = send.Below(n.Subject), send.Most(n.Subject)
	}
	switch {
	case to == "" || most == protocol.SendNothing:
		return ""
	case least != most:
		return to + " as far as the policy allows"
	case most == protocol.SendSummary:
		return to + " as a summary"
	}
	return to
}

// content returns the bytes that the call would write to path, if they follow from its arguments.
func (c *Call) content(path string) ([]byte, bool) {
	if c.tool.content == nil || c.text("path") != path {
		return nil, false
	}
	return c.tool.content(c), true
}

// run calls the tool's Run with the tool's time limit.
func (c *Call) run(ctx context.Context) (any, error) {
	limit := c.tool.Time
	if limit == 0 {
		limit = protocol.Strict.Limits().ToolTime
	}
	ctx, c.clock = newClock(ctx, limit, c.box.o.Now)
	c.clock.resume()
	defer c.clock.stop()
	ctx = fsaccess.WithCause(ctx, c.ID)
	ctx = context.WithValue(ctx, callKey{}, c)
	type outcome struct {
		data any
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if v := recover(); v != nil {
				o = outcome{nil, protocol.Errorf(protocol.ErrExecution, "call", c.tool.ID, "the tool failed")}
				c.box.violation(protocol.Violation{Layer: "tool", Code: protocol.ErrExecution, Detail: "panic in " + c.tool.ID, ExecID: c.ID, Tool: c.tool.ID})
			}
			done <- o
		}()
		o.data, o.err = c.tool.Run(ctx, c)
	}()
	select {
	case o := <-done:
		if o.err != nil && ctx.Err() != nil {
			o.err = context.Cause(ctx)
		}
		return o.data, publicError(c.tool.ID, o.err)
	case <-ctx.Done():
		return nil, publicError(c.tool.ID, context.Cause(ctx))
	}
}

type callKey struct{}

// askKind asks the user about writing a file of a dangerous kind, for the guard.
func (b *Box) askKind(ctx context.Context, q fsaccess.Question) (bool, error) {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		return false, nil
	}
	c.clock.pause()
	defer c.clock.resume()
	needs := []Need{{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: q.Path, Words: "write " + gate.Spelled(q.Path) + ", which is of the kind " + string(q.Kind)}}
	r := Request{Call: c.ID, Tool: c.tool.ID, Args: c.Args, Needs: needs, Risk: protocol.RiskCritical,
		Reason: "a file of this kind does something when it is opened", Session: c.Session(), Agent: c.scope.agent}
	if q.Content != nil && !b.o.off.words { // a question before this one may not have shown the content
		text, err := fsaccess.QuestionDiff(ctx, "/dev/null", "b/"+q.Path, nil, q.Content)
		if err != nil {
			return false, err
		}
		r.Diff = text
	}
	p := c.passage(needs)
	p.Step = c.trace.step
	if err := b.gate.Confirm(ctx, p, r); err != nil {
		return false, err
	}
	return true, nil
}

// publicError returns err with a message for a model, where the error is of a known kind. Errors of
// package protocol, of the folder and of file systems in general are. Of any other error a model
// later receives only the code.
func publicError(tool string, err error) error {
	var e *protocol.Error
	var known fsaccess.Error
	var refused *fsaccess.GuardError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.As(err, &refused):
		out := protocol.Errorf(protocol.ErrCapabilityDenied, tool, pathOf(err), "%s", refused.Error())
		switch {
		case errors.Is(err, fsaccess.ErrProtected):
			out.Reason = protocol.ReasonProtected
		case errors.Is(err, protocol.ErrResourceLimit):
			out.Code = protocol.ErrResourceLimit
		}
		return out
	case errors.Is(err, fsaccess.ErrConflict):
		return protocol.Errorf(protocol.ErrExecution, tool, pathOf(err), "the file was changed since you read it; read it again").WithReason(protocol.ReasonStale)
	case errors.As(err, &known):
		code := protocol.CodeOf(err)
		if errors.Is(err, protocol.ErrResourceLimit) {
			code = protocol.ErrResourceLimit
		}
		return protocol.Errorf(code, tool, pathOf(err), "%s", string(known))
	}
	return osError(tool, err)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
