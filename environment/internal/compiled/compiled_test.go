package compiled

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	if err := supported(); err != nil {
		t.Skip(err)
	}
	root := t.TempDir()
	// A home behind a link is usual.
	if err := errors.Join(os.Mkdir(filepath.Join(root, "real"), 0o755), os.Symlink("real", filepath.Join(root, "home"))); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "home", ".cache", "bailey", "wasm")
	if _, err := Frozen(dir); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Frozen of no folder: %v", err)
	}
	for range 2 {
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close(t.Context())
	}
	if _, err := Frozen(dir); err != nil {
		t.Errorf("Frozen: %v", err)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", fi, err)
	}
	if real, err := Real(dir); err != nil || filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(real)))) != "real" {
		t.Errorf("%q %v", real, err)
	}
	if _, err := Open("wasm"); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a path that is not absolute: %v", err)
	}
}

// The folder is emptied when it is larger than its limit, and loses what a killed process left.
func TestPrune(t *testing.T) {
	old := time.Now().Add(-2 * time.Hour)
	for _, s := range []struct {
		most int64
		want int
	}{{99, 0}, {100, 2}, {101, 2}} {
		dir := t.TempDir()
		for _, name := range []string{"a", "b", "c.1.tmp"} {
			if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 50), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(filepath.Join(dir, "c.1.tmp"), old, old); err != nil {
			t.Fatal(err)
		}
		prune(dir, s.most)
		if list, err := os.ReadDir(dir); err != nil || len(list) != s.want {
			t.Errorf("a limit of %d: %v %v, want %d files", s.most, list, err, s.want)
		}
	}
}

func TestMark(t *testing.T) {
	if err := supported(); err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), "bailey", "wasm")
	if Marked(dir, "a") {
		t.Error("a mark in no folder")
	}
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	if err := Mark(dir, "a"); err != nil || !Marked(dir, "a") || Marked(dir, "b") {
		t.Errorf("%v: %v %v", err, Marked(dir, "a"), Marked(dir, "b"))
	}
}
