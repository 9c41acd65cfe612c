package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/worker/internal/wasmbin"
)

// TestRunaways runs a program for each kind of bad end. Each gives the right error in time, and
// the next command is not affected.
func TestRunaways(t *testing.T) {
	never, stop := io.Pipe()
	defer stop.Close()
	for _, tt := range []struct {
		name string
		wasm []byte // nil is the probe
		arg  []string
		in   io.Reader
		want error
		says string // in the error
		out  func(out []byte) bool
	}{
		{name: "while(1)", arg: []string{"spin"}, want: protocol.ErrTimeout, out: is("before\n")},
		{name: "start function", wasm: assemble(onePage, nil, true, forever...), want: protocol.ErrTimeout},
		{name: "output flood", arg: []string{"flood"}, want: protocol.ErrOutputTooLarge, says: "1048576 bytes", out: func(b []byte) bool { return len(b) == 1<<20 }},
		{name: "input starvation", arg: []string{"upper"}, in: never, want: protocol.ErrTimeout},
		{name: "recursion", arg: []string{"recurse"}, want: protocol.ErrExecution},
		{name: "trap", arg: []string{"trap"}, want: protocol.ErrExecution, says: "unreachable", out: is("so far\n")},
		{name: "unreachable", wasm: assemble(onePage, nil, false, 0x00), want: protocol.ErrExecution, says: "unreachable"},
		{name: "division by zero", wasm: assemble(onePage, nil, false, 0x41, 1, 0x41, 0, 0x6d, 0x1a), want: protocol.ErrExecution},
		{name: "out of bounds", wasm: assemble(onePage, nil, false, 0x41, 0x7f, 0x28, 2, 0, 0x1a), want: protocol.ErrExecution},
		{name: "memory growth", wasm: assemble(onePage, nil, false, growForever...), want: protocol.ErrTimeout},
		{name: "table growth", wasm: assemble(onePage, []byte{0, 1}, false, growTableForever...), want: protocol.ErrTimeout},
		{name: "sleep", arg: []string{"sleep", "60000"}, want: protocol.ErrTimeout},
		{name: "read too much", arg: []string{"cat", "big"}, want: protocol.ErrResourceLimit, says: "read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			each(t, Options{Limits: Limits{Time: 5 * time.Minute, Output: 1 << 20, Read: 1 << 20}}, func(t *testing.T, p *Pool) {
				m := probe(t, p)
				bad := m
				if tt.wasm != nil {
					bad = compile(t, p, tt.wasm)
				}
				var (
					cmd  *Cmd
					out  []byte
					err  error
					took time.Duration
					says = tt.says
				)
				growing(time.Second, func(limit time.Duration) bool {
					cmd = p.Command(testContext(t), bad, "probe", tt.arg...)
					cmd.Stdin = tt.in
					cmd.FS = bigFile{}
					if tt.want == protocol.ErrTimeout {
						cmd.Limits.Time, says = limit, limit.String()
					}
					began := time.Now()
					out, err = cmd.Output()
					took = time.Since(began)
					return tt.want != protocol.ErrTimeout || tt.out == nil || tt.out(out)
				})
				if !errors.Is(err, tt.want) || !strings.Contains(strings.ToLower(fmt.Sprint(err)), says) {
					t.Errorf("%v, want %v with %q", err, tt.want, says)
				}
				if tt.out != nil && !tt.out(out) {
					t.Errorf("partial output of %d bytes: %.80q", len(out), out)
				}
				st := cmd.ProcessState.Stats()
				t.Logf("answered after %v, by its own clock %v: %v", took, st.Duration, err)
				if st.Output != int64(len(out)) {
					t.Errorf("%+v with %d bytes of output", st, len(out))
				}
				out, err = p.Command(testContext(t), m, "probe", "hello").Output()
				if err != nil {
					t.Errorf("the next command: %q %v", out, err)
				}
			})
		})
	}
}

func is(s string) func([]byte) bool { return func(b []byte) bool { return string(b) == s } }

