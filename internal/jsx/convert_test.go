package jsx

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestAppendJSON(t *testing.T) {
	for _, x := range []any{
		nil, true, false, "", "plain", "q\"b\\s/\n\r\t\x00\x1f", "ümlaut 漢字 🙂 \u2028\u2029", "<script>&",
		0.0, 1.5, -1e-9, 1e21, 1.7976931348623157e308,
		map[string]any{}, map[string]any{"__proto__": map[string]any{"x": 1.0}, "constructor": "c"},
		[]any{}, []any{nil, []any{1.0, "two"}}, []string{"a", "b"}, []string{}, map[string]string{"k": "v", "": ""},
	} {
		b, ok := appendJSON(nil, x, 0)
		if !ok {
			t.Errorf("%#v was refused", x)
			continue
		}
		var got, want any
		ref, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(ref, &want) != nil || json.Unmarshal(b, &got) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%#v: %s, want %s", x, b, ref)
		}
	}
}

func TestAppendJSONIntegers(t *testing.T) {
	for _, x := range []any{int8(-128), int16(1), int32(2), int64(maxSafeInteger), -maxSafeInteger, uint(3), uint8(255), uint16(4), uint32(math.MaxUint32), uint64(maxSafeInteger)} {
		if b, ok := appendJSON(nil, x, 0); !ok || strings.ContainsAny(string(b), ".e") {
			t.Errorf("%T(%v) = %s, %v", x, x, b, ok)
		}
	}
	for _, x := range []any{maxSafeInteger + 1, -maxSafeInteger - 1, uint64(math.MaxUint64), uint(math.MaxUint64), math.NaN(), math.Inf(1), math.Copysign(0, -1), []byte{}, struct{}{}, []int{1}, map[string]any{"x": []any{math.NaN()}}} {
		if b, ok := appendJSON(nil, x, 0); ok {
			t.Errorf("%T(%v) became %s", x, x, b)
		}
	}
}

func TestAppendJSONDepth(t *testing.T) {
	nest := func(n int) any {
		var x any = "leaf"
		for range n {
			x = []any{x}
		}
		return x
	}
	for n, want := range map[int]bool{maxDepth - 1: true, maxDepth: true, maxDepth + 1: false} {
		if _, ok := appendJSON(nil, nest(n), 0); ok != want {
			t.Errorf("%d levels: %v, want %v", n, ok, want)
		}
	}
	loop := map[string]any{}
	loop["self"] = loop
	if _, ok := appendJSON(nil, loop, 0); ok {
		t.Error("a map that holds itself was written")
	}
}
