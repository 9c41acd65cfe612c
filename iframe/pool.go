package iframe

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/protocol"
)

// PoolOptions configure an [EnclavePool].
type PoolOptions struct {
	EnclaveOptions

	// Max is how many runs may go on at once; more wait. The default is 4, the most 64.
	Max int

	// Spare is how many inner frames with their brokers are kept ready ahead. The
	// default is 1; it is not more than Max.
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

// An EnclavePool runs code for one trust domain: one hidden outer frame, inner
// frames made ahead, a fresh worker for each run. Code of people or tenants that
// must not share fate belongs into pools of their own. An inner frame is used again
// only after a run that ended by itself; after any kill it is removed.
type EnclavePool struct{ impl poolImpl }

// NewEnclavePool makes a pool and waits until its first frame is ready or ctx is
// done. Close releases it.
func NewEnclavePool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return newPool(ctx, opts)
}

// Run runs code and waits for its end. The result is nil only if the run never
// began; otherwise it holds console, traces and figures up to the end, and the error
// is [protocol.RunResult.Err]: it answers [errors.Is] for [protocol.ErrTimeout],
// [protocol.ErrAborted], [protocol.ErrResourceLimit], [protocol.ErrSandbox],
// [protocol.ErrExecution] and their kin.
//
// The host's clock decides: a run that is over its limit ends for the caller then,
// whatever its worker is still doing.
func (p *EnclavePool) Run(ctx context.Context, code string, opts RunOptions) (*protocol.RunResult, error) {
	return p.impl.run(ctx, code, opts)
}

// PoolStats is what a pool has and did.
type PoolStats struct {
	Frames  int // inner frames, of all states
	Ready   int // of them, ready for a run
	Busy    int // of them, in a run
	Waiting int // runs that wait for a frame

	Runs    int // begun
	Reused  int // frames used again after a clean end
	Kills   int // frames removed to end a run
	Lost    int // frames that were found dead or starved
	Rebuilt int // outer frames made anew
}

// Stats says what the pool has and did so far.
func (p *EnclavePool) Stats() PoolStats { return p.impl.snapshot() }

// Close ends what runs with [protocol.ErrAborted] and removes the frames. It is
// idempotent and returns when all is released.
func (p *EnclavePool) Close() error { return p.impl.close() }
