// Browsertest runs Go tests compiled with GOOS=js GOARCH=wasm in a real browser:
//
//	GOOS=js GOARCH=wasm go test -exec browsertest ./...
//
// README.md in the module's folder says what it can do and how to set it up.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/bailey-go/bailey/internal/browsertest/browser"
	"github.com/bailey-go/bailey/internal/browsertest/runner"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o := runner.Options{
		Args:    os.Args[1:],
		Browser: browser.Options{Engine: browser.Engine(os.Getenv("BROWSERTEST_ENGINE"))},
		Console: os.Getenv("BROWSERTEST_CONSOLE") == "1",
	}
	if os.Getenv("BROWSERTEST_DEBUG") == "1" {
		o.Browser.Logf = func(f string, args ...any) { fmt.Fprintf(os.Stderr, "browsertest: "+f+"\n", args...) }
	}
	code, err := runner.Run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "browsertest:", err)
		if code == 0 {
			code = 2
		}
	}
	os.Exit(code)
}
