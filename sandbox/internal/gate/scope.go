package gate

import (
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/watch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Scope is the state of one session: its grants, its refusals, and its part of the policy's
// authority.
type Scope struct {
	ID string
	// Authority is the policy's authority, or a part of it.
	Authority protocol.Authority
	Watch     *watch.Watch
	// Parent is the scope of the session that started this one as a subagent, or nil. Refusals
	// apply in both directions.
	Parent *Scope

	mu     sync.Mutex
	grants policy.Rules
	denied map[string]string // reason of each refusal, by effect
}

// Grants returns the rules that answers made for this session.
func (s *Scope) Grants() policy.Rules {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants)
}

// Restore adds the stored grants of a session that is opened again. Rules from other sources than a
// session's answers are left out, and those that allow a server's tool in any form ([policy.Rule].Sum).
func (s *Scope) Restore(rules policy.Rules) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		formless := r.Action == protocol.ActionAllow && r.Sum == "" && strings.HasPrefix(r.Permission, "mcp:")
		if r.Source == policy.SourceSession && !formless && r.Validate() == nil {
			s.grants = append(s.grants, r)
		}
	}
}

func (s *Scope) grant(r policy.Rule) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.grants.Add(r)
	if err == nil {
		s.grants = out
	}
	return err
}

// Forget removes all grants and refusals of the session.
func (s *Scope) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants, s.denied = nil, nil
}

// Reconsider removes the refusals of the session, because the user has written a new message that
// may need the effects.
func (s *Scope) Reconsider() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = nil
}

// refused reports whether one of the effects was refused before, and the reason. A refusal applies
// to the effect with any tool: if deleting a file was refused for one tool, it is refused for all.
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

// effect returns the key of a refusal. Tree is ignored, because reading a file in a walk is reading
// that file.
func effect(n policy.Need) string {
	n.Tree = false
	return n.String()
}

// refuse records a refusal, also in the parents' scopes. Otherwise a model could have the user
// asked again and again by starting more subagents.
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
		return // later effects are asked about again
	}
	if len(needs) == 0 {
		s.denied[key] = why
	}
	for _, n := range needs {
		s.denied[effect(n)] = why
	}
}
