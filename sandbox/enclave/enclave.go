// Package enclave runs the code of package sandbox's tool code_run in an enclave of package iframe.
// The policy sets the enclave's level and limits. Each tool call by the code goes through the box,
// in the session of the run.
//
//	tools := append(sandbox.Standard(), sandbox.CodeRun(enclave.New(policy, iframe.EnclaveOptions{})))
//
// The enclave is created at the first run, and exists until Close.
package enclave

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/asset"
	"github.com/bailey-go/bailey/internal/typescript"
	"github.com/bailey-go/bailey/internal/wire/pml"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// A Runner is a [sandbox.CodeRunner] over [iframe.Enclave]. It has one enclave for each set of
// tools. An enclave executes one run at a time, and other runs wait for their turn. A Runner is
// safe for concurrent use.
type Runner struct {
	// TypeScript is the address of the library that removes the types of TypeScript, relative to the page. The default is
	// "guests/typescript.js", where wasm_exec build puts it. It is loaded when code with types first runs. A page that does
	// not serve it runs JavaScript only. TypeScript must not be changed after the first run.
	TypeScript string

	opts  iframe.EnclaveOptions
	types typescript.Stripper

	mu   sync.Mutex
	encs map[string]*iframe.Enclave // one for each set of tools, and one that removes types
}

var _ sandbox.CodeRunner = (*Runner)(nil)

// New returns a runner with the limits of a policy. The level, the limits and the tools in o are
// ignored, because the policy and the box set them.
func New(p *policy.Policy, o iframe.EnclaveOptions) *Runner {
	r := &Runner{opts: o}
	r.opts.Level, r.opts.Limits = p.Level, p.Limits
	r.types.Library = func(ctx context.Context) (string, error) {
		return asset.Text(ctx, cmp.Or(r.TypeScript, "guests/typescript.js"), typescript.MaxLibrary)
	}
	r.types.Run = func(ctx context.Context, code string, args any) (any, error) {
		enc, err := r.enclave(ctx, "types", nil, iframe.EnclaveOptions{})
		if err != nil {
			return nil, err
		}
		res, err := enc.Run(ctx, code, iframe.RunOptions{Args: args})
		if err != nil {
			return nil, err
		}
		return res.Value, nil
	}
	return r
}

// NeedsBrowser returns true: an enclave is made of a browser's frames and workers.
func (r *Runner) NeedsBrowser() bool { return true }

// StripTypes returns TypeScript as JavaScript, with each statement on its line. The library that does it runs in an enclave
// of its own, without tools. If code is no TypeScript, the error is a *[protocol.RunError].
func (r *Runner) StripTypes(ctx context.Context, code string) (string, error) {
	return r.types.Strip(ctx, code)
}

// RunCode runs code in the enclave. An error of the code itself is in the result.
func (r *Runner) RunCode(ctx context.Context, tools *protocol.Toolset, code string, args any) (*protocol.RunResult, error) {
	ids, set, err := forwarding(tools)
	if err != nil {
		return nil, err
	}
	enc, err := r.enclave(ctx, "tools\n"+ids, set, r.opts)
	if err != nil {
		return nil, err
	}
	res, err := enc.Run(context.WithValue(ctx, runTools{}, tools), code, iframe.RunOptions{Args: args, OnConsole: func(row protocol.ConsoleRow) {
		sandbox.ReportProgress(ctx, said(row))
	}})
	if res != nil && ctx.Err() == nil {
		return res, nil // an error of the code is in the result
	}
	return res, err
}

// RunPML runs the code of a message "init" of Casys PML, and returns its message "execution_complete". It takes the place of
// the worker of PML's sandbox. Each call of a tool is a message "rpc_call" to rpc, which returns the "rpc_result" of
// the bridge. [sandbox.Box.AnswerPML] is such a bridge, with the tools of a box:
//
//	done := runner.RunPML(ctx, init, func(ctx context.Context, call string) (string, error) { return box.AnswerPML(ctx, call, true), nil })
//
// The code calls mcp.server.tool(args) for the tools that the message names, and finds the variables of its context. It may be
// TypeScript, see Runner.TypeScript. The limits are those of the policy.
func (r *Runner) RunPML(ctx context.Context, init string, rpc func(ctx context.Context, call string) (result string, err error)) string {
	value, err := r.runPML(ctx, init, rpc)
	return pml.EncodeResult(pml.Result{Value: value, Err: err})
}

