package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Cmd is a command that is prepared or runs, as in os/exec. It can't be used again after
// Run, Output, CombinedOutput or Start. Make one with [Pool.Command].
type Cmd struct {
	// Args are the arguments, the program's name first.
	Args []string

	// Env is the environment, as "key=value". nil is an empty one: nothing of the host's
	// is handed on.
	Env []string

	// Dir is set as PWD, which programs of Go take for their working directory; those of
	// wasi-libc begin at /, wherever that is. "" is "/".
	Dir string

	// Stdin is read as the program asks for it, and then up to 384 KiB ahead. nil is
	// empty. Wait does not wait for a Read that is under way when the program ends.
	Stdin io.Reader

	// Stdout and Stderr get what the program writes, in order, from one goroutine. nil
	// drops it. If a Write fails the program is killed.
	Stdout io.Writer
	Stderr io.Writer

	// FS is the file system at "/". nil is none. If it is no [WriteFS] it is read-only.
	FS fs.FS

	// Mounts are more of them, by absolute path. They are not shown in FS's own listings.
	Mounts map[string]fs.FS

	// Files says how the program gets its files.
	Files FileMode

	// Losing, if set, is called once, after the program has ended and before the first of its
	// changes is written back, if it removed files or moved some away: lost is the new name of
	// each by its old one, "" for one that was removed, both as the program has them ("/a").
	// If it returns an error nothing is written back, and Wait returns that error.
	Losing func(ctx context.Context, lost map[string]string) error

	// Limits narrow the pool's.
	Limits Limits

	// Owner is for whom the command runs: owners take turns in a queue.
	Owner string

	// Now, if not zero, gives the program a clock that begins there and moves only as
	// it is looked at and slept on, so that runs can be repeated.
	Now time.Time

	// Seed, if not zero, makes the program's random numbers those of a generator with
	// this seed: for runs that must be repeated. They are not random then.
	Seed uint64

	// Process is the run, once started.
	Process *Process

	// ProcessState is how it ended, after Wait or Run.
	ProcessState *ProcessState

	pool    *Pool
	module  *Module
	ctx     context.Context
	err     error // of Command, returned by Start
	started bool
	waited  bool
	call    *call
	proc    *process
	closers []io.Closer // ends of pipes that close with the process
}

// Command returns a command that runs module with the arguments, name being the first of
// them, as in os/exec. The end of ctx kills the program.
func (p *Pool) Command(ctx context.Context, module *Module, name string, arg ...string) *Cmd {
	c := &Cmd{Args: append([]string{name}, arg...), pool: p, module: module, ctx: ctx}
	switch {
	case module == nil || module.pool != p:
		c.err = errors.New("worker: Command: the module was not compiled by this pool")
	case module.glue != "":
	case module.goJS():
		c.err = errors.New("worker: Command: the module is a program of GOOS=js; compile it by CompileGo, or build it with GOOS=wasip1")
	case !module.wasi:
		c.err = errors.New("worker: Command: the module is no WASI command; use Call for its functions")
	default:
		if _, ok := module.m.Export("_start"); !ok {
			c.err = errors.New("worker: Command: the module exports no _start, so it is a library and no command; use Call")
		}
	}
	return c
}

// String is the command line.
func (c *Cmd) String() string { return strings.Join(c.Args, " ") }

// Run starts the command and waits for its end. The error is an [*ExitError] if the program
// did not succeed.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the command and returns its standard output, of a run that failed too. The
// [*ExitError] then has its standard error, if Stderr was nil.
func (c *Cmd) Output() ([]byte, error) {
	if c.Stdout != nil {
		return nil, errors.New("worker: Stdout already set")
	}
	var out, stderr bytes.Buffer
	c.Stdout = &out
	capture := c.Stderr == nil
	if capture {
		c.Stderr = &prefix{w: &stderr, left: 64 << 10}
	}
	err := c.Run()
	var exit *ExitError
	if capture && errors.As(err, &exit) {
		exit.Stderr = stderr.Bytes()
	}
	return out.Bytes(), err
}

// CombinedOutput runs the command and returns its standard output and error.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	if c.Stdout != nil || c.Stderr != nil {
		return nil, errors.New("worker: Stdout or Stderr already set")
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}

// prefix keeps the first bytes.
type prefix struct {
	w    *bytes.Buffer
	left int
}

func (p *prefix) Write(b []byte) (int, error) {
	n := min(len(b), p.left)
	p.left -= n
	_, err := p.w.Write(b[:n])
	return len(b), err
}

