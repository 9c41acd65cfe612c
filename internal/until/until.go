// Package until lets a test wait for a condition instead of for a time. A test that sleeps
// and then checks fails on a loaded machine, or is slow on a quiet one. arch_test.go allows
// time.Sleep in a test only with a reason beside it.
//
// It is for tests only, natively and in a page, and imports no other package of Bailey.
package until

import (
	"testing"
	"time"
)

// Patience is one minute, the time after which a condition counts as never met. It decides
// only when a failed test stops, so it is far longer than any loaded machine needs.
const Patience = time.Minute

// True returns when cond returns true. If that does not happen within [Patience], it fails
// the test. Between two calls of cond, other goroutines run and, in a page, the event loop.
func True(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !Met(cond) {
		t.Fatalf("never met: %s", what)
	}
}

// Met is [True] for a goroutine that may not end the test. It reports whether cond was met.
func Met(cond func() bool) bool {
	for deadline := time.Now().Add(Patience); !cond(); Turn() {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Turn lets other goroutines run once and, in a page, everything that the event loop has
// queued before the call. It sleeps for one millisecond.
func Turn() { time.Sleep(time.Millisecond) }

// Turns calls [Turn] n times. Use it to test that something does not happen: first wait for
// a signal that it could have happened, and then pass the number of turns that it needs as
// n.
func Turns(n int) {
	for range n {
		Turn()
	}
}

// Passed returns when d has passed on the clock of the code under test. Use it for code
// that promises "not before d" or "at most once in d". There the time is the input of the
// test, and a slow machine only makes the test slower.
func Passed(d time.Duration) { time.Sleep(d) }
