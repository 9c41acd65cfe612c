package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	prefix := flag.String("run", os.Getenv("BENCH"), "run what has this prefix, or begins this prefix, only")
	quick := flag.Bool("quick", os.Getenv("BENCH_QUICK") == "1", "few rounds: to try a suite, not to publish")
	out := flag.String("o", "", "results file (default bench/results.json in the repository)")
	base := flag.String("base", os.Getenv("BASE"), "run by turns with this commit and compare, and write no results")
	rounds := flag.Int("rounds", 3, "with -base, how often each side runs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := func() error {
		if *base == "" {
			return run(ctx, *prefix, *out, *quick)
		}
		root, err := repository(ctx)
		if err != nil {
			return err
		}
		return against(ctx, root, *base, *prefix, max(1, *rounds), os.Stdout)
	}(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, prefix, out string, quick bool) error {
	root, err := repository(ctx)
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(root, "bench", "results.json")
	}
	kept, err := readRows(out)
	if err != nil {
		return err
	}
	env := &Env{Root: root, Prefix: prefix, Quick: quick}
	defer env.Close()
	var ran []timed
	machine := newQuiet()
	for _, s := range suites {
		if !env.Wants(s.prefix) {
			continue
		}
		machine.look("before " + s.prefix + "*")
		start := time.Now()
		rows, failed := s.run(ctx, env)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.prefix, failed))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s took %.0f s\n", s.prefix, time.Since(start).Seconds())
		printTable(os.Stdout, rows)
		ran = append(ran, timed{s.prefix, rows, len(machine.looks) - 1})
	}
	if len(ran) == 0 && err == nil {
		return fmt.Errorf("no suite for %q: there are %s", prefix, strings.Join(suiteNames(), ", "))
	}
	machine.look("at the end")
	if quick {
		fmt.Fprintln(os.Stderr, "bench: quick: results are not written")
		return err
	}
	// A suite that failed, or that ran beside other work, takes nothing from the others.
	rows, loaded := machine.sound(ran)
	// One run beside a run of another day shows where to look. By turns (-base) it is proof.
	if changes := slices.DeleteFunc(compare(kept, rows), func(c change) bool { return !c.worse() }); len(changes) > 0 {
		fmt.Fprintln(os.Stderr, "bench: worse than the results that were kept (BASE=commit compares by turns):")
		report(os.Stderr, changes)
	}
	if len(rows) > 0 {
		loaded = errors.Join(loaded, writeRows(out, merge(kept, rows)))
	}
	return errors.Join(err, loaded)
}

// repository returns the folder of the main module. The working folder must be in it.
func repository(ctx context.Context) (string, error) {
	b, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/bailey-go/bailey").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w (run it in browsertest)", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// A suite returns rows whose ids begin with its prefix.
type suite struct {
	prefix string
	run    func(context.Context, *Env) ([]Row, error)
}

var suites = []suite{
	{"markdown.", runMarkdown},
	{"document.", runDocument},
	{"page.", runPage},
	{"enclave.", runEnclave},
	{"fs.", runFolders},
	{"worker.", workers("worker.")},
	{"wasi.", workers("wasi.")},
	{"pool.", workers("pool.")},
	{"files.", runFiles},
	{"sandbox.", runSandbox},
	{"pause.", runPauses},
	{"shell.", runShell},
}

func suiteNames() []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.prefix+"*")
	}
	return names
}
