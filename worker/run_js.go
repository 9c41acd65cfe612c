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
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

const (
	credit    = 1 << 20               // bytes of output that may be sent and not yet acknowledged
	killGrace = 25 * time.Millisecond // for a broker to send the output that it still holds
	maxAsks   = 2_000_000             // requests of one run to the host
	maxTries  = 3                     // lost brokers that a job survives
	feedSize  = 256 << 10             // bytes of input read at once
	wholeSize = 1 << 20               // input in memory of up to this many bytes is sent with the start
)

// job is one run. The pool's loop owns the fields under "loop". main runs on a goroutine of its
// own.
type job struct {
	im     *poolImpl
	c      *Cmd
	v      *variant
	limits Limits
	files  *files
	tree   []byte
	stdin  []byte
	whole  bool // stdin is the complete input
	config string
	how    string          // mode, as returned by mode
	live   bool            // the program can wait for input, for room and for files
	ctx    context.Context // ends with the run
	cancel context.CancelFunc
	out    *jsx.Queue[output]
	want   chan struct{} // has a value when the program waits for input
	ended  chan struct{}

	// loop: fields owned by the pool's loop
	scope   *jsx.Scope
	slot    *frame.Slot
	queued  time.Time
	began   time.Time
	counted bool // the job is counted in queued
	tries   int
	disarm  func()
	over    bool

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
	v, err := c.module.variant(l.caps())
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
		scope: jsx.NewScope(jsx.ScopeOptions{}), queued: time.Now(), counted: true}
	j.live = im.live || c.module.glue != "" // a program of GOOS=js calls the host asynchronously in every engine
	j.ctx, j.cancel = context.WithCancel(c.ctx)
	c.proc = &process{done: make(chan struct{})}
	c.Process = &Process{Pid: int(im.pids.Add(1)), kill: func() { im.Do(func() { j.abort(errors.New("killed")) }) }}
	go j.main()
	return nil
}

// linked returns an error if the module imports a function that the command does not provide.
func (c *Cmd) linked() error {
	for _, i := range c.module.m.Imports {
		if i.Module == wasmbin.WASI || c.module.glue != "" || i.Kind != wasmbin.Func {
			continue
		}
		if c.call == nil || c.call.funcs[i.Module+"."+i.Name] == nil {
			return protocol.Errorf(protocol.ErrInvalidParams, "start", "", "the module imports the function %s.%s, which nobody provides", i.Module, i.Name)
		}
		if !c.pool.impl.live {
			return fmt.Errorf("worker: %s, so a module can't call functions of the host: %w", c.pool.impl.features().Missing, errors.ErrUnsupported)
		}
	}
	return nil
}

