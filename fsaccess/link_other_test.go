//go:build !js

package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// linkCase is a name that reaches another file than it says, by a link that came with the
// folder, as a clone of somebody's repository brings it.
type linkCase struct {
	links map[string]string // name to target
	name  string            // what is asked for
	// quiet: another wall stops this one too (os.Root, the folding of deny lists, or O_EXCL),
	// so that nothing happens with the defence off.
	quiet bool
}

func linkCases() map[string]linkCase {
	one := func(name, target, ask string) linkCase {
		return linkCase{links: map[string]string{name: target}, name: ask}
	}
	quiet := func(c linkCase) linkCase {
		c.quiet = true
		return c
	}
	return map[string]linkCase{
		"a file":                           one("settings.txt", ".git/config", "settings.txt"),
		"a file, denied to be read":        one("pub/notes.txt", "../private/key", "pub/notes.txt"),
		"a folder":                         one("docs", ".git/hooks", "docs"),
		"a file below a folder":            one("pub/more", "../private", "pub/more/key"),
		"a new file below a folder":        one("docs", ".git/hooks", "docs/post-checkout"),
		"a new file two folders below":     one("docs", ".git", "docs/hooks/post-checkout"),
		"the folder itself":                one("up", ".", "up/private/key"),
		"the folder itself, thrice":        one("up", ".", "up/up/up/private/key"),
		"the folder above":                 one("pub/up", "..", "pub/up/private/key"),
		"a link to a link":                 {links: map[string]string{"a1": "a2", "a2": ".git/config"}, name: "a1"},
		"a link to a link to a folder":     {links: map[string]string{"b1": "pub/b2", "pub/b2": "../private"}, name: "b1/key"},
		"links on two elements":            {links: map[string]string{"c1": "pub", "pub/c2": "../private"}, name: "c1/c2/key"},
		"a link below a linked folder":     {links: map[string]string{"e1": "pub", "pub/e2": "../private/key"}, name: "e1/e2"},
		"a target with a slash at its end": one("s", "private/", "s/key"),
		"a target with dots":               one("d", "./pub/.././private/.", "d/key"),
		"another case":                     quiet(one("PRIVATE", "private", "PRIVATE/key")),
		"another case of the file":         one("pub/KEY", "../private/key", "pub/KEY"),
		"a harmless extension":             one("pub/cat.png", "../private/key", "pub/cat.png"),
		"a name with a space":              one("pub/my notes.txt", "../private/key", "pub/my notes.txt"),
		"letters of another script":        one("заметки", "private", "заметки/key"),
		"a file that is not there yet":     quiet(one("new.txt", "private/new", "new.txt")),
		"a hook that is not there yet":     quiet(one("hook.txt", ".git/hooks/pre-push", "hook.txt")),
		"a folder that is denied":          one("pub/z", "../private", "pub/z"),
		"a short name":                     one("PRIVAT~1", "private", "PRIVAT~1/key"),
		"outside, relative":                quiet(one("o", "../outside", "o/key")),
		"outside, a file":                  quiet(one("p", "../outside/key", "p")),
		"outside, absolute":                quiet(one("q", "/etc", "q/passwd")),
		"inside, absolute":                 quiet(linkCase{links: map[string]string{"r": "ROOT/private"}, name: "r/key"}),
		"itself":                           quiet(one("loop", "loop", "loop")),
		"a ring":                           quiet(linkCase{links: map[string]string{"x1": "x2", "x2": "x1"}, name: "x1/key"}),
		"a device":                         quiet(one("null", "/dev/null", "null")),
	}
}

// linkedFolder is a folder on the disk with a repository, a private folder, and links.
func linkedFolder(t testing.TB, links map[string]string) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "root")
	for _, d := range []string{".git/hooks", "private", "pub", "a", "../outside"} {
		must(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	for name, text := range map[string]string{".git/config": "[core]", "private/key": "SECRET", "../outside/key": "SECRET outside", "a/file": "open to all", "pub/x": "x"} {
		must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	for name, to := range links {
		must(t, os.Symlink(strings.Replace(to, "ROOT", root, 1), filepath.Join(root, name)))
	}
	return root
}

// closed is the state of all that the guard keeps closed: names, kinds, modes, contents.
func closed(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	for _, top := range []string{".git", "private", "../outside"} {
		must(t, filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			fi, err := d.Info()
			must(t, err)
			data, _ := os.ReadFile(p)
			if fmt.Fprint(&b, p, " ", fi.Mode()); !d.IsDir() {
				fmt.Fprintf(&b, " %d %q", fi.ModTime().UnixNano(), data)
			}
			b.WriteString("\n")
			return nil
		}))
	}
	return b.String()
}

