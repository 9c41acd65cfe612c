package testpage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Page describes the top-level page that [Run] opens. The zero value is an ordinary page, whose
// only headers are Content-Type and Cache-Control.
type Page struct {
	// Header is sent only with the page's document. A Content-Security-Policy must allow the
	// harness: script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'.
	Header map[string]string
	// Host replaces 127.0.0.1 in the page's address, such as "localhost" or "a.localhost".
	Host string
	// HTML is inserted into the page's body unchanged.
	HTML string
	// Worker runs f in a dedicated worker of the page. The page has nothing else.
	Worker bool
	// Timeout is the time limit of the page. The default is the remaining time of the test binary.
	Timeout time.Duration
}

// runs counts the calls of Run in each test, so that a page that was opened for one of them can
// identify it. It is state of the test binary.
var runs struct {
	sync.Mutex
	n map[string]int
}

// verdict is the result of the test in its own page.
type verdict struct {
	Reached bool   `json:"reached"`
	Failed  bool   `json:"failed"`
	Skipped bool   `json:"skipped"`
	Output  string `json:"output"`
	Why     string `json:"why"`
}

// Run runs f in a new top-level page, which is served with p's headers. The runner opens the page,
// the test binary starts there again with this test only, reaches this call, and calls f. In the
// first page, Run waits, prints the output of the other page, and takes its result. If f failed,
// this test fails at once.
//
// The rest of the test's function runs in both pages. Let Run therefore be its first and last
// statement, or give each Run a subtest.
func Run(t *testing.T, p Page, f func(t *testing.T)) {
	t.Helper()
	runs.Lock()
	if runs.n == nil {
		runs.n = map[string]int{}
	}
	key := t.Name() + "#" + strconv.Itoa(runs.n[t.Name()])
	runs.n[t.Name()]++
	runs.Unlock()

	if here := os.Getenv("BROWSERTEST_RUN"); here != "" {
		if here != key {
			return
		}
		// The test's failure may come after f, from a parallel subtest.
		t.Cleanup(func() {
			must(t, "verdict", verdict{Reached: true, Failed: t.Failed(), Skipped: t.Skipped()}, nil)
		})
		f(t)
		return
	}

	limit := p.Timeout
	if d, ok := t.Deadline(); ok {
		// Leave time to report before the time limit of the binary itself.
		left := time.Until(d) - 2*time.Second
		if limit == 0 || left < limit {
			limit = max(left, time.Second)
		}
	}
	var v verdict
	must(t, "run", map[string]any{
		"test": t.Name(), "key": key, "header": p.Header, "host": p.Host, "html": p.HTML, "worker": p.Worker,
		"timeoutMs": limit.Milliseconds(), "verbose": testing.Verbose(),
	}, &v)
	out := strings.TrimRight(v.Output, "\n")
	if v.Why != "" {
		out += "\n" + v.Why
	}
	switch {
	case v.Failed:
		t.Fatalf("failed in a page of its own%s:\n%s", headers(p), indent(out))
	case !v.Reached:
		t.Fatalf("the page of its own never got to testpage.Run (%s)%s:\n%s", key, headers(p), indent(out))
	case v.Skipped:
		t.Skipf("skipped in a page of its own:\n%s", indent(out))
	case out != "":
		t.Logf("in a page of its own:\n%s", indent(out))
	}
}

// InOwnPage reports whether this page was opened by [Run].
func InOwnPage() bool { return os.Getenv("BROWSERTEST_RUN") != "" }

func headers(p Page) string {
	if len(p.Header) == 0 {
		return ""
	}
	return fmt.Sprintf(" with the headers %v", p.Header)
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
