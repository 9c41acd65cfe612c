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
	"sync/atomic"
	"time"

	"github.com/bailey-go/bailey/environment/internal/confine"
)

// Local runs jobs as processes of this machine.
type Local struct {
	*Pool
	*machine
}

// Notes returns the limits that this machine does not have, a sentence for each.
func (l *Local) Notes() []string { return l.machine.Notes() }

// Walls returns the protections around each job, for users. That of bailey-box is among them once one has started.
func (l *Local) Walls() []Wall { return l.machine.Walls() }

// Close implements [Provider].
func (l *Local) Close() error { return l.Pool.Close() }

// Found returns the number of jobs that providers of the same Dir had left when they were killed. They were ended and
// removed by [NewLocal]. The error lists those that could not be removed, which the next start tries again.
func (l *Local) Found() (int, error) { return l.own.found, l.own.failed }

// machine is the source of places that are processes of this machine.
type machine struct {
	box   Options
	notes []string
	warm  chan *Process
	tasks sync.WaitGroup
	alive context.Context
	stop  context.CancelFunc

	broken chan error // why the last start failed, while the next one waits

	confined atomic.Bool // the last bailey-box that started has put itself into a sandbox

	own    *own // the folder of all jobs, nil for Start
	leaves func() error

	held   sync.Mutex
	places map[*Process]bool
}

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
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	o.Dir = dir
	m := &machine{box: o, warm: make(chan *Process, o.Warm-1), broken: make(chan error), places: map[*Process]bool{}}
	m.alive, m.stop = context.WithCancel(context.Background())
	p, err := NewPool(o, m)
	if err != nil {
		return nil, err
	}
	if err := confine.Groups(); err != nil {
		m.notes = append(m.notes, err.Error())
	}
	if m.own, err = claim(dir, o.off); err != nil {
		return nil, err
	}
	m.leaves = sync.OnceValue(m.own.leave)
	if err := m.tryDisk(); err != nil {
		m.notes = append(m.notes, err.Error())
	}
	m.tasks.Go(m.fill)
	return &Local{p, m}, nil
}

// Notes implements [Source].
func (m *machine) Notes() []string { return m.notes }

// Walls implements [Source].
func (m *machine) Walls() []Wall {
	list := []Wall{{"Job", "each chat has a folder, a process and sessions of its own"}}
	if m.confined.Load() {
		list = append(list, Wall{"Landlock and seccomp", "a job changes its own folder alone, reads the system's programs beside it, and makes no raw connection"})
	}
	if len(m.notes) == 0 {
		list = append(list, Wall{"Limits", fmt.Sprintf("a job has at most %d MiB of memory, %d processes and %d MiB of disk", m.box.Memory>>20, m.box.Processes, m.box.Disk>>20)})
	}
	return list
}

// tryDisk limits a folder, and removes it.
func (m *machine) tryDisk() error {
	dir, err := os.MkdirTemp(m.own.dir, "probe-")
	if err != nil {
		return fmt.Errorf("jobs: Options.Dir: %w", err)
	}
	release, err := confine.Disk(dir, m.box.Disk, 2*maxFiles)
	if err == nil {
		err = release()
	}
	return errors.Join(err, os.Remove(dir))
}

// Times between a start that failed and the next one. They double.
const firstRest, longestRest = 100 * time.Millisecond, 10 * time.Second

// fill keeps jobs waiting. One of them is in its hand while the channel is full. A start may fail because the
// machine is full for a while, so it is tried again.
func (m *machine) fill() {
	// The kernel ends a job with the thread that started it, see withUs. This one stays as long as the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(m.warm)
	rest := firstRest
	for m.alive.Err() == nil {
		p, err := m.start()
		if err != nil {
			again := time.NewTimer(rest)
			for waits := true; waits && m.alive.Err() == nil; {
				select {
				case m.broken <- err:
				case <-again.C:
					waits = false
				case <-m.alive.Done():
				}
			}
			again.Stop()
			rest = min(2*rest, longestRest)
			continue
		}
		rest = firstRest
		select {
		case m.warm <- p:
		case <-p.ended: // it died while it waited
			_ = p.Close()
		case <-m.alive.Done():
		}
	}
}

