package gate

import (
	"strings"
	"sync/atomic"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Permit allows the effects that a call declared, until the call ends. Only a [Gate] creates
// permits. The zero Permit permits nothing. It is safe for concurrent use.
type Permit struct{ t *ticket }

// ticket is the content of a permit.
type ticket struct {
	needs  []policy.Need
	grants func(n policy.Need) error   // checks the lists and the grants
	covers func(n policy.Need) error   // checks a path below a Tree need: grants, rules and refusals
	reads  func(n policy.Need) error   // the same as covers, for the session's tool "read"
	lists  func(n policy.Need) error   // checks the lists alone
	sends  func(from, to string) error // see Passage.Sends
	over   *atomic.Bool                // set when the call has ended
	note   func(protocol.Violation)    // records a violation
	tool   string
	call   string
}

// Check returns nil if the permit covers n. If the call did not declare n, or has ended, Check
// records a violation and returns [protocol.ErrSecurityViolation], because the user agreed to
// something else. If n is below a declared tree and is denied by itself, the error is
// [protocol.ErrCapabilityDenied].
func (p Permit) Check(n policy.Need) error {
	if p.t == nil {
		return protocol.Errorf(protocol.ErrSecurityViolation, "use", n.String(), "there is no permit for this")
	}
	if p.t.over.Load() {
		return p.t.refuse(n, "the call of this permit has ended")
	}
	covered, err := p.t.has(n)
	if !covered {
		return p.t.refuse(n, "the call did not declare this effect")
	}
	return err
}

// has reports whether one of the declared needs includes n. If so, err is the reason why n is
// denied all the same: a path below a tree is decided separately.
func (t *ticket) has(n policy.Need) (covered bool, err error) {
	for _, have := range t.needs {
		if !have.Covers(n) {
			continue
		}
		covered = true
		switch {
		case have.Subject != n.Subject:
			err = t.covers(n)
		case have.Filtered && !n.Tree: // part of the tree may be unreadable, and n is its root alone
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

// Below reports whether path is dir or lies below it. Both are paths relative to the folder, and
// "." is the folder itself.
func Below(dir, path string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

// CheckAny returns nil if the permit covers one of the needs. Otherwise it returns the error of
// [Permit.Check] for the first one.
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

// quiet is Check without a record of a violation. A walk skips the paths for which it returns an
// error.
func (p Permit) quiet(n policy.Need) error {
	if p.t == nil || p.t.over.Load() {
		return p.Check(n)
	}
	if covered, err := p.t.has(n); covered {
		return err
	}
	return protocol.ErrCapabilityDenied
}

// carries returns an error if a move would take a file from a place where the policy's rules
// prevent reading it to a place where they don't.
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
			return protocol.Errorf(protocol.ErrCapabilityDenied, "move", from, "a file that may not be read may not be moved to where it may be read")
		}
	}
	return nil
}

// lands returns an error if the content that the call has read may not be written to path.
func (p Permit) lands(path string) error {
	if p.t == nil || p.t.sends == nil {
		return nil
	}
	return p.t.sends("", path)
}

// Covers reports whether the permit covers n. Unlike [Permit.Check] it records no violation. A
// caller uses it to decide whether it must ask for another permit.
func (p Permit) Covers(n policy.Need) bool {
	if p.t == nil || p.t.over.Load() {
		return false
	}
	return p.quiet(n) == nil
}
