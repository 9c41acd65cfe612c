package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/native"
)

// randomAct does one random thing to a folder; most of them fail, as they
// should.
func randomAct(r *rand.Rand, f FS) string {
	paths := []string{"a", "b", "c", "a/x", "a/y", "b/x", "b/x/z", "a/x/q", "A"}
	p, q := paths[r.IntN(len(paths))], paths[r.IntN(len(paths))]
	data := []byte(strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(60)))
	if r.IntN(8) == 0 {
		data = append(big[:len(big):len(big)], data...)
	}
	switch r.IntN(9) {
	case 0, 1:
		return fmt.Sprint("write ", p, f.WriteFile(p, data, 0o644))
	case 2:
		return fmt.Sprint("mkdirall ", p, f.MkdirAll(p, 0o755))
	case 3:
		return fmt.Sprint("remove ", p, f.Remove(p))
	case 4:
		return fmt.Sprint("removeall ", p, f.RemoveAll(p))
	case 5, 6:
		return fmt.Sprint("rename ", p, " ", q, f.Rename(p, q))
	case 7:
		return fmt.Sprint("truncate ", p, f.Truncate(p, int64(r.IntN(80))))
	default:
		h, err := f.OpenFile(p, []int{os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE | os.O_TRUNC}[r.IntN(3)], 0o644)
		if err == nil {
			h.(core.File).Write(data)
			err = h.Close()
		}
		return fmt.Sprint("handle ", p, err)
	}
}

// TestUndoEverything runs random programs and walks back and forth through
// their history: each undo gives exactly the tree there was, each redo the tree
// that came after, and all of it survives opening the journal anew.
func TestUndoEverything(t *testing.T) {
	native.Only(t)
	ctx := context.Background()
	for name, o := range map[string]MemoryOptions{
		"plain": {}, "no move": {NoMove: true, NoMode: true}, "folding": {FoldCase: true}, "folding no move": {FoldCase: true, NoMove: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(120) {
				r := rand.New(rand.NewPCG(seed, 9))
				disk, store := NewMemory(o), NewMemory(MemoryOptions{})
				w := NewJournal(disk, store, JournalOptions{})
				var log, trees, snaps []string
				steps := func() int {
					h, err := w.History(ctx)
					must(t, err)
					return len(h)
				}
				trees = append(trees, tree(t, disk))
				n := 0
				for range 40 {
					snap, err := w.Snapshot()
					must(t, err)
					log = append(log, randomAct(r, w))
					// One act of ours (MkdirAll) may be several steps.
					k := steps()
					if k == n+1 {
						trees, snaps = append(trees, tree(t, disk)), append(snaps, snap)
					} else if k > n {
						trees, snaps, n = trees[:0], snaps[:0], k
						trees = append(trees, tree(t, disk))
					}
					n = k
				}
				fail := func(what string, got, want string) {
					t.Helper()
					t.Fatalf("seed %d: %s: got\n%s\nwant\n%s\nafter:\n%s", seed, what, got, want, strings.Join(log, "\n"))
				}
				w = NewJournal(disk, store, JournalOptions{})
				for i := len(trees) - 2; i >= 0; i-- {
					if err := w.Undo(ctx); err != nil {
						t.Fatalf("seed %d: undo: %v after\n%s", seed, err, strings.Join(log, "\n"))
					}
					if g := tree(t, disk); g != trees[i] {
						fail("undo", g, trees[i])
					}
				}
				for i := 1; i < len(trees); i++ {
					must(t, w.Redo(ctx))
					if g := tree(t, disk); g != trees[i] {
						fail("redo", g, trees[i])
					}
				}
				if err := w.Redo(ctx); !errors.Is(err, ErrNothing) {
					t.Fatalf("redo beyond the end: %v", err)
				}
				if len(snaps) > 2 {
					must(t, w.UndoTo(ctx, snaps[1]))
					if g := tree(t, disk); g != trees[1] {
						fail("undo to", g, trees[1])
					}
					must(t, w.Undo(ctx))
					if g := tree(t, disk); g != trees[len(trees)-1] {
						fail("undo of undo to", g, trees[len(trees)-1])
					}
				}
				must(t, w.UndoTo(ctx, "0"))
				if g := tree(t, disk); g != "./\n" {
					fail("undo all", g, "./\n")
				}
			}
		})
	}
}

