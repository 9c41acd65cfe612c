//go:build linux

package loadertest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mostCommands is the budget of docs/start.md. The seconds of a processor, without those of the browser, are logged: docs/start.md has them.
const mostCommands = 5

// startCommands returns the first commands of docs/start.md.
func startCommands(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```sh\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/start.md has no commands")
	}
	return strings.Split(strings.TrimSpace(block), "\n")
}

// group returns the seconds of a processor that the processes of a group have used, with the processes that have ended.
func group(t *testing.T, pgid int) (seconds float64) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(after)
		if len(fields) < 15 || fields[2] != strconv.Itoa(pgid) {
			continue
		}
		for _, f := range fields[11:15] { // utime, stime, cutime, cstime, in 1/100 s
			n, _ := strconv.Atoi(f)
			seconds += float64(n) / 100
		}
	}
	return seconds
}

// A new user follows docs/start.md to the letter, except for the port, in an empty folder beside a clone, with nothing compiled before. The
// page streams an answer. Then the user saves a change, and the page is loaded again.
func TestDocsStart(t *testing.T) {
	commands := startCommands(t)
	if len(commands) > mostCommands {
		t.Errorf("docs/start.md has %d commands, want at most %d", len(commands), mostCommands)
	}
	dev, ok := strings.CutSuffix(commands[len(commands)-1], "wasm_exec dev .")
	if !ok {
		t.Fatalf("docs/start.md ends with %q", commands[len(commands)-1])
	}
	if testing.Short() {
		t.Skip("it compiles everything anew: make e2e")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	beside := t.TempDir()
	if err := os.Symlink(root, filepath.Join(beside, "bailey")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(beside, "app")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOCACHE="+filepath.Join(beside, "cache"))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	seconds := 0.0
	for _, line := range commands[:len(commands)-1] {
		cmd := exec.CommandContext(ctx, "sh", "-euc", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		used := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		t.Logf("%5.1f s: %s", used, line)
		seconds += used
	}
	cmd := exec.Command("sh", "-c", "exec "+dev+"wasm_exec dev -addr 127.0.0.1:0 .")
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // go, and the program that it runs
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := strings.Cut(line, " ")
	p := &tab{t: t, ctx: ctx, url: url}
	p.show()
	p.must(p.Viewport(ctx, 1024, 640, 1))
	p.eval(`location.href = ` + quote(url))
	p.holds(`document.getElementById("send")?.disabled === false`)
	height := p.eval(`document.querySelector("#app iframe").getBoundingClientRect().height`)
	p.say("What is *this*?")
	p.holds(`document.querySelector("#app iframe").getBoundingClientRect().height > ` + height + ` + 60`)
	built := group(t, cmd.Process.Pid)
	t.Logf("%5.1f s: %s, until the answer", built, commands[len(commands)-1])
	seconds += built
	t.Logf("%d commands and %.1f s from an empty folder to a streamed answer", len(commands), seconds)

	main := filepath.Join(dir, "main.go")
	source, err := os.ReadFile(main)
	if err != nil {
		t.Fatal(err)
	}
	p.eval(`globalThis.before = true`)
	if err := os.WriteFile(main, []byte(strings.Replace(string(source), `"The model"`, `"Somebody"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	p.holds(`globalThis.before === undefined && document.getElementById("send")?.disabled === false`)
	t.Logf("%.1f s from a save to the page that is loaded again", group(t, cmd.Process.Pid)-built)
	p.clean()
}
