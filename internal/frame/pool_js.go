package frame

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// Keeper handles the messages on the data ports of a pool.
type Keeper interface {
	// Read converts a message from a browser value. It runs in a callback.
	Read(jsx.Message) (any, error)
	// Heard handles a message that Read returned.
	Heard(*Slot, any)
	// Ping sends a ping to a broker, with the number that Slot.NextPing returns. When the
	// answer arrives, the keeper calls Slot.Pong and Pool.Up.
	Ping(*Slot)
	// Begin sends a job to a slot's broker.
	Begin(*Slot)
	// Quiet is called when the loop has nothing else to do.
	Quiet()
}

// Pool is the frames of one trust domain: one hidden outer frame, inner frames made in advance,
// and a broker in each. A broker has one job at a time. A frame is used again only after a job
// that ended by itself. After any kill it is removed.
//
// A Pool has one goroutine, the loop, that owns all fields below mu. Callbacks and other
// goroutines pass functions to it through the queue.
type Pool struct {
	ctx    context.Context // ends with the pool
	cancel context.CancelFunc
	queue  *jsx.Queue[func()]
	scope  *jsx.Scope
	done   chan struct{} // closed when the loop has ended
	opts   PoolOptions
	place  Placer
	keeper Keeper

	mu    sync.Mutex
	stats PoolStats
	err   error

	first    chan error // the outcome of the first frame, nil afterwards
	outer    *outerFrame
	slots    map[int]*Slot
	lastSlot int
	lastGen  int
	waiting  []Job
	kills    []time.Time
	losses   []time.Time
	held     bool // a replacement waits for the end of KillDelay
}

// Placer styles an outer frame and returns the element to append it to. With a nil Placer the
// frame is hidden.
type Placer func(el, page jsx.Value) (where jsx.Value, err error)

// outerFrame is one outer frame and the port of its script.
type outerFrame struct {
	el    jsx.Value
	scope *jsx.Scope
	port  *jsx.Port // nil before the hello
	beat
}

// Slot is one inner frame with its broker.
type Slot struct {
	ID      int
	Gen     int       // of its job, or of the last
	Data    *jsx.Port // host ↔ broker
	Job     Job       // while busy
	Started bool      // its broker has made the worker of the job. Set by the keeper
	Memo    any       // the keeper's own data for this broker

	born    time.Time
	scope   *jsx.Scope
	control *jsx.Port // host ↔ inner frame, nil before its hello
	worker  jsx.Value // the broker itself, of a direct pool
	state   SlotState
	ending  func() // cancels the timer of Ended
	beat
}

// State returns the state of the slot.
func (s *Slot) State() SlotState { return s.state }

// NewPool returns a pool. [Pool.Start] starts it.
func NewPool(opts PoolOptions, keeper Keeper, place Placer) *Pool {
	return &Pool{opts: opts, keeper: keeper, place: place, slots: map[int]*Slot{}, first: make(chan error, 1), done: make(chan struct{}),
		queue: jsx.Unbounded[func()](), scope: jsx.NewScope(jsx.ScopeOptions{})}
}

// Start makes the first frame and returns when it is ready. If ctx ends or ReadyTimeout passes
// before that, it closes the pool and returns an error.
func (p *Pool) Start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	first := p.first
	go p.loop()
	p.Do(p.begin)
	timeout := time.NewTimer(p.opts.ReadyTimeout)
	defer timeout.Stop()
	var err error
	select {
	case err = <-first:
	case <-timeout.C:
		err = protocol.Errorf(protocol.ErrSandbox, "enclave", "", "the frames were not ready after %v", p.opts.ReadyTimeout)
		if p.opts.URL != "" { // Firefox does not report that it blocked a frame
			err = fmt.Errorf("%w; %w", err, p.opts.Blocked())
		}
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		_ = p.Close()
	}
	return err
}

// Do runs fn on the loop. It never blocks, so callbacks may call it.
func (p *Pool) Do(fn func()) { _ = p.queue.Push(fn) }

func (p *Pool) loop() {
	defer close(p.done)
	for fn, err := range p.queue.All(p.ctx) {
		if err != nil {
			break
		}
		fn()
		if p.queue.Len() == 0 {
			p.keeper.Quiet()
		}
	}
	_ = p.queue.Close()
	for { // functions that came after the end of the loop
		fn, ok, _ := p.queue.TryRecv()
		if !ok {
			break
		}
		fn()
	}
	p.drain(protocol.ErrAborted, "the pool was closed")
	p.dropOuter(protocol.ErrAborted, "the pool was closed")
	_ = p.scope.Close()
}

// drain ends the jobs that wait.
func (p *Pool) drain(code protocol.Code, why string) {
	for _, j := range p.waiting {
		j.Finish(code, why)
	}
	p.waiting = nil
}

func (p *Pool) begin() {
	_, err := p.scope.Every(p.opts.Heartbeat, func() { p.Do(p.beat) })
	if err == nil {
		err = p.build()
	}
	if err != nil {
		p.Fail(err)
	}
}

// Fail ends the pool with err.
func (p *Pool) Fail(err error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	if p.first != nil {
		p.first <- err
		p.first = nil
	}
	p.drain(protocol.ErrSandbox, err.Error())
	p.cancel()
}

