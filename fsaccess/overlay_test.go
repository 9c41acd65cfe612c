package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bailey-go/bailey/internal/native"
)

func changesOf(t *testing.T, o *Overlay) string {
	t.Helper()
	list, err := o.Diff(context.Background())
	must(t, err)
	var s []string
	for _, c := range list {
		d := ""
		if c.Dir {
			d = "/"
		}
		s = append(s, fmt.Sprintf("%s %s%s", c.Kind, c.Path, d))
	}
	return strings.Join(s, ", ")
}

func TestOverlayKeepsItsHandsOff(t *testing.T) {
	low := NewMemory(MemoryOptions{})
	fill(t, low)
	before := tree(t, low)
	o := NewOverlay(low, NewMemory(MemoryOptions{}))
	must(t, o.WriteFile("hello.txt", []byte("new"), 0o644))
	must(t, o.Remove("zero"))
	must(t, o.RemoveAll("dir/sub"))
	must(t, o.MkdirAll("dir/sub/x", 0o755))
	must(t, o.WriteFile("dir/sub/b.md", []byte("dir/sub/b.md"), 0o644)) // as it was
	must(t, o.Rename("dir/a.bin", "moved.bin"))
	if tree(t, low) != before {
		t.Fatalf("the lower folder changed:\n%s", tree(t, low))
	}
	if got, want := changesOf(t, o), "removed dir/a.bin, removed dir/sub/deep/, added dir/sub/x/, changed hello.txt, added moved.bin, removed zero"; got != want {
		t.Errorf("diff\n%s\nwant\n%s", got, want)
	}
	d, err := o.DiffText(context.Background(), "hello.txt")
	must(t, err)
	if !strings.Contains(d, "-hello.txt\n\\ No newline at end of file\n+new\n") {
		t.Errorf("%q", d)
	}
	must(t, o.Discard(context.Background()))
	if tree(t, o) != before || changesOf(t, o) != "" {
		t.Errorf("after discard %s\n%s", changesOf(t, o), tree(t, o))
	}
}

// TestOverlayApplies runs random programs on an overlay and applies them, in halves and as
// a whole. The lower folder must become equal to the overlay.
func TestOverlayApplies(t *testing.T) {
	native.Only(t)
	ctx := context.Background()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		disk, upper := NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{})
		w := NewJournal(disk, NewMemory(MemoryOptions{}), JournalOptions{})
		var log []string
		for range 12 {
			log = append(log, randomAct(r, w))
		}
		start := tree(t, disk)
		snap, err := w.Snapshot()
		must(t, err)
		o := NewOverlay(w, upper)
		log = append(log, "-- overlay")
		for range 25 {
			log = append(log, randomAct(r, o))
		}
		work := tree(t, o)
		o = NewOverlay(w, upper) // as after a reload
		if g := tree(t, o); g != work {
			t.Fatalf("seed %d: after a reload\n%s\nwas\n%s\n%s", seed, g, work, strings.Join(log, "\n"))
		}
		if tree(t, disk) != start {
			t.Fatalf("seed %d: the lower folder changed before Apply", seed)
		}
		list, err := o.Diff(ctx)
		must(t, err)
		if len(list) > 1 {
			if _, err := o.Apply(ctx, list[r.IntN(len(list))].Path); err != nil {
				t.Fatalf("seed %d: apply one: %v\n%s", seed, err, strings.Join(log, "\n"))
			}
			if g := tree(t, o); g != work {
				t.Fatalf("seed %d: applying a part changed the overlay:\n%s\nwas\n%s\n%s", seed, g, work, strings.Join(log, "\n"))
			}
		}
		if _, err := o.Apply(ctx); err != nil {
			t.Fatalf("seed %d: apply: %v\n%s", seed, err, strings.Join(log, "\n"))
		}
		if g := tree(t, disk); g != work {
			t.Fatalf("seed %d: applied\n%s\nwant\n%s\nafter\n%s", seed, g, work, strings.Join(log, "\n"))
		}
		if c := changesOf(t, o); c != "" {
			t.Fatalf("seed %d: left after apply: %s", seed, c)
		}
		if g := tree(t, upper); strings.Contains(g, "\"") {
			t.Fatalf("seed %d: left in the upper folder:\n%s", seed, g)
		}
		must(t, w.UndoTo(ctx, snap))
		if g := tree(t, disk); g != start {
			t.Fatalf("seed %d: undo of apply gave\n%s\nwant\n%s", seed, g, start)
		}
	}
}

