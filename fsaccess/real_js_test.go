package fsaccess

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
)

// A real folder is one of this machine, dragged into the page from outside: its
// bytes are on the disk, and other programs write to it too.

// needReal skips in engines into which no test can drag a folder.
func needReal(t testing.TB) {
	t.Helper()
	if testpage.Has(testpage.NoFolderDragged) {
		t.Skip("only Chromium's driver can drag a folder into a page")
	}
	if !jsx.Supported("document") {
		t.Skip("nothing can be dragged into a worker")
	}
}

// dropped drags a folder of this machine into the page.
func dropped(t testing.TB, dir string) *Folder {
	t.Helper()
	doc, err := jsx.Lookup(jsx.Global(), "document")
	must(t, err)
	el, err := jsx.Call(doc, "createElement", "div")
	must(t, err)
	body, err := jsx.Get(doc, "body")
	must(t, err)
	_, err = jsx.Call(body, "append", el)
	must(t, errors.Join(jsx.Set(el, "id", "drop"), jsx.Set(el, "textContent", "drop here"), err))
	defer jsx.Call(el, "remove")
	z, err := NewDropZone("#drop")
	must(t, err)
	defer z.Close()
	testpage.Drop(t, "#drop", dir)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	d, err := z.Next(ctx)
	must(t, err)
	if d.Name() != filepath.Base(dir) {
		t.Fatalf("dropped %s, and there came %s", dir, d.Name())
	}
	return d
}

// realFolder is an empty folder on the disk, and the same in the page.
func realFolder(t testing.TB) (*Folder, string) {
	t.Helper()
	needReal(t)
	dir, err := os.MkdirTemp("", "real-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dropped(t, dir), dir
}

func TestRealFolder(t *testing.T) {
	f, dir := realFolder(t)
	t.Logf("%+v", f.Features())
	must(t, f.MkdirAll("a/b", 0o755))
	must(t, f.WriteFile("a/b/c.bin", bytesOfAll(1000), 0o644))
	got, err := os.ReadFile(filepath.Join(dir, "a/b/c.bin"))
	must(t, err)
	if VersionOf(got) != VersionOf(bytesOfAll(1000)) {
		t.Errorf("on the disk are %d other bytes", len(got))
	}
	must(t, f.Rename("a/b/c.bin", "a/d.bin"))
	must(t, f.Rename("a", "z"))
	if _, err := os.Stat(filepath.Join(dir, "z/d.bin")); err != nil {
		t.Error(err)
	}
	must(t, f.RemoveAll("z"))
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v %v are left", list, err)
	}
}

// Changes by other programs on the disk are reported, even if the browser's observer misses
// them. They do not count as ours, even if we have just written the same file.
func TestWatchRealFolder(t *testing.T) {
	f, dir := realFolder(t)
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("1"), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), until.Patience)
	defer cancel()
	change := func() {
		if err := f.WriteFile("a", []byte("ours"), 0o644); err != nil {
			t.Error(err)
		}
		until.Passed(10 * clockSlack)
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte("theirs"), 0o644); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "b"), nil, 0o644); err != nil {
			t.Error(err)
		}
	}
	theirs := map[string]bool{}
	for e, err := range Watch(ctx, f, ".", WatchOptions{Interval: 200 * time.Millisecond, Ready: func() { go change() }}) {
		must(t, err)
		if !e.Own {
			theirs[e.Path] = true
		}
		if theirs["a"] && theirs["b"] {
			return
		}
	}
	t.Errorf("seen from others: %v", theirs)
}
