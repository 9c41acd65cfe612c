//go:build !js

package bailey_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The starter tools are made from the files of worker/tools. A file that was deleted, and is still in
// git's index, is none of them.
func TestMakeAfterADeletion(t *testing.T) {
	for _, name := range []string{"make", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
	dir := t.TempDir()
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"Makefile": string(text), "worker/tools/kept.go": "", "worker/tools/gone.go": ""} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		for _, v := range os.Environ() { // of a git or a make that runs this test
			if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "MFLAGS") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("git", "init", "-q")
	run("git", "add", "-A")
	if err := os.Remove(filepath.Join(dir, "worker/tools/gone.go")); err != nil {
		t.Fatal(err)
	}
	if out := run("make", "-n", "wasitools"); !strings.Contains(out, "cd worker/tools") {
		t.Errorf("the tools would not be made:\n%s", out)
	}
	// Files in the index are still what the tools are made from.
	for _, name := range []string{"tools.json", "sqlite3.wasm"} {
		name = filepath.Join(dir, "build/tools", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := run("make", "-n", "wasitools"); strings.Contains(out, "cd worker/tools") {
		t.Errorf("the tools would be made without a change:\n%s", out)
	}
	made, err := os.Stat(filepath.Join(dir, "build/tools/tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	later := made.ModTime().Add(1e9)
	if err := os.Chtimes(filepath.Join(dir, "worker/tools/kept.go"), later, later); err != nil {
		t.Fatal(err)
	}
	if out := run("make", "-n", "wasitools"); !strings.Contains(out, "cd worker/tools") {
		t.Errorf("the tools would not be made after a change:\n%s", out)
	}
}
