package worker

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bailey-go/bailey/internal/jsx"
	wire "github.com/bailey-go/bailey/internal/wire/wasm"
	"github.com/bailey-go/bailey/protocol"
)

// shown mounts a folder with a few files and packs it, as before a run.
func shown(t *testing.T, fsys fs.FS) *files {
	t.Helper()
	f, err := newFiles(fsys, nil, defaultLimits)
	must(t, err)
	_, err = f.pack(context.Background(), SnapshotFiles, false)
	must(t, err)
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type row struct {
	kind       wire.ChangeKind
	mount      uint8
	name, more string
}

func packRows(rows ...row) []byte {
	var p jsx.Packer
	p.U32(uint32(len(rows)))
	for _, r := range rows {
		p.U8(uint8(r.kind))
		p.U8(r.mount)
		p.String(r.name)
		switch r.kind {
		case wire.Write, wire.Rename, wire.Symlink, wire.Link:
			p.String(r.more)
		}
	}
	return p.Packed()
}

func writeBack(f *files, b []byte) (int, error) {
	list, err := f.changes(jsx.Unpack(b))
	if err != nil {
		return 0, err
	}
	return f.writeBack(context.Background(), list, nil)
}

var allKinds = []row{
	{wire.MakeDir, 0, "new", ""}, {wire.Write, 0, "new/f", "made"}, {wire.Write, 0, "a", "changed"},
	{wire.Rename, 0, "b", "moved"}, {wire.Remove, 0, "d/c", ""}, {wire.RemoveDir, 0, "d", ""},
}

func TestWriteBack(t *testing.T) {
	dir := newMemFS()
	must(t, dir.MkdirAll("d", 0o755))
	for _, name := range []string{"a", "b", "d/c"} {
		must(t, dir.WriteFile(name, []byte("old "+name), 0o644))
	}
	n, err := writeBack(shown(t, dir), packRows(allKinds...))
	if got, want := tree(t, dir), "a=changed moved=old b new/ new/f=made"; err != nil || n != 6 || got != want {
		t.Errorf("%d, %v: %s, want %s", n, err, got, want)
	}
}

// If another writer changed any of the files during the run, no change of the program is
// written.
func TestWriteBackConflicts(t *testing.T) {
	for what, meanwhile := range map[string]func(fsys WriteFS) error{
		"a changed file is changed":   func(d WriteFS) error { return d.WriteFile("a", []byte("OLD a"), 0o644) },
		"a changed file is removed":   func(d WriteFS) error { return d.Remove("a") },
		"a changed file grows":        func(d WriteFS) error { return d.WriteFile("a", []byte("old a and more"), 0o644) },
		"a moved file is changed":     func(d WriteFS) error { return d.WriteFile("b", []byte("OLD b"), 0o644) },
		"a moved file's new name":     func(d WriteFS) error { return d.WriteFile("moved", nil, 0o644) },
		"a removed file is changed":   func(d WriteFS) error { return d.WriteFile("d/c", []byte("OLD d/c"), 0o644) },
		"a new folder's name":         func(d WriteFS) error { return d.WriteFile("new", nil, 0o644) },
		"a removed folder is no more": func(d WriteFS) error { return errors.Join(d.Remove("d/c"), d.Remove("d")) },
	} {
		dir := newMemFS()
		must(t, dir.MkdirAll("d", 0o755))
		for _, name := range []string{"a", "b", "d/c"} {
			must(t, dir.WriteFile(name, []byte("old "+name), 0o644))
		}
		f := shown(t, dir)
		must(t, meanwhile(dir))
		before := tree(t, dir)
		n, err := writeBack(f, packRows(allKinds...))
		var conflict *ConflictError
		if !errors.As(err, &conflict) || n != 0 || len(conflict.Paths) == 0 || tree(t, dir) != before {
			t.Errorf("%s: %d, %v: %s", what, n, err, tree(t, dir))
		}
	}
}

// Changes from a worker that breaks the protocol are refused.
func TestWriteBackRefuses(t *testing.T) {
	dir := newMemFS()
	must(t, dir.WriteFile("a", []byte("old"), 0o644))
	f, err := newFiles(dir, map[string]fs.FS{"/ro": fstest.MapFS{"x": {Data: []byte("x")}}}, defaultLimits)
	must(t, err)
	_, err = f.pack(context.Background(), SnapshotFiles, false)
	must(t, err)
	for what, b := range map[string][]byte{
		"a way out":           packRows(row{wire.Write, 0, "../a", "x"}),
		"an absolute name":    packRows(row{wire.Write, 0, "/a", "x"}),
		"no name":             packRows(row{wire.Remove, 0, "", ""}),
		"the folder itself":   packRows(row{wire.RemoveDir, 0, ".", ""}),
		"a rename that leads": packRows(row{wire.Rename, 0, "a", "../b"}),
		"a read-only mount":   packRows(row{wire.Write, 1, "x", "y"}),
		"no such mount":       packRows(row{wire.Write, 2, "x", "y"}),
		"no such kind":        packRows(row{99, 0, "a", ""}),
		"too short":           packRows(row{wire.Write, 0, "a", "x"})[:12],
		"too long":            append(packRows(row{wire.Write, 0, "a", "x"}), 0),
		"too many":            {255, 255, 255, 255},
	} {
		if n, err := writeBack(f, b); !errors.Is(err, protocol.ErrSecurityViolation) || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
	if got := tree(t, dir); got != "a=old" {
		t.Error(got)
	}
}

func FuzzChanges(f *testing.F) {
	f.Add(packRows(allKinds...))
	f.Add(packRows(row{wire.Write, 0, "../a", "x"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := newMemFS()
		must(t, dir.WriteFile("a", []byte("old"), 0o644))
		fl := shown(t, dir)
		list, err := fl.changes(jsx.Unpack(b))
		if err != nil {
			return
		}
		for _, c := range list {
			if !fs.ValidPath(c.Path) || c.Path == "." {
				t.Fatalf("%q", c.Path)
			}
		}
		_, _ = fl.apply(context.Background(), list)
	})
}

func TestSnapshotLimits(t *testing.T) {
	fsys := fstest.MapFS{"a": {Data: make([]byte, 100)}, "d/b": {Data: make([]byte, 50)}}
	for _, tt := range []struct {
		entries int
		bytes   int64
		ok      bool
	}{{3, 150, true}, {4, 151, true}, {2, 150, false}, {3, 149, false}} {
		f, err := newFiles(fsys, nil, defaultLimits.narrow(Limits{Entries: tt.entries, Snapshot: tt.bytes}))
		must(t, err)
		_, err = f.pack(context.Background(), SnapshotFiles, false)
		if (err == nil) != tt.ok || err != nil && !errors.Is(err, protocol.ErrResourceLimit) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	f, err := newFiles(fsys, nil, defaultLimits)
	must(t, err)
	if _, err := f.pack(context.Background(), LazyFiles, false); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("lazy without suspending: %v", err)
	}
	big := fstest.MapFS{}
	for i := range autoEntries + 1 {
		big[strings.Repeat("x", 1+i%200)+string(rune('a'+i/200))] = &fstest.MapFile{}
	}
	for _, lazy := range []bool{true, false} {
		f, err := newFiles(big, nil, defaultLimits)
		must(t, err)
		if _, err = f.pack(context.Background(), AutoFiles, true); err != nil || f.mounts[0].lazy != lazy {
			t.Errorf("%d entries: lazy %v, %v", len(big), f.mounts[0].lazy, err)
		}
		delete(big, "xa")
	}
}

func TestMounts(t *testing.T) {
	x := fstest.MapFS{}
	for _, bad := range []map[string]fs.FS{{"rel": x}, {"/a/": x}, {"/a/../b": x}, {"/": x}, {"/nil": nil}, {"": x}} {
		if _, err := newFiles(x, bad, defaultLimits); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	f, err := newFiles(newMemFS(), map[string]fs.FS{"/b": x, "/a": newMemFS()}, defaultLimits)
	must(t, err)
	var got []string
	for _, m := range f.mounts {
		got = append(got, m.guest)
	}
	if !slices.Equal(got, []string{"/", "/a", "/b"}) || f.mounts[0].readOnly || f.mounts[1].readOnly || !f.mounts[2].readOnly {
		t.Errorf("%v", got)
	}
}
