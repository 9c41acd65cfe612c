package protocol

import (
	"sync"
	"time"
)

// Violation is something that was stopped.
type Violation struct {
	Time   time.Time `json:"ts"`
	Layer  string    `json:"layer"`             // which wall stopped it: "csp", "broker", "policy" …
	Code   Code      `json:"code"`              // as what
	Detail string    `json:"detail"`            // what was tried, in a line
	ExecID string    `json:"exec_id,omitempty"` // the run it happened in
	Tool   string    `json:"tool,omitempty"`
	Rule   string    `json:"rule,omitempty"`
	Reason Reason    `json:"reason,omitempty"` // [ReasonRejected] if it was a person who said no
}

// Ring keeps the last of what is added to it and counts all of it. The count
// survives clearing, so that whoever clears the list can't hide that there was
// something in it. The zero Ring keeps 100. It is safe for several goroutines.
type Ring[T any] struct {
	mu    sync.Mutex
	size  int
	items []T
	next  int
	total uint64
}

// NewRing makes a ring that keeps size entries; less than 1 is 100, and more than
// 100,000 is that.
func NewRing[T any](size int) *Ring[T] { return &Ring[T]{size: size} }

const defaultRing = 100

func (r *Ring[T]) capacity() int {
	if r.size < 1 {
		return defaultRing
	}
	return min(r.size, 100_000)
}

// Add puts v in the ring; the oldest entry leaves a full one.
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

// Total is the number of entries ever added.
func (r *Ring[T]) Total() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// Clear empties the ring and leaves the total.
func (r *Ring[T]) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.items)
	r.items, r.next = r.items[:0], 0
}
