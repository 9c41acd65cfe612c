package fsaccess

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/native"

	"github.com/bailey-go/bailey/fsaccess/internal/journal"
)

// A scene is a change during which the tab is killed.
type scene struct {
	name  string
	o     MemoryOptions
	setup func(t *testing.T, w *Journal)
	act   func(w *Journal) error
	// partial means that the act has several steps, and each of them may be the last.
	partial bool
}

var big = bytes.Repeat([]byte("0123456789abcdef"), 2100) // over inlineMax

func scenes() []scene {
	base := func(t *testing.T, w *Journal) {
		must(t, w.MkdirAll("d/e", 0o755))
		must(t, w.WriteFile("d/one", []byte("first"), 0o644))
		must(t, w.WriteFile("d/e/two", big, 0o644))
		must(t, w.WriteFile("three", []byte("3"), 0o644))
		must(t, w.WriteFile("three", []byte("3 again"), 0o644))
	}
	then := func(more func(w *Journal) error) func(*testing.T, *Journal) {
		return func(t *testing.T, w *Journal) {
			base(t, w)
			must(t, more(w))
		}
	}
	ctx := context.Background()
	noMove := MemoryOptions{NoMove: true, NoMode: true}
	foldNoMove := MemoryOptions{NoMove: true, FoldCase: true}
	edit := func(w *Journal) error { return w.WriteFile("d/e/two", []byte("small now"), 0o644) }
	wipe := func(w *Journal) error { return w.RemoveAll("d") }
	move := func(w *Journal) error { return w.Rename("d", "moved") }
	over := func(w *Journal) error { return w.Rename("three", "d/e/two") }
	group := func(w *Journal) error {
		return w.Group(ctx, "several", func(f FS) error {
			if err := f.WriteFile("new", []byte("n"), 0o644); err != nil {
				return err
			}
			if err := f.Rename("d", "n2"); err != nil {
				return err
			}
			if err := f.Remove("three"); err != nil {
				return err
			}
			return f.WriteFile("n2/one", []byte("1"), 0o644)
		})
	}
	in := func(w *Journal) error {
		m := NewMemory(MemoryOptions{})
		if err := m.WriteFile("x", big, 0o644); err != nil {
			return err
		}
		return Copy(ctx, w, "d/new", m, "x", CopyOptions{})
	}
	undo := func(w *Journal) error { return w.Undo(ctx) }
	redo := func(w *Journal) error { return w.Redo(ctx) }
	s := []scene{
		{name: "write", setup: base, act: edit},
		{name: "write large", setup: base, act: func(w *Journal) error { return w.WriteFile("three", big, 0o644) }},
		{name: "create", setup: base, act: func(w *Journal) error { return w.WriteFile("d/new", []byte("x"), 0o644) }},
		{name: "copy in", setup: base, act: in},
		{name: "copy in, no move", o: noMove, setup: base, act: in},
		{name: "mkdir", setup: base, act: func(w *Journal) error { return w.Mkdir("d/new", 0o755) }},
		{name: "remove", setup: base, act: func(w *Journal) error { return w.Remove("d/e/two") }},
		{name: "remove tree", setup: base, act: wipe},
		{name: "rename", setup: base, act: func(w *Journal) error { return w.Rename("three", "four") }},
		{name: "rename over", setup: base, act: over},
		{name: "rename over, no move", o: noMove, setup: base, act: over},
		{name: "rename, no move", o: noMove, setup: base, act: func(w *Journal) error { return w.Rename("d/e/two", "two") }},
		{name: "folder rename", setup: base, act: move},
		{name: "folder rename, no move", o: noMove, setup: base, act: move},
		{name: "respelling", o: MemoryOptions{FoldCase: true}, setup: base, act: func(w *Journal) error { return w.Rename("three", "Three") }},
		{name: "respelling, no move", o: foldNoMove, setup: base, act: func(w *Journal) error { return w.Rename("three", "Three") }},
		{name: "folder respelling, no move", o: foldNoMove, setup: base, act: func(w *Journal) error { return w.Rename("d", "D") }},
		{name: "group", setup: base, act: group, partial: true},
		{name: "group, no move", o: noMove, setup: base, act: group, partial: true},
	}
	for _, d := range []struct {
		name string
		o    MemoryOptions
		do   func(*Journal) error
	}{{"write", MemoryOptions{}, edit}, {"copy in", MemoryOptions{}, in}, {"remove tree", MemoryOptions{}, wipe}, {"rename over", MemoryOptions{}, over},
		{"folder rename, no move", noMove, move}, {"group", MemoryOptions{}, group}, {"group, no move", noMove, group}} {
		s = append(s,
			scene{name: "undo of " + d.name, o: d.o, setup: then(d.do), act: undo},
			scene{name: "redo of " + d.name, o: d.o, setup: then(func(w *Journal) error {
				if err := d.do(w); err != nil {
					return err
				}
				return w.Undo(ctx)
			}), act: redo})
	}
	return append(s, scene{name: "undo to start", o: noMove, setup: then(group), act: func(w *Journal) error { return w.UndoTo(ctx, "0") }})
}