// main runs a job from its preparation to its result.
func (j *job) main() {
	defer j.cancel()
	written := make(chan error, 1)
	go func() { written <- j.drain() }()
	stop := context.AfterFunc(j.c.ctx, func() { j.im.Do(func() { j.abort(context.Cause(j.c.ctx)) }) })
	if err := j.prepare(); err != nil {
		j.im.Do(func() { j.settle(protocol.CodeOf(err), err.Error(), err) })
	} else {
		j.im.Do(func() {
			if !j.over {
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
	state := &ProcessState{exited: j.exited, code: j.code, stats: j.stats}
	j.c.proc.finish(state, j.result(state, err))
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
	n, err := j.files.writeBack(j.c.ctx, j.changes, j.c.Losing)
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
	j.how = j.mode()
	m := map[string]any{
		"args": c.Args, "env": env, "resolution": int64(j.im.pool.opts.ClockResolution), "wholeInput": j.whole,
		"mode":   j.how,
		"limits": map[string]any{"files": l.Files, "read": l.Read, "write": l.Write, "output": l.Output, "credit": credit},
	}
	if c.module.glue != "" {
		m["go"], m["dir"] = true, c.Dir
	}
	if !c.Now.IsZero() {
		m["time"] = fmt.Sprint(c.Now.UnixNano())
	}
	if c.Seed != 0 {
		m["seed"] = []uint32{uint32(c.Seed), uint32(c.Seed >> 32), 0x9e3779b9, 1}
	}
	if c.call != nil {
		m["call"], m["params"] = c.call.name, c.call.params
		var funcs []string
		for _, i := range c.module.m.Imports {
			if i.Module != wasmbin.WASI {
				funcs = append(funcs, i.Module+"\x00"+i.Name)
			}
		}
		m["hostFuncs"] = funcs
	}
	j.v.given(c.module, m)
	b, err := json.Marshal(m)
	return string(b), err
}

// given adds the memory and the table that a module imports to the map.
func (v *variant) given(m *Module, to map[string]any) {
	memory, table := m.m.Imported(v.caps)
	if memory != nil {
		to["memory"] = map[string]any{"initial": memory.Min, "maximum": memory.Max}
	}
	if table != nil {
		to["table"] = map[string]any{"element": "anyfunc", "initial": table.Min, "maximum": table.Max}
	}
}

// mode returns the reasons for which the program may have to wait, as letters: s for any, l for
// lazy files, i for input, f for a host function or poll_oneoff. A program that never waits runs
// faster. Waiting for room in the output is not needed if the output goes to memory anyway.
func (j *job) mode() string {
	if j.c.module.glue != "" {
		return ""
	}
	mode := ""
	if j.stats.Lazy {
		mode += "l"
	}
	if !j.whole {
		mode += "i"
	}
	for _, i := range j.c.module.m.Imports {
		if i.Module != wasmbin.WASI && i.Kind == wasmbin.Func || i.Name == "poll_oneoff" {
			mode += "f"
			break
		}
	}
	if mode != "" || !inMemory(j.c.Stdout) || !inMemory(j.c.Stderr) {
		mode += "s"
	}
	return mode
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
	j.slot, j.began = s, time.Now()
	j.dequeue()
	if j.tries == 0 {
		im.Count(func(st *frame.PoolStats) { st.Runs++ })
	}
	if err := j.post(s); err != nil {
		im.End(j, s, protocol.ErrSandbox, "the run could not be started: "+err.Error())
		return
	}
	j.arm(im.pool.opts.ReadyTimeout, protocol.ErrSandbox, "the module was not compiled in %v")
}

// arm ends the run after d. A later call replaces the timer.
func (j *job) arm(d time.Duration, code protocol.Code, why string) {
	if j.disarm != nil {
		j.disarm()
	}
	j.disarm, _ = j.scope.AfterFunc(d+killGrace, func() {
		j.im.Do(func() { j.im.End(j, j.slot, code, fmt.Sprintf(why, d)) })
	})
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
	start, err := jsx.ToJS(map[string]any{"op": "start", "gen": s.Gen, "module": j.v.id, "mode": j.how, "config": j.config, "limits": map[string]any{
		"time": l.Time.Milliseconds(), "output": float64(l.Output), "message": float64(l.Snapshot + l.Write + 1<<20), "asks": maxAsks,
	}})
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

// Retry reports whether the job may be given to another broker. Its program has not begun then.
func (j *job) Retry() bool {
	if j.over || j.tries >= maxTries {
		return false
	}
	if j.disarm != nil {
		j.disarm()
	}
	j.tries++
	j.slot, j.disarm = nil, nil
	return true
}

// Over reports whether the run has ended.
func (j *job) Over() bool { return j.over }

// Finish ends the run from outside.
func (j *job) Finish(code protocol.Code, why string) { j.settle(code, why, nil) }

// abort ends the run for its caller. The broker first sends the output that it still holds.
func (j *job) abort(cause error) {
	if j.over {
		return
	}
	code, why := protocol.ErrAborted, "the command was killed"
	if errors.Is(cause, context.DeadlineExceeded) {
		code, why = protocol.ErrTimeout, "the caller's deadline was reached"
	}
	if j.cause == nil {
		j.cause = cause
	}
	s := j.slot
	if s == nil || s.Job != j {
		j.settle(code, why, cause)
		return
	}
	_ = s.Data.Post(map[string]any{"op": "kill", "gen": s.Gen, "code": string(code), "message": why})
	_, _ = j.scope.AfterFunc(killGrace, func() { j.im.Do(func() { j.im.End(j, s, code, why) }) })
}

// settle ends the run with an error.
func (j *job) settle(code protocol.Code, why string, cause error) {
	if j.over {
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
	j.over = true
	j.dequeue()
	if !j.began.IsZero() {
		j.stats.Queued, j.stats.Duration = j.began.Sub(j.queued), time.Since(j.began)
	}
	_ = j.scope.Close()
	_ = j.out.Close()
	j.cancel()
	close(j.ended)
}
