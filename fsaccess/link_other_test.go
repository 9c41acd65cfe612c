//go:build !js

package fsaccess

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/attack"

	"github.com/bailey-go/bailey/fsaccess/internal/journal"
	"github.com/bailey-go/bailey/fsaccess/internal/osdir"
)

// tryLinks runs every operation on a case, each in a folder of its own, and returns the
// operations that reached the closed part.
func tryLinks(t *testing.T, c linkCase, follow bool, stack func(*Folder) *Folder) (tried int, reached []string) {
	var root string
	var f *Folder
	fresh := func() {
		root = linkedFolder(t, t.TempDir(), c.links)
		dir, err := OpenDir(root, DirOptions{NoSync: true})
		must(t, err)
		t.Cleanup(func() { dir.Close() })
		dir.c.(*osdir.Dir).Follow = follow
		f = stack(dir)
	}
	fresh()
	before := closed(t, root)
	for _, op := range slices.Sorted(maps.Keys(linkOperations(f, c.name))) {
		tried++
		out, err := linkOperations(f, c.name)[op]()
		now := closed(t, root)
		if strings.Contains(out, "SECRET") {
			reached = append(reached, op+" read it")
		}
		if now != before {
			reached = append(reached, op+" changed it")
		}
		if err == nil && strings.HasPrefix(op, "!") || now != before {
			fresh()
			before = closed(t, root)
		}
	}
	return tried, reached
}

// A link that came with the folder gives no protected or denied file a second name: not on any
// operation, and not through any of the layers. With the defence off each of them does.
func TestAttackLinks(t *testing.T) {
	count := attack.Start(t, "01")
	for stackName, stack := range linkStacks(t) {
		for name, c := range linkCases() {
			_, reached := tryLinks(t, c, false, stack)
			count.Try(fmt.Sprint(stackName, ", ", name, ": ", c.name, ": ", reached), len(reached) > 0)
		}
	}
	for name, c := range linkCases() {
		_, reached := tryLinks(t, c, true, linkStacks(t)["guard"])
		count.Off(name, len(reached) > 0)
		if len(reached) == 0 && !c.quiet {
			t.Errorf("%s: %s reaches nothing with the defence off: the case shows nothing", name, c.name)
		}
	}
}

// A link itself is visible, and can be removed and renamed.
func TestLinkItself(t *testing.T) {
	root := linkedFolder(t, t.TempDir(), map[string]string{"pub/l": "../private/key", "pub/d": "../private"})
	dir, err := OpenDir(root, DirOptions{NoSync: true})
	must(t, err)
	defer dir.Close()
	g := linkStacks(t)["guard"](dir)
	for _, name := range []string{"pub/l", "pub/d"} {
		fi, err := g.Stat(name)
		if must(t, err); fi.Mode()&fs.ModeSymlink == 0 || fi.IsDir() {
			t.Errorf("%s: %v", name, fi.Mode())
		}
		for op, err := range map[string]error{
			"read":  second(g.ReadFile(name)),
			"open":  second(g.Open(name)),
			"write": g.WriteFile(name, nil, 0o644),
			"list":  second(g.ReadDir("pub/d")),
			"below": second(g.ReadFile("pub/d/key")),
			"make":  g.WriteFile("pub/d/new", nil, 0o644),
		} {
			if !errors.Is(err, ErrLink) || !errors.Is(err, ErrBadName) || !errors.Is(err, syscall.ELOOP) || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s %s: %v", op, name, err)
			}
		}
		if _, err := g.ReadFile(name); !strings.Contains(err.Error(), `leads to "../private`) {
			t.Errorf("it does not say where it leads: %v", err)
		}
	}
	var links []string
	for e, err := range Walk(t.Context(), g, ".", WalkOptions{}) {
		if must(t, err); e.Link {
			links = append(links, e.Path)
		}
	}
	if got := strings.Join(links, " "); got != "pub/d pub/l" {
		t.Errorf("links: %s", got)
	}
	must(t, g.Rename("pub/l", "pub/m"))
	must(t, g.Rename("pub", "moved"))
	if to, err := os.Readlink(filepath.Join(root, "moved/m")); err != nil || to != "../private/key" {
		t.Errorf("%s %v", to, err)
	}
	if err := g.Rename("moved/m", ".bashrc"); !errors.Is(err, ErrProtected) {
		t.Errorf("a link became a protected name: %v", err)
	}
	must(t, g.Rename("a/file", "moved/m")) // replaces the link, not what it leads to
	must(t, g.Remove("moved/d"))
	if b, err := os.ReadFile(filepath.Join(root, "private/key")); err != nil || string(b) != "SECRET" {
		t.Errorf("%q %v", b, err)
	}
}