// TestKilledAnywhere kills the tab at every single step of every scene, in
// each way, and opens the journal again. The tree must be the old one or the
// new one (or, for a group, one between), every earlier step must still be
// undoable down to the empty folder, and that undo must be undoable in turn.
func TestKilledAnywhere(t *testing.T) {
	native.Only(t)
	points, played := 0, 0
	for _, s := range scenes() {
		t.Run(s.name, func(t *testing.T) {
			played++
			legal := trees(t, s)
			for i, how := range []crashKind{dieBefore, dieAfter, dieTorn, dieBefore, dieAfter, dieTorn} {
				for at := 1; ; at++ {
					if !killAt(t, s, at, how, i >= 3, legal) {
						break
					}
					points++
				}
			}
		})
	}
	t.Logf("%d kill points", points)
	if points < 1600 && played == len(scenes()) {
		t.Errorf("only %d kill points; the scenes have become too small", points)
	}
}

// stride is 1 natively and in make soak. In a page, make test takes every eighth point of the
// tables that are about memory alone: they are the same code there, only slower.
func stride() int {
	if runtime.GOOS == "js" && testing.Short() {
		return 8
	}
	return 1
}

// trees gives the legal outcomes: before, after, and after each step between.
func trees(t *testing.T, s scene) map[string]bool {
	disk, store := NewMemory(s.o), NewMemory(MemoryOptions{})
	w := NewJournal(disk, store, JournalOptions{})
	s.setup(t, w)
	legal := map[string]bool{tree(t, disk): true}
	must(t, s.act(w))
	legal[tree(t, disk)] = true
	if s.partial {
		for {
			h, err := w.History(context.Background())
			must(t, err)
			// One record of the group at a time, from the end.
			id := h[0].ID
			recs := w.j.Backwards(id)
			if len(recs) <= 1 {
				break
			}
			must(t, w.j.Apply(context.Background(), journal.Invert(recs[0].Effects), recs[0]))
			legal[tree(t, disk)] = true
			must(t, w.j.Forget(context.Background(), recs[0]))
		}
	}
	return legal
}

func killAt(t *testing.T, s scene, at int, how crashKind, eager bool, legal map[string]bool) (died bool) {
	t.Helper()
	ctx := context.Background()
	disk, store := NewMemory(s.o), NewMemory(MemoryOptions{})
	c := &crasher{how: how}
	w := NewJournal(faultyFS(disk, c, false, eager), faultyFS(store, c, true, eager), JournalOptions{})
	s.setup(t, w)
	c.at = c.steps + at
	err := s.act(w)
	if !c.dead {
		must(t, err)
		return false
	}
	where := fmt.Sprintf("killed at step %d, way %d, eager %v", at, how, eager)
	if err == nil {
		t.Fatalf("%s: the act reported success", where)
	}
	again := NewJournal(disk, store, JournalOptions{})
	if _, err := again.Snapshot(); err != nil {
		t.Fatalf("%s: open again: %v", where, err)
	}
	got := tree(t, disk)
	if !legal[got] {
		t.Fatalf("%s: the tree is neither the old nor the new one:\n%s\nlegal:\n%v", where, got, legal)
	}
	if err := again.UndoTo(ctx, "0"); err != nil {
		t.Fatalf("%s: undo all: %v", where, err)
	}
	if g := tree(t, disk); g != "./\n" {
		t.Fatalf("%s: after undoing all there is\n%s", where, g)
	}
	if err := again.Undo(ctx); err != nil {
		t.Fatalf("%s: undo of the undo: %v", where, err)
	}
	if g := tree(t, disk); g != got {
		t.Fatalf("%s: undo of the undo gave\n%s\nnot\n%s", where, g, got)
	}
	if left := hidden(disk); left > 0 && !strings.Contains(s.name, "copy in") {
		t.Fatalf("%s: %d swap files are left: %s", where, left, got)
	}
	return true
}

// hidden counts the swap files in a folder.
func hidden(f *Folder) (n int) {
	var count func(d *memNode)
	count = func(d *memNode) {
		for _, k := range d.kids {
			if core.IsSwap(k.name) {
				n++
			}
			count(k)
		}
	}
	m := f.c.(*memory)
	m.mu.RLock()
	defer m.mu.RUnlock()
	count(m.root)
	return n
}
