package jsx

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// hostile are objects that throw on every access.
var hostile = map[string]string{
	"getter":        `{get x() { throw new TypeError("no") }, set x(v) { throw new TypeError("no") }}`,
	"throws a word": `{get x() { throw "no" }, set x(v) { throw "no" }}`,
	"proxy": `new Proxy(function(){}, {get() { throw new TypeError("no") }, set() { throw new TypeError("no") }, has() { throw new TypeError("no") },
		deleteProperty() { throw new TypeError("no") }, getPrototypeOf() { throw new TypeError("no") }, getOwnPropertyDescriptor() { throw new TypeError("no") }, apply() { throw new TypeError("no") }})`,
	"revoked proxy": `(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()`,
	"foreign window": `(() => { const f = document.createElement("iframe"); f.sandbox = "allow-scripts"; f.srcdoc = "x"; document.body.append(f);
		return f.contentWindow })()`,
}

func TestHostileObjectsAreErrors(t *testing.T) {
	t.Cleanup(func() { eval(t, `document.querySelectorAll("iframe").forEach(f => f.remove())`) })
	for name, code := range hostile {
		t.Run(name, func(t *testing.T) {
			v := eval(t, code)
			check := func(what string, err error) {
				t.Helper()
				var e *Error
				if !errors.As(err, &e) || e.Error() == "" {
					t.Errorf("%s: %v, want an *Error", what, err)
				}
			}
			_, err := Get(v, "x")
			check("Get", err)
			check("Set", Set(v, "x", 1))
			_, err = Call(v, "x", 1)
			check("Call", err)
			_, err = Lookup(v, "x.y")
			check("Lookup", err)
			_, err = GetInt(v, "x")
			check("GetInt", err)
			if _, err = Length(v); name != "foreign window" { // which shows its length to all
				check("Length", err)
			}
			_, err = Bytes(v, 10)
			check("Bytes", err)
			// These have no error to return; they must come back.
			Has(v, "x")
			InstanceOf(v, "Map")
			IsArray(v)
			TypeOf(v)
			Index(v, 0)
			Delete(v, "x")
			Invoke(v)
			New(v)
			if e := ErrorOf(v); e.Error() == "" {
				t.Error("ErrorOf has no text")
			}
		})
	}
}

func TestGetSetCall(t *testing.T) {
	o := eval(t, `{n: 1, f(a, b) { return this.n + a + b }, deep: {er: {x: 7}}, list: ["a", "b"]}`)
	if v, err := Lookup(o, "deep.er.x"); num(t, v) != 7 || err != nil {
		t.Error(v, err)
	}
	if _, err := Lookup(o, "deep.no.x"); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "deep.no.x") {
		t.Error(err)
	}
	if err := Set(o, "n", 40); err != nil {
		t.Error(err)
	}
	if v, err := Call(o, "f", 1, 1); num(t, v) != 42 || err != nil {
		t.Error(v, err)
	}
	if _, err := Call(o, "n"); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "call n") {
		t.Error(err)
	}
	list, _ := Get(o, "list")
	if n, err := Length(list); n != 2 || err != nil || !IsArray(list) || IsArray(o) {
		t.Error(n, err)
	}
	el, _ := Index(list, 1)
	if s, err := String(el, 1); s != "b" || err != nil {
		t.Error(s, err)
	}
	if err := Delete(o, "n"); err != nil || Has(o, "n") || !Has(o, "toString") {
		t.Error(err)
	}
	frozen := eval(t, `Object.freeze({x: 1})`)
	if err := Set(frozen, "x", 2); !errors.Is(err, ErrType) {
		t.Errorf("a frozen property was set: %v", err)
	}
	if err := Delete(frozen, "x"); !errors.Is(err, ErrType) {
		t.Errorf("a frozen property was deleted: %v", err)
	}
	for _, v := range []Value{Undefined(), Null(), eval(t, "5"), eval(t, `"s"`), eval(t, "10n")} {
		if _, err := Get(v, "x"); !errors.Is(err, ErrType) {
			t.Errorf("Get of a %s: %v", TypeOf(v), err)
		}
	}
	m, err := NewMethod("Array.prototype.join")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := m.Call(list, "+"); err != nil {
		t.Error(err)
	} else if s, _ := String(v, 0); s != "a+b" {
		t.Error(s)
	}
	if _, err := m.Call(Null()); !errors.Is(err, ErrType) {
		t.Error(err)
	}
	if _, err := NewMethod("Array.prototype.nosuch"); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := NewGlobal("NoSuchClass"); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "NoSuchClass") {
		t.Error(err)
	}
	for path, want := range map[string]bool{"Array.prototype.join": true, "navigator.userAgent": true, "NoSuch": false, "NoSuch.x.y": false, "Array.no.x": false} {
		if Supported(path) != want {
			t.Errorf("Supported(%q) = %v", path, !want)
		}
	}
	d := ok(t, must(NewGlobal("Date", 0)), nil)
	if !InstanceOf(d, "Date") || InstanceOf(d, "Map") || InstanceOf(d, "NoSuch") {
		t.Error("InstanceOf")
	}
}

