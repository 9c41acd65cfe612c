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

func TestOnlyTheListedPackagesMintProofs(t *testing.T) {
	found := importers(t, "../../..")
	if !slices.Contains(found, "internal/jsx") {
		t.Fatalf("the search does not see internal/jsx, so it proves nothing: %v", found)
	}
	for _, pkg := range found {
		if !slices.Contains(Importers, pkg) {
			t.Errorf("%s imports %s and is not in trust.Importers", pkg, self)
		}
	}
}

func TestTheSearchSeesAStranger(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	src := "package b\nimport x \"" + self + "\"\nvar _ = x.AuthoredHTML(\"\")\n"
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "b.go"), []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := importers(t, dir); !slices.Equal(got, []string{"a/b"}) {
		t.Fatalf("importers = %v, want [a/b]", got)
	}
}
