package gate

import (
	"sync"

	"github.com/bailey-go/bailey/protocol"
)

// still says whether a folder takes changes any more.
type still struct {
	mu    sync.RWMutex
	ended bool
}

// change begins a change, which the returned function ends.
func (s *still) change(name string) (end func(), err error) {
	s.mu.RLock()
	if s.ended {
		s.mu.RUnlock()
		return nil, protocol.Errorf(protocol.ErrSession, "change", name, "the plan is complete, and the person was asked about it as it is; make another")
	}
	return s.mu.RUnlock, nil
}

// Freeze ends all changes of a folder: it waits for those under way, and later ones fail.
func Freeze(f Folder) {
	f.still.mu.Lock()
	defer f.still.mu.Unlock()
	f.still.ended = true
}
