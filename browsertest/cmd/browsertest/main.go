// Browsertest runs Go tests compiled with GOOS=js GOARCH=wasm in a real browser:
//
//	GOOS=js GOARCH=wasm go test -exec browsertest ./...
//
// README.md in the module's folder describes its features and its installation.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/runner"
)

const usage = `Usage: GOOS=js GOARCH=wasm go test -exec "browsertest [flags]" [packages]

Runs js/wasm test binaries in a page of a real browser.

`

func main() { os.Exit(run()) }

func run() int {
	flags := flag.NewFlagSet("browsertest", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	engine := flags.String("engine", os.Getenv("BROWSERTEST_ENGINE"), "chromium, firefox or webkit (BROWSERTEST_ENGINE); chromium if empty")
	console := flags.Bool("console", os.Getenv("BROWSERTEST_CONSOLE") == "1", "show all that the page writes to its console (BROWSERTEST_CONSOLE=1)")
	worker := flags.Bool("worker", os.Getenv("BROWSERTEST_WORKER") == "1", "run the tests in a worker of the page (BROWSERTEST_WORKER=1)")
	debug := flags.Bool("debug", os.Getenv("BROWSERTEST_DEBUG") == "1", "show what the browser prints (BROWSERTEST_DEBUG=1)")
	browserArgs := flags.String("args", os.Getenv("BROWSERTEST_ARGS"), "further arguments for the browser, separated by spaces (BROWSERTEST_ARGS)")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return 2
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return 2
	}
	// go test sends SIGQUIT to a binary that exceeds its time-out.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go watchParent(cancel)
	defer adopt()()

	o := runner.Options{
		Args:    flags.Args(),
		Console: *console,
		Worker:  *worker,
		Browser: browser.Options{Engine: browser.Engine(*engine), Args: strings.Fields(*browserArgs)},
	}
	if *debug {
		o.Browser.Logf = func(f string, args ...any) { fmt.Fprintf(os.Stderr, "browsertest: "+f+"\n", args...) }
	}
	code, err := runner.Run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "browsertest:", err)
		if code == 0 {
			code = 2
		}
	}
	return code
}

// watchParent ends the run if go test is killed, which sends no signal to its children.
func watchParent(cancel func()) {
	parent := os.Getppid()
	if parent <= 1 {
		return
	}
	for os.Getppid() == parent {
		time.Sleep(250 * time.Millisecond)
	}
	cancel()
}
