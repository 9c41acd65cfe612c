package fsaccess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/protocol"
)

// linkCase is a name that reaches another file by a link. The link came with the folder,
// for example with a clone of a repository.
type linkCase struct {
	links map[string]string // name to target
	name  string            // what is asked for
	// quiet means that another defence stops this case too (os.Root, the spellings in deny
	// lists, or O_EXCL), so nothing happens with the link defence off.
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
		"a short name":                     quiet(one("PRIVAT~1", "private", "PRIVAT~1/key")),
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
func linkedFolder(t testing.TB, dir string, links map[string]string) (root string) {
	t.Helper()
	root = filepath.Join(dir, "root")
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

// closed returns the state of everything that the guard keeps closed: names, kinds, modes,
// contents.
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
		"guard":                func(d *Folder) *Folder { return Guard(d, pol, GuardOptions{}) },
		"guard over a journal": func(d *Folder) *Folder { return Guard(NewJournal(d, memory(), JournalOptions{}), pol, GuardOptions{}) },
		"journal over a guard": func(d *Folder) *Folder {
			return NewJournal(Guard(d, pol, GuardOptions{}), memory(), JournalOptions{}).Folder
		},
		"guard over an overlay": func(d *Folder) *Folder { return Guard(NewOverlay(d, memory()), pol, GuardOptions{}) },
		"overlay over a guard":  func(d *Folder) *Folder { return NewOverlay(Guard(d, pol, GuardOptions{}), memory()).Folder },
		"guard over a stranger": func(d *Folder) *Folder { return Guard(stranger{d}, pol, GuardOptions{}) },
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
		s, err := f.Sub(core.ParentOf(name))
		if err != nil {
			return "", err
		}
		data, err := fs.ReadFile(s, core.BaseOf(name))
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
		_, werr := h.(core.File).WriteAt([]byte("written"), 0)
		return string(data), errors.Join(werr, h.(core.File).Sync(), h.Close())
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
