package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

func TestParallelPackages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		r := run(t, e, "-v", "-p", "2", "./testdata/quick", "./testdata/cover")
		if r.code != 0 || strings.Count(r.out, "\nok ") != 2 {
			t.Error(r.out)
		}
		r.has(t, "ran in "+string(e))
	})
}

// The runner's exit code is the binary's own. go test turns every failure into 1.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	each(t, func(t *testing.T, e browser.Engine) {
		for test, want := range map[string]int{"TestPass": 0, "TestFail": 1, "TestPanic": 2, "TestExit": 3} {
			c := exec.Command(exe, bin, "-test.run", "^"+test+"$")
			c.Env = append(os.Environ(), "BROWSERTEST_ENGINE="+string(e))
			if r := finish(t, c); r.code != want {
				t.Errorf("%s: exit code %d, want %d\n%s", test, r.code, want, r.out)
			}
		}
	})
}

// A wrong command line prints the usage, and starts no browser.
func TestUsage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string
		want string
	}{
		{nil, "go test -exec"},
		{[]string{"-nosuch"}, "flag provided but not defined"},
		{[]string{"-engine", "gecko", "x.test"}, "use chromium, firefox or webkit"},
	} {
		r := finish(t, exec.Command(exe, row.args...))
		if r.code != 2 {
			t.Errorf("%v: exit code %d", row.args, r.code)
		}
		r.has(t, row.want)
	}
	c := exec.Command(exe, "x.test")
	c.Env = append(os.Environ(), "BROWSERTEST_CHROMIUM=/no/such/browser", "BROWSERTEST_ENGINE=")
	if r := finish(t, c); r.code != 2 || !strings.Contains(r.out, "/no/such/browser") {
		t.Error(r.code, r.out)
	}
}

// binary returns the path of the fixture's test binary.
func binary(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "cases.test")
	build := exec.Command("go", "test", "-c", "-o", bin, cases)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
