package iframe

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// warmAll makes every enclave of the tests a warm one: BAILEY_WARM=1 go test.
var warmAll = os.Getenv("BAILEY_WARM") != ""

func pool(t *testing.T, opts PoolOptions) *EnclavePool {
	t.Helper()
	opts.Warm = opts.Warm || warmAll
	p, err := NewEnclavePool(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestPoolManyRuns(t *testing.T) {
	jsxtest.Check(t)
	p := pool(t, PoolOptions{EnclaveOptions: EnclaveOptions{Tools: toolset(t, echo("echo"))}, Max: 3, Spare: 2})
	const n = 60
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]int{}
	for i := range n {
		wg.Go(func() {
			res, err := p.Run(testContext(t), `globalThis_leak: { } const r = await callTool("echo", {i: args}); return "run " + r.i`, RunOptions{Args: i})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("run %d: %v", i, err)
				return
			}
			seen[res.Value.(string)]++
		})
	}
	wg.Wait()
	for i := range n {
		if seen[fmt.Sprint("run ", i)] != 1 {
			t.Errorf("run %d was answered %d times", i, seen[fmt.Sprint("run ", i)])
		}
	}
	st := p.Stats()
	t.Logf("%+v", st)
	if st.Frames > 3 || st.Runs != n || st.Kills != 0 || st.Busy != 0 || st.Waiting != 0 {
		t.Errorf("%+v", st)
	}
	p.Close()
	if got := jsx.Live()[jsx.Frames]; got != 0 {
		t.Errorf("%d frames live after Close", got)
	}
}

// An endless run must not disturb other runs of the pool.
func TestPoolSiblings(t *testing.T) {
	p := pool(t, PoolOptions{Max: 3, Spare: 3, EnclaveOptions: EnclaveOptions{Limits: protocol.Limits{Time: time.Minute}}})
	quiet := time.Now()
	for range 5 {
		if _, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	alone := time.Since(quiet) / 5
	done, spins := make(chan error, 1), make(chan struct{}, 1)
	go func() {
		_, err := p.Run(testContext(t), `console.log(1); await sleep(0); for (;;);`, RunOptions{Limits: protocol.Limits{Time: 2 * time.Second}, OnConsole: func(protocol.ConsoleRow) { spins <- struct{}{} }})
		done <- err
	}()
	<-spins
	busy := time.Now()
	for range 5 {
		if _, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	beside := time.Since(busy) / 5
	if err := <-done; !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("%v", err)
	}
	t.Logf("a run alone %v, beside one that spins %v", alone, beside)
	if st := p.Stats(); st.Kills != 1 || st.Lost != 0 {
		t.Errorf("%+v", st)
	}
}

// No later run receives a message of a killed run, even while its worker is still running.
func TestPoolZombies(t *testing.T) {
	p := pool(t, PoolOptions{Max: 2, Spare: 2, EnclaveOptions: EnclaveOptions{Limits: protocol.Limits{Time: 300 * time.Millisecond}, Tools: toolset(t, echo("echo"))}})
	for range 3 {
		if _, err := p.Run(testContext(t), `for (;;) callTool("echo", {from: "zombie"})`, RunOptions{}); err == nil {
			t.Fatal("it ended")
		}
		for range 3 {
			res, err := p.Run(testContext(t), `return (await callTool("echo", {from: "me"})).from`, RunOptions{Limits: protocol.Limits{}})
			if errors.Is(err, protocol.ErrTimeout) {
				continue // starved by what runs on for 2 s; not forged
			}
			if err != nil || res.Value != "me" || len(res.Console) != 0 || res.Stats.ToolCalls != 1 {
				t.Errorf("%v %+v", err, res)
			}
		}
	}
	if st := p.Stats(); st.Kills < 3 {
		t.Errorf("%+v", st)
	}
}

func TestPoolIsRebuiltAfterItsProcessDied(t *testing.T) {
	if testpage.Has(testpage.NoDebuggerCommands) {
		t.Skipf("%s has no process to kill by the debugger; TestPoolFrameIsRemoved covers the rebuilding", testpage.Engine())
	}
	p := pool(t, PoolOptions{Max: 2, Spare: 2})
	got, up := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := p.Run(testContext(t), `console.log(1); await new Promise(() => {})`, RunOptions{OnConsole: func(protocol.ConsoleRow) { close(up) }})
		got <- err
	}()
	<-up
	killed := 0
	for _, target := range testpage.Targets(t) {
		if target.Type == "iframe" {
			testpage.Crash(t, target)
			killed++
			break
		}
	}
	if killed == 0 {
		t.Fatal("the enclave has no process of its own to kill")
	}
	start := time.Now()
	if err := <-got; !errors.Is(err, protocol.ErrSandbox) {
		t.Errorf("%v", err)
	}
	t.Logf("noticed after %v", time.Since(start))
	if res, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
		t.Errorf("after it: %v", err)
	}
	if st := p.Stats(); st.Rebuilt != 1 {
		t.Errorf("%+v", st)
	}
}