// StdinPipe returns a pipe to the program's standard input, which holds 256 KiB. Close it
// when there is no more.
func (c *Cmd) StdinPipe() (io.WriteCloser, error) {
	if c.Stdin != nil || c.started {
		return nil, errors.New("worker: Stdin already set, or the command has been started")
	}
	p := newPipe()
	r := &pipeReader{p}
	c.Stdin = r
	c.closers = append(c.closers, r)
	return &pipeWriter{p}, nil
}

// StdoutPipe returns a pipe from the program's standard output, which holds 256 KiB. It ends
// with the program; read it to its end, or close it, for Wait returns when everything has
// been taken.
func (c *Cmd) StdoutPipe() (io.ReadCloser, error) {
	if c.Stdout != nil || c.started {
		return nil, errors.New("worker: Stdout already set, or the command has been started")
	}
	p := newPipe()
	w := &pipeWriter{p}
	c.Stdout = w
	c.closers = append(c.closers, w)
	return &pipeEnd{&pipeReader{p}}, nil
}

// StderrPipe is StdoutPipe for standard error.
func (c *Cmd) StderrPipe() (io.ReadCloser, error) {
	if c.Stderr != nil || c.started {
		return nil, errors.New("worker: Stderr already set, or the command has been started")
	}
	p := newPipe()
	w := &pipeWriter{p}
	c.Stderr = w
	c.closers = append(c.closers, w)
	return &pipeEnd{&pipeReader{p}}, nil
}

// pipeEnd is what a command may have as its Stdin: it is closed with that command, which
// tells the one before it that nobody reads any more.
type pipeEnd struct{ *pipeReader }

// Start starts the command. It returns when the command is under way or waits for a
// worker; its limits count from when it has one.
func (c *Cmd) Start() error {
	if c.err != nil {
		return c.err
	}
	if c.started {
		return errors.New("worker: already started")
	}
	c.started = true
	err := c.check()
	if err == nil {
		err = c.pool.impl.begin(c)
	}
	if err != nil {
		for _, cl := range c.closers {
			_ = cl.Close()
		}
	}
	return err
}

func (c *Cmd) check() error {
	if c.ctx == nil {
		return errors.New("worker: Command needs a context")
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		return errors.New("worker: Cmd.Args is empty; the program's name comes first")
	}
	total := 0
	for _, list := range [][]string{c.Args, c.Env} {
		for _, s := range list {
			if strings.ContainsRune(s, 0) {
				return fmt.Errorf("worker: an argument or a variable has a NUL byte: %q", s)
			}
			total += len(s) + 1
		}
	}
	if total > maxArgs {
		return fmt.Errorf("worker: arguments and environment have %d bytes; the limit is %d", total, maxArgs)
	}
	for _, s := range c.Env {
		if i := strings.IndexByte(s, '='); i < 1 {
			return fmt.Errorf("worker: Cmd.Env: %q: want key=value", s)
		}
	}
	if c.Dir != "" && (!path.IsAbs(c.Dir) || path.Clean(c.Dir) != c.Dir) {
		return fmt.Errorf("worker: Cmd.Dir: %q: want a clean absolute path", c.Dir)
	}
	if c.Files > LazyFiles {
		return fmt.Errorf("worker: Cmd.Files: unknown mode %d", c.Files)
	}
	return c.Limits.check()
}

// maxArgs bounds arguments and environment together, in bytes.
const maxArgs = 1 << 20

// Wait waits for the end of a command that was started: for its end, for all that it wrote
// to be taken, for its changes to be written back.
func (c *Cmd) Wait() error {
	if !c.started || c.proc == nil {
		return errors.New("worker: not started")
	}
	if c.waited {
		return errors.New("worker: Wait was already called")
	}
	c.waited = true
	<-c.proc.done
	c.ProcessState = c.proc.state
	return c.proc.err
}

// Process is a run.
type Process struct {
	// Pid numbers the runs of a program.
	Pid  int
	kill func()
}

// Kill ends the program at once. Wait then returns an [*ExitError] that is
// [protocol.ErrAborted]. Killing what has ended does nothing.
func (p *Process) Kill() error {
	p.kill()
	return nil
}

// process is what Wait waits for.
type process struct {
	once  sync.Once
	done  chan struct{}
	state *ProcessState
	err   error
}

func (p *process) finish(state *ProcessState, err error) {
	p.once.Do(func() {
		p.state, p.err = state, err
		close(p.done)
	})
}

// outputContext does not end: what was written is handed on after the command's own
// context has ended, too.
func (c *Cmd) outputContext() context.Context { return context.WithoutCancel(c.ctx) }

// call is a function of a plain module to be called.
type call struct {
	name    string
	params  []string
	funcs   map[string]HostFunc
	results chan []string
}

// exitError makes the error of a run that did not succeed.
func exitError(state *ProcessState, code protocol.Code, reason string, cause error) error {
	return &ExitError{ProcessState: state, Code: code, Reason: reason, cause: cause}
}
