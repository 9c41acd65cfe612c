// Package ids makes and checks the ids of runs, traces and sessions.
package ids

import (
	"fmt"
	"strconv"
	"sync/atomic"
)

// Source makes ids that are unique for one prefix, such as "run-7f3a.12". An id is a name and not a
// secret. A Source is safe for concurrent use.
type Source struct {
	prefix string
	n      atomic.Uint64
}

// New returns a source of ids. The prefix must have 1 to 40 letters, digits, hyphens, underscores or
// dots.
func New(prefix string) (*Source, error) {
	if !Valid(prefix) || len(prefix) > 40 {
		return nil, fmt.Errorf("ids: the prefix %.50q must be 1 to 40 letters, digits, -, _ or dots", prefix)
	}
	return &Source{prefix: prefix}, nil
}

// Next returns the next id: the prefix, a dot and a number to the base 36.
func (s *Source) Next() string { return s.prefix + "." + strconv.FormatUint(s.n.Add(1), 36) }

// Valid reports whether s can be the id of a run, a trace or a session: 1 to 64 letters, digits,
// hyphens, underscores and dots, and not a name that reaches a prototype in JavaScript.
func Valid(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '-' && c != '_' && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 64 && s != "__proto__" && s != "constructor" && s != "prototype"
}
