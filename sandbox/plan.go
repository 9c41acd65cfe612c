package sandbox

import (
	"context"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Plan is a dry run: a box over a copy of the folder. Effects that stay in the copy are not asked
// about. The user then sees all changes together, and one consent applies them to the real folder.
// Effects that the policy denies are denied in the dry run too. Effects outside of the folder, such
// as a request to a server, are denied if they would be asked about, because they can't be undone.
type Plan struct {
	// Box runs the dry run. Call its tools, or run a session on it.
	Box *Box

	over    *fsaccess.Overlay
	real    *Box
	mu      sync.Mutex
	asked   []gate.Request
	applied bool
}

// newPlan returns a dry run of b, see [Box.Plan].
func newPlan(b *Box) (*Plan, error) {
	if b.raw == nil {
		return nil, protocol.Errorf(protocol.ErrSession, "plan", "", "there is no folder")
	}
	p := &Plan{real: b, over: fsaccess.NewOverlay(b.raw, fsaccess.NewMemory(fsaccess.MemoryOptions{MaxBytes: 256 << 20}))}
	o := b.o
	o.FS, o.Audit, o.Ask = p.over, b.audit, b.o.Ask
	dry, err := New(o)
	if err != nil {
		return nil, err
	}
	dry.defers = p.note
	dry.gate.Adopt(b.gate)
	p.Box = dry
	return p, nil
}

// note records a request that would be asked about. It reports whether the call may continue, which
// it may if all its effects are on the copy.
func (p *Plan) note(r gate.Request) bool {
	for _, n := range r.Needs {
		if n.Capability != protocol.FSRead && n.Capability != protocol.FSWrite {
			return false
		}
	}
	if r.Untrusted || len(r.Needs) == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	return true
}

// Changes returns the changes that Apply would make, by path.
func (p *Plan) Changes(ctx context.Context) ([]fsaccess.FileChange, error) { return p.over.Diff(ctx) }

// Diff returns all changes as one unified diff.
func (p *Plan) Diff(ctx context.Context) (string, error) {
	changes, err := p.over.Diff(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range changes {
		switch {
		case c.Dir && c.Kind == fsaccess.Added:
			b.WriteString("new folder " + c.Path + "\n")
		case c.Dir:
			b.WriteString("deleted folder " + c.Path + " with all that is in it\n")
		default:
			text, err := p.over.DiffText(ctx, c.Path)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
		}
	}
	return b.String(), nil
}

// Apply asks the user once about all changes, and applies them to the real folder if the user
// agrees. They are one step for undo. If a file was changed by another program since the dry run
// began, Apply changes nothing, and the error has [protocol.ReasonStale]. A plan can be applied only
// once. From then on its box can't change any file, so the applied changes are the shown ones.
func (p *Plan) Apply(ctx context.Context) ([]fsaccess.FileChange, error) {
	p.mu.Lock()
	if p.applied {
		p.mu.Unlock()
		return nil, protocol.Errorf(protocol.ErrSession, "plan", "", "the plan was applied, or refused; make another")
	}
	p.applied = true
	p.mu.Unlock()
	p.Box.Stop("the plan is about to be carried out") // no change after this is shown to the user
	gate.Freeze(p.Box.fs)
	changes, err := p.over.Diff(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	diff, err := p.Diff(ctx)
	if err != nil {
		return nil, err
	}
	r := gate.Request{Call: "plan-" + randomID(4), Tool: "plan", Title: "carry out the plan " + digest(diff), Reason: "a plan is to be carried out", Diff: diff, Unified: true, Session: "box"}
	for _, c := range changes {
		n := policy.Need{Capability: protocol.FSWrite, Op: protocol.OpWrite, Subject: c.Path, Destroys: c.Kind == fsaccess.Removed}
		switch {
		case c.Kind == fsaccess.Removed:
			n.Op, n.Tree = protocol.OpRemove, c.Dir
		case c.Dir:
			n.Op = protocol.OpMkdir
		}
		r.Needs = append(r.Needs, n)
	}
	p.mu.Lock()
	for _, a := range p.asked { // calls that would have had a critical question of their own
		if a.Risk == protocol.RiskCritical && !strings.Contains(r.Reason, a.Title) {
			r.Risk = protocol.RiskCritical
			r.Reason += "; " + a.Title
		}
	}
	p.mu.Unlock()
	passage := gate.Passage{Scope: p.real.root.gate, Call: r.Call, Tool: &protocol.Tool{ID: "plan"}, Needs: r.Needs, Folder: &p.real.fs, Content: func(path string) ([]byte, bool) {
		data, err := fsaccess.WithContext(ctx, p.over).ReadFile(path)
		return data, err == nil
	}}
	if err := p.real.gate.Confirm(ctx, passage, r); err != nil {
		return nil, err
	}
	// A write that was running when the folder was frozen may have ended since.
	if now, err := p.Diff(ctx); err != nil {
		return nil, publicError("plan", err)
	} else if now != diff && !p.real.o.off.same {
		return nil, protocol.Errorf(protocol.ErrSession, "plan", "", "the plan, or the folder that it is for, changed while the user was asked; make another").WithReason(protocol.ReasonStale)
	}
	p.real.audit.Note("plan "+r.Call+" was agreed to:\n"+diff, p.real.o.Now().UTC())
	done, err := p.over.Apply(fsaccess.WithCause(ctx, r.Call))
	return done, publicError("plan", err)
}