// A module that asks for one page, or one element, more than its limit fails exactly there.
func TestMemoryAndTableAreExact(t *testing.T) {
	each(t, Options{Limits: Limits{Memory: 100 * wasmbin.PageSize, Table: 77}}, func(t *testing.T, p *Pool) {
		m := compile(t, p, assemble(onePage, nil, false, growMemory...))
		for pages, limit := range map[int]int64{100: 0, 99: 99 * wasmbin.PageSize, 98: 99*wasmbin.PageSize - 1, 1: 1 * wasmbin.PageSize} {
			cmd := p.Command(testContext(t), m, "grow")
			cmd.Limits.Memory = limit
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != pages || cmd.ProcessState.Stats().Memory != int64(pages)*wasmbin.PageSize {
				t.Errorf("limit %d: it got %d pages, want %d; %+v", limit, got, pages, cmd.ProcessState.Stats())
			}
		}
		m = compile(t, p, assemble(onePage, []byte{0, 1}, false, growTable...))
		for n, limit := range map[int]int{77: 0, 76: 76, 1: 1} {
			cmd := p.Command(testContext(t), m, "grow")
			cmd.Limits.Table = limit
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != n {
				t.Errorf("limit %d: it got %d elements, want %d", limit, got, n)
			}
		}
		out, err := p.Command(testContext(t), probe(t, p), "probe", "grow").Output()
		if n, _ := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n != 100 {
			t.Errorf("C got %q pages, want 100: %v", out, err)
		}
	})
}

// With the module's own maximum nothing stops the growth. This shows why Lower is needed.
func TestMemoryWithoutLowering(t *testing.T) {
	p := newTestPool(t, Options{Limits: Limits{Memory: 100 * wasmbin.PageSize}})
	m := compile(t, p, assemble(onePage, nil, false, growMemory...))
	for _, v := range m.variants {
		code, err := jsx.FromBytes(assemble([]byte{1, 1, 200, 1}, nil, false, growMemory...))
		must(t, err)
		v.impl.code = code
		v.id = int(p.impl.modules.Add(1))
	}
	cmd := p.Command(testContext(t), m, "grow")
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 200 {
		t.Errorf("an unlowered module got %d pages, want its own 200", got)
	}
}

func TestBadModules(t *testing.T) {
	good := assemble(onePage, nil, false)
	each(t, Options{}, func(t *testing.T, p *Pool) {
		for name, tt := range map[string]struct {
			wasm []byte
			want error
			says string
		}{
			"empty":        {nil, protocol.ErrInvalidParams, "0 bytes"},
			"text":         {[]byte("#!/bin/sh\necho"), protocol.ErrInvalidParams, "does not begin"},
			"truncated":    {good[:len(good)-3], protocol.ErrInvalidParams, "cut off"},
			"bad code":     {assemble(onePage, nil, false, 0x6a), protocol.ErrInvalidParams, "the browser refuses"},
			"4 GB":         {assemble(append([]byte{0}, leb(65536)...), nil, false), protocol.ErrResourceLimit, "65536 pages"},
			"big table":    {assemble(onePage, append([]byte{0}, leb(1<<20)...), false), protocol.ErrResourceLimit, "1048576 elements"},
			"preview 0":    {bytes.Replace(good, []byte("wasi_snapshot_preview1"), []byte("wasi_unstable\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 1), protocol.ErrInvalidParams, ""},
			"no such call": {bytes.Replace(good, []byte("proc_exit"), []byte("proc_fork"), 1), protocol.ErrInvalidParams, "proc_fork"},
			"too large":    {make([]byte, maxModule+1), protocol.ErrResourceLimit, "limit"},
		} {
			_, err := p.Compile(testContext(t), tt.wasm)
			if !errors.Is(err, tt.want) && name != "preview 0" || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v, want %v with %q", name, err, tt.want, tt.says)
			}
		}
		if err := p.Command(testContext(t), compile(t, p, good), "good").Run(); err != nil {
			t.Errorf("after them: %v", err)
		}
		foreign := bytes.Replace(good, []byte("wasi_snapshot_preview1"), []byte("some_module_of_22_char"), 1)
		if err := p.Command(testContext(t), compile(t, p, foreign), "x").Run(); !errors.Is(err, protocol.ErrInvalidParams) || !strings.Contains(err.Error(), "the host does not provide") {
			t.Errorf("an import that is not provided: %v", err)
		}
	})
}

func TestContextAndPoolEnds(t *testing.T) {
	jsxtest.Check(t)
	each(t, Options{}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		ctx, cancel := context.WithCancel(testContext(t))
		cmd := p.Command(ctx, m, "probe", "spin")
		begun(t, cmd)
		cancel()
		if err := cmd.Wait(); !errors.Is(err, context.Canceled) || !errors.Is(err, protocol.ErrAborted) {
			t.Errorf("cancelled: %v", err)
		}
		if err := p.Command(ctx, m, "probe", "hello").Run(); !errors.Is(err, context.Canceled) {
			t.Errorf("started with a context that had ended: %v", err)
		}
		ctx, cancel = context.WithTimeout(testContext(t), 100*time.Millisecond)
		defer cancel()
		if err := p.Command(ctx, m, "probe", "spin").Run(); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, protocol.ErrTimeout) {
			t.Errorf("deadline: %v", err)
		}
		last := p.Command(testContext(t), m, "probe", "spin")
		begun(t, last)
		p.Close()
		if err := last.Wait(); !errors.Is(err, protocol.ErrAborted) {
			t.Errorf("the pool was closed: %v", err)
		}
		if err := p.Command(testContext(t), m, "probe", "hello").Run(); err == nil {
			t.Error("a closed pool runs commands")
		}
	})
}

