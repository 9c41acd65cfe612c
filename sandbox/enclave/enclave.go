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
	"encoding/json"
	"errors"
	"strings"
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

	mu   sync.Mutex
	encs map[string]*iframe.Enclave // by the ids of their tools
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
	res, err := enc.Run(context.WithValue(ctx, runTools{}, tools), code, iframe.RunOptions{Args: args, OnConsole: func(row protocol.ConsoleRow) {
		sandbox.Tell(ctx, said(row))
	}})
	if res != nil && ctx.Err() == nil {
		return res, nil // what went wrong in the code is in the result
	}
	return res, err
}

// said is a call of console as a line.
func said(row protocol.ConsoleRow) string {
	words := []string{}
	for _, a := range row.Args {
		if s, ok := a.(string); ok {
			words = append(words, s)
		} else if b, err := json.Marshal(a); err == nil {
			words = append(words, string(b))
		}
	}
	return strings.Join(words, " ")
}

// enclave makes the enclave once. The box's tools are the same for every run; which
// session a call belongs to is in the context.
func (r *Runner) enclave(ctx context.Context, tools *protocol.Toolset) (*iframe.Enclave, error) {
	ids, set, err := forwarding(tools)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if enc := r.encs[ids]; enc != nil {
		return enc, nil
	}
	o := r.opts
	o.Tools = set
	enc, err := iframe.NewEnclave(ctx, o)
	if err != nil {
		return nil, err
	}
	if r.encs == nil {
		r.encs = map[string]*iframe.Enclave{}
	}
	r.encs[ids] = enc
	return enc, nil
}

// runTools is the context's key of the tools of a run.
type runTools struct{}

// forwarding are tools that do what the run's own do: an enclave outlives a run, and the
// next may be another box's, such as a plan's over a copy of the folder.
func forwarding(tools *protocol.Toolset) (ids string, set *protocol.Toolset, err error) {
	set = &protocol.Toolset{}
	for t := range tools.All() {
		own := *t
		own.Execute = func(ctx context.Context, args any) (any, error) {
			current, _ := ctx.Value(runTools{}).(*protocol.Toolset)
			if current == nil {
				return nil, protocol.Errorf(protocol.ErrSession, "call", own.ID, "the run has no tools")
			}
			t, err := current.Lookup(own.ID)
			if err != nil {
				return nil, err
			}
			return t.Execute(ctx, args)
		}
		if err := set.Add(own); err != nil {
			return "", nil, err
		}
		ids += own.ID + "\n"
	}
	return ids, set, nil
}

// Close ends what runs and removes the enclave. A later run makes another.
func (r *Runner) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, enc := range r.encs {
		errs = append(errs, enc.Close())
	}
	r.encs = nil
	return errors.Join(errs...)
}
