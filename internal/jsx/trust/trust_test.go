//go:build !js

package trust

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const self = "github.com/bailey-go/bailey/internal/jsx/trust"

// importers finds the packages under root, tests apart, that import self.
func importers(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); p == self {
				rel, err := filepath.Rel(root, filepath.Dir(path))
				if err != nil {
					return err
				}
				found = append(found, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// apart are the packages that are only in one of two lists: those that import this package
// and are not listed, and those that are listed and do not import it.
func apart(found, listed []string) (strangers, unused []string) {
	for _, pkg := range found {
		if !slices.Contains(listed, pkg) {
			strangers = append(strangers, pkg)
		}
	}
	for _, pkg := range listed {
		if !slices.Contains(found, pkg) {
			unused = append(unused, pkg)
		}
	}
	return strangers, unused
}

func TestOnlyTheListedPackagesMintProofs(t *testing.T) {
	strangers, unused := apart(importers(t, "../../.."), Importers)
	if len(strangers)+len(unused) > 0 {
		t.Errorf("import %s without being in trust.Importers: %v; are there and don't: %v", self, strangers, unused)
	}
}

func TestTheSearchSeesAStrangerAndAnUnusedEntry(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	src := "package b\nimport x \"" + self + "\"\nvar _ = x.AuthoredHTML(\"\")\n"
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "b.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	found := importers(t, dir)
	for _, c := range []struct{ listed, strangers, unused []string }{
		{[]string{"a/b"}, nil, nil},
		{nil, []string{"a/b"}, nil},
		{[]string{"a"}, []string{"a/b"}, []string{"a"}},
		{[]string{"a/b", "c"}, nil, []string{"c"}},
	} {
		if strangers, unused := apart(found, c.listed); !slices.Equal(strangers, c.strangers) || !slices.Equal(unused, c.unused) {
			t.Errorf("listed %v: strangers %v, unused %v; want %v, %v", c.listed, strangers, unused, c.strangers, c.unused)
		}
	}
}
