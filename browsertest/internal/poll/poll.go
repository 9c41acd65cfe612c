// Package poll waits for conditions that send no event, such as the state of a page or the files of
// another process. The condition decides the test. The clock only ends a test that has failed.
package poll

import (
	"testing"
	"time"
)

// every is the time between two checks.
const every = 20 * time.Millisecond

// Limit is the longest wait for a condition. Only a test that fails waits so long.
const Limit = 5 * time.Minute

// Until waits until done returns true, and fails the test if it does not within [Limit]. The last
// parameters return further text for the failure message.
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
