package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// A Provider creates jobs.
type Provider interface {
	// Create returns a job of the given name, with the folder of its last snapshot, or an empty one. Two
	// jobs of a name may run, but only one of them can store the next message.
	Create(ctx context.Context, name string) (*Job, error)
	// Close throws all jobs away.
	Close() error
}

// Options configure a [Local]. Box, Dir and Store are required.
type Options struct {
	// Box is the command of bailey-box with its arguments, but for -dir, -state and -session. They are the same for
	// all jobs.
	Box []string
	// Env are variables of each bailey-box, as NAME=value, beside PATH, LANG, HOME and TMPDIR. A bailey-box that was
	// taken over can read them.
	Env []string
	// Dir is a folder for the folders of jobs, which other users can enter.
	Dir   string
	Store Store
	// Warm is the number of jobs that wait for a name. The default is 4.
	Warm int
	// Memory, Processes (with threads) and CPU (in thousandths of a processor) limit all processes of a job
	// together, and Disk the bytes of its folder. Where this user can't set them, Notes says so.
	Memory, Processes, CPU, Disk int64 // 2 GiB, 512, 1000, 512 MiB
	// Idle is the time without a use after which a job is paused, at least 1 ms, see [Job.Use] and [Job.Pause].
	// The default is never.
	Idle time.Duration
	// OnPause is called after each try to pause an idle job. A job that could not be paused goes on, and is tried
	// again after Idle. It may be nil.
	OnPause func(*Job, error)
	// Tenant returns the tenant of a job by its name. The default is one tenant for all.
	Tenant func(name string) string
	// PerTenant is the most jobs of one tenant that run at the same time. [Local.Create] then returns an error
	// that wraps [ErrTenant]. The default is no limit.
	PerTenant int
	// Attach, if set, is called before the start of each bailey-box. Its result is [Job.Attached].
	Attach func() (Attachment, error)

	off sweepOff
}

// An Attachment is a thing of one bailey-box that the others of its provider do not have.
type Attachment interface {
	// Args are added to the command, and Env to the variables.
	Args() []string
	Env() []string
	// Close is called once, when the bailey-box has ended.
	Close() error
}

// Pool creates jobs in the places of a [Source], and limits those of a tenant.
type Pool struct {
	o      Options
	source Source
	ctx    context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	all     map[*Job]bool
	tenants map[string]int // jobs that have a name and have not ended
}

var _ Provider = (*Pool)(nil)

// NewPool returns a provider of jobs in the places of s, which it closes. Of the options it uses Store, which is required,
// Idle, OnPause, Tenant and PerTenant. Attach is for a [Local] alone.
func NewPool(o Options, s Source) (*Pool, error) {
	if o.Store == nil {
		return nil, errors.New("jobs: Options.Store is needed")
	}
	if o.Idle != 0 && o.Idle < time.Millisecond || o.PerTenant < 0 {
		return nil, fmt.Errorf("jobs: Options.Idle is %v and PerTenant is %d; want at least 1ms and 1, or 0 for none", o.Idle, o.PerTenant)
	}
	p := &Pool{o: o, source: s, all: map[*Job]bool{}, tenants: map[string]int{}}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Notes returns the limits that are missing, a sentence for each.
func (p *Pool) Notes() []string { return p.source.Notes() }

// Walls returns the protections around each job, as far as they are known, for users.
func (p *Pool) Walls() []Wall { return p.source.Walls() }

// Job is a running bailey-box with a folder of its own.
type Job struct {
	Name       string
	Dir        string // its folder, if it is on this machine
	Address    string // of bailey-box, if it is on this machine
	Credential string
	// Last is the message after which the folder was restored, with N 0 if there was none. What the job that
	// died did for it is gone. It is not sent again: that is for the user to decide. If Last.Paused is set, nothing is
	// gone.
	Last Entry
	// Restored reports whether there was a snapshot.
	Restored bool
	// Attached is the result of Options.Attach. It is nil without that, and for a job that is not on this machine.
	Attached Attachment

	p      *Pool
	place  Place
	thrown func() error
	leave  func() // counts the job no longer for its tenant

	mu   sync.Mutex
	next int
	last Entry // the last one that was stored, or from which the job was restored
	uses int
	idle *time.Timer // nil without Options.Idle
}

// ErrTenant is the error of a job that would be one too many for its tenant.
var ErrTenant = errors.New("jobs: the tenant has as many jobs as it may: close one, or wait until one is paused")

// enter counts a job of a tenant until it leaves, if the tenant may have one more.
func (p *Pool) enter(tenant string) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := p.o.PerTenant; n > 0 && p.tenants[tenant] >= n {
		return nil, fmt.Errorf("%w (%d of %q)", ErrTenant, n, tenant)
	}
	p.tenants[tenant]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.tenants[tenant]--; p.tenants[tenant] == 0 {
			delete(p.tenants, tenant)
		}
	}), nil
}

// Create implements [Provider]. A job that was paused goes on.
func (p *Pool) Create(ctx context.Context, name string) (_ *Job, err error) {
	list, err := p.o.Store.Entries(ctx, name)
	if err != nil {
		return nil, err
	}
	tenant := ""
	if p.o.Tenant != nil {
		tenant = p.o.Tenant(name)
	}
	leave, err := p.enter(tenant)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	place, err := p.source.Take(ctx, name)
	if err != nil {
		return nil, err
	}
	j := &Job{Name: name, Credential: place.Credential(), p: p, place: place, leave: leave, next: len(list) + 1}
	j.thrown = sync.OnceValue(j.throw)
	if local, ok := place.(*Process); ok {
		j.Dir, j.Address, j.Attached = local.dir, local.address, local.attached
	}
	if len(list) > 0 {
		j.Last, j.last, j.Restored = list[len(list)-1], list[len(list)-1], true
		if err := place.Restore(ctx, p.o.Store, name, j.Last); err != nil {
			return nil, errors.Join(err, place.Close())
		}
	}
	p.mu.Lock()
	p.all[j] = true
	p.mu.Unlock()
	go func() {
		<-place.Ended()
		leave()
	}()
	j.mu.Lock()
	defer j.mu.Unlock()
	if p.o.Idle > 0 {
		j.idle = time.AfterFunc(p.o.Idle, j.sleep)
	}
	return j, nil
}

