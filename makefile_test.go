//go:build !js

package bailey_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	for _, name := range []string{"tools.json", "sqlite3.wasm", "awk.wasm", "jq.wasm", "git.wasm"} {
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

// Tests have their temporary files in memory where there is room for them and programs may run. The result and the
// arguments of the command do not change, and a folder of someone else is not used.
func TestTemporaryFilesInMemory(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip("the machine has no /dev/shm")
	}
	run := func(shm string, env ...string) (temp string, status int) {
		t.Helper()
		cmd := exec.Command("internal/tools/inmemory.sh", "sh", "-c", `echo "$TMPDIR|$1"; exit 7`, "sh", "a b")
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "TMPDIR=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, append(env, "SHM="+shm)...)
		out, err := cmd.Output()
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		temp, arg, _ := strings.Cut(strings.TrimSpace(string(out)), "|")
		if arg != "a b" {
			t.Errorf("the arguments have become %q", arg)
		}
		return temp, cmd.ProcessState.ExitCode()
	}
	own := "bailey-" + strconv.Itoa(os.Getuid())
	memory := t.TempDir() // stands for /dev/shm
	want := filepath.Join(memory, own)
	for range 2 { // the same name each time, or go test would keep no result
		if temp, status := run(memory); temp != want && temp != "" || status != 7 {
			t.Errorf("in %q with status %d, want %s or no folder on a small machine, and 7", temp, status, want)
		}
	}
	if temp, _ := run(memory, "TMPDIR=/somewhere"); temp != "/somewhere" {
		t.Errorf("a TMPDIR that is set has become %q", temp)
	}
	if temp, status := run(filepath.Join(memory, "missing")); temp != "" || status != 7 {
		t.Errorf("without such a folder: in %q with status %d", temp, status)
	}
	other := t.TempDir()
	if err := os.Symlink(memory, filepath.Join(other, own)); err != nil {
		t.Fatal(err)
	}
	if temp, _ := run(other); temp != "" {
		t.Errorf("a link that someone else may have put there is used: %s", temp)
	}
}
