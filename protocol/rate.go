package protocol

import (
	"sync"
	"time"
)

// RateLimiter limits the number of calls in any period of a fixed length. The count is exact: a
// limit of 100 a second never allows 200 around the turn of a second. It is safe for concurrent
// use.
type RateLimiter struct {
	mu    sync.Mutex
	per   time.Duration
	now   func() time.Time
	times []time.Time // of the last calls, as a ring
	next  int
	full  bool
	last  time.Time
}

// NewRateLimiter returns a limiter for max calls in any period of length per. now is the clock,
// usually time.Now. A max outside of 1 to 100,000, a per that is not positive, or a nil clock gives
// [ErrInvalidParams].
func NewRateLimiter(max int, per time.Duration, now func() time.Time) (*RateLimiter, error) {
	if max < 1 || max > 100_000 || per <= 0 || now == nil {
		return nil, Errorf(ErrInvalidParams, "rate", "", "a rate is 1 to 100,000 calls in a time that is not 0, by a clock")
	}
	return &RateLimiter{per: per, now: now, times: make([]time.Time, max)}, nil
}

// Allow counts a call and returns nil. If the call is over the limit, Allow returns
// [ErrResourceLimit] with the time to wait, and does not count it.
func (r *RateLimiter) Allow() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := forward(r.now(), &r.last)
	if oldest := r.times[r.next]; r.full && now.Sub(oldest) < r.per {
		return Errorf(ErrResourceLimit, "call", "", "more than %d calls in %v; wait %v", len(r.times), r.per, (r.per - now.Sub(oldest)).Round(time.Millisecond))
	}
	r.times[r.next] = now
	r.next++
	if r.next == len(r.times) {
		r.next, r.full = 0, true
	}
	return nil
}

// forward keeps a clock from running backwards, which would reset every window.
func forward(now time.Time, last *time.Time) time.Time {
	if now.Before(*last) {
		return *last
	}
	*last = now
	return now
}