// Say stores a snapshot of the folder and the message, before the caller sends the message to the job. If
// another job of the name has stored one in the meantime, the error wraps [ErrConflict], and this job is to
// be closed.
func (j *Job) Say(ctx context.Context, message string) (Entry, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.runs(); err != nil {
		return Entry{}, err
	}
	if j.idle != nil && j.uses == 0 {
		j.idle.Reset(j.p.o.Idle)
	}
	e, err := j.snapshot(ctx)
	if err != nil {
		return Entry{}, err
	}
	e.Message = message
	return j.append(ctx, e)
}

// snapshot stores the folder and the sessions, and returns the next entry, without a message.
func (j *Job) snapshot(ctx context.Context) (e Entry, err error) {
	e.N = j.next
	e.Tree, e.State, err = j.place.Save(ctx, j.p.o.Store, j.Name)
	return e, err
}

// Current reports whether the job has the work of all entries in the store, so that it can go on. Otherwise another job
// of the name has stored one: close this one, and create it again.
func (j *Job) Current(ctx context.Context) (bool, error) {
	list, err := j.p.o.Store.Entries(ctx, j.Name)
	j.mu.Lock()
	defer j.mu.Unlock()
	return err == nil && j.runs() == nil && len(list)+1 == j.next && (len(list) == 0 || list[len(list)-1] == j.last), err
}

// Checkpoint stores the folder and the sessions, as [Job.Pause] does, and the job goes on. It is for the end of a run:
// afterwards another job of the name can begin where this one is. If nothing has changed since the last one, nothing is
// stored.
func (j *Job) Checkpoint(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.runs(); err != nil {
		return err
	}
	return j.checkpoint(ctx)
}

func (j *Job) checkpoint(ctx context.Context) error {
	e, err := j.snapshot(ctx)
	if err != nil {
		return err
	}
	if e.Paused = true; j.last.Paused && e.Tree == j.last.Tree && e.State == j.last.State {
		return nil
	}
	_, err = j.append(ctx, e)
	return err
}

func (j *Job) append(ctx context.Context, e Entry) (Entry, error) {
	if err := j.p.o.Store.Append(ctx, j.Name, e); err != nil {
		return Entry{}, err
	}
	j.next, j.last = j.next+1, e
	return e, nil
}

func (j *Job) runs() error {
	select {
	case <-j.place.Ended():
		return errors.New("jobs: the job has ended: create it again")
	default:
		return nil
	}
}

// Use marks the job as used until done is called, so that it is not idle. It is an error if the job has ended or was
// paused: create it again.
func (j *Job) Use() (done func(), err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.runs(); err != nil {
		return nil, err
	}
	j.uses++
	if j.idle != nil {
		j.idle.Stop()
	}
	return sync.OnceFunc(func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.uses--; j.uses == 0 && j.idle != nil {
			j.idle.Reset(j.p.o.Idle)
		}
	}), nil
}

// Pause stores the folder and the sessions, ends the job and removes its folder here. Create goes on with all of its work. If the
// folder can't be stored, the job goes on. If another job of the name has stored a message in the meantime, the
// error wraps [ErrConflict], and this job is to be closed. Programs that still run are killed.
func (j *Job) Pause(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.pause(ctx)
}

func (j *Job) pause(ctx context.Context) error {
	if err := j.runs(); err != nil {
		return err
	}
	if err := j.checkpoint(ctx); err != nil {
		return err
	}
	err := j.place.Halt()
	// What was running may have written since.
	return errors.Join(err, j.checkpoint(ctx), j.Close())
}

// pauseTime is the most time for the snapshot of an idle job.
const pauseTime = time.Minute

// sleep pauses an idle job.
func (j *Job) sleep() {
	tried, err := j.tryPause()
	if tried && j.p.o.OnPause != nil {
		j.p.o.OnPause(j, err)
	}
}

func (j *Job) tryPause() (tried bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.uses > 0 || j.runs() != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(j.p.ctx, pauseTime)
	defer cancel()
	err = j.pause(ctx)
	if j.runs() == nil && j.p.ctx.Err() == nil {
		j.idle.Reset(j.p.o.Idle)
	}
	return true, err
}

// Dial connects to the job's bailey-box.
func (j *Job) Dial(ctx context.Context) (net.Conn, error) { return j.place.Dial(ctx) }

// Ended is closed when the job has ended, by itself or not.
func (j *Job) Ended() <-chan struct{} { return j.place.Ended() }

// Close ends the job and all that it started, and removes its folder.
func (j *Job) Close() error { return j.thrown() }

func (j *Job) throw() error {
	err := j.place.Close()
	j.p.mu.Lock()
	delete(j.p.all, j)
	j.p.mu.Unlock()
	j.leave()
	return err
}

// Close implements [Provider].
func (p *Pool) Close() error {
	p.end()
	p.mu.Lock()
	var list []*Job
	for j := range p.all {
		list = append(list, j)
	}
	p.mu.Unlock()
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, j := range list {
		all.Go(func() { errs[i] = j.Close() })
	}
	all.Wait()
	return errors.Join(append(errs, p.source.Close())...)
}