func (r *Runner) runPML(ctx context.Context, init string, rpc func(ctx context.Context, call string) (string, error)) (any, error) {
	m, err := pml.DecodeInit(init)
	if err != nil {
		return nil, err
	}
	tools := &protocol.Toolset{}
	for _, t := range m.Tools {
		err := tools.Add(protocol.Tool{ID: t.Server + "_" + t.Name, Server: t.Server, Parameters: `{"type":"object"}`, Execute: func(ctx context.Context, args any) (any, error) {
			return callPML(ctx, pml.Call{ID: rand.Text(), Tool: t, Args: args}, rpc)
		}})
		if err != nil {
			return nil, err
		}
	}
	names := slices.Sorted(maps.Keys(m.Context))
	for _, name := range names {
		if !variable.MatchString(name) {
			return nil, protocol.Errorf(protocol.ErrInvalidParams, "init", name, "the context has a name that no variable can have")
		}
	}
	code := m.Code // without an inline part it keeps the numbers of its lines
	if m.Inline != "" {
		code = m.Inline + "\n" + code
	}
	code = "const {" + strings.Join(names, ", ") + "} = args; " + code
	vars := map[string]any{}
	maps.Copy(vars, m.Context)
	res, err := r.RunCode(ctx, tools, code, vars)
	if err == nil && res.Error != nil && res.Error.Name == "SyntaxError" && res.Stats.ToolCalls == 0 && res.Stats.ConsoleCalls == 0 {
		if plain, failed := r.StripTypes(ctx, code); failed == nil && plain != code {
			res, err = r.RunCode(ctx, tools, plain, vars)
		}
	}
	if err != nil {
		return nil, err
	}
	if res.Error != nil { // the message is the code's own, so the bridge may have it
		return nil, protocol.Errorf(res.Error.Code, "", "", "%s", res.Error.Message)
	}
	return res.Value, nil
}

var variable = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]{0,63}$`)

// callPML has the bridge make a call. Its answer must be that of this call.
func callPML(ctx context.Context, c pml.Call, rpc func(ctx context.Context, call string) (string, error)) (any, error) {
	message, err := pml.EncodeCall(c)
	if err != nil {
		return nil, err
	}
	answer, err := rpc(ctx, message)
	if err != nil {
		return nil, err
	}
	res, err := pml.DecodeResult(answer)
	if err == nil && res.ID != c.ID {
		err = protocol.Errorf(protocol.ErrSecurityViolation, "call", c.Tool.Name, "the answer is that of another call")
	}
	if err != nil {
		return nil, err
	}
	return res.Value, res.Err
}

// said returns a call of console as one line.
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

// enclave returns the enclave of a key with a set of tools, and creates it once. All sessions share it,
// because the context contains the session of each call.
func (r *Runner) enclave(ctx context.Context, key string, set *protocol.Toolset, o iframe.EnclaveOptions) (*iframe.Enclave, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if enc := r.encs[key]; enc != nil {
		return enc, nil
	}
	o.Tools = set
	enc, err := iframe.NewEnclave(ctx, o)
	if err != nil {
		return nil, err
	}
	if r.encs == nil {
		r.encs = map[string]*iframe.Enclave{}
	}
	r.encs[key] = enc
	return enc, nil
}

// runTools is the context's key for the tools of a run.
type runTools struct{}

// forwarding returns tools that call the current run's tools of the same ids. An enclave outlives a
// run, and the next run may be of another box, such as that of a plan over a copy of the folder.
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

// Close ends the running code and removes the enclave. A later run creates a new one.
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
