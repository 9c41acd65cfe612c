package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// clock is a time limit that pauses while the user is asked.
type clock struct {
	mu     sync.Mutex
	left   time.Duration
	since  time.Time
	timer  *time.Timer
	held   int
	cancel context.CancelCauseFunc
	limit  time.Duration
	now    func() time.Time
}

func newClock(ctx context.Context, limit time.Duration, now func() time.Time) (context.Context, *clock) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{left: limit, limit: limit, cancel: cancel, now: now, held: 1}
	return ctx, c
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held--; c.held > 0 {
		return
	}
	c.since = c.now()
	c.timer = time.AfterFunc(c.left, func() {
		c.cancel(protocol.Errorf(protocol.ErrTimeout, "call", "", "the tool took longer than %v; what it did until then is done", c.limit))
	})
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held > 1 {
		return
	}
	c.timer.Stop()
	c.left = max(time.Millisecond, c.left-c.now().Sub(c.since))
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	if c.timer != nil {
		c.timer.Stop()
	}
	c.cancel(context.Canceled)
}
