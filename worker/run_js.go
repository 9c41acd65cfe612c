package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

const (
	credit    = 1 << 20               // bytes of output that may be sent and not yet acknowledged
	killGrace = 25 * time.Millisecond // for a broker to send the output that it still holds
	maxAsks   = 2_000_000             // requests of one run to the host
	feedSize  = 256 << 10             // bytes of input read at once
	wholeSize = 1 << 20               // input in memory of up to this many bytes is sent with the start
)

// job is one run. The pool's loop owns the fields under "loop". main runs on a goroutine of its
// own.
type job struct {
	frame.Run
	im     *poolImpl
	c      *Cmd
	v      *variant
	limits Limits
	files  *files
	tree   []byte
	stdin  []byte
	whole  bool // stdin is the complete input
	config string
	waits  wire.Waits
	live   bool            // the program can wait for input, for room and for files
	ctx    context.Context // ends with the run
	cancel context.CancelFunc
	out    *jsx.Queue[output]
	want   chan struct{} // has a value when the program waits for input
	ended  chan struct{}

	// loop: fields owned by the pool's loop
	queued  time.Time
	counted bool // the job is counted in queued

	// set before ended is closed
	stats   Stats
	code    int // exit code
	exited  bool
	changes []change
	why     protocol.Code // if not exited
	reason  string
	cause   error
}

type output struct {
	fd byte
	b  []byte
}

func (im *poolImpl) begin(c *Cmd) error {
	l := im.pool.opts.Limits.narrow(c.Limits)
	v, err := c.module.variant(c.ctx, l.caps())
	if err != nil {
		return err
	}
	if err := c.linked(); err != nil {
		return err
	}
	f, err := newFiles(c.FS, c.Mounts, l)
	if err != nil {
		return err
	}
	if int(im.queued.Add(1)) > im.pool.opts.Queue+im.pool.opts.Max {
		im.queued.Add(-1)
		return ErrQueueFull
	}
	j := &job{im: im, c: c, v: v, limits: l, files: f, out: jsx.Unbounded[output](), want: make(chan struct{}, 1), ended: make(chan struct{}),
		queued: time.Now(), counted: true}
	j.Run = frame.NewRun(im.Pool, j)
	j.live = im.live || c.module.kind == goProgram // a program of GOOS=js calls the host asynchronously in every engine
	j.ctx, j.cancel = context.WithCancel(c.ctx)
	c.Process = &Process{Pid: int(im.pids.Add(1)), done: make(chan struct{}), kill: func() { im.Do(func() { j.abort(errors.New("killed")) }) }}
	go j.main(c.Process)
	return nil
}

// linked returns an error if the module imports a function that the command does not provide.
func (c *Cmd) linked() error {
	for _, i := range c.module.m.Imports {
		if i.Module == wasmbin.WASI || c.module.kind == goProgram || i.Kind != wasmbin.Func {
			continue
		}
		if c.call == nil || c.call.funcs[i.Module+"."+i.Name] == nil {
			return protocol.Errorf(protocol.ErrInvalidParams, "start", "", "the module imports the function %s.%s, which the host does not provide", i.Module, i.Name)
		}
		if !c.pool.impl.live {
			return fmt.Errorf("worker: %s, so a module can't call functions of the host: %w", c.pool.impl.features().Missing, errors.ErrUnsupported)
		}
	}
	return nil
}

// main runs a job from its preparation to its result, which it gives to p.
func (j *job) main(p *Process) {
	defer j.cancel()
	written := make(chan error, 1)
	go func() { written <- j.drain() }()
	stop := context.AfterFunc(j.c.ctx, func() { j.im.Do(func() { j.abort(context.Cause(j.c.ctx)) }) })
	if err := j.prepare(); err != nil {
		j.im.Do(func() { j.settle(protocol.CodeOf(err), err.Error(), err) })
	} else {
		j.im.Do(func() {
			if !j.Over() {
				j.im.Submit(j)
			}
		})
		go j.feed()
	}
	select {
	case <-j.ended:
	case <-j.im.Done():
		select {
		case <-j.ended:
		default: // the loop had ended before
			j.settle(protocol.ErrAborted, "the pool is closed", j.im.gone())
		}
	}
	stop()
	if !j.exited {
		j.closePipes() // so that no other command waits for this run's pipes
	}
	err := <-written
	j.closePipes()
	p.state = &ProcessState{exited: j.exited, code: j.code, stats: j.stats}
	p.err = j.result(p.state, err)
	close(p.done)
}

func (j *job) closePipes() {
	for _, c := range j.c.closers {
		_ = c.Close()
	}
	if p, ok := j.c.Stdin.(*pipeEnd); ok {
		_ = p.Close()
	}
}

// result writes the changes back and returns the error for Wait.
func (j *job) result(state *ProcessState, writing error) error {
	if !j.exited {
		return exitError(state, j.why, j.reason, j.cause)
	}
	n, err := j.files.writeBack(j.c.ctx, j.changes, j.c.Changing)
	state.stats.Changes = n
	if err == nil {
		err = writing
	}
	if j.code != 0 {
		return errors.Join(exitError(state, protocol.ErrExecution, "", nil), err)
	}
	return err
}

// prepare reads the files and, if it must be complete before the start, the input.
func (j *job) prepare() (err error) {
	if j.tree, err = j.files.pack(j.ctx, j.c.Files, j.live); err != nil {
		return err
	}
	for _, m := range j.files.mounts {
		j.stats.Lazy = j.stats.Lazy || m.lazy
	}
	if err := j.input(); err != nil {
		return err
	}
	j.config, err = j.encode()
	return err
}

