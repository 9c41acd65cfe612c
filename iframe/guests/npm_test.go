//go:build !js

package guests

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The libraries are those of the packages that package.json names, to the byte. Each has its licence beside it.
func TestLibrariesAreThoseOfNPM(t *testing.T) {
	const modules = "../../node_modules/"
	var pinned struct{ DevDependencies map[string]string }
	data, err := os.ReadFile("../../package.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &pinned); err != nil {
		t.Fatal(err)
	}
	from := map[string]string{"highlight.min.js": "@highlightjs/cdn-assets/highlight.min.js", "highlight.LICENSE.txt": "@highlightjs/cdn-assets/LICENSE",
		"temml.min.js": "temml/dist/temml.min.js", "temml.LICENSE.txt": "temml/LICENSE",
		"mermaid.min.js": "beautiful-mermaid/dist/beautiful-mermaid.browser.global.js", "mermaid.LICENSE.txt": "beautiful-mermaid/LICENSE"}
	n := 0
	err = fs.WalkDir(os.DirFS("web/guests"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		source := from[name]
		if strings.HasPrefix(name, "languages/") {
			source = "@highlightjs/cdn-assets/" + name
		}
		if source == "" {
			t.Errorf("%s is of no package", name)
			return nil
		}
		got, err := os.ReadFile("web/guests/" + name)
		if err != nil {
			return err
		}
		if strings.Contains(source, "highlightjs") && strings.HasSuffix(name, "highlight.min.js") && !bytes.Contains(got[:200], []byte("v"+pinned.DevDependencies["@highlightjs/cdn-assets"])) {
			t.Errorf("%s is of another version than %s", name, pinned.DevDependencies["@highlightjs/cdn-assets"])
		}
		if _, err := os.Stat(modules); err != nil {
			t.Skip("make node_modules installs the packages to compare with")
		}
		want, err := os.ReadFile(filepath.FromSlash(modules + source))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s", name, source)
		}
		return nil
	})
	if err != nil || n < 30 {
		t.Errorf("%d files, %v", n, err)
	}
	for _, name := range []string{"temml", "@highlightjs/cdn-assets", "beautiful-mermaid"} {
		if v := pinned.DevDependencies[name]; v == "" || strings.Trim(v, "0123456789.") != "" {
			t.Errorf("package.json does not pin %s: %q", name, v)
		}
	}
}
