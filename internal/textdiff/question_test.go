//go:build !js

package textdiff

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The content of a question below, at and above each limit: all text of the new content is
// in it. Old content that is too large or no text is counted.
func TestQuestionDiffLimits(t *testing.T) {
	lines := func(n int, text string) []byte { return []byte(strings.Repeat(text+"\n", n)) }
	// share is n bytes of which so many are text, in one run at the beginning.
	share := func(n, text int) []byte {
		return append(bytes.Repeat([]byte("t"), text), bytes.Repeat([]byte{1}, n-text)...)
	}
	const replaced = "\\ %d bytes of the old content are replaced, and not shown\n"
	for _, c := range []struct {
		name    string
		a, b    []byte
		want    string // is in the difference
		without string // is not
	}{
		{"old bytes below the limit", bytes.Repeat([]byte("a"), DiffLimit-1), []byte("b\n"), "-aaa", "not shown"},
		{"at", bytes.Repeat([]byte("a"), DiffLimit), []byte("b\n"), "-aaa", "not shown"},
		{"above", bytes.Repeat([]byte("a"), DiffLimit+1), []byte("b\n"), fmt.Sprintf(replaced, DiffLimit+1), "aaa"},
		{"old lines below the limit", lines(diffLines-1, "a"), []byte("b\n"), "-a\n-a\n", "not shown"},
		{"at", lines(diffLines, "a"), []byte("b\n"), "-a\n-a\n", "not shown"},
		{"above", lines(diffLines+1, "a"), []byte("b\n"), fmt.Sprintf(replaced, 2*(diffLines+1)), "-a\n"},
		{"old text below 70 %", share(1000, 699), []byte("b\n"), fmt.Sprintf(replaced, 1000), "ttt"},
		{"at", share(1000, 700), []byte("b\n"), "-ttt", "not shown"},
		{"above", share(1000, 701), []byte("b\n"), "-ttt", "not shown"},
		{"new bytes below the limit", nil, bytes.Repeat([]byte("b"), DiffLimit-1), "@@ -0,0 +1 @@\n+bbb", "\nbbb"},
		{"at", nil, bytes.Repeat([]byte("b"), DiffLimit), "@@ -0,0 +1 @@\n+bbb", "\nbbb"},
		{"above, as it is", nil, bytes.Repeat([]byte("b"), DiffLimit+1), "+++ b/f\n" + strings.Repeat("b", DiffLimit+1), "@@"},
		{"new lines below the limit", nil, lines(diffLines-1, "b"), "+b\n+b\n", "\nb\n"},
		{"at", nil, lines(diffLines, "b"), "+b\n+b\n", "\nb\n"},
		{"above, as they are", nil, lines(diffLines+1, "b"), strings.Repeat("b\n", diffLines+1), "@@"},
		{"new content that is no text, below 64 KiB", nil, share(64<<10-1, 9), "+ttttttttt\x01\x01", "no text"},
		{"at", nil, share(64<<10, 9), "+ttttttttt\x01\x01", "no text"},
		{"above", nil, share(64<<10+1, 9), "+ttttttttt\n+⟨65528 bytes that are no text⟩\n", "\x01"},
		{"a large one with less than 70 % of text", nil, share(100_000, 69_999), "+⟨30001 bytes that are no text⟩\n", "\x01"},
		{"with 70 %", nil, share(100_000, 70_000), "t\x01\x01", "no text"},
		{"with more", nil, share(100_000, 70_001), "t\x01\x01", "no text"},
		{"three letters in what is no text", nil, append(share(70_000, 0), "abc\x01"...), "⟨70004 bytes that are no text⟩", "abc"},
		{"four", nil, append(share(70_000, 0), "abcd\x01"...), "+⟨70000 bytes that are no text⟩\n+abcd\n+⟨1 bytes that are no text⟩\n", "\x01"},
		{"five", nil, append(share(70_000, 0), "abcde\x01"...), "+abcde\n", "\x01"},
		{"nothing new", lines(3, "a"), lines(3, "a"), "", "a"},
		{"an end", []byte("a\nb"), nil, "-b\n\\ No newline at end of file\n", "+b"},
	} {
		got, _ := Question(t.Context(), "a/f", "b/f", c.a, c.b)
		if !strings.Contains(got, c.want) || strings.Contains(got, c.without) || (c.want == "") != (got == "") {
			t.Errorf("%s: %.300q (%d bytes), want %.100q and no %.100q", c.name, got, len(got), c.want, c.without)
		}
	}
}

// In large texts the equal lines are left out first, so that a small change in them stays a
// small difference with its line numbers.
func TestQuestionDiffOfLargeTexts(t *testing.T) {
	for _, n := range []int{diffLines / 2, diffLines/2 + 1, diffLines} { // at and above the limit for both together
		var a bytes.Buffer
		for i := range n - 1 {
			fmt.Fprintln(&a, i)
		}
		for at, number := range map[string]int{"first": 0, "middle": n / 2, "last": n - 2} {
			old := append(a.Bytes(), "end\n"...)
			line := fmt.Sprintf("\n%d\n", number)
			full := "\n" + string(old)
			now := strings.Replace(full, line, "\nchanged\n", 1)[1:]
			got, _ := Question(t.Context(), "a/f", "b/f", old, []byte(now))
			if want := fmt.Sprintf("-%d\n+changed\n", number); !strings.Contains(got, want) || len(got) > 300 {
				t.Errorf("%d lines, the %s: %.300q", n, at, got)
			}
			if first := max(1, number-2); !strings.Contains(got, fmt.Sprintf("@@ -%d,", first)) {
				t.Errorf("%d lines, the %s: it begins with line %d, not with %.60q", n, at, first, got)
			}
		}
	}
}
