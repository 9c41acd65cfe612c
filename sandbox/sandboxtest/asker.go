package sandboxtest

import (
	"context"
	"sync"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// An Asker is a [sandbox.Asker] that answers requests with a function, and records every prompt.
// The zero Asker rejects everything. It is safe for concurrent use.
type Asker struct {
	// Reply returns the answer to one request. It must not call the Asker's methods.
	Reply func(r sandbox.Request) sandbox.Reply

	mu      sync.Mutex
	prompts []sandbox.Prompt
}

// Always returns an asker that gives the same answer to every request.
func Always(a policy.Answer) *Asker {
	return &Asker{Reply: func(sandbox.Request) sandbox.Reply { return sandbox.Reply{Answer: a} }}
}

// Script returns an asker that gives the answers in order, and then rejects.
func Script(answers ...sandbox.Reply) *Asker {
	a := &Asker{}
	a.Reply = func(sandbox.Request) sandbox.Reply { // called with mu held
		if len(answers) == 0 {
			return sandbox.Reply{Answer: policy.AnswerReject, Reason: "the script has ended"}
		}
		r := answers[0]
		answers = answers[1:]
		return r
	}
	return a
}

// Ask implements [sandbox.Asker].
func (a *Asker) Ask(_ context.Context, p sandbox.Prompt) ([]sandbox.Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts = append(a.prompts, p)
	var out []sandbox.Reply
	for _, r := range p.Requests {
		if a.Reply == nil {
			out = append(out, sandbox.Reply{})
			continue
		}
		out = append(out, a.Reply(r))
	}
	return out, nil
}

// Prompts returns the prompts so far, in order.
func (a *Asker) Prompts() []sandbox.Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prompts[:len(a.prompts):len(a.prompts)]
}

// Requests returns the requests of all prompts, in order.
func (a *Asker) Requests() []sandbox.Request {
	var out []sandbox.Request
	for _, p := range a.Prompts() {
		out = append(out, p.Requests...)
	}
	return out
}
