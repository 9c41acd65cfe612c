package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/sandbox/internal/ring"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Box combines a folder, a policy and tools, and makes all calls of the tools. It is safe for
// concurrent use.
type Box struct {
	o           Options
	policy      *policy.Compiled
	gate        *gate.Gate
	fs          gate.Folder
	raw         fsaccess.FS
	tools       *protocol.Toolset
	byID        map[string]*Tool
	hidden      map[string]*Tool // those that only pages of tools call
	missing     []Availability
	environment Environment
	ids         *ids.Source
	audit       *Audit
	viols       *ring.Ring[protocol.Violation]
	root        *scope
	defers      func(gate.Request) bool // set in the box of a [Plan]: records a request in place of asking the user

	turn chan struct{} // held by a call whose tool has turn set

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc
}

// New returns a box. It returns an error for an invalid policy, an unknown environment, and a
// malformed tool of the app's own. A malformed tool of a server is no error: [Box.Available] lists
// it with the reason.
func New(o Options) (*Box, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AskWindow == 0 {
		o.AskWindow = 250 * time.Millisecond
	}
	if o.Policy == nil {
		o.Policy = &policy.Policy{}
	}
	if o.Tools == nil {
		o.Tools = Standard()
	}
	if o.Sessions == nil {
		o.Sessions = MemoryStore()
	}
	// A nil *slog.Logger is not a nil interface, and panics when it is called.
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
	b := &Box{o: o, environment: here, policy: compiled, audit: o.Audit, raw: o.FS, turn: make(chan struct{}, 1), running: map[string]context.CancelCauseFunc{}}
	if b.audit == nil {
		b.audit = NewAudit(nil)
	}
	b.viols = ring.New[protocol.Violation](1000)
	if b.ids, err = ids.New("call-" + randomID(4)); err != nil {
		return nil, err
	}
	b.gate = gate.New(gate.Options{Policy: compiled, Ask: gateAsk(o.Ask), Window: o.AskWindow, Now: o.Now, Remember: o.Remember, Violation: b.violation,
		Off: gate.Off{Words: o.off.words, Same: o.off.same, Marks: o.off.marks}})
	b.fs = gate.NewFolder(o.FS, o.Policy, fsaccess.GuardOptions{Kinds: o.Kinds, Ask: b.askKind})
	if o.off.views {
		b.fs = gate.Unchecked(b.fs)
	}
	if err := b.addTools(o.Tools); err != nil {
		return nil, err
	}
	if b.root, err = newScope(b, "box", compiled.Authority(), nil); err != nil {
		return nil, err
	}
	return b, nil
}

func randomID(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// addTools adds the tools to the box. A malformed tool of the app's own is an error. Servers choose
// the names of their tools, so a server's tool that can't be added is listed as missing, with the
// reason. A server therefore can't keep a box from being created.
func (b *Box) addTools(tools []Tool) error {
	b.tools, b.byID, b.hidden = &protocol.Toolset{}, map[string]*Tool{}, map[string]*Tool{}
	key := func(t Tool) string { return strings.ToLower(builtinName(t.ID)) } // no two ids differ in case alone
	taken := map[string]string{}                                             // the reason why an id is not available
	for _, id := range append(b.tools.Locked(), standardIDs()...) {
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
		if why == "" && asked[key(t)] > 1 { // the first would be mistaken for the others
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

// foreign reports whether a server, and not the app, named the tool.
func (t *Tool) foreign() bool { return t.Untrusted || t.Server != "" }

func (b *Box) addTool(t Tool) error {
	if t.bad != nil {
		return t.bad
	}
	if t.Run == nil {
		return protocol.Errorf(protocol.ErrInvalidParams, "tool", t.ID, "has no Run")
	}
	id := t.ID
	t.Execute = func(ctx context.Context, args any) (any, error) {
		res := b.Call(ctx, id, args)
		return res.Data, res.Err()
	}
	set, byID := b.tools, b.byID
	if t.NotForModel && !b.o.off.apps {
		set, byID = &protocol.Toolset{}, b.hidden
	}
	if err := set.Add(t.Tool); err != nil {
		return err
	}
	added, err := set.Lookup(id)
	if err != nil {
		return err
	}
	t.Tool = *added
	byID[id] = &t
	return nil
}

func needsFolder(t Tool) bool {
	return slices.ContainsFunc(t.Requires, func(g protocol.Grant) bool { return g.Capability.TakesPaths() })
}

// Toolset returns the box's tools for an enclave, a server or a model. Their Execute makes a
// [Box.Call] in the session of its context.
func (b *Box) Toolset() *protocol.Toolset { return b.tools }

// Policy returns the policy in force.
func (b *Box) Policy() *policy.Policy { return b.policy.Policy }

// Audit returns the log of every step.
func (b *Box) Audit() *Audit { return b.audit }

// Violations returns the last 1,000 calls and effects that were stopped, oldest first, and the
// number of all of them since [New].
func (b *Box) Violations() ([]protocol.Violation, uint64) { return b.viols.All(), b.viols.Total() }

// ClearViolations empties the list. The total is kept.
func (b *Box) ClearViolations() { b.viols.Clear() }

// RememberedRules returns the rules that the user's answers added beyond a session, see
// [Options].Remember. The policy's own rules are not among them.
func (b *Box) RememberedRules() policy.Rules { return b.gate.Remembered() }

// Explain returns the policy's decision about a call and the reason, with all answers so far. The
// user is not asked and the call does not run. It returns an error if the arguments don't match the
// tool's schema.
func (b *Box) Explain(ctx context.Context, id string, args any) (policy.Explanation, error) {
	c, err := b.prepare(ctx, id, args, appCall{})
	if err != nil {
		return policy.Explanation{}, err
	}
	if err := c.findNeeds(ctx); err != nil {
		return policy.Explanation{}, err
	}
	more := append(b.gate.Remembered(), c.scope.gate.Grants()...)
	call := policy.Call{Tool: c.tool.RuleName(), Untrusted: c.tool.Untrusted, Sum: c.tool.Sum(), Command: commandIn(c.needs), Needs: c.needs}
	return b.policy.Explain(call, c.scope.gate.Authority, more), nil
}

// Stop ends every running call with [protocol.ErrAborted], and every subagent in the background. It
// returns the ids of the calls and of the subagents' sessions, sorted. It does not wait for them to
// return, but their permits end at once.
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

// Plan returns a new dry run over the current content of the folder.
func (b *Box) Plan(ctx context.Context) (*Plan, error) { return newPlan(b) }

// violation records an effect that was stopped.
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

// Available returns the availability of every tool in the box's own environment. It includes this
// module's tools that the box was not given.
func (b *Box) Available() AvailabilityTable { return availability(b, b.environment) }

// AvailabilityTable returns the availability of every tool in every environment, with this box's
// policy and tools.
func (b *Box) AvailabilityTable() AvailabilityTable {
	var out AvailabilityTable
	for _, e := range environments() {
		out = append(out, availability(b, e)...)
	}
	slices.SortStableFunc(out, func(x, y Availability) int { return cmp.Compare(x.Tool, y.Tool) })
	return out
}

func (b *Box) track(id string, cancel context.CancelCauseFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[id] = cancel
}

func (b *Box) untrack(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, id)
}
