package protocol

import (
	"sync"
	"time"
)

// Violation is an attempt that was stopped.
type Violation struct {
	Time   time.Time `json:"ts"`
	Layer  string    `json:"layer"`             // the layer that stopped it: "csp", "broker", "policy" …
	Code   Code      `json:"code"`              // the kind of error
	Detail string    `json:"detail"`            // the attempt, in one line
	ExecID string    `json:"exec_id,omitempty"` // of the run in which it happened
	Tool   string    `json:"tool,omitempty"`
	Rule   string    `json:"rule,omitempty"`
	Reason Reason    `json:"reason,omitempty"` // [ReasonRejected] if the user declined
}

// Ring keeps the last entries that are added to it and counts all of them. Clear does not reset the
// count, so clearing cannot hide that there were entries. The zero Ring keeps 100 entries. It is
// safe for concurrent use.
type Ring[T any] struct {
	mu    sync.Mutex
	size  int
	items []T
	next  int
	total uint64
}

// NewRing returns a ring that keeps size entries. A size below 1 means 100, and one above 100,000
// means 100,000.
func NewRing[T any](size int) *Ring[T] { return &Ring[T]{size: size} }

const defaultRing = 100

func (r *Ring[T]) capacity() int {
	if r.size < 1 {
		return defaultRing
	}
	return min(r.size, 100_000)
}

// Add adds v to the ring. If the ring is full, the oldest entry is dropped.
func (r *Ring[T]) Add(v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	if len(r.items) < r.capacity() {
		r.items = append(r.items, v)
		return
	}
	r.items[r.next] = v
	r.next = (r.next + 1) % len(r.items)
}

// All returns a copy of the entries, oldest first.
func (r *Ring[T]) All() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(append(make([]T, 0, len(r.items)), r.items[r.next:]...), r.items[:r.next]...)
}

// Total returns the number of entries ever added.
func (r *Ring[T]) Total() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// Clear removes all entries. It does not change the total.
func (r *Ring[T]) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.items)
	r.items, r.next = r.items[:0], 0
}
