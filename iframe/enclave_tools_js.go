package iframe

import (
	"context"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/stopclock"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// tool executes a call on its own goroutine. It waits no longer than the tool's time limit, which pauses while a person
// is asked. A handler that ignores its context continues, but its result is dropped.
func (im *poolImpl) tool(s *frame.Slot, r *run, c *call) {
	t, args, err := im.lookup(c)
	if err != nil {
		im.answer(s, r, c, nil, err)
		return
	}
	limit := r.limits.ToolTime
	if t.Time > 0 {
		limit = min(limit, t.Time)
	}
	tooLate := protocol.Errorf(protocol.ErrTimeout, "call", t.ID, "no answer within %v", limit)
	ctx, clock := stopclock.Start(r.ctx, stopclock.Options{Limit: limit, Cause: context.DeadlineExceeded})
	defer clock.Stop()
	late := func() bool { return ctx.Err() != nil && r.ctx.Err() == nil }
	stop := context.AfterFunc(ctx, func() {
		if late() {
			im.answer(s, r, c, nil, tooLate)
		}
	})
	out, err := im.execute(ctx, t, args)
	stop()
	if late() {
		out, err = nil, tooLate
	}
	im.answer(s, r, c, out, err)
}

func (im *poolImpl) lookup(c *call) (t *protocol.Tool, args any, err error) {
	if t, err = im.opts.Tools.Lookup(c.m.Tool); err != nil {
		return nil, nil, err
	}
	if args = c.m.Args; args == nil {
		args = map[string]any{}
	}
	return t, args, t.Check(args)
}

func (im *poolImpl) execute(ctx context.Context, t *protocol.Tool, args any) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, protocol.Errorf(protocol.ErrExecution, "call", t.ID, "the tool failed")
		}
	}()
	if im.opts.Authorize != nil {
		if err := im.opts.Authorize(ctx, t, args); err != nil {
			return nil, err
		}
	}
	return t.Execute(ctx, args)
}

// answer settles a call that is still open.
func (im *poolImpl) answer(s *frame.Slot, r *run, c *call, out any, err error) {
	im.Do(func() {
		if r.open[c.m.CallID] != c {
			return // the run and its call have ended, or the call has timed out
		}
		delete(r.open, c.m.CallID)
		e := protocol.TraceEvent{Type: protocol.TraceTool, Time: c.at, DurationMS: since(c.at), Tool: c.m.Tool, Input: c.m.Args, Status: "ok", Output: out}
		answer := &enclave.MsgToolResponse{CallID: c.m.CallID, Result: out}
		if err != nil {
			p := protocol.Public(err)
			answer.Result, answer.Error = nil, &p
			e.Output, e.Status, e.Error = nil, "error", err.Error()
			if p.Code == protocol.ErrCapabilityDenied {
				e.Status = "denied"
			}
		}
		im.trace(r, e)
		if s.Job == r {
			im.send(s, answer)
		}
	})
}

func since(t time.Time) float64 { return float64(time.Since(t)) / float64(time.Millisecond) }
