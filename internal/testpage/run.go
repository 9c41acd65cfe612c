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

// Page describes the top-level page that [Run] makes. The zero value is a page
// as any other: no header but Content-Type and Cache-Control.
type Page struct {
	// Header is sent with the page's document, and with nothing else. A Content-
	// Security-Policy has to leave the harness alive:
	// script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'.
	Header map[string]string
	// Host replaces 127.0.0.1 in the page's address, such as "localhost" or
	// "a.localhost".
	Host string
	// HTML is put into the page's body as it is.
	HTML string
	// Worker runs f in a dedicated worker of the page, which holds nothing else.
	Worker bool
	// Timeout ends the page; the default is what the test binary has left.
	Timeout time.Duration
}

// runs counts the calls of Run in each test, so that the page that is opened
// for one of them knows which one it is. A test binary's own bookkeeping.
var runs struct {
	sync.Mutex
	n map[string]int
}

// verdict is how the test ended in its own page.
type verdict struct {
	Reached bool   `json:"reached"`
	Failed  bool   `json:"failed"`
	Skipped bool   `json:"skipped"`
	Output  string `json:"output"`
	Why     string `json:"why"`
}

// Run runs f in a fresh top-level page, served with p's headers: the runner
// opens the page, the test binary starts there again with this test alone, gets
// to this call, and f is called there. In the page where Run was called first, it
// waits, shows the output of the other page, and has its verdict: if f failed,
// so does this test, at once.
//
// All of the test's function but f runs in both pages, so let Run be its first
// and last statement, or give each Run a subtest.
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
		// Leave time to report before the alarm of the binary itself goes off.
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
