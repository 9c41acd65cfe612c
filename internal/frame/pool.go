package frame

import (
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// PoolOptions are what a [Pool] is made of, and the errors that its package wants to
// hear.
type PoolOptions struct {
	Page       DomainPage // the frames; not used if Direct
	PolicyName string     // Trusted Types policy of the host's own
	URL        string     // where a server sends Page; "" makes it in place

	// Direct pools have no frames: the page itself starts the brokers, from the
	// program of a [DomainPage] with Wasm, below its own policy.
	Direct bool

	// Apart gives each broker of a direct pool an empty frame of the page's own, which is
	// removed to end it: in WebKit that ends the worker below it, and terminate() does not.
	Apart bool

	// Alone is for code that runs on the outer frame's thread: a kill takes the outer
	// frame with it, and a frame at work may be silent.
	Alone bool

	Turn func(waiting []Job) int // which is next; nil is the first

	Max, Spare   int
	ReadyTimeout time.Duration
	Heartbeat    time.Duration

	Lost    error        // what a pool fails with that loses its frames too often
	Blocked func() error // what it fails with if a policy forbids its scripts, or no page is there

	Mismatch func() error // what it fails with if another page than Page is at URL
}

// PoolStats is what a pool has and did.
type PoolStats struct {
	Frames, Ready, Busy, Waiting       int
	Runs, Reused, Kills, Lost, Rebuilt int
}

// A Job is one run of a pool. The pool's loop calls all its methods.
type Job interface {
	// Retry reports whether the job, which a broker lost before it had started it,
	// is to be given to another one. It may then be begun again.
	Retry() bool
	// Over reports whether the job is settled.
	Over() bool
	// Finish settles it from outside.
	Finish(code protocol.Code, why string)
}

// SlotState is a point in the life of a slot.
type SlotState uint8

const (
	SlotStarting SlotState = iota // the broker was not heard of
	SlotReady                     // it waits for a job
	SlotBusy
	SlotEnding // its job has ended, its worker perhaps not
)

// beat counts pings that stay unanswered.
type beat struct{ sent, silent int }

// Pong notes a sign of life.
func (b *beat) Pong() { b.silent = 0 }

// NextPing counts a ping that goes out.
func (b *beat) NextPing() int {
	b.sent++
	b.silent++
	return b.sent
}

const (
	silentBeats   = 3                      // unanswered beats after which something is lost
	maxRebuilds   = 5                      // and four times as many losses
	rebuildWindow = 30 * time.Second       // within this end a pool
	helloGrace    = 2 * time.Second        // after load, for a script that was not stopped
	endGrace      = 500 * time.Millisecond // for a worker to end idly after its result
	portGrace     = 500 * time.Millisecond // for a broker to answer its first ping
	killWindow    = 5 * time.Second
	freeKills     = 4
)

// KillDelay is how long a pool waits before it replaces a killed frame: terminated
// code goes on for about 2 s in Chromium, so kills in quick succession pile up.
func KillDelay(now time.Time, kills []time.Time) time.Duration {
	recent := 0
	for _, t := range kills {
		if now.Sub(t) < killWindow {
			recent++
		}
	}
	return min(time.Duration(max(0, recent-freeKills))*250*time.Millisecond, 2*time.Second)
}
