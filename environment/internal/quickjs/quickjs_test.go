package quickjs

import (
	"context"
	"os"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bailey-go/bailey/internal/needs"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

const engineFile = "../../../node_modules/quickjs-wasi/quickjs.wasm"

func readEngine(context.Context) ([]byte, error) { return os.ReadFile(engineFile) }

// cache keeps the compiled engine for all runners of a test binary.
var cache = wazero.NewCompilationCache()

func runner(t testing.TB, o Options) *Runner {
	t.Helper()
	if _, err := os.Stat(engineFile); err != nil {
		needs.Missing(t, "the engine is not here: run make node_modules")
	}
	o.Engine, o.Cache = readEngine, cache
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// wire writes a value as a test can read it.
func wire(v any) string {
	s, err := enclave.EncodeValue(v, protocol.JSONLimits{})
	if err != nil {
		return err.Error()
	}
	return s
}

func TestRuns(t *testing.T) {
	r := runner(t, Options{Level: protocol.Standard})
	for _, c := range []struct{ name, code, want string }{
		{"value", `return 1`, `1`},
		{"nothing", ``, `null`},
		{"await", `await sleep(1); return "a"`, `"a"`},
		{"comment at the end", `return 2 // no newline`, `2`},
		{"html comment in a string", `return "<!--<script>"`, `"\u003c!--\u003cscript>"`},
		{"closing tags", `return "</script></iframe>" + '\u0100'`, "\"\\u003c/script>\\u003c/iframe>\u0100\""},
		{"class", `class A { #x = 1; get x() { return this.#x } static of() { return new A } } return A.of().x`, `1`},
		{"generator", `function* g() { yield* [1, 2, 3] } return [...g()]`, `[1,2,3]`},
		{"async generator", `const out = []; for await (const x of (async function* () { yield 1; yield 2 })()) out.push(x); return out`, `[1,2]`},
		{"map", `return new Map([["a", 1]])`, `{"$":["map","a",1]}`},
		{"set", `return new Set([1])`, `{"$":["set",1]}`},
		{"regex", `return /(?<y>\d{4})-(?<m>\d\d)/.exec("on 2026-11-20").groups.m`, `"11"`},
		{"bigint", `return 2n ** 70n`, `{"$":["bigint","1180591620717411303424"]}`},
		{"bytes", `return new Uint8Array([1, 2])`, `{"$":["bytes","Uint8Array","AQI="]}`},
		{"shadowing", `const args = 1, console = 2, callTool = 3; return args + console + callTool`, `6`},
		{"a zero byte", `return "a\0b".length`, `3`},
	} {
		res, err := r.RunCode(t.Context(), nil, c.code, nil)
		if err != nil || res.Error != nil {
			t.Errorf("%s: %v %v", c.name, err, res)
			continue
		}
		if got := wire(res.Value); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