// A folder is replaced by a link between the look at it and its use, as another program
// on the machine can.
func TestAttackLinkSwappedInBetween(t *testing.T) {
	count := attack.Start(t, "01")
	read := false
	secret := func(b []byte, err error) error {
		read = read || strings.Contains(string(b), "SECRET")
		return err
	}
	for name, do := range map[string]func(f *Folder) error{
		"read":      func(f *Folder) error { return secret(f.ReadFile("pub/deep/key")) },
		"list":      func(f *Folder) error { _, err := f.ReadDir("pub/deep"); return err },
		"stat":      func(f *Folder) error { _, err := f.Stat("pub/deep/key"); return err },
		"write":     func(f *Folder) error { return f.WriteFile("pub/deep/key", []byte("written"), 0o644) },
		"new file":  func(f *Folder) error { return f.WriteFile("pub/deep/new", []byte("written"), 0o644) },
		"create":    func(f *Folder) error { _, err := f.Create("pub/deep/new2"); return err },
		"truncate":  func(f *Folder) error { return f.Truncate("pub/deep/key", 0) },
		"empty":     func(f *Folder) error { _, err := f.OpenFile("pub/deep/key", os.O_RDONLY|os.O_TRUNC, 0); return err },
		"make":      func(f *Folder) error { return f.Mkdir("pub/deep/folder", 0o755) },
		"remove":    func(f *Folder) error { return f.Remove("pub/deep/key") },
		"all":       func(f *Folder) error { return f.RemoveAll("pub/deep/key") },
		"rename":    func(f *Folder) error { return f.Rename("pub/deep/key", "pub/stolen") },
		"rename to": func(f *Folder) error { return f.Rename("a/file", "pub/deep/key") },
		"rename on": func(f *Folder) error { return f.Rename("a/file", "pub/deep/fresh") },
		"chmod":     func(f *Folder) error { return f.Chmod("pub/deep/key", 0o777) },
		"chtimes":   func(f *Folder) error { return f.Chtimes("pub/deep/key", time.Unix(1, 0), time.Unix(1, 0)) },
	} {
		for _, c := range []struct {
			swap  string
			blind bool
		}{{"pub", false}, {"deep", false}, {"key", false}, {"pub", true}, {"deep", true}, {"key", true}} {
			t.Run(fmt.Sprint(name, " ", c.swap, " ", c.blind), func(t *testing.T) {
				root := linkedFolder(t, t.TempDir(), nil)
				must(t, os.MkdirAll(filepath.Join(root, "private/deep"), 0o755))
				must(t, os.Mkdir(filepath.Join(root, "pub/deep"), 0o755))
				must(t, os.WriteFile(filepath.Join(root, "private/deep/key"), []byte("SECRET deep"), 0o600))
				must(t, os.WriteFile(filepath.Join(root, "pub/deep/key"), []byte("open"), 0o600))
				before := closed(t, root)
				dir, err := OpenDir(root, DirOptions{NoSync: true})
				must(t, err)
				defer dir.Close()
				swapped := false
				read = false
				dir.c.(*osdir.Dir).Blind = c.blind
				dir.c.(*osdir.Dir).Between = func(elem string) {
					if elem != c.swap || swapped {
						return
					}
					swapped = true
					at := map[string]string{"pub": "pub", "deep": "pub/deep", "key": "pub/deep/key"}[elem]
					to := map[string]string{"pub": "private", "deep": "../private/deep", "key": "../../private/deep/key"}[elem]
					must(t, os.Rename(filepath.Join(root, at), filepath.Join(root, "a/aside")))
					must(t, os.Symlink(to, filepath.Join(root, at)))
				}
				err = do(dir)
				did := closed(t, root) != before || read
				if c.blind {
					count.Off(name, did)
				} else {
					count.Try(fmt.Sprint(name, ", ", c.swap, ": ", err), did)
				}
			})
		}
	}
}

