package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `wasm_exec makes a Go program a page that starts well.

  wasm_exec build PKG -o DIR    compile, name by content, compress
  wasm_exec dev PKG             build, serve, and reload the page after each change
  wasm_exec serve DIR           serve built pages on this machine
  wasm_exec headers -for nginx  print the headers as server configuration
  wasm_exec enclave -o DIR      write an enclave's own page, to serve by itself
  wasm_exec apps -o DIR         write the proxy for pages of tools, for an origin of its own
  wasm_exec init DIR            write a page to begin with: -template hello, chat or agent
  wasm_exec size DIR -max SIZE  fail if a page has grown too big

wasm_exec COMMAND -h lists a command's flags.
`

// errUsage ends the command with exit code 2. Its message has already been printed.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "wasm_exec:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return errUsage
	}
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"build":   buildCommand,
		"dev":     devCommand,
		"serve":   serveCommand,
		"headers": headersCommand,
		"enclave": enclaveCommand,
		"apps":    appsCommand,
		"init":    initCommand,
		"size":    sizeCommand,
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	}
	c, ok := commands[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "wasm_exec: there is no command %q\n\n%s", args[0], usage)
		return errUsage
	}
	return c(ctx, args[1:], stdout, stderr)
}

// parse parses flags and arguments in any order, so that both "build PKG -o DIR" and "build -o
// DIR PKG" work. It returns the arguments, of which there must be count, or at least one if count
// is negative.
func parse(f *flag.FlagSet, args []string, stderr io.Writer, count int, names string) ([]string, error) {
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprintf(stderr, "usage: wasm_exec %s %s\n", f.Name(), names)
		f.PrintDefaults()
	}
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, errUsage
		}
		if f.NArg() == 0 {
			break
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
	if len(rest) != count && (count >= 0 || len(rest) == 0) {
		fmt.Fprintf(stderr, "wasm_exec %s: wants %s, got %d argument(s)\n", f.Name(), names, len(rest))
		f.Usage()
		return nil, errUsage
	}
	return rest, nil
}