func TestUndoMeetsOutsideChanges(t *testing.T) {
	ctx := context.Background()
	setup := func() (*Folder, *Journal) {
		disk := NewMemory(MemoryOptions{})
		w := NewJournal(disk, NewMemory(MemoryOptions{}), JournalOptions{})
		must(t, w.MkdirAll("d", 0o755))
		must(t, w.WriteFile("f", []byte("one"), 0o644))
		return disk, w
	}
	for _, c := range []struct {
		name    string
		act     func(w *Journal) error
		outside func(disk FS) error
		path    string
	}{
		{"changed", func(w *Journal) error { return w.WriteFile("f", []byte("two"), 0o644) },
			func(d FS) error { return d.WriteFile("f", []byte("outside"), 0o644) }, "f"},
		{"same size", func(w *Journal) error { return w.WriteFile("f", []byte("two"), 0o644) },
			func(d FS) error { return d.WriteFile("f", []byte("2wo"), 0o644) }, "f"},
		{"deleted", func(w *Journal) error { return w.WriteFile("f", []byte("two"), 0o644) },
			func(d FS) error { return d.Remove("f") }, "f"},
		{"made again", func(w *Journal) error { return w.Remove("f") },
			func(d FS) error { return d.WriteFile("f", []byte("outside"), 0o644) }, "f"},
		{"filled folder", func(w *Journal) error { return w.Mkdir("d/n", 0o755) },
			func(d FS) error { return d.WriteFile("d/n/x", []byte("outside"), 0o644) }, "d/n/x"},
		{"name taken", func(w *Journal) error { return w.Rename("f", "g") },
			func(d FS) error { return d.WriteFile("f", []byte("outside"), 0o644) }, "f"},
		{"folder gone", func(w *Journal) error { return w.Rename("f", "d/f") },
			func(d FS) error { return d.RemoveAll("d") }, "d/f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk, w := setup()
			must(t, c.act(w))
			must(t, c.outside(disk))
			before := tree(t, disk)
			err := w.Undo(ctx)
			if !errors.Is(err, ErrConflict) {
				t.Fatalf("undo: %v", err)
			}
			var pe *fs.PathError
			if !errors.As(err, &pe) || pe.Path != c.path {
				t.Errorf("the error does not name %s: %v", c.path, err)
			}
			if g := tree(t, disk); g != before {
				t.Errorf("undo changed something:\n%s\nwas\n%s", g, before)
			}
		})
	}
}

func TestJournalBounds(t *testing.T) {
	ctx := context.Background()
	now := time.Unix(1e9, 0)
	store := NewMemory(MemoryOptions{})
	disk := NewMemory(MemoryOptions{})
	w := NewJournal(disk, store, JournalOptions{MaxBytes: 200 << 10, MaxEntries: 20, MaxAge: time.Hour, Now: func() time.Time { return now }})
	body := func(i int) []byte { return append(slices.Clone(big), byte(i)) }
	for i := range 60 {
		must(t, w.WriteFile("f", body(i), 0o644))
		now = now.Add(time.Second)
	}
	h, err := w.History(ctx)
	must(t, err)
	if len(h) > 20 || len(h) < 4 {
		t.Errorf("%d entries", len(h))
	}
	used := int64(0)
	for e, err := range Walk(ctx, store, ".", WalkOptions{}) {
		must(t, err)
		used += e.Size
	}
	if used > 200<<10 || used < 100<<10 {
		t.Errorf("the store holds %d bytes", used)
	}
	n := 0
	for ; ; n++ {
		if err := w.Undo(ctx); errors.Is(err, ErrNothing) {
			break
		} else {
			must(t, err)
		}
	}
	if n == 0 {
		t.Error("nothing could be undone")
	}
	// Age: an hour later the next change drops all that came before.
	now = now.Add(2 * time.Hour)
	must(t, w.WriteFile("g", []byte("x"), 0o644))
	if h, _ := w.History(ctx); len(h) != 1 {
		t.Errorf("%d entries after an hour", len(h))
	}
	// A change that could not be undone is refused: at the limit, and over.
	for size, want := range map[int]error{200 << 10: nil, 200<<10 + 1: ErrTooLarge} {
		must(t, disk.WriteFile("huge", make([]byte, size), 0o644))
		if err := w.Remove("huge"); !errors.Is(err, want) {
			t.Errorf("remove of %d bytes: %v", size, err)
		}
		_ = disk.Remove("huge")
	}
}

