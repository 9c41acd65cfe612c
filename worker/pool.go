package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Options configure a [Pool]. The zero value is an untrusted pool.
type Options struct {
	// Trusted runs programs in workers of the page's own origin, below its own policy. The
	// zero value puts them behind the two frames of an enclave: for all that the
	// program's author could do, choose it unless you built the program yourself.
	Trusted bool

	// Max is how many commands run at once; more wait. Default 8, the most 64. The
	// stages of a pipeline run together: with fewer workers than stages it stands still
	// until a time limit ends it.
	Max int

	// Spare is how many workers with what they need are kept ready. Default 1.
	Spare int

	// Queue is how many commands may wait. Default 256; over it Start fails with
	// [ErrQueueFull]. Owners ([Cmd.Owner]) take turns, and within one it is first come,
	// first served.
	Queue int

	// Limits are the most that any command gets.
	Limits Limits

	// ClockResolution is the step of the clocks that programs see. Default 1 ms for
	// trusted pools and 20 ms for others, at least 1 µs.
	ClockResolution time.Duration

	// TrustedTypesPolicy is the name of the Trusted Types policy that the page and the
	// frames make. Default "bailey".
	TrustedTypesPolicy string

	// ReadyTimeout is how long the first worker may take. Default 10 s.
	ReadyTimeout time.Duration

	// Heartbeat is the interval at which workers are asked for a sign of life; three
	// that stay unanswered mean lost. Default 500 ms, at least 50 ms.
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
		return o, fmt.Errorf("worker: Options: Heartbeat is %v; less than 50ms is more noise than news", o.Heartbeat)
	}
	if o.TrustedTypesPolicy == "" {
		o.TrustedTypesPolicy = "bailey"
	}
	return o, nil
}

// A Pool runs commands. Make one with [NewPool]. Programs of people or tenants that must
// not share fate belong into pools of their own.
type Pool struct {
	opts Options
	impl poolImpl
}

// NewPool makes a pool and waits until its first worker is ready or ctx is done. ctx does
// not limit the pool's life; Close does. A page with a Content-Security-Policy must have
// worker-src blob: and 'wasm-unsafe-eval' in script-src, and for an untrusted pool list
// iframe.ScriptHashes there too; otherwise the error is [ErrBlocked] and says so.
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

// Features says what the browser has.
type Features struct {
	// LiveInput: a program may wait for input and for room in its output, so that
	// pipelines stream. Without it input is read to its end before the start, and
	// output is held, up to its limit, until it is taken.
	LiveInput bool
	// LazyFiles: see [LazyFiles].
	LazyFiles bool
	// HostFuncs: a module may call functions of the host ([CallOptions]).
	HostFuncs bool
	// Missing names what is lacking for the three; empty if nothing is.
	Missing string
}

// Features says what the browser has.
func (p *Pool) Features() Features { return p.impl.features() }

// PoolStats is what a pool has and did.
type PoolStats struct {
	Workers int // brokers, of all states
	Ready   int // of them, ready for a command
	Busy    int // of them, with a command
	Waiting int // commands that wait

	Runs    int // begun
	Reused  int // brokers used again after a clean end; never the worker of a run
	Kills   int // brokers removed to end a run
	Lost    int // brokers that were found dead or starved
	Rebuilt int // outer frames made anew
}

// Stats says what the pool has and did so far.
func (p *Pool) Stats() PoolStats { return p.impl.stats() }

// Close kills what runs, with [protocol.ErrAborted], and removes the workers. It is
// idempotent and returns when all is released.
func (p *Pool) Close() error { return p.impl.close() }

// turn chooses the next of the commands that wait: of the owner with the fewest that run,
// the one that came first.
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
