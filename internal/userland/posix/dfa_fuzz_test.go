package posix

import (
	"bytes"
	"regexp/syntax"
	"testing"
)

// FuzzTables compares the tables with the matcher that goes back, which shares no code with them: whether a line matches, and the first line
// of a text that does.
func FuzzTables(f *testing.F) {
	for _, seed := range [][2]string{
		{"a*b|c", "xaab\nc"}, {"(^a|b$)", "ab\nb"}, {"^$", "\n\nx"}, {"[^a]é{1,2}", "bé\nbéé"}, {"(a|)(b|$)", ""}, {"x{2,3}y?", "xx\nxxxy"}, {"[[:alpha:]]+[0-9]", "ab1\n\xff2"},
		{"()|a", "a"}, {"a.c", "a\xffc\nabc"}, {"(a|b)*abb", "ababb"}, {"^(a?){3}$", "aa\naaaa"}, {"日|本+", "日\n本本"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte) {
		if len(pattern) > 60 || len(text) > 200 {
			return
		}
		re, err := Compile(pattern, Extended, "")
		if err != nil || re.dfa == nil || re.re == nil {
			return
		}
		tree, err := syntax.Parse(re.re.String(), syntax.Perl)
		if err != nil {
			return
		}
		back, err := newMatcher(tree)
		if err != nil {
			return
		}
		slow := &Regexp{back: back}
		decided := func(line []byte) (found, ok bool) {
			defer func() { ok = recover() == nil }() // it gives up after too many steps
			return back.find(slow, line, 0) != nil, true
		}
		first, at := -1, 0
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			want, ok := decided(line)
			if !ok {
				return
			}
			if got := re.Match(line); got != want {
				t.Fatalf("%q on %q: %v, want %v", pattern, line, got, want)
			}
			if want && first < 0 && at < len(text) {
				first = at
			}
			at += len(line) + 1
		}
		if from, _, ok := re.Line(text); ok && from != first {
			t.Fatalf("%q in %q: the first line that matches begins at %d, want %d", pattern, text, from, first)
		}
	})
}
