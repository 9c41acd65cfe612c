package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// poolImpl runs commands on the frames, or the workers, of a [frame.Pool]. The pool's loop owns
// all jobs and compiles.
type poolImpl struct {
	*frame.Pool
	pool     *Pool
	live     bool // JavaScript Promise Integration is available
	tick     bool // terminate() does not stop loops of WebAssembly, so modules get ticks
	pids     atomic.Int64
	queued   atomic.Int64
	modules  atomic.Int64
	compiles map[int]*compiling // by the module
}

// A compiling module is with a broker, whose answer Compile waits for.
type compiling struct {
	v      *variant
	in     *frame.Slot
	lost   int // brokers that were removed meanwhile
	answer chan error
}

// maxLost is the number of brokers that may be removed while they compile a module. It may be the module that ends them.
const maxLost = 3

// variantImpl is the value posted to brokers. A trusted pool's brokers get a module compiled in
// the page. Brokers in frames get bytes, because no compiled module can cross into another
// origin.
type variantImpl struct {
	code  jsx.Value
	ahead wire.Order // how to make an instance before a command needs it
}

func (im *poolImpl) start(ctx context.Context, p *Pool) error {
	im.pool, im.compiles = p, map[int]*compiling{}
	im.live = jsx.Supported("WebAssembly.Suspending") && jsx.Supported("WebAssembly.promising")
	// Measured in WebKitGTK 2.50. No feature test exists, only the vendor's name.
	if vendor, err := jsx.Lookup(jsx.Global(), "navigator.vendor"); err == nil {
		s, err := jsx.String(vendor, 100)
		im.tick = err == nil && strings.HasPrefix(s, "Apple")
	}
	o := p.opts
	im.Pool = frame.NewPool(frame.PoolOptions{
		Page: frame.DomainPage{PolicyName: o.TrustedTypesPolicy, Programs: frame.WasmPrograms()}, PolicyName: o.TrustedTypesPolicy, Direct: o.Trusted, Max: o.Max, Spare: o.Spare,
		ReadyTimeout: o.ReadyTimeout, Heartbeat: o.Heartbeat, Aborted: "the command was killed", Lost: ErrLost, Blocked: func() error { return blockedError(o.Trusted) }, Turn: im.turn, Apart: im.tick,
	}, im, nil)
	return im.Start(ctx)
}

func (im *poolImpl) turn(waiting []frame.Job) int {
	owners := make([]string, len(waiting))
	for i, j := range waiting {
		owners[i] = j.(*job).c.Owner
	}
	var running []string
	for _, s := range im.Slots() {
		if j, ok := s.Job.(*job); ok {
			running = append(running, j.c.Owner)
		}
	}
	return turn(owners, running)
}

func (im *poolImpl) features() Features {
	f := Features{LiveInput: im.live, LazyFiles: im.live, HostFuncs: im.live}
	if !im.live {
		f.Missing = "this browser has no JavaScript Promise Integration (WebAssembly.Suspending)"
	}
	return f
}

func (im *poolImpl) stats() PoolStats {
	s := im.Stats()
	return PoolStats{Workers: s.Frames, Ready: s.Ready, Busy: s.Busy, Waiting: s.Waiting,
		Runs: s.Runs, Reused: s.Reused, Kills: s.Kills, Lost: s.Lost, Rebuilt: s.Rebuilt}
}

func (im *poolImpl) close() error { return im.Close() }

func (v *variantImpl) set(ctx context.Context, p *Pool, of *variant, wasm []byte) error {
	of.id = int(p.impl.modules.Add(1))
	v.ahead = of.ahead()
	if p.impl.tick {
		var budget jsx.Budget
		rest := func(n int) error { return budget.Steps(ctx, n) }
		m, err := wasmbin.Parse(wasm, rest)
		if err == nil {
			wasm, err = m.Interruptible(rest)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "%w", err)
		}
	}
	code, err := jsx.FromBytes(wasm)
	v.code = code
	return err
}

// aheadPages is the most memory of an instance that is made ahead of a command: 32 MiB.
const aheadPages = 512

// ahead returns how to make an instance of a WASI command ahead of its run. It returns nil if
// making the instance would run code of the module or take more than aheadPages of memory.
func (v *variant) ahead() wire.Order {
	m := v.module.m
	if m.Start || v.module.kind != wasiProgram {
		return nil
	}
	for _, i := range m.Imports {
		if i.Kind == wasmbin.Func && i.Module != wasmbin.WASI {
			return nil
		}
	}
	for _, memory := range m.Memories {
		if memory.Min > aheadPages {
			return nil
		}
	}
	if memory, _ := m.Imported(v.caps); memory != nil && memory.Min > aheadPages {
		return nil
	}
	return wire.Ahead(v.given())
}

