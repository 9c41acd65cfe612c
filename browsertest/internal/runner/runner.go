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

// Options describe a run. The zero value of each field but Args is usable.
type Options struct {
	// Args are the test binary and its arguments, as go test gives them.
	Args []string
	// Browser says which browser to use.
	Browser browser.Options
	// Stdout and Stderr are the binary's; os.Stdout and os.Stderr if nil.
	Stdout, Stderr io.Writer
	// Console sends what the page writes to its console to Stderr too.
	Console bool
	// Worker runs the binary in a dedicated worker of its page.
	Worker bool
}

// startLimit is how long a page may take from its opening until it asks for
// its orders, on a machine that is busy with other packages' tests.
const startLimit = 60 * time.Second

// hangGrace is what the binary's own alarm gets, after its time is up, to stop
// the test and print the trace. It cannot if Go never yields to the page.
const hangGrace = 10 * time.Second

// Run runs the binary and returns its exit code. An error means that the
// binary could not be run, or that it ended in another way than by exiting.
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

// events connects what the browser says about the page to its output.
func (p *testPage) events(console bool) browser.Events {
	return browser.Events{
		Console: func(kind, text string) {
			if kind == "exception" {
				return // the harness reports these in every engine
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

// wait waits for the end of the page, for whatever reason it ends.
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

// unstick stops a Go program that never yields. In Chromium that brings the
// page's event loop back, and with it the alarm of the testing package, which
// says which tests were running before it exits.
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

// maxEnv is what wasm_exec.js permits for arguments and environment together,
// less a margin.
const maxEnv = 7 << 10

// pageEnv is the environment for the page. wasm_exec.js has room for 8 KB; if
// the whole does not fit, the longest variables are left out, and it says so.
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

// goroot is the toolchain's folder: go test sets GOROOT for what it runs.
func goroot() string {
	if r := os.Getenv("GOROOT"); r != "" {
		return r
	}
	out, _ := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out))
}
