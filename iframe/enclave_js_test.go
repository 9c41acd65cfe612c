package iframe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func testEnclave(t *testing.T, opts EnclaveOptions) *Enclave {
	t.Helper()
	opts.Warm = opts.Warm || warmAll
	e, err := NewEnclave(testContext(t), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// growing calls do with one time limit after the other, until do reports that it is done. On a busy machine the shortest
// limits are over before the code has come to what the test is about.
func growing(first time.Duration, do func(limit time.Duration) (done bool)) bool {
	for limit := first; limit < 60*time.Second; limit *= 4 {
		if do(limit) {
			return true
		}
	}
	return false
}

// wire writes a value as a test can read it.
func wire(v any) string {
	s, err := enclave.EncodeValue(v, protocol.JSONLimits{})
	if err != nil {
		return err.Error()
	}
	return s
}

func TestEnclaveRuns(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{Level: protocol.Standard})
	for _, c := range []struct{ name, code, want string }{
		{"value", `return 1`, `1`},
		{"nothing", ``, `null`},
		{"await", `await sleep(1); return "a"`, `"a"`},
		{"comment at the end", `return 2 // no newline`, `2`},
		{"html comment in a string", `return "<!--<script>"`, `"\u003c!--\u003cscript>"`},
		{"html comment", "<!-- a comment\nreturn 3", `3`},
		{"closing tags", `return "</script></iframe>" + '\u0100'`, "\"\\u003c/script>\\u003c/iframe>\u0100\""},
		{"class", `class A { #x = 1; get x() { return this.#x } static of() { return new A } } return A.of().x`, `1`},
		{"generator", `function* g() { yield* [1, 2, 3] } return [...g()]`, `[1,2,3]`},
		{"async generator", `const out = []; for await (const x of (async function* () { yield 1; yield 2 })()) out.push(x); return out`, `[1,2]`},
		{"map", `return new Map([["a", 1]])`, `{"$":["map","a",1]}`},
		{"set", `return new Set([1])`, `{"$":["set",1]}`},
		{"regex", `return /(?<y>\d{4})-(?<m>\d\d)/.exec("on 2026-11-20").groups.m`, `"11"`},
		{"for-in", `const o = { a: 1, b: 2 }; let s = ""; for (const k in o) s += k; return s`, `"ab"`},
		{"recursion", `const f = (n) => n < 2 ? n : f(n - 1) + f(n - 2); return f(15)`, `610`},
		{"bigint", `return 2n ** 70n`, `{"$":["bigint","1180591620717411303424"]}`},
		{"bytes", `return new Uint8Array([1, 2])`, `{"$":["bytes","Uint8Array","AQI="]}`},
		{"shadowing", `const args = 1, console = 2, callTool = 3; return args + console + callTool`, `6`},
		{"labels", `a: for (;;) { for (;;) break a } return 1`, `1`},
	} {
		res, err := e.Run(testContext(t), c.code, RunOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := wire(res.Value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if res.Partial || !res.Success || len(res.Traces) != 2 {
			t.Errorf("%s: partial %v success %v, %d traces", c.name, res.Partial, res.Success, len(res.Traces))
		}
	}
	if st := e.pool.Stats(); st.Kills != 0 || st.Lost != 0 || st.Reused < 10 {
		t.Errorf("the frame was not used again: %+v", st)
	}
}

func TestEnclaveErrors(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{})
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
	} {
		res, err := e.Run(testContext(t), c.code, RunOptions{})
		if testpage.Has(testpage.NoLineOfSyntaxError) && c.name == "syntax" {
			c.text = "does not say where"
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s with %q", c.name, err, c.want, c.text)
		}
		if res == nil || res.Partial {
			t.Errorf("%s: %+v", c.name, res)
		}
	}
	res, _ := e.Run(testContext(t), "\nconst f = () => { throw new Error('x') }\nf()", RunOptions{})
	if !strings.Contains(res.Error.Stack, "code:2:") || strings.Contains(res.Error.Stack, "blob:") {
		t.Errorf("stack %q", res.Error.Stack)
	}
}

func TestEnclaveArguments(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{})
	res, err := e.Run(testContext(t), `return [args.a, limit, name]`, RunOptions{
		Args: map[string]any{"a": "`${1}`</script>"}, Context: map[string]any{"name": "\"'\\", "limit": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := wire(res.Value); got != "[\"`${1}`\\u003c/script>\",3,\"\\\"'\\\\\"]" {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"", "a b", "x){", "await", "__proto__", "callTool", "args", "é"} {
		if _, err := e.Run(testContext(t), `return 1`, RunOptions{Context: map[string]any{name: 1}}); !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("the constant %q: %v", name, err)
		}
	}
}

func TestEnclaveTimeout(t *testing.T) {
	e := testEnclave(t, EnclaveOptions{Limits: protocol.Limits{Time: time.Minute}}) // for the next run
	var (
		res  *protocol.RunResult
		err  error
		took time.Duration
	)
	growing(500*time.Millisecond, func(limit time.Duration) bool {
		start := time.Now()
		res, err = e.Run(testContext(t), `console.log("before"); while (true);`, RunOptions{Limits: protocol.Limits{Time: limit}})
		took = time.Since(start)
		return res != nil && len(res.Console) > 0
	})
	if !errors.Is(err, protocol.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%v", err)
	}
	if !res.Partial || len(res.Console) != 1 || wire(res.Console[0].Args) != `["before"]` {
		t.Errorf("%+v", res)
	}
	t.Logf("answered after %v", took)
	if res, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil || wire(res.Value) != "1" {
		t.Errorf("the next run: %v", err)
	}
}
