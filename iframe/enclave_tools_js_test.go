package iframe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

func toolset(t *testing.T, tools ...protocol.Tool) *protocol.Toolset {
	t.Helper()
	s, err := protocol.NewToolset(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const anything = `{"type":"object"}`

func echo(id string) protocol.Tool {
	return protocol.Tool{ID: id, Parameters: anything, Execute: func(_ context.Context, args any) (any, error) { return args, nil }}
}

func TestEnclaveTools(t *testing.T) {
	var during sync.Map
	deaf := make(chan struct{})
	defer close(deaf)
	tools := toolset(t, echo("echo"),
		protocol.Tool{ID: "files_list", Server: "files", Parameters: anything, Execute: func(context.Context, any) (any, error) { return []any{"a", "b"}, nil }},
		protocol.Tool{ID: "add", Parameters: `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`,
			Execute: func(_ context.Context, args any) (any, error) {
				m := args.(map[string]any)
				return m["a"].(float64) + m["b"].(float64), nil
			}},
		protocol.Tool{ID: "fails", Execute: func(context.Context, any) (any, error) {
			return nil, fmt.Errorf("open /home/secret/key: %w", errors.New("token sk-123"))
		}},
		protocol.Tool{ID: "says", Execute: func(context.Context, any) (any, error) {
			return nil, protocol.Errorf(protocol.ErrExecution, "read", "a.txt", "it is not there").WithReason(protocol.ReasonNotFound)
		}},
		protocol.Tool{ID: "panics", Execute: func(context.Context, any) (any, error) { panic("/home/secret") }},
		protocol.Tool{ID: "odd", Execute: func(context.Context, any) (any, error) { return make(chan int), nil }},
		protocol.Tool{ID: "slow", Time: 100 * time.Millisecond, Execute: func(ctx context.Context, _ any) (any, error) {
			<-ctx.Done()
			during.Store("slow", ctx.Err())
			return nil, ctx.Err()
		}},
		protocol.Tool{ID: "deaf", Time: 100 * time.Millisecond, Execute: func(context.Context, any) (any, error) { <-deaf; return 1, nil }},
		protocol.Tool{ID: "guarded", Execute: func(context.Context, any) (any, error) { return "reached", nil }},
	)
	e := testEnclave(t, EnclaveOptions{Level: protocol.Standard, Tools: tools, Authorize: func(_ context.Context, tool *protocol.Tool, _ any) error {
		if tool.ID == "guarded" {
			return protocol.Errorf(protocol.ErrCapabilityDenied, "call", tool.ID, "the policy says no")
		}
		return nil
	}})
	const caught = `try { return ["value", await %s] } catch (e) { return [e instanceof Error, e.name, e.code, e.message] }`
	for _, c := range []struct{ name, expr, want string }{
		{"by name", `callTool("add", {a: 1, b: 2})`, `["value",3]`},
		{"by server", `mcp.files.list()`, `["value",["a","b"]]`},
		{"values", `callTool("echo", {m: new Map([[1, {d: new Date(0)}]]), u: undefined})`, `["value",{"m":{"$":["map",1,{"d":{"$":["date",0]}}]}}]`},
		{"a dollar key", `callTool("echo", {"$": ["date", 0]})`, `["value",{"$":["object","$",["date",0]]}]`},
		{"not a tool", `callTool("nothing")`, `"TOOL_NOT_FOUND"`},
		{"bad name", `callTool("../x")`, `"INVALID_PARAMS"`},
		{"prototype name", `callTool("constructor")`, `"INVALID_PARAMS"`},
		{"no name", `callTool()`, `"INVALID_PARAMS"`},
		{"schema", `callTool("add", {a: 1, b: "2"})`, `$.b: must be number`},
		{"a key more", `callTool("add", {a: 1, b: 2, c: 3})`, `$.c: is not known`},
		{"a function as argument", `callTool("echo", {f() {}})`, `a function has no form`},
		{"own proto key", `callTool("echo", JSON.parse('{"__proto__":{"x":1}}'))`, `"SECURITY_VIOLATION"`},
		{"host error", `callTool("fails")`, `[true,"ToolError","EXECUTION_ERROR","execution failed"]`},
		{"public error", `callTool("says")`, `[true,"ToolError","EXECUTION_ERROR","read a.txt: it is not there"]`},
		{"panic", `callTool("panics")`, `"call panics: the tool failed"`},
		{"result without a form", `callTool("odd")`, `the tool's result can't be sent`},
		{"slow", `callTool("slow")`, `[true,"ToolError","TIMEOUT","call slow: no answer within 100ms"]`},
		{"deaf", `callTool("deaf")`, `"TIMEOUT"`},
		{"refused", `callTool("guarded")`, `[true,"ToolError","CAPABILITY_DENIED","call guarded: the policy says no"]`},
	} {
		res, err := e.Run(testContext(t), fmt.Sprintf(caught, c.expr), RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := wire(res.Value); !strings.Contains(got, c.want) || strings.Contains(got, "secret") || strings.Contains(got, "sk-123") {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if _, ok := during.Load("slow"); !ok {
		t.Error("a slow handler's context did not end")
	}
	res, err := e.Run(testContext(t), `await callTool("fails").catch(() => {}); await callTool("add", {a: 1, b: 1}); callTool("slow"); return 1`, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for _, tr := range res.Traces {
		states = append(states, string(tr.Type)+" "+tr.Tool+" "+tr.Status)
		if err := tr.Validate(); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(states, ", "); got != "execution_start  , tool_call fails error, tool_call add ok, tool_call slow aborted, execution_end  ok" {
		t.Errorf("traces %s", got)
	}
	if res.Stats.ToolCalls != 3 {
		t.Errorf("stats %+v", res.Stats)
	}
}

func TestEnclaveParallel(t *testing.T) {
	var now, most atomic.Int32
	tool := protocol.Tool{ID: "work", Parameters: anything, Execute: func(_ context.Context, args any) (any, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		until.Passed(5 * time.Millisecond) // long enough for others to begin
		now.Add(-1)
		return args.(map[string]any)["i"], nil
	}}
	e := testEnclave(t, EnclaveOptions{Level: protocol.Permissive, Tools: toolset(t, tool, echo("echo")), Limits: protocol.Limits{Rate: 5000, Repeats: 5000, Parallel: 1000}})
	for _, c := range []struct {
		options string
		most    int32
	}{{``, 10}, {`, {concurrency: 3}`, 3}, {`, {concurrency: 1}`, 1}, {`, {concurrency: 20}`, 20 /* the limit is 10 */}, {`, {concurrency: 1000}`, 20}} {
		most.Store(0)
		res, err := e.Run(testContext(t), `return parallel(Array.from({length: 40}, (_, i) => () => callTool("work", {i}))`+c.options+`)`, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, _ := res.Value.([]any)
		if len(list) != 40 || list[0] != 0.0 || list[39] != 39.0 {
			t.Errorf("%s: %s", c.options, wire(res.Value))
		}
		if m := most.Load(); m > min(c.most, 10) {
			t.Errorf("%s: %d at once", c.options, m)
		}
	}
	for _, c := range []struct{ code, want string }{
		{`return parallel([])`, `[]`},
		{`return parallel([() => 1, async () => 2])`, `[1,2]`},
		{`return parallel("x").catch((e) => e.code)`, `"INVALID_PARAMS"`},
		{`return parallel([1]).catch((e) => e.code)`, `"INVALID_PARAMS"`},
		{`return parallel([() => { throw new Error("a") }, () => 1]).catch((e) => e.message)`, `"a"`},
		{`return (await parallel(Array.from({length: 1000}, () => () => 1))).length`, `1000`},
		{`return parallel(Array.from({length: 1001}, () => () => 1)).catch((e) => e.code)`, `"RESOURCE_LIMIT"`},
	} {
		res, err := e.Run(testContext(t), c.code, RunOptions{})
		if err != nil || wire(res.Value) != c.want {
			t.Errorf("%s: %v %+v", c.code, err, res)
		}
	}
	start := time.Now()
	res, err := e.Run(testContext(t), `return (await Promise.all(Array.from({length: 1000}, (_, i) => callTool("echo", {i})))).length`, RunOptions{})
	if err != nil || wire(res.Value) != "1000" {
		t.Fatalf("%v", err)
	}
	t.Logf("1,000 calls at once: %v", time.Since(start))
}

// The limits, with values at, below and above them.
func TestEnclaveLimits(t *testing.T) {
	l := protocol.Limits{ToolCalls: 5, ConsoleCalls: 5, ConsoleBytes: 2000, Output: 1000, Rate: 4, Repeats: 1000, Parallel: 3, Code: 2000}
	e := testEnclave(t, EnclaveOptions{Tools: toolset(t, echo("a"), echo("b")), Limits: l})
	calls := func(n int) string {
		return fmt.Sprintf(`for (let i = 0; i < %d; i++) { if (i === 4) await sleep(1100); await callTool("a") } return "ok"`, n)
	}
	const overhead = len(`{"type":"result","success":true,"value":""}`)
	row := len(`{"type":"console","level":"log","args":[""]}`)
	for _, c := range []struct {
		name, code string
		want       protocol.Code // or none
		text       string
	}{
		{"calls below", calls(4), "", ""},
		{"calls at", calls(5), "", ""},
		{"calls above", calls(6), protocol.ErrExecution, "5 times"},
		{"rate at", `for (let i = 0; i < 4; i++) await callTool("a"); return 1`, "", ""},
		{"rate above", `for (let i = 0; i < 5; i++) await callTool("a"); return 1`, protocol.ErrExecution, "4 tool calls a second"},
		{"at once", `await Promise.all([1, 2, 3].map(() => callTool("a"))); return 1`, "", ""},
		{"too many at once", `await Promise.all([1, 2, 3, 4].map(() => callTool("a"))); return 1`, protocol.ErrResourceLimit, "at once"},
		{"console at", `for (let i = 0; i < 5; i++) console.log(i); return 1`, "", ""},
		{"console above", `for (let i = 0; i < 6; i++) console.log(i); await sleep(1000)`, protocol.ErrResourceLimit, "5 calls of console"},
		{"console bytes at", fmt.Sprintf(`console.log("x".repeat(%d)); return 1`, 2000-row), "", ""},
		{"console bytes above", fmt.Sprintf(`console.log("x".repeat(%d)); await sleep(1000)`, 2001-row), protocol.ErrResourceLimit, "bytes of console"},
		{"output at", fmt.Sprintf(`return "x".repeat(%d)`, 1000-overhead), "", ""},
		{"output above", fmt.Sprintf(`return "x".repeat(%d)`, 1001-overhead), protocol.ErrOutputTooLarge, "1000"},
		{"output far above", `return "x".repeat(1e6)`, protocol.ErrOutputTooLarge, "1000"},
		{"code at", `return 1//` + strings.Repeat("x", 2000-10), "", ""},
		{"code above", `return 1//` + strings.Repeat("x", 2001-10), protocol.ErrResourceLimit, "2000"},
	} {
		res, err := e.Run(testContext(t), c.code, RunOptions{})
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %v, want %q %s", c.name, err, c.want, c.text)
		}
		if res != nil && res.Stats.ToolCalls > 5 {
			t.Errorf("%s: %+v", c.name, res.Stats)
		}
	}
	if _, err := e.Run(testContext(t), `return 1`, RunOptions{Limits: protocol.Limits{Time: time.Millisecond}}); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Errorf("a limit out of range: %v", err)
	}
	if _, err := e.Run(testContext(t), `for (;;);`, RunOptions{Limits: protocol.Limits{Time: 100 * time.Millisecond}}); !errors.Is(err, protocol.ErrTimeout) || !strings.Contains(err.Error(), "100") {
		t.Errorf("narrowed: %v", err)
	}
}

func TestEnclaveConsole(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{})
	var rows []string
	res, err := e.Run(testContext(t), `
		console.log("a", 1, [2], { b: 3 }, undefined, null, () => 1, Symbol("s"), 10n);
		console.warn(new Error("w")); console.error("e"); console.info("i"); console.debug("d"); console.trace("t");
		console.assert(true, "no"); console.assert(false, "yes"); console.table([1]); console.group("g"); console.groupEnd(); console.count(); console.count();
		const c = {}; c.c = c; console.log(c); console.log("x".repeat(1e6));
		console.log({ get a() { throw 1 } });
		setTimeout(() => { throw new TypeError("late") }); await sleep(50);
		return 1`, RunOptions{OnConsole: func(r protocol.ConsoleRow) { rows = append(rows, string(r.Level)+wire(r.Args)) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(res.Console) {
		t.Errorf("%d rows by callback, %d in the result", len(rows), len(res.Console))
	}
	all := strings.Join(rows, "\n")
	for _, want := range []string{`log["a",1,[2],{"b":3},{"$":["undefined"]},null,"[a function]","[a symbol]",{"$":["bigint","10"]}]`,
		`warn[{"$":["error","Error","w"`, `error["e"]`, `info["i"]`, `debug["d"]`, `trace["t"]`, `error["Assertion failed","yes"]`, `log[[1]]`, `log["g"]`,
		`log["default: 2"]`, `[cannot be shown`, `error["Uncaught`, `late`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	if strings.Contains(all, "no\"") {
		t.Error("an assertion that holds was shown")
	}
}