func (v *variantImpl) release(p *Pool, of *variant) {
	v.code = jsx.Undefined()
	p.impl.Do(func() {
		for _, s := range p.impl.Slots() {
			if known, _ := s.Memo.(map[int]bool); known[of.id] {
				delete(known, of.id)
				_ = s.Data.Post(wire.Forget(of.id))
			}
		}
	})
}

// compile compiles v: in the page for a trusted pool, and otherwise in the first broker that is
// ready, so that the page itself compiles no untrusted module.
func (im *poolImpl) compile(ctx context.Context, v *variant) error {
	if im.pool.opts.Trusted {
		class, err := jsx.Get(jsx.Global(), "WebAssembly")
		if err != nil {
			return err
		}
		code, err := jsx.CallAwait(ctx, class, "compile", v.impl.code)
		if err != nil {
			var e *jsx.Error
			if errors.As(err, &e) && e.Name == "CompileError" {
				return refused(e.Message)
			}
			return err
		}
		v.impl.code = code
		return nil
	}
	c := &compiling{v: v, answer: make(chan error, 1)}
	im.Do(func() {
		im.compiles[v.id] = c
		im.ask(c)
	})
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done():
		im.Do(func() { delete(im.compiles, v.id) })
		return ctx.Err()
	case <-im.Done():
		return im.gone()
	}
}

// ask gives a module to a broker that is up. If none is, the first run reports an error.
func (im *poolImpl) ask(c *compiling) {
	for _, s := range im.Slots() {
		if s.State() == frame.SlotReady || s.State() == frame.SlotBusy {
			c.in = s
			im.teach(s, c.v)
			return
		}
	}
	delete(im.compiles, c.v.id)
	c.answer <- nil
}

func refused(why string) error {
	return protocol.Errorf(protocol.ErrInvalidParams, "compile", "", "the browser refuses the module: %s", why)
}

func (im *poolImpl) gone() error {
	if err := im.Err(); err != nil {
		return err
	}
	return ErrClosed
}

// teach posts a module to a broker that does not have it yet.
func (im *poolImpl) teach(s *frame.Slot, v *variant) {
	known, _ := s.Memo.(map[int]bool)
	if known == nil {
		known = map[int]bool{}
		s.Memo = known
	}
	if !known[v.id] {
		known[v.id] = true
		glue := ""
		if v.module.kind == goProgram {
			glue = frame.GoGlue(v.module.glue)
		}
		if v.module.tool {
			glue = frame.ToolGlue(v.module.glue)
		}
		_ = s.Data.Post(wire.Learn(v.id, v.impl.code, glue, v.impl.ahead))
	}
}

// Read decodes a broker's message.
func (im *poolImpl) Read(m jsx.Message) (any, error) {
	if jsx.TypeOf(m.Data) == "string" {
		return jsx.String(m.Data, 16)
	}
	l := im.pool.opts.Limits
	return jsx.Bytes(m.Data, int(l.Snapshot+l.Write)+64<<20)
}

// Ping sends a broker a ping.
func (im *poolImpl) Ping(s *frame.Slot) {
	s.NextPing()
	_ = s.Data.Post(wire.Ping())
}

// Quiet gives a module whose broker was removed before it answered to another one.
func (im *poolImpl) Quiet() {
	for _, c := range im.compiles {
		if im.Live(c.in) {
			continue
		}
		if c.lost++; c.lost < maxLost {
			im.ask(c)
			continue
		}
		delete(im.compiles, c.v.id)
		c.answer <- fmt.Errorf("worker: compile: %d brokers ended while they compiled the module: %w", c.lost, ErrLost)
	}
}

// Heard handles a broker's message.
func (im *poolImpl) Heard(s *frame.Slot, m any) {
	s.Pong()
	switch m := m.(type) {
	case string:
		switch m {
		case frame.Ready, wire.Pong:
			im.Up(s)
		case frame.Idle:
			im.Idle(s)
		}
	case []byte:
		im.message(s, m)
	}
}

func (im *poolImpl) message(s *frame.Slot, b []byte) {
	u := jsx.Unpack(b)
	op, gen, err := wire.ReadHead(u)
	if err != nil {
		im.Stop(s, protocol.ErrSecurityViolation, "the broker sent a message that is not allowed")
		return
	}
	if op == wire.Compiled {
		why, _ := wire.ReadText(u)
		im.compiled(s, gen, why)
		return
	}
	j, ok := s.Job.(*job)
	if !ok || gen != s.Gen {
		return
	}
	if err := j.heard(s, op, u, b[wire.HeadSize:]); err != nil {
		im.Stop(s, protocol.CodeOf(err), err.Error())
	}
}

// compiled handles the end of a compile in a broker. why is empty if it succeeded.
func (im *poolImpl) compiled(s *frame.Slot, id int, why string) {
	c := im.compiles[id]
	delete(im.compiles, id)
	switch {
	case c == nil:
	case why != "":
		c.answer <- refused(why)
	default:
		c.answer <- nil
	}
}
