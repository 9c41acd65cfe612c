// Package rate limits the number of calls in any period of a fixed length.
package rate

import (
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Limiter limits the number of calls in any period of a fixed length. The count is exact: a
// limit of 100 a second never allows 200 around the turn of a second. It is safe for concurrent
// use.
type Limiter struct {
	mu    sync.Mutex
	per   time.Duration
	now   func() time.Time
	times []time.Time // of the last calls, as a ring
	next  int
	full  bool
	last  time.Time
}

// New returns a limiter for max calls in any period of length per. now is the clock,
// usually time.Now. A max outside of 1 to 100,000, a per that is not positive, or a nil clock gives
// [protocol.ErrInvalidParams].
func New(max int, per time.Duration, now func() time.Time) (*Limiter, error) {
	if max < 1 || max > 100_000 || per <= 0 || now == nil {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "rate", "", "a rate is 1 to 100,000 calls in a time that is not 0, by a clock")
	}
	return &Limiter{per: per, now: now, times: make([]time.Time, max)}, nil
}

// Allow counts a call and returns nil. If the call is over the limit, Allow returns
// [protocol.ErrResourceLimit] with the time to wait, and does not count it.
func (r *Limiter) Allow() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := Forward(r.now(), &r.last)
	if oldest := r.times[r.next]; r.full && now.Sub(oldest) < r.per {
		return protocol.Errorf(protocol.ErrResourceLimit, "call", "", "more than %d calls in %v; wait %v", len(r.times), r.per, (r.per - now.Sub(oldest)).Round(time.Millisecond))
	}
	r.times[r.next] = now
	r.next++
	if r.next == len(r.times) {
		r.next, r.full = 0, true
	}
	return nil
}

// Forward returns now, or last if the clock has gone back, and stores it in last. It keeps a clock from running backwards, which would reset every window.
func Forward(now time.Time, last *time.Time) time.Time {
	if now.Before(*last) {
		return *last
	}
	*last = now
	return now
}
