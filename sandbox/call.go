package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/progress"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/wire/pml"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/internal/near"
	"github.com/bailey-go/bailey/sandbox/policy"
)

type callKey struct{}

// Call is one call of a tool. Needs, Preview, Precheck and Run receive it.
//
// A call's time limit, [protocol.Tool].Time, begins with Run. It does not count the time in which the user is asked,
// whether by the box, by [Call.Acquire] or within [Call.Await]. The same holds for every call above it, such as that of
// code_run whose code made this call, for the limits of that code and of its calls, and for the other calls of that
// code. A question of a subagent pauses only the calls of the subagent.
type Call struct {
	ID     string // the call's id in traces and in the audit log
	Args   any    // JSON values that match the tool's schema
	Permit Permit // covers the effects that Needs returned
	FS     Folder // the user's folder

	tool   *Tool
	box    *Box
	scope  *scope
	clock  *stopclock.Clock // of the tool, from the start of Run
	needs  []policy.Need
	trace  *tracer
	asking func(late bool) (answered func(agreed bool))
	early  func(output map[string]any) // stores an output before the call ends, or nil
	model  string                      // the model's id of the call, or of the call that made it
	to     string                      // the receiver of the result if it is not the session's model, or empty
	asked  string                      // the key of the third-party command that the call's own question was about
	app    string                      // the tool whose page made the call, or empty
	parent *Call                       // the call whose tool made this one, or nil
	change *fsaccess.Change            // the step of the folder's history for undo and diff, or nil

	mu      sync.Mutex
	touched []string    // paths whose content the result may contain
	got     []string    // the paths in touched that were read
	from    []string    // the files whose text was read, and the folders that a program could read
	level   policy.Send // the strictest send level of all other content that was read
	cause   string      // what was read at that level, such as "a program could read every file of the folder"
	reads   bool        // the result may contain text of files
	asks    func(gate.Request) bool
	partial func() any
	visible func() any      // the output so far for the user, if it is another than that of partial
	below   <-chan struct{} // closed when the subagent of the call has stored its end, nil without one
	files   []File          // of the result
}

// Partial sets the function that returns the tool's output so far, in the form of its result. If the
// call fails, for example because it took too long or was stopped, the failed call's result has that
// output. A run with [RunOptions].Progress shows it while the call goes on. It may be called while the tool's Run goes on, so it returns a value
// that nothing else changes. It returns nil if there is no output.
func (c *Call) Partial(output func() any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partial = output
}

// soFar returns the output of a call that failed. A subagent stops with its call, and its end is stored first: the user
// may close the page next.
func (c *Call) soFar() any {
	c.mu.Lock()
	partial, below := c.partial, c.below
	c.mu.Unlock()
	if below != nil {
		<-below
	}
	return guardedOutput(partial)
}

// stopped returns the result of a call whose run was stopped while it was at work, with its output until then.
func (c *Call) stopped() ToolResult {
	res := failed(protocol.Errorf(protocol.ErrAborted, "call", c.tool.ID, "the run was stopped before this call ended"), 0)
	if res.Data = c.soFar(); res.Data != nil {
		c.cut(&res)
	}
	return res
}

// preliminary returns the output of a call that runs, for the user.
func (c *Call) preliminary() any {
	c.mu.Lock()
	output := c.visible
	if output == nil {
		output = c.partial
	}
	c.mu.Unlock()
	return guardedOutput(output)
}

func guardedOutput(output func() any) (out any) {
	if output == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			out = nil
		}
	}()
	return output()
}

// Bind stores the arguments in the struct that dst points to. It returns the error of
// [protocol.Unmarshal].
func (c *Call) Bind(dst any) error {
	args := c.Args
	if args == nil {
		args = map[string]any{}
	}
	return protocol.Unmarshal(args, dst)
}

// Session returns the id of the session that the call belongs to.
func (c *Call) Session() string { return c.scope.gate.ID }

// Box returns the box that runs the call, for tools that make calls of other tools. Each such call
// goes through every step of its own.
func (c *Call) Box() *Box { return c.box }

