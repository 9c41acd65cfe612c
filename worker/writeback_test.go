package worker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"

	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// bareFS hides all but the methods of a WriteFS.
type bareFS struct{ WriteFS }

// slipping calls a function once before a file is written, as another writer could.
type slipping struct {
	updateFS
	in func()
}

func (s *slipping) slip() {
	if in := s.in; in != nil {
		s.in = nil
		in()
	}
}

func (s *slipping) UpdateFile(name string, perm fs.FileMode, edit func([]byte) ([]byte, error)) error {
	s.slip()
	return s.updateFS.UpdateFile(name, perm, edit)
}

func (s *slipping) WriteFile(name string, data []byte, perm fs.FileMode) error {
	s.slip()
	return s.updateFS.WriteFile(name, data, perm)
}

// Another writer changes a file between the comparison of all files and the first write. A file
// system with UpdateFile detects it. Without that method the other writer's change is
// overwritten.
func TestWriteBackSwaps(t *testing.T) {
	write := []row{{wire.Write, 0, "a", "changed"}, {wire.Write, 0, "b", "changed"}, {wire.Write, 0, "made", "new"}}
	for _, tt := range []struct {
		what string
		slip func(WriteFS) error
		list []row
		n    int
		path string
		want string
	}{
		{"nobody", func(WriteFS) error { return nil }, write, 3, "", "a=changed b=changed made=new"},
		{"the first", func(d WriteFS) error { return d.WriteFile("a", []byte("OLD"), 0o644) }, write, 0, "a", "a=OLD b=old"},
		{"another length", func(d WriteFS) error { return d.WriteFile("a", nil, 0o644) }, write, 0, "a", "a= b=old"},
		{"the second", func(d WriteFS) error { return d.WriteFile("b", []byte("OLD"), 0o644) }, write, 1, "b", "a=changed b=OLD"},
		{"removed", func(d WriteFS) error { return d.Remove("b") }, write, 1, "b", "a=changed"},
		{"a new name", func(d WriteFS) error { return d.WriteFile("made", []byte("theirs"), 0o644) }, write, 2, "made", "a=changed b=changed made=theirs"},
		{"to be removed", func(d WriteFS) error { return d.WriteFile("b", []byte("OLD"), 0o644) }, []row{write[0], {wire.Remove, 0, "b", ""}}, 1, "b", "a=changed b=OLD"},
		{"to be moved", func(d WriteFS) error { return d.WriteFile("b", []byte("OLD"), 0o644) }, []row{write[0], {wire.Rename, 0, "b", "c"}}, 1, "b", "a=changed b=OLD"},
		{"a target", func(d WriteFS) error { return d.WriteFile("c", []byte("OLD"), 0o644) }, []row{write[0], {wire.Rename, 0, "b", "c"}}, 1, "b", "a=changed b=old c=OLD"},
	} {
		dir := newMemFS()
		for _, name := range []string{"a", "b"} {
			must(t, dir.WriteFile(name, []byte("old"), 0o644))
		}
		n, err := writeBack(shown(t, &slipping{dir, func() { must(t, tt.slip(dir)) }}), packRows(tt.list...))
		var conflict *ConflictError
		if got := tree(t, dir); n != tt.n || got != tt.want || errors.As(err, &conflict) != (tt.path != "") {
			t.Errorf("%s: %d, %v: %s, want %s", tt.what, n, err, got, tt.want)
		} else if tt.path != "" && (len(conflict.Paths) != 1 || conflict.Paths[0] != tt.path) {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	dir := newMemFS()
	must(t, dir.WriteFile("a", []byte("old"), 0o644))
	must(t, dir.WriteFile("b", []byte("old"), 0o644))
	n, err := writeBack(shown(t, bareFS{&slipping{dir, func() { must(t, dir.WriteFile("a", []byte("OLD"), 0o644)) }}}), packRows(write...))
	if got := tree(t, dir); n != 3 || err != nil || got != "a=changed b=changed made=new" {
		t.Errorf("without the swap the attack should succeed: %d, %v: %s", n, err, got)
	}
}

// A file that a lazy mount listed but the program did not read is compared by its length.
func TestWriteBackSwapsUnread(t *testing.T) {
	dir := newMemFS()
	must(t, dir.WriteFile("a", []byte("old"), 0o644))
	f, err := newFiles(&slipping{dir, func() { must(t, dir.WriteFile("a", []byte("longer"), 0o644)) }}, nil, defaultLimits)
	must(t, err)
	_, err = f.pack(context.Background(), LazyFiles, true)
	must(t, err)
	_, err = f.list(f.mounts[0], "")
	must(t, err)
	list, err := f.changes(jsx.Unpack(packRows(row{wire.Write, 0, "a", "changed"})))
	must(t, err)
	var conflict *ConflictError
	if _, err := f.apply(context.Background(), list); !errors.As(err, &conflict) || tree(t, dir) != "a=longer" {
		t.Errorf("%v: %s", err, tree(t, dir))
	}
}

// Changing is called once before the first change, with all changes. If it returns an error, no change is made.
func TestWriteBackTellsTheChanges(t *testing.T) {
	for _, no := range []error{nil, errors.New("the user said no")} {
		dir := newMemFS()
		must(t, dir.MkdirAll("d", 0o755))
		for _, name := range []string{"a", "b", "d/c"} {
			must(t, dir.WriteFile(name, []byte("old "+name), 0o644))
		}
		f := shown(t, dir)
		list, err := f.changes(jsx.Unpack(packRows(allKinds...)))
		must(t, err)
		before, told := tree(t, dir), ""
		_, err = f.writeBack(context.Background(), list, func(_ context.Context, changes []protocol.FileChange) error {
			if now := tree(t, dir); now != before {
				t.Errorf("changed before it was told: %s", now)
			}
			for _, c := range changes {
				told += fmt.Sprintf("%s %s %v %d %d; ", c.Path, c.From, c.Dir, c.Before, c.Size)
			}
			return no
		})
		if want := "/new  true -1 0; /new/f  false -1 4; /a  false 5 7; /moved /b false -1 5; /d/c  false 7 -1; /d  true 0 -1; "; told != want || !errors.Is(err, no) || (tree(t, dir) == before) != (no != nil) {
			t.Errorf("told %s, %v; then %s; want %s", told, err, tree(t, dir), want)
		}
	}
	dir := newMemFS()
	must(t, dir.WriteFile("a", []byte("old a"), 0o644))
	if _, err := shown(t, dir).writeBack(context.Background(), nil, func(context.Context, []protocol.FileChange) error { return errors.New("told of nothing") }); err != nil {
		t.Error(err)
	}
	// A link in the place of a file is one change.
	links := &linking{WriteFS: dir}
	f := shown(t, links)
	list, err := f.changes(jsx.Unpack(packRows(row{wire.Remove, 0, "a", ""}, row{wire.Write, 0, "b", "bb"}, row{wire.Symlink, 0, "a", "b"}, row{wire.Link, 0, "c", "b"})))
	must(t, err)
	var got []protocol.FileChange
	_, err = f.writeBack(context.Background(), list, func(_ context.Context, changes []protocol.FileChange) error {
		got = changes
		return nil
	})
	must(t, err)
	want := []protocol.FileChange{{Path: "/b", Before: -1, Size: 2}, {Path: "/a", Link: "b", Before: 5, Size: 1}, {Path: "/c", Same: "/b", Before: -1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
