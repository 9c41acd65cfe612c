package fsaccess

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// sources returns the folders that exist natively. The browser's folders have the same
// tests in their own files.
func sources(t testing.TB) map[string]func(testing.TB) FS {
	all := map[string]func(testing.TB) FS{
		"memory":         func(testing.TB) FS { return NewMemory(MemoryOptions{}) },
		"memory-browser": func(testing.TB) FS { return NewMemory(MemoryOptions{NoMove: true, Staged: true, NoMode: true}) },
		"memory-folding": func(testing.TB) FS { return NewMemory(MemoryOptions{FoldCase: true}) },
		"foreign":        func(testing.TB) FS { return stranger{NewMemory(MemoryOptions{})} },
		"sub": func(t testing.TB) FS {
			m := NewMemory(MemoryOptions{})
			must(t, m.MkdirAll("a/b", 0o777))
			s, err := m.Sub("a/b")
			must(t, err)
			return s.(FS)
		},
	}
	if stride() > 1 { // make soak has them in a page, too
		all = map[string]func(testing.TB) FS{"memory": all["memory"]}
	}
	maps.Copy(all, platformSources())
	return all
}

// stranger hides that an FS is of this package.
type stranger struct{ FS }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fill(t testing.TB, f FS) []string {
	must(t, f.MkdirAll("dir/sub/deep", 0o755))
	must(t, f.Mkdir("empty", 0o755))
	names := []string{"hello.txt", "zero", "dir/a.bin", "dir/sub/b.md", "dir/sub/deep/c"}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for i, n := range names {
		data := []byte(n)
		switch {
		case n == "zero":
			data = nil
		case i == 2:
			data = all
		}
		must(t, f.WriteFile(n, data, 0o644))
	}
	return append(names, "empty", "dir", "dir/sub", "dir/sub/deep")
}

func TestStandardSuite(t *testing.T) {
	for name, open := range everyFS(t) {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			names := fill(t, f)
			if err := fstest.TestFS(f, names...); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestReadOnlySuite(t *testing.T) {
	m := NewMemory(MemoryOptions{})
	names := fill(t, m)
	for name, f := range map[string]*Folder{
		"iofs":  FromFS(mirror(t, m)),
		"layer": FromFS(m),
	} {
		t.Run(name, func(t *testing.T) {
			if err := fstest.TestFS(f, names...); err != nil {
				t.Fatal(err)
			}
			if !f.Features().ReadOnly {
				t.Error("features do not say read-only")
			}
		})
	}
}

// mirror copies an FS into the standard library's own.
func mirror(t testing.TB, f FS) fstest.MapFS {
	m := fstest.MapFS{}
	must(t, fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if d.IsDir() {
			m[p] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			return nil
		}
		data, err := f.ReadFile(p)
		m[p] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	}))
	return m
}

func tree(t testing.TB, f fs.FS) string {
	t.Helper()
	var b strings.Builder
	must(t, fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			fmt.Fprintln(&b, p+"/")
			return err
		}
		if core.IsLink(d.Type()) {
			fmt.Fprintln(&b, p, "is a link")
			return nil
		}
		data, err := fs.ReadFile(f, p)
		if len(data) > 100 {
			data = []byte(fmt.Sprint(len(data), " bytes, ", VersionOf(data)))
		}
		fmt.Fprintf(&b, "%s %q\n", p, data)
		return err
	}))
	return b.String()
}