// Acquire asks for a permit for further effects that were unknown before the tool ran, such as the
// files that a script opens. It returns a permit for them, which lasts until the call ends. The user may be
// asked, and no time limit counts that time, see [Call]. The error is that of a denied call,
// such as [protocol.ErrCapabilityDenied].
func (c *Call) Acquire(ctx context.Context, needs ...policy.Need) (Permit, error) {
	ctx = c.clock.On(ctx) // so that the gate's question pauses it
	needs = c.FS.f.Resolve(ctx, needs)
	p := c.passage(needs)
	p.Unwatched, p.Late = true, true
	p.Step = c.trace.step
	p.Shown = &gate.Shown{}
	permit, end, err := c.box.gate.Pass(ctx, p)
	if err != nil {
		return Permit{}, err
	}
	c.scope.atEnd(c.ID, end)
	if err := c.box.gate.Same(ctx, p); err != nil {
		return Permit{}, err
	}
	c.touch(needs)
	return Permit{permit}, nil
}

// Await calls do, which waits for the user. No time limit counts that time, see [Call].
func (c *Call) Await(do func()) {
	defer c.clock.Hold()()
	do()
}

// View returns a folder that contains only the files below reads and writes, for programs that open
// files by themselves. The view ends with ctx. The permit p must cover each of the paths with
// everything below it. Below them each path is decided separately, by grants, rules and refusals,
// as a call for that path would be. The strictest send level of all files below reads applies to
// the call's whole result.
//
// A program may create files, and change files that it may read. It needs more to remove a file, to
// move one away, or to replace one that it may not read. For these p must also cover a need for
// [protocol.FSWrite] with Op [protocol.OpRemove], Tree and Destroys.
func (c *Call) View(ctx context.Context, p Permit, reads, writes []string) (fsaccess.FS, error) {
	view, _, err := c.view(ctx, p, reads, writes)
	return view, err
}

// inWords returns folders in words.
func inWords(roots []string) string {
	if slices.Contains(roots, ".") {
		return "every file of the folder"
	}
	return "what is below " + strings.Join(roots, " and ")
}

// view is View. The function changing asks the user about the changes that the program is about to
// make.
func (c *Call) view(ctx context.Context, p Permit, reads, writes []string) (view fsaccess.FS, changing func(context.Context, []protocol.FileChange) error, err error) {
	level := policy.SendContents
	for _, path := range reads {
		level = level.Narrow(c.box.policy.Policy.Send.Below(path))
	}
	c.narrow(level, "a program could read "+inWords(reads))
	c.reading(reads...)
	view, more, err := gate.View(ctx, c.FS.f, p.p, reads, writes)
	return view, func(ctx context.Context, changes []protocol.FileChange) error {
		permit, err := c.changing(ctx, p, changes)
		if err == nil {
			more(permit.p)
		}
		return err
	}, err
}

// CountUse counts one use of a limited resource in the session, and returns
// [protocol.ErrResourceLimit] if most uses are counted already. For example,
// c.CountUse("web_search", 20) allows 20 searches in a session. Uses by subagents count for the
// session that started them.
func (c *Call) CountUse(resource string, most int) error {
	return c.scope.root.countUse(resource, most)
}

// text returns a string argument, or "".
func (c *Call) text(name string) string {
	m, _ := c.Args.(map[string]any)
	s, _ := m[name].(string)
	return s
}

// changing asks the user about all changes that a command with the permit p is about to make.
func (c *Call) changing(ctx context.Context, p Permit, changes []protocol.FileChange) (Permit, error) {
	needs, err := gate.Changes(c.tool.ID, c.text("command"), changes, false, func(dir string) bool {
		return p.Covers(policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: dir})
	})
	if err != nil || len(needs) == 0 {
		return Permit{}, err
	}
	for _, n := range needs {
		if !p.Covers(policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: n.Subject}) {
			return Permit{}, protocol.Errorf(protocol.ErrCapabilityDenied, c.tool.ID, n.Subject, "the call did not declare that the command writes here")
		}
	}
	for i, n := range needs {
		needs[i].Tree = n.Tree || n.Op == protocol.OpRemove && c.FS.f.IsDir(ctx, n.Subject)
	}
	return c.Acquire(ctx, needs...)
}

// ToolCall is a call for [Box.CallAll].
type ToolCall struct {
	ID   string // the model's id of the call, or empty
	Tool string
	Args any // a tree of JSON values, JSON text ([]byte or json.RawMessage), or a struct

	to     string                                       // the receiver of the result if it is not the session's model
	app    appCall                                      // if the page of a tool makes the call
	begun  func(c *Call)                                // called before the tool runs
	early  func(output map[string]any)                  // called with an output that is stored before the call ends
	done   func(res ToolResult, c *Call)                // called when the call has ended
	asking func(late bool) (answered func(agreed bool)) // called before the user is asked
}

