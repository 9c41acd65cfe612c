//go:build unix

package compiled

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bailey-go/bailey/internal/attack"
)

// honest is a module whose function returns 1. That of evil returns 2.
var honest, evil = module(1), module(2)

func module(value byte) []byte {
	return []byte{0, 'a', 's', 'm', 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 7, 5, 1, 1, 'f', 0, 0, 10, 6, 1, 4, 0, 0x41, value, 0x0b}
}

// answers returns the result of the module's function.
func answers(t *testing.T, wasm []byte, cache wazero.CompilationCache) uint64 {
	t.Helper()
	ctx := context.Background()
	config := wazero.NewRuntimeConfig()
	if cache != nil {
		config = config.WithCompilationCache(cache)
		defer cache.Close(ctx)
	}
	rt := wazero.NewRuntimeWithConfig(ctx, config)
	defer rt.Close(ctx)
	mod, err := rt.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	out, err := mod.ExportedFunction("f").Call(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// entries returns the files in a folder of the cache.
func entries(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// poisoned returns a folder whose code for honest is that of evil.
func poisoned(t *testing.T) (root, dir string) {
	t.Helper()
	var files []string
	for _, wasm := range [][]byte{evil, honest} {
		root = t.TempDir()
		dir = filepath.Join(root, "cache", "bailey", "wasm")
		c, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		answers(t, wasm, c)
		files = append(files, entries(t, dir)...)
	}
	if len(files) != 2 {
		t.Fatalf("the cache has the files %q, want one of each module", files)
	}
	code, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[1], code, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return root, dir
}

// Somebody else who can write to the folder, or put another one in its place, runs code as this user.
func TestAttackStoredCode(t *testing.T) {
	count := attack.Start(t, "machine")
	const other = 65534
	for _, a := range []struct {
		name string
		make func(root, dir, file string) error
		root bool // only root can make it
		says string
	}{
		{"the folder belongs to another user", func(_, dir, _ string) error { return os.Chown(dir, other, other) }, true, "belongs to the user"},
		{"the folder above belongs to another user", func(_, dir, _ string) error { return os.Chown(filepath.Dir(dir), other, other) }, true, "belongs to the user"},
		{"a folder further up belongs to another user", func(root, _, _ string) error { return os.Chown(filepath.Join(root, "cache"), other, other) }, true, "XDG_CACHE_HOME"},
		{"the group can write to the folder", func(_, dir, _ string) error { return os.Chmod(dir, 0o770) }, false, "mode 0770"},
		{"the group can read the folder", func(_, dir, _ string) error { return os.Chmod(dir, 0o750) }, false, "mode 0750"},
		{"all can write to the folder", func(_, dir, _ string) error { return os.Chmod(dir, 0o777) }, false, "mode 0777"},
		{"all can write to the folder above", func(_, dir, _ string) error { return os.Chmod(filepath.Dir(dir), 0o777) }, false, "mode 0777"},
		{"all can write further up", func(root, _, _ string) error { return os.Chmod(filepath.Join(root, "cache"), 0o777) }, false, "XDG_CACHE_HOME"},
		{"all can write to the folder of the version", func(_, _, file string) error { return os.Chmod(filepath.Dir(file), 0o777) }, false, "mode 0777"},
		{"the folder is a link", func(root, dir, _ string) error {
			to := filepath.Join(root, "theirs")
			return errors.Join(os.Rename(dir, to), os.Symlink(to, dir))
		}, false, "is a link"},
		{"the folder above is a link", func(root, dir, _ string) error {
			up, to := filepath.Dir(dir), filepath.Join(root, "theirs")
			return errors.Join(os.Rename(up, to), os.Symlink(to, up))
		}, false, "is a link"},
		{"the path leads over a link to a folder that all can write to", func(root, dir, _ string) error {
			cache, to := filepath.Join(root, "cache"), filepath.Join(root, "theirs")
			return errors.Join(os.Rename(cache, to), os.Symlink(to, cache), os.Chmod(to, 0o777))
		}, false, "XDG_CACHE_HOME"},
		{"a file is a link", func(root, _, file string) error {
			to := filepath.Join(root, "theirs")
			return errors.Join(os.Rename(file, to), os.Symlink(to, file))
		}, false, "is a link"},
		{"a file has a second name", func(root, _, file string) error { return os.Link(file, filepath.Join(root, "theirs")) }, false, "2 names"},
		{"a file belongs to another user", func(_, _, file string) error { return os.Chown(file, other, other) }, true, "belongs to the user"},
		{"all can write to a file", func(_, _, file string) error { return os.Chmod(file, 0o666) }, false, "mode 0666"},
	} {
		if a.root && os.Geteuid() != 0 {
			t.Run(a.name, func(t *testing.T) { t.Skip("NOT TESTED: only root can make it") })
			continue
		}
		root, dir := poisoned(t)
		if err := a.make(root, dir, entries(t, dir)[0]); err != nil {
			t.Fatalf("%s: %v", a.name, err)
		}
		c, err := Open(dir)
		if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), a.says) {
			t.Errorf("%s: %v; want %q", a.name, err, a.says)
		}
		count.Try(a.name, answers(t, honest, c) != 1)
		key, err := version()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = wazero.NewCompilationCacheWithDir(filepath.Join(dir, key)); err != nil {
			t.Fatal(err)
		}
		off := answers(t, honest, c) == 2
		count.Off(a.name, off)
		if !off {
			t.Errorf("%s: without the checks it did not succeed", a.name)
		}
	}
}
