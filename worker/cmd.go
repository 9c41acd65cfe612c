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
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// Cmd is a command that is being prepared or run, as in os/exec. Make one with [Pool.Command].
// It can't be used again after Run, Output, CombinedOutput or Start.
type Cmd struct {
	// Args are the arguments, with the program's name first: {"sort", "-n"}. They and Env
	// together have at most 1 MiB.
	Args []string

	// Env is the environment, as "key=value". nil is an empty environment: the program never
	// inherits the host's.
	Env []string

	// Dir is the value of PWD in the environment, a clean absolute path. Programs of Go take it
	// as their working directory. Programs of wasi-libc begin at / and ignore it. "" is "/".
	Dir string

	// Stdin is the program's standard input. It is read when the program asks for input, and up
	// to 384 KiB ahead. nil is empty input. Wait does not wait for a Read that is still blocked
	// when the program ends.
	Stdin io.Reader

	// Stdout and Stderr receive the program's output, in order, from one goroutine. nil
	// discards it. If a Write returns an error the program is killed.
	Stdout io.Writer
	Stderr io.Writer

	// FS is the file system at "/". nil is none. It is read-only if it does not implement
	// [WriteFS].
	FS fs.FS

	// Mounts are further file systems, by clean absolute path, at most 100 with FS. They are
	// not shown in FS's own listings.
	Mounts map[string]fs.FS

	// Files is how the program gets its files. Default [AutoFiles].
	Files FileMode

	// Changing, if set, is called once after a program that changed anything has exited, before
	// its first change is written back. It is given all the changes, in the order in which they
	// will be made. Paths are as the program names them ("/a"). If Changing returns an error
	// nothing is written back, and Wait returns that error.
	Changing func(ctx context.Context, changes []protocol.FileChange) error

	// Limits lower the pool's limits for this command.
	Limits Limits

	// Owner is the name of the party that the command runs for. Owners take turns in the queue.
	Owner string

	// Now, if not zero, is the start of a clock that advances only when the program reads it or
	// sleeps. With it and Seed a run can be repeated exactly.
	Now time.Time

	// Seed, if not zero, seeds the program's random numbers, so that a run can be repeated.
	// They are then predictable.
	Seed uint64

	// Process is the running program. It is nil before Start.
	Process *Process

	// ProcessState is the state of the program after it ended. It is nil before Wait or Run
	// returns.
	ProcessState *ProcessState

	pool    *Pool
	module  *Module
	ctx     context.Context
	err     error // an error of Command, returned by Start
	started bool
	waited  bool
	call    *call
	closers []io.Closer // ends of pipes, closed with the process
}

// Command returns a [Cmd] that runs module with name as its first argument, as in os/exec. The
// program is killed when ctx ends. If module can't run as a command, Start returns the error.
func (p *Pool) Command(ctx context.Context, module *Module, name string, arg ...string) *Cmd {
	c := &Cmd{Args: append([]string{name}, arg...), pool: p, module: module, ctx: ctx}
	switch {
	case module == nil || module.pool != p:
		c.err = errors.New("worker: Command: the module was not compiled by this pool")
	case module.kind == goProgram:
	case module.goJS():
		c.err = errors.New("worker: Command: the module is a program of GOOS=js; compile it by CompileJS, or build it with GOOS=wasip1")
	case module.kind != wasiProgram:
		c.err = errors.New("worker: Command: the module is not a WASI command; use Call for its functions")
	default:
		if _, ok := module.m.Export("_start"); !ok {
			c.err = errors.New("worker: Command: the module exports no _start, so it is a library and no command; use Call")
		}
	}
	return c
}

// String returns the arguments, joined by spaces.
func (c *Cmd) String() string { return strings.Join(c.Args, " ") }

// Run starts the command and waits for its end. It returns nil if the program exited with code
// 0 and its changes were written back. The other errors are those of Start and Wait.
func (c *Cmd) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// Output runs the command and returns its standard output, of a run that failed too. The
// [*ExitError] then holds the first 64 KiB of standard error, if Stderr was nil. Output returns
// an error at once if Stdout is set.
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

// CombinedOutput runs the command and returns its standard output and standard error together.
// It returns an error at once if Stdout or Stderr is set.
func (c *Cmd) CombinedOutput() ([]byte, error) {
	if c.Stdout != nil || c.Stderr != nil {
		return nil, errors.New("worker: Stdout or Stderr already set")
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return out.Bytes(), err
}

// prefix keeps the first bytes written to it and discards the rest.
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

// StdinPipe returns a pipe to the program's standard input. The pipe holds 256 KiB; a Write
// blocks when it is full. Close it at the end of the input.
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

// StdoutPipe returns a pipe from the program's standard output. The pipe holds 256 KiB and ends
// with the program. Wait returns only after all output has been taken, so read the pipe to its
// end or close it.
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

// StderrPipe returns a pipe like that of StdoutPipe, for standard error.
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

// pipeEnd is the type of a pipe that another command can have as its Stdin. It is closed with
// that command, so that the command that writes to it gets an error.
type pipeEnd struct{ *pipeReader }

// Start starts the command. It returns when the command runs or waits for a worker. The
// command's limits count from the moment it has a worker. The error is [ErrQueueFull] if too
// many commands wait, or describes a wrong field of the Cmd.
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

// Wait waits until a started command has ended, its output has been taken and its changes have
// been written back. It returns an [*ExitError] if the program did not exit with code 0, and a
// [*ConflictError] if its changes could not be written back because a file changed meanwhile.
// Call it once.
func (c *Cmd) Wait() error {
	if !c.started || c.Process == nil {
		return errors.New("worker: not started")
	}
	if c.waited {
		return errors.New("worker: Wait was already called")
	}
	c.waited = true
	<-c.Process.done
	c.ProcessState = c.Process.state
	return c.Process.err
}

// Process is a running program.
type Process struct {
	// Pid numbers the commands of a pool, from 1.
	Pid  int
	kill func()

	done  chan struct{} // closed at the end of the run
	state *ProcessState
	err   error // for Wait
}

// Kill ends the program at once. Wait then returns an [*ExitError] that wraps
// [protocol.ErrAborted]. Killing a program that has ended has no effect. Kill returns nil.
func (p *Process) Kill() error {
	p.kill()
	return nil
}

// outputContext returns a context that is never cancelled: output is still delivered after the
// command's own context has ended.
func (c *Cmd) outputContext() context.Context { return context.WithoutCancel(c.ctx) }

// call is one call of an exported function, by [Pool.Call].
type call struct {
	name    string
	params  []string
	funcs   map[string]func(ctx context.Context, args []any) (any, error)
	results chan []string
}

// exitError returns the error of a run that did not succeed.
func exitError(state *ProcessState, code protocol.Code, reason string, cause error) error {
	return &ExitError{ProcessState: state, Code: code, Reason: reason, cause: cause}
}