// encode returns the run's configuration for the worker, as JSON.
func (j *job) encode() (string, error) {
	c, l := j.c, j.limits
	env := append([]string{}, c.Env...)
	if c.Dir != "" {
		env = append(env, "PWD="+c.Dir)
	}
	j.waits = j.mayWait()
	m := wire.Config{Args: c.Args, Env: env, Resolution: int64(j.im.pool.opts.ClockResolution), WholeInput: j.whole, Waits: j.waits}
	m.Limits.Files, m.Limits.Read, m.Limits.Write, m.Limits.Output, m.Limits.Credit = l.Files, l.Read, l.Write, l.Output, credit
	if c.module.kind == goProgram {
		m.Go, m.Dir = true, c.Dir
	}
	if !c.Now.IsZero() {
		m.Time = fmt.Sprint(c.Now.UnixNano())
	}
	if c.Seed != 0 {
		m.Seed = []uint32{uint32(c.Seed), uint32(c.Seed >> 32), 0x9e3779b9, 1}
	}
	if c.call != nil {
		m.Call, m.Params = &c.call.name, c.call.params
		for _, i := range c.module.m.Imports {
			if i.Module != wasmbin.WASI {
				m.HostFuncs = append(m.HostFuncs, i.Module+"\x00"+i.Name)
			}
		}
	}
	m.Memory, m.Table = j.v.given()
	b, err := json.Marshal(m)
	return string(b), err
}

// given returns the memory and the table that the module imports, or nil.
func (v *variant) given() (memory *wire.Range, table *wire.Table) {
	m, t := v.module.m.Imported(v.caps)
	if m != nil {
		memory = &wire.Range{Initial: m.Min, Maximum: m.Max}
	}
	if t != nil {
		table = wire.NewTable(wire.Range{Initial: t.Min, Maximum: t.Max})
	}
	return memory, table
}

// mayWait returns the reasons for which the program may have to wait. Waiting for room in the
// output is not needed if the output goes to memory anyway.
func (j *job) mayWait() (w wire.Waits) {
	if j.c.module.kind == goProgram {
		return 0
	}
	if j.stats.Lazy {
		w |= wire.WaitFiles
	}
	if !j.whole {
		w |= wire.WaitInput
	}
	for _, i := range j.c.module.m.Imports {
		if i.Module != wasmbin.WASI && i.Kind == wasmbin.Func || i.Name == "poll_oneoff" {
			w |= wire.WaitHost
			break
		}
	}
	if w != 0 || !inMemory(j.c.Stdout) || !inMemory(j.c.Stderr) {
		w |= wire.WaitAtAll
	}
	return w
}

func inMemory(w io.Writer) bool {
	switch w.(type) {
	case nil, *bytes.Buffer, *strings.Builder, *prefix:
		return true
	}
	return false
}

// Begin starts the job of s on its broker.
func (im *poolImpl) Begin(s *frame.Slot) {
	j := s.Job.(*job)
	j.Run.Begin(s)
	j.dequeue()
	if err := j.post(s); err != nil {
		j.Fail(frame.NotStarted, err)
		return
	}
	wait := im.pool.opts.ReadyTimeout
	_ = j.After(wait+killGrace, protocol.ErrSandbox, fmt.Sprintf("the module was not compiled in %v", wait))
}

func (j *job) dequeue() {
	if j.counted {
		j.counted = false
		j.im.queued.Add(-1)
	}
}

func (j *job) post(s *frame.Slot) error {
	l := j.limits
	// The message crosses into JavaScript in one call, because it holds only text and numbers. Each
	// buffer needs a call of its own.
	start, err := jsx.ToJS(wire.Start{Gen: s.Gen, Module: j.v.id, Waits: j.waits, Config: j.config,
		Time: l.Time, Output: l.Output, Message: l.Snapshot + l.Write + 1<<20, Asks: maxAsks}.Order())
	if err != nil {
		return err
	}
	var transfer []jsx.Value
	for name, b := range map[string][]byte{"tree": j.tree, "stdin": j.stdin} {
		if b == nil {
			continue
		}
		v, err := jsx.FromBytes(b)
		if err != nil {
			return err
		}
		buffer, err := jsx.Get(v, "buffer")
		if err != nil {
			return err
		}
		if err := jsx.Set(start, name, v); err != nil {
			return err
		}
		transfer = append(transfer, buffer)
	}
	j.im.teach(s, j.v)
	return s.Data.Post(start, transfer...)
}

// Finish ends the run from outside.
func (j *job) Finish(code protocol.Code, why string) { j.settle(code, why, nil) }

// abort ends the run for its caller. The broker first sends the output that it still holds.
func (j *job) abort(cause error) {
	if j.Over() {
		return
	}
	if j.cause == nil {
		j.cause = cause
	}
	j.Abort(cause, killGrace, func(s *frame.Slot, code protocol.Code, why string) {
		_ = s.Data.Post(wire.Kill(s.Gen, string(code), why))
	})
}

// settle ends the run with an error.
func (j *job) settle(code protocol.Code, why string, cause error) {
	if j.Over() {
		return
	}
	j.why, j.reason = code, why
	if j.cause == nil {
		j.cause = cause
	}
	j.close()
}

// close releases the run's resources and closes ended.
func (j *job) close() {
	j.Run.Close()
	j.dequeue()
	if !j.Began.IsZero() {
		j.stats.Queued, j.stats.Duration = j.Began.Sub(j.queued), time.Since(j.Began)
	}
	_ = j.out.Close()
	j.cancel()
	close(j.ended)
}