func TestTypedGetters(t *testing.T) {
	for _, tt := range []struct {
		code                   string
		float, finite, integer bool
	}{
		{"0", true, true, true}, {"-0", true, true, true}, {"-1", true, true, true}, {"1.5", true, true, false},
		{"NaN", true, false, false}, {"Infinity", true, false, false}, {"-Infinity", true, false, false},
		{"2**53-1", true, true, true}, {"2**53", true, true, false}, {"1e300", true, true, false},
		{"10n", false, false, false}, {`"1"`, false, false, false}, {"true", false, false, false}, {"null", false, false, false},
		{"undefined", false, false, false}, {"({valueOf() { return 1 }})", false, false, false},
	} {
		v := eval(t, tt.code)
		if _, err := Float64(v); (err == nil) != tt.float {
			t.Errorf("Float64(%s): %v", tt.code, err)
		}
		if f, err := Finite(v); (err == nil) != tt.finite || math.IsNaN(f) {
			t.Errorf("Finite(%s): %v", tt.code, err)
		}
		if _, err := Int(v); (err == nil) != tt.integer {
			t.Errorf("Int(%s): %v", tt.code, err)
		}
	}
	for code, want := range map[string]string{"1n": "bigint", "1": "number", "null": "null", "undefined": "undefined", "Symbol()": "symbol", "(()=>1)": "function", "({})": "object", `""`: "string", "true": "boolean"} {
		v := eval(t, code)
		if got := TypeOf(v); got != want {
			t.Errorf("TypeOf(%s) = %s", code, got)
		}
		if _, err := Bool(v); (err == nil) != (want == "boolean") {
			t.Errorf("Bool(%s): %v", code, err)
		}
		if _, err := String(v, 9); (err == nil) != (want == "string") {
			t.Errorf("String(%s): %v", code, err)
		}
	}
	o := eval(t, `{s: "text", n: 3, b: true, f: 0.5}`)
	if s, err := GetString(o, "s", 4); s != "text" || err != nil {
		t.Error(s, err)
	}
	if b, err := GetBool(o, "b"); !b || err != nil {
		t.Error(b, err)
	}
	if f, err := GetFinite(o, "f"); f != 0.5 || err != nil {
		t.Error(f, err)
	}
	if _, err := GetInt(o, "s"); err == nil || !strings.Contains(err.Error(), "get s") || !strings.Contains(err.Error(), "string") {
		t.Error(err)
	}
}

func TestStringLimit(t *testing.T) {
	for n, want := range map[int]bool{9: true, 10: true, 11: false} {
		v := must(ToJS(strings.Repeat("x", n)))
		s, err := String(v, 10)
		if (err == nil) != want || want && len(s) != n {
			t.Errorf("%d units: %q, %v", n, s, err)
		}
		var e *SizeError
		if !want && (!errors.As(err, &e) || !errors.Is(err, ErrTooLarge) || e.Size != int64(n) || e.Limit != 10) {
			t.Errorf("%v", err)
		}
	}
	if s, err := String(eval(t, `"a\ud800b"`), 3); s != "a\ufffdb" || err != nil {
		t.Errorf("a lone surrogate became %q, %v", s, err)
	}
	if s, err := String(eval(t, `"x\0y"`), 3); s != "x\x00y" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
}

