package yielding

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/until"
)

func encoded(ctx context.Context, v any) (string, error) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	err := EncodeJSON(ctx, w, v, true)
	w.Flush()
	return b.String(), err
}

// Values are encoded like by the standard library, with yields to the page.
func TestEncodeIsTheStandards(t *testing.T) {
	type own struct {
		A int `json:"a"`
	}
	long := strings.Repeat("ä<\u2028\xff\"", restBytes/3)
	for name, v := range map[string]any{
		"nothing": nil, "numbers": []any{1.5, math.Copysign(0, -1), 1e21, 3}, "texts": map[string]any{"b": "x", "a": "<&>", "": "\x00\n"}, "long": long, "long keys": map[string]any{long: long, long + "b": nil},
		"one byte before": strings.Repeat("a", restBytes-1) + "é", "broken at the cut": strings.Repeat("a", restBytes-1) + "\xe2\x82", "continuations alone": strings.Repeat("\x80", 2*restBytes),
		"empty": []any{map[string]any{}, []any{}, []any(nil), map[string]any(nil)}, "own": map[string]any{"x": own{1}, "y": []own{{2}}, "z": []byte("bytes"), "raw": json.RawMessage(`{"k": [1, 2]}`)},
	} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encoded(t.Context(), v); err != nil || got != string(want) {
			t.Errorf("%s: %.80q, want %.80q: %v", name, got, want, err)
		}
		var plainly, b bytes.Buffer
		enc := json.NewEncoder(&plainly)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriter(&b)
		if err := EncodeJSON(t.Context(), w, v, false); err != nil || w.Flush() != nil || b.String()+"\n" != plainly.String() {
			t.Errorf("%s, as it is: %.80q, want %.80q: %v", name, b.String(), plainly.String(), err)
		}
	}
	if _, err := encoded(t.Context(), []any{math.NaN()}); err == nil {
		t.Error("a NaN is JSON")
	}
	round := map[string]any{}
	round["round"] = round
	if _, err := encoded(t.Context(), round); err == nil {
		t.Error("a value that holds itself ends")
	}
}

func TestEncodeRests(t *testing.T) {
	for name, v := range map[string]any{"many": make([]any, 100*restValues), "long": strings.Repeat("x", 100*restBytes)} {
		ctx := &until.Looks{Context: t.Context()}
		if _, err := encoded(ctx, v); err != nil || ctx.N < 99 {
			t.Errorf("%s: %d looks: %v", name, ctx.N, err)
		}
		end, stop := context.WithCancel(t.Context())
		stop()
		if _, err := encoded(end, v); err == nil {
			t.Errorf("%s: the end is not heeded", name)
		}
	}
}
