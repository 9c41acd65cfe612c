package protocol

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/internal/attack"
)

// The text of any value from code is not empty, is bounded, and shows the kind of the value.
func TestAttackPrinter(t *testing.T) {
	count := attack.Start(t, "B9")
	// The printer that an app writes for itself: texts as they are, all else as JSON.
	naive := func(v any) (string, error) {
		if s, ok := v.(string); ok {
			return s, nil
		}
		return EncodeJSON(v, JSONLimits{Bytes: 1 << 25, Depth: 64, Nodes: 1 << 21})
	}
	cycle := map[string]any{"a": 1.0}
	cycle["self"] = cycle
	loop := []any{nil}
	loop[0] = loop
	deep := any("x")
	for range 100_000 {
		deep = []any{deep}
	}
	wide := make([]any, 1_000_000)
	var noMap *Map
	var noError *ErrorValue
	var noBytes *TypedArray
	for _, c := range []struct {
		name string
		v    any
		want string // its beginning, where it is cut
	}{
		{"methods that are numbers", map[string]any{"toString": 1.0, "valueOf": 1.0}, `{toString: 1, valueOf: 1}`},
		{"a prototype", map[string]any{"__proto__": 1.0, "constructor": nil}, `{__proto__: 1, constructor: null}`},
		{"bigint", BigInt("1"), `1n`},
		{"a bigint of many digits", BigInt(strings.Repeat("9", 4096)), strings.Repeat("9", 4096) + "n"},
		{"a bigint that is none", BigInt("\x1b]52;c;\u202e"), `\u001b]52;c;\u202en`},
		{"undefined", Undefined{}, `undefined`},
		{"no date", InvalidDate{}, `Invalid Date`},
		{"a date", time.UnixMilli(1000).UTC(), `1970-01-01T00:00:01.000Z`},
		{"not a number", math.NaN(), `NaN`},
		{"less than nothing", math.Copysign(0, -1), `-0`},
		{"endless", []any{math.Inf(1), math.Inf(-1)}, `[Infinity, -Infinity]`},
		{"a large number", 1e300, `1e+300`},
		{"a map", &Map{Entries: []MapEntry{{[]any{1.0}, "b"}}}, `Map {[1] => "b"}`},
		{"a set", Set{"a", Set{}}, `Set {"a", Set {}}`},
		{"bytes", []byte{1, 2}, `Uint8Array(2)`},
		{"floats", &TypedArray{Kind: "Float64Array", Data: make([]byte, 16)}, `Float64Array(2)`},
		{"bytes of no kind", &TypedArray{Kind: "x"}, `bytes`},
		{"an error", &ErrorValue{Name: "E\x1b[2J", Message: "m\u202e"}, `E\u001b[2J: m\u202e`},
		{"nothing of each", []any{noMap, noError, noBytes, nil}, `[null, null, bytes, null]`},
		{"an object in itself", cycle, `{a: 1, self: {a: 1, self:`},
		{"a list in itself", loop, `[[[[[[[[[…]]]]]]]]]`},
		{"a deep list", deep, `[[[[[[[[[…]]]]]]]]]`},
		{"a million elements", wide, `[null, null,`},
		{"a huge text", strings.Repeat("x", 1<<24), `xxx`},
		{"a huge key", map[string]any{strings.Repeat("k", 1<<20): 1.0}, `{…`},
		{"a key that turns", map[string]any{"\u202ea": 1.0}, `{"\u202ea": 1}`},
		{"text as it is", "a \"b\"\n\t\\", "a \"b\"\n\t\\"},
		{"text inside", []any{"a \"b\"\n\\"}, `["a \"b\"\n\\"]`},
		{"text that turns", "\u202eevil\u2066\u200f\u061c", `\u202eevil\u2066\u200f\u061c`},
		{"text that is not seen", "a\u200bb\u2062\u3164\ufeff", `a\u200bb\u2062\u3164\ufeff`},
		{"tags", "a\U000e0041", `a\u{e0041}`},
		{"a terminal's words", "\x1b[31mred\x07\r\u009b", `\u001b[31mred\u0007\u000d\u009b`},
		{"broken text", "a\xffb", `a\xffb`},
		{"emoji that is joined", "\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"},
		{"something of Go's", struct{ a func() }{}, `[struct { a func() }]`},
	} {
		for _, most := range []int{0, 1, 2, 3, 40, 5000} {
			got := PrintValue(c.v, most)
			if limit := map[bool]int{true: most, false: printDefault}[most > 0]; len(got) > limit || !utf8.ValidString(got) {
				t.Errorf("%s: %d bytes, at most %d", c.name, len(got), limit)
			}
			if most != 0 {
				continue
			}
			hidden := strings.ContainsFunc(got, func(r rune) bool { return !shows(r) })
			ok := got == c.want || strings.HasPrefix(got, c.want) && (strings.HasSuffix(got, "…") || strings.Contains(got, "…}"))
			count.Try(c.name, hidden || !ok)
			plain, err := naive(c.v)
			count.Off(c.name, err != nil || len(plain) > printDefault || strings.ContainsFunc(plain, func(r rune) bool { return !shows(r) }))
			if !ok {
				t.Errorf("%s: %.200q, want %.200q", c.name, got, c.want)
			}
		}
	}
}

func TestPrintLimit(t *testing.T) {
	for _, c := range []struct {
		most int
		want string
	}{{3, "…"}, {8, "abcde…"}, {9, "abcdef…"}, {10, "abcdefgh"[:7] + "…"}, {11, "abcdefgh"}, {2, ""}} {
		if got := PrintValue("abcdefgh", c.most); got != c.want {
			t.Errorf("%d: %q, want %q", c.most, got, c.want)
		}
	}
	row := ConsoleRow{Args: []any{"a b", 1.0, []any{"c"}, nil}}
	if got := row.Text(0); got != `a b 1 ["c"] null` {
		t.Errorf("%q", got)
	}
	if got := row.Text(7); got != "a b …" {
		t.Errorf("%q", got)
	}
}
