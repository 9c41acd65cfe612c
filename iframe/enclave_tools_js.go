package iframe

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// tool carries out a call. It runs on a goroutine of its own.
func (im *poolImpl) tool(s *slot, r *run, c *call) {
	out, err := im.execute(r, c)
	im.do(func() {
		if r.open[c.m.CallID] != c {
			return // the run has ended, and with it the call
		}
		delete(r.open, c.m.CallID)
		e := protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "ok", Output: out}
		answer := &protocol.MsgToolResponse{CallID: c.m.CallID, Result: out}
		if err != nil {
			p := protocol.Public(err)
			answer.Result, answer.Error = nil, &p
			e.Output, e.Status, e.Error = nil, "error", err.Error()
			if p.Code == protocol.ErrCapabilityDenied {
				e.Status = "denied"
			}
		}
		im.trace(r, e)
		if s.run == r {
			im.send(s, answer)
		}
	})
}

// execute asks, calls and waits no longer than the tool's time: a handler that does
// not honour its context goes on without anyone.
func (im *poolImpl) execute(r *run, c *call) (any, error) {
	t, err := im.opts.Tools.Lookup(c.m.Tool)
	if err != nil {
		return nil, err
	}
	args := c.m.Args
	if args == nil {
		args = map[string]any{}
	}
	if err := t.Check(args); err != nil {
		return nil, err
	}
	limit := r.limits.ToolTime
	if t.Time > 0 {
		limit = min(limit, t.Time)
	}
	ctx, cancel := context.WithTimeout(r.ctx, limit)
	defer cancel()
	type outcome struct {
		v   any
		err error
	}
	got := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{nil, protocol.Errorf(protocol.ErrExecution, "call", t.ID, "the tool failed")}
			}
			got <- o
		}()
		if im.opts.Authorize != nil {
			if o.err = im.opts.Authorize(ctx, t, args); o.err != nil {
				return
			}
		}
		o.v, o.err = t.Execute(ctx, args)
	}()
	select {
	case o := <-got:
		return o.v, o.err
	case <-ctx.Done():
		if r.ctx.Err() != nil {
			return nil, protocol.Errorf(protocol.ErrAborted, "call", t.ID, "the run has ended")
		}
		return nil, protocol.Errorf(protocol.ErrTimeout, "call", t.ID, "no answer within %v", limit)
	}
}

func since(t time.Time) float64 { return float64(time.Since(t)) / float64(time.Millisecond) }