// linkStacks are the ways in which a guard stands over a folder of the system.
func linkStacks(t testing.TB) map[string]func(dir *Folder) *Folder {
	pol := protocol.FSPolicy{AllowWrite: patterns(t, "."), DenyRead: patterns(t, "private"), DenyWrite: patterns(t, "private")}
	memory := func() FS { return NewMemory(MemoryOptions{}) }
	return map[string]func(dir *Folder) *Folder{
		"guard":                 func(d *Folder) *Folder { return Guard(d, pol) },
		"guard over a journal":  func(d *Folder) *Folder { return Guard(NewJournal(d, memory()), pol) },
		"journal over a guard":  func(d *Folder) *Folder { return NewJournal(Guard(d, pol), memory()).Folder },
		"guard over an overlay": func(d *Folder) *Folder { return Guard(NewOverlay(d, memory()), pol) },
		"overlay over a guard":  func(d *Folder) *Folder { return NewOverlay(Guard(d, pol), memory()).Folder },
		"guard over a stranger": func(d *Folder) *Folder { return Guard(stranger{d}, pol) },
	}
}

// linkOperations are all operations on a name, and some that need more than a name.
func linkOperations(f *Folder, name string) map[string]func() (string, error) {
	ctx := context.Background()
	ops := everyOperation(f, name)
	ops["Walk all"] = func() (string, error) {
		var b strings.Builder
		for e, err := range Walk(ctx, f, ".", WalkOptions{}) {
			if err == nil && e.Link && e.Dir {
				return "", errors.New("a link is shown as a folder")
			}
			if strings.HasSuffix(e.Path, "/key") {
				b.WriteString("SECRET " + e.Path)
			}
		}
		return b.String(), nil
	}
	ops["Grep"] = func() (string, error) {
		for m, err := range Grep(ctx, f, name, regexp.MustCompile("SECRET"), GrepOptions{}) {
			return m.Text, err
		}
		return "", nil
	}
	ops["Grep all"] = func() (string, error) {
		for m, err := range Grep(ctx, f, ".", regexp.MustCompile("SECRET"), GrepOptions{}) {
			return m.Text, err
		}
		return "", nil
	}
	ops["ZIP"] = func() (string, error) {
		var b bytes.Buffer
		err := ExportZIP(ctx, f, ".", &b, ZIPOptions{Store: true})
		return b.String(), err
	}
	ops["Copy out"] = func() (string, error) {
		m := NewMemory(MemoryOptions{})
		err := Copy(ctx, m, "copy", f, name, CopyOptions{})
		data, _ := m.ReadFile("copy")
		return string(data), err
	}
	ops["Copy all out"] = func() (string, error) {
		m := NewMemory(MemoryOptions{})
		err := Copy(ctx, m, ".", f, "pub", CopyOptions{Overwrite: true})
		for m, merr := range Grep(ctx, m, ".", regexp.MustCompile("SECRET"), GrepOptions{}) {
			return m.Text, errors.Join(err, merr)
		}
		return "", err
	}
	ops["Read through Sub"] = func() (string, error) {
		s, err := f.Sub(parentOf(name))
		if err != nil {
			return "", err
		}
		data, err := fs.ReadFile(s, baseOf(name))
		return string(data), err
	}
	ops["List"] = func() (string, error) {
		l, err := List(ctx, f, name)
		for _, e := range l {
			if e.Name() == "key" {
				return "SECRET", err
			}
		}
		return "", err
	}
	ops["!Handle"] = func() (string, error) {
		h, err := f.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return "", err
		}
		data, _ := io.ReadAll(h)
		_, werr := h.(File).WriteAt([]byte("written"), 0)
		return string(data), errors.Join(werr, h.(File).Sync(), h.Close())
	}
	ops["!Truncating"] = func() (string, error) {
		h, err := f.OpenFile(name, os.O_RDONLY|os.O_TRUNC, 0)
		if err != nil {
			return "", err
		}
		return "", h.Close()
	}
	ops["!Move out"] = func() (string, error) {
		m := NewMemory(MemoryOptions{})
		err := Move(ctx, m, "moved", f, name, CopyOptions{})
		data, _ := m.ReadFile("moved")
		return string(data), err
	}
	ops["!Copy onto"] = func() (string, error) {
		return "", Copy(ctx, f, name, f, "a/file", CopyOptions{Overwrite: true})
	}
	ops["!Rename then read"] = func() (string, error) {
		if err := f.Rename(name, "pub/stolen"); err != nil {
			return "", err
		}
		data, err := f.ReadFile("pub/stolen")
		return string(data), err
	}
	ops["!Chtimes"] = func() (string, error) { return "", f.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)) }
	ops["!Below"] = func() (string, error) { return "", f.WriteFile(name+"/below", []byte("x"), 0o644) }
	ops["!Mkdir below"] = func() (string, error) { return "", f.MkdirAll(name+"/below/it", 0o755) }
	return ops
}

