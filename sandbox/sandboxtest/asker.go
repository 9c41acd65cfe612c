package sandboxtest

import (
	"context"
	"sync"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// Asker answers requests by a function and keeps every prompt. The zero Asker
// rejects everything. It is safe for several goroutines.
type Asker struct {
	// Reply answers one request.
	Reply func(r sandbox.Request) sandbox.Reply

	mu      sync.Mutex
	prompts []sandbox.Prompt
}

// Always is an asker that gives one answer to everything.
func Always(a protocol.Answer) *Asker {
	return &Asker{Reply: func(sandbox.Request) sandbox.Reply { return sandbox.Reply{Answer: a} }}
}

// Script is an asker that gives the answers in turn, and then rejects.
func Script(answers ...sandbox.Reply) *Asker {
	a := &Asker{}
	a.Reply = func(sandbox.Request) sandbox.Reply { // called with mu held
		if len(answers) == 0 {
			return sandbox.Reply{Answer: protocol.AnswerReject, Reason: "the script has ended"}
		}
		r := answers[0]
		answers = answers[1:]
		return r
	}
	return a
}

// Ask is what makes it a [sandbox.Asker].
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

// Prompts is what was asked, in order.
func (a *Asker) Prompts() []sandbox.Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prompts[:len(a.prompts):len(a.prompts)]
}

// Requests is every request of every prompt.
func (a *Asker) Requests() []sandbox.Request {
	var out []sandbox.Request
	for _, p := range a.Prompts() {
		out = append(out, p.Requests...)
	}
	return out
}
