package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/environment/internal/confine"
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

// Local runs jobs as processes of this machine.
type Local struct {
	o     Options
	notes []string
	warm  chan *Job
	jobs  sync.WaitGroup
	ctx   context.Context
	end   context.CancelFunc

	broken chan error // why the last start failed, while the next one waits

	own    *own // the folder of all jobs
	leaves func() error

	mu      sync.Mutex
	all     map[*Job]bool
	tenants map[string]int // jobs that have a name and have not ended
}

var _ Provider = (*Local)(nil)

// NewLocal returns a provider, which begins to start its waiting jobs.
func NewLocal(o Options) (*Local, error) {
	if len(o.Box) == 0 || o.Dir == "" || o.Store == nil {
		return nil, errors.New("jobs: Options: Box, Dir and Store are needed")
	}
	for _, l := range []struct {
		name               string
		value              *int64
		usual, least, most int64
	}{
		{"Memory", &o.Memory, 2 << 30, 64 << 20, 1 << 40},
		{"Processes", &o.Processes, 512, 32, 100_000},
		{"CPU", &o.CPU, 1000, 10, 1_000_000},
		{"Disk", &o.Disk, 512 << 20, 1 << 20, 1 << 40},
	} {
		if *l.value == 0 {
			*l.value = l.usual
		}
		if *l.value < l.least || *l.value > l.most {
			return nil, fmt.Errorf("jobs: Options.%s is %d; want %d to %d, or 0 for %d", l.name, *l.value, l.least, l.most, l.usual)
		}
	}
	if o.Warm == 0 {
		o.Warm = 4
	}
	if o.Warm < 1 || o.Warm > 1000 {
		return nil, fmt.Errorf("jobs: Options.Warm is %d; want 1 to 1000, or 0 for 4", o.Warm)
	}
	if o.Idle != 0 && o.Idle < time.Millisecond || o.PerTenant < 0 {
		return nil, fmt.Errorf("jobs: Options.Idle is %v and PerTenant is %d; want at least 1ms and 1, or 0 for none", o.Idle, o.PerTenant)
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	o.Dir = dir
	l := &Local{o: o, warm: make(chan *Job, o.Warm-1), broken: make(chan error), all: map[*Job]bool{}, tenants: map[string]int{}}
	l.ctx, l.end = context.WithCancel(context.Background())
	if err := confine.Groups(); err != nil {
		l.notes = append(l.notes, err.Error())
	}
	if l.own, err = claim(dir, o.off); err != nil {
		return nil, err
	}
	l.leaves = sync.OnceValue(l.own.leave)
	if err := l.tryDisk(); err != nil {
		l.notes = append(l.notes, err.Error())
	}
	l.jobs.Go(l.fill)
	return l, nil
}

// Notes returns the limits that this machine does not have, a sentence for each.
func (l *Local) Notes() []string { return l.notes }

// Found returns the number of jobs that providers of the same Dir had left when they were killed. They were ended and
// removed by [NewLocal]. The error lists those that could not be removed, which the next start tries again.
func (l *Local) Found() (int, error) { return l.own.found, l.own.failed }

// tryDisk limits a folder, and removes it.
func (l *Local) tryDisk() error {
	dir, err := os.MkdirTemp(l.own.dir, "probe-")
	if err != nil {
		return fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	release, err := confine.Disk(dir, l.o.Disk, 2*maxFiles)
	if err == nil {
		err = release()
	}
	return errors.Join(err, os.Remove(dir))
}

// Times between a start that failed and the next one. They double.
const firstRest, longestRest = 100 * time.Millisecond, 10 * time.Second

// fill keeps jobs waiting. One of them is in its hand while the channel is full. A start may fail because the
// machine is full for a while, so it is tried again.
func (l *Local) fill() {
	// The kernel ends a job with the thread that started it, see withUs. This one stays as long as the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(l.warm)
	rest := firstRest
	for l.ctx.Err() == nil {
		j, err := l.start()
		if err != nil {
			again := time.NewTimer(rest)
			for waits := true; waits && l.ctx.Err() == nil; {
				select {
				case l.broken <- err:
				case <-again.C:
					waits = false
				case <-l.ctx.Done():
				}
			}
			again.Stop()
			rest = min(2*rest, longestRest)
			continue
		}
		rest = firstRest
		select {
		case l.warm <- j:
		case <-j.ended: // it died while it waited
			_ = j.Close()
		case <-l.ctx.Done():
		}
	}
}

// Job is a running bailey-box with a folder of its own.
type Job struct {
	Name       string
	Dir        string // its folder
	Address    string // of bailey-box
	Credential string
	// Last is the message after which the folder was restored, with N 0 if there was none. What the job that
	// died did for it is gone. It is not sent again: that is for the user to decide. If Last.Paused is set, nothing is
	// gone.
	Last Entry
	// Restored reports whether there was a snapshot.
	Restored bool
	// Attached is the result of Options.Attach, or nil.
	Attached Attachment

	l      *Local
	base   string
	root   *os.Root
	state  *os.Root // the sessions of bailey-box
	socket *os.File // its socket, whatever is at the path now
	known  seen
	cmd    *exec.Cmd
	group  *confine.Group
	disk   func() error
	ended  chan struct{}
	halted func() error
	thrown func() error
	leave  func() // counts the job no longer for its tenant, nil without a name. It is under the lock of l

	mu   sync.Mutex
	next int
	last Entry // the last one that was stored, or from which the job was restored
	uses int
	idle *time.Timer // nil without Options.Idle
}

// gate starts bailey-box when the process is in its group.
const gate = `read -r go && exec "$@"`

func (l *Local) start() (_ *Job, err error) {
	base, err := os.MkdirTemp(l.own.dir, "job-")
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	j := &Job{l: l, base: base, Dir: filepath.Join(base, "folder"), known: seen{}, ended: make(chan struct{})}
	state := filepath.Join(base, "state")
	j.halted, j.thrown = sync.OnceValue(j.halt), sync.OnceValue(j.throw)
	l.mu.Lock()
	l.all[j] = true
	l.mu.Unlock()
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("jobs: a job could not be started: %w", err), j.Close())
		}
	}()
	if j.disk, err = confine.Disk(base, l.o.Disk, 2*maxFiles); err != nil {
		j.disk = nil // Notes says so
	}
	if err := errors.Join(os.Chmod(base, 0o711), os.Mkdir(j.Dir, 0o700), os.Mkdir(state, 0o700), os.Mkdir(filepath.Join(base, "tmp"), 0o711)); err != nil {
		close(j.ended)
		return nil, err
	}
	if j.root, err = os.OpenRoot(j.Dir); err == nil {
		j.state, err = os.OpenRoot(state)
	}
	if err != nil {
		close(j.ended)
		return nil, err
	}
	args := append(append([]string{"-c", gate, "sh"}, l.o.Box...), "-dir", j.Dir, "-state", state, "-session", "latest")
	// A job has none of this process's variables.
	env := append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + j.Dir, "TMPDIR=" + filepath.Join(base, "tmp")}, l.o.Env...)
	if l.o.Attach != nil {
		a, err := l.o.Attach()
		if err != nil {
			close(j.ended)
			return nil, err
		}
		j.Attached = a
		args, env = append(args, a.Args()...), append(env, a.Env()...)
	}
	j.cmd = exec.Command("/bin/sh", args...)
	j.cmd.Env = env
	withUs(j.cmd)
	in, err := j.cmd.StdinPipe()
	if err != nil {
		close(j.ended)
		return nil, err
	}
	out, err := j.cmd.StdoutPipe()
	if err == nil {
		err = j.cmd.Start()
	}
	if err != nil {
		close(j.ended)
		return nil, err
	}
	if j.group, err = confine.NewGroup(l.own.group, l.o.Memory, l.o.Processes, l.o.CPU); err == nil {
		err = j.group.Add(j.cmd.Process.Pid)
	} else if confine.Groups() != nil {
		err = nil // Notes says so
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
		_, _ = io.Copy(io.Discard, out)
		_ = j.cmd.Wait()
		close(j.ended)
	}()
	if err == nil {
		_, err = io.WriteString(in, "go\n")
	}
	if err != nil {
		_ = j.cmd.Process.Kill()
		return nil, err
	}
	var hello struct{ Address, Credential string }
	select {
	case line := <-said:
		if json.Unmarshal([]byte(line), &hello) != nil || hello.Credential == "" {
			_ = j.cmd.Process.Kill()
			return nil, fmt.Errorf("%s did not start: it said %q", l.o.Box[0], line)
		}
	case <-l.ctx.Done():
		_ = j.cmd.Process.Kill()
		return nil, l.ctx.Err()
	}
	j.Address, j.Credential = hello.Address, hello.Credential
	// It has met no tenant yet, so this is its own socket.
	if path, ok := strings.CutPrefix(j.Address, "unix:"); ok {
		if j.socket, err = openSocket(path); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// ErrTenant is the error of a job that would be one too many for its tenant.
var ErrTenant = errors.New("jobs: the tenant has as many jobs as it may: close one, or wait until one is paused")

// enter counts a job of a tenant until it leaves, if the tenant may have one more.
func (l *Local) enter(tenant string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := l.o.PerTenant; n > 0 && l.tenants[tenant] >= n {
		return nil, fmt.Errorf("%w (%d of %q)", ErrTenant, n, tenant)
	}
	l.tenants[tenant]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.tenants[tenant]--; l.tenants[tenant] == 0 {
			delete(l.tenants, tenant)
		}
	}), nil
}

