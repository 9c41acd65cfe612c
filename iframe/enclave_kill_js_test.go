package iframe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// stalls measures how long the host's thread was held, at most, until stop.
func stalls(t *testing.T) (stop func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan time.Duration)
	go func() {
		var worst time.Duration
		for last := time.Now(); ctx.Err() == nil; {
			_ = jsx.Yield(ctx)
			until.Turn()
			now := time.Now()
			worst, last = max(worst, now.Sub(last)), now
		}
		done <- worst
	}()
	return func() time.Duration { cancel(); return <-done }
}

// TestEnclaveKills ends code that never ends by itself. The time until Run returns, and the
// time for which the host is held, depend on the load of the machine. The rows enclave.kill.*
// of bench judge them.
func TestEnclaveKills(t *testing.T) {
	for i, c := range []struct {
		name, code string
		want       []protocol.Code
		rows       int // of console that must have come
	}{
		{"loop", `console.log(1); while (true);`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"regex", `console.log(1); for (;;) /^(a+)+$/.test("a".repeat(50) + "b")` /* JavaScriptCore gives one up after a second */, []protocol.Code{protocol.ErrTimeout}, 1},
		{"microtasks", `console.log(1); const f = () => Promise.resolve().then(f); await f()`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"timers", `console.log(1); setInterval(() => {}, 0); await new Promise(() => {})`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"recursion", `console.log(1); const f = () => { try { f() } catch { f() } }; f()`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"sort comparator", `console.log(1); [3, 2, 1].sort(() => { for (;;); })`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"getter on the result", `console.log(1); return { get a() { for (;;); } }`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"thenable result", `console.log(1); return { then() { for (;;); } }`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"never settles", `console.log(1); await new Promise(() => {})`, []protocol.Code{protocol.ErrTimeout}, 1},
		{"console flood", `for (let i = 0; ; i++) console.log(i)`, []protocol.Code{protocol.ErrResourceLimit}, 100},
		{"console bytes", `for (let i = 0; ; i++) console.log("x".repeat(5000))`, []protocol.Code{protocol.ErrResourceLimit}, 10},
		{"a hundred megabytes", `return "x".repeat(1e8)`, []protocol.Code{protocol.ErrOutputTooLarge}, 0},
		{"a hundred megabytes in bytes", `return new Uint8Array(1e8)`, []protocol.Code{protocol.ErrOutputTooLarge}, 0},
		{"allocation bomb", `const a = []; for (;;) a.push(new Array(1e5).fill({}))`, []protocol.Code{protocol.ErrTimeout, protocol.ErrExecution, protocol.ErrSandbox}, 0},
	} {
		if testing.Short() && i%2 == 1 {
			continue // make soak ends all of them
		}
		t.Run(c.name, func(t *testing.T) {
			jsxtest.Check(t)
			e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: time.Minute}}) // for the next run
			stop := stalls(t)
			var (
				res  *protocol.RunResult
				err  error
				took time.Duration
			)
			growing(time.Second, func(limit time.Duration) bool {
				if !slices.Contains(c.want, protocol.ErrTimeout) {
					limit = time.Minute // another limit ends it
				}
				start := time.Now()
				res, err = e.Run(testContext(t), c.code, RunOptions{Limits: protocol.Limits{Time: limit}})
				took = time.Since(start)
				return !errors.Is(err, protocol.ErrTimeout) || len(res.Console) >= c.rows
			})
			stalled := stop()
			ok := false
			for _, code := range c.want {
				ok = ok || errors.Is(err, code)
			}
			if !ok {
				t.Fatalf("%v, want one of %q", err, c.want)
			}
			if len(res.Console) < c.rows {
				t.Errorf("%d rows of console came back, want %d", len(res.Console), c.rows)
			}
			if len(res.Traces) != 2 || res.Traces[1].Type != protocol.TraceEnd {
				t.Errorf("traces %+v", res.Traces)
			}
			again := time.Now()
			if res, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
				t.Errorf("the next run: %v", err)
			}
			t.Logf("answer after %v, host held for %v at most, next run in %v", took, stalled, time.Since(again))
		})
	}
}

func TestEnclaveAbort(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: time.Minute}})
	ctx, cancel := context.WithCancel(testContext(t))
	stop := func(protocol.ConsoleRow) { cancel() }
	res, err := e.Run(ctx, `console.log("here"); await new Promise(() => {})`, RunOptions{OnConsole: stop})
	if !errors.Is(err, protocol.ErrAborted) || !errors.Is(err, context.Canceled) || !res.Partial || len(res.Console) != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	// A frame in the place of the killed one takes a while on a busy machine.
	if _, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(testContext(t))
	res, err = e.Run(ctx, `console.log("up"); try { await sleep(50000) } catch (e) { console.log(e.name, e.code, signal.aborted); return "tidy" }`,
		RunOptions{Grace: time.Minute, OnConsole: stop})
	if err != nil || wire(res.Value) != `"tidy"` || wire(res.Console[1].Args) != `["AbortError","ABORTED",true]` {
		t.Errorf("with grace: %v, %+v", err, res)
	}
	ctx, cancel = context.WithTimeout(testContext(t), 200*time.Millisecond)
	defer cancel()
	if _, err = e.Run(ctx, `for (;;);`, RunOptions{Grace: 300 * time.Millisecond}); !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("a deadline of the caller's: %v", err)
	}
	ended, cancel := context.WithCancel(testContext(t))
	cancel()
	if res, err := e.Run(ended, `return 1`, RunOptions{}); res != nil || !errors.Is(err, protocol.ErrAborted) {
		t.Errorf("a context that has ended: %v, %v", res, err)
	}
}

