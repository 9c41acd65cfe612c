// Package poll waits for conditions that nobody tells of, such as the state of a page or the
// files of another process. What decides is the condition: the clock only ends a test that
// has failed.
package poll

import (
	"testing"
	"time"
)

// every is the time between two looks.
const every = 20 * time.Millisecond

// Limit is how long a condition may take; only a test that fails waits so long.
const Limit = 2 * time.Minute

// Until waits until done returns true, and fails the test if it does not within [Limit]. The
// last parameters are called for the message of a failure.
func Until(t testing.TB, what string, done func() bool, more ...func() string) {
	t.Helper()
	if Try(done) {
		return
	}
	said := ""
	for _, m := range more {
		said += "; " + m()
	}
	t.Fatalf("%s: never%s", what, said)
}

// Try waits until done returns true, and reports whether it did within [Limit].
func Try(done func() bool) bool {
	end := time.NewTimer(Limit)
	defer end.Stop()
	again := time.NewTicker(every)
	defer again.Stop()
	for !done() {
		select {
		case <-again.C:
		case <-end.C:
			return done()
		}
	}
	return true
}

// Looks waits until done has returned true n times in a row.
func Looks(t testing.TB, what string, n int, done func() bool, more ...func() string) {
	t.Helper()
	row := 0
	Until(t, what, func() bool {
		if row++; !done() {
			row = 0
		}
		return row >= n
	}, more...)
}
