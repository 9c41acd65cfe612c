package sandbox

import (
	"context"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/gate"
)

// scope is what calls of one session share.
type scope struct {
	gate   *gate.Scope
	depth  int // of subagents
	agent  string
	only   map[string]bool // the tools there are; nil is all
	prompt string          // in place of the box's
	store  Store
	model  Model   // that runs the session now, for its subagents
	budget *budget // of the run that is under way, which subagents share
	root   *scope  // of the session that everything here was started from; itself, if none
	alive  int     // of root: how many subagents are at work

	mu       sync.Mutex
	read     map[string]fsaccess.Version // what the model last saw of each file
	outputs  map[string]output           // whole outputs that were cut
	kept     int                         // bytes of them
	ends     map[string][]func()         // what ends with a call
	todos    []Todo
	tools    map[string]bool // found by tool_search
	accepted map[string]bool // what the person said yes to for the session, by content
	counts   map[string]int
	stops    map[string]context.CancelCauseFunc // of calls under way, by the model's ids
}

type scopeKey struct{}

// in returns a context in which calls belong to a scope.
func in(ctx context.Context, s *scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

func (b *Box) scopeOf(ctx context.Context) *scope {
	if s, ok := ctx.Value(scopeKey{}).(*scope); ok {
		return s
	}
	return b.root
}

func (b *Box) newScope(id string, authority protocol.Authority, parent *scope) (*scope, error) {
	w := protocol.WatchOptions{Repeats: 200}
	if b.o.Watch != nil {
		w = *b.o.Watch
	}
	if w.Now == nil {
		w.Now = b.o.Now
	}
	watch, err := protocol.NewWatch(w)
	if err != nil {
		return nil, err
	}
	s := &scope{gate: &gate.Scope{ID: id, Authority: authority, Watch: watch}}
	s.root = s
	if parent != nil {
		s.gate.Parent, s.depth = parent.gate, parent.depth+1
		if !b.o.off.agents {
			s.root, s.gate.Watch = parent.root, parent.root.gate.Watch // what a family does is watched as one
		}
	}
	return s, nil
}

// saw notes which version of a file the model has seen.
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

// moved carries what was seen over to a new name.
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

// Whole outputs are read under this folder, which is in no one's folder.
const (
	outputFolder = ".bailey/output/"
	maxOutputs   = 64 << 20 // bytes kept in one session; then nothing more is
)

// output is a whole output, and how much of it a model may see.
type output struct {
	text  string
	level protocol.Send
}

func (s *scope) keepOutput(id, whole string, level protocol.Send) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept+len(whole) > maxOutputs {
		return "", protocol.Errorf(protocol.ErrResourceLimit, "keep", "", "the session has kept %d bytes of cut outputs already", s.kept)
	}
	if s.outputs == nil {
		s.outputs = map[string]output{}
	}
	path := outputFolder + id + ".txt"
	s.outputs[path] = output{whole, level}
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

// use counts the uses of something that a session has only so many of.
func (s *scope) use(what string, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	if s.counts[what] >= most {
		return protocol.Errorf(protocol.ErrResourceLimit, "call", what, "a session may do this %d times, and has", most)
	}
	s.counts[what]++
	return nil
}
