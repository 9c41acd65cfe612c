package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options are the options of a [Pool]. The zero value is an untrusted pool.
type Options struct {
	// Trusted runs programs in workers of the page's own origin, under the page's own policy.
	// The default is false: programs run behind the two frames of an enclave, which protect
	// against a hostile program. Set it only for programs that you built yourself.
	Trusted bool

	// Max is the most commands that run at once. Others wait. Default 8, at most 64. The stages
	// of a pipeline run together, so a pool with fewer workers than stages blocks until a time
	// limit ends the commands.
	Max int

	// Spare is the number of idle workers kept ready. Default 1, at most Max.
	Spare int

	// Queue is the most commands that may wait, besides as many as can run at once. Default
	// 256. Start returns [ErrQueueFull] if Queue+Max commands have no worker yet. Owners
	// ([Cmd.Owner]) take turns. The commands of one owner run in the order of their starts.
	Queue int

	// Limits are the upper limits of every command.
	Limits Limits

	// ClockResolution is the step of the clocks that programs read. Default 1 ms for trusted
	// pools and 20 ms for others, from 1 µs to 1 min.
	ClockResolution time.Duration

	// TrustedTypesPolicy is the name of the Trusted Types policy that the page and the frames
	// create. Default "bailey".
	TrustedTypesPolicy string

	// ReadyTimeout is the longest time for a worker to become ready, and for it to compile a
	// module. Default 10 s.
	ReadyTimeout time.Duration

	// Heartbeat is the interval between two pings of a worker. A worker that leaves three of
	// them unanswered is lost. Default 500 ms, at least 50 ms.
	Heartbeat time.Duration
}

func (o Options) withDefaults() (Options, error) {
	if err := o.Limits.check(); err != nil {
		return o, err
	}
	if o.Max < 0 || o.Max > 64 || o.Spare < 0 || o.Queue < 0 {
		return o, fmt.Errorf("worker: Options: Max is %d, Spare %d and Queue %d; Max must be 1 to 64 and none negative", o.Max, o.Spare, o.Queue)
	}
	if o.ReadyTimeout < 0 || o.Heartbeat < 0 || o.ClockResolution < 0 {
		return o, errors.New("worker: Options: times can't be negative")
	}
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	wait := func(v *time.Duration, d time.Duration) {
		if *v == 0 {
			*v = d
		}
	}
	o.Limits = o.Limits.or(defaultLimits)
	def(&o.Max, 8)
	def(&o.Spare, 1)
	def(&o.Queue, 256)
	o.Spare = min(o.Spare, o.Max)
	wait(&o.ReadyTimeout, 10*time.Second)
	wait(&o.Heartbeat, 500*time.Millisecond)
	resolution := 20 * time.Millisecond
	if o.Trusted {
		resolution = time.Millisecond
	}
	wait(&o.ClockResolution, resolution)
	if o.ClockResolution < time.Microsecond || o.ClockResolution > time.Minute {
		return o, fmt.Errorf("worker: Options: ClockResolution is %v; it must be 1µs to 1m", o.ClockResolution)
	}
	if o.Heartbeat < 50*time.Millisecond {
		return o, fmt.Errorf("worker: Options: Heartbeat is %v; it must be at least 50ms", o.Heartbeat)
	}
	if o.TrustedTypesPolicy == "" {
		o.TrustedTypesPolicy = "bailey"
	}
	return o, nil
}

// A Pool runs commands. Make one with [NewPool]. Use separate pools for users or tenants whose
// programs must not affect each other.
type Pool struct {
	opts Options
	impl poolImpl
}

// NewPool returns a pool. It waits until the first worker is ready or ctx ends. ctx does not
// limit the pool's life: call Close. If the page has a Content-Security-Policy, it must contain
// worker-src blob: and, in script-src, 'wasm-unsafe-eval'. For an untrusted pool script-src
// must also contain iframe.ScriptHashes. Otherwise the error is [ErrBlocked], and its text
// names the missing directives.
func NewPool(ctx context.Context, opts Options) (*Pool, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{opts: opts}
	if err := p.impl.start(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// Features are the abilities of the browser that not every browser has.
type Features struct {
	// LiveInput is true if a program can wait for input and for room in its output, so that
	// pipelines stream. If it is false, input is read to its end before the start, and output
	// is held, up to its limit, until it is taken.
	LiveInput bool
	// LazyFiles is true if [LazyFiles] can be used.
	LazyFiles bool
	// HostFuncs is true if a module can call functions of the host ([CallOptions]).
	HostFuncs bool
	// Missing describes the missing ability. It is empty if all are there.
	Missing string
}

// Features returns the abilities of the browser.
func (p *Pool) Features() Features { return p.impl.features() }

// PoolStats are the state and the counters of a pool. A broker is Bailey's script in a worker
// or a frame. It starts the workers of the runs.
type PoolStats struct {
	Workers int // brokers in any state
	Ready   int // brokers ready for a command
	Busy    int // brokers with a command
	Waiting int // commands that wait for a broker

	Runs    int // commands begun
	Reused  int // brokers used again after a clean end; the worker of a run is never used again
	Kills   int // brokers removed to end a run
	Lost    int // brokers found dead or starved
	Rebuilt int // outer frames created again
}

// Stats returns the state and the counters of the pool.
func (p *Pool) Stats() PoolStats { return p.impl.stats() }

// Close kills all commands, with [protocol.ErrAborted], and removes the workers. It returns
// when all resources are released. It is idempotent.
func (p *Pool) Close() error { return p.impl.close() }

// turn returns the index of the waiting command to run next: among the owners with the fewest
// running commands, the command that has waited longest.
func turn(waiting, running []string) int {
	busy := map[string]int{}
	for _, o := range running {
		busy[o]++
	}
	best := 0
	for i, o := range waiting {
		if busy[o] < busy[waiting[best]] {
			best = i
		}
	}
	return best
}
