package iframe

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

// asks is a tool that waits for a person in each call, until until returns.
func asks(t *testing.T, until func(ctx context.Context)) *protocol.Toolset {
	return toolset(t, protocol.Tool{ID: "ask", Parameters: `{"type":"object"}`, Execute: func(ctx context.Context, _ any) (any, error) {
		defer protocol.Asking(ctx)()
		until(ctx)
		return "yes", context.Cause(ctx)
	}})
}

// A person has longer than all limits of the code.
func TestEnclaveWaitsForAPerson(t *testing.T) {
	for name, opts := range map[string]RunOptions{
		"each limit":                {},
		"the limit of a call alone": {Limits: protocol.Limits{Time: 200 * time.Second}},
	} {
		var err error
		if !growing(200*time.Millisecond, func(limit time.Duration) bool {
			e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: max(limit, opts.Limits.Time), ToolTime: limit},
				Tools: asks(t, func(ctx context.Context) {
					select {
					case <-ctx.Done():
					case <-time.After(2 * limit): // all limits are over by then
					}
				})})
			var res *protocol.RunResult
			res, err = e.Run(testContext(t), `return [await callTool("ask"), await callTool("ask")]`, RunOptions{})
			return err == nil && wire(res.Value) == `["yes","yes"]`
		}) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Questions of one run have a bound, above which the time counts.
func TestEnclaveWaitsNoLongerThanTheBound(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: 100 * time.Millisecond}, most: 100 * time.Millisecond,
		Tools: asks(t, func(ctx context.Context) { <-ctx.Done() })})
	if _, err := e.Run(testContext(t), `return await callTool("ask")`, RunOptions{}); !errors.Is(err, protocol.ErrTimeout) {
		t.Error(err)
	}
}

// Code raises a question and works without end while the person reads. That time counts, and with the defence off the
// code works on until somebody stops it, which works in any case.
func TestAttackWorkDuringAQuestion(t *testing.T) {
	count := attack.Start(t, "frames")
	stop := errors.New("stopped")
	for name, code := range map[string]string{
		"a loop":             `callTool("ask"); await sleep(0); for (;;);`,
		"a loop of promises": `callTool("ask"); for (;;) await 0`,
	} {
		for _, off := range [][]frame.Layer{nil, {frame.LayerProbe}} {
			var err error
			if !growing(200*time.Millisecond, func(limit time.Duration) bool {
				var asked atomic.Bool
				ctx, cancel := context.WithCancelCause(testContext(t))
				defer cancel(nil)
				e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: limit}, off: off, Tools: asks(t, func(ctx context.Context) {
					asked.Store(true)
					if off != nil { // nothing else ends the run
						time.AfterFunc(4*limit, func() { cancel(stop) })
					}
					<-ctx.Done()
				})})
				_, err = e.Run(ctx, code, RunOptions{})
				return asked.Load()
			}) {
				t.Fatalf("%s: the code did not ask", name)
			}
			if off != nil {
				count.Off(name, errors.Is(err, protocol.ErrAborted))
			} else {
				count.Try(name, !errors.Is(err, protocol.ErrTimeout))
			}
		}
	}
}

// Code that has taken over its connection can neither pause its own time nor guess the word of a probe.
func TestAttackForgedPauses(t *testing.T) {
	count := attack.Start(t, "frames")
	count.NoSwitch("the checks of messages that refuse it have no switch that leaves a broker to pause")
	e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: time.Minute}, off: []frame.Layer{frame.LayerRuntime}, Tools: asks(t, func(ctx context.Context) { <-ctx.Done() })})
	for name, code := range map[string]string{
		"a pause":                     `bailey.post('{"v":1,"gen":' + args + ',"msgs":[{"type":"hold","on":true}]}'); await new Promise(() => {})`,
		"a probe that is not awaited": `bailey.post("probe 1-2-3-4"); await new Promise(() => {})`,
		"a probe of another word":     `callTool("ask"); await sleep(0); for (;;) bailey.post("probe 1-2-3-4")`,
	} {
		for gen := 1; gen < 6; gen++ { // the code does not know the generation
			_, err := e.Run(testContext(t), code, RunOptions{Args: gen})
			passed := !errors.Is(err, protocol.ErrSecurityViolation) && !errors.Is(err, protocol.ErrInvalidParams)
			count.Try(name, passed)
			if name != "a pause" {
				break
			}
		}
	}
}
