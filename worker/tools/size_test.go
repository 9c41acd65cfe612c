//go:build !js

package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailey-go/bailey/internal/needs"
)

// userlandBudget is the limit of the userland in bytes of brotli: of the commands of a shell. The other tools (data, web and sqlite3) are
// loaded by need, too, and each has at most as much.
const userlandBudget = 3_000_000

// The userland is within its budget. The catalogue, from which a page knows what it loads, has the sizes of the files.
func TestUserlandSize(t *testing.T) {
	dir := filepath.Join("..", "..", "build", "tools")
	data, err := os.ReadFile(filepath.Join(dir, "tools.json"))
	if err != nil {
		needs.Missing(t, "the starter tools are not built: run make tools")
	}
	var all struct {
		Binaries []struct {
			Name   string
			Brotli int64
		}
	}
	must(t, json.Unmarshal(data, &all))
	sizes := map[string]int64{}
	for _, b := range all.Binaries {
		info, err := os.Stat(filepath.Join(dir, b.Name+".wasm.br"))
		must(t, err)
		if info.Size() != b.Brotli || b.Brotli == 0 {
			t.Errorf("%s has %d bytes, and %d in the catalogue", b.Name, info.Size(), b.Brotli)
		}
		if b.Brotli > userlandBudget {
			t.Errorf("%s has %d bytes, %d over the budget", b.Name, b.Brotli, b.Brotli-userlandBudget)
		}
		sizes[b.Name] = b.Brotli
	}
	total := int64(0)
	for _, name := range []string{"core", "awk", "jq", "git"} {
		if sizes[name] == 0 && name == "core" {
			t.Errorf("the catalogue lacks %s", name)
		}
		total += sizes[name]
	}
	if total > userlandBudget {
		t.Errorf("the userland has %d bytes of brotli, %d over its budget", total, total-userlandBudget)
	}
	t.Logf("the userland has %d bytes of brotli, of %d", total, userlandBudget)
}
