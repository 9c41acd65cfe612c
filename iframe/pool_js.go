package iframe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// endGrace is how long a worker may take to end idly after its result.
const endGrace = 500 * time.Millisecond

// poolImpl is one goroutine, the loop, that owns all fields below mu. What comes
// from callbacks and other goroutines goes through the queue.
type poolImpl struct {
	ctx    context.Context // ends with the pool
	cancel context.CancelFunc
	queue  *jsx.Queue[func()]
	scope  *jsx.Scope
	done   chan struct{} // the loop has ended
	opts   PoolOptions
	page   frame.DomainPage
	ids    *protocol.IDs

	mu    sync.Mutex
	stats PoolStats
	err   error

	first    chan error // the outcome of the first frame; nil afterwards
	outer    *outerFrame
	outers   int
	slots    map[int]*slot
	lastSlot int
	lastGen  int
	waiting  []*run
	kills    []time.Time
	losses   []time.Time
	held     bool // a replacement waits for the end of killDelay
}

// outerFrame is one outer frame and the port of its script.
type outerFrame struct {
	el    jsx.Value
	scope *jsx.Scope
	port  *jsx.Port // nil before the hello
	beat
}

// slot is one inner frame with its broker.
type slot struct {
	id      int
	born    time.Time
	scope   *jsx.Scope
	control *jsx.Port // host ↔ inner frame; nil before its hello
	data    *jsx.Port // host ↔ broker
	gen     int       // of its run, or of the last
	state   slotState
	run     *run // while busy
	started bool // its broker has made the worker of run
	beat

	answers     []string // to calls, not posted yet
	answerBytes int
}

type slotState uint8

const (
	slotStarting slotState = iota // the broker was not heard of
	slotProving                   // it said ready and was asked for a sign of life
	slotReady                     // it waits for a run
	slotBusy
	slotEnding // its run has ended, its worker perhaps not
)

// beat counts pings that stay unanswered.
type beat struct{ sent, silent int }

func (b *beat) pong() { b.silent = 0 }

func (b *beat) next() int {
	b.sent++
	b.silent++
	return b.sent
}

