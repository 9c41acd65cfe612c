package runner_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// Whatever ends the runner, no process and no file of the browser is left.
func TestNothingIsLeftBehind(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	bin, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, e browser.Engine) {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, 0} {
			name := sig.String()
			if sig == 0 {
				name = "parent killed"
			}
			t.Run(name, func(t *testing.T) {
				tmp := shortTemp(t)
				c := exec.Command(exe, bin, "-test.run", "^TestLineThenDeadlock$", "-test.v")
				if sig == 0 {
					c = exec.Command("sh", "-c", `"$0" "$@"; true`, exe, bin, "-test.run", "^TestLineThenDeadlock$", "-test.v")
				}
				c.Env = append(os.Environ(), "BROWSERTEST_ENGINE="+string(e), "TMPDIR="+tmp)
				out, err := c.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				limit := time.AfterFunc(poll.Limit, func() { c.Process.Kill() })
				defer limit.Stop()
				for sc := bufio.NewScanner(out); sc.Scan() && sc.Text() != "first"; {
				}
				if n := using(tmp); n < 2 {
					t.Errorf("only %d processes use the folder: the test looks in the wrong place", n)
				}
				if sig == 0 {
					c.Process.Kill()
				} else {
					c.Process.Signal(sig)
				}
				c.Wait()
				var list []os.DirEntry
				n := 0
				if !poll.Try(func() bool {
					list, _ = os.ReadDir(tmp)
					n = using(tmp)
					return n == 0 && len(list) == 0
				}) {
					t.Errorf("after %s: %d processes, files %v", name, n, list)
				}
			})
		}
	})
}

// using returns the number of processes with a path in their environment.
func using(path string) int {
	n := 0
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(env, []byte(path)) {
			n++
		}
	}
	return n
}
