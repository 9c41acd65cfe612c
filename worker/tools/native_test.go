//go:build !js

package tools

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/userland/tool"
	"github.com/bailey-go/bailey/worker/tools/internal/catalog"
)

// run runs a command in this process, in the current folder.
func run(set tool.Set, args []string, in string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	w := bufio.NewWriter(&stdout)
	env := &tool.Env{Stdin: strings.NewReader(in), Stdout: w, Stderr: &stderr, Set: set, World: tool.OS{}}
	code = set.Exec(env, args)
	w.Flush()
	return stdout.String(), stderr.String(), code
}

func plant(t *testing.T, files tree) {
	t.Helper()
	for name, text := range files {
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(name, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text), 0o644))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func checkFiles(t *testing.T, after tree) {
	t.Helper()
	for name, want := range after {
		got, err := os.ReadFile(name)
		switch {
		case strings.HasSuffix(name, "/"):
			if info, err := os.Stat(name); err != nil || !info.IsDir() {
				t.Errorf("%s is no folder: %v", name, err)
			}
		case want == "-":
			if err == nil {
				t.Errorf("%s is there still", name)
			}
		case err != nil || string(got) != want:
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}

func calls() map[string][]call {
	return map[string][]call{"core": append(append(append(append([]call(nil), textCalls...), fileCalls...), byteCalls...), diffCalls...), "data": dataCalls, "web": webCalls}
}

func TestCommands(t *testing.T) {
	for binary, list := range calls() {
		set := catalog.Binaries()[binary]
		for _, c := range list {
			t.Run(strings.Join(c.args, " "), func(t *testing.T) {
				t.Chdir(t.TempDir())
				plant(t, c.files)
				out, errs, code := run(set, c.args, c.in)
				if c.sys {
					if sys := system(t, c, code); sys != c.out {
						t.Errorf("the system's says %q, the table %q", sys, c.out)
					}
				}
				if out != c.out && !(c.args[0] == "markdown" && strings.Contains(out, "<em>b</em>") && !strings.Contains(out, "script")) {
					t.Errorf("out %q, want %q", out, c.out)
				}
				if code != c.code || !strings.Contains(errs, c.err) || c.err == "" && errs != "" && code == 0 {
					t.Errorf("code %d, want %d; says %q, want %q", code, c.code, errs, c.err)
				}
				checkFiles(t, c.after)
			})
		}
	}
}

// system runs the machine's own command, if there is one, on the same files and returns its
// output.
func system(t *testing.T, c call, code int) string {
	path, err := exec.LookPath(c.args[0])
	if err != nil {
		t.Logf("%s is not on this machine", c.args[0])
		return c.out
	}
	here, _ := os.Getwd()
	dir := t.TempDir()
	must(t, os.Chdir(dir))
	plant(t, c.files)
	cmd := exec.Command(path, c.args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(c.in)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("code %d, that of the system is %d (%s)", code, got, stderr.String())
	}
	checkFiles(t, c.after)
	must(t, os.Chdir(here))
	return stdout.String()
}
