// Package enclave gives package sandbox's tool code_run an enclave of package iframe to
// run in. The enclave's level and limits are the policy's; the tools that code calls go
// through the box, one by one, in the session that the code runs in.
//
//	tools := append(sandbox.Standard(), sandbox.CodeRun(enclave.New(policy)))
//
// The enclave is made at the first run, and lives until Close.
package enclave

import (
	"context"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// Runner is a [sandbox.CodeRunner] over [iframe.Enclave]. Runs of one Runner wait for
// one another.
type Runner struct {
	opts iframe.EnclaveOptions

	mu  sync.Mutex
	enc *iframe.Enclave
}

var _ sandbox.CodeRunner = (*Runner)(nil)

// New makes a runner with the limits of a policy. More options may be given; their
// level, limits and tools are the policy's and the box's own to set.
func New(p *policy.Policy, more ...iframe.EnclaveOptions) *Runner {
	r := &Runner{}
	for _, o := range more {
		r.opts = o
	}
	r.opts.Level, r.opts.Limits, _ = policy.Enclave(p)
	return r
}

// RunCode runs code in the enclave.
func (r *Runner) RunCode(ctx context.Context, tools *protocol.Toolset, code string, args any) (*protocol.RunResult, error) {
	enc, err := r.enclave(ctx, tools)
	if err != nil {
		return nil, err
	}
	res, err := enc.Run(ctx, code, iframe.RunOptions{Args: args})
	if res != nil && ctx.Err() == nil {
		return res, nil // what went wrong in the code is in the result
	}
	return res, err
}

// enclave makes the enclave once. The box's tools are the same for every run; which
// session a call belongs to is in the context.
func (r *Runner) enclave(ctx context.Context, tools *protocol.Toolset) (*iframe.Enclave, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.enc != nil {
		return r.enc, nil
	}
	o := r.opts
	o.Tools = tools
	enc, err := iframe.NewEnclave(ctx, o)
	r.enc = enc
	return enc, err
}

// Close ends what runs and removes the enclave. A later run makes another.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.enc == nil {
		return nil
	}
	enc := r.enc
	r.enc = nil
	return enc.Close()
}
