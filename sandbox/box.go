package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Box is a folder, a policy and tools, and the one way to call them. It is safe for
// several goroutines.
type Box struct {
	o           Options
	policy      *policy.Compiled
	gate        *gate.Gate
	fs          Folder
	raw         fsaccess.FS
	tools       *protocol.Toolset
	byID        map[string]*Tool
	missing     []Availability
	environment Environment
	ids         *protocol.IDs
	audit       *Audit
	viols       *protocol.Ring[protocol.Violation]
	root        *scope
	defers      func(Request) bool // of a dry run

	turn chan struct{} // held by a call that changes files as it was shown

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc
	live    map[string]*Session
}

// New makes a box. A policy that can't be read, and a tool that is not well formed,
// are errors.
func New(o Options) (*Box, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AskWindow == 0 {
		o.AskWindow = 250 * time.Millisecond
	}
	if o.Policy == nil {
		o.Policy = &protocol.Policy{}
	}
	if o.Tools == nil {
		o.Tools = Standard()
	}
	if o.Sessions == nil {
		o.Sessions = NewMemoryStore()
	}
	// A nil *slog.Logger is not a nil Logger, and panics when it is called.
	if v := reflect.ValueOf(o.Log); v.Kind() == reflect.Pointer && v.IsNil() {
		o.Log = nil
	}
	compiled, err := policy.Compile(o.Policy)
	if err != nil {
		return nil, err
	}
	here, err := environment(o.Environment)
	if err != nil {
		return nil, err
	}
	b := &Box{o: o, environment: here, policy: compiled, audit: o.Audit, raw: o.FS, turn: make(chan struct{}, 1), running: map[string]context.CancelCauseFunc{}, live: map[string]*Session{}}
	if b.audit == nil {
		b.audit = NewAudit(nil)
	}
	b.viols = protocol.NewRing[protocol.Violation](1000)
	if b.ids, err = protocol.NewIDs("call-" + randomID(4)); err != nil {
		return nil, err
	}
	b.gate = gate.New(gate.Options{Policy: compiled, Asker: o.Ask, Window: o.AskWindow, Now: o.Now, Keep: o.Remember, Violation: b.violation,
		Off: gate.Off{Words: o.off.words, Same: o.off.same, Marks: o.off.marks}})
	b.fs = gate.NewFolder(o.FS, o.Policy, fsaccess.GuardOptions{Kinds: o.Kinds, Ask: b.askKind})
	if o.off.views {
		b.fs = gate.Unchecked(b.fs)
	}
	if err := b.addTools(o.Tools); err != nil {
		return nil, err
	}
	if b.root, err = b.newScope("box", compiled.Authority(), nil); err != nil {
		return nil, err
	}
	return b, nil
}

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// addTools takes the tools into the box. A tool of the app's own that is not well formed is
// an error. A server chooses the names of its tools: one that cannot be taken is missing,
// with the reason, so no server keeps a box from being made.
func (b *Box) addTools(tools []Tool) error {
	b.tools, b.byID = &protocol.Toolset{}, map[string]*Tool{}
	key := func(t Tool) string { return strings.ToLower(Resolve(t.ID)) } // no two differ in case alone
	taken := map[string]string{}                                         // why an id cannot be had
	for _, id := range append(protocol.LockedTools(), standardIDs()...) {
		taken[id] = "a tool that every box knows has this name"
	}
	var others []Tool
	asked := map[string]int{}
	for _, t := range tools {
		if t.Missing == "" && b.o.FS == nil && needsFolder(t) {
			t.Missing = "there is no folder"
		}
		if t.Missing != "" {
			b.missing = append(b.missing, Availability{Tool: t.ID, Reason: t.Missing})
			continue
		}
		if t.foreign() && !b.o.off.names {
			others = append(others, t)
			asked[key(t)]++
			continue
		}
		if err := b.addTool(t); err != nil {
			return err
		}
		taken[key(t)] = "a tool of the app's own has this name"
	}
	for _, t := range others {
		why := taken[key(t)]
		if why == "" && asked[key(t)] > 1 { // the first would be taken for the others
			why = "more than one server has a tool of this name"
		}
		if why == "" {
			if err := b.addTool(t); err != nil {
				why = protocol.Public(err).Message
			}
		}
		if why != "" {
			b.missing = append(b.missing, Availability{Tool: t.RuleName(), Reason: why})
		}
	}
	return nil
}

