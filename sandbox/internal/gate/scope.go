package gate

import (
	"slices"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Scope is what belongs to one session: what was granted in it, what was refused,
// and what it may do of what the policy allows.
type Scope struct {
	ID string
	// Authority is the policy's, or less.
	Authority protocol.Authority
	Watch     *protocol.Watch
	// Parent is the scope of whoever delegated to this one; its refusals hold here, and
	// those here hold there.
	Parent *Scope

	mu     sync.Mutex
	grants protocol.Rules
	denied map[string]string // why, by what was refused
}

// Grants are the rules that answers made for this session.
func (s *Scope) Grants() protocol.Rules {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants)
}

// Restore puts back grants of a session that is opened again. Rules that came from
// elsewhere than a session's answers are left out.
func (s *Scope) Restore(rules protocol.Rules) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		if r.Source == protocol.SourceSession && r.Validate() == nil {
			s.grants = append(s.grants, r)
		}
	}
}

func (s *Scope) grant(r protocol.Rule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.grants.Add(r)
	if err == nil {
		s.grants = out
	}
	return err
}

// Forget drops what was granted and refused in the session.
func (s *Scope) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants, s.denied = nil, nil
}

// Reconsider forgets refusals: the person has spoken again, and may mean it.
func (s *Scope) Reconsider() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = nil
}

// refused tells whether the same was refused before. A refusal holds for the effect,
// by whatever tool: who may not delete a file with one may not with another.
func (s *Scope) refused(needs []policy.Need, key string) (string, bool) {
	for at := s; at != nil; at = at.Parent {
		if why, ok := at.wasRefused(needs, key); ok {
			return why, true
		}
	}
	return "", false
}

func (s *Scope) wasRefused(needs []policy.Need, key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(needs) == 0 {
		why, ok := s.denied[key]
		return why, ok
	}
	for _, n := range needs {
		if why, ok := s.denied[effect(n)]; ok {
			return why, true
		}
	}
	return "", false
}

// effect names what was refused. Whether all below was meant makes no difference: to read a
// file by a walk is to read it.
func effect(n policy.Need) string {
	n.Tree = false
	return n.String()
}

// refuse notes a refusal, also for whoever delegated to this scope: else one could be
// asked again and again by way of another who does the same.
func (s *Scope) refuse(needs []policy.Need, key, why string) {
	for at := s; at != nil; at = at.Parent {
		at.note(needs, key, why)
	}
}

func (s *Scope) note(needs []policy.Need, key, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.denied == nil {
		s.denied = map[string]string{}
	}
	if len(s.denied) > 10_000 {
		return // each is asked about again, which is the person's own work
	}
	if len(needs) == 0 {
		s.denied[key] = why
	}
	for _, n := range needs {
		s.denied[effect(n)] = why
	}
}
