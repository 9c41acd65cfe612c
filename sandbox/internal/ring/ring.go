// Package ring keeps the last entries of a list.
package ring

import (
	"sync"
)

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

// New returns a ring that keeps size entries. A size below 1 means 100, and one above 100,000
// means 100,000.
func New[T any](size int) *Ring[T] { return &Ring[T]{size: size} }

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
