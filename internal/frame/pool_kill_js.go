package frame

import (
	"fmt"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// kill removes a frame. The order leaves no message behind: the data port, the workers, the
// frame. A later message finds no slot with this ID.
func (p *Pool) kill(s *Slot) {
	if !p.Live(s) {
		return
	}
	delete(p.slots, s.ID)
	if s.Data != nil {
		_ = s.Data.Close()
	}
	if s.control != nil {
		_ = s.control.Post(Note("kill", s.Gen))
	}
	if p.outer != nil && p.outer.port != nil {
		_ = p.outer.port.Post(Note("remove", s.ID))
	}
	_ = s.scope.Close()
	p.noteKill()
	if p.opts.Alone && p.ctx.Err() == nil {
		// The outer frame has the same thread, so it can't be asked to remove anything.
		p.dropOuter(protocol.ErrSandbox, "")
		if err := p.build(); err != nil {
			p.Fail(err)
		}
	}
}

func (p *Pool) noteKill() {
	now := time.Now()
	for len(p.kills) > 0 && now.Sub(p.kills[0]) > killWindow {
		p.kills = p.kills[1:]
	}
	p.kills = append(p.kills, now)
	p.Count(func(st *PoolStats) { st.Kills++ })
}

// Stop ends a slot's job with an error, and removes its frame.
func (p *Pool) Stop(s *Slot, code protocol.Code, why string) {
	p.kill(s)
	if j := s.Job; j != nil {
		j.Finish(code, why)
	}
	p.Assign()
}

// End ends a job early, whether it waits or runs. s is the slot that the job was given to, if
// any.
func (p *Pool) End(j Job, s *Slot, code protocol.Code, why string) {
	if s != nil && s.Job == j {
		p.Stop(s, code, why)
		return
	}
	j.Finish(code, why)
	p.Assign()
}

// Lose is Stop for a frame that died by itself. If its broker had not started the job, the job
// is given to another one.
func (p *Pool) Lose(s *Slot, why string) {
	if !p.Live(s) {
		return
	}
	p.Count(func(st *PoolStats) { st.Lost++ })
	if p.tooOften(why) {
		return
	}
	p.again(s)
	p.Stop(s, protocol.ErrSandbox, "the sandbox was lost: "+why)
}

// again puts the job of s at the front of the waiting jobs, if it was not started.
func (p *Pool) again(s *Slot) {
	if s.Job != nil && !s.Started && p.ctx.Err() == nil && s.Job.Retry() {
		p.waiting = append([]Job{s.Job}, p.waiting...)
		s.Job = nil
	}
}

func (p *Pool) loseOuter(why string) {
	if p.ctx.Err() != nil {
		return
	}
	p.Count(func(st *PoolStats) { st.Lost += max(1, len(p.slots)); st.Rebuilt++ })
	p.dropOuter(protocol.ErrSandbox, "the sandbox was lost: "+why)
	if p.tooOften(why) {
		return
	}
	if err := p.build(); err != nil {
		p.Fail(err)
	}
}

// tooOften counts a loss. If the frames are lost so often that new ones would be as well, it
// fails the pool and returns true.
func (p *Pool) tooOften(why string) bool {
	now := time.Now()
	for len(p.losses) > 0 && now.Sub(p.losses[0]) > rebuildWindow {
		p.losses = p.losses[1:]
	}
	p.losses = append(p.losses, now)
	if len(p.losses) <= 4*maxRebuilds {
		return false
	}
	p.Fail(fmt.Errorf("%w %d times in %v, at last: %s", p.opts.Lost, len(p.losses), rebuildWindow, why))
	return true
}

func (p *Pool) dropOuter(code protocol.Code, why string) {
	for _, s := range p.slots {
		delete(p.slots, s.ID)
		if s.Data != nil {
			_ = s.Data.Close()
		}
		_ = s.scope.Close()
		if code == protocol.ErrSandbox {
			p.again(s)
		}
		if s.Job != nil {
			s.Job.Finish(code, why)
		}
	}
	if p.outer != nil {
		_, _ = jsx.Call(p.outer.el, "remove")
		_ = p.outer.scope.Close()
		p.outer = nil
	}
}

// beat sends a ping to the outer frame and to all brokers, and removes those that did not
// answer.
func (p *Pool) beat() {
	if o := p.outer; !p.opts.Direct {
		if o == nil || o.port == nil {
			return
		}
		if o.lost(p.answers()) && !p.holds() {
			p.loseOuter("the outer frame does not answer")
			return
		}
		_ = o.port.Post(Note("ping", o.NextPing()))
	}
	for _, s := range p.slots {
		switch {
		case s.state < SlotReady:
			if time.Since(s.born) > p.opts.ReadyTimeout {
				p.Lose(s, "the inner frame was not ready")
			}
		case s.lost(false):
			p.Lose(s, "the broker does not answer")
		default:
			p.keeper.Ping(s)
		}
	}
}

// answers reports whether a broker has answered its last ping.
func (p *Pool) answers() bool {
	for _, s := range p.slots {
		if s.state >= SlotReady && s.silent <= 1 {
			return true
		}
	}
	return false
}

// holds reports whether code in a frame is running. Such code may block the outer frame's
// thread for as long as it may run.
func (p *Pool) holds() bool {
	if p.opts.Alone {
		for _, s := range p.slots {
			if s.Job != nil {
				return true
			}
		}
	}
	return false
}
