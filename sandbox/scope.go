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

// scope is the state that the calls of one session share.
type scope struct {
	gate    *gate.Scope
	depth   int // nesting depth of subagents
	agent   string
	only    map[string]bool // the available tools; nil is all
	prompt  string          // replaces the box's prompt
	store   Store
	model   Model    // the model of the active run, for its subagents
	budget  *budget  // budget of the active run, which subagents share
	session *Session // that the scope is of, nil for the box's own
	starter *scope   // the scope of the session that started this subagent, or nil
	root    *scope   // the scope of the session that started this subagent, directly or not; otherwise s itself
	alive   int      // in root: the number of active subagents
	ledger  *ledger  // in root: what was sent of each file

	mu       sync.Mutex
	read     map[string]fsaccess.Version // the version of each file that the model last saw
	outputs  map[string]output           // complete outputs that were truncated in the result
	kept     int                         // total bytes of outputs
	ends     map[string][]func()         // functions to call at the end of a call
	todos    []Todo
	tools    map[string]bool // found by tool_search
	accepted map[string]bool // hashes of third-party content that the user accepted for the session
	counts   map[string]int
	stops    map[string]context.CancelCauseFunc // of running calls, by the model's ids
}

type scopeKey struct{}

// in returns a context in which calls belong to s.
func in(ctx context.Context, s *scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

func scopeOf(ctx context.Context, b *Box) *scope {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return s
	}
	return b.root
}

func newScope(b *Box, id string, authority protocol.Authority, parent *scope) (*scope, error) {
	o := WatchOptions{Repeats: 200}
	if b.o.Watch != nil {
		o = *b.o.Watch
	}
	w, err := o.start(b.o.Now)
	if err != nil {
		return nil, err
	}
	s := &scope{gate: &gate.Scope{ID: id, Authority: authority, Watch: w}, ledger: newLedger(nil)}
	s.root = s
	if parent != nil {
		s.gate.Parent, s.depth = parent.gate, parent.depth+1
		if !b.o.off.agents {
			s.root, s.gate.Watch = parent.root, parent.root.gate.Watch // subagents share the watchdog of their session
		}
	}
	return s, nil
}

// saw records the version of a file that the model has seen.
func (s *scope) saw(path string, v fsaccess.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil {
		s.read = map[string]fsaccess.Version{}
	}
	if len(s.read) < 100_000 {
		s.read[path] = v
	}
}

func (s *scope) seen(path string) (fsaccess.Version, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.read[path]
	return v, ok
}

// moved updates the paths of seen versions after a move.
func (s *scope) moved(from, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, v := range s.read {
		if gate.Below(from, path) {
			delete(s.read, path)
			s.read[to+path[len(from):]] = v
		}
	}
}

func (s *scope) atEnd(call string, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = map[string][]func(){}
	}
	s.ends[call] = append(s.ends[call], end)
}

func (s *scope) end(call string) {
	s.mu.Lock()
	ends := s.ends[call]
	delete(s.ends, call)
	s.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// The tool read returns complete outputs under this path, which is in no folder of the user.
const (
	outputFolder = ".bailey/output/"
	maxOutputs   = 64 << 20 // bytes kept per session, after which outputs are not kept
)

// output is a complete output, with the amount of it that a model may receive.
type output struct {
	text  string
	level policy.Send
	from  []string // the files that it is of
}

func (s *scope) keepOutput(id, whole string, level policy.Send, from []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept+len(whole) > maxOutputs {
		return "", protocol.Errorf(protocol.ErrResourceLimit, "keep", "", "the session has kept %d bytes of cut outputs already", s.kept)
	}
	if s.outputs == nil {
		s.outputs = map[string]output{}
	}
	path := outputFolder + id + ".txt"
	s.outputs[path] = output{whole, level, from}
	s.kept += len(whole)
	return path, nil
}

func (s *scope) output(path string) (output, bool) {
	if !strings.HasPrefix(path, outputFolder) {
		return output{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, ok := s.outputs[path]
	return out, ok
}

// countUse counts uses of a limited resource of the session.
func (s *scope) countUse(resource string, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	if s.counts[resource] >= most {
		return protocol.Errorf(protocol.ErrResourceLimit, "call", resource, "a session may do this %d times, and has", most)
	}
	s.counts[resource]++
	return nil
}

// stoppable registers a call for StopCall. The returned function removes it.
func (s *scope) stoppable(call string, stop context.CancelCauseFunc) (ended func()) {
	if call == "" {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops == nil {
		s.stops = map[string]context.CancelCauseFunc{}
	}
	s.stops[call] = stop
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.stops, call)
	}
}
