package enclave_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/wire/enclave"
	"github.com/bailey-go/bailey/protocol"
)

func TestValuesInGo(t *testing.T) {
	date := time.UnixMilli(1_795_000_000_123).UTC()
	for text, want := range map[string]any{
		`null`: nil, `{"a":[1,"b",true]}`: map[string]any{"a": []any{1.0, "b", true}},
		`{"$":["undefined"]}`: protocol.Undefined{}, `{"$":["bigint","-5"]}`: protocol.BigInt("-5"),
		`{"$":["date",1795000000123]}`: date, `{"$":["date",null]}`: protocol.InvalidDate{},
		`{"$":["map","a",1]}`: &protocol.Map{Entries: []protocol.MapEntry{{Key: "a", Value: 1.0}}}, `{"$":["set",1]}`: protocol.Set{1.0},
		`{"$":["bytes","Uint8Array","AAE="]}`: []byte{0, 1}, `{"$":["bytes","Int8Array","/w=="]}`: &protocol.TypedArray{Kind: "Int8Array", Data: []byte{255}},
		`{"$":["error","TypeError","no","","TIMEOUT"]}`: &protocol.ErrorValue{Name: "TypeError", Message: "no", Code: protocol.ErrTimeout},
		`{"$":["object","$",1]}`:                        map[string]any{"$": 1.0}, `{"$":["Infinity"]}`: math.Inf(1),
	} {
		got, err := enclave.DecodeValue(text, protocol.JSONLimits{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %#v, %v", text, got, err)
		}
		again, err := enclave.EncodeValue(want, protocol.JSONLimits{})
		if err != nil || again != text {
			t.Errorf("%s: written as %s, %v", text, again, err)
		}
	}
	e := &protocol.ErrorValue{Name: "E", Message: "m", Code: protocol.ErrTimeout}
	if !errors.Is(e, protocol.ErrTimeout) || e.Error() != "E: m" {
		t.Error("ErrorValue")
	}
}

type loop struct {
	Next *loop `json:"next"`
}

func TestEncodeRefuses(t *testing.T) {
	l := &loop{}
	l.Next = l
	m := map[string]any{}
	m["m"] = m
	s := []any{nil}
	s[0] = s
	for name, c := range map[string]struct {
		v    any
		want error
	}{
		"a cycle of pointers": {l, protocol.ErrResourceLimit}, "a cycle of maps": {m, protocol.ErrResourceLimit}, "a cycle of slices": {s, protocol.ErrResourceLimit},
		"a function": {func() {}, protocol.ErrInvalidParams}, "a channel": {make(chan int), protocol.ErrInvalidParams}, "a complex": {1i, protocol.ErrInvalidParams},
		"keys that are numbers": {map[int]int{1: 1}, protocol.ErrInvalidParams}, "2^53+1": {1<<53 + 1, protocol.ErrInvalidParams}, "a large uint": {uint64(math.MaxUint64), protocol.ErrInvalidParams},
		"a refused key": {map[string]any{"__proto__": 1}, protocol.ErrSecurityViolation}, "a refused key in a field": {struct {
			A int `json:"constructor"`
		}{1}, protocol.ErrSecurityViolation},
		"a bad BigInt": {protocol.BigInt("1e3"), protocol.ErrInvalidParams}, "a bad typed array": {&protocol.TypedArray{Kind: "Int16Array", Data: []byte{1}}, protocol.ErrInvalidParams},
		"a late date": {time.UnixMilli(8.64e15 + 1), protocol.ErrInvalidParams}, "a long string": {strings.Repeat("a", 1<<20), protocol.ErrResourceLimit},
		"many values": {make([]int, 200_001), protocol.ErrResourceLimit}, "many bytes": {make([]byte, 1<<20), protocol.ErrResourceLimit},
	} {
		if text, err := enclave.EncodeValue(c.v, protocol.JSONLimits{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %.60s, %v", name, text, err)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1)} {
		if _, err := protocol.EncodeJSON(v, protocol.JSONLimits{}); err == nil {
			t.Errorf("%v in plain JSON", v)
		}
	}
	if got, err := protocol.EncodeJSON(map[string]any{"$": []byte{1}, "t": "</script>\u2028\xff"}, protocol.JSONLimits{}); err != nil || got != `{"$":"AQ==","t":"\u003c/script>\u2028`+"\ufffd"+`"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzDecodeValue(f *testing.F) {
	for _, v := range vectors(f, valueVectors, 100) {
		if len(v.Text) < 300 {
			f.Add(v.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := protocol.JSONLimits{Bytes: 4096, Depth: 16, Nodes: 500}
		v, err := enclave.DecodeValue(text, l)
		if err != nil {
			if c := protocol.CodeOf(err); c != protocol.ErrInvalidParams && c != protocol.ErrResourceLimit && c != protocol.ErrSecurityViolation {
				t.Fatalf("%v has the code %s", err, string(c))
			}
			return
		}
		once, err := enclave.EncodeValue(v, protocol.JSONLimits{Bytes: 1 << 16, Depth: 16, Nodes: 500})
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", text, err)
		}
		w, err := enclave.DecodeValue(once, protocol.JSONLimits{Bytes: 1 << 16, Depth: 16, Nodes: 500})
		if err != nil {
			t.Fatalf("%q was written and can't be read: %v", once, err)
		}
		twice, err := enclave.EncodeValue(w, protocol.JSONLimits{Bytes: 1 << 16, Depth: 16, Nodes: 500})
		if err != nil || once != twice {
			t.Fatalf("%q, then %q, %v", once, twice, err)
		}
	})
}

func FuzzDecodeBatch(f *testing.F) {
	for _, v := range vectors(f, batchVectors, 100) {
		if len(v.Text) < 1200 {
			f.Add(v.Text, uint8(directions()[v.From]))
		}
	}
	f.Fuzz(func(t *testing.T, text string, direction uint8) {
		d := enclave.Direction(direction % 4)
		l := protocol.JSONLimits{Bytes: 8192, Depth: 16, Nodes: 1000}
		b, err := enclave.DecodeBatch(text, d, l)
		if err != nil {
			if c := protocol.CodeOf(err); c != protocol.ErrInvalidParams && c != protocol.ErrResourceLimit && c != protocol.ErrSecurityViolation {
				t.Fatalf("%v has the code %s", err, string(c))
			}
			return
		}
		total := 0
		for _, n := range b.Sizes {
			total += n
		}
		if total > len(text) || len(b.Sizes) != len(b.Messages) {
			t.Fatalf("sizes %v of %d bytes", b.Sizes, len(text))
		}
		big := protocol.JSONLimits{Bytes: 1 << 17, Depth: 16, Nodes: 1000}
		once, err := enclave.EncodeBatch(b, d, big)
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", text, err)
		}
		c, err := enclave.DecodeBatch(once, d, big)
		if err != nil || len(c.Messages) != len(b.Messages) || c.Gen != b.Gen {
			t.Fatalf("%q was written and can't be read: %v", once, err)
		}
	})
}

// encoding/json accepts every text that this parser accepts, with the same value.
func FuzzParseJSON(f *testing.F) {
	for _, v := range vectors(f, valueVectors, 100) {
		if len(v.Text) < 300 {
			f.Add(v.Text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := protocol.ParseJSON(text, protocol.JSONLimits{})
		if err != nil {
			return
		}
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, encoding/json has %#v, %v", text, got, want, err)
		}
	})
}
