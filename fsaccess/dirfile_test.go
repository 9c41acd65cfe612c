package fsaccess

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// pages reads an open folder n names at a time.
func pages(t testing.TB, d fs.ReadDirFile, n int) map[string]bool {
	t.Helper()
	got := map[string]bool{}
	for {
		list, err := d.ReadDir(n)
		if err == io.EOF && len(list) == 0 {
			if list, err := d.ReadDir(n); len(list) > 0 || err != io.EOF {
				t.Errorf("behind the end: %d names, %v", len(list), err)
			}
			return got
		}
		must(t, err)
		if len(list) == 0 || len(list) > n {
			t.Fatalf("ReadDir(%d) gave %d", n, len(list))
		}
		for _, e := range list {
			if _, twice := got[e.Name()]; twice {
				t.Errorf("%s came twice", e.Name())
			}
			got[e.Name()] = e.IsDir()
		}
	}
}

func openFolder(t testing.TB, f fs.FS, name string) fs.ReadDirFile {
	t.Helper()
	file, err := f.Open(name)
	must(t, err)
	t.Cleanup(func() { file.Close() })
	return file.(fs.ReadDirFile)
}

// ReadDir(n) returns the same entries, each once, for every n and through every layer.
func TestReadDirPages(t *testing.T) {
	for name, open := range everyFS(t) {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			want := map[string]bool{}
			must(t, f.MkdirAll("in/the", 0o755))
			for i := range 40 {
				base := fmt.Sprintf("f%03d", i)
				if want[base] = i%10 != 4; want[base] {
					must(t, f.Mkdir("in/the/"+base, 0o755))
				} else {
					must(t, f.WriteFile("in/the/"+base, nil, 0o644))
				}
			}
			for _, n := range []int{1, 7, 100} {
				if got := pages(t, openFolder(t, f, "in/the"), n); !maps.Equal(got, want) {
					t.Errorf("ReadDir(%d) to the end gives %d of %d", n, len(got), len(want))
				}
			}

			d := openFolder(t, f, "in/the")
			some, err := d.ReadDir(10)
			must(t, err)
			rest, err := d.ReadDir(-1)
			must(t, err)
			if !slices.IsSortedFunc(rest, func(a, b fs.DirEntry) int { return map[bool]int{true: 1, false: -1}[a.Name() > b.Name()] }) {
				t.Error("the rest is in no order")
			}
			if n := len(some) + len(rest); n != len(want) {
				t.Errorf("%d and the rest, %d, are not all", len(some), len(rest))
			}
			if more, err := d.ReadDir(-1); err != nil || len(more) != 0 {
				t.Errorf("behind the rest: %d, %v", len(more), err)
			}
			if _, err := d.(io.Seeker).Seek(0, io.SeekStart); err != nil {
				t.Error(err)
			} else if got := pages(t, d, 64); !maps.Equal(got, want) {
				t.Errorf("from the beginning again: %d of %d", len(got), len(want))
			}
			if _, err := openFolder(t, f, "in").ReadDir(1); err != nil {
				t.Error(err)
			}
			must(t, d.Close())
			if _, err := d.ReadDir(1); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("read when closed: %v", err)
			}
			if got := pages(t, openFolder(t, f, "in/the/f003"), 5); len(got) != 0 {
				t.Errorf("an empty folder has %v", got)
			}
		})
	}
}

// Pages leave out the entries that a guard hides or an overlay has removed, and show the
// entries that an overlay has replaced.
func TestReadDirPagesOfLayers(t *testing.T) {
	low := NewMemory(MemoryOptions{})
	for _, name := range []string{"a", "b", "c/below", "secret/x", "z"} {
		must(t, low.MkdirAll(core.ParentOf(name), 0o755))
		must(t, low.WriteFile(name, []byte("low"), 0o644))
	}
	o := NewOverlay(low, NewMemory(MemoryOptions{}))
	must(t, o.Remove("b"))
	must(t, o.RemoveAll("c"))
	must(t, o.WriteFile("c", []byte("up"), 0o644))
	must(t, o.WriteFile("new", nil, 0o644))
	must(t, o.WriteFile("z", []byte("up"), 0o644))
	policy := everywhere(t)
	hidden, err := protocol.ParsePattern("secret/**")
	must(t, err)
	policy.DenyRead = []protocol.Pattern{hidden}
	for n := range 4 {
		got := pages(t, openFolder(t, Guard(o, policy, GuardOptions{}), "."), n+1)
		if want := map[string]bool{"a": false, "c": false, "new": false, "z": false}; !maps.Equal(got, want) {
			t.Errorf("ReadDir(%d): %v, want %v", n+1, got, want)
		}
	}
	must(t, o.RemoveAll("secret"))
	must(t, o.MkdirAll("secret/new", 0o755)) // hides all that was below
	if got := pages(t, openFolder(t, o, "secret"), 3); !maps.Equal(got, map[string]bool{"new": true}) {
		t.Errorf("a folder made anew has %v", got)
	}
}

// breaking is a folder that cannot be read to its end.
type breaking struct{ fstest.MapFS }

type breakingDir struct {
	fs.ReadDirFile
	left int
}

var errBroken = errors.New("the disk is gone")

func (b breaking) Open(name string) (fs.File, error) {
	f, err := b.MapFS.Open(name)
	if d, ok := f.(fs.ReadDirFile); ok && err == nil {
		return &breakingDir{d, 2}, nil
	}
	return f, err
}

func (d *breakingDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.left--; n <= 0 || d.left < 0 {
		return nil, errBroken
	}
	return d.ReadDirFile.ReadDir(1)
}

// Entries found before a failure are returned, and the failure is not taken for the end.
func TestReadDirPagesFail(t *testing.T) {
	low := breaking{fstest.MapFS{"a": {}, "b": {}, "c": {}}}
	for name, f := range map[string]FS{"foreign": FromFS(low), "guard": Guard(FromFS(low), everywhere(t), GuardOptions{}), "overlay": NewOverlay(low, NewMemory(MemoryOptions{}))} {
		d := openFolder(t, f, ".")
		for range 2 {
			if list, err := d.ReadDir(2); err != nil || len(list) != 1 {
				t.Errorf("%s: %d, %v", name, len(list), err)
			}
		}
		if list, err := d.ReadDir(2); !errors.Is(err, errBroken) || len(list) != 0 {
			t.Errorf("%s: %d, %v", name, len(list), err)
		}
		if _, err := d.ReadDir(-1); !errors.Is(err, errBroken) {
			t.Errorf("%s, the rest: %v", name, err)
		}
	}
}
