package wasifs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	. "github.com/bailey-go/bailey/internal/wasifs"
	"github.com/bailey-go/bailey/protocol"
)

// Two faces of one folder: what a Go program does through fsaccess and what a
// WASI program does through this package must give the same bytes, the same
// errors, the same versions and the same history.

// a face does what programs do, in its own way.
type face interface {
	read(name string) (string, error)
	readAt(name string, off int64, n int) (string, error)
	write(name string, flag int, data string) error
	writeAt(name string, off int64, data string) error
	truncate(name string, size int64) error
	stat(name string) (string, error)
	list(name string) (string, error)
	mkdir(name string) error
	remove(name string) error
	rename(from, to string) error
	readFromWriter(name string) error
	writeToReader(name string) error
}

type goFace struct{ f fsaccess.FS }

func (g goFace) read(name string) (string, error) {
	f, err := g.f.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func (g goFace) readAt(name string, off int64, n int) (string, error) {
	f, err := g.f.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, n)
	k, err := f.(io.ReaderAt).ReadAt(b, off)
	if err == io.EOF {
		err = nil
	}
	return string(b[:k]), err
}

func (g goFace) with(name string, flag int, do func(f fsaccess.File) error) error {
	f, err := g.f.OpenFile(name, flag, 0o666)
	if err != nil {
		return err
	}
	return errors.Join(do(f.(fsaccess.File)), f.Close())
}

func (g goFace) write(name string, flag int, data string) error {
	return g.with(name, os.O_WRONLY|flag, func(f fsaccess.File) error { _, err := f.Write([]byte(data)); return err })
}

func (g goFace) writeAt(name string, off int64, data string) error {
	return g.with(name, os.O_RDWR, func(f fsaccess.File) error { _, err := f.WriteAt([]byte(data), off); return err })
}

func (g goFace) truncate(name string, size int64) error {
	return g.with(name, os.O_WRONLY, func(f fsaccess.File) error { return f.Truncate(size) })
}

func (g goFace) readFromWriter(name string) error {
	return g.with(name, os.O_WRONLY, func(f fsaccess.File) error { _, err := f.Read(make([]byte, 1)); return err })
}

func (g goFace) writeToReader(name string) error {
	return g.with(name, os.O_RDONLY, func(f fsaccess.File) error { _, err := f.Write([]byte("x")); return err })
}

func (g goFace) stat(name string) (string, error) {
	fi, err := g.f.Stat(name)
	if err != nil {
		return "", err
	}
	if fi.IsDir() {
		return "folder", nil
	}
	return fmt.Sprint("file of ", fi.Size()), nil
}

func (g goFace) list(name string) (string, error) {
	list, err := g.f.ReadDir(name)
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(e.Name(), e.IsDir()))
	}
	return strings.Join(out, " "), err
}

func (g goFace) mkdir(name string) error      { return g.f.Mkdir(name, 0o777) }
func (g goFace) remove(name string) error     { return g.f.Remove(name) }
func (g goFace) rename(from, to string) error { return g.f.Rename(from, to) }