func TestToJS(t *testing.T) {
	for _, tt := range []struct {
		x     any
		check string
	}{
		{nil, `v => v === null`}, {true, `v => v === true`}, {"s\x00\u2028", `v => v === "s\0\u2028"`},
		{1 << 52, `v => v === 2**52`}, {uint8(3), `v => v === 3`}, {float32(0.5), `v => v === .5`}, {math.NaN(), `v => v !== v`},
		{int64(-maxSafeInteger), `v => v === -(2**53-1)`}, {math.Copysign(0, -1), `v => Object.is(v, -0) || v === 0`},
		{[]byte{1, 2}, `v => v instanceof Uint8Array && v.length === 2 && v[1] === 2 && v.byteOffset === 0`},
		{[]string{"a", "b"}, `v => Array.isArray(v) && v.join() === "a,b"`},
		{map[string]string{"k": "v"}, `v => v.k === "v"`},
		{[]any{}, `v => Array.isArray(v) && v.length === 0`},
		{[]any{math.Inf(1), nil, "x"}, `v => v[0] === Infinity && v[1] === null && v[2] === "x" && v.length === 3`},
		{[]any{5, []byte{1}}, `v => v[0] === 5 && v.length === 2 && v[1][0] === 1`},
		{[]any{[]byte{9}}, `v => v.length === 1 && v[0][0] === 9`},
		{map[string]any{"a": map[string]any{"b": []byte{7}}, "c": Undefined()}, `v => v.a.b[0] === 7 && "c" in v && v.c === undefined`},
		{map[string]any{"__proto__": map[string]any{"polluted": 1}}, `v => Object.hasOwn(v, "__proto__") && v.polluted === undefined && Object.getPrototypeOf(v) === Object.prototype`},
		{map[string]any{"__proto__": []byte{1}, "constructor": 1}, `v => Object.hasOwn(v, "__proto__") && Object.hasOwn(v, "constructor") && Object.getPrototypeOf(v) === Object.prototype`},
		{map[string]any{"v": eval(t, `new Map`)}, `v => v.v instanceof Map`},
		{ToRaw(eval(t, `7`)), `v => v === 7`},
	} {
		v, err := ToJS(tt.x)
		if err != nil {
			t.Errorf("%#v: %v", tt.x, err)
		} else if !isTrue(t, tt.check, v) {
			t.Errorf("%#v: not %s", tt.x, tt.check)
		}
		// As an argument it is the same.
		if !isTrue(t, tt.check, tt.x) {
			t.Errorf("argument %#v: not %s", tt.x, tt.check)
		}
	}
	for _, tt := range []struct {
		x    any
		want Code
	}{
		{maxSafeInteger + 1, ErrRange}, {int64(math.MinInt64), ErrRange}, {uint64(math.MaxUint64), ErrRange}, {[]any{uint64(math.MaxUint64)}, ErrRange},
		{struct{}{}, ErrDataClone}, {[]int{1}, ErrDataClone}, {errors.New("x"), ErrDataClone}, {map[string]any{"f": func() {}}, ErrDataClone},
	} {
		if _, err := ToJS(tt.x); !errors.Is(err, tt.want) {
			t.Errorf("ToJS(%T) = %v, want %v", tt.x, err, tt.want)
		}
		if _, err := Invoke(eval(t, `x => x`), tt.x); !errors.Is(err, tt.want) {
			t.Errorf("argument %T: %v, want %v", tt.x, err, tt.want)
		}
	}
	loop := map[string]any{}
	loop["self"] = loop
	if _, err := ToJS(loop); !errors.Is(err, ErrRange) {
		t.Errorf("a map that holds itself: %v", err)
	}
}