func TestPoolFrameIsRemoved(t *testing.T) {
	p := pool(t, PoolOptions{Max: 2})
	got, up := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := p.Run(testContext(t), `console.log(1); await new Promise(() => {})`, RunOptions{OnConsole: func(protocol.ConsoleRow) { close(up) }})
		got <- err
	}()
	<-up
	page := must(jsx.Get(jsx.Global(), "document"))(t)
	el := must(jsx.Call(page, "querySelector", `iframe[data-bailey="enclave"]`))(t)
	must(jsx.Call(el, "remove"))(t)
	if err := <-got; !errors.Is(err, protocol.ErrSandbox) {
		t.Errorf("%v", err)
	}
	if res, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
		t.Errorf("after it: %v", err)
	}
}

func TestPoolHiddenAndFrozen(t *testing.T) {
	if testpage.Has(testpage.NoDebuggerCommands) {
		t.Skipf("%s can't be told to hide or freeze a page", testpage.Engine())
	}
	p := pool(t, PoolOptions{Max: 2})
	got := make(chan error, 2)
	go func() {
		until.Met(hidden)
		_, err := p.Run(testContext(t), `for (;;);`, RunOptions{Limits: protocol.Limits{Time: time.Second}})
		got <- err
		_, err = p.Run(testContext(t), `await sleep(300); return 1`, RunOptions{})
		got <- err
	}()
	testpage.Hide(t, 4*time.Second)
	if err := <-got; !errors.Is(err, protocol.ErrTimeout) {
		t.Errorf("hidden: %v", err)
	}
	if err := <-got; err != nil {
		t.Errorf("hidden: %v", err)
	}
	testpage.Freeze(t, 2500*time.Millisecond)
	if _, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil {
		t.Errorf("after the page was frozen: %v", err)
	}
	if st := p.Stats(); st.Lost != 0 {
		t.Errorf("%+v", st)
	}
}

func TestPoolOptions(t *testing.T) {
	for _, o := range []PoolOptions{{Max: -1}, {Max: 65}, {Spare: -1}, {EnclaveOptions: EnclaveOptions{Level: 9}},
		{EnclaveOptions: EnclaveOptions{Limits: protocol.Limits{Time: time.Hour}}}, {EnclaveOptions: EnclaveOptions{Heartbeat: time.Millisecond}},
		{EnclaveOptions: EnclaveOptions{ReadyTimeout: -1}}} {
		if _, err := o.withDefaults(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	o, err := PoolOptions{Max: 64, Spare: 100}.withDefaults()
	if err != nil || o.Spare != 64 || o.Limits.Time != 5*time.Second {
		t.Errorf("%+v %v", o, err)
	}
}

func TestEnclaveInStrictPage(t *testing.T) {
	base := "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' HASHES; connect-src 'self'"
	for _, c := range []struct {
		name, extra string
		hashes, ok  bool
	}{
		{"all it needs", "; worker-src blob:", true, true},
		{"trusted types", "; worker-src blob:; require-trusted-types-for 'script'; trusted-types bailey", true, true},
		{"no worker-src", "", true, false},
		{"no hashes", "; worker-src blob:", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var hashes []string
			if c.hashes {
				hashes = ScriptHashes()
			}
			h := policy(hashes...)
			h["Content-Security-Policy"] = replaceHashes(base, hashes) + c.extra
			testpage.Run(t, testpage.Page{Header: h}, func(t *testing.T) {
				e, err := NewEnclave(testContext(t), EnclaveOptions{ReadyTimeout: 15 * time.Second})
				if !c.ok {
					if !errors.Is(err, ErrFrameBlocked) {
						t.Fatalf("want ErrFrameBlocked, got %v", err)
					}
					t.Log(err)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				if res, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func replaceHashes(policy string, hashes []string) string {
	return strings.Replace(policy, "HASHES", strings.Join(hashes, " "), 1)
}

// If the ports between host and enclave are closed from outside, the run ends with one clear
// error, and the pool recovers.
func TestPoolPortIsClosed(t *testing.T) {
	var wg sync.WaitGroup // a pool for each port, side by side: they wait for a time limit
	for _, which := range []string{"data", "control", "outer"} {
		opts := PoolOptions{Max: 1}
		if which == "outer" { // it counts as lost after twenty beats, because the broker answers
			opts.Heartbeat = 200 * time.Millisecond
		}
		p := pool(t, opts)
		wg.Go(func() {
			// Without the control port the run ends by its limit, and otherwise long before it.
			limit := 30 * time.Second
			if which == "control" {
				limit = 4 * time.Second
			}
			up := make(chan struct{}, 1)
			got := make(chan error, 1)
			go func() {
				_, err := p.Run(testContext(t), `console.log(1); await new Promise(() => {})`,
					RunOptions{OnConsole: func(protocol.ConsoleRow) { up <- struct{}{} }, Limits: protocol.Limits{Time: limit}})
				got <- err
			}()
			<-up
			closed := make(chan error, 1)
			p.impl.Do(func() {
				var port *jsx.Port
				for _, s := range p.impl.Slots() {
					outer, control, data := p.impl.Ports(s)
					port = map[string]*jsx.Port{"outer": outer, "control": control, "data": data}[which]
				}
				_, err := jsx.Call(port.Value(), "close")
				closed <- err
			})
			if err := <-closed; err != nil {
				t.Errorf("%s: %v", which, err)
				return
			}
			err := <-got
			// The control port is only needed to kill: without it the frame is removed.
			want := protocol.ErrSandbox
			if which == "control" {
				want = protocol.ErrTimeout
			}
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %s", which, err, want)
			}
			if res, err := p.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
				t.Errorf("%s: after it: %v", which, err)
			}
		})
	}
	wg.Wait()
}
