package examples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// readme returns the instructions of README.md under a heading: its indented commands and its Go
// programs, in order.
func readme(t *testing.T, heading string) (steps []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	must(t, err)
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("README.md has no %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var block []string
	end := func() {
		if block != nil {
			steps = append(steps, strings.Join(block, "\n"))
		}
		block = nil
	}
	program := false
	for line := range strings.Lines(section) {
		line = strings.TrimRight(line, "\n")
		command, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			program = !program
		case program:
			block = append(block, line)
		case indented:
			block = append(block, command)
		default:
			end()
		}
	}
	end()
	return steps
}

// A new user has the README, a clone and a new folder beside it. The test follows the text to the
// letter, except for the port.
func TestStranger(t *testing.T) {
	t.Parallel()
	steps := readme(t, "Use it in your program")
	if len(steps) < 3 || !strings.HasPrefix(steps[1], "package main") {
		t.Fatalf("README.md tells %q", steps)
	}
	if n := len(strings.Split(steps[1], "\n")); n > 30 {
		t.Errorf("the program has %d lines", n)
	}
	beside := t.TempDir()
	clone, err := filepath.Abs(root)
	must(t, err)
	must(t, os.Symlink(clone, filepath.Join(beside, "bailey")))
	dir := filepath.Join(beside, "app")
	must(t, os.Mkdir(dir, 0o755))
	run := func(commands string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", commands)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", commands, err, out)
		}
	}
	run(steps[0])
	must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(steps[1]+"\n"), 0o644))
	before, serve, ok := strings.Cut(steps[2], "\ngo tool wasm_exec serve")
	if !ok {
		t.Fatalf("README.md does not say how to serve: %q", steps[2])
	}
	if testing.Short() { // to the letter it compresses well, which takes long: make e2e does
		fast := strings.Replace(before, "wasm_exec build .", "wasm_exec build . -fast", 1)
		if fast == before {
			t.Fatalf("README.md does not say how to build: %q", before)
		}
		before = fast
	}
	run(before)

	cmd := exec.Command("sh", "-c", "exec go tool wasm_exec serve -addr 127.0.0.1:0"+serve)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // go, and the program that it runs
		_ = cmd.Wait()
	}()
	lines, at := bufio.NewScanner(out), ""
	for at == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), " at "); ok {
			at = strings.Fields(rest)[0]
		}
	}
	if at == "" {
		t.Fatal("serve did not say where it serves")
	}
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			p := open(t, engine, at, e2e.Options{})
			// The height of a document comes from its content, which waits for the enclave.
			must(t, p.WaitFor(testContext(t), `document.querySelector("#app iframe")?.getBoundingClientRect().height > 50`))
			shows(t, p, "from a model, whose code says 6.") // read within the inner frame
			for selector, want := range map[string]string{"h1": "Hello", "em": "model", "strong": "6"} {
				if got := inFrame(t, p, `document.querySelector(`+js(selector)+`)?.textContent`); got != want {
					t.Errorf("%s is %q, want %q", selector, got, want)
				}
			}
			noErrors(t, p) // WebKitGTK's driver does not report the console
		})
	}
}