func TestEnclaveCloseEndsRuns(t *testing.T) {
	jsxtest.Check(t)
	e := testEnclave(t, EnclaveOptions{})
	got, up := make(chan error, 2), make(chan struct{}, 2)
	for range 2 { // one runs, one waits
		go func() {
			_, err := e.Run(testContext(t), `console.log(1); await new Promise(() => {})`, RunOptions{OnConsole: func(protocol.ConsoleRow) { up <- struct{}{} }})
			got <- err
		}()
	}
	<-up
	e.Close()
	e.Close()
	for range 2 {
		if err := <-got; !errors.Is(err, protocol.ErrAborted) {
			t.Errorf("%v", err)
		}
	}
	if _, err := e.Run(testContext(t), `return 1`, RunOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a run after Close: %v", err)
	}
}

// Messages that the broker refuses. The code has the worker's own postMessage, because the
// layer that would have removed it is off.
func TestBrokerStops(t *testing.T) {
	batch := `{"v":1,"gen":GEN,"msgs":[` // GEN is guessed: the code can't read it
	for _, c := range []struct {
		name, code string
		want       protocol.Code
	}{
		{"flood of text", `for (;;) postMessage("x")`, protocol.ErrInvalidParams},
		{"flood of objects", `for (;;) postMessage({})`, protocol.ErrSecurityViolation},
		{"a port", `postMessage(1, [new MessageChannel().port1])`, protocol.ErrSecurityViolation},
		{"a buffer", `postMessage(new ArrayBuffer(8))`, protocol.ErrSecurityViolation},
		{"a huge text", `postMessage("x".repeat(1e8))`, protocol.ErrResourceLimit},
		{"up again", `postMessage("up")`, protocol.ErrInvalidParams},
		{"bye before the result", `postMessage("bye")`, protocol.ErrInvalidParams},
		{"an empty batch", `postMessage('` + batch + `]}')`, protocol.ErrSecurityViolation},
		{"another generation", `postMessage('{"v":1,"gen":99,"msgs":[{"type":"result","success":true,"value":1}]}')`, protocol.ErrSecurityViolation},
		{"another version", `postMessage('{"v":2,"gen":1,"msgs":[]}')`, protocol.ErrInvalidParams},
		{"a message of the broker's", `postMessage('` + batch + `{"type":"violation","layer":"x","code":"TIMEOUT","detail":""}]}')`, protocol.ErrSecurityViolation},
		{"ready", `postMessage('` + batch + `{"type":"ready"}]}')`, protocol.ErrSecurityViolation},
		{"an unknown key", `postMessage('` + batch + `{"type":"result","success":true,"stats":{}}]}')`, protocol.ErrSecurityViolation},
		{"a prototype key", `postMessage('` + batch + `{"type":"result","success":true,"value":{"__proto__":1}}]}')`, protocol.ErrSecurityViolation},
		{"a name off the pattern", `postMessage('` + batch + `{"type":"tool-call","callId":1,"toolName":"../x"}]}')`, protocol.ErrInvalidParams},
		{"an id twice", `const m = '{"type":"tool-call","callId":1,"toolName":"a"}'; postMessage('` + batch + `' + m + "," + m + ']}')`, protocol.ErrSecurityViolation},
		{"too many calls", `let m = []; for (let i = 1; i < 20; i++) m.push('{"type":"tool-call","callId":' + i + ',"toolName":"a"}'); postMessage('` + batch + `' + m + ']}')`, protocol.ErrResourceLimit},
		{"too deep", `postMessage('` + batch + `{"type":"result","success":true,"value":' + "[".repeat(100) + "]".repeat(100) + '}]}')`, protocol.ErrResourceLimit},
		{"two results", `const m = '{"type":"result","success":true,"value":1}'; postMessage('` + batch + `' + m + "," + m + ']}')`, protocol.ErrSecurityViolation},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := testEnclave(t, EnclaveOptions{off: []frame.Layer{frame.LayerGlobals}})
			code := strings.ReplaceAll(c.code, "GEN", "1")
			res, err := e.Run(testContext(t), code+`; await new Promise(() => {})`, RunOptions{})
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %s", err, c.want)
			}
			if res.Success || res.Value != nil {
				t.Errorf("%+v", res)
			}
		})
	}
}
