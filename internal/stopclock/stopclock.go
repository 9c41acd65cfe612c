package stopclock

import (
	"context"
	"sync"
	"time"
)

// Most is the longest time for which one run of untrusted code may be paused in total. A person who needs longer
// finds the run ended, and code that raises questions gets no more time than this one.
const Most = time.Hour

// Options configure a [Clock].
type Options struct {
	Limit time.Duration
	// Cause is the cause with which the clock's context ends at the limit.
	Cause error
	// Late, if set, is called at the limit.
	Late func()
	// Most is the bound of the sum of all pauses. Time beyond it counts. 0 is no bound.
	Most time.Duration
	// Paused, if set, is called when the clock begins or ends to pause, in order. It must neither block nor use the clock.
	Paused func(on bool)
	// Busy starts the clock as busy, see [Clock.Busy].
	Busy bool
}

// Clock is a time limit. It is safe for concurrent use. A nil Clock has no limit.
type Clock struct {
	o      Options
	up     *Clock
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	below   map[*Clock]bool
	held    int // holds of this clock, and one if the clock above is held
	busy    bool
	running bool
	paused  bool
	left    time.Duration // of the limit
	room    time.Duration // of the pauses
	since   time.Time     // when the clock began to run or to pause
	timer   *time.Timer
	turn    int // of the timer
}

type key struct{}

func of(ctx context.Context) *Clock {
	c, _ := ctx.Value(key{}).(*Clock)
	return c
}

// New returns a clock that is not started, and a context with it. The context ends at the limit, and with [Clock.Stop].
func New(ctx context.Context, o Options) (context.Context, *Clock) {
	c := &Clock{o: o, up: of(ctx), busy: o.Busy, below: map[*Clock]bool{}}
	ctx, c.cancel = context.WithCancelCause(ctx)
	if up := c.up; up != nil {
		up.mu.Lock()
		defer up.mu.Unlock()
		up.below[c] = true
		if up.held > 0 {
			c.held = 1
		}
	}
	return context.WithValue(ctx, key{}, c), c
}

// Start returns a clock that is started, and a context with it.
func Start(ctx context.Context, o Options) (context.Context, *Clock) {
	ctx, c := New(ctx, o)
	c.Start()
	return ctx, c
}

// Without returns a context without a clock, for work that has limits of its own.
func Without(ctx context.Context) context.Context {
	if of(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, (*Clock)(nil))
}

// Hold pauses all clocks of the context until release is called. Further calls of release do nothing.
func Hold(ctx context.Context) (release func()) { return of(ctx).Hold() }

// Start starts the clock from its whole limit, again if it runs already.
func (c *Clock) Start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.paused = true, false
	c.left, c.room = c.o.Limit, c.o.Most
	c.run(c.left, c.late)
	c.settle()
}

// Rest stops the clock until its next Start. Its context goes on.
func (c *Clock) Rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
}

// Stop ends the clock and its context.
func (c *Clock) Stop() {
	if c.up != nil {
		c.up.mu.Lock()
		delete(c.up.below, c)
		c.up.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	c.cancel(context.Canceled)
}

func (c *Clock) stop() {
	c.running = false
	c.turn++
	if c.timer != nil {
		c.timer.Stop()
	}
}

// Hold pauses the clock, all clocks above it, and all below those, until release is called.
func (c *Clock) Hold() (release func()) {
	if c == nil {
		return func() {}
	}
	top := c
	for top.up != nil {
		top = top.up
	}
	return top.Pause()
}

// Pause pauses the clock and all clocks below it until release is called.
func (c *Clock) Pause() (release func()) {
	if c == nil {
		return func() {}
	}
	c.add(1)
	return sync.OnceFunc(func() { c.add(-1) })
}

// On returns a context that [Hold] pauses this clock with.
func (c *Clock) On(ctx context.Context) context.Context {
	for have := of(ctx); have != nil; have = have.up {
		if have == c {
			return ctx
		}
	}
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, c)
}

// Busy reports that what the clock limits is at work, so the clock runs even if it is held, or that it is at work no
// more.
func (c *Clock) Busy(busy bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = busy
	c.settle()
}

func (c *Clock) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.held > 0
	c.held += n
	if is := c.held > 0; is != was {
		for b := range c.below {
			b.add(n)
		}
	}
	c.settle()
}

// settle runs or pauses the clock as it must be now. mu is held.
func (c *Clock) settle() {
	pause := c.held > 0 && !c.busy && (c.o.Most == 0 || c.room > 0)
	if !c.running || pause == c.paused {
		return
	}
	spent := time.Since(c.since)
	c.paused = pause
	switch {
	case !pause:
		c.room -= spent
		c.run(c.left, c.late)
	case c.o.Most > 0:
		c.left = max(0, c.left-spent)
		c.run(c.room, func() { c.room = 0; c.settle() })
	default:
		c.left = max(0, c.left-spent)
		c.turn++
		c.timer.Stop()
		c.since = time.Now()
	}
	if c.o.Paused != nil {
		c.o.Paused(pause)
	}
}

// run calls do after d, with mu held, unless the clock is stopped or changed before.
func (c *Clock) run(d time.Duration, do func()) {
	if c.timer != nil {
		c.timer.Stop()
	}
	c.turn++
	turn := c.turn
	c.since = time.Now()
	c.timer = time.AfterFunc(d, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.turn == turn {
			do()
		}
	})
}

// late ends the clock at its limit. mu is held.
func (c *Clock) late() {
	c.stop()
	c.cancel(c.o.Cause)
	if c.o.Late != nil {
		c.o.Late()
	}
}