// Call makes one call of a tool, through every step: schema, capability, watchdog, consent, the
// tool's own work, truncation and trace. It always returns a result. A failure is in the result,
// with a message that is meant for a model. If a tool exceeds its time limit, Call returns at once
// and the tool's permit ends, even if the tool's goroutine still runs.
func (b *Box) Call(ctx context.Context, id string, args any) ToolResult {
	return b.CallAll(ctx, ToolCall{Tool: id, Args: args})[0]
}

// ModelResult is a tool result after the send policy and the redaction of credentials. It is the
// only form that reaches a model.
type ModelResult struct {
	Text string // the result as JSON, or the error as text
	// Withheld describes the content that is not in Text: a sentence about the policy's "send", or
	// the kind of a credential, such as "github token".
	Withheld []string
	Files    []File     // the files of the result that the model receives
	Result   ToolResult // the complete result, for use on this machine
}

// CallForModel makes a call for a model other than the session's, such as that of a client of package
// mcp. The result contains only the content that the policy's "send" allows, without credentials.
// If local is set, the model is on this machine and receives the complete result. Otherwise, if the
// policy does not grant stream.send, the tool does not run.
func (b *Box) CallForModel(ctx context.Context, id string, args any, local bool) (t ModelResult) {
	if !local {
		if err := scopeOf(ctx, b).gate.Authority.Check(protocol.Stream, ""); err != nil {
			t.Result = ToolResult{Type: resultError, Code: protocol.ErrCapabilityDenied, ErrorText: "the policy does not allow sending to a remote model; grant stream.send"}
			t.Text = "error " + string(t.Result.Code) + ": " + t.Result.ErrorText
			return t
		}
	}
	to := ""
	if !local {
		to = "the client that is connected"
	}
	b.gate.Expect(1)
	b.call(ctx, ToolCall{Tool: id, Args: args, to: to, done: func(res ToolResult, c *Call) {
		t.Result = res
		t.Text, t.Files, t.Withheld = c.forModel(ctx, res, local, false)
	}}, make(chan struct{}, 1))
	return t
}

// AnswerPML answers a message "rpc_call" of a worker of Casys PML with a message "rpc_result". The call is
// one of [Box.CallForModel]: it passes every step, and the answer has only the content that may be sent, unless
// local is set because the worker and its model are on this machine. The names of PML's document, such as
// mcp.filesystem.read_file, are the box's own tools unless a server has the name. All others are tools of MCP
// servers. A message that can't be read is answered with an error.
func (b *Box) AnswerPML(ctx context.Context, message string, local bool) string {
	c, err := pml.DecodeCall(message)
	out := pml.Result{ID: cmp.Or(c.ID, "unknown"), Err: err}
	if err != nil {
		return pml.EncodeResult(out)
	}
	id := builtinName("mcp." + c.Tool.Server + "." + c.Tool.Name)
	if hasServer(b, c.Tool.Server) || strings.HasPrefix(id, "mcp.") {
		id = c.Tool.Server + "_" + c.Tool.Name
		if t := b.byID[id]; t == nil || t.Server != c.Tool.Server {
			out.Err = protocol.Errorf(protocol.ErrToolNotFound, "call", c.Tool.Server+"."+c.Tool.Name, "there is no such tool")
			return pml.EncodeResult(out)
		}
	}
	res := b.CallForModel(ctx, id, c.Args, local)
	if out.Err = res.Result.Err(); out.Err != nil {
		out.Err = protocol.Errorf(protocol.CodeOf(out.Err), "", "", "%s", res.Text)
	} else if out.Value, out.Err = protocol.ParseJSON(res.Text, protocol.JSONLimits{Bytes: 16 << 20}); out.Err != nil {
		out.Value, out.Err = res.Text, nil // it was cut
	}
	return pml.EncodeResult(out)
}

// CallForApp makes a call that the page of a tool asks for, see [Tool].App. tool is the id of the tool
// whose page it is. The page has chosen name, the server's own name of a tool or its id, and args. The
// call is refused unless that tool has ForApps and is of the same server. Then it passes every step of
// [Box.Call]. The question about it and the audit log name the page, in [Request].App: the model did
// not make this call.
func (b *Box) CallForApp(ctx context.Context, tool, name string, args any) ToolResult {
	to := ""
	if of := b.tool(tool); of != nil && of.App != nil {
		to = b.forApp(of, name)
	}
	b.gate.Expect(1)
	return b.call(ctx, ToolCall{Tool: to, Args: args, app: appCall{by: tool, name: name}}, make(chan struct{}, 1))
}

