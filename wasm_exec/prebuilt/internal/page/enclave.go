//go:build js && wasm

package page

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/internal/asset"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/typescript"
	"github.com/bailey-go/bailey/protocol"
)

// run implements run(code, options). It uses a pool of the strictest level and without tools.
// The first call makes the pool, which is never closed.
func (a *API) run(ctx context.Context, args []jsx.Value) (any, error) {
	pool, err := a.strictest(ctx)
	if err != nil {
		return nil, err
	}
	return a.runIn(ctx, pool, args)
}

// strictest returns the pool of run.
func (a *API) strictest(ctx context.Context) (_ *iframe.EnclavePool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pool == nil {
		a.pool, err = iframe.NewEnclavePool(ctx, iframe.PoolOptions{})
	}
	return a.pool, err
}

// removeTypes prepares the option language of a run. The library runs in the pool of run, as code of strangers does.
func (a *API) removeTypes() {
	a.types.Library = func(ctx context.Context) (string, error) {
		return asset.Text(ctx, TypeScript(), typescript.MaxLibrary)
	}
	a.types.Run = func(ctx context.Context, code string, args any) (any, error) {
		pool, err := a.strictest(ctx)
		if err != nil {
			return nil, err
		}
		res, err := pool.Run(ctx, code, iframe.RunOptions{Args: args})
		if err != nil {
			return nil, err
		}
		return res.Value, nil
	}
}

// TypeScript returns the address of the library that removes types.
func TypeScript() string { return os.Getenv("BAILEY_TYPESCRIPT") }

// enclave implements enclave(options). It returns an object with run and close.
func (a *API) enclave(ctx context.Context, args []jsx.Value) (any, error) {
	var opts iframe.PoolOptions
	if len(args) > 0 && !jsx.Nullish(args[0]) {
		if err := enclaveOptions(&opts, args[0]); err != nil {
			return nil, err
		}
	}
	pool, err := iframe.NewEnclavePool(ctx, opts)
	if err != nil {
		return nil, err
	}
	scope, err := a.scope.Child()
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return a.Object(scope, map[string]Method{
		"run": {Run: func(ctx context.Context, args []jsx.Value) (any, error) { return a.runIn(ctx, pool, args) }},
		"close": {Run: func(context.Context, []jsx.Value) (any, error) {
			err := pool.Close()
			return nil, errors.Join(err, scope.Close())
		}},
	})
}

// enclaveOptions reads the EnclaveOptions of api.d.mts.
func enclaveOptions(o *iframe.PoolOptions, v jsx.Value) error {
	return Each(v, "enclave(options)", func(key string, value jsx.Value) (err error) {
		switch key {
		case "level":
			var name string
			if name, err = jsx.String(value, 20); err == nil {
				o.Level, err = protocol.ParseLevel(name)
			}
		case "time":
			o.Limits.Time, err = Milliseconds(value)
		case "toolTime":
			o.Limits.ToolTime, err = Milliseconds(value)
		case "limits":
			err = limits(&o.Limits, value)
		case "max":
			o.Max, err = jsx.Int(value)
		case "warm":
			o.Warm, err = jsx.Bool(value)
		case "url":
			o.URL, err = jsx.String(value, 8<<10)
		case "trustedTypesPolicy":
			o.TrustedTypesPolicy, err = jsx.String(value, 128)
		case "tools":
			o.Tools, err = tools(value)
		default:
			err = ErrNoOption
		}
		return err
	})
}

// limits reads the limits of EnclaveOptions in api.d.mts.
func limits(l *protocol.Limits, v jsx.Value) error {
	fields := map[string]*int{"toolCalls": &l.ToolCalls, "consoleCalls": &l.ConsoleCalls, "consoleBytes": &l.ConsoleBytes, "output": &l.Output,
		"rate": &l.Rate, "repeats": &l.Repeats, "concurrent": &l.Concurrent, "heapMemory": &l.HeapMemory}
	return Each(v, "", func(key string, value jsx.Value) (err error) {
		field := fields[key]
		if field == nil {
			return ErrNoOption
		}
		if *field, err = jsx.Int(value); err == nil && *field < 1 {
			err = errors.New("must be at least 1")
		}
		return err
	})
}

// Milliseconds returns a time that the page gives in milliseconds.
func Milliseconds(v jsx.Value) (time.Duration, error) {
	ms, err := jsx.Finite(v)
	if err == nil && ms <= 0 {
		err = errors.New("must be a number of milliseconds above 0")
	}
	return time.Duration(ms * float64(time.Millisecond)), err
}

