package consent

import (
	"strings"
	"testing"
)

func TestLast(t *testing.T) {
	for _, c := range []struct {
		text         string
		lines, bytes int
		want         string
	}{
		{"", 2, 9, ""}, {"\n\n", 2, 9, ""}, {"a", 1, 9, "a"}, {"a\nb", 2, 9, "a\nb"}, {"a\nb\n", 1, 9, "b"}, {"a\nb\nc", 2, 9, "b\nc"}, {"\nb\nc", 3, 9, "\nb\nc"},
		{"first\nsecond", 9, 8, "second"}, {"first\nsecond", 9, 12, "first\nsecond"}, {"first\nsecond", 9, 11, "second"}, {strings.Repeat("x", 20), 9, 8, "xxxxxxxx"}, {"\u00fc\u00fc", 9, 3, "\u00fc"},
	} {
		if got := Last(c.text, c.lines, c.bytes); got != c.want {
			t.Errorf("the last %d lines and %d bytes of %q: %q, not %q", c.lines, c.bytes, c.text, got, c.want)
		}
	}
}