// steps are done one after the other on one tree.
var steps = []struct {
	name string
	do   func(f face) (string, error)
}{
	{"read", func(f face) (string, error) { return f.read("a") }},
	{"read what is not there", func(f face) (string, error) { return f.read("none") }},
	{"read below what is not there", func(f face) (string, error) { return f.read("none/x") }},
	{"read below a file", func(f face) (string, error) { return f.read("a/x") }},
	{"read in the middle", func(f face) (string, error) { return f.readAt("a", 2, 3) }},
	{"read over the end", func(f face) (string, error) { return f.readAt("a", 4, 100) }},
	{"read behind the end", func(f face) (string, error) { return f.readAt("a", 400, 10) }},
	{"stat a file", func(f face) (string, error) { return f.stat("a") }},
	{"stat a folder", func(f face) (string, error) { return f.stat("d/e") }},
	{"stat the folder itself", func(f face) (string, error) { return f.stat(".") }},
	{"stat nothing", func(f face) (string, error) { return f.stat("d/none") }},
	{"list", func(f face) (string, error) { return f.list(".") }},
	{"list below", func(f face) (string, error) { return f.list("d") }},
	{"list a file", func(f face) (string, error) { return f.list("a") }},
	{"list nothing", func(f face) (string, error) { return f.list("none") }},
	{"write without creating", func(f face) (string, error) { return "", f.write("new", 0, "x") }},
	{"create", func(f face) (string, error) { return "", f.write("new", os.O_CREATE, "created") }},
	{"create empty", func(f face) (string, error) { return "", f.write("empty", os.O_CREATE|os.O_TRUNC, "") }},
	{"create again writes over the beginning", func(f face) (string, error) { return "", f.write("new", os.O_CREATE, "CR") }},
	{"create in nothing", func(f face) (string, error) { return "", f.write("none/x", os.O_CREATE, "x") }},
	{"create below a file", func(f face) (string, error) { return "", f.write("a/x", os.O_CREATE, "x") }},
	{"create what is a folder", func(f face) (string, error) { return "", f.write("d", os.O_CREATE, "x") }},
	{"write a folder", func(f face) (string, error) { return "", f.write("d", 0, "x") }},
	{"exclusively, there is one", func(f face) (string, error) { return "", f.write("a", os.O_CREATE|os.O_EXCL, "x") }},
	{"exclusively, there is a folder", func(f face) (string, error) { return "", f.write("d", os.O_CREATE|os.O_EXCL, "x") }},
	{"exclusively, there is none", func(f face) (string, error) { return "", f.write("only", os.O_CREATE|os.O_EXCL, "one") }},
	{"cut and write", func(f face) (string, error) { return "", f.write("only", os.O_TRUNC, "1") }},
	{"cut what is not there", func(f face) (string, error) { return "", f.write("none", os.O_TRUNC, "1") }},
	{"append", func(f face) (string, error) { return "", f.write("a", os.O_APPEND, " and more") }},
	{"append to a new one", func(f face) (string, error) { return "", f.write("log", os.O_APPEND|os.O_CREATE, "line\n") }},
	{"append again", func(f face) (string, error) { return "", f.write("log", os.O_APPEND|os.O_CREATE, "line 2\n") }},
	{"write in the middle", func(f face) (string, error) { return "", f.writeAt("a", 3, "MIDDLE") }},
	{"write behind the end", func(f face) (string, error) { return "", f.writeAt("a", 30, "far") }},
	{"a hole is zeros", func(f face) (string, error) { return f.read("a") }},
	{"cut", func(f face) (string, error) { return "", f.truncate("a", 4) }},
	{"grow", func(f face) (string, error) { return "", f.truncate("a", 9) }},
	{"what is grown is zeros", func(f face) (string, error) { return f.read("a") }},
	{"cut a folder", func(f face) (string, error) { return "", f.truncate("d", 0) }},
	{"read from one opened to be written", func(f face) (string, error) { return "", f.readFromWriter("a") }},
	{"write to one opened to be read", func(f face) (string, error) { return "", f.writeToReader("a") }},
	{"make a folder", func(f face) (string, error) { return "", f.mkdir("d/new") }},
	{"make it again", func(f face) (string, error) { return "", f.mkdir("d/new") }},
	{"make one where a file is", func(f face) (string, error) { return "", f.mkdir("a") }},
	{"make one in nothing", func(f face) (string, error) { return "", f.mkdir("none/x") }},
	{"make one below a file", func(f face) (string, error) { return "", f.mkdir("a/x") }},
	{"remove a full folder", func(f face) (string, error) { return "", f.remove("d") }},
	{"remove an empty folder", func(f face) (string, error) { return "", f.remove("d/new") }},
	{"remove a file", func(f face) (string, error) { return "", f.remove("only") }},
	{"remove nothing", func(f face) (string, error) { return "", f.remove("only") }},
	{"remove the folder itself", func(f face) (string, error) { return "", f.remove(".") }},
	{"rename", func(f face) (string, error) { return "", f.rename("new", "d/moved") }},
	{"rename nothing", func(f face) (string, error) { return "", f.rename("new", "x") }},
	{"rename to its own name", func(f face) (string, error) { return "", f.rename("a", "a") }},
	{"rename over a file", func(f face) (string, error) { return "", f.rename("d/moved", "a") }},
	{"rename into nothing", func(f face) (string, error) { return "", f.rename("a", "none/x") }},
	{"rename a folder", func(f face) (string, error) { return "", f.rename("d", "D2") }},
	{"rename a folder over a file", func(f face) (string, error) { return "", f.rename("D2", "a") }},
	{"rename a folder into itself", func(f face) (string, error) { return "", f.rename("D2", "D2/e/x") }},
	{"make a protected file", func(f face) (string, error) { return "", f.write(".bashrc", os.O_CREATE, "x") }},
	{"make one of a dangerous kind", func(f face) (string, error) { return "", f.write("run.sh", os.O_CREATE, "#!/bin/sh\n") }},
	{"grow beyond the limit", func(f face) (string, error) { return "", f.write("a", os.O_APPEND, strings.Repeat("x", 2000)) }},
	{"read at the end", func(f face) (string, error) { return f.read("a") }},
}

func treeOf(t *testing.T, f fsaccess.FS) string {
	t.Helper()
	var b strings.Builder
	if err := fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, p+"/", err)
			return err
		}
		v, err := fsaccess.CurrentVersion(context.Background(), f, p)
		fmt.Fprintln(&b, p, v, err)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// kinds are the folders the two faces are compared over.
