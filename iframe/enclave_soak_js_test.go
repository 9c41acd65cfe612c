package iframe

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// 10,000 runs of a pool, or 100 in a short test: each returns once, and at the end the pool
// holds no more resources than when it was warm.
func TestPoolSoak(t *testing.T) {
	n, warm := 10_000, 100
	if testing.Short() {
		n, warm = 100, 50
	}
	before := jsx.Live()
	p := pool(t, PoolOptions{Max: 4, Spare: 4, EnclaveOptions: EnclaveOptions{Tools: toolset(t, echo("echo"))}})
	var mu sync.Mutex
	seen := make([]int, n+warm)
	runs := func(from, to int) {
		var wg sync.WaitGroup
		gate := make(chan struct{}, 8)
		for i := from; i < to; i++ {
			gate <- struct{}{}
			wg.Go(func() {
				defer func() { <-gate }()
				res, err := p.Run(t.Context(), `console.log(args); return (await callTool("echo", {i: args})).i`, RunOptions{Args: i})
				if err != nil || res.Value != float64(i) || len(res.Console) != 1 || res.Stats.ToolCalls != 1 {
					t.Errorf("run %d: %v %+v", i, err, res)
					return
				}
				mu.Lock()
				seen[i]++
				mu.Unlock()
			})
		}
		wg.Wait()
	}
	idle := func() bool {
		st := p.Stats()
		return st.Busy == 0 && st.Waiting == 0 && st.Ready == 4
	}
	runs(0, warm)
	eventually(t, "all frames are ready", idle)
	live, held := jsx.Live(), countable(t)
	start := time.Now()
	runs(warm, n+warm)
	took := time.Since(start)
	eventually(t, "all frames are ready again", idle)
	for i, times := range seen {
		if times != 1 {
			t.Errorf("run %d was answered %d times", i, times)
		}
	}
	// A heartbeat holds a timer for a moment, so the first check may see one more.
	eventually(t, "no more held than when warm", func() bool {
		for kind, n := range jsx.Live() {
			if n > live[kind] {
				return false
			}
		}
		return true
	})
	var now testpage.Counts
	eventually(t, "the browser holds as much as when warm", func() bool {
		now = countable(t)
		return now.Frames == held.Frames && now.Workers == held.Workers
	})
	if grown := now.HeapUsed - held.HeapUsed; grown > 4<<20 {
		t.Errorf("the page's heap grew by %d bytes", grown)
	} else {
		t.Logf("%d runs, %v each; the page's heap grew by %d bytes, frames %d, workers %d", n, took/time.Duration(n), grown, now.Frames, now.Workers)
	}
	// On a busy machine a frame may take too long to end idly, and is replaced.
	if st := p.Stats(); st.Runs != n+warm || st.Kills > n/1000 || st.Lost != 0 || st.Busy != 0 {
		t.Errorf("%+v", st)
	}
	p.Close()
	if now := jsx.Live(); !maps.Equal(now, before) {
		t.Errorf("held after Close %v, before %v", now, before)
	}
}

// countable is what the browser counts, where it can be asked.
func countable(t *testing.T) testpage.Counts {
	if testpage.Has(testpage.NoDebuggerCommands) {
		return testpage.Counts{}
	}
	return testpage.Count(t)
}

// seeds are messages that are right, or nearly, to be changed at random.
var messageSeeds = []string{
	`{"v":1,"gen":1,"msgs":[{"type":"result","success":true,"value":{"a":[1,"x",null]}}]}`,
	`{"v":1,"gen":1,"msgs":[{"type":"tool-call","callId":1,"toolName":"echo","args":{"a":1}}]}`,
	`{"v":1,"gen":1,"msgs":[{"type":"console","level":"log","args":["x",{"$":"Map","v":[[1,2]]}]}]}`,
	`{"v":1,"gen":1,"msgs":[{"type":"result","success":false,"error":{"code":"EXECUTION_ERROR","name":"E","message":"m","stack":"s"}}]}`,
	`{"v":1,"gen":1,"msgs":[{"type":"violation","layer":"broker","code":"TIMEOUT","detail":"d"}]}`,
	`{"v":1,"gen":1,"msgs":[{"type":"ready"},{"type":"pong","n":1}]}`,
	`up`, `bye`, `idle`, `end`, ``, `{"v":1,"gen":1,"msgs":[]}`,
}