// A file or folder that is replaced by another one, as each save by a rename does, is looked at
// again, and given up only when that happens all the time.
func TestReplacedInBetween(t *testing.T) {
	for _, name := range []string{"a", "a/file"} {
		for times, ok := range map[int]bool{0: true, 1: true, osdir.Tries: true, osdir.Tries + 1: false} {
			root := linkedFolder(t, t.TempDir(), nil)
			dir, err := OpenDir(root, DirOptions{NoSync: true})
			must(t, err)
			defer dir.Close()
			at, n := filepath.Join(root, name), 0
			dir.c.(*osdir.Dir).Between = func(elem string) {
				if elem != core.BaseOf(name) || n == times {
					return
				}
				n++
				must(t, os.Rename(at, filepath.Join(t.TempDir(), "old")))
				if name == "a" {
					must(t, os.Mkdir(at, 0o755))
				}
				must(t, os.WriteFile(filepath.Join(root, "a/file"), []byte("new"), 0o600))
			}
			b, err := dir.ReadFile("a/file")
			if ok && (err != nil || times > 0 && string(b) != "new") || !ok && !errors.Is(err, ErrLink) {
				t.Errorf("%s replaced %d times: %q %v", name, times, b, err)
			}
		}
	}
}

// Undo and Apply do not go through a link that took a folder's place after the change.
func TestAttackLinkBeforeUndoAndApply(t *testing.T) {
	count := attack.Start(t, "01")
	count.NoSwitch("the switch of the folder is tried in TestAttackLinks")
	swap := func(t *testing.T, root string) string {
		must(t, os.Rename(filepath.Join(root, "pub"), filepath.Join(root, "aside")))
		must(t, os.Symlink("private", filepath.Join(root, "pub")))
		return closed(t, root)
	}
	for name, first := range map[string]func(f FS) error{
		"undo of a write":   func(f FS) error { return f.WriteFile("pub/key", []byte("SECRET"), 0o600) },
		"undo of a removal": func(f FS) error { return f.Remove("pub/x") },
		"undo of a folder":  func(f FS) error { return f.Mkdir("pub/sub", 0o755) },
		"undo of a move":    func(f FS) error { return f.Rename("pub/x", "a/x") },
	} {
		t.Run(name, func(t *testing.T) {
			root := linkedFolder(t, t.TempDir(), nil)
			dir, err := OpenDir(root, DirOptions{NoSync: true})
			must(t, err)
			defer dir.Close()
			j := NewJournal(dir, NewMemory(MemoryOptions{}), JournalOptions{})
			must(t, first(j))
			before := swap(t, root)
			if err := j.Undo(t.Context()); err == nil {
				t.Error("it was undone")
			}
			count.Try(name, closed(t, root) != before)
		})
	}
	for name, first := range map[string]func(f FS) error{
		"apply of a new file":  func(f FS) error { return f.WriteFile("pub/new", []byte("x"), 0o600) },
		"apply of a change":    func(f FS) error { return f.WriteFile("pub/x", []byte("y"), 0o600) },
		"apply of a removal":   func(f FS) error { return f.Remove("pub/x") },
		"apply of a folder":    func(f FS) error { return f.MkdirAll("pub/sub/deep", 0o755) },
		"apply of a new key":   func(f FS) error { return f.WriteFile("pub/key", []byte("x"), 0o600) },
		"apply of a move":      func(f FS) error { return f.Rename("a/file", "pub/key") },
		"apply of two changes": func(f FS) error { return errors.Join(f.WriteFile("pub/key", nil, 0o600), f.Remove("pub/x")) },
	} {
		t.Run(name, func(t *testing.T) {
			root := linkedFolder(t, t.TempDir(), nil)
			dir, err := OpenDir(root, DirOptions{NoSync: true})
			must(t, err)
			defer dir.Close()
			o := NewOverlay(dir, NewMemory(MemoryOptions{}))
			must(t, first(o))
			before := swap(t, root)
			_, err = o.Apply(t.Context())
			count.Try(fmt.Sprint(name, ": ", err), closed(t, root) != before)
		})
	}
	t.Run("a handle that is closed later", func(t *testing.T) {
		root := linkedFolder(t, t.TempDir(), nil)
		dir, err := OpenDir(root, DirOptions{NoSync: true})
		must(t, err)
		defer dir.Close()
		h, err := linkStacks(t)["guard"](dir).Create("pub/key")
		must(t, err)
		_, err = h.(core.File).Write([]byte("written"))
		must(t, err)
		before := swap(t, root)
		err = h.Close()
		count.Try(fmt.Sprint("closing a handle: ", err), closed(t, root) != before || err == nil)
	})
}

