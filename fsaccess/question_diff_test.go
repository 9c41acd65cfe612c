//go:build !js

package fsaccess

import (
	"bytes"
	"context"
	"errors"
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
		{"old bytes below the limit", bytes.Repeat([]byte("a"), diffLimit-1), []byte("b\n"), "-aaa", "not shown"},
		{"at", bytes.Repeat([]byte("a"), diffLimit), []byte("b\n"), "-aaa", "not shown"},
		{"above", bytes.Repeat([]byte("a"), diffLimit+1), []byte("b\n"), fmt.Sprintf(replaced, diffLimit+1), "aaa"},
		{"old lines below the limit", lines(diffLines-1, "a"), []byte("b\n"), "-a\n-a\n", "not shown"},
		{"at", lines(diffLines, "a"), []byte("b\n"), "-a\n-a\n", "not shown"},
		{"above", lines(diffLines+1, "a"), []byte("b\n"), fmt.Sprintf(replaced, 2*(diffLines+1)), "-a\n"},
		{"old text below 70 %", share(1000, 699), []byte("b\n"), fmt.Sprintf(replaced, 1000), "ttt"},
		{"at", share(1000, 700), []byte("b\n"), "-ttt", "not shown"},
		{"above", share(1000, 701), []byte("b\n"), "-ttt", "not shown"},
		{"new bytes below the limit", nil, bytes.Repeat([]byte("b"), diffLimit-1), "@@ -0,0 +1 @@\n+bbb", "\nbbb"},
		{"at", nil, bytes.Repeat([]byte("b"), diffLimit), "@@ -0,0 +1 @@\n+bbb", "\nbbb"},
		{"above, as it is", nil, bytes.Repeat([]byte("b"), diffLimit+1), "+++ b/f\n" + strings.Repeat("b", diffLimit+1), "@@"},
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
		got, _ := QuestionDiff(t.Context(), "a/f", "b/f", c.a, c.b)
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
			got, _ := QuestionDiff(t.Context(), "a/f", "b/f", old, []byte(now))
			if want := fmt.Sprintf("-%d\n+changed\n", number); !strings.Contains(got, want) || len(got) > 300 {
				t.Errorf("%d lines, the %s: %.300q", n, at, got)
			}
			if first := max(1, number-2); !strings.Contains(got, fmt.Sprintf("@@ -%d,", first)) {
				t.Errorf("%d lines, the %s: it begins with line %d, not with %.60q", n, at, first, got)
			}
		}
	}
}

// DiffBack shows the change of an undo, in its direction, below, at and above the limit of
// the file that comes back and of the one that goes.
func TestDiffBack(t *testing.T) {
	size := func(n int) []byte { return bytes.Repeat([]byte("0123456"+strings.Repeat(".", 56)+"\n"), n/64+1)[:n] }
	const tooLarge = "both are too large to be shown"
	for _, c := range []struct {
		name     string
		old, now []byte // nil is no file
		want     string
		without  string
	}{
		{"a change", []byte("a\nb\n"), []byte("a\nc\n"), "--- a/d/f\n+++ b/d/f\n@@ -1,2 +1,2 @@\n a\n-c\n+b\n", "+c"},
		{"a new file", nil, []byte("c\n"), "--- a/d/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n", "+c"},
		{"a deletion", []byte("b\n"), nil, "--- /dev/null\n+++ b/d/f\n@@ -0,0 +1 @@\n+b\n", "-b"},
		{"what comes back is below the limit", size(diffLimit - 1), []byte("c\n"), "\n+0123456.", tooLarge},
		{"at", size(diffLimit), []byte("c\n"), "\n+0123456.", tooLarge},
		{"above", size(diffLimit + 1), []byte("c\n"), fmt.Sprintf("The file of 2 bytes becomes the one of %d bytes that was there before; "+tooLarge, diffLimit+1), "0123456"},
		{"what goes is below the limit", []byte("b\n"), size(diffLimit - 1), "\n-0123456.", "bytes"},
		{"at", []byte("b\n"), size(diffLimit), "\n-0123456.", "bytes"},
		{"above", []byte("b\n"), size(diffLimit + 1), fmt.Sprintf("-(%d bytes)\n+b\n", diffLimit+1), "0123456"},
	} {
		mem := NewMemory(MemoryOptions{})
		must(t, mem.MkdirAll("d", 0o755))
		if c.old != nil {
			must(t, mem.WriteFile("d/f", c.old, 0o644))
		}
		w := NewJournal(mem, NewMemory(MemoryOptions{}))
		if c.now != nil {
			must(t, w.WriteFile("d/f", c.now, 0o644))
		} else {
			must(t, w.Remove("d/f"))
		}
		list, err := w.History(context.Background())
		must(t, err)
		got, err := w.DiffBack(context.Background(), list[0].ID)
		must(t, err)
		if !strings.Contains(got, c.want) || strings.Contains(got, c.without) {
			t.Errorf("%s: %.300q, want %q and no %q", c.name, got, c.want, c.without)
		}
	}
}

// A step of several changes is shown from its last one back, with the contents that each
// change left, also where later ones have taken their place.
func TestDiffBackOfManyChanges(t *testing.T) {
	mem := NewMemory(MemoryOptions{})
	must(t, mem.WriteFile("a", []byte("1\n"), 0o644))
	w := NewJournal(mem, NewMemory(MemoryOptions{}))
	must(t, w.Group(context.Background(), "step", func(f FS) error {
		return errors.Join(f.WriteFile("a", []byte("2\n"), 0o644), f.Mkdir("d", 0o755), f.Rename("a", "d/a"), f.WriteFile("d/a", []byte("3\n"), 0o644))
	}))
	list, err := w.History(context.Background())
	must(t, err)
	step := list[0].ID
	const want = "--- a/d/a\n+++ b/d/a\n@@ -1 +1 @@\n-3\n+2\n" + "rename from d/a\nrename to a\n" + "deleted folder d\n" + "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-2\n+1\n"
	for _, after := range []string{"", "4\n", "5\n"} { // by a later step of the journal
		if after != "" {
			must(t, w.WriteFile("d/a", []byte(after), 0o644))
		}
		got, err := w.DiffBack(context.Background(), step)
		must(t, err)
		if got != want {
			t.Errorf("after %q: %q, want %q", after, got, want)
		}
	}
	if _, err := w.DiffBack(context.Background(), step+100); !errors.Is(err, ErrNothing) {
		t.Errorf("of no step: %v", err)
	}
	if err := mem.WriteFile("d/a", []byte("by another program\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err = w.History(context.Background())
	must(t, err)
	got, err := w.DiffBack(context.Background(), list[0].ID)
	must(t, err)
	if !strings.Contains(got, "-(changed since, or moved)\n+4\n") {
		t.Errorf("of a file that changed since: %q", got)
	}
}

// The paths of a step are each there once, however many there are.
func TestHistoryNamesEachPathOnce(t *testing.T) {
	for _, n := range []int{31, 32, 33, 200} {
		w := NewJournal(NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{}))
		must(t, w.Group(context.Background(), "step", func(f FS) error {
			for range 2 {
				for i := range n {
					if err := f.WriteFile(fmt.Sprint(i), fmt.Append(nil, i), 0o644); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		list, err := w.History(context.Background())
		must(t, err)
		seen := map[string]bool{}
		for _, p := range list[0].Paths {
			seen[p] = true
		}
		if len(list) != 1 || len(list[0].Paths) != n || len(seen) != n {
			t.Errorf("%d files: %d steps, %d paths, %d different", n, len(list), len(list[0].Paths), len(seen))
		}
	}
}
