package shell

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Splitting and counting a text with yields to the page gives the same result as without.
func TestTextsArePartedAndCountedWithTurns(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		rest int // the least number of yields
	}{
		"nothing": {"", 0}, "one line": {"a b\n", 0}, "no end": {"a\nb", 0}, "empty lines": {"\n\n\n", 0}, "broken": {"a\xff\xfe b\xe2\x82\n", 0},
		"many lines": {strings.Repeat("some words\n", 200_000), 100}, "one long line": {strings.Repeat("ä \u2003b", 300_000), 100}, "spaces": {strings.Repeat(" \t\n", 300_000), 100},
	} {
		one := &task{s: &shell{w: newWatched(context.Background())}}
		n := counts(one, []byte(c.text))
		want := [4]int{bytes.Count([]byte(c.text), []byte("\n")), len(strings.Fields(c.text)), utf8.RuneCountInString(c.text), len(c.text)}
		if n != want || one.s.w.breaths < c.rest {
			t.Errorf("%s: %v, want %v; %d looks", name, n, want, one.s.w.breaths)
		}
		two := &task{s: &shell{w: newWatched(context.Background())}}
		var lines []string
		if c.text != "" {
			lines = strings.Split(strings.TrimSuffix(c.text, "\n"), "\n")
		}
		if got := two.lines([]byte(c.text)); !slices.Equal(got, lines) || len(got) > 200_000-1 && two.s.w.breaths < c.rest {
			t.Errorf("%s: %d lines, want %d; %d looks", name, len(got), len(lines), two.s.w.breaths)
		}
	}
}