// tools returns the page's tools by name, each with a description, a JSON Schema of its
// arguments, and the function run.
func tools(v jsx.Value) (*protocol.Toolset, error) {
	var list []protocol.Tool
	err := Each(v, "", func(name string, value jsx.Value) error {
		t := protocol.Tool{ID: name}
		var run jsx.Value
		err := Each(value, "", func(key string, value jsx.Value) (err error) {
			switch key {
			case "description":
				t.Description, err = jsx.String(value, 4096)
			case "parameters":
				t.Parameters, err = Stringify(value)
			case "server":
				t.Server, err = jsx.String(value, 128)
			case "run":
				run = value
				if jsx.TypeOf(value) != "function" {
					err = errors.New("must be a function")
				}
			default:
				err = ErrNoOption
			}
			return err
		})
		if err == nil && jsx.Nullish(run) {
			err = errors.New("run is missing: the function that does it")
		}
		t.Execute = func(ctx context.Context, args any) (any, error) { return execute(ctx, run, args) }
		list = append(list, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return protocol.NewToolset(list...)
}

// execute calls a tool of the page and waits for its result. If the tool throws, the sandboxed
// code gets the message. The page must not put secrets into it.
func execute(ctx context.Context, run jsx.Value, args any) (any, error) {
	value, err := ToPage(args)
	if err != nil {
		return nil, err
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	p, err := jsx.Invoke(run, value, map[string]any{"signal": signal})
	if err == nil {
		p, err = jsx.Await(ctx, p)
	}
	if err != nil {
		var thrown *jsx.Error
		if errors.As(err, &thrown) {
			return nil, protocol.Errorf(protocol.ErrExecution, "", "", "%s", thrown.Message)
		}
		return nil, err
	}
	return FromPage(p)
}

// runIn implements run(code, options) in a pool. A failure of the code is a result with an
// error. The promise is rejected only if the run could not begin.
func (a *API) runIn(ctx context.Context, pool *iframe.EnclavePool, args []jsx.Value) (any, error) {
	code, err := Text(args, 0, "run(code): code")
	if err != nil {
		return nil, err
	}
	var opts iframe.RunOptions
	var signal jsx.Value
	var typed bool
	if len(args) > 1 && !jsx.Nullish(args[1]) {
		if err := runOptions(&opts, &signal, &typed, args[1]); err != nil {
			return nil, err
		}
	}
	scope, err := a.scope.Child()
	if err != nil {
		return nil, err
	}
	defer scope.Close()
	ctx, cancel, err := jsx.WithSignal(ctx, scope, signal)
	if err != nil {
		return nil, err
	}
	defer cancel()
	if typed {
		code, err = a.types.Strip(ctx, code)
		if refused := (*protocol.RunError)(nil); errors.As(err, &refused) {
			return result(&protocol.RunResult{Error: refused})
		}
		if err != nil {
			return nil, err
		}
	}
	res, err := pool.Run(ctx, code, opts)
	if res == nil {
		return nil, err
	}
	return result(res)
}

// runOptions reads the RunOptions of api.d.mts.
func runOptions(o *iframe.RunOptions, signal *jsx.Value, typed *bool, v jsx.Value) error {
	return Each(v, "run(code, options)", func(key string, value jsx.Value) (err error) {
		switch key {
		case "language":
			var name string
			if name, err = jsx.String(value, 20); err == nil && name != "javascript" && name != "typescript" {
				err = errors.New(`must be "javascript" or "typescript"`)
			}
			*typed = name == "typescript"
		case "args":
			o.Args, err = FromPage(value)
		case "context":
			o.Context = map[string]any{}
			err = Each(value, "", func(name string, value jsx.Value) error {
				x, err := FromPage(value)
				o.Context[name] = x
				return err
			})
		case "time":
			o.Limits.Time, err = Milliseconds(value)
		case "signal":
			*signal = value
			if !jsx.InstanceOf(value, "AbortSignal") {
				err = errors.New("must be an AbortSignal")
			}
		case "onConsole":
			o.OnConsole = func(row protocol.ConsoleRow) {
				if r, err := consoleRow(row); err == nil {
					_, _ = jsx.Invoke(value, r)
				}
			}
		default:
			err = ErrNoOption
		}
		return err
	})
}

func consoleRow(row protocol.ConsoleRow) (jsx.Value, error) {
	list := make([]any, len(row.Args))
	for i, x := range row.Args {
		v, err := ToPage(x)
		if err != nil {
			return jsx.Value{}, err
		}
		list[i] = v
	}
	return jsx.ToJS(map[string]any{"level": string(row.Level), "args": list, "text": row.Text(0), "at": float64(row.At) / 1e6})
}

// result returns the RunResult of api.d.mts.
func result(r *protocol.RunResult) (any, error) {
	value, err := ToPage(r.Value)
	if err != nil {
		return nil, fmt.Errorf("the result: %w", err)
	}
	console := make([]any, len(r.Console))
	for i, row := range r.Console {
		if console[i], err = consoleRow(row); err != nil {
			return nil, fmt.Errorf("the console: %w", err)
		}
	}
	out := map[string]any{
		"success": r.Success, "value": value, "text": protocol.PrintValue(r.Value, 0), "partial": r.Partial, "console": console,
		"stats": map[string]any{
			"duration": float64(r.Stats.Duration) / 1e6, "toolCalls": r.Stats.ToolCalls,
			"consoleCalls": r.Stats.ConsoleCalls, "outputBytes": r.Stats.OutputBytes,
		},
	}
	if e := r.Error; e != nil {
		out["error"] = map[string]any{"code": string(e.Code), "name": e.Name, "message": e.Message, "stack": e.Stack}
	}
	return jsx.ToJS(out)
}
