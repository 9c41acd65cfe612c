package runner_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// exe is the command, built once. engines are the engines that this run tests.
var (
	exe     string
	engines []browser.Engine
)

// TestMain selects the engines: Chromium, or those in BROWSERTEST_ENGINES, such as
// "chromium,firefox,webkit" or "all". An engine that is named and missing is a failure.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		for _, e := range browser.Engines() {
			path, err := browser.Find(context.Background(), e)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			fmt.Printf("engine %s: %s\n", e, path)
			engines = append(engines, e)
		}
		dir, err := os.MkdirTemp("", "runner-test-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		exe = filepath.Join(dir, "browsertest")
		if out, err := exec.Command("go", "build", "-o", exe, "../../cmd/browsertest").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		code := m.Run()
		if left := leftovers(dir); left != "" && code == 0 {
			fmt.Fprintln(os.Stderr, "left behind:", left)
			return 1
		}
		return code
	}())
}

// leftovers returns the processes that still run this run's own command.
func leftovers(dir string) string {
	var list []string
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		cmd, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.HasPrefix(cmd, []byte(dir)) {
			list = append(list, e.Name())
		}
	}
	return strings.Join(list, " ")
}

// fixture builds the test binary of the fixture once, and returns its path.
var fixture = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(filepath.Dir(exe), "cases.test")
	build := exec.Command("go", "test", "-trimpath", "-c", "-o", bin, cases)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
})

// result is how a go test ended.
type result struct {
	code int
	out  string
}

func (r result) has(t *testing.T, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(r.out, w) {
			t.Errorf("no %q in the output:\n%s", w, r.out)
		}
	}
}

// command returns a go test in the browser, with a TMPDIR of its own, which must be empty when the
// test ends.
func command(t *testing.T, e browser.Engine, args ...string) *exec.Cmd {
	t.Helper()
	return tidy(t, e, "go", append([]string{"test", "-trimpath", "-exec", exe}, args...)...)
}

// direct returns the runner with the fixture's test binary, as go test starts it. It saves the link.
func direct(t *testing.T, e browser.Engine, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	c := tidy(t, e, exe, append([]string{bin}, args...)...)
	c.Dir = cases
	return c
}

func tidy(t *testing.T, e browser.Engine, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, name, args...)
	tmp := shortTemp(t)
	t.Cleanup(func() {
		var list []os.DirEntry
		if !poll.Try(func() bool { list, _ = os.ReadDir(tmp); return len(list) == 0 }) {
			t.Errorf("left in the temporary folder: %v", list)
		}
	})
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "BROWSERTEST_ENGINE="+string(e), "TMPDIR="+tmp)
	return c
}

// shortTemp returns a temporary folder whose name is short enough for browsers to put sockets below
// it. The one of t.TempDir is too long.
func shortTemp(t *testing.T) string {
	t.Helper()
	p, err := os.MkdirTemp("/tmp", "bt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(p) })
	return p
}

func run(t *testing.T, e browser.Engine, args ...string) result {
	t.Helper()
	return finish(t, command(t, e, args...))
}

func finish(t *testing.T, c *exec.Cmd) result {
	t.Helper()
	out, err := c.CombinedOutput()
	r := result{out: string(out)}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// each runs a test in each engine.
func each(t *testing.T, f func(t *testing.T, e browser.Engine)) {
	for _, e := range engines {
		t.Run(string(e), func(t *testing.T) { f(t, e) })
	}
}

// long skips a test with -short. make e2e and make browsers run it.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes long: make e2e runs it")
	}
}

const cases = "./testdata/cases"

// Endings of the binary, each in a browser of its own. Tests of the fixture that end in order and
// say nothing through the runner share one.
func TestEndings(t *testing.T) {
	t.Parallel()
	quiet := []string{"TestSkip", "TestPrintln", "TestFiles", "TestTempFiles", "TestNoTokenNoAccess", "FuzzSeeds"}
	table := []struct {
		test string
		code int
		want []string
		not  string
	}{
		{"TestPass", 0, []string{"passed", "--- PASS: TestPass"}, "browsertest:"},
		{strings.Join(quiet, "|"), 0, []string{"--- SKIP: TestSkip", "skipped on purpose", "from the runtime", "--- PASS: TestPrintln", "--- PASS: TestFiles", "--- PASS: TestTempFiles",
			"--- PASS: TestNoTokenNoAccess", "--- PASS: FuzzSeeds", "fuzzed with seed one", "fuzzed with seed two"}, "browsertest:"},
		{"TestFail", 1, []string{"--- FAIL: TestFail", "failed on purpose"}, "browsertest:"},
		{"TestPanic", 2, []string{"panic: panicked on purpose", "cases.TestPanic(", "cases_js_test.go:"}, ""},
		{"TestExit", 3, nil, "browsertest:"},
		{"TestStackOverflow", 2, []string{"the Go program died in the page"}, "timed out"},
		{"TestNavigate", 2, []string{"the page went away"}, ""},
		{"TestReload", 2, []string{"must not navigate its own page"}, ""},
		{"TestUncaught", 0, []string{"uncaught exception in the page: Error: nobody catches this", "unhandled rejection in the page: Error: nor this"}, ""},
		{"TestNone", 0, []string{"no tests to run"}, ""},
	}
	each(t, func(t *testing.T, e browser.Engine) {
		for i, row := range table {
			if testing.Short() && i%2 == 0 {
				continue // make e2e runs all
			}
			t.Run(row.test, func(t *testing.T) {
				t.Parallel()
				r := finish(t, direct(t, e, "-test.v", "-test.timeout=60s", "-test.run=^("+row.test+")$"))
				if r.code != row.code {
					t.Errorf("exit code %d, want %d", r.code, row.code)
				}
				r.has(t, row.want...)
				if row.test == "TestUncaught" && e != browser.WebKit { // whose driver does not tell of the console
					r.has(t, "console.error: an error")
				}
				if row.not != "" && strings.Contains(r.out, row.not) {
					t.Errorf("%q in the output", row.not)
				}
				if t.Failed() {
					t.Log(r.out)
				}
			})
		}
	})
}

