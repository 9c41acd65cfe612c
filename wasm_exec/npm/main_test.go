//go:build !js

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// built returns the files of a folder as wasm_exec build writes them.
func built() map[string]string {
	files := map[string]string{
		"manifest.json":      `{"version":1,"files":{"bailey.wasm":{"path":"bailey.00.wasm"},"agent.wasm":{"path":"agent.00.wasm"},"wasm_exec.js":{"path":"wasm_exec.00.js"},"bailey.js":{"path":"bailey.00.js"}}}`,
		"bailey.00.wasm":     "\x00asm",
		"bailey.00.wasm.br":  "br",
		"agent.00.wasm":      "\x00asm, too",
		"agent.00.wasm.gz":   "gz",
		"wasm_exec.00.js":    "globalThis.Go = class {}",
		"bailey.00.js":       "await import(from); import(page)",
		"bailey.unknown.txt": "not shipped",
		typescript:           "const modules = {}",
	}
	for _, name := range copied {
		files[name] = name
	}
	return files
}

func TestWrite(t *testing.T) {
	out := filepath.Join(t.TempDir(), "dist")
	for range 2 { // the second replaces the first
		if err := write(folder(t, built()), out, "0.2.0-rc.1", []byte("notices")); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var p struct {
		Version     string
		Exports     map[string]any
		Files       []string
		SideEffects []string
	}
	if err := json.Unmarshal(read("package.json"), &p); err != nil || p.Version != "0.2.0-rc.1" {
		t.Errorf("version %q, %v", p.Version, err)
	}
	// Each file that an export or the list of side effects names is there, and is in the packed file.
	var named []string
	for _, e := range p.Exports {
		switch e := e.(type) {
		case string:
			named = append(named, e)
		case map[string]any:
			for _, file := range e {
				named = append(named, file.(string))
			}
		}
	}
	for _, name := range append(named, p.SideEffects...) {
		name = strings.TrimPrefix(name, "./")
		read(name)
		if name != "package.json" && !slices.ContainsFunc(p.Files, func(pattern string) bool { ok, _ := filepath.Match(pattern, name); return ok }) {
			t.Errorf("%s would not be packed", name)
		}
	}
	var sums map[string]string
	if err := json.Unmarshal(read("integrity.json"), &sums); err != nil || len(sums) != len(copied)+11 {
		t.Errorf("%d hashes, %v: %q", len(sums), err, slices.Sorted(maps.Keys(sums)))
	}
	for name, sum := range sums {
		if sum != integrity(read(name)) {
			t.Errorf("%s: the hash is %s", name, sum)
		}
	}
	if js := string(read("bailey.js")); strings.Count(js, "import(/* webpackIgnore: true */ /* @vite-ignore */ ") != 2 {
		t.Errorf("bailey.js: %s", js)
	}
	read("bailey.wasm.br")
	read("agent.wasm.gz")
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		name, version, want string
		change              func(files map[string]string)
		out                 map[string]string
	}{
		{name: "no build", change: func(f map[string]string) { delete(f, "manifest.json") }, want: "not a folder that wasm_exec build has written"},
		{name: "another program", change: func(f map[string]string) { f["manifest.json"] = `{"files":{"main.wasm":{"path":"main.00.wasm"}}}` }, want: "-name bailey"},
		{name: "a path out of the build", change: func(f map[string]string) {
			f["manifest.json"] = strings.ReplaceAll(f["manifest.json"], "bailey.00.wasm", "../x.wasm")
		}, want: "names no bailey.wasm"},
		{name: "a new import in the loader", change: func(f map[string]string) { f["bailey.00.js"] += "; import(other)" }, want: "3 imports"},
		{name: "an import of text in the loader", change: func(f map[string]string) { f["bailey.00.js"] += "; import('x')" }, want: "knows of 2"},
		{name: "no version", version: "v1", want: `-version "v1"`},
		{name: "two numbers", version: "1.0", want: `-version "1.0"`},
		{name: "a folder of another kind", out: map[string]string{"thesis.txt": "mine"}, want: "thesis.txt"},
		{name: "a file beside an earlier package", out: map[string]string{"integrity.json": "{}", "thesis.txt": "mine"}, want: "thesis.txt"},
		{name: "the folder of a build", out: map[string]string{"manifest.json": "{}", "index.html": "mine"}, want: "no part of the package"},
		{name: "a hidden file", out: map[string]string{"integrity.json": "{}", ".env": "mine"}, want: ".env"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := built()
			if c.change != nil {
				c.change(files)
			}
			out := folder(t, c.out)
			err := write(folder(t, files), out, c.version, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: want %q", err, c.want)
			}
			for name, text := range c.out {
				if data, _ := os.ReadFile(filepath.Join(out, name)); string(data) != text {
					t.Errorf("%s is %q", name, data)
				}
			}
		})
	}
}

func TestLicence(t *testing.T) {
	if _, err := licence(folder(t, map[string]string{"main.go": ""})); err == nil {
		t.Error("a work without a licence is not shipped")
	}
	if _, err := licence(folder(t, map[string]string{"COPYING": "GNU Lesser General Public License"})); err == nil {
		t.Error("a work under the LGPL is not shipped")
	}
	if text, err := licence(folder(t, map[string]string{"LICENSE": "MIT\n", "NOTICE": "made by"})); err != nil || text != "MIT\n\nmade by" {
		t.Errorf("%q, %v", text, err)
	}
}
