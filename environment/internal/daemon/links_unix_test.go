//go:build unix

package daemon

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/attack"
)

// Links that a program has made are neither followed nor sent, and the next files replace them.
func TestAttackChanges(t *testing.T) {
	count := attack.Start(t, "machine")
	count.NoSwitch("the folder of package fsaccess follows no link")
	root, outside := t.TempDir(), t.TempDir()+"/secret"
	dir, err := fsaccess.OpenDir(root, fsaccess.DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := startIn(t, off{}, dir)
	_, p, text := h.put(t, "", archive(t, zip.Store, file{"a.txt", "hello", 0}, file{"sub/b.txt", "b", 0}))
	if p.ID == "" {
		t.Fatal(text)
	}
	links(t, root, outside)
	files, diff := h.changes(t, p.ID)
	count.Try("the target of a link comes with the changes", strings.Contains(fmt.Sprint(files), "the secret"))
	if len(diff.LeftOut) == 0 || !slices.ContainsFunc(diff.Removed, func(c Changed) bool { return c.Path == "a.txt" }) {
		t.Errorf("%+v", diff)
	}
	for _, query := range []string{"?keep=" + p.ID, ""} {
		links(t, root, outside)
		code, q, text := h.put(t, query, archive(t, zip.Store, file{"a.txt", "written", 0}, file{"sub/b.txt", "written", 0}, file{"l/c.txt", "written", 0}))
		if code != 200 {
			t.Errorf("%d %s", code, text)
		}
		count.Try("files are written through a link"+query, secret(t, outside))
		if got := h.all(t); got["a.txt"] != "written" || got["sub/b.txt"] != "written" || got["l/c.txt"] != "written" {
			t.Errorf("%v, %+v", got, q)
		}
	}
}

// links puts links to a file and a folder outside of the folder into it, in place of a.txt and sub, and a pipe.
func links(t *testing.T, root, outside string) {
	t.Helper()
	if err := os.WriteFile(outside, []byte("the secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"a.txt": outside, "sub": filepath.Dir(outside), "l": filepath.Dir(outside), "m": outside} {
		name = filepath.Join(root, name)
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
}

// secret reports whether the file outside has changed, or others are beside it.
func secret(t *testing.T, outside string) bool {
	t.Helper()
	data, err := os.ReadFile(outside)
	if err != nil {
		return true
	}
	list, err := os.ReadDir(filepath.Dir(outside))
	return string(data) != "the secret" || err != nil || len(list) != 1
}
