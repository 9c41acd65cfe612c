package sandbox

import (
	"sync"
	"time"
)

// budget is the shared budget of a run and all subagents that it starts.
type budget struct {
	o        RunOptions
	deadline time.Time // zero is no deadline

	mu     sync.Mutex
	steps  int
	tokens int64
	money  float64
	agents int
}

// step takes one request from the budget, or returns the error of the budget that is used up. The
// tokens and money of running requests are not known yet.
func (b *budget) step() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.steps >= b.o.Steps:
		return errBudget("steps")
	case b.o.Tokens > 0 && b.tokens >= b.o.Tokens:
		return errBudget("tokens")
	case b.o.Money > 0 && b.money >= b.o.Money:
		return errBudget("money")
	}
	b.steps++
	return nil
}

// agent takes one subagent from the budget.
func (b *budget) agent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents >= b.o.Agents {
		return errBudget("subagents")
	}
	b.agents++
	return nil
}

func (b *budget) spend(u Usage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens += u.Input + u.Output
	b.money += (float64(u.Input)*b.o.Price.Input + float64(u.Output)*b.o.Price.Output) / 1e6
}

// spent returns the error of the budget that is used up, or nil.
func (b *budget) spent() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.o.Tokens > 0 && b.tokens >= b.o.Tokens:
		return errBudget("tokens")
	case b.o.Money > 0 && b.money >= b.o.Money:
		return errBudget("money")
	}
	return nil
}

// maxAlive is the maximum number of active subagents of a session, over all its runs.
const maxAlive = 8

// agentSlot takes a slot for an active subagent. The returned function frees it, once.
func (s *scope) agentSlot() (end func(), err error) {
	r := s.root
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alive >= maxAlive {
		return nil, errAlive
	}
	r.alive++
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.alive--
	}), nil
}