// Create implements [Provider]. A job that was paused goes on.
func (l *Local) Create(ctx context.Context, name string) (_ *Job, err error) {
	list, err := l.o.Store.Entries(ctx, name)
	if err != nil {
		return nil, err
	}
	tenant := ""
	if l.o.Tenant != nil {
		tenant = l.o.Tenant(name)
	}
	leave, err := l.enter(tenant)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	for {
		var j *Job
		select {
		case j = <-l.warm:
		default:
			select {
			case j = <-l.warm:
			case err := <-l.broken:
				return nil, err
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if j == nil {
			return nil, errors.New("jobs: the provider was closed")
		}
		select {
		case <-j.ended: // it died while it waited
			_ = j.Close()
			continue
		default:
		}
		j.Name, j.next = name, len(list)+1
		if len(list) > 0 {
			j.Last, j.last, j.Restored = list[len(list)-1], list[len(list)-1], true
			err := restore(ctx, l.o.Store, name, j.Last.Tree, j.root, j.known)
			if err == nil && j.Last.State != "" {
				err = restore(ctx, l.o.Store, name, j.Last.State, j.state, j.known)
			}
			if err != nil {
				return nil, errors.Join(err, j.Close())
			}
		}
		l.mu.Lock()
		j.leave = leave
		l.mu.Unlock()
		go func() {
			<-j.ended
			leave()
		}()
		j.mu.Lock()
		defer j.mu.Unlock()
		if l.o.Idle > 0 {
			j.idle = time.AfterFunc(l.o.Idle, j.sleep)
		}
		return j, nil
	}
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
		j.idle.Reset(j.l.o.Idle)
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
	if e.Tree, err = save(ctx, j.l.o.Store, j.Name, j.root, j.known); err == nil {
		e.State, err = save(ctx, j.l.o.Store, j.Name, j.state, j.known)
	}
	return e, err
}

// Current reports whether the job has the work of all entries in the store, so that it can go on. Otherwise another job
// of the name has stored one: close this one, and create it again.
func (j *Job) Current(ctx context.Context) (bool, error) {
	list, err := j.l.o.Store.Entries(ctx, j.Name)
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
	if err := j.l.o.Store.Append(ctx, j.Name, e); err != nil {
		return Entry{}, err
	}
	j.next, j.last = j.next+1, e
	return e, nil
}

func (j *Job) runs() error {
	select {
	case <-j.ended:
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
			j.idle.Reset(j.l.o.Idle)
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
	err := j.halted()
	// What was running may have written since.
	return errors.Join(err, j.checkpoint(ctx), j.Close())
}

// pauseTime is the most time for the snapshot of an idle job.
const pauseTime = time.Minute

// sleep pauses an idle job.
func (j *Job) sleep() {
	tried, err := j.tryPause()
	if tried && j.l.o.OnPause != nil {
		j.l.o.OnPause(j, err)
	}
}

func (j *Job) tryPause() (tried bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.uses > 0 || j.runs() != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(j.l.ctx, pauseTime)
	defer cancel()
	err = j.pause(ctx)
	if j.runs() == nil && j.l.ctx.Err() == nil {
		j.idle.Reset(j.l.o.Idle)
	}
	return true, err
}

// Dial connects to the job's bailey-box, over its socket as it was at its start. A bailey-box that was taken over can
// put another one at its path, or a link to another program's.
func (j *Job) Dial(ctx context.Context) (net.Conn, error) {
	if j.socket == nil {
		return nil, errors.New("jobs: the job has no socket: leave out -listen")
	}
	return dialSocket(ctx, j.socket)
}

// Ended is closed when the job has ended, by itself or not.
func (j *Job) Ended() <-chan struct{} { return j.ended }

// Close ends the job and all that it started, and removes its folder.
func (j *Job) Close() error { return j.thrown() }

// halt ends the job's processes.
func (j *Job) halt() error {
	if j.cmd != nil && j.cmd.Process != nil {
		_ = j.cmd.Process.Kill()
	}
	err := j.group.Close()
	<-j.ended
	return err
}

func (j *Job) throw() error {
	errs := []error{j.halted()}
	if j.Attached != nil {
		errs = append(errs, j.Attached.Close())
	}
	for _, r := range []*os.Root{j.root, j.state} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	if j.socket != nil {
		errs = append(errs, j.socket.Close())
	}
	if j.disk != nil {
		errs = append(errs, j.disk())
	}
	errs = append(errs, os.RemoveAll(j.base))
	j.l.mu.Lock()
	delete(j.l.all, j)
	leave := j.leave
	j.l.mu.Unlock()
	if leave != nil {
		leave()
	}
	return errors.Join(errs...)
}

// Close implements [Provider].
func (l *Local) Close() error {
	l.end()
	l.jobs.Wait()
	l.mu.Lock()
	var list []*Job
	for j := range l.all {
		list = append(list, j)
	}
	l.mu.Unlock()
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, j := range list {
		all.Go(func() { errs[i] = j.Close() })
	}
	all.Wait()
	return errors.Join(append(errs, l.leaves())...)
}