func kinds(t *testing.T) map[string]func() fsaccess.FS {
	memory := func(o fsaccess.MemoryOptions) func() fsaccess.FS {
		return func() fsaccess.FS { return fsaccess.NewMemory(o) }
	}
	staged := memory(fsaccess.MemoryOptions{NoMove: true, Staged: true, NoMode: true})
	all, err := protocol.ParsePattern("**")
	if err != nil {
		t.Fatal(err)
	}
	guard := func(f fsaccess.FS) fsaccess.FS {
		return fsaccess.Guard(f, protocol.FSPolicy{AllowWrite: []protocol.Pattern{all}}, fsaccess.GuardOptions{MaxWrite: 1000})
	}
	m := map[string]func() fsaccess.FS{
		"memory":  memory(fsaccess.MemoryOptions{}),
		"staged":  staged,
		"guard":   func() fsaccess.FS { return guard(staged()) },
		"journal": func() fsaccess.FS { return fsaccess.NewJournal(staged(), staged()) },
		"overlay": func() fsaccess.FS { return fsaccess.NewOverlay(staged(), staged()) },
		"journal over guard": func() fsaccess.FS {
			return fsaccess.NewJournal(guard(staged()), staged())
		},
	}
	if dir, err := fsaccess.OpenDir(t.TempDir(), fsaccess.DirOptions{NoSync: true}); err == nil {
		dir.Close()
		m["os"] = func() fsaccess.FS {
			d, err := fsaccess.OpenDir(t.TempDir(), fsaccess.DirOptions{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			return d
		}
	}
	return m
}

func prepare(t *testing.T, f fsaccess.FS) {
	t.Helper()
	if err := errors.Join(f.MkdirAll("d/e", 0o777), f.WriteFile("a", []byte("file a"), 0o666), f.WriteFile("d/b", []byte("file b"), 0o666)); err != nil {
		t.Fatal(err)
	}
}

func TestTwoFaces(t *testing.T) {
	for kind, open := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			a, b := open(), open()
			prepare(t, a)
			prepare(t, b)
			w := New(Mount{FS: b})
			for _, s := range steps {
				want, gerr := s.do(goFace{a})
				got, werr := s.do(wasiFace{w})
				if got != want || ErrnoOf(werr) != ErrnoOf(gerr) {
					t.Errorf("%s: Go says %q, %v; WASI says %q, %v", s.name, want, gerr, got, werr)
				}
				if ta, tb := treeOf(t, a), treeOf(t, b); ta != tb {
					t.Fatalf("%s: through Go there is\n%s\nthrough WASI\n%s", s.name, ta, tb)
				}
			}
			if e := w.Close(); e != nil {
				t.Error(e)
			}
			ja, ok := a.(*fsaccess.Journal)
			if !ok {
				return
			}
			ha, hb := history(t, ja), history(t, b.(*fsaccess.Journal))
			if ha != hb {
				t.Errorf("history through Go\n%s\nthrough WASI\n%s", ha, hb)
			}
			for range strings.Count(ha, "\n") {
				if err := errors.Join(ja.Undo(context.Background()), b.(*fsaccess.Journal).Undo(context.Background())); err != nil {
					t.Fatal(err)
				}
				if ta, tb := treeOf(t, a), treeOf(t, b); ta != tb {
					t.Fatalf("undo: through Go there is\n%s\nthrough WASI\n%s", ta, tb)
				}
			}
		})
	}
}

func history(t *testing.T, j *fsaccess.Journal) string {
	t.Helper()
	h, err := j.History(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range h {
		fmt.Fprintln(&b, e.Op, e.Paths)
	}
	return b.String()
}

// What one program wrote, another's face sees with the version it has there, and
// a change in between is a conflict for both.
func TestVersionsThroughBothFaces(t *testing.T) {
	ctx := context.Background()
	for kind, open := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			f := open()
			prepare(t, f)
			w := wasiFace{New(Mount{FS: f})}
			defer w.Close()
			_, v1, err := fsaccess.ReadVersion(ctx, f, "a")
			if err != nil {
				t.Fatal(err)
			}
			if err := w.write("a", os.O_TRUNC, "by WASI"); err != nil {
				t.Fatal(err)
			}
			data, v2, err := fsaccess.ReadVersion(ctx, f, "a")
			if err != nil || string(data) != "by WASI" || v2 == v1 || v2 != fsaccess.VersionOf([]byte("by WASI")) {
				t.Errorf("%q %s after %s, %v", data, v2, v1, err)
			}
			if _, err := fsaccess.WriteVersion(ctx, f, "a", []byte("x"), 0o666, v1); !errors.Is(err, fsaccess.ErrConflict) || ErrnoOf(err) != ESTALE {
				t.Errorf("writing over what WASI wrote: %v", err)
			}
			if _, err := fsaccess.WriteVersion(ctx, f, "a", []byte("by Go"), 0o666, v2); err != nil {
				t.Error(err)
			}
			if s, err := w.read("a"); err != nil || s != "by Go" {
				t.Errorf("%q, %v", s, err)
			}
		})
	}
}
