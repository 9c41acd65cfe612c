package runner_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

func TestParallelPackages(t *testing.T) {
	long(t)
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		r := run(t, e, "-v", "-p", "2", "./testdata/quick", "./testdata/cover")
		if r.code != 0 || strings.Count(r.out, "\nok ") != 2 {
			t.Error(r.out)
		}
		r.has(t, "ran in "+string(e))
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