// Submit queues a job. It must be called on the loop.
func (p *Pool) Submit(j Job) {
	p.waiting = append(p.waiting, j)
	p.Assign()
}

// Assign gives waiting jobs to ready brokers, and makes more frames if there are too few.
func (p *Pool) Assign() {
	if p.ctx.Err() != nil {
		return
	}
	p.waiting = slices.DeleteFunc(p.waiting, Job.Over)
	for _, s := range p.slots {
		if len(p.waiting) == 0 {
			break
		}
		if s.state == SlotReady {
			next := 0
			if p.opts.Turn != nil {
				next = p.opts.Turn(p.waiting)
			}
			j := p.waiting[next]
			p.waiting = slices.Delete(p.waiting, next, next+1)
			s.state, s.Job, s.Started = SlotBusy, j, false
			p.keeper.Begin(s)
		}
	}
	free := 0
	for _, s := range p.slots {
		if s.state < SlotBusy {
			free++
		}
	}
	want := max(p.opts.Spare, len(p.waiting))
	if !p.standing() || p.held {
		return
	}
	for ; free < want && len(p.slots) < p.opts.Max; free++ {
		if d := KillDelay(time.Now(), p.kills); d > 0 {
			p.held = true
			_, _ = p.scope.AfterFunc(d, func() { p.Do(func() { p.held = false; p.addSlot(); p.Assign() }) })
			return
		}
		p.addSlot()
	}
}

// standing reports whether slots can be added.
func (p *Pool) standing() bool { return p.opts.Direct || p.outer != nil && p.outer.port != nil }

func (p *Pool) addSlot() {
	if !p.standing() || len(p.slots) >= p.opts.Max {
		return
	}
	p.lastSlot++
	s := p.newSlot(p.lastSlot)
	p.slots[s.ID] = s
	if p.opts.Direct {
		if err := p.spawn(s); err != nil {
			p.Fail(err)
		}
		return
	}
	if err := p.outer.port.Post(Note("add", s.ID)); err != nil {
		p.loseOuter(err.Error())
	}
}

// Ended records that the job of s has ended by itself. If its broker does not report within
// endGrace that the worker is gone, the frame is removed.
func (p *Pool) Ended(s *Slot) {
	s.Job, s.state = nil, SlotEnding
	gen := s.Gen
	s.ending, _ = s.scope.AfterFunc(endGrace, func() {
		p.Do(func() {
			if p.Live(s) && s.state == SlotEnding && s.Gen == gen {
				p.kill(s)
				p.Assign()
			}
		})
	})
}

// Idle records that the job of s has ended and its worker is gone, so the frame can be used
// again.
func (p *Pool) Idle(s *Slot) {
	if s.Job != nil {
		p.Stop(s, protocol.ErrSecurityViolation, "the broker reported idle before the result")
		return
	}
	if s.state != SlotEnding {
		return
	}
	s.ending()
	p.Count(func(st *PoolStats) { st.Reused++ })
	p.nextGen(s)
	s.state = SlotReady
	p.Assign()
}

// Up records that a broker listens. Its message came over the port, so both ends of the port
// have arrived.
func (p *Pool) Up(s *Slot) {
	if s.state != SlotStarting {
		return
	}
	s.state = SlotReady
	if p.first != nil {
		p.first <- nil
		p.first = nil
	}
	p.Assign()
}

// Live reports whether s is still in the pool.
func (p *Pool) Live(s *Slot) bool { return p.slots[s.ID] == s }

// Slots returns the live slots. It must be called on the loop.
func (p *Pool) Slots() map[int]*Slot { return p.slots }

// Context returns a context that ends with the pool.
func (p *Pool) Context() context.Context { return p.ctx }

// Done returns a channel that is closed when the pool has ended.
func (p *Pool) Done() <-chan struct{} { return p.done }

// Err returns the reason why the pool failed, or nil.
func (p *Pool) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Count changes the stats.
func (p *Pool) Count(fn func(*PoolStats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(&p.stats)
}

// Stats returns the current counts of the pool.
func (p *Pool) Stats() PoolStats {
	answer := make(chan PoolStats, 1)
	p.Do(func() {
		p.mu.Lock()
		st := p.stats
		p.mu.Unlock()
		st.Frames, st.Waiting = len(p.slots), len(p.waiting)
		for _, s := range p.slots {
			if s.state == SlotReady {
				st.Ready++
			}
			if s.Job != nil {
				st.Busy++
			}
		}
		answer <- st
	})
	select {
	case st := <-answer:
		return st
	case <-p.done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.stats
	}
}

// Close ends all jobs and removes the frames. It is idempotent.
func (p *Pool) Close() error {
	p.cancel()
	<-p.done
	return nil
}

// Forgive forgets kills and losses, for tests that make many of them.
func (p *Pool) Forgive() { p.kills, p.losses = nil, nil }

// Ports returns the ports of the outer frame and of a slot, for tests that break them.
func (p *Pool) Ports(s *Slot) (outer, control, data *jsx.Port) {
	if p.outer != nil {
		outer = p.outer.port
	}
	return outer, s.control, s.Data
}
