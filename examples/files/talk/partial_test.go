package talk

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestPartial(t *testing.T) {
	for text, want := range map[string]string{
		`{`: `{}`, `{"ci`: `{}`, `{"city"`: `{}`, `{"city":`: `{}`, `{"city": "Ber`: `{"city": "Ber"}`, `{"city": "Berlin"`: `{"city": "Berlin"}`,
		`{"a": "x\`: `{"a": "x"}`, `{"a": "x\n`: `{"a": "x\n"}`, `{"a": "x\u00`: `{"a": "x"}`, `{"a": "x\u00e9`: `{"a": "xé"}`, `{"a": "é`: `{"a": "é"}`,
		`{"n": 12`: `{}`, `{"n": 12,`: `{"n": 12}`, `{"n": 12}`: `{"n": 12}`, `{"l": [1, 2, {"x": tru`: `{"l": [1, 2, {}]}`, `{"l": ["a", "b`: `{"l": ["a", "b"]}`,
		`{"o": {"k": "v"}, "p`: `{"o": {"k": "v"}}`, `{"a": "{[,:\"", "b": "c`: `{"a": "{[,:\"", "b": "c"}`,
	} {
		var w any
		if err := json.Unmarshal([]byte(want), &w); err != nil {
			t.Fatal(want, err)
		}
		if got, ok := partial(text); !ok || !reflect.DeepEqual(any(got), w) {
			t.Errorf("%s: %v, %v, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "[1, 2", "nothing", "}", `{"a": ]`, strings.Repeat(`{"a":`, 100)} {
		if got, ok := partial(text); ok {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Each beginning of the arguments is a part of them, or none.
func FuzzPartial(f *testing.F) {
	f.Add(`{"city": "Bern \u00e9 \"x\"", "days": [1, -2.5e3, true, null, {"a": {}}], "b": ""}`)
	f.Fuzz(func(t *testing.T, text string) {
		var whole map[string]any
		for i := range text {
			partial(text[:i])
		}
		if got, ok := partial(text); json.Unmarshal([]byte(text), &whole) == nil && ok && len(got) != len(whole) {
			t.Errorf("%s: %v", text, got)
		}
	})
}
