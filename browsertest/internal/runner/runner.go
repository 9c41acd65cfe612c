package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// Options describe a run. Only Args is required.
type Options struct {
	// Args are the test binary and its arguments, as go test passes them.
	Args []string
	// Browser describes the browser.
	Browser browser.Options
	// Stdout and Stderr receive the binary's output. The defaults are os.Stdout and os.Stderr.
	Stdout, Stderr io.Writer
	// Console writes the page's whole console to Stderr. Without it, only errors are written.
	Console bool
	// Worker runs the binary in a dedicated worker of its page.
	Worker bool
}

// startLimit is the limit from the opening of a page until its request for arguments, on a machine
// that is busy with the tests of other packages.
const startLimit = 60 * time.Second

// hangGrace is the time after the binary's own time-out in which it can stop the test and print the
// trace. It cannot if Go never yields to the page.
const hangGrace = 10 * time.Second

// Run runs the binary, and returns its exit code. It returns an error if the binary could not be
// run, or ended in another way than by exiting.
func Run(ctx context.Context, o Options) (int, error) {
	if len(o.Args) == 0 {
		return 2, fmt.Errorf("no test binary: this program is for go test -exec")
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	wasm, err := filepath.Abs(o.Args[0])
	if err != nil {
		return 2, err
	}
	dir, err := browser.TempDir()
	if err != nil {
		return 2, err
	}
	defer dir.Close()
	s, err := newSession(ctx, o, dir.Path, wasm)
	if err != nil {
		return 2, err
	}
	defer s.close()
	p := s.newPage(o.Stdout, o.Stderr)
	if err := s.open(ctx, p); err != nil {
		return 2, err
	}
	st := p.wait(ctx, s.browser, timeout(o.Args[1:]))
	p.close()
	if st.why != "" {
		return st.code, fmt.Errorf("%s", st.why)
	}
	return st.code, nil
}

// events returns the functions that add the browser's reports about the page to its output.
func (p *testPage) events(console bool) browser.Events {
	return browser.Events{
		Console: func(kind, text string) {
			if kind == "exception" {
				return // the harness reports them in every engine
			}
			if console || kind == "error" || kind == "assert" {
				go p.note("console." + kind + ": " + text)
			}
		},
		Crashed: func(reason string) {
			p.finish(exitStatus{2, reason})
		},
	}
}

// wait waits for the end of the page, and returns its status.
func (p *testPage) wait(ctx context.Context, b browser.Browser, limit time.Duration) exitStatus {
	start := time.NewTimer(startLimit)
	defer start.Stop()
	started := p.startedC
	var hang <-chan time.Time
	for {
		select {
		case st := <-p.exit:
			return st
		case <-started:
			started = nil
			start.Stop()
			if limit > 0 {
				t := time.NewTimer(limit + hangGrace)
				defer t.Stop()
				hang = t.C
			}
		case <-start.C:
			return exitStatus{2, fmt.Sprintf("the page did not start the test binary within %v: do its headers allow scripts and requests to its own origin (script-src 'self' 'wasm-unsafe-eval'; connect-src 'self')?", startLimit)}
		case <-hang:
			return p.unstick(limit)
		case <-b.Done():
			return exitStatus{2, "the browser ended while the test ran"}
		case <-ctx.Done():
			return exitStatus{130, "interrupted"}
		}
	}
}

// unstick stops a Go program that never yields. In Chromium the page's event loop then runs again,
// and with it the time-out of package testing, which prints the running tests before it exits.
func (p *testPage) unstick(limit time.Duration) exitStatus {
	why := fmt.Sprintf("Go did not yield to the page for %v after the time-out of %v, so that the test could not be stopped from inside", hangGrace, limit)
	pg, ok := p.page.(*browser.ChromiumPage)
	if !ok {
		return exitStatus{2, why + "; run with -v, or in Chromium, to see which test it was"}
	}
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	if err := pg.Interrupt(ctx); err != nil {
		return exitStatus{2, why + "; interrupting it failed too: " + err.Error()}
	}
	select {
	case <-p.exit:
	case <-ctx.Done():
	}
	return exitStatus{2, why}
}

// maxEnv is the number of bytes for arguments and environment. wasm_exec.js allows 8 KB in all, and
// the rest is a margin.
const maxEnv = 7 << 10

// pageEnv returns the environment for the page. If it does not fit into the 8 KB of wasm_exec.js,
// the longest variables are left out, with a message on stderr.
func pageEnv(env []string, tmp string, args []string, stderr io.Writer) map[string]string {
	m := map[string]string{}
	size := 0
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		if k == "" || k == "TMPDIR" {
			continue
		}
		m[k] = v
	}
	m["TMPDIR"] = tmp
	for _, a := range args {
		size += len(a) + 24
	}
	for k, v := range m {
		size += len(k) + len(v) + 24
	}
	var dropped []string
	for size > maxEnv {
		longest := ""
		for k, v := range m {
			if k != "TMPDIR" && (longest == "" || len(k)+len(v) > len(longest)+len(m[longest])) {
				longest = k
			}
		}
		if longest == "" {
			break
		}
		size -= len(longest) + len(m[longest]) + 24
		delete(m, longest)
		dropped = append(dropped, longest)
	}
	if len(dropped) > 0 {
		fmt.Fprintf(stderr, "browsertest: the environment is too long for wasm_exec.js; left out: %s\n", strings.Join(dropped, " "))
	}
	return m
}

// goroot returns the toolchain's folder. go test sets GOROOT for the programs that it runs.
func goroot() string {
	if r := os.Getenv("GOROOT"); r != "" {
		return r
	}
	out, _ := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out))
}
