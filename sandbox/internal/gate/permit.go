package gate

import (
	"strings"
	"sync/atomic"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Permit is the leave to have the effects a call said it needs, until it ends. Only
// a [Gate] mints one; the zero Permit permits nothing.
type Permit struct{ t *ticket }

// ticket is what a permit stands for.
type ticket struct {
	needs  []policy.Need
	grants func(n policy.Need) error // the lists and the grants
	covers func(n policy.Need) error // for what lies below a Tree need: grants, and rules and refusals
	reads  func(n policy.Need) error // the same for the session's tool that reads files
	lists  func(n policy.Need) error // the lists alone
	sends  func(from, to string) error
	over   *atomic.Bool // the call has ended
	note   func(protocol.Violation)
	tool   string
	call   string
}

// Check is nil if the permit covers n. What it does not cover a tool did not ask
// for, which is a violation: the person consented to something else.
func (p Permit) Check(n policy.Need) error {
	if p.t == nil {
		return protocol.Errorf(protocol.ErrSecurityViolation, "use", n.String(), "there is no permit for this")
	}
	if p.t.over.Load() {
		return p.t.refuse(n, "the call that this was permitted to has ended")
	}
	covered, err := p.t.has(n)
	if !covered {
		return p.t.refuse(n, "the call did not say that it needs this")
	}
	return err
}

// has reports whether one of the needs is for n, and then why n may not be done all the
// same: what lies below a tree is decided by itself.
func (t *ticket) has(n policy.Need) (covered bool, err error) {
	for _, have := range t.needs {
		if !have.Covers(n) {
			continue
		}
		covered = true
		switch {
		case have.Subject != n.Subject:
			err = t.covers(n)
		case have.Filtered && !n.Tree: // the tree may be read in part, and n is its root alone
			err = t.grants(n)
		default:
			err = nil
		}
		if err == nil {
			return true, nil
		}
	}
	return covered, err
}

func (t *ticket) refuse(n policy.Need, why string) error {
	t.note(protocol.Violation{Layer: "permit", Code: protocol.ErrSecurityViolation, Detail: n.String() + ": " + why, ExecID: t.call, Tool: t.tool})
	return protocol.Errorf(protocol.ErrSecurityViolation, "use", n.String(), "%s", why)
}

// Below reports whether path is dir or lies below it.
func Below(dir, path string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// CheckAny is Check for any one of several needs.
func (p Permit) CheckAny(needs ...policy.Need) error {
	if p.t != nil && !p.t.over.Load() {
		for _, n := range needs {
			if covered, err := p.t.has(n); covered && err == nil {
				return nil
			}
		}
	}
	return p.Check(needs[0])
}

// quiet is Check where no is no violation: a walk leaves out what it may not see.
func (p Permit) quiet(n policy.Need) error {
	if p.t == nil || p.t.over.Load() {
		return p.Check(n)
	}
	if covered, err := p.t.has(n); covered {
		return err
	}
	return protocol.ErrCapabilityDenied
}

// carries checks that a move doesn't take a file from where the policy's rules keep it from
// being read to where they don't.
func (p Permit) carries(from, to string) error {
	if p.t != nil && p.t.sends != nil {
		if err := p.t.sends(from, to); err != nil {
			return err
		}
	}
	if p.t == nil {
		return nil
	}
	for _, opens := range []func(policy.Need) error{p.t.covers, p.t.reads, p.t.lists} {
		if opens(read(from)) != nil && opens(read(to)) == nil {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "move", from, "it may not be read where it is, and so not be moved to where it may")
		}
	}
	return nil
}

// lands checks that what the call has read may be where it writes.
func (p Permit) lands(path string) error {
	if p.t == nil || p.t.sends == nil {
		return nil
	}
	return p.t.sends("", path)
}

// Covers is Check that takes no note: whether the permit is for n, or another is to be
// asked for.
func (p Permit) Covers(n policy.Need) bool {
	if p.t == nil || p.t.over.Load() {
		return false
	}
	return p.quiet(n) == nil
}

// Held is something that acts outside of the folder, such as an enclave or a way to
// the network: only a permit gives it out.
type Held[T any] struct{ v T }

// Hold keeps v behind permits.
func Hold[T any](v T) Held[T] { return Held[T]{v} }

// Use gives out what is held to who may use it for n.
func (h Held[T]) Use(p Permit, n policy.Need) (T, error) {
	if err := p.Check(n); err != nil {
		var zero T
		return zero, err
	}
	return h.v, nil
}
