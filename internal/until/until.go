// Package until lets a test wait for a condition instead of for a time. A test that sleeps and
// then looks is wrong on a loaded machine, or slow on a quiet one; arch_test.go allows
// time.Sleep in a test only where it names the reason.
//
// It is for tests only, natively and in a page, and imports nothing of the house.
package until

import (
	"testing"
	"time"
)

// Patience is the time after which a condition counts as never met: one minute. It only decides
// when a test that has failed stops, so it is far longer than any loaded machine needs.
const Patience = time.Minute

// True returns when cond reports true, and fails the test if that does not happen within
// [Patience]. Between two calls of cond it lets other goroutines, and in a page the event loop,
// take a turn.
func True(t testing.TB, what string, cond func() bool) {
	t.Helper()
	if !Met(cond) {
		t.Fatalf("never met: %s", what)
	}
}

// Met is [True] for a goroutine that may not end the test: it reports whether cond was met.
func Met(cond func() bool) bool {
	for deadline := time.Now().Add(Patience); !cond(); Turn() {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// Turn lets other goroutines and, in a page, everything that the event loop has queued before the
// call run once: it returns from a timer of one millisecond.
func Turn() { time.Sleep(time.Millisecond) }

// Turns calls [Turn] n times. It is for a test that something does not happen: use it behind a
// signal that the thing had its chance, with n for the hops that it needs.
func Turns(n int) {
	for range n {
		Turn()
	}
}

// Passed returns when d has passed on the clock of the code under test. It is for code that
// promises "not before d" or "at most once in d", where the time is the input of the test and a
// machine that takes longer only makes the test slower.
func Passed(d time.Duration) { time.Sleep(d) }