// appCall is a call by the page of a tool.
type appCall struct{ by, name string }

// tool returns a tool of the box, also one that is not for the model.
func (b *Box) tool(id string) *Tool {
	if t := b.byID[id]; t != nil {
		return t
	}
	return b.hidden[id]
}

// forApp returns the id of the tool that the page of another may call by a name, or "".
func (b *Box) forApp(of *Tool, name string) string {
	for _, list := range []map[string]*Tool{b.byID, b.hidden} {
		for id, t := range list {
			if (t.ForApps && t.Server == of.Server || b.o.off.apps) && (id == name || t.Served != "" && t.Served == name) {
				return id
			}
		}
	}
	return ""
}

// AppOf returns the page of a tool and the name of its server, or nil if it has none.
func (b *Box) AppOf(tool string) (page *protocol.App, server string) {
	t := b.tool(builtinName(tool))
	if t == nil || t.App == nil {
		return nil, ""
	}
	copied := *t.App
	return &copied, t.Server
}

// CallAll makes the calls concurrently, at most ten at a time, and returns their results in the
// order of calls. Their requests for consent share one prompt where possible.
func (b *Box) CallAll(ctx context.Context, calls ...ToolCall) []ToolResult {
	out := make([]ToolResult, len(calls))
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

// maxAtOnce is the maximum number of calls that run concurrently.
const maxAtOnce = 10

// call makes one call, from the schema check to the trace.
func (b *Box) call(ctx context.Context, tc ToolCall, slots chan struct{}) (res ToolResult) {
	began := b.o.Now()
	var made *Call
	if tc.done != nil {
		defer func() { tc.done(res, made) }()
	}
	waits := sync.OnceFunc(b.gate.Done) // this call asks no more questions, or has ended
	defer waits()
	c, err := b.prepare(ctx, tc.Tool, tc.Args, tc.app)
	made, c.asking, c.early, c.model, c.to = c, tc.asking, tc.early, tc.ID, tc.to
	parent, ok := ctx.Value(callKey{}).(*Call)
	c.parent = parent
	if ok && c.to == "" {
		c.to = parent.to
	}
	if ok && tc.ID == "" {
		c.model = parent.model
		ReportProgress(ctx, "→ "+tc.Tool+" "+subject(c.Args))
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
	if c.tool.Precheck != nil {
		p.Precheck = c.precheck
	}
	permit, end, err := b.gate.Pass(ctx, p)
	if err != nil {
		return t.end(nil, err)
	}
	c.Permit = Permit{permit}
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
	if tc.begun != nil {
		tc.begun(c)
	}
	data, err := c.run(ctx)
	return t.end(data, err)
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

// prepare returns the call with its tool, and checks the arguments.
func (b *Box) prepare(ctx context.Context, id string, args any, app appCall) (*Call, error) {
	c := &Call{ID: b.ids.Next(), box: b, scope: scopeOf(ctx, b), FS: Folder{f: b.fs}, asks: b.defers, level: policy.SendContents, app: app.by}
	c.FS.read = c.reading
	if app.by != "" && id == "" {
		return c, protocol.Errorf(protocol.ErrToolNotFound, "call", "", "the page of this tool has no tool %.80q to call", app.name)
	}
	if c.scope.only != nil && !c.scope.only[builtinName(id)] {
		return c, protocol.Errorf(protocol.ErrToolNotFound, "call", id, "this agent has no such tool%s", b.meant(c.scope, id))
	}
	tree, err := argsTree(ctx, args)
	if err != nil {
		return c, err
	}
	if !b.o.off.clone {
		tree = gate.Clone(tree)
	}
	c.Args = tree
	if t := b.hidden[id]; t != nil && app.by != "" {
		c.tool = t
		return c, c.tool.Check(tree)
	}
	if _, err := b.tools.Lookup(builtinName(id)); err != nil {
		if hint := b.meant(c.scope, id); hint != "" && errors.Is(err, protocol.ErrToolNotFound) {
			return c, protocol.Errorf(protocol.ErrToolNotFound, "call", id, "there is no tool of that name%s", hint)
		}
		return c, err
	}
	c.tool = b.byID[builtinName(id)]
	return c, c.tool.Check(tree)
}

// meant returns a question with the tools that a misspelt id may mean, or "". The agent of the scope may
// use each of them.
func (b *Box) meant(s *scope, id string) string {
	known := slices.DeleteFunc(b.tools.Names(), func(n string) bool { return s.only != nil && !s.only[n] })
	names := near.Names(id, known)
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
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
		return nil, protocol.Errorf(protocol.CodeOf(err), "call", "", "the arguments are invalid: %w", err)
	}
	return tree, nil
}

func (c *Call) findNeeds(ctx context.Context) (err error) {
	if c.tool.Needs == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			c.panicked(v)
			err = protocol.Errorf(protocol.ErrExecution, "call", c.tool.ID, "the tool failed while it computed its needs")
			c.box.violation(protocol.Violation{Layer: "tool", Code: protocol.ErrExecution, Detail: "panic in the needs of " + c.tool.ID, ExecID: c.ID, Tool: c.tool.ID})
		}
	}()
	needs, err := c.tool.Needs(ctx, c)
	if err != nil {
		return publicError(c.tool.ID, err)
	}
	for _, n := range needs {
		if n.Capability.TakesPaths() && !fs.ValidPath(n.Subject) {
			return protocol.Errorf(protocol.ErrInvalidParams, c.tool.ID, strconv.Quote(n.Subject), "this is not a path inside the folder: use names parted by /, without a leading slash, . or ..")
		}
	}
	c.needs = c.FS.f.Resolve(ctx, needs)
	c.touch(c.needs)
	return nil
}