// A module whose broker is removed while it compiles goes to another one, and to no more than three.
func TestCompileOutlivesItsBroker(t *testing.T) {
	jsxtest.Check(t)
	p := newTestPool(t, Options{Max: maxLost + 1, Spare: maxLost + 1})
	m := probe(t, p)
	for removed, want := range map[int]error{0: nil, 1: nil, maxLost - 1: nil, maxLost: ErrLost} {
		until.True(t, "all brokers are up", func() bool {
			up := make(chan int, 1)
			p.impl.Do(func() {
				n := 0
				for _, s := range p.impl.Slots() {
					if s.State() == frame.SlotReady {
						n++
					}
				}
				up <- n
			})
			return <-up > maxLost
		})
		c := &compiling{answer: make(chan error, 1)}
		for _, v := range m.variants {
			c.v = &variant{id: 1000 + removed, module: m, caps: v.caps, impl: v.impl}
		}
		// No message of a broker comes between the calls of one turn of the loop.
		p.impl.Do(func() {
			p.impl.compiles[c.v.id] = c
			p.impl.ask(c)
			for range removed {
				p.impl.Stop(c.in, protocol.ErrAborted, "a test")
				p.impl.Quiet()
			}
		})
		if err := <-c.answer; !errors.Is(err, want) {
			t.Errorf("%d brokers removed: %v, want %v", removed, err, want)
		}
		if err := p.Command(testContext(t), m, "probe", "hello").Run(); err != nil {
			t.Errorf("%d brokers removed, then: %v", removed, err)
		}
	}
}

// Eight commands at once on a pool of four all end, and their owners take turns.
func TestFairness(t *testing.T) {
	each(t, Options{Max: 2, Queue: 40}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		run := func(owner string, ms int) {
			cmd := p.Command(testContext(t), m, "probe", "sleep", fmt.Sprint(ms))
			cmd.Owner = owner
			must(t, cmd.Start())
			wg.Go(func() {
				if err := cmd.Wait(); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, owner)
				mu.Unlock()
			})
		}
		for range 20 {
			run("greedy", 20)
		}
		run("late", 20)
		wg.Wait()
		at := strings.Index(strings.Join(order, " "), "late")
		t.Logf("%v", order)
		if before := strings.Count(strings.Join(order, " ")[:at], "greedy"); before > 8 {
			t.Errorf("the late owner came after %d of the greedy one's", before)
		}
	})
}

