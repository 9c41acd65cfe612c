package gate

import (
	"sync"

	"github.com/bailey-go/bailey/protocol"
)

// still blocks the changes of a folder after [Freeze].
type still struct {
	mu    sync.RWMutex
	ended bool
}

// change begins a change, and returns a function that ends it. After Freeze it returns an error.
func (s *still) change(path string) (end func(), err error) {
	s.mu.RLock()
	if s.ended {
		s.mu.RUnlock()
		return nil, protocol.Errorf(protocol.ErrSession, "change", path, "the plan is complete, and the user was asked about it as it is; make another")
	}
	return s.mu.RUnlock, nil
}

// Freeze stops all changes of a folder. It waits for running changes. Later changes fail with
// [protocol.ErrSession].
func Freeze(f Folder) {
	f.still.mu.Lock()
	defer f.still.mu.Unlock()
	f.still.ended = true
}