func (c *Call) passage(needs []policy.Need) gate.Passage {
	command := commandIn(needs)
	if command == "" {
		command = commandIn(c.needs)
	}
	return gate.Passage{Scope: c.scope.gate, Call: c.ID, Model: c.model, Tool: &c.tool.Tool, Command: command, Args: c.Args, Needs: needs, Request: c.request, Asking: c.asking, Defer: c.asks, Sends: c.sends,
		Folder: &c.FS.f, Sent: c.sentTo, Content: c.content}
}

// commandIn returns the first command in needs, the subject of a need for shell.run, or "".
func commandIn(needs []policy.Need) string {
	for _, n := range needs {
		if n.Capability == protocol.ShellRun {
			return n.Subject
		}
	}
	return ""
}

// look returns the call for Preview and Precheck, with a permit that covers reading alone.
func (c *Call) look(preview gate.Permit) *Call {
	return &Call{ID: c.ID, Args: c.Args, Permit: Permit{preview}, FS: c.FS, tool: c.tool, box: c.box, scope: c.scope, change: c.change}
}

// precheck returns the error of the tool's Precheck. If Precheck panics, it returns nil, so the user
// is asked.
func (c *Call) precheck(ctx context.Context, preview gate.Permit) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.panicked(v)
			err = nil
		}
	}()
	return publicError(c.tool.ID, c.tool.Precheck(ctx, c.look(preview)))
}

// request returns the question about the call, with the tool's title and preview.
func (c *Call) request(ctx context.Context, preview gate.Permit) (r gate.Request) {
	r.Description, r.Agent, r.App = c.tool.Description, c.scope.agent, c.app
	if c.tool.Preview == nil {
		return r
	}
	defer func() {
		if v := recover(); v != nil {
			c.panicked(v)
			r.Title, r.Diff = "", "(what would change can't be shown: the tool's preview failed)"
		}
	}()
	r.Title, r.Diff = c.tool.Preview(ctx, c.look(preview))
	r.Unified = c.tool.unified
	if c.tool.also != nil {
		c.tool.also(ctx, c, &r)
	}
	return r
}

// receiver returns who gets the call's result, or "" if nobody elsewhere does.
func (c *Call) receiver() string {
	to := c.to
	c.scope.mu.Lock()
	defer c.scope.mu.Unlock()
	if m := c.scope.model; to == "" && m != nil && !m.Local() {
		to = "the model " + gate.Spelled(m.Name())
	}
	return to
}

