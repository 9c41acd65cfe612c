package strictjson

import (
	"strings"
	"testing"
)

func TestTooDeep(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a\"[":[`, n/2) + strings.Repeat("]}", n/2) }
	for text, ok := range map[string]bool{"": true, `"` + strings.Repeat("[", 1000) + `"`: true, `"\"` + strings.Repeat("[", 1000) + `"`: true, strings.Repeat("[],", 1000): true,
		deep(256): true, deep(258): false, strings.Repeat("[", 257): false, `"\\"` + strings.Repeat("[", 257): false} {
		if got := TooDeep(text); got == ok {
			t.Errorf("%.40s: %v", text, got)
		}
		if got := TooDeep([]byte(text)); got == ok {
			t.Errorf("%.40s: %v", text, got)
		}
	}
}
