//go:build js && wasm

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/iframe"
	"github.com/bailey-go/bailey/protocol"
)

const anyObject = `{"type":"object"}`

// enclaves adds the functions for the enclave.* benches. Times are in milliseconds, from Go's call
// until Go has the decoded value.
func enclaves(api js.Value) {
	var stamps []time.Time
	tools, err := protocol.NewToolset(
		protocol.Tool{ID: "echo", Parameters: anyObject, Execute: func(_ context.Context, args any) (any, error) { return args, nil }},
		protocol.Tool{ID: "stamp", Parameters: anyObject, Execute: func(_ context.Context, args any) (any, error) {
			stamps = append(stamps, time.Now())
			return args, nil
		}},
		protocol.Tool{ID: "fails", Parameters: anyObject, Execute: func(context.Context, any) (any, error) {
			stamps = append(stamps, time.Now())
			return nil, protocol.Errorf(protocol.ErrExecution, "call", "fails", "it always does")
		}},
	)
	if err != nil {
		panic(err)
	}
	options := iframe.EnclaveOptions{Level: protocol.Permissive, Tools: tools,
		Limits: protocol.Limits{MessageNodes: 1_000_000, ToolCalls: 10_000, Rate: 100_000, Repeats: 100_000, Parallel: 10_000}}
	ctx := context.Background()
	var pool *iframe.EnclavePool
	api.Set("openPool", promise(func(args []js.Value) (any, error) {
		var err error
		o := options
		o.Warm = len(args) > 2 && args[2].Bool()
		pool, err = iframe.NewEnclavePool(ctx, iframe.PoolOptions{EnclaveOptions: o, Max: args[0].Int(), Spare: args[1].Int()})
		return nil, err
	}))
	api.Set("closePool", promise(func([]js.Value) (any, error) { return nil, pool.Close() }))
	api.Set("cold", promise(func([]js.Value) (any, error) {
		start := time.Now()
		e, err := iframe.NewEnclave(ctx, options)
		if err != nil {
			return nil, err
		}
		if err := one(e.Run(ctx, `return 1`, iframe.RunOptions{})); err != nil {
			return nil, err
		}
		err = e.Close()
		return ms(start), err
	}))
	// shared() aborts a run, whose frame is removed. It returns the time of the next run, which
	// needs a new inner frame, broker and worker in the existing outer frame.
	api.Set("shared", promise(func([]js.Value) (any, error) {
		killed, cancel := context.WithCancel(ctx)
		began := make(chan struct{})
		var once bool
		done := make(chan error, 1)
		go func() {
			_, err := pool.Run(killed, `console.log(1); await new Promise(() => {})`, iframe.RunOptions{OnConsole: func(protocol.ConsoleRow) {
				if !once {
					once = true
					close(began)
				}
			}})
			done <- err
		}()
		<-began
		start := time.Now()
		cancel()
		if err := <-done; !errors.Is(err, protocol.ErrAborted) {
			return nil, fmt.Errorf("the run before: %v", err)
		}
		err := one(pool.Run(ctx, `return 1`, iframe.RunOptions{}))
		return ms(start), err
	}))
	api.Set("fresh", promise(func([]js.Value) (any, error) {
		start := time.Now()
		err := one(pool.Run(ctx, `return 1`, iframe.RunOptions{}))
		return ms(start), err
	}))
	// trips(tool, n) returns the times between n calls of a tool, one after the other.
	api.Set("trips", promise(func(args []js.Value) (any, error) {
		stamps = stamps[:0]
		code := `for (let i = 0; i < args.n; i++) try { await callTool(args.tool, {i}) } catch (e) { if (e.code !== "EXECUTION_ERROR") throw e }`
		_, err := pool.Run(ctx, code, iframe.RunOptions{Args: map[string]any{"tool": args[0].String(), "n": args[1].Int()}})
		var list []any
		for i := 1; i < len(stamps); i++ {
			list = append(list, float64(stamps[i].Sub(stamps[i-1]).Microseconds())/1000)
		}
		return list, err
	}))
	// together(n) returns the time of n parallel calls, with the start and the end of their run.
	api.Set("together", promise(func(args []js.Value) (any, error) {
		stamps = stamps[:0]
		n := args[0].Int()
		start := time.Now()
		res, err := pool.Run(ctx, `return (await Promise.all(Array.from({length: args}, (_, i) => callTool("echo", {i})))).length`, iframe.RunOptions{Args: n})
		took := ms(start)
		if err == nil && res.Value != float64(n) {
			err = fmt.Errorf("%v answers", res.Value)
		}
		return took, err
	}))
	// kill(code) returns the time of a run with a limit of one second that must end by a limit.
	api.Set("kill", promise(func(args []js.Value) (any, error) {
		start := time.Now()
		_, err := pool.Run(ctx, args[0].String(), iframe.RunOptions{Limits: protocol.Limits{Time: time.Second}})
		took := ms(start)
		for _, code := range []protocol.Code{protocol.ErrTimeout, protocol.ErrResourceLimit, protocol.ErrSandbox} {
			if errors.Is(err, code) {
				return took, nil
			}
		}
		return nil, fmt.Errorf("it ended with %v", err)
	}))
	api.Set("refuse", promise(func([]js.Value) (any, error) {
		start := time.Now()
		_, err := pool.Run(ctx, `return "x".repeat(1e8)`, iframe.RunOptions{})
		if !errors.Is(err, protocol.ErrOutputTooLarge) && !errors.Is(err, protocol.ErrResourceLimit) {
			return nil, fmt.Errorf("it ended with %v", err)
		}
		return ms(start), nil
	}))
	api.Set("result", promise(func(args []js.Value) (any, error) {
		start := time.Now()
		_, err := pool.Run(ctx, `const row = {id: 1, name: "a name", tags: ["x", "y"], ok: true}; const out = []; while (out.length * 52 < args) out.push(row); return out`,
			iframe.RunOptions{Args: args[0].Int()})
		return ms(start), err
	}))
	// ready(n) waits until n enclaves are ready for a run.
	api.Set("ready", promise(func(args []js.Value) (any, error) {
		for range 500 {
			if pool.Stats().Ready >= args[0].Int() {
				return nil, nil
			}
			time.Sleep(100 * time.Millisecond)
		}
		return nil, fmt.Errorf("%+v after 50 s", pool.Stats())
	}))
	// live(n) starts n runs, which do not end.
	api.Set("live", promise(func(args []js.Value) (any, error) {
		n := args[0].Int()
		up := make(chan struct{}, n)
		for range n {
			go func() {
				_, _ = pool.Run(ctx, `console.log(1); await new Promise(() => {})`, iframe.RunOptions{OnConsole: func(protocol.ConsoleRow) { up <- struct{}{} }})
			}()
		}
		for range n {
			select {
			case <-up:
			case <-time.After(50 * time.Second):
				return nil, fmt.Errorf("%+v after 50 s", pool.Stats())
			}
		}
		return nil, nil
	}))
}

func one(res *protocol.RunResult, err error) error {
	if err == nil && res.Value != 1.0 {
		err = fmt.Errorf("the code returned %v", res.Value)
	}
	return err
}

func ms(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1000 }
