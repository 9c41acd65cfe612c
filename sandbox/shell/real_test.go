//go:build !js

package shell_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/needs"
)

// scripts returns the scripts that must behave the same in bash and here, in the folder of
// files: output, exit code and files. They are data, a paragraph each.
func scripts(t *testing.T) []string {
	data, err := os.ReadFile("testdata/scripts.txt")
	must(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n%%\n")
}

// differs lists scripts with known differences. The interpreter's printf and type have fewer
// features, and its exit codes for errors of the shell itself are different.
var differs = map[string]bool{
	`exec > f; echo into; cat f >&2`: true,
}

func TestShellIsBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		needs.Missing(t, "there is no bash here to compare with")
	}
	list := scripts(t)
	if len(list) < 200 {
		t.Errorf("%d scripts only", len(list))
	}
	for _, script := range list {
		dir := t.TempDir()
		must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
		for name, content := range files {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
		}
		cmd := exec.Command(bash, "-c", script)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/"}
		var want bytes.Buffer
		cmd.Stdout = &want
		err := cmd.Run()
		code := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		b, mem := build(t, open, yes{})
		got, gotCode, gerr := run(t, b, "{ "+script+"\n} 2>/dev/null")
		if differs[script] {
			if gerr == nil && got == want.String() && gotCode == code {
				t.Errorf("%s\nis the same as in bash now: take it off the list", script)
			}
			continue
		}
		if gerr != nil || got != want.String() || gotCode != code {
			t.Errorf("%s\nhere: %q %d %v\nbash: %q %d", script, got, gotCode, gerr, want.String(), code)
			continue
		}
		_ = filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(dir, p)
			a, _ := os.ReadFile(p)
			b, err := mem.ReadFile(filepath.ToSlash(rel))
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s\n%s is %q here (%v), %q there", script, rel, b, err, a)
			}
			return nil
		})
	}
}
