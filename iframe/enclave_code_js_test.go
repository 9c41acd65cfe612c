package iframe

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// Ordinary code that hardening must not break, on every level. Each returns true.
var ordinary = []struct{ name, code string }{
	{"error subclass sets its name", `class E extends Error { constructor(m) { super(m); this.name = "E"; this.code = 7 } } const e = new E("x"); return e.name === "E" && e.message === "x" && e instanceof E && String(e) === "E: x"`},
	{"error message assigned", `const e = new Error("a"); e.message = "b"; e.name = "N"; return e.message === "b" && String(e) === "N: b"`},
	{"type error subclass", `class E extends TypeError {} ; const e = new E("x"); e.name = "E"; return e.name === "E" && e instanceof TypeError`},
	{"error with a cause", `const e = new Error("a", { cause: 1 }); return e.cause === 1`},
	{"aggregate error", `try { await Promise.any([Promise.reject(1)]) } catch (e) { return e instanceof AggregateError && e.errors[0] === 1 }`},
	{"own toString", `const o = {}; o.toString = () => "mine"; return String(o) === "mine"`},
	{"own valueOf", `const o = {}; o.valueOf = () => 4; return o + 1 === 5`},
	{"own hasOwnProperty", `const o = {}; o.hasOwnProperty = 1; return o.hasOwnProperty === 1`},
	{"constructor as data", `const o = {}; o.constructor = "x"; return o.constructor === "x" && Object.keys(o).length === 1`},
	{"old style class", `function A() { this.x = 1 } A.prototype.get = function () { return this.x }; A.prototype.toString = function () { return "A" }; return new A().get() === 1 && String(new A()) === "A"`},
	{"old style inheritance", `function A() {} function B() {} B.prototype = Object.create(A.prototype); B.prototype.constructor = B; return new B() instanceof A && new B().constructor === B`},
	{"old style error", `function E(m) { this.message = m; this.name = "E" } E.prototype = Object.create(Error.prototype); E.prototype.constructor = E; E.prototype.name = "E"; return new E("x") instanceof Error && String(new E("x")) === "E: x"`},
	{"function properties", `function f() {} f.toString = () => "f"; f.call = 1; f.meta = 2; return String(f) === "f" && f.meta === 2`},
	{"toString of the prototype", `return Object.prototype.toString.call([]) === "[object Array]" && Object.prototype.hasOwnProperty.call({ a: 1 }, "a")`},
	{"this.constructor", `class A { copy() { return new this.constructor() } } class B extends A {} return new B().copy() instanceof B && new B().constructor.name === "B"`},
	{"constructor of literals", `return [].constructor === Array && ({}).constructor === Object && "".constructor === String && (1).constructor === Number`},
	{"array subclass", `class L extends Array { sum() { return this.reduce((a, b) => a + b, 0) } map(f) { return super.map(f) } } const l = L.from([1, 2]); return l.sum() === 3 && l.map((x) => x) instanceof L`},
	{"map subclass", `class M extends Map { get(k) { return super.get(k) ?? "none" } } const m = new M([[1, 2]]); return m.get(1) === 2 && m.get(3) === "none" && m.size === 1`},
	{"promise subclass", `class P extends Promise {} return (await P.resolve(3)) === 3 && P.resolve(1).then(() => 1) instanceof P`},
	{"iterator of one's own", `const it = { i: 0, next() { return { value: this.i, done: this.i++ > 2 } }, [Symbol.iterator]() { return this } }; return [...it].length === 3`},
	{"generator methods", `function* g() { const x = yield 1; yield x } const i = g(); i.next(); return i.next(5).value === 5 && i.return(6).done`},
	{"async iteration", `async function* g() { yield 1; yield 2 } let n = 0; for await (const x of g()) n += x; return n === 3`},
	{"destructuring", `const { a, ...r } = { a: 1, b: 2, c: 3 }; const [x, , y = 9] = [1, 2]; return a + r.b + r.c + x + y === 16`},
	{"tagged templates", "const t = (s, ...v) => s.raw.join('|') + v.join(','); return t`a${1}b${2}` === 'a|b|1,2'"},
	{"getters and setters", `class A { #v = 0; get v() { return this.#v } set v(x) { this.#v = x * 2 } static { this.s = 1 } } const a = new A(); a.v = 2; return a.v === 4 && A.s === 1`},
	{"symbols", `const o = { [Symbol.toPrimitive]: () => 7, get [Symbol.toStringTag]() { return "T" } }; return +o === 7 && Object.prototype.toString.call(o) === "[object T]"`},
	{"json", `return JSON.stringify({ a: [1, null, "x"], d: new Date(0) }) === '{"a":[1,null,"x"],"d":"1970-01-01T00:00:00.000Z"}' && JSON.parse('{"a":1}', (k, v) => v).a === 1`},
	{"dates", `const d = new Date(2020, 1, 29, 12); d.setFullYear(2021); return d instanceof Date && d.getMonth() === 2 && typeof Date() === "string" && Date.UTC(1970, 0) === 0 && new Date().getFullYear() > 2024 && Date.now() > 1e12 && new Date(NaN).getTime() !== 0`},
	{"date subclass", `class D extends Date { year() { return this.getFullYear() } } return new D(2020, 5).year() === 2020 && new D() instanceof D && new D() instanceof Date`},
	{"regular expressions", `return "a1b22".replace(/\d+/g, (m) => "<" + m + ">") === "a<1>b<22>" && [..."x1y2".matchAll(/[a-z](\d)/g)].map((m) => m[1]).join() === "1,2" && /(?<=a)b/.test("ab") && "a,b".split(",").length === 2`},
	{"array methods", `return [3, 1, 2].toSorted().join() === "1,2,3" && [1, [2, [3]]].flat(Infinity).length === 3 && [1, 2].at(-1) === 2 && Object.groupBy([1, 2, 3], (x) => x % 2 ? "o" : "e").o.length === 2 && Array.from({ length: 3 }, (_, i) => i).includes(2)`},
	{"string methods", `return "ab".padStart(4, "-") === "--ab" && "x".repeat(3) === "xxx" && " a ".trim() === "a" && "é".normalize("NFD").length === 2 && [..."a😀"].length === 2 && ["a", "b"].join("-") === "a-b"`},
	{"numbers", `return (1234.5).toLocaleString("en-US") === "1,234.5" && parseInt("12px") === 12 && Number("0x10") === 16 && (0.1 + 0.2).toFixed(2) === "0.30" && Math.max(...[1, 5]) === 5 && 2n ** 64n === 18446744073709551616n`},
	{"intl", `return new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(1) === "$1.00"`},
	{"typed arrays", `const a = new Float64Array([1, 2]); const b = new Uint8Array(a.buffer); const v = new DataView(new ArrayBuffer(8)); v.setInt16(0, 258); return a.map((x) => x * 2)[1] === 4 && b.length === 16 && v.getUint8(0) === 1 && new Uint8Array(4).fill(1).join("") === "1111" && a instanceof Float64Array && Uint8Array.from([1]).constructor === b.constructor`},
	{"typed array subclass", `class A extends Uint8Array {} const a = new A(3); return a instanceof A && a.length === 3 && ArrayBuffer.isView(a)`},
	{"text coding", `return new TextDecoder().decode(new TextEncoder().encode("é")) === "é" && atob(btoa("x")) === "x"`},
	{"urls", `const u = new URL("https://a.b/c?d=1#e"); u.searchParams.append("f", "2"); return u.hostname === "a.b" && u.search === "?d=1&f=2" && [...new URLSearchParams("a=1&b=2")].length === 2`},
	{"timers", `let n = 0; const t = setInterval(() => n++, 1); await new Promise((r) => setTimeout(r, 30)); clearInterval(t); return n > 0`},
	{"timer arguments", `return (await new Promise((r) => setTimeout((a, b) => r(a + b), 1, 1, 2))) === 3`},
	{"microtask", `let n = 0; queueMicrotask(() => n++); await null; return n === 1`},
	{"structuredClone", `const o = { a: new Map([[1, new Date(0)]]) }; const c = structuredClone(o); return c !== o && c.a.get(1).getTime() === 0`},
	{"random", `return Math.random() < 1 && crypto.getRandomValues(new Uint8Array(4)).length === 4`},
	{"weak collections", `const k = {}; const w = new WeakMap([[k, 1]]); const s = new WeakSet([k]); return w.get(k) === 1 && s.has(k)`},
	{"freeze and keys", `const o = Object.freeze({ a: 1 }); return Object.isFrozen(o) && Object.entries(o)[0][1] === 1 && Object.assign({}, o, { b: 2 }).b === 2 && Object.fromEntries([["x", 1]]).x === 1 && Object.hasOwn(o, "a")`},
	{"null prototype", `const o = Object.create(null); o.toString = 1; o.__proto__ = 2; return o.toString === 1 && o.__proto__ === 2`},
	{"proto in a literal", `const p = { x: 1 }; const o = { __proto__: p }; return o.x === 1 && Object.getPrototypeOf(o) === p`},
	{"closures in loops", `const f = []; for (let i = 0; i < 3; i++) f.push(() => i); return f.map((g) => g()).join() === "0,1,2"`},
	{"optional chaining", `const o = { a: { b: null } }; return o?.a?.b?.c === undefined && (o.x ?? 1) === 1 && ((o.y ||= 2), o.y) === 2`},
	{"labels and switch", `let n = 0; out: for (const a of [1, 2, 3]) { switch (a) { case 2: continue out; default: n += a } } return n === 4`},
	{"try finally", `let s = ""; try { try { throw 1 } finally { s += "f" } } catch (e) { s += e } return s === "f1"`},
	{"recursion", `const deep = (n) => n ? 1 + deep(n - 1) : 0; return deep(2000) === 2000`},
	{"stack overflow is caught", `const f = () => 1 + f(); try { f() } catch (e) { return e instanceof RangeError || e instanceof Error }`},
	{"type errors", `try { null.x } catch (e) { return e instanceof TypeError && e.constructor === TypeError && typeof e.stack === "string" }`},
	{"promise combinators", `const r = await Promise.allSettled([1, Promise.reject(2)]); return r[1].reason === 2 && (await Promise.race([1, new Promise(() => {})])) === 1 && (await Promise.all([1, 2])).length === 2 && Promise.withResolvers !== 1`},
	{"arguments", `function f() { return arguments.length } return f(1, 2) === 2`},
	{"function name and length", `const f = (a, b) => {}; return f.name === "f" && f.length === 2 && (function () {}).bind(null).name === "bound "`},
	{"bind call apply", `function f(x) { return this.a + x } return f.call({ a: 1 }, 2) === 3 && f.apply({ a: 1 }, [2]) === 3 && f.bind({ a: 1 })(2) === 3`},
	{"console by destructuring", `const { log, error } = console; log("x"); error("y"); return true`},
	{"set methods", `return new Set([1, 2]).union ? new Set([1, 2]).union(new Set([3])).size === 3 : true`},
	{"iterator helpers", `return [1, 2, 3].values().map ? [...[1, 2, 3].values().map((x) => x * 2)].join() === "2,4,6" : true`},
	{"array by length", `const a = []; a[5] = 1; a.length = 2; return a.length === 2 && !(0 in a)`},
	{"sum of a million", `let s = 0; for (let i = 0; i < 1e6; i++) s += i; return s === 499999500000`},
	{"csv", `const rows = "a,b\n1,2\n3,4".split("\n").map((l) => l.split(",")); const [h, ...r] = rows; return r.map((x) => Object.fromEntries(h.map((k, i) => [k, +x[i]])))[1].b === 4`},
}

