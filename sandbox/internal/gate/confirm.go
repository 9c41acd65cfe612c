package gate

import (
	"cmp"
	"context"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/watch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Confirm asks the user about an effect that was found during a call, such as writing a dangerous
// kind of file. It returns nil if the user agrees. The answer makes no rule, and a rejection holds for
// the session.
func (g *Gate) Confirm(ctx context.Context, p Passage, r Request) error {
	r.Effects = append(g.effects(ctx, p), r.Effects...)
	for _, e := range r.Effects {
		r.Destroys = r.Destroys || e.Destroys
		if riskier(e.Risk, r.Risk) {
			r.Risk = e.Risk
		}
	}
	if !g.o.Off.Words {
		entitle(&r, false)
	}
	r.Once = true
	key := "confirm " + cmp.Or(r.Key, r.Title)
	if why, ok := p.Scope.refused(nil, key); ok {
		return protocol.Errorf(protocol.ErrCapabilityDenied, "call", p.Tool.ID, "the user has refused this before; don't ask for it again: %s", why).WithReason(protocol.ReasonRejected)
	}
	if n := len(r.Title) + len(r.Diff); n > MaxShown && !g.o.Off.Marks {
		return tooLong(p.Tool.ID, n)
	}
	d := policy.Decision{Action: protocol.ActionAsk, Reason: r.Reason}
	switch {
	case p.Defer != nil:
		if !p.Defer(r) {
			d = watch.Denied("this can't be done in a dry run: " + r.Reason)
		} else {
			d = policy.Decision{Action: protocol.ActionAllow}
		}
	case g.asks != nil:
		reply, err := g.wait(ctx, r)
		if err != nil {
			return err
		}
		if d = reply.Answer.Decision(); d.Action == protocol.ActionDeny {
			if reply.Reason != "" {
				d.Reason += ": " + reply.Reason
			}
			p.Scope.refuse(nil, key, d.Reason)
		}
	}
	if p.Step != nil {
		p.Step(protocol.TracePermission, policy.Need{}, d)
	}
	if d.Action != protocol.ActionAllow {
		g.violation(p, d)
	}
	return d.Err("call", p.Tool.ID)
}

// Adopt replaces the gate's kept rules by those of another gate.
func (g *Gate) Adopt(from *Gate) {
	rules := from.Remembered()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = rules
}
