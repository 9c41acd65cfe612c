package enclave_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

// mark stands before each text: a Go string that begins with a byte order mark
// loses it on its way to JavaScript, by TextDecoder.
const mark = "."

// twin is the scripts as a page runs them: in a function of their own.
func twin(t testing.TB) func(method string, args ...any) string {
	t.Helper()
	v, err := jsx.Call(jsx.Global(), "eval", `(() => {`+enclave.ScriptText(enclave.Scripts())+`
		const caps = (bytes, depth, nodes) => ({ bytes, depth, nodes });
		const tried = (f) => { try { return 'ok ' + f(); } catch (e) { return 'no ' + (e.code || 'uncaught ' + e.name + ': ' + e.message + e.stack); } };
		return {
			value: (text, b, d, n) => tried(() => (text = text.slice(1), baileyEncode(baileyDecode.decodeValue(text, caps(b, d, n)), caps(b, d, n)))),
			read: (text, b, d, n) => tried(() => (text = text.slice(1), baileyEncode(baileyTags.read(text), caps(b, d, n)))),
			batch: (text, from, b, d, n) => tried(() => {
				text = text.slice(1);
				const read = (quick) => tried(() => JSON.stringify(baileyMessages.decodeBatch(text, from, caps(b, d, n), quick), (k, v) => v === undefined ? 'undefined' : typeof v === 'bigint' ? v + 'n' : v));
				if (read(true) !== read(false)) return 'quickly ' + read(true) + ', slowly ' + read(false);
				const got = baileyMessages.decodeBatch(text, from, caps(b, d, n));
				const again = baileyMessages.encodeBatch(got.gen, got.msgs, from, caps(b, d, n));
				const joined = baileyMessages.joinBatch(got.gen, got.texts.join(','), caps(b, d, n));
				if (joined !== text) return 'joined as ' + joined;
				return again;
			}),
			encode: (code, b, d, n, drop, lenient) => tried(() => baileyEncode((0, eval)('(' + code + ')'), caps(b, d, n), { drop, lenient })),
		};
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	return func(method string, args ...any) string {
		t.Helper()
		r, err := jsx.Call(v, method, args...)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		s, err := jsx.String(r, 1<<26)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestTwinTakesTheVectors(t *testing.T) {
	js := twin(t)
	for _, v := range vectors(t, valueVectors, 180) {
		l := v.limits()
		want := "no " + string(v.Code)
		if v.OK {
			want = "ok " + v.Canon
			if v.CanonJS != "" {
				want = "ok " + v.CanonJS
			}
		}
		if got := js("value", mark+v.Text, l.Bytes, l.Depth, l.Nodes); got != want {
			t.Errorf("%s: %.60s: %.300s, want %.100s", v.Name, v.Text, got, want)
		}
		// A text that was checked can be read without checks.
		if got := js("read", mark+v.Text, l.Bytes, l.Depth, l.Nodes); v.OK && got != want {
			t.Errorf("%s: %.60s: read without a check it is %.300s, want %.100s", v.Name, v.Text, got, want)
		}
	}
	for _, v := range vectors(t, batchVectors, 150) {
		l := v.limits()
		want := "no " + string(v.Code)
		if v.OK {
			want = "ok " + v.Text
		}
		if got := js("batch", mark+v.Text, v.From, l.Bytes, l.Depth, l.Nodes); got != want {
			t.Errorf("%s: %.100s: %.300s, want %.100s", v.Name, v.Text, got, want)
		}
	}
}

// A batch that the browser's own JSON reads is read as the reader reads it: the same messages and texts, or the same error.
func TestTwinReadsQuickly(t *testing.T) {
	js := twin(t)
	values := []string{`1`, `"a"`, `"\u00e9"`, `"é"`, `null`, `[]`, `{}`, `[1,[2,{"a":[]}]]`, `{"a":1,"b":{"c":"d"}}`, `1.5`, `1e3`, `1e999`, `-0`, `0.10`, `1e21`, `1e+21`,
		`{"a":1,"a":2}`, `{"2":1,"1":2}`, `{"__proto__":1}`, `"__proto__"`, `{"$":["bigint","1"]}`, `{"$":1}`, `"\ud800"`, `"\ud83d\ude00"`, `"😀"`, `"\\ud800"`, `[ 1]`, `"\/"`, `"\n"`, `"\u000a"`, "\"\u007f\"", `[[[[[[1]]]]]]`, `{"a":`, `]`, `1]`}
	for _, v := range values {
		for _, frame := range []string{
			`{"v":1,"gen":1,"msgs":[{"type":"result","success":true,"value":%s}]}`, `{"v":1,"gen":1,"msgs":[{"type":"console","level":"log","args":[%s]},{"type":"tool-call","callId":1,"toolName":"a","args":%s}]}`,
			`{"v":1,"gen":%s,"msgs":[]}`, `{"gen":1,"v":1,"msgs":[%s]}`, `{"v":1,"gen":1,"msgs":[%s]}`, `{"v":1,"gen":1,"msgs":%s}`, `{"v":1,"gen":1,"msgs":[],"a":%s}`, `{"v":2,"gen":1,"msgs":[%s]}`,
			`{"v":1,"gen":1,"msgs":[{"type":"start","value":%s}]}`, `{"v":1,"gen":1,"msgs":[{"type":"result","success":true,"other":%s}]}`, ` {"v":1,"gen":1,"msgs":[%s]}`, `%s`,
		} {
			text := strings.ReplaceAll(frame, "%s", v)
			for _, l := range [][3]int{{1000, 64, 1000}, {60, 64, 1000}, {1000, 5, 1000}, {1000, 64, 15}, {1000, 64, 17}} {
				if got := js("batch", mark+text, "CodeToBroker", l[0], l[1], l[2]); strings.HasPrefix(got, "quickly ") {
					t.Errorf("%s, limits %v: %s", text, l, got)
				}
			}
		}
	}
}

// A value that code makes must arrive in Go as the same value.
func TestTwinEncodes(t *testing.T) {
	js := twin(t)
	for _, c := range []struct {
		code, want    string
		drop, lenient bool
	}{
		{code: `undefined`, want: `ok {"$":["undefined"]}`},
		{code: `{a: undefined, b: [undefined]}`, want: `ok {"a":{"$":["undefined"]},"b":[{"$":["undefined"]}]}`},
		{code: `{a: undefined, b: [undefined], c: 1}`, drop: true, want: `ok {"b":[null],"c":1}`},
		{code: `[NaN, Infinity, -Infinity, -0, 0, 1e21, 1e-7]`, want: `ok [{"$":["NaN"]},{"$":["Infinity"]},{"$":["-Infinity"]},{"$":["-0"]},0,1e+21,1e-7]`},
		{code: `new Map([['a', new Set([1, 2n])]])`, want: `ok {"$":["map","a",{"$":["set",1,{"$":["bigint","2"]}]}]}`},
		{code: `new Date(0)`, want: `ok {"$":["date",0]}`},
		{code: `new Date(NaN)`, want: `ok {"$":["date",null]}`},
		{code: `new Uint8Array([0, 1, 255])`, want: `ok {"$":["bytes","Uint8Array","AAH/"]}`},
		{code: `new Uint8Array([9, 0, 1, 9]).subarray(1, 3)`, want: `ok {"$":["bytes","Uint8Array","AAE="]}`},
		{code: `new Float64Array([1])`, want: `ok {"$":["bytes","Float64Array","AAAAAAAA8D8="]}`},
		{code: `new Uint16Array([258]).buffer`, want: `ok {"$":["bytes","ArrayBuffer","AgE="]}`},
		{code: `new DataView(new ArrayBuffer(3), 1)`, want: `ok {"$":["bytes","DataView","AAA="]}`},
		{code: `new Uint8Array(100000).fill(65).length && new Uint8Array(3).fill(65)`, want: `ok {"$":["bytes","Uint8Array","QUFB"]}`},
		{code: `Object.assign(new TypeError('no'), {stack: 's', code: 'TIMEOUT'})`, want: `ok {"$":["error","TypeError","no","s","TIMEOUT"]}`},
		{code: `Object.assign(new Error('no', {cause: 1}), {stack: 's', code: 'ENOENT'})`, want: `ok {"$":["error","Error","no","s","",1]}`},
		{code: `{$: 1, a: 2}`, want: `ok {"$":["object","$",1,"a",2]}`},
		{code: `Object.create(null, {a: {value: 1, enumerable: true}})`, want: `ok {"a":1}`},
		{code: `new (class P { constructor() { this.x = 1; this._y = 2; } get z() { return 3; } })()`, want: `ok {"x":1,"_y":2}`},
		{code: `new (class P { toJSON() { return {x: 1}; } })()`, want: `ok {"x":1}`},
		{code: `'\ud800x'`, want: "ok \"\ufffdx\""},
		{code: `'😀\u0000"\\'`, want: `ok "😀\u0000\"\\"`},
		{code: `[,1]`, want: `ok [{"$":["undefined"]},1]`},
		{code: `[new Boolean(true)].length`, want: `ok 1`},
		{code: `['constructor', '$', '__proto__', {a: 'prototype'}]`, want: `ok ["constructor","$","__proto__",{"a":"prototype"}]`},
		{code: `Object.assign([1], {toJSON: () => 2})`, want: `ok [1]`},
		{code: `new (class A extends Array { toJSON() { return 2; } })(1, 2)`, want: `ok [1,2]`},
		{code: `[{get toJSON() { return undefined; }, a: 1}]`, drop: true, want: `ok [{"a":1}]`},
		{code: `{b: 1, 2: 'x', 1: [true, null]}`, want: `ok {"1":[true,null],"2":"x","b":1}`},
		{code: `{a: ['\udc00', '\\ud800']}`, want: "ok {\"a\":[\"\ufffd\",\"\\\\ud800\"]}"},
		// Refused, with a code and never by a crash.
		{code: `{a: 1, toJSON: () => 2}`, want: `no INVALID_PARAMS`},
		{code: `() => 1`, want: `no INVALID_PARAMS`},
		{code: `[Symbol('a')]`, want: `no INVALID_PARAMS`},
		{code: `{a: Promise.resolve(1)}`, want: `no INVALID_PARAMS`},
		{code: `{constructor: 1}`, want: `no SECURITY_VIOLATION`},
		{code: `JSON.parse('{"__proto__": 1}')`, want: `no SECURITY_VIOLATION`},
		{code: `{$: 1, prototype: 2}`, want: `no SECURITY_VIOLATION`},
		{code: `{'\ud800': 1}`, want: `no INVALID_PARAMS`},
		{code: `(() => { const a = []; a.push(a); return a; })()`, want: `no RESOURCE_LIMIT`},
		{code: `(() => { const a = {}; a.a = a; return a; })()`, want: `no RESOURCE_LIMIT`},
		{code: `(() => { const m = new Map(); m.set(m, m); return m; })()`, want: `no RESOURCE_LIMIT`},
		{code: `(() => { const e = new Error('a'); e.cause = e; return e; })()`, want: `no RESOURCE_LIMIT`},
		{code: `(() => { const o = new (class { toJSON() { return new this.constructor(); } })(); return o; })()`, want: `no RESOURCE_LIMIT`},
		{code: `new Array(4e9)`, want: `no RESOURCE_LIMIT`},
		{code: `new Proxy([], {get: (t, k) => k === 'length' ? 1e9 : 1})`, want: `no RESOURCE_LIMIT`},
		{code: `new Proxy({}, {ownKeys: () => Array.from({length: 300000}, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({value: 1, enumerable: true, configurable: true}), get: () => 1})`, want: `no RESOURCE_LIMIT`},
		{code: `'x'.repeat(2e6)`, want: `no RESOURCE_LIMIT`},
		{code: `'é'.repeat(6e5)`, want: `no RESOURCE_LIMIT`},
		{code: `new Uint8Array(2e6)`, want: `no RESOURCE_LIMIT`},
		{code: `10n ** 4096n`, want: `no INVALID_PARAMS`},
		{code: `Array(300000).fill(1)`, want: `no RESOURCE_LIMIT`},
		{code: `Array.from({length: 2000}, () => 'x'.repeat(1000))`, want: `no RESOURCE_LIMIT`},
		{code: `{get a() { throw Object.assign(new Error('trap'), {code: 'ABORTED'}); }}`, want: `no ABORTED`},
		// The console describes values without a form in JSON.
		{code: `[() => 1, Symbol('a'), Promise.resolve()]`, lenient: true, want: `ok ["[a function]","[a symbol]","[a Promise (await it first)]"]`},
		{code: `{constructor: 1}`, lenient: true, want: `ok {"[constructor]":1}`},
	} {
		got := js("encode", c.code, 1<<20, 64, 200_000, c.drop, c.lenient)
		if got != c.want {
			t.Errorf("%s:\n got %.300s\nwant %s", c.code, got, c.want)
		}
		if text, ok := strings.CutPrefix(got, "ok "); ok {
			if _, err := enclave.DecodeValue(text, protocol.JSONLimits{Bytes: 1 << 20, Depth: 64, Nodes: 200_000}); err != nil {
				t.Errorf("%s: Go does not take it: %v", c.code, err)
			}
		}
	}
	got := js("encode", `(() => { const a = []; a.push(a); return a; })()`, 1<<20, 8, 200_000, false, true)
	if got != `ok `+strings.Repeat("[", 8)+`"[…]"`+strings.Repeat("]", 8) {
		t.Errorf("a cycle on the console: %s", got)
	}
}

// Each decoder accepts the texts of the other side's encoder under the same caps.
func TestTwinsShareTheirCaps(t *testing.T) {
	js := twin(t)
	codes := []string{`[1,[2,[3]]]`, `{a:{b:{c:1}}}`, `new Map([[1,new Set([{}])]])`, `[undefined, -0, 5n]`, `new Error('x')`, `{$:{$:1}}`, `new Uint8Array(9)`, `'é'.repeat(20)`, `new Date(5)`}
	taken := 0
	for _, code := range codes {
		for bytes := 10; bytes < 120; bytes += 7 {
			for depth := 1; depth < 9; depth++ {
				for nodes := 1; nodes < 24; nodes += 2 {
					got := js("encode", code, bytes, depth, nodes, false, false)
					if text, ok := strings.CutPrefix(got, "ok "); ok {
						taken++
						if _, err := enclave.DecodeValue(text, protocol.JSONLimits{Bytes: bytes, Depth: depth, Nodes: nodes}); err != nil {
							t.Fatalf("%s under %d, %d, %d: %s: %v", code, bytes, depth, nodes, text, err)
						}
					} else if got != "no RESOURCE_LIMIT" {
						t.Fatalf("%s: %s", code, got)
					}
				}
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d were taken", taken)
	}
}

// Broken texts are taken or refused alike by both, with the same value or the same
// code.
func TestTwinsAgreeOnBrokenTexts(t *testing.T) {
	js := twin(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	var seeds []vector
	for _, v := range append(vectors(t, valueVectors, 180), vectors(t, batchVectors, 150)...) {
		if len(v.Text) < 2000 && v.Text != "" {
			seeds = append(seeds, v)
		}
	}
	bits := []string{`"`, `\`, `{`, `}`, `[`, `]`, `,`, `:`, `$`, `1`, `-`, `0`, `e`, `.`, `null`, `true`, `\u`, `\ud83d`, `\ude00`, `😀`, ` `, "\n", `"a":1`, `{"$":["-0"]}`, `"type"`, `"__proto__"`, `=`, `A`, "\ufeff"}
	rounds := 30_000
	if testing.Short() {
		rounds = 2_000
	}
	same := 0
	for range rounds {
		v := seeds[rnd.IntN(len(seeds))]
		runes := []rune(v.Text)
		for range 1 + rnd.IntN(3) {
			i := rnd.IntN(len(runes) + 1)
			switch rnd.IntN(3) {
			case 0:
				runes = append(runes[:i:i], append([]rune(bits[rnd.IntN(len(bits))]), runes[i:]...)...)
			case 1:
				j := min(len(runes), i+1+rnd.IntN(3))
				runes = append(runes[:i:i], runes[j:]...)
			case 2:
				if i < len(runes) {
					runes[i] = []rune(bits[rnd.IntN(len(bits))])[0]
				}
			}
		}
		text := string(runes)
		var got, want string
		if v.From == "" {
			got = js("value", mark+text, 1<<16, 16, 1000)
			if read := js("read", mark+text, 1<<16, 16, 1000); strings.HasPrefix(got, "ok") && read != got {
				t.Fatalf("%q: read with a check it is %q, without %q", text, got, read)
			}
			l := protocol.JSONLimits{Bytes: 1 << 16, Depth: 16, Nodes: 1000}
			if tree, err := enclave.DecodeValue(text, l); err != nil {
				want = "no " + string(protocol.CodeOf(err))
			} else if again, err := enclave.EncodeValue(tree, l); err != nil {
				want = "no " + string(protocol.CodeOf(err))
			} else {
				want = "ok " + again
			}
		} else {
			got = js("batch", mark+text, v.From, 1<<16, 16, 1000)
			l := protocol.JSONLimits{Bytes: 1 << 16, Depth: 16, Nodes: 1000}
			if _, err := enclave.DecodeBatch(text, directions()[v.From], l); err != nil {
				want = "no " + string(protocol.CodeOf(err))
			} else {
				want = "ok"
			}
			got, _, _ = strings.Cut(got, " {")
		}
		if strings.HasPrefix(got, "ok") && strings.HasPrefix(want, "ok") {
			// JavaScript has another order of members and escapes other characters. Go must write
			// the value that it decodes from JavaScript's text in the same way.
			if text, ok := strings.CutPrefix(got, "ok "); ok {
				tree, err := enclave.DecodeValue(text, protocol.JSONLimits{})
				again, err2 := enclave.EncodeValue(tree, protocol.JSONLimits{})
				if err != nil || err2 != nil || "ok "+again != want {
					t.Fatalf("%q: JavaScript has %q, Go %q", v.Text, got, want)
				}
			}
			same++
			continue
		}
		if got != want {
			t.Fatalf("%q (%s):\nJavaScript %.300q\nGo         %.300q", text, v.From, got, want)
		}
	}
	if same < rounds/50 {
		t.Errorf("only %d of %d were still right", same, rounds)
	}
}
