package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/environment/internal/confine"
	"github.com/bailey-go/bailey/environment/internal/pgtest"
	"github.com/bailey-go/bailey/environment/internal/s3test"
	"github.com/bailey-go/bailey/environment/internal/sessions"
)

// A session in a database or a bucket goes on in another bailey-box, which reaches it from inside of its sandbox. Two
// never have it at once.
func TestSessionGoesOn(t *testing.T) {
	if err := confine.Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	for _, name := range []string{"folder", "socket", "loopback", "bucket"} {
		t.Run(name, func(t *testing.T) {
			address := t.TempDir()
			switch name {
			case "bucket":
				address = s3test.Start(t).Address
			case "socket", "loopback":
				socket, loopback := pgtest.Start(t).Database(t)
				address = map[string]string{"socket": socket, "loopback": loopback}[name]
			}
			dir, file := t.TempDir(), filepath.Join(t.TempDir(), "policy.json")
			if err := os.WriteFile(file, []byte(pol), 0o600); err != nil {
				t.Fatal(err)
			}
			first, end := launch(t, "-dir", dir, "-policy", file, "-state", address)
			if name != "folder" { // a folder is not locked against other programs
				out, err := exec.Command("/proc/self/exe", "-dir", dir, "-policy", file, "-state", address, "-session", first.Session).CombinedOutput()
				if err == nil || !strings.Contains(string(out), "open elsewhere") {
					t.Errorf("two at once: %v %s", err, out)
				}
				if name != "bucket" {
					pgtest.Cut(t, address) // it connects again from inside of its sandbox, to give the session back
				}
			}
			end()
			second, end := launch(t, "-dir", dir, "-policy", file, "-state", address, "-session", first.Session)
			defer end()
			if second.Session != first.Session {
				t.Errorf("%s is not %s", second.Session, first.Session)
			}
			s, err := sessions.Open(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Session(t.Context(), first.Session); err != nil {
				t.Errorf("it is not in the store: %v", err)
			}
		})
	}
}

// launch starts a bailey-box. end ends it and waits for its end.
func launch(t *testing.T, args ...string) (hello, func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	end := func() {
		stop()
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	var h hello
	if err != nil || json.Unmarshal([]byte(line), &h) != nil {
		end()
		t.Fatalf("%q %v", line, err)
	}
	path, _ := strings.CutPrefix(h.Address, "unix:")
	t.Cleanup(func() { os.RemoveAll(filepath.Dir(path)) })
	return h, end
}
