package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// Where has four statements: the switch and three answers. A page reaches two
// of them, a page of its own one more, native code the fourth.
func TestCoverage(t *testing.T) {
	long(t)
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		if r := run(t, e, "-cover", "-run", "^TestWhere$", "./testdata/cover"); r.code != 0 || !strings.Contains(r.out, "coverage: 50.0% of statements") {
			t.Error(r.out)
		}
		if r := run(t, e, "-cover", "./testdata/cover"); r.code != 0 || !strings.Contains(r.out, "coverage: 75.0% of statements") {
			t.Error(r.out)
		}
		profile := filepath.Join(t.TempDir(), "c.out")
		if r := run(t, e, "-coverprofile", profile, "./testdata/cover"); r.code != 0 {
			t.Error(r.out)
		}
		data, err := os.ReadFile(profile)
		if err != nil || !strings.HasPrefix(string(data), "mode: set\n") || strings.Count(string(data), " 1 1\n") != 3 || strings.Count(string(data), " 1 0\n") != 1 {
			t.Errorf("%v\n%s", err, data)
		}
	})
}

// Coverage data of a browser and of the native platform make one profile.
func TestCoverageMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := func(name string) string {
		p := filepath.Join(dir, name)
		if err := os.Mkdir(p, 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	inBrowser, native, both := sub("browser"), sub("native"), filepath.Join(dir, "both.out")
	if r := run(t, engines[0], "-cover", "./testdata/cover", "-args", "-test.gocoverdir="+inBrowser); r.code != 0 {
		t.Fatal(r.out)
	}
	for _, args := range [][]string{
		{"test", "-cover", "./testdata/cover", "-args", "-test.gocoverdir=" + native},
		{"tool", "covdata", "textfmt", "-i=" + inBrowser + "," + native, "-o=" + both},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command("go", "tool", "cover", "-func="+both).CombinedOutput()
	if err != nil || !regexp.MustCompile(`total:\s+\(statements\)\s+100\.0%`).Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}