// Take implements [Source].
func (m *machine) Take(ctx context.Context, _ string) (Place, error) {
	for {
		var p *Process
		select {
		case p = <-m.warm:
		default:
			select {
			case p = <-m.warm:
			case err := <-m.broken:
				return nil, err
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if p == nil {
			return nil, errors.New("jobs: the provider was closed")
		}
		select {
		case <-p.ended: // it died while it waited
			_ = p.Close()
			continue
		default:
		}
		return p, nil
	}
}

// Start starts one bailey-box, as a [Local] does, in a new folder in o.Dir, for a caller that serves it to a front end
// elsewhere. Of the options it uses Box and Dir, which are required, and Env. There are no limits: the caller has them. No
// start removes what one leaves that is killed: the caller does.
func Start(ctx context.Context, o Options) (*Process, error) {
	m := &machine{box: o, places: map[*Process]bool{}}
	m.alive, m.stop = context.WithCancel(ctx)
	return m.start()
}

// Process is a place on this machine.
type Process struct {
	m                   *machine
	base, dir           string
	address, credential string
	root                *os.Root
	state               *os.Root // the sessions of bailey-box
	socket              *os.File // its socket, whatever is at the path now
	known               seen
	cmd                 *exec.Cmd
	group               *confine.Group
	disk                func() error
	ended               chan struct{}
	halted, thrown      func() error
	attached            Attachment // nil without Options.Attach
}

// gate starts bailey-box when the process is in its group.
const gate = `read -r go && exec "$@"`

func (m *machine) start() (_ *Process, err error) {
	dir := m.box.Dir
	if m.own != nil {
		dir = m.own.dir
	}
	base, err := os.MkdirTemp(dir, "job-")
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	p := &Process{m: m, base: base, dir: filepath.Join(base, "folder"), known: seen{}, ended: make(chan struct{})}
	state := filepath.Join(base, "state")
	p.halted, p.thrown = sync.OnceValue(p.halt), sync.OnceValue(p.throw)
	m.held.Lock()
	m.places[p] = true
	m.held.Unlock()
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("jobs: a job could not be started: %w", err), p.Close())
		}
	}()
	if m.own != nil {
		if p.disk, err = confine.Disk(base, m.box.Disk, 2*maxFiles); err != nil {
			p.disk = nil // Notes says so
		}
	}
	if err := errors.Join(os.Chmod(base, 0o711), os.Mkdir(p.dir, 0o700), os.Mkdir(state, 0o700), os.Mkdir(filepath.Join(base, "tmp"), 0o711)); err != nil {
		close(p.ended)
		return nil, err
	}
	if p.root, err = os.OpenRoot(p.dir); err == nil {
		p.state, err = os.OpenRoot(state)
	}
	if err != nil {
		close(p.ended)
		return nil, err
	}
	args := append(append([]string{"-c", gate, "sh"}, m.box.Box...), "-dir", p.dir, "-state", state, "-session", "latest")
	// A job has none of this process's variables.
	env := append([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + p.dir, "TMPDIR=" + filepath.Join(base, "tmp")}, m.box.Env...)
	if m.box.Attach != nil {
		a, err := m.box.Attach()
		if err != nil {
			close(p.ended)
			return nil, err
		}
		p.attached = a
		args, env = append(args, a.Args()...), append(env, a.Env()...)
	}
	p.cmd = exec.Command("/bin/sh", args...)
	p.cmd.Env = env
	if m.own != nil {
		withUs(p.cmd)
	}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		close(p.ended)
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		close(p.ended)
		return nil, err
	}
	if m.own != nil {
		if p.group, err = confine.NewGroup(m.own.group, m.box.Memory, m.box.Processes, m.box.CPU); err == nil {
			err = p.group.Add(p.cmd.Process.Pid)
		} else if confine.Groups() != nil {
			err = nil // Notes says so
		}
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	if err == nil {
		_, err = io.WriteString(in, "go\n")
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		return nil, err
	}
	var hello struct {
		Address, Credential string
		Confined            bool
	}
	select {
	case line := <-said:
		if json.Unmarshal([]byte(line), &hello) != nil || hello.Credential == "" {
			_ = p.cmd.Process.Kill()
			return nil, fmt.Errorf("%s did not start: it said %q", m.box.Box[0], line)
		}
	case <-m.alive.Done():
		_ = p.cmd.Process.Kill()
		return nil, m.alive.Err()
	}
	p.address, p.credential = hello.Address, hello.Credential
	m.confined.Store(hello.Confined)
	// It has met no tenant yet, so this is its own socket.
	if path, ok := strings.CutPrefix(p.address, "unix:"); ok {
		if p.socket, err = openSocket(path); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Dial connects to the job's bailey-box, over its socket as it was at its start. A bailey-box that was taken over can
// put another one at its path, or a link to another program's.
func (p *Process) Dial(ctx context.Context) (net.Conn, error) {
	if p.socket == nil {
		return nil, errors.New("jobs: the job has no socket: leave out -listen")
	}
	return dialSocket(ctx, p.socket)
}

// Restore implements [Place].
func (p *Process) Restore(ctx context.Context, s Store, job string, e Entry) error {
	err := restore(ctx, s, job, e.Tree, p.root, p.known)
	if err == nil && e.State != "" {
		err = restore(ctx, s, job, e.State, p.state, p.known)
	}
	return err
}

// Save implements [Place].
func (p *Process) Save(ctx context.Context, s Store, job string) (tree, state string, err error) {
	if tree, err = save(ctx, s, job, p.root, p.known); err == nil {
		state, err = save(ctx, s, job, p.state, p.known)
	}
	return tree, state, err
}

// Folders returns the folder and that of the sessions.
func (p *Process) Folders() (folder, state *os.Root) { return p.root, p.state }

// Credential implements [Place].
func (p *Process) Credential() string { return p.credential }

// Ended implements [Place].
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Halt implements [Place].
func (p *Process) Halt() error { return p.halted() }

// Close implements [Place].
func (p *Process) Close() error { return p.thrown() }

// halt ends the job's processes.
func (p *Process) halt() error {
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
	}
	err := p.group.Close()
	<-p.ended
	return err
}

func (p *Process) throw() error {
	errs := []error{p.halted()}
	if p.attached != nil {
		errs = append(errs, p.attached.Close())
	}
	for _, r := range []*os.Root{p.root, p.state} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	if p.socket != nil {
		errs = append(errs, p.socket.Close())
	}
	if p.disk != nil {
		errs = append(errs, p.disk())
	}
	errs = append(errs, os.RemoveAll(p.base))
	p.m.held.Lock()
	delete(p.m.places, p)
	p.m.held.Unlock()
	return errors.Join(errs...)
}

// Close implements [Source].
func (m *machine) Close() error {
	m.stop()
	m.tasks.Wait()
	m.held.Lock()
	var list []*Process
	for p := range m.places {
		list = append(list, p)
	}
	m.held.Unlock()
	errs := make([]error, len(list))
	var all sync.WaitGroup
	for i, p := range list {
		all.Go(func() { errs[i] = p.Close() })
	}
	all.Wait()
	return errors.Join(append(errs, m.leaves())...)
}