func TestOverlayMeetsOutsideChanges(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name    string
		act     func(o FS) error
		outside func(low FS) error
		paths   []string
	}{
		{"both changed", func(o FS) error { return o.WriteFile("hello.txt", []byte("a"), 0o644) },
			func(l FS) error { return l.WriteFile("hello.txt", []byte("b"), 0o644) }, []string{"hello.txt"}},
		{"same length", func(o FS) error { return o.WriteFile("hello.txt", []byte("a"), 0o644) },
			func(l FS) error { return l.WriteFile("hello.txt", []byte("HELLO.TXT"), 0o644) }, []string{"hello.txt"}},
		{"both added", func(o FS) error { return o.WriteFile("new", []byte("a"), 0o644) },
			func(l FS) error { return l.WriteFile("new", []byte("b"), 0o644) }, []string{"new"}},
		{"removed below", func(o FS) error { return o.WriteFile("hello.txt", []byte("a"), 0o644) },
			func(l FS) error { return l.Remove("hello.txt") }, []string{"hello.txt"}},
		{"removed above, changed below", func(o FS) error { return o.Remove("hello.txt") },
			func(l FS) error { return l.WriteFile("hello.txt", []byte("b"), 0o644) }, []string{"hello.txt"}},
		{"folder removed above, file added below", func(o FS) error { return o.RemoveAll("dir") },
			func(l FS) error { return l.WriteFile("dir/sub/other", []byte("b"), 0o644) }, []string{"dir"}},
		{"folder removed above, file changed below", func(o FS) error { return o.RemoveAll("dir") },
			func(l FS) error { return l.WriteFile("dir/a.bin", []byte("b"), 0o644) }, []string{"dir"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			low := NewMemory(MemoryOptions{})
			fill(t, low)
			o := NewOverlay(low, NewMemory(MemoryOptions{}))
			must(t, o.WriteFile("unrelated", []byte("u"), 0o644))
			must(t, c.act(o))
			must(t, c.outside(low))
			before := tree(t, low)
			_, err := o.Apply(ctx)
			var ce *ConflictError
			if !errors.As(err, &ce) || !errors.Is(err, ErrConflict) || !slices.Equal(ce.Paths, c.paths) {
				t.Fatalf("apply: %v", err)
			}
			if tree(t, low) != before {
				t.Errorf("something was applied:\n%s", tree(t, low))
			}
			if _, err := o.Apply(ctx, "unrelated"); err != nil {
				t.Errorf("the path without a conflict: %v", err)
			}
			must(t, o.Discard(ctx, c.paths...))
			if _, err := o.Apply(ctx); err != nil {
				t.Errorf("after discard: %v", err)
			}
		})
	}
}

func TestOverlayOverReadOnly(t *testing.T) {
	o := NewOverlay(fstest.MapFS{"a/b": {Data: []byte("x")}}, NewMemory(MemoryOptions{}))
	must(t, o.WriteFile("a/b", []byte("y"), 0o644))
	if _, err := o.Apply(context.Background()); !errors.Is(err, ErrReadOnly) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("apply: %v", err)
	}
	if b, _ := o.ReadFile("a/b"); string(b) != "y" {
		t.Errorf("%q", b)
	}
}

// TestApplyKilledAnywhere kills the tab at each step of an Apply through a
// journal. The overlay must go on showing the same work, Apply must finish it,
// and undo must bring the start back.
func TestApplyKilledAnywhere(t *testing.T) {
	ctx := context.Background()
	points := 0
	for i, how := range []crashKind{dieBefore, dieAfter, dieTorn} {
		for at := 1 + i; ; at += stride() {
			disk, store, upper := NewMemory(MemoryOptions{NoMove: true}), NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{})
			c := &crasher{how: how}
			w := NewJournal(faultyFS(disk, c, false, true), faultyFS(store, c, true, true), JournalOptions{})
			must(t, w.MkdirAll("d/e", 0o755))
			must(t, w.WriteFile("d/e/one", big, 0o644))
			must(t, w.WriteFile("two", []byte("2"), 0o644))
			must(t, w.WriteFile("three", []byte("3"), 0o644))
			start := tree(t, disk)
			snap, err := w.Snapshot()
			must(t, err)
			o := NewOverlay(w, faultyFS(upper, c, false, false))
			must(t, o.WriteFile("two", []byte("two"), 0o644))
			must(t, o.Remove("three"))
			must(t, o.Rename("d", "moved"))
			must(t, o.Mkdir("three", 0o755))
			must(t, o.WriteFile("three/x", []byte("x"), 0o644))
			work := tree(t, o)
			c.at = c.steps + at
			_, err = o.Apply(ctx)
			if !c.dead {
				must(t, err)
				break
			}
			points++
			where := fmt.Sprintf("step %d way %d", at, how)
			w = NewJournal(disk, store, JournalOptions{})
			if _, err := w.Snapshot(); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			o = NewOverlay(w, upper)
			if g := tree(t, o); g != work {
				t.Fatalf("%s: the overlay shows\n%s\nnot\n%s\nbelow\n%s", where, g, work, tree(t, disk))
			}
			if _, err := o.Apply(ctx); err != nil {
				t.Fatalf("%s: apply again: %v", where, err)
			}
			if g := tree(t, disk); g != work {
				t.Fatalf("%s: applied\n%s\nwant\n%s", where, g, work)
			}
			must(t, w.UndoTo(ctx, snap))
			if g := tree(t, disk); g != start {
				t.Fatalf("%s: undone\n%s\nwant\n%s", where, g, start)
			}
		}
	}
	t.Logf("%d kill points", points)
	if points < 60/stride() {
		t.Errorf("only %d kill points", points)
	}
}
