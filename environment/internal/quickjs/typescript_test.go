package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/protocol"
)

// TypeScript runs, and its errors have the lines of the source.
func TestTypeScript(t *testing.T) {
	r := runner(t, Options{Level: protocol.Strict})
	run := func(code string) string {
		plain, err := r.StripTypes(t.Context(), code)
		if err != nil {
			if refused := (*protocol.RunError)(nil); !errors.As(err, &refused) || !refused.Is(protocol.ErrInvalidParams) {
				t.Fatalf("%s: %v", code, err)
			}
			return err.Error()
		}
		if strings.Count(plain, "\n") != strings.Count(code, "\n") {
			t.Errorf("%q has other lines than %q", plain, code)
		}
		res, err := r.RunCode(t.Context(), nil, plain, map[string]any{"a": 1.0})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Success {
			return res.Error.Error() + "\n" + res.Error.Stack
		}
		return wire(res.Value)
	}
	for i, c := range []struct{ name, code, want string }{
		{"plain", "return args.a", "1"},
		{"annotations", "const f = (a: number, b?: string): number => a as number;\nreturn f(2)!", "2"},
		{"generics", "const f = <T extends object>(x: T): T => x;\nconst g = async <T,>(x: T): Promise<T> => x;\nreturn [f<{a: 1}>({a: 1}).a, await g<number>(2), new Map<string, Array<Array<number>>>().size]", "[1,2,0]"},
		{"interface and type", "interface A { a: number }\ntype B = keyof A;\ndeclare const q: B;\nreturn {a: 1} satisfies A", `{"a":1}`},
		{"enum", "enum A { X, Y = 5, Z, S = 'q' }\nconst enum B { C = 1 << 2 }\nreturn [A.Z, A[5], A.S, B.C]", `[6,"Y","q",4]`},
		{"class", "abstract class P<T> { constructor(protected readonly x: number, private y?: T) {} abstract m(): void; declare z: string; n!: number; static #s: number = 3; static s(): number { return P.#s } }\n" +
			"class Q extends P<string> { override m(): asserts this is Q {} get v(): number { return this.x } }\nreturn [new Q(4).v, P.s()]", "[4,3]"},
		{"overloads", "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(this: unknown, a: any): any { return a }\nreturn f(1)", "1"},
		{"guard", "const is = (x: unknown): x is string => typeof x === 'string';\nreturn is('a')", "true"},
		{"template", "const a = `x${1 as number}  y`;\nreturn a as `x${string}`", `"x1  y"`},
		{"assertion", "let v = <number>(<any>args.a);\nreturn v", "1"},
		{"text with types in it", "return 'a as b: <c>' + /:\\s*number/.test('x: number')", `"a as b: \u003cc>true"`},
		// What follows must not become part of the line before.
		{"as before a bracket", "let a = [5] as number[]\n[1].forEach((x) => a.push(x))\nreturn a", "[5,1]"},
		{"as before a call", "const f = () => 1\nconst g = f as any\n(2)\nreturn typeof g", `"function"`},
		{"interface before a call", "let a = () => 1\ninterface I {}\n(() => 2)()\nreturn a()", "1"},
		{"member before a computed one", "class A { x = 1\n declare y: number\n ['z'] = 2 }\nreturn new A()", `{"x":1,"z":2}`},
		{"call of a generic over lines", "const f = (x) => x\nreturn f<\n number\n>\n(3)", "3"},
		// No line may end before an arrow or after return.
		{"arrow", "const f = (a: number): {\n  x: number\n} => ({x: a})\nreturn f(1).x", "1"},
		{"async arrow", "const f = async <\n  T\n>(a: T): Promise<{\n  x: T\n}> => ({x: a})\nreturn (await f(1)).x", "1"},
		{"return", "const f = () => { return <\n T\n>(x: T) => x }\nreturn f()(4)", "4"},
		// Errors.
		{"line", "interface A {\n  a: number\n}\nenum E { X }\nconst x: A = null!;\nreturn x.a", "code:6:"},
		{"line of parameters that are properties", "class A {\n constructor(\n  private a: number,\n ) {\n  throw new Error('here')\n }\n}\nnew A(1)", "code:5:"},
		{"namespace", "type A = 1\nnamespace N.M { export const a = 1 }", "use an object or a class (line 2) (INVALID_PARAMS)"},
		{"a name that is a word", "const type = 1, namespace = 2, as = 3\nreturn type + namespace\n+ as", "6"},
		{"declared namespace", "declare namespace N { const a: 1 }\ndeclare module 'x' { namespace Y { const a: 1 } }\nreturn 1", "1"},
		{"syntax", "const a: number = 1\n\nlet x: = 2", "(line 3) (INVALID_PARAMS)"},
		{"syntax of JavaScript", "const a: number = 1\nconst a = 2", "SyntaxError"},
		{"deep", strings.Repeat("(", 100_000), "INVALID_PARAMS"},
	} {
		if testing.Short() && i%4 != 0 {
			continue // each takes half a second; make environments runs all
		}
		if got := run(c.code); c.want != got && !(len(c.want) > 3 && strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The columns stay too.
func TestTypeScriptColumns(t *testing.T) {
	r := runner(t, Options{})
	const code = "const f = <T>(x: T /* é */, y?: string): x is T => boom(x as unknown as string)!;\nreturn f"
	got, err := r.StripTypes(t.Context(), code)
	if want := "const f =    (x    /* é */, y                  ) => boom(x                     ) ;\nreturn f"; err != nil || got != want {
		t.Errorf("%v\n%s, want\n%s", err, got, want)
	}
}

// A library that does not do its work reaches no tool, is killed, and returns at most code, which runs as the model's own does.
func TestAttackTypeScriptLibrary(t *testing.T) {
	count := attack.Start(t, "machine")
	count.NoSwitch("the library runs without tools and below limits, as any code does: TestAttackRealm has the controls")
	for _, c := range []struct{ name, library, want string }{
		{"calls a tool", `const e = await callTool("write", {path: "a"}).catch((e) => e); return {code: e.code}; `, "TOOL_NOT_FOUND"},
		{"never ends", "for (;;); ", "TIMEOUT"},
		{"takes all memory", "const all = []; for (;;) all.push(new Uint8Array(1 << 22).fill(1)); ", "out of memory"},
		{"returns no code", "return [1]; ", "no code"},
		{"throws", "throw new Error('x'); ", "EXECUTION_ERROR"},
	} {
		r := runner(t, Options{Memory: 64 << 20})
		r.types.Library = func(context.Context) (string, error) { return c.library, nil }
		plain, err := r.StripTypes(t.Context(), "let a: number")
		got := fmt.Sprint(plain, err)
		count.Try("a library that "+c.name+": "+got, !strings.Contains(got, c.want))
	}
}