// The runner's exit code is the binary's own, and go test turns every failure into 1.
func TestEndingsOfGoTest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		for test, code := range map[string]int{"TestPass": 0, "TestPanic": 1} {
			r := run(t, e, "-v", "-timeout", "60s", "-run", "^"+test+"$", cases)
			if r.code != code {
				t.Errorf("%s: exit code %d, want %d", test, r.code, code)
			}
			r.has(t, map[int]string{0: "\nok ", 1: "\nFAIL\t"}[code])
		}
	})
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		t.Run("deadlock", func(t *testing.T) {
			r := finish(t, direct(t, e, "-test.timeout=1s", "-test.run=^TestDeadlock$"))
			r.has(t, "panic: test timed out after 1s", "TestDeadlock")
			if r.code != 2 {
				t.Error(r.code)
			}
		})
		t.Run("busy", func(t *testing.T) {
			r := finish(t, direct(t, e, "-test.timeout=1s", "-test.run=^TestBusy$"))
			r.has(t, "before the loop", "did not yield to the page")
			if e == browser.Chromium {
				r.has(t, "running tests:", "TestBusy (")
			}
			if r.code != 2 {
				t.Error(r.code)
			}
		})
	})
}

func TestCrash(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		if e != browser.Chromium {
			continue // the fixture crashes its page by a DevTools command
		}
		r := finish(t, direct(t, e, "-test.run=^TestCrash$"))
		r.has(t, "renderer")
		if r.code != 2 {
			t.Error(r.code)
		}
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		t.Run("order", func(t *testing.T) {
			r := finish(t, direct(t, e, "-test.v", "-test.run=^TestManyLines$"))
			n := 0
			for line := range strings.Lines(r.out) {
				if strings.HasPrefix(line, "line ") {
					if line != fmt.Sprintf("line %d\n", n) {
						t.Fatalf("%q where line %d belongs", line, n)
					}
					n++
				}
			}
			if n != 20000 {
				t.Errorf("%d lines", n)
			}
		})
		t.Run("live", func(t *testing.T) {
			c := command(t, e, "-v", "-run", "^TestSlowLines$", cases)
			heard := filepath.Join(shortTemp(t), "heard")
			c.Env = append(c.Env, "CASES_HEARD="+heard)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var lines []string
			for sc := bufio.NewScanner(out); sc.Scan(); {
				switch sc.Text() {
				case "first": // the program goes on when this line has been read, and not before
					if err := os.WriteFile(heard, nil, 0o600); err != nil {
						t.Error(err)
					}
					lines = append(lines, sc.Text())
				case "second":
					lines = append(lines, sc.Text())
				}
			}
			if err := c.Wait(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(lines, " "); got != "first second" {
				t.Errorf("the lines are %q", got)
			}
		})
	})
}

func TestArguments(t *testing.T) {
	long(t)
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		c := command(t, e, "-run", "^TestArguments$", cases, "-args", "-word", "a b")
		c.Env = append(c.Env, "CASES_VARIABLE=ü=1")
		if r := finish(t, c); r.code != 0 {
			t.Error(r.out)
		}
	})
	// wasm_exec.js has room for 8 KB, so a long variable is left out, and named.
	for _, size := range []int{3000, 9000} {
		c := direct(t, engines[0], "-test.v", "-test.run=^TestEnvironmentSize$")
		c.Env = append(c.Env, "CASES_LONG="+strings.Repeat("x", size))
		r := finish(t, c)
		if size == 3000 {
			r.has(t, "HOME true CASES_LONG 3000")
		} else {
			r.has(t, "HOME true CASES_LONG 0", "left out: CASES_LONG")
		}
	}
}

func TestBench(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		r := finish(t, direct(t, e, "-test.run=^$", "-test.bench=.", "-test.benchtime=100000x"))
		if !regexp.MustCompile(`BenchmarkSum\s+100000\s+[0-9.]+ ns/op\s+0 B/op\s+0 allocs/op`).MatchString(r.out) {
			t.Error(r.out)
		}
	})
}

func TestInPage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		r := run(t, e, "-v", "-timeout", "120s", "./testdata/inpage")
		if r.code != 0 {
			t.Error(r.out)
		}
		for line := range strings.Lines(r.out) {
			if strings.HasPrefix(line, "--- SKIP") {
				if e == browser.Chromium {
					t.Errorf("skipped in Chromium: %s", line)
				}
				t.Logf("%s", line)
			}
		}
	})
}

// The page of a test's second round runs that round.
func TestInPageTwice(t *testing.T) {
	long(t)
	t.Parallel()
	each(t, func(t *testing.T, e browser.Engine) {
		r := run(t, e, "-v", "-count", "2", "-run", "^TestSubtests$", "./testdata/inpage")
		if r.code != 0 || strings.Count(r.out, "--- PASS: TestSubtests ") != 2 {
			t.Error(r.out)
		}
	})
}