// foreign reports whether somebody else than the app has named the tool.
func (t *Tool) foreign() bool { return t.Untrusted || t.Server != "" }

func (b *Box) addTool(t Tool) error {
	if t.Run == nil {
		return protocol.Errorf(protocol.ErrInvalidParams, "tool", t.ID, "has no Run")
	}
	id := t.ID
	t.Execute = func(ctx context.Context, args any) (any, error) {
		res := b.Call(ctx, id, args)
		return res.Data, ErrorOf(res)
	}
	if err := b.tools.Add(t.Tool); err != nil {
		return err
	}
	added, err := b.tools.Lookup(id)
	if err != nil {
		return err
	}
	t.Tool = *added
	b.byID[id] = &t
	return nil
}

func needsFolder(t Tool) bool {
	return slices.ContainsFunc(t.Requires, func(g protocol.Grant) bool { return g.Capability.ScopeKind() == protocol.ScopePaths })
}

// ErrorOf is nil for a result that went well, else its error.
func ErrorOf(r protocol.ToolResult) error {
	if r.Type != protocol.ResultError {
		return nil
	}
	return protocol.Errorf(r.Code, "", "", "%s", r.ErrorText).WithReason(r.Reason)
}

// Toolset is the box's tools for an enclave, a server or a model: their Execute goes
// through [Box.Call] with the session of its context.
func (b *Box) Toolset() *protocol.Toolset { return b.tools }

// Policy is the policy in force.
func (b *Box) Policy() *protocol.Policy { return b.policy.Policy }

// Audit is the log of every step.
func (b *Box) Audit() *Audit { return b.audit }

// Violations are the last of what was stopped, oldest first, and how much ever was.
func (b *Box) Violations() ([]protocol.Violation, uint64) { return b.viols.All(), b.viols.Total() }

// ClearViolations empties the list; the total stays.
func (b *Box) ClearViolations() { b.viols.Clear() }

// Kept are the rules that answers made for good, beside the policy's own.
func (b *Box) Kept() protocol.Rules { return b.gate.Kept() }

// Explain says what the policy makes of a call and why, with the answers so far.
// Nobody is asked and nothing is done.
func (b *Box) Explain(ctx context.Context, id string, args any) (policy.Explanation, error) {
	c, err := b.prepare(ctx, id, args)
	if err != nil {
		return policy.Explanation{}, err
	}
	if err := c.findNeeds(ctx); err != nil {
		return policy.Explanation{}, err
	}
	more := append(b.gate.Kept(), c.scope.gate.Grants()...)
	call := policy.Call{Tool: c.tool.RuleName(), Untrusted: c.tool.Untrusted, Command: policy.Command(c.needs), Needs: c.needs}
	return b.policy.Explain(call, c.scope.gate.Authority, more), nil
}

// Stop ends every call that runs, and says which those were. It does not wait for
// them; their permits are void at once.
func (b *Box) Stop(why string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for id, cancel := range b.running {
		cancel(protocol.Errorf(protocol.ErrAborted, "call", "", "stopped: %s", why))
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// violation takes note of what was stopped.
func (b *Box) violation(v protocol.Violation) {
	if v.Time.IsZero() {
		v.Time = b.o.Now()
	}
	b.viols.Add(v)
	b.audit.violation(v)
	if l := b.o.Log; l != nil {
		l.Warn("violation", "layer", v.Layer, "code", string(v.Code), "tool", logged(v.Tool), "detail", logged(v.Detail))
	}
}
