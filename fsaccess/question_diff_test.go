//go:build !js

package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/textdiff"
)

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
		{"what comes back is below the limit", size(textdiff.DiffLimit - 1), []byte("c\n"), "\n+0123456.", tooLarge},
		{"at", size(textdiff.DiffLimit), []byte("c\n"), "\n+0123456.", tooLarge},
		{"above", size(textdiff.DiffLimit + 1), []byte("c\n"), fmt.Sprintf("The file of 2 bytes becomes the one of %d bytes that was there before; "+tooLarge, textdiff.DiffLimit+1), "0123456"},
		{"what goes is below the limit", []byte("b\n"), size(textdiff.DiffLimit - 1), "\n-0123456.", "bytes"},
		{"at", []byte("b\n"), size(textdiff.DiffLimit), "\n-0123456.", "bytes"},
		{"above", []byte("b\n"), size(textdiff.DiffLimit + 1), fmt.Sprintf("-(%d bytes)\n+b\n", textdiff.DiffLimit+1), "0123456"},
	} {
		mem := NewMemory(MemoryOptions{})
		must(t, mem.MkdirAll("d", 0o755))
		if c.old != nil {
			must(t, mem.WriteFile("d/f", c.old, 0o644))
		}
		w := NewJournal(mem, NewMemory(MemoryOptions{}), JournalOptions{})
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
	w := NewJournal(mem, NewMemory(MemoryOptions{}), JournalOptions{})
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
		w := NewJournal(NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{}), JournalOptions{})
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