func TestOrdinaryCode(t *testing.T) {
	for _, level := range []protocol.Level{protocol.Strict, protocol.Secure, protocol.Standard, protocol.Permissive} {
		if testing.Short() && (level == protocol.Secure || level == protocol.Standard) {
			continue // between the two others: make soak runs all
		}
		t.Run(level.String(), func(t *testing.T) {
			e := testEnclave(t, EnclaveOptions{Level: level})
			for _, c := range ordinary {
				res, err := e.Run(testContext(t), c.code, RunOptions{})
				if err != nil || res.Value != true {
					got := ""
					if res != nil {
						got = wire(res.Value)
					}
					t.Errorf("%s: %s %v", c.name, got, err)
				}
			}
		})
	}
}

// The globals of each level are those in the tables of the levels.
func TestLevelsGlobals(t *testing.T) {
	names := strings.Fields("Function eval globalThis self Proxy Reflect SharedArrayBuffer Atomics WebAssembly WeakRef FinalizationRegistry ShadowRealm Iterator performance")
	names = append(names, enclave.AlwaysRemoved()...)
	for _, level := range []protocol.Level{protocol.Strict, protocol.Secure, protocol.Standard, protocol.Permissive} {
		gone := map[string]bool{}
		for _, n := range enclave.HardeningOf(level).Removed {
			gone[n] = true
		}
		e := testEnclave(t, EnclaveOptions{Level: level})
		var code strings.Builder
		code.WriteString("return [")
		for _, n := range names {
			code.WriteString("typeof " + n + ",")
		}
		res, err := e.Run(testContext(t), code.String()+"]", RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range res.Value.([]any) {
			if n := names[i]; gone[n] && v != "undefined" {
				t.Errorf("%s: %s is %v", level, n, v)
			} else if !gone[n] && v == "undefined" && n != "Iterator" {
				t.Errorf("%s: %s is gone", level, n)
			}
		}
		e.Close()
	}
}

// Each layer has a switch. With the layer off, only its own effect is missing.
func TestLayerSwitches(t *testing.T) {
	probes := []struct {
		layer frame.Layer
		code  string
	}{
		{frame.LayerGlobals, `return typeof importScripts + typeof Worker`},
		{frame.LayerPrototypes, `try { Array.prototype.x = 1; return [].x } catch (e) { return e.name }`},
		{frame.LayerGuards, `try { return (() => {}).constructor("return 1").name } catch (e) { return e.message }`},
		{frame.LayerTame, `return typeof RegExp.$1 + typeof crypto.subtle + typeof URL.createObjectURL`},
		{frame.LayerMemory, `try { return "x".repeat(5e5).length } catch (e) { return e.name }`},
	}
	run := func(off ...frame.Layer) []string {
		e := testEnclave(t, EnclaveOptions{off: off, Limits: protocol.Limits{HeapMemory: 1 << 19}})
		defer e.Close()
		var out []string
		for _, p := range probes {
			res, err := e.Run(testContext(t), p.code, RunOptions{})
			if err != nil {
				t.Fatalf("%s with %q off: %v", p.layer, off, err)
			}
			out = append(out, wire(res.Value))
		}
		return out
	}
	on := run()
	t.Logf("all on: %q", on)
	for i, p := range probes {
		got := run(p.layer)
		for j := range probes {
			if (got[j] != on[j]) != (i == j) {
				t.Errorf("%s off: the probe of %s says %s, with all on %s", p.layer, probes[j].layer, got[j], on[j])
			}
		}
	}
}