func newPool(ctx context.Context, opts PoolOptions) (*EnclavePool, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &EnclavePool{}
	im := &p.impl
	var err error
	if im.ids, err = protocol.NewIDs("run"); err != nil {
		return nil, err
	}
	im.opts = opts
	if im.page, err = opts.page(); err != nil {
		return nil, err
	}
	im.ctx, im.cancel = context.WithCancel(context.WithoutCancel(ctx))
	im.queue = jsx.Unbounded[func()]()
	im.scope = jsx.NewScope(jsx.ScopeOptions{})
	im.done = make(chan struct{})
	im.first = make(chan error, 1)
	im.slots = map[int]*slot{}
	first := im.first
	go im.loop()
	im.do(im.begin)
	timeout := time.NewTimer(opts.ReadyTimeout)
	defer timeout.Stop()
	select {
	case err = <-first:
	case <-timeout.C:
		err = protocol.Errorf(protocol.ErrSandbox, "enclave", "", "the frames were not ready after %v", opts.ReadyTimeout)
		if opts.URL != "" { // Firefox doesn't tell that it kept a frame from loading
			err = fmt.Errorf("%w; %w", err, im.blocked())
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = im.close()
		return nil, err
	}
	return p, nil
}

// do runs fn on the loop. It never blocks, so callbacks may call it.
func (im *poolImpl) do(fn func()) { _ = im.queue.Push(fn) }

func (im *poolImpl) loop() {
	defer close(im.done)
	for fn, err := range im.queue.All(im.ctx) {
		if err != nil {
			break
		}
		fn()
		if im.queue.Len() == 0 {
			for _, s := range im.slots {
				im.flush(s)
			}
		}
	}
	_ = im.queue.Close()
	for { // what came too late to be heard
		fn, ok, _ := im.queue.TryRecv()
		if !ok {
			break
		}
		fn()
	}
	for _, r := range im.waiting {
		im.finish(r, protocol.ErrAborted, "the pool was closed")
	}
	im.waiting = nil
	im.dropOuter(protocol.ErrAborted, "the pool was closed")
	_ = im.scope.Close()
}

func (im *poolImpl) begin() {
	_, err := im.scope.Every(im.opts.Heartbeat, func() { im.do(im.beat) })
	if err == nil {
		err = im.build()
	}
	if err != nil {
		im.fail(err)
	}
}

// fail ends the pool with err.
func (im *poolImpl) fail(err error) {
	im.mu.Lock()
	if im.err == nil {
		im.err = err
	}
	im.mu.Unlock()
	if im.first != nil {
		im.first <- err
		im.first = nil
	}
	for _, r := range im.waiting {
		im.finish(r, protocol.ErrSandbox, err.Error())
	}
	im.waiting = nil
	im.cancel()
}

// assign gives runs that wait to brokers that are ready, and makes more frames
// where there are too few.
func (im *poolImpl) assign() {
	if im.ctx.Err() != nil {
		return
	}
	for _, s := range im.slots {
		for len(im.waiting) > 0 && s.state == slotReady {
			r := im.waiting[0]
			im.waiting = im.waiting[1:]
			if !r.over { // else aborted while it waited
				im.beginRun(s, r)
			}
		}
	}
	free := 0
	for _, s := range im.slots {
		if s.state < slotBusy {
			free++
		}
	}
	want := max(im.opts.Spare, len(im.waiting))
	if im.outer == nil || im.outer.port == nil || im.held {
		return
	}
	for ; free < want && len(im.slots) < im.opts.Max; free++ {
		if d := killDelay(time.Now(), im.kills); d > 0 {
			im.held = true
			_, _ = im.scope.AfterFunc(d, func() { im.do(func() { im.held = false; im.addSlot(); im.assign() }) })
			return
		}
		im.addSlot()
	}
}

func (im *poolImpl) addSlot() {
	if im.outer == nil || im.outer.port == nil || len(im.slots) >= im.opts.Max {
		return
	}
	im.lastSlot++
	s := im.newSlot(im.lastSlot)
	im.slots[s.id] = s
	if err := im.outer.port.Post(frame.Note("add", s.id)); err != nil {
		im.loseOuter(err.Error())
	}
}

// kill removes a frame, in the order that leaves no message behind: the data port,
// the workers, the frame. What comes later finds no slot of that number.
func (im *poolImpl) kill(s *slot) {
	if im.slots[s.id] != s {
		return
	}
	delete(im.slots, s.id)
	if s.data != nil {
		_ = s.data.Close()
	}
	if s.control != nil {
		_ = s.control.Post(frame.Note("kill", s.gen))
	}
	if im.outer != nil && im.outer.port != nil {
		_ = im.outer.port.Post(frame.Note("remove", s.id))
	}
	_ = s.scope.Close()
	im.noteKill()
	if im.opts.dom != nil && im.ctx.Err() == nil {
		// Its thread is the outer frame's too, which can't be asked to remove anything.
		im.dropOuter(protocol.ErrSandbox, "")
		if err := im.build(); err != nil {
			im.fail(err)
		}
	}
}

func (im *poolImpl) noteKill() {
	now := time.Now()
	for len(im.kills) > 0 && now.Sub(im.kills[0]) > killWindow {
		im.kills = im.kills[1:]
	}
	im.kills = append(im.kills, now)
	im.count(func(st *PoolStats) { st.Kills++ })
}

// stop ends a slot's run with an error and its frame with it.
func (im *poolImpl) stop(s *slot, code protocol.Code, why string) {
	im.kill(s)
	if r := s.run; r != nil {
		im.finish(r, code, why)
	}
	im.assign()
}

// loseSlot is stop for a frame that died by itself.
func (im *poolImpl) loseSlot(s *slot, why string) {
	if im.slots[s.id] != s {
		return
	}
	im.count(func(st *PoolStats) { st.Lost++ })
	if im.tooOften(why) {
		return
	}
	if s.run != nil && im.again(s.run, s.started) {
		s.run = nil
	}
	im.stop(s, protocol.ErrSandbox, "the sandbox was lost: "+why)
}

func (im *poolImpl) loseOuter(why string) {
	if im.ctx.Err() != nil {
		return
	}
	im.count(func(st *PoolStats) { st.Lost += max(1, len(im.slots)); st.Rebuilt++ })
	im.dropOuter(protocol.ErrSandbox, "the sandbox was lost: "+why)
	if im.tooOften(why) {
		return
	}
	if err := im.build(); err != nil {
		im.fail(err)
	}
}

// tooOften ends a pool whose frames die faster than it makes sense to make them.
func (im *poolImpl) tooOften(why string) bool {
	now := time.Now()
	for len(im.losses) > 0 && now.Sub(im.losses[0]) > rebuildWindow {
		im.losses = im.losses[1:]
	}
	im.losses = append(im.losses, now)
	if len(im.losses) <= 4*maxRebuilds {
		return false
	}
	im.fail(fmt.Errorf("%w %d times in %v, at last: %s", ErrFrameLost, len(im.losses), rebuildWindow, why))
	return true
}

func (im *poolImpl) dropOuter(code protocol.Code, why string) {
	for _, s := range im.slots {
		delete(im.slots, s.id)
		if s.data != nil {
			_ = s.data.Close()
		}
		_ = s.scope.Close()
		if s.run != nil && !(code == protocol.ErrSandbox && im.again(s.run, s.started)) {
			im.finish(s.run, code, why)
		}
	}
	if im.outer != nil {
		_, _ = jsx.Call(im.outer.el, "remove")
		_ = im.outer.scope.Close()
		im.outer = nil
	}
}

// beat asks everything for a sign of life.
func (im *poolImpl) beat() {
	o := im.outer
	if o == nil || o.port == nil {
		return
	}
	if o.silent >= silentBeats && !im.holds() {
		im.loseOuter("the outer frame does not answer")
		return
	}
	_ = o.port.Post(frame.Note("ping", o.next()))
	for _, s := range im.slots {
		switch {
		case s.state < slotReady:
			if time.Since(s.born) > im.opts.ReadyTimeout {
				im.loseSlot(s, "the inner frame was not ready")
			}
		case s.silent >= silentBeats:
			im.loseSlot(s, "the broker does not answer")
		default:
			im.ping(s)
		}
	}
}

// holds reports whether code in a frame is at work, which may hold the outer frame's
// thread as long as it may run.
func (im *poolImpl) holds() bool {
	if im.opts.dom != nil {
		for _, s := range im.slots {
			if s.run != nil {
				return true
			}
		}
	}
	return false
}

func (im *poolImpl) count(fn func(*PoolStats)) {
	im.mu.Lock()
	defer im.mu.Unlock()
	fn(&im.stats)
}

func (im *poolImpl) snapshot() PoolStats {
	answer := make(chan PoolStats, 1)
	im.do(func() {
		im.mu.Lock()
		st := im.stats
		im.mu.Unlock()
		st.Frames, st.Waiting = len(im.slots), len(im.waiting)
		for _, s := range im.slots {
			if s.state == slotReady {
				st.Ready++
			}
			if s.run != nil {
				st.Busy++
			}
		}
		answer <- st
	})
	select {
	case st := <-answer:
		return st
	case <-im.done:
		im.mu.Lock()
		defer im.mu.Unlock()
		return im.stats
	}
}

func (im *poolImpl) close() error {
	im.cancel()
	<-im.done
	return nil
}
