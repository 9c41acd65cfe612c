package frame

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// maxTries is the number of times that a job may be given to another broker.
const maxTries = 3

// Run is the part that the jobs of all pools have in common: the broker, the timer, and the end.
// A type that embeds it needs only Finish to be a [Job]. The pool's loop owns it.
type Run struct {
	Scope *jsx.Scope // released by Close
	Slot  *Slot      // the broker of the job, or of its last try; nil while the job waits
	Began time.Time  // when the job got its broker

	pool    *Pool
	job     Job
	tries   int    // brokers that were lost before they started the job
	disarm  func() // stops the timer
	aborted bool
	over    bool
}

// NewRun returns the Run to embed in job.
func NewRun(p *Pool, job Job) Run {
	return Run{Scope: jsx.NewScope(jsx.ScopeOptions{}), pool: p, job: job}
}

// Begin records that s is the job's broker. The keeper calls it first in its own Begin.
func (r *Run) Begin(s *Slot) {
	r.Slot, r.Began = s, time.Now()
	if r.tries == 0 {
		r.pool.Count(func(st *PoolStats) { st.Runs++ })
	}
}

// Broker returns the slot that has the job now, or nil.
func (r *Run) Broker() *Slot {
	if r.Slot == nil || r.Slot.Job != r.job {
		return nil
	}
	return r.Slot
}

// Retry reports whether the job may be given to another broker, and makes it ready to begin
// again. The broker was lost before it reported a worker: until then no code has run, so no tool
// is called twice. In Firefox 153, while developer tools or similar software listen for workers,
// about one in fifty calls of new Worker inside a worker never returns.
func (r *Run) Retry() bool {
	if r.over || r.aborted || r.tries >= maxTries {
		return false
	}
	if r.disarm != nil {
		r.disarm()
	}
	r.tries++
	r.Slot, r.disarm = nil, nil
	return true
}

// Over reports whether the job has ended.
func (r *Run) Over() bool { return r.over }

// End ends the job early, whether it waits or runs.
func (r *Run) End(code protocol.Code, why string) { r.pool.End(r.job, r.Slot, code, why) }

// Fail ends the job with ErrSandbox, because doing something failed. what is like "the run could
// not be started".
func (r *Run) Fail(what string, err error) { r.End(protocol.ErrSandbox, what+": "+err.Error()) }

// NotStarted is the text of [Run.Fail] for a job that could not be posted to its broker.
const NotStarted = "the run could not be started"

// TimeText returns the reason of a job that reached its time limit.
func TimeText(limit time.Duration) string {
	return fmt.Sprintf("the time limit of %v was reached", limit)
}

// After ends the job early after d, unless a later call replaces the timer.
func (r *Run) After(d time.Duration, code protocol.Code, why string) (err error) {
	if r.disarm != nil {
		r.disarm()
	}
	r.disarm, err = r.Scope.AfterFunc(d, func() { r.pool.Do(func() { r.End(code, why) }) })
	return err
}

// Abort ends the job for its caller. If a broker has the job and grace is not 0, ask first sends
// it the order to end, and it is killed after grace. A second call does nothing.
func (r *Run) Abort(cause error, grace time.Duration, ask func(s *Slot, code protocol.Code, why string)) {
	if r.over || r.aborted {
		return
	}
	r.aborted = true
	code, why := protocol.ErrAborted, r.pool.opts.Aborted
	if errors.Is(cause, context.DeadlineExceeded) {
		code, why = protocol.ErrTimeout, "the caller's deadline was reached"
	}
	if s := r.Broker(); s != nil && grace > 0 {
		ask(s, code, why)
		if _, err := r.Scope.AfterFunc(grace, func() { r.pool.Do(func() { r.End(code, why) }) }); err == nil {
			return
		}
	}
	r.End(code, why)
}

// Close records the end of the job and releases its scope. It reports whether this is the first
// call.
func (r *Run) Close() bool {
	first := !r.over
	r.over = true
	_ = r.Scope.Close()
	return first
}