// A file system that is not of this package and follows links, as os.DirFS does, also out
// of its folder.
func TestAttackLinksOfAnotherFS(t *testing.T) {
	count := attack.Start(t, "01")
	for name, c := range linkCases() {
		root := linkedFolder(t, t.TempDir(), c.links)
		for kind, f := range map[string]*Folder{
			"FromFS":  FromFS(os.DirFS(root)),
			"overlay": NewOverlay(os.DirFS(root), NewMemory(MemoryOptions{})).Folder,
			"guard":   linkStacks(t)["guard"](FromFS(os.DirFS(root))),
		} {
			reached := ""
			for op, do := range linkOperations(f, c.name) {
				out, _ := do()
				whole := strings.HasSuffix(op, "all") || op == "ZIP" // without a guard it finds the file by its own name
				if strings.Contains(out, "SECRET") && (kind == "guard" || !whole) {
					reached += " " + op
				}
			}
			count.Try(fmt.Sprint(name, ", ", kind, ":", reached), reached != "")
		}
		data, _ := fs.ReadFile(os.DirFS(root), c.name) // as it is without FromFS
		count.Off(name, strings.Contains(string(data), "SECRET"))
	}
}

// A second name of one file (a hard link) cannot be told from the first. A change through a
// guard gives the named file a content of its own and leaves the other's.
func TestHardLink(t *testing.T) {
	root := linkedFolder(t, t.TempDir(), nil)
	must(t, os.Link(filepath.Join(root, ".git/config"), filepath.Join(root, "pub/hard")))
	dir, err := OpenDir(root, DirOptions{NoSync: true})
	must(t, err)
	defer dir.Close()
	before := closed(t, root)
	for name, do := range map[string]func(g *Folder) error{
		"write": func(g *Folder) error { return g.WriteFile("pub/hard", []byte("x"), 0o644) },
		"append": func(g *Folder) error {
			h, err := g.OpenFile("pub/hard", os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = h.(core.File).Write([]byte("more"))
			return errors.Join(err, h.Close())
		},
		"truncate": func(g *Folder) error { return g.Truncate("pub/hard", 0) },
		"remove":   func(g *Folder) error { return g.Remove("pub/hard") },
	} {
		must(t, errors.Join(journal.Gone(os.Remove(filepath.Join(root, "pub/hard"))), os.Link(filepath.Join(root, ".git/config"), filepath.Join(root, "pub/hard"))))
		must(t, do(linkStacks(t)["guard"](dir)))
		if now := closed(t, root); now != before {
			t.Errorf("%s: changed:\n%s", name, now)
		}
	}
}
