package runner

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
)

// verdict is the result of a test in a page of its own, as package testpage reports it.
type verdict struct {
	Reached bool   `json:"reached"`
	Failed  bool   `json:"failed"`
	Skipped bool   `json:"skipped"`
	Output  string `json:"output"`
	Why     string `json:"why"`
}

// maxOwnPages is the number of pages that may run the binary beside the first at the same time.
// Each is a renderer with a whole Go program.
const maxOwnPages = 4

type runParams struct {
	Test      string
	Key       string
	Header    map[string]string
	Host      string
	HTML      string
	Worker    bool
	TimeoutMs int64
	Verbose   bool
}

// runOwnPage opens a page that runs one test, and returns its verdict.
func runOwnPage(ctx context.Context, s *session, p *testPage, a runParams) (any, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var out bytes.Buffer
	limit := time.Duration(a.TimeoutMs) * time.Millisecond
	child := s.newPage(&out, &out)
	child.header, child.host, child.html = a.Header, a.Host, a.HTML
	child.worker = child.worker || a.Worker
	child.argv = append([]string{p.argv[0]}, ownPageArgs(p.argv[1:], a.Test, limit, a.Verbose)...)
	child.env["BROWSERTEST_RUN"] = a.Key
	if err := s.open(ctx, child); err != nil {
		return nil, err
	}
	st := child.wait(ctx, s.browser, limit)
	child.close()
	child.mu.Lock()
	v := child.verdict
	child.mu.Unlock()
	child.out.mu.Lock()
	v.Output = trimOutput(out.String())
	child.out.mu.Unlock()
	v.Why = st.why
	if st.code != 0 {
		v.Failed = true
	}
	return v, nil
}

// ownPageFlags are the test flags that the page of one test does not inherit, because its output
// files would overwrite the main page's. It inherits the count, because a call of Run is identified
// by its number.
var ownPageFlags = []string{
	"run", "skip", "bench", "benchtime", "benchmem", "list", "fuzz", "fuzztime", "shuffle", "v", "timeout",
	"blockprofile", "coverprofile", "cpuprofile", "memprofile", "mutexprofile", "testlogfile", "trace", "failfast", "fullpath",
}

func ownPageArgs(args []string, test string, limit time.Duration, verbose bool) []string {
	var out []string
	i := 0
	for i < len(args) {
		a := args[i]
		name, isTest := strings.CutPrefix(strings.TrimLeft(a, "-"), "test.")
		if !strings.HasPrefix(a, "-") || !isTest {
			break // the test's own flags and arguments stay last and unchanged
		}
		n := 1
		name, _, has := strings.Cut(name, "=")
		if !has && !boolFlags["test."+name] {
			n = 2
		}
		n = min(n, len(args)-i)
		if !slices.Contains(ownPageFlags, name) {
			out = append(out, args[i:i+n]...)
		}
		i += n
	}
	rest := args[i:]
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	out = append(out, "-test.run="+strings.Join(parts, "/"))
	if limit > 0 {
		out = append(out, "-test.timeout="+limit.String())
	}
	if verbose {
		out = append(out, "-test.v=true")
	}
	return append(out, rest...)
}

// summary matches the lines of a test binary that contain nothing about one test.
var summary = regexp.MustCompile(`(?m)^( *--- PASS: .*|PASS|FAIL|coverage: .*|=== (RUN|PAUSE|CONT|NAME) .*)\n`)

func trimOutput(s string) string { return summary.ReplaceAllString(s, "") }
