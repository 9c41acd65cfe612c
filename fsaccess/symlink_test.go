//go:build !js

package fsaccess

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// A folder in memory and one of the machine make links that lead to a name in the folder, and follow none.
func TestSymlink(t *testing.T) {
	dir, err := OpenDir(t.TempDir(), DirOptions{NoSync: true})
	must(t, err)
	defer dir.Close()
	for name, f := range map[string]*Folder{"memory": NewMemory(MemoryOptions{}), "os": dir} {
		t.Run(name, func(t *testing.T) {
			must(t, f.MkdirAll("d/e", 0o755))
			must(t, f.WriteFile("d/f", []byte("text"), 0o644))
			for link, target := range map[string]string{"l": "d/f", "d/e/up": "../f", "to": "d", "d/e/all": "../..", "gone": "d/none", "self": "self"} {
				must(t, f.Symlink(target, link))
				if to, err := f.ReadLink(link); err != nil || to != target {
					t.Errorf("%s leads to %q, %v", link, to, err)
				}
				if fi, err := f.Stat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 || fi.Size() != int64(len(target)) {
					t.Errorf("%s: %v %v", link, fi, err)
				}
				for op, err := range map[string]error{
					"read":  second(f.ReadFile(link)),
					"write": f.WriteFile(link, []byte("x"), 0o644),
					"list":  second(f.ReadDir(link)),
					"below": second(f.ReadFile(link + "/f")),
					"make":  f.WriteFile(link+"/new", nil, 0o644),
					"chmod": f.Chmod(link, 0o600),
				} {
					if !errors.Is(err, ErrLink) {
						t.Errorf("%s %s: %v", op, link, err)
					}
				}
				if err := f.Symlink("d", link); !errors.Is(err, fs.ErrExist) {
					t.Errorf("a second %s: %v", link, err)
				}
			}
			for _, target := range []string{"", "..", "../x", "/etc/passwd", "d/../../x", "d/../f", "d//f", "a\\b", "d/e/../../..", "x\x00y"} {
				if err := f.Symlink(target, "bad"); !errors.Is(err, ErrBadName) && !errors.Is(err, core.ErrInvalid) {
					t.Errorf("a link to %q: %v", target, err)
				}
			}
			if _, err := f.ReadLink("d/f"); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("a file that is no link: %v", err)
			}
			sub, err := f.Sub("d")
			must(t, err)
			if err := sub.(*Folder).Symlink("../x", "e/out"); err != nil {
				t.Error(err)
			}
			if err := sub.(*Folder).Symlink("../x", "out"); !errors.Is(err, ErrBadName) {
				t.Errorf("a link out of a folder from Sub: %v", err)
			}
			must(t, f.Rename("l", "m"))
			must(t, f.Remove("m"))
			if got, err := f.ReadFile("d/f"); err != nil || string(got) != "text" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
	for name, f := range map[string]*Folder{"a page's": NewMemory(MemoryOptions{NoMode: true}), "a copy's": NewOverlay(NewMemory(MemoryOptions{}), NewMemory(MemoryOptions{})).Folder} {
		if err := f.Symlink("a", "b"); !errors.Is(err, errors.ErrUnsupported) || f.Features().Links {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A journal undoes the making, removing and replacing of a link.
func TestSymlinkUndo(t *testing.T) {
	f := NewMemory(MemoryOptions{})
	must(t, f.WriteFile("a", []byte("a"), 0o644))
	j := NewJournal(f, NewMemory(MemoryOptions{}), JournalOptions{})
	leads := func(want string) {
		t.Helper()
		if to, err := f.ReadLink("l"); want == "" && !errors.Is(err, fs.ErrNotExist) || want != "" && to != want {
			t.Errorf("l leads to %q, %v; want %q", to, err, want)
		}
	}
	must(t, j.Symlink("a", "l"))
	must(t, j.Undo(t.Context()))
	leads("")
	must(t, j.Redo(t.Context()))
	leads("a")
	must(t, j.Remove("l"))
	leads("")
	must(t, j.Undo(t.Context()))
	leads("a")
	must(t, j.WriteFile("b", []byte("b"), 0o644))
	must(t, j.Rename("b", "l"))
	if got, err := f.ReadFile("l"); err != nil || string(got) != "b" {
		t.Errorf("%q %v", got, err)
	}
	must(t, j.Undo(t.Context()))
	leads("a")
	must(t, j.MkdirAll("d", 0o755))
	must(t, j.Symlink("../a", "d/l"))
	must(t, j.RemoveAll("d"))
	must(t, j.Undo(t.Context()))
	if to, err := f.ReadLink("d/l"); err != nil || to != "../a" {
		t.Errorf("d/l leads to %q, %v", to, err)
	}
	if err := j.WriteFile("l", []byte("x"), 0o644); !errors.Is(err, ErrLink) {
		t.Errorf("a write through a link: %v", err)
	}
}
