// Package wasisuite reads the programs of the wasi-testsuite (preview1) for tests of the hosts, which are package worker
// in a browser and sandbox/command/native outside of one. The programs are not part of this project: make wasisuite fetches them, and build/wasisuite has a folder
// for each language, with the programs, their descriptions and the folder fs-tests.dir.
package wasisuite

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/fsaccess"
)

// Count is the number of programs of preview1, in the version of August 2026.
const Count = 72

// Case is a program with its description.
type Case struct {
	Name string // language/name
	Wasm []byte
	Args []string
	Env  map[string]string
	Root string
	Exit int
	Out  string

	dir string
}

// Read returns the programs. root is the folder of the project. Without the suite the test is skipped.
func Read(t testing.TB, root string) []Case {
	t.Helper()
	dir := filepath.Join(root, "build", "wasisuite")
	names, err := filepath.Glob(filepath.Join(dir, "*", "*.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Skip("the programs of the wasi-testsuite are not in build/wasisuite: make wasisuite fetches them")
	}
	var list []Case
	for _, name := range names {
		rel, _ := strings.CutPrefix(filepath.ToSlash(strings.TrimSuffix(name, ".wasm")), filepath.ToSlash(dir)+"/")
		c := Case{Name: rel, dir: filepath.Dir(name)}
		if c.Wasm, err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Args   []string
			Env    map[string]string
			Root   string
			Exit   int `json:"exit_code"`
			Stdout string
		}
		data, err := os.ReadFile(strings.TrimSuffix(name, ".wasm") + ".json")
		if err == nil {
			err = json.Unmarshal(data, &spec)
		} else if os.IsNotExist(err) {
			err = nil
		}
		if err != nil {
			t.Fatalf("%s: %v", rel, err)
		}
		c.Args, c.Env, c.Root, c.Exit, c.Out = spec.Args, spec.Env, spec.Root, spec.Exit, spec.Stdout
		list = append(list, c)
	}
	if len(list) != Count {
		t.Errorf("%d programs, want %d", len(list), Count)
	}
	return list
}

// Environ returns the environment as a list.
func (c *Case) Environ() (out []string) {
	for name, value := range c.Env {
		out = append(out, name+"="+value)
	}
	return out
}

// Folder returns a folder with the files of the case, or nil if it needs none.
func (c *Case) Folder(t testing.TB) *fsaccess.Folder {
	t.Helper()
	if c.Root == "" {
		return nil
	}
	mem := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	from := os.DirFS(filepath.Join(c.dir, c.Root))
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			return mem.MkdirAll(name, 0o755)
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if err := mem.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return mem.WriteFile(name, data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

// Check reports a program's result to t. reasons has the programs that fail on this host, by name. One of them that passes is an
// error too.
func (c *Case) Check(t testing.TB, reasons map[string]string, exit int, out, errs []byte, err error) {
	t.Helper()
	failed := err != nil || exit != c.Exit || c.Out != "" && string(out) != c.Out
	reason, known := reasons[c.Name]
	switch {
	case failed && !known:
		t.Errorf("exit %d, want %d; %v\n%s%s", exit, c.Exit, err, out, bytes.TrimSpace(errs))
	case failed:
		t.Logf("fails: %s", reason)
	case known:
		t.Errorf("it passes now, and is listed as failing: %s", reason)
	}
}