// sentTo returns the receiver of the content that n reads, or "" if none of it is sent.
func (c *Call) sentTo(n policy.Need) string {
	to := c.receiver()
	send := &c.box.policy.Policy.Send
	least := send.For(n.Subject)
	most := least
	if n.Tree {
		least, most = send.Below(n.Subject), send.Most(n.Subject)
	}
	switch {
	case to == "" || most == policy.SendNothing:
		return ""
	case least != most:
		return to + " as far as the policy allows"
	case most == policy.SendSummary:
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
	ctx, c.clock = stopclock.Start(ctx, stopclock.Options{Limit: limit, Cause: protocol.Errorf(protocol.ErrTimeout, "call", "", "the tool took longer than %v; what it did until then is done", limit)})
	defer c.clock.Stop()
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
				c.panicked(v)
				o = outcome{nil, protocol.Errorf(protocol.ErrExecution, "call", c.tool.ID, "the tool failed")}
				c.box.violation(protocol.Violation{Layer: "tool", Code: protocol.ErrExecution, Detail: "panic in " + c.tool.ID, ExecID: c.ID, Tool: c.tool.ID})
			}
			done <- o
		}()
		o.data, o.err = c.tool.Run(ctx, c)
	}()
	select {
	case o := <-done:
		if o.err == nil {
			return o.data, nil
		}
		if ctx.Err() != nil {
			o.err = context.Cause(ctx)
		}
		return c.soFar(), publicError(c.tool.ID, o.err)
	case <-ctx.Done():
		return c.soFar(), publicError(c.tool.ID, context.Cause(ctx))
	}
}

// panicked tells the developer of a panic of the tool. The model receives neither the value nor the stack,
// which may contain what the tool has read. It is called while the goroutine panics.
func (c *Call) panicked(v any) {
	stack := debug.Stack()
	if on := c.box.o.OnPanic; on != nil {
		defer func() { _ = recover() }()
		on(c.tool.ID, v, stack)
		return
	}
	fmt.Fprintf(os.Stderr, "sandbox: panic in the tool %s: %v\n%s", c.tool.ID, v, stack)
}

// askKind asks the user about writing a file of a dangerous kind, for the guard.
func (b *Box) askKind(ctx context.Context, q fsaccess.Question) (bool, error) {
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		return false, nil
	}
	ctx = c.clock.On(ctx)
	needs := []policy.Need{{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: q.Path, Words: "write " + gate.Spelled(q.Path) + ", which is of the kind " + string(q.Kind)}}
	r := gate.Request{Call: c.ID, ToolCall: c.model, Tool: c.tool.ID, Args: c.Args, Needs: needs, Risk: protocol.RiskCritical,
		Reason: "a file of this kind does something when it is opened", Session: c.Session(), Agent: c.scope.agent}
	if q.Content != nil && !b.o.off.words { // a question before this one may not have shown the content
		text, err := q.Diff(ctx)
		if err != nil {
			return false, err
		}
		r.Diff, r.Unified = text, true
	}
	p := c.passage(needs)
	p.Step = c.trace.step
	if err := b.gate.Confirm(ctx, p, r); err != nil {
		return false, err
	}
	return true, nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// acceptOnce asks the user whatever the rules decide, unless the user has accepted the same key in
// this session.
func (c *Call) acceptOnce(ctx context.Context, key string, r gate.Request) error {
	if c.accepted(key) {
		return nil
	}
	ctx = c.clock.On(ctx)
	p := c.passage(nil)
	p.Step = c.trace.step
	r.ToolCall = c.model
	if err := c.box.gate.Confirm(ctx, p, r); err != nil {
		return err
	}
	c.accept(key)
	return nil
}

// accepted reports whether the user has accepted key in this session.
func (c *Call) accepted(key string) bool {
	c.scope.mu.Lock()
	defer c.scope.mu.Unlock()
	return c.scope.accepted[key]
}

// accept records that the user accepted key in this session.
func (c *Call) accept(key string) {
	if c.asks != nil { // a dry run asks later
		return
	}
	c.scope.mu.Lock()
	defer c.scope.mu.Unlock()
	if c.scope.accepted == nil {
		c.scope.accepted = map[string]bool{}
	}
	c.scope.accepted[key] = true
}

// Progress is a line of text from a running call.
type Progress struct {
	Session string // the id of the session
	Call    string // the model's id of the call, as in [Chunk].ToolCallID
	Text    string
}

// ReportProgress calls [Options].OnProgress with a line of text for the call that ctx belongs to. For
// example, a command runner reports the output of a program this way. Lines of calls that a call
// makes itself are reported under the outer call. ReportProgress does nothing outside of a call, and if
// OnProgress is nil.
func ReportProgress(ctx context.Context, text string) {
	progress.Report(ctx, text)
	c, ok := ctx.Value(callKey{}).(*Call)
	if ok && c.model != "" && c.box.o.OnProgress != nil {
		c.box.o.OnProgress(Progress{Session: c.Session(), Call: c.model, Text: text})
	}
}