// tryLinks runs every operation on a case, each in a folder of its own, and gives those that
// reached what is closed.
func tryLinks(t *testing.T, c linkCase, follow bool, stack func(*Folder) *Folder) (tried int, reached []string) {
	var root string
	var f *Folder
	fresh := func() {
		root = linkedFolder(t, c.links)
		dir, err := OpenDir(root, DirOptions{NoSync: true})
		must(t, err)
		t.Cleanup(func() { dir.Close() })
		dir.c.(*osDir).follow = follow
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

func TestLinksAreNotFollowed(t *testing.T) {
	tried := 0
	for stackName, stack := range linkStacks(t) {
		t.Run(stackName, func(t *testing.T) {
			for name, c := range linkCases() {
				n, reached := tryLinks(t, c, false, stack)
				tried += n
				for _, r := range reached {
					t.Errorf("%s: %s: %s", name, c.name, r)
				}
			}
		})
	}
	t.Logf("%d cases, %d calls", len(linkCases()), tried)
}

// With the defence off, each of these links leads past the guard.
func TestLinksAreFollowedWithoutTheDefence(t *testing.T) {
	stack := linkStacks(t)["guard"]
	for name, c := range linkCases() {
		if _, reached := tryLinks(t, c, true, stack); len(reached) == 0 && !c.quiet {
			t.Errorf("%s: %s reaches nothing: the case shows nothing", name, c.name)
		}
	}
}

// What a link is, and what can be done with it: it is seen, and can be removed and renamed.
func TestLinkItself(t *testing.T) {
	root := linkedFolder(t, map[string]string{"pub/l": "../private/key", "pub/d": "../private"})
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
func TestLinkSwappedInBetween(t *testing.T) {
	read := false
	secret := func(b []byte, err error) error {
		read = read || strings.Contains(string(b), "SECRET")
		return err
	}
	reached := 0 // with the defence off
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
				root := linkedFolder(t, nil)
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
				dir.c.(*osDir).blind = c.blind
				dir.c.(*osDir).between = func(elem string) {
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
				now := closed(t, root)
				switch {
				case c.blind && (now != before || read):
					reached++
				case now != before:
					t.Errorf("changed (%v):\n%s\nwas\n%s", err, now, before)
				case read:
					t.Error("read")
				}
			})
		}
	}
	if reached < 10 { // os.Root stops those that lead above the swapped element
		t.Errorf("only %d reach anything with the defence off", reached)
	}
}

// What was done before a link took a folder's place is not undone or applied through it.
func TestLinkBeforeUndoAndApply(t *testing.T) {
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
			root := linkedFolder(t, nil)
			dir, err := OpenDir(root, DirOptions{NoSync: true})
			must(t, err)
			defer dir.Close()
			j := NewJournal(dir, NewMemory(MemoryOptions{}))
			must(t, first(j))
			before := swap(t, root)
			if err := j.Undo(t.Context()); err == nil {
				t.Error("it was undone")
			}
			if closed(t, root) != before {
				t.Errorf("changed:\n%s", closed(t, root))
			}
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
			root := linkedFolder(t, nil)
			dir, err := OpenDir(root, DirOptions{NoSync: true})
			must(t, err)
			defer dir.Close()
			o := NewOverlay(dir, NewMemory(MemoryOptions{}))
			must(t, first(o))
			before := swap(t, root)
			_, err = o.Apply(t.Context())
			if closed(t, root) != before {
				t.Errorf("changed (%v):\n%s", err, closed(t, root))
			}
		})
	}
	t.Run("a handle that is closed later", func(t *testing.T) {
		root := linkedFolder(t, nil)
		dir, err := OpenDir(root, DirOptions{NoSync: true})
		must(t, err)
		defer dir.Close()
		h, err := linkStacks(t)["guard"](dir).Create("pub/key")
		must(t, err)
		_, err = h.(File).Write([]byte("written"))
		must(t, err)
		before := swap(t, root)
		err = h.Close()
		if closed(t, root) != before || err == nil {
			t.Errorf("changed (%v):\n%s", err, closed(t, root))
		}
	})
}

// A file system that is not of this package and follows links, as os.DirFS does, also out
// of its folder.
func TestLinksOfAnotherFS(t *testing.T) {
	for name, c := range linkCases() {
		root := linkedFolder(t, c.links)
		for kind, f := range map[string]*Folder{
			"FromFS":  FromFS(os.DirFS(root)),
			"overlay": NewOverlay(os.DirFS(root), NewMemory(MemoryOptions{})).Folder,
			"guard":   linkStacks(t)["guard"](FromFS(os.DirFS(root))),
		} {
			for op, do := range linkOperations(f, c.name) {
				out, err := do()
				if strings.Contains(out, "SECRET") && (kind == "guard" || !strings.HasSuffix(op, "all") && op != "ZIP") {
					t.Errorf("%s, %s, %s: reads it (%v)", name, kind, op, err)
				}
			}
		}
	}
}

// A second name of one file (a hard link) cannot be told from the first. A change through a
// guard gives the named file a content of its own and leaves the other's.
func TestHardLink(t *testing.T) {
	root := linkedFolder(t, nil)
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
			_, err = h.(File).Write([]byte("more"))
			return errors.Join(err, h.Close())
		},
		"truncate": func(g *Folder) error { return g.Truncate("pub/hard", 0) },
		"remove":   func(g *Folder) error { return g.Remove("pub/hard") },
	} {
		must(t, errors.Join(gone(os.Remove(filepath.Join(root, "pub/hard"))), os.Link(filepath.Join(root, ".git/config"), filepath.Join(root, "pub/hard"))))
		must(t, do(linkStacks(t)["guard"](dir)))
		if now := closed(t, root); now != before {
			t.Errorf("%s: changed:\n%s", name, now)
		}
	}
}