func mutate(r *rand.Rand, s string) string {
	b := []byte(s)
	for range 1 + r.IntN(6) {
		at := r.IntN(len(b) + 1)
		switch r.IntN(6) {
		case 0:
			if at < len(b) {
				b[at] = byte(r.IntN(128))
			}
		case 1:
			b = append(b[:at:at], b[min(at+r.IntN(8), len(b)):]...)
		case 2:
			other := messageSeeds[r.IntN(len(messageSeeds))]
			b = append(b[:at:at], other[r.IntN(len(other)+1):]...)
		case 3:
			words := []string{`"__proto__":1,`, `[[[[`, `1e999`, `-0`, `"gen":2,`, `\ud800`, `{"$":"Date","v":9e99}`, `,`, `"callId":-1`, "\x1f", `null`}
			b = append(b[:at:at], words[r.IntN(len(words))]+string(b[at:])...)
		case 4:
			b = append(b, b[at:]...)
		case 5:
			b = append(b[:at:at], strings.Repeat("[", r.IntN(300))+string(b[at:])...)
		}
		if len(b) > 1<<16 {
			b = b[:1<<16]
		}
	}
	return strings.ToValidUTF8(string(b), "?")
}

// Random messages at the boundaries, for 10 minutes, or 4 s in a short test: from the worker to
// the broker, with the layer off that would have removed postMessage, and from the broker to
// the host. The host does not panic, each run ends once with a known code, and the pool
// continues.
func TestMessageFuzz(t *testing.T) {
	limit := 10 * time.Minute
	if testing.Short() {
		limit = 4 * time.Second
	}
	thrown := 0
	scope := jsx.NewScope(jsx.ScopeOptions{})
	defer scope.Close()
	for _, event := range []string{"error", "unhandledrejection"} {
		if _, err := scope.Listen(jsx.Global(), event, func(jsx.Value) { thrown++ }); err != nil {
			t.Fatal(err)
		}
	}
	before := jsx.Live()
	p := pool(t, PoolOptions{Max: 2, Spare: 2, EnclaveOptions: EnclaveOptions{Tools: toolset(t, echo("echo")),
		Limits: protocol.Limits{Time: 2 * time.Second}, off: []frame.Layer{frame.LayerGlobals}}})
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	runs, direct, ended := 0, 0, map[protocol.Code]int{}
	for start := time.Now(); time.Since(start) < limit; runs++ {
		p.impl.Do(p.impl.Forgive) // no backing off
		if runs%2 == 0 {
			list := make([]any, 1+r.IntN(8))
			for i := range list {
				list[i] = mutate(r, messageSeeds[r.IntN(len(messageSeeds))])
			}
			code := `for (const m of args) { postMessage(m); if (m.length % 3 === 0) await null } return "own"`
			if r.IntN(4) == 0 { // with the right generation, as if it could be guessed
				code = fmt.Sprintf(`for (const m of args) for (let g = %d; g < %d; g++) postMessage(m.replace('"gen":1', '"gen":' + g)); return "own"`, runs, runs+4)
			}
			res, err := p.Run(t.Context(), code, RunOptions{Args: list})
			if res == nil {
				t.Fatalf("run %d: %v", runs, err)
			}
			how := protocol.Code("OK")
			if res.Error != nil {
				how = res.Error.Code
			}
			ended[how]++
			continue
		}
		// From the broker: the host accepts only messages that pass its decoder and fit the
		// state of the run.
		done := make(chan struct{})
		got := make(chan struct{})
		go func() {
			defer close(got)
			_, _ = p.Run(t.Context(), `await sleep(20); return 1`, RunOptions{})
		}()
		n := 1 + r.IntN(8)
		texts := make([]string, n)
		for i := range texts {
			texts[i] = mutate(r, messageSeeds[r.IntN(len(messageSeeds))])
		}
		until.Turns(2)
		p.impl.Do(func() {
			defer close(done)
			for _, text := range texts {
				for _, s := range p.impl.Slots() {
					if s.Job != nil {
						direct++
						p.impl.heard(s, strings.Replace(text, `"gen":1`, fmt.Sprintf(`"gen":%d`, s.Gen), 1))
						break
					}
				}
			}
		})
		<-done
		<-got
	}
	if thrown != 0 {
		t.Errorf("%d exceptions nobody caught in the host", thrown)
	}
	if res, err := p.Run(t.Context(), `return 1`, RunOptions{}); err != nil || res.Value != 1.0 {
		t.Errorf("after it: %v", err)
	}
	t.Logf("%d runs, %d messages straight to the host; runs ended with %s; %+v", runs, direct, codes(ended), p.Stats())
	if ended[protocol.ErrSecurityViolation]+ended[protocol.ErrInvalidParams] == 0 || direct == 0 {
		t.Error("nothing was refused: the messages did not arrive")
	}
	p.Close()
	if now := jsx.Live(); !maps.Equal(now, before) {
		t.Errorf("held after Close %v, before %v", now, before)
	}
}

func codes(m map[protocol.Code]int) string {
	out := ""
	for c, n := range m {
		out += fmt.Sprintf(" %s:%d", string(c), n)
	}
	return out
}
