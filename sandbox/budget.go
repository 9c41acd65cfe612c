package sandbox

import (
	"sync"
	"time"
)

// budget is what a run and all subagents that come from it may spend together.
type budget struct {
	o        RunOptions
	deadline time.Time // zero is none

	mu     sync.Mutex
	steps  int
	tokens int64
	money  float64
	agents int
}

// step takes one request to a model, or says which part of the budget is used up. The
// tokens and the money of requests that are under way are not known yet.
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

// agent takes one subagent.
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

// spent is why nothing more may be spent, or nil.
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

// maxAlive is how many subagents of a session are at work at the same time, over all its runs.
const maxAlive = 8

// agentSlot takes a place for a subagent, which the returned function gives back once.
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
