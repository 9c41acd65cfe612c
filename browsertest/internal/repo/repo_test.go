package repo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRoot(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "THREATMODEL.md")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if root, err := Root(); err == nil {
		t.Errorf("outside of the repository: %s", root)
	}
}

func TestPick(t *testing.T) {
	all := []string{"compute", "dom"}
	if got, err := Pick("layout", "dom, compute", all); err != nil || !slices.Equal(got, []string{"dom", "compute"}) {
		t.Error(got, err)
	}
	if got, err := Pick("layout", "", all); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
	if _, err := Pick("layout", "computer", all); err == nil || !strings.Contains(err.Error(), `no layout "computer"; there are compute dom`) {
		t.Error("an unknown layout:", err)
	}
}
