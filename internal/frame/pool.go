package frame

import (
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// PoolOptions configure a [Pool]. Four fields are the words and errors of the pool's package.
type PoolOptions struct {
	Page       DomainPage // the frames. Not used if Direct
	PolicyName string     // Trusted Types policy of the host's own
	URL        string     // the address of Page on a server. "" makes the page in place

	// Direct pools have no frames. The page itself starts the brokers below its own policy,
	// from the Programs of Page.
	Direct bool

	// Apart gives each broker of a direct pool its own empty frame of the page's origin. To end
	// the broker, the frame is removed. In WebKit that ends the worker below the broker, and
	// terminate() does not.
	Apart bool

	// Alone is for code that runs on the outer frame's thread. A kill then removes the outer
	// frame as well, and a frame with a run may be silent.
	Alone bool

	Turn func(waiting []Job) int // returns the index of the next job. Nil means the first

	Max, Spare   int
	ReadyTimeout time.Duration
	Heartbeat    time.Duration

	Aborted string       // the reason of a job that its caller ended
	Lost    error        // wrapped by the error of a pool that loses its frames too often
	Blocked func() error // returns the error for a policy that forbids the scripts, and for a missing page

	Mismatch func() error // returns the error for a page at URL that differs from Page
}

// PoolStats are counts of a pool. See the type of the same name in package iframe.
type PoolStats struct {
	Frames, Ready, Busy, Waiting       int
	Runs, Reused, Kills, Lost, Rebuilt int
}

// Job is one run of a pool. The pool's loop calls all its methods.
type Job interface {
	// Retry reports whether the job may be given to another broker, after its own was lost
	// before it had started the job. The job may then begin again.
	Retry() bool
	// Over reports whether the job has ended.
	Over() bool
	// Finish ends the job early, with an error.
	Finish(code protocol.Code, why string)
}

// SlotState is a state of a slot.
type SlotState uint8

const (
	SlotStarting SlotState = iota // the broker has not sent anything yet
	SlotReady                     // it waits for a job
	SlotBusy
	SlotEnding // its job has ended, but its worker may still exist
)

// beat counts unanswered pings.
type beat struct{ sent, silent int }

// lost reports whether the answers have been missing for too long. alive means that another thread
// of the same frames answers. The thread of an outer frame is that of all frames of its process, and
// can be busy for seconds with the errors of honest code.
func (b *beat) lost(alive bool) bool {
	if alive {
		return b.silent >= busyBeats
	}
	return b.silent >= silentBeats
}

// Pong records an answer or another message.
func (b *beat) Pong() { b.silent = 0 }

// NextPing counts a new ping and returns its number.
func (b *beat) NextPing() int {
	b.sent++
	b.silent++
	return b.sent
}

const (
	silentBeats   = 3                      // unanswered beats after which a frame or broker is lost
	busyBeats     = 20                     // the same while a broker of the frame answers
	maxRebuilds   = 5                      // a pool fails after more than four times as many losses
	rebuildWindow = 30 * time.Second       // within this time
	helloGrace    = 2 * time.Second        // after load, for the hello of a script that was not blocked
	endGrace      = 500 * time.Millisecond // for a worker to become idle after its result
	portGrace     = 500 * time.Millisecond // for a broker to answer its first ping
	killWindow    = 5 * time.Second
	freeKills     = 4
)

// KillDelay returns the time that a pool waits before it replaces a killed frame. Terminated
// code continues for about 2 s in Chromium, so kills in quick succession accumulate.
func KillDelay(now time.Time, kills []time.Time) time.Duration {
	recent := 0
	for _, t := range kills {
		if now.Sub(t) < killWindow {
			recent++
		}
	}
	return min(time.Duration(max(0, recent-freeKills))*250*time.Millisecond, 2*time.Second)
}