func TestJournalTellsWhatItDid(t *testing.T) {
	ctx := WithCause(context.Background(), "trace-7")
	w := NewJournal(NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{}), JournalOptions{})
	must(t, w.Group(ctx, "tidy up", func(f FS) error {
		must(t, f.Mkdir("d", 0o755))
		return f.WriteFile("d/a", []byte("x\n"), 0o644)
	}))
	must(t, w.WriteFile("d/a", []byte("y\n"), 0o644))
	must(t, w.Undo(ctx))
	h, err := w.History(ctx)
	must(t, err)
	var got []string
	for _, c := range h {
		got = append(got, fmt.Sprintf("%s %q %q %v %v", c.Op, c.Label, c.Cause, c.Paths, c.Undone))
	}
	want := []string{`undo "" "trace-7" [d/a] false`, `write "" "" [d/a] true`, `mkdir "tidy up" "trace-7" [d d/a] false`}
	if !slices.Equal(got, want) {
		t.Errorf("history\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	diff, err := w.Diff(ctx, h[1].ID)
	must(t, err)
	if !strings.Contains(diff, "-x\n+y\n") {
		t.Errorf("diff %q", diff)
	}
}

// A folder of a group that is bound to another context, as functions of this package do, stays in the group's step.
func TestGroupKeepsItsStepUnderAnotherContext(t *testing.T) {
	disk, ctx := NewMemory(MemoryOptions{}), context.Background()
	must(t, disk.WriteFile("a", []byte("x"), 0o644))
	w := NewJournal(disk, NewMemory(MemoryOptions{}), JournalOptions{})
	before := tree(t, disk)
	boom := errors.New("boom")
	for _, want := range []error{nil, boom} {
		err := w.Group(ctx, "several", func(f FS) error {
			must(t, f.WriteFile("b", nil, 0o644))
			must(t, WithContext(ctx, f).WriteFile("c", nil, 0o644))
			must(t, Copy(ctx, f, "d", f, "a", CopyOptions{}))
			must(t, Move(ctx, f, "e", f, "a", CopyOptions{}))
			return want
		})
		if !errors.Is(err, want) {
			t.Fatal(err)
		}
		if want == nil {
			h, err := w.History(ctx)
			must(t, err)
			if len(h) != 1 || len(h[0].Paths) < 4 || h[0].Label != "several" {
				t.Errorf("history %+v, want one step with all paths", h)
			}
			must(t, w.Undo(ctx))
		}
		if got := tree(t, disk); got != before {
			t.Errorf("after %v\n%s\nwant\n%s", want, got, before)
		}
	}
}

func TestGroupThatFailsLeavesNothing(t *testing.T) {
	disk := NewMemory(MemoryOptions{})
	w := NewJournal(disk, NewMemory(MemoryOptions{}), JournalOptions{})
	must(t, w.WriteFile("keep", []byte("k"), 0o644))
	before := tree(t, disk)
	boom := errors.New("boom")
	err := w.Group(context.Background(), "", func(f FS) error {
		must(t, f.WriteFile("keep", []byte("changed"), 0o644))
		must(t, f.Mkdir("d", 0o755))
		return boom
	})
	if !errors.Is(err, boom) || tree(t, disk) != before {
		t.Errorf("%v\n%s", err, tree(t, disk))
	}
}
