package quickjs

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

func tools(t *testing.T, list ...protocol.Tool) *protocol.Toolset {
	t.Helper()
	s := &protocol.Toolset{}
	for _, tool := range list {
		if err := s.Add(tool); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func echo() protocol.Tool {
	return protocol.Tool{ID: "s_echo", Server: "s", Parameters: `{"type":"object"}`, Execute: func(_ context.Context, args any) (any, error) { return args, nil }}
}

// The errors are those of a page's enclave, see TestEnclaveErrors in package iframe.
func TestErrors(t *testing.T) {
	r := runner(t, Options{})
	for _, c := range []struct {
		name, code string
		want       protocol.Code
		text       string
	}{
		{"throw", `throw new TypeError("no")`, protocol.ErrExecution, "TypeError: no"},
		{"throw a string", `throw "no"`, protocol.ErrExecution, "no"},
		{"throw undefined", `throw undefined`, protocol.ErrExecution, "undefined"},
		{"throw a trap", `throw { get name() { throw 1 }, get message() { throw 2 } }`, protocol.ErrExecution, ""},
		{"syntax", "\n\nlet x = ;", protocol.ErrInvalidParams, "line 3"},
		{"function as result", `return { f() {} }`, protocol.ErrInvalidParams, "function"},
		{"cycle", `const a = []; a.push(a); return a`, protocol.ErrOutputTooLarge, "nested"},
		{"claims a code", `throw Object.assign(new Error("x"), { code: "TIMEOUT" })`, protocol.ErrExecution, "x"},
		{"leaves the function", `} } evil(); { async function x() {`, protocol.ErrInvalidParams, ""},
		{"leaves the script", `}; break n; } }); postMessage("x"); (function () { n: { return async function () {`, protocol.ErrInvalidParams, ""},
		{"calls itself", `const f = (n) => f(n + 1) + 1; return f(0)`, protocol.ErrExecution, ""},
	} {
		res, err := r.RunCode(t.Context(), nil, c.code, nil)
		if err != nil || res.Error == nil || res.Error.Code != c.want || !strings.Contains(res.Error.Error(), c.text) {
			t.Errorf("%s: %v %+v, want %s with %q", c.name, err, res.Error, c.want, c.text)
		}
		if res != nil && res.Partial {
			t.Errorf("%s: %+v", c.name, res)
		}
	}
	res, _ := r.RunCode(t.Context(), nil, "\nconst f = () => { throw new Error('x') }\nf()", nil)
	if !strings.Contains(res.Error.Stack, "code:2:") || strings.Contains(res.Error.Stack, "blob:") {
		t.Errorf("stack %q", res.Error.Stack)
	}
	if len(res.Traces) != 2 || res.Traces[0].Type != protocol.TraceStart || res.Traces[1].Status != "error" {
		t.Errorf("traces %+v", res.Traces)
	}
}

// Every limit holds at its value, and not above it.
func TestLimits(t *testing.T) {
	over := protocol.ErrResourceLimit
	for _, c := range []struct {
		name           string
		limits         protocol.Limits
		at, above      string
		want           protocol.Code
		caught, refuse bool // the code gets the error
	}{
		{"calls", protocol.Limits{ToolCalls: 3}, `for (let i = 0; i < 3; i++) await mcp.s.echo({}); return 1`, `for (let i = 0; i < 4; i++) await mcp.s.echo({}); return 1`, protocol.ErrExecution, true, false},
		{"calls of console", protocol.Limits{ConsoleCalls: 3}, `for (let i = 0; i < 3; i++) console.log(i); return 1`, `for (let i = 0; i < 4; i++) console.log(i); return 1`, over, false, false},
		{"bytes of console", protocol.Limits{ConsoleBytes: 1000}, `console.log("x".repeat(900)); return 1`, `console.log("x".repeat(900)); console.log("x".repeat(90)); return 1`, over, false, false},
		{"output", protocol.Limits{Output: 1000}, `return "x".repeat(900)`, `return "x".repeat(1001)`, protocol.ErrOutputTooLarge, false, false},
		{"parallel", protocol.Limits{Parallel: 3, ToolCalls: 50}, `await parallel([1, 2, 3].map((n) => () => n)); return 1`, `await parallel([1, 2, 3, 4].map((n) => () => n)); return 1`, protocol.ErrExecution, true, false},
		{"rate", protocol.Limits{Rate: 3, ToolCalls: 50, Repeats: 50}, `await parallel([1, 2, 3].map(() => () => mcp.s.echo({}))); return 1`, `await parallel([1, 2, 3, 4].map(() => () => mcp.s.echo({}))); return 1`, protocol.ErrExecution, true, false},
		{"repeats", protocol.Limits{Repeats: 3, ToolCalls: 50}, `for (let i = 0; i < 3; i++) await mcp.s.echo({}); return 1`, `for (let i = 0; i < 4; i++) await mcp.s.echo({}); return 1`, protocol.ErrExecution, true, false},
		{"heap by the estimate", protocol.Limits{HeapMemory: 1 << 20}, `return new Uint8Array(1 << 20).length && 1`, `return new Uint8Array((1 << 20) + 1).length`, protocol.ErrExecution, true, false},
		{"timers", protocol.Limits{}, `for (let i = 0; i < 2000; i++) setTimeout(() => {}, 60000); return 1`, `for (let i = 0; i < 2001; i++) setTimeout(() => {}, 60000); return 1`, over, false, false},
	} {
		r := runner(t, Options{Limits: c.limits})
		res, err := r.RunCode(t.Context(), tools(t, echo()), c.at, nil)
		if err != nil || !res.Success {
			t.Errorf("%s: at the limit: %v %+v", c.name, err, res.Error)
		}
		res, err = r.RunCode(t.Context(), tools(t, echo()), c.above, nil)
		if err != nil || res.Success || res.Error.Code != c.want || res.Partial == c.caught && c.want != protocol.ErrOutputTooLarge {
			t.Errorf("%s: above the limit: %v %+v, want %s", c.name, err, res, c.want)
		}
	}
	r := runner(t, Options{Limits: protocol.Limits{Code: 16}})
	if _, err := r.RunCode(t.Context(), nil, `return 1//567890`, nil); err != nil {
		t.Errorf("code at the limit: %v", err)
	}
	if _, err := r.RunCode(t.Context(), nil, `return 1//5678901`, nil); !errors.Is(err, over) {
		t.Errorf("code above the limit: %v", err)
	}
}

// Endless code ends by the host's clock, wherever it is, and what it printed stays.
func TestTimeLimit(t *testing.T) {
	r := runner(t, Options{})
	for _, code := range []string{
		`console.log("before"); while (true);`,
		`console.log("before"); await new Promise(() => {})`,
		`console.log("before"); for (;;) await 0`,
		`console.log("before"); /(a+)+$/.exec("a".repeat(60) + "b")`,
		`console.log("before"); const a = Array.from({ length: 200000 }, (_, i) => i); for (;;) a.sort(() => 1)`,
		`console.log("before"); const f = () => setTimeout(f, 0); f(); await new Promise(() => {})`,
		`console.log("before"); try { for (;;); } finally { for (;;); }`,
	} {
		var res *protocol.RunResult
		var err error
		// On a busy machine the time can be over before the code begins.
		for limit := 300 * time.Millisecond; limit < 30*time.Second && (res == nil || len(res.Console) == 0); limit *= 2 {
			limits := r.o.Limits
			limits.Time = limit
			res, err = r.run(t.Context(), nil, code, nil, nil, limits, nil)
		}
		if err != nil || res.Error == nil || res.Error.Code != protocol.ErrTimeout || !res.Partial || len(res.Console) != 1 || wire(res.Console[0].Args) != `["before"]` {
			t.Errorf("%s: %v %+v", code, err, res)
		}
	}
	if res, err := r.RunCode(t.Context(), nil, `return 1`, nil); err != nil || !res.Success {
		t.Errorf("the next run: %v", err)
	}
}

func TestAborted(t *testing.T) {
	r := runner(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := protocol.Errorf(protocol.ErrAborted, "stop", "", "the user stopped it")
	stop := protocol.Tool{ID: "stop", Parameters: `{"type":"object"}`, Execute: func(ctx context.Context, _ any) (any, error) {
		cancel(why)
		<-ctx.Done() // the call ends with the run
		return nil, context.Cause(ctx)
	}}
	res, err := r.RunCode(ctx, tools(t, stop), `callTool("stop", {}); for (;;) await 0`, nil)
	if !errors.Is(err, why) || res == nil || !res.Partial || res.Error.Code != protocol.ErrAborted {
		t.Errorf("%v %+v", err, res)
	}
}

// The memory of a run has a maximum, which no code passes. Without it the same code takes more.
func TestMemory(t *testing.T) {
	// The engine throws null if no memory is left for the error itself.
	const code = `const all = []; try { for (let i = 0; i < 24; i++) { const b = []; for (let k = 0; k < 8192; k++) b.push({ k }); all.push(b) } } catch (e) { all.length = 0; return e === null ? "out of memory" : e.message } return "all"`
	limits := protocol.Limits{HeapMemory: 1 << 30, Time: time.Minute}
	peak := func(o Options) (int64, any) {
		r := runner(t, o)
		var x *run
		hold := protocol.Tool{ID: "hold", Parameters: `{"type":"object"}`, Execute: func(ctx context.Context, _ any) (any, error) {
			x, _ = ctx.Value(runKey{}).(*run)
			return nil, nil
		}}
		res, err := r.RunCode(t.Context(), tools(t, hold), `await callTool("hold", {});`+code, nil)
		if err != nil {
			t.Fatal(err)
		}
		return x.most, res.Value
	}
	const most = 8 << 20
	held, said := peak(Options{Memory: most, Limits: limits})
	if held > most || said != "out of memory" {
		t.Errorf("%d bytes, %v; want at most %d and an error for the code", held, said, int64(most))
	}
	free, said := peak(Options{mem: true, Limits: limits})
	if free <= most || said != "all" {
		t.Errorf("without the limit: %d bytes, %v; want more than %d", free, said, int64(most))
	}
	t.Logf("%d bytes with the limit, %d without", held, free)
	if _, err := New(Options{Engine: readEngine, Memory: 8<<20 - 1}); err == nil {
		t.Error("a memory below the least was accepted")
	}
	if _, err := New(Options{Engine: readEngine, Memory: 4 << 30}); err == nil {
		t.Error("a memory above the most was accepted")
	}
}

func TestAnotherEngine(t *testing.T) {
	r, err := New(Options{Engine: func(context.Context) ([]byte, error) {
		b, err := os.ReadFile(engineFile)
		if err == nil {
			b[len(b)-1]++
		}
		return b, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RunCode(t.Context(), nil, `return 1`, nil); !errors.Is(err, protocol.ErrSandbox) || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("%v", err)
	}
}

// The globals that a page has and QuickJS lacks, and that the prelude adds, compute as in a page.
func TestGlobals(t *testing.T) {
	r := runner(t, Options{Level: protocol.Standard})
	for _, c := range []struct{ code, want string }{
		{`return new TextDecoder().decode(new TextEncoder().encode("a\u00e9\u20ac\ud83d\ude00\ud800"))`, "\"a\u00e9\u20ac\U0001F600\uFFFD\""},
		{`return new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 0x41, 0xff, 0xc0, 0x80]))`, "\"\uFFFDA\uFFFD\uFFFD\uFFFD\""},
		{`const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac]))`, `"€"`},
		{`const a = { m: new Map([[1, { d: new Date(5) }]]) }; a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, b.m.get(1).d.getTime()]`, `[true,true,5]`},
		{`try { structuredClone(() => 1) } catch (e) { return e.name }`, `"DataCloneError"`},
		{`return [atob(btoa("abc")), typeof crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).length]`, `["abc","string",4]`},
		{`let n = 0; const i = setInterval(() => ++n === 3 && clearInterval(i), 1); await sleep(100); return n`, `3`},
		{`return await parallel([1, 2, 3].map((x) => () => x * 2), { concurrency: 2 })`, `[2,4,6]`},
		{`setTimeout(() => { throw new Error("late") }, 1); await sleep(30); return 1`, `1`},
		{`return ["fetch", "XMLHttpRequest", "postMessage", "URL", "Intl", "require", "process", "std", "os", "scriptArgs", "print", "host"].filter((k) => k in globalThis)`, `[]`},
		{`try { await import("os") } catch (e) { return "refused" }`, `"refused"`},
	} {
		res, err := r.RunCode(t.Context(), nil, c.code, nil)
		if err != nil || res.Error != nil {
			t.Errorf("%s: %v %v", c.code, err, res.Error)
			continue
		}
		if got := wire(res.Value); got != c.want {
			t.Errorf("%s: %s, want %s", c.code, got, c.want)
		}
	}
}
