package iframe

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/protocol"
)

// PoolOptions configure an [EnclavePool].
type PoolOptions struct {
	EnclaveOptions

	// Max is the number of runs that may be active at once. Further runs wait. The default is
	// 4, the maximum 64.
	Max int

	// Spare is the number of inner frames with brokers that the pool keeps ready in advance.
	// The default is 1. A value above Max counts as Max.
	Spare int

	dom *domFrame // set by NewDOMEnclave: the code gets a document
}

func (o PoolOptions) withDefaults() (PoolOptions, error) {
	var err error
	if o.EnclaveOptions, err = o.EnclaveOptions.withDefaults(); err != nil {
		return o, err
	}
	if o.Max < 0 || o.Max > 64 || o.Spare < 0 {
		return o, fmt.Errorf("iframe: PoolOptions: Max is %d and Spare %d; Max must be 1 to 64 and Spare not negative", o.Max, o.Spare)
	}
	if o.Max == 0 {
		o.Max = 4
	}
	o.Spare = min(max(o.Spare, 1), o.Max)
	return o, nil
}

// An EnclavePool runs code for one trust domain. It has one hidden outer frame, inner frames
// made in advance, and a new worker for each run. Use separate pools for users or tenants that
// must not share a failure. An inner frame is used again only after a run that ended by itself.
// After any kill it is removed.
type EnclavePool struct{ impl poolImpl }

// NewEnclavePool makes a pool and returns when its first frame is ready. Afterwards ctx has no
// effect: the pool lives until Close. For the errors see [NewEnclave].
func NewEnclavePool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return newPool(ctx, opts)
}

// Run runs code and returns when it has ended. The result is nil only if the run never began.
// Otherwise the result contains the console, traces and statistics up to the end, and the error
// is [protocol.RunResult.Err]. The error matches with [errors.Is] one of [protocol.ErrTimeout],
// [protocol.ErrAborted], [protocol.ErrResourceLimit], [protocol.ErrSandbox],
// [protocol.ErrExecution] and the other codes.
//
// The time limit uses the host's clock. Run returns when it is reached, even if the worker is
// still busy. If ctx is cancelled, the error matches [protocol.ErrAborted]. If its deadline
// passes, the error matches [protocol.ErrTimeout]. After Close, Run returns [ErrClosed].
func (p *EnclavePool) Run(ctx context.Context, code string, opts RunOptions) (*protocol.RunResult, error) {
	return p.impl.run(ctx, code, opts)
}

// PoolStats are counts of a pool: first its current state, then totals since it was made.
type PoolStats struct {
	Frames  int // inner frames in any state
	Ready   int // inner frames ready for a run
	Busy    int // inner frames with a run
	Waiting int // runs that wait for a frame

	Runs    int // runs begun
	Reused  int // frames used again after a clean end
	Kills   int // frames removed to end a run, or because they were lost
	Lost    int // frames that did not answer or did not start
	Rebuilt int // outer frames that were lost and made again
}

// Stats returns the current counts of the pool.
func (p *EnclavePool) Stats() PoolStats { return p.impl.snapshot() }

// Close ends all runs with [protocol.ErrAborted] and removes the frames. It is idempotent and
// returns when everything is released.
func (p *EnclavePool) Close() error { return p.impl.close() }