// Eight busy programs at once all make progress, however few cores there are. Progress is
// counted from the time when each has begun. How equal it is depends on the system's scheduler:
// on a loaded machine the programs of one process had four times as much as those of another. With -short there are
// four, which is still more than the processors that they need: beside other tests, eight left a broker without an
// answer for so long that it counted as lost.
func TestEightAtOnce(t *testing.T) {
	n := 8
	if testing.Short() {
		n = 4
	}
	each(t, Options{Max: n, Spare: n, Limits: Limits{Time: time.Minute}}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		// A broker may take long to start while programs are busy.
		until.True(t, "all brokers are ready", func() bool { return p.Stats().Ready == n })
		cmds, outs, from := make([]*Cmd, n), make([]points, n), make([]int64, n)
		for i := range cmds {
			cmds[i] = p.Command(testContext(t), m, "probe", "count")
			cmds[i].Stdout = &outs[i]
			must(t, cmds[i].Start())
		}
		// wait returns when ok reports true. Other load on the machine may delay a program for
		// a while.
		wait := func(what string, ok func(least, most int64) bool) {
			since := make([]int64, n)
			met := until.Met(func() bool {
				for i := range outs {
					since[i] = outs[i].Load() - from[i]
				}
				return ok(slices.Min(since), slices.Max(since))
			})
			if t.Logf("%s: %v", what, since); !met {
				t.Errorf("never: %s", what)
			}
		}
		if !live() && !p.opts.Trusted {
			// Known: WebKit's brokers in frames share the page's thread. Some get their worker
			// only after others have ended. After some seconds of that the outer frame may be
			// considered lost.
			wait("one has begun", func(_, most int64) bool { return most > 0 })
			t.Log("not fair in WebKit behind frames, and not asked for")
		} else {
			wait("all have begun", func(least, _ int64) bool { return least > 0 })
			for i := range outs {
				from[i] = outs[i].Load()
			}
			wait("all get on alike", func(least, most int64) bool { return least >= 50 && most <= 16*least })
		}
		for i, c := range cmds {
			must(t, c.Process.Kill())
			if err := c.Wait(); !errors.Is(err, protocol.ErrAborted) && (live() || p.opts.Trusted || !errors.Is(err, protocol.ErrSandbox)) {
				t.Errorf("command %d: %v", i, err)
			}
		}
		if err := p.Command(testContext(t), m, "probe", "hello").Run(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// begun starts cmd and returns when it has printed something. cmd must print before it spins.
func begun(t *testing.T, cmd *Cmd) {
	t.Helper()
	var out points
	cmd.Stdout = &out
	must(t, cmd.Start())
	until.True(t, "the program has begun", func() bool { return out.Load() > 0 })
}

// points counts the bytes that are written to it.
type points struct{ atomic.Int64 }

func (n *points) Write(b []byte) (int, error) {
	n.Add(int64(len(b)))
	return len(b), nil
}

func TestQueueIsBounded(t *testing.T) {
	each(t, Options{Max: 1, Queue: 2}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		var cmds []*Cmd
		var err error
		for range 10 {
			cmd := p.Command(testContext(t), m, "probe", "sleep", "50")
			if err = cmd.Start(); err != nil {
				break
			}
			cmds = append(cmds, cmd)
		}
		if !errors.Is(err, ErrQueueFull) || !errors.Is(err, protocol.ErrResourceLimit) || len(cmds) < 3 || len(cmds) > 4 {
			t.Errorf("%d commands were taken, then: %v", len(cmds), err)
		}
		for _, c := range cmds {
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
		if err := p.Command(testContext(t), m, "probe", "exit", "0").Run(); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Many commands leave no resources behind: 10,000 in a long test.
func TestManyCommands(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 100
	}
	if s := os.Getenv("BAILEY_COMMANDS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	each(t, Options{Max: 4, Spare: 2}, func(t *testing.T, p *Pool) {
		m := probe(t, p)
		must(t, p.Command(testContext(t), m, "probe", "hello").Run())
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Minute)
		defer cancel()
		began := time.Now()
		var wg sync.WaitGroup
		work := make(chan int)
		for range 4 {
			wg.Go(func() {
				for i := range work {
					cmd := p.Command(ctx, m, "probe", "write", fmt.Sprint("f", i), "x")
					cmd.FS = newMemFS()
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%d: %v %s", i, err, out)
						return
					}
				}
			})
		}
		for i := range n {
			work <- i
		}
		close(work)
		wg.Wait()
		st := p.Stats()
		t.Logf("%d commands in %v, %v each; held %v; %+v", n, time.Since(began), time.Since(began)/time.Duration(n), jsx.Live(), st)
		if live := jsx.Live(); live[jsx.Workers]+live[jsx.Frames] > 6 || live[jsx.Ports] > 20 || live[jsx.URLs] > 6 || live[jsx.Callbacks]+live[jsx.Listeners] > 60 || live[jsx.Timers] > 20 {
			t.Errorf("held: %v", live)
		}
	})
}
