package confine

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// folder returns a folder that the user of programs can reach.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "confine-")
	if err == nil {
		err = Own(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func supported(t testing.TB) {
	t.Helper()
	if err := Supported(); err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
}

// kinds are the ways to make the namespaces.
func kinds(t testing.TB) map[string]string {
	out := map[string]string{"own": "none"}
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Log("NOT TESTED: bubblewrap, as bwrap is not installed")
	} else {
		out["bwrap"] = ""
	}
	return out
}

// runs runs a script of sh and returns its output and exit code.
func runs(t testing.TB, s Spec, script string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd, err := Command(t.Context(), &s, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	err = cmd.Wait()
	exit := (*exec.ExitError)(nil)
	if errors.As(err, &exit) {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), 0
}

func TestRunsAProgram(t *testing.T) {
	supported(t)
	for name, bwrap := range kinds(t) {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			var l net.Listener
			out, code := runs(t, Spec{Dir: dir, Env: []string{"PATH=/usr/bin:/bin", "A=b c"}, Bubblewrap: bwrap, Listener: func(x net.Listener) { l = x }},
				`echo "$A"; echo hello > made; cat made; ls -a /proc | grep -c '^[0-9]'; echo "$http_proxy" | cut -c 1-17; exit 7`)
			if code != 7 || !strings.HasPrefix(out, "b c\nhello\n") || !strings.HasSuffix(out, "http://127.0.0.1:\n") {
				t.Errorf("%q, %d", out, code)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || string(data) != "hello\n" {
				t.Errorf("%q %v", data, err)
			}
			if l == nil {
				t.Error("no listener")
			} else {
				l.Close()
			}
		})
	}
}
