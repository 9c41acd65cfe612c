package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// workers returns a suite with those rows of runWorkers whose ids begin with prefix.
func workers(prefix string) func(context.Context, *Env) ([]Row, error) {
	return func(ctx context.Context, e *Env) ([]Row, error) { return runWorkers(ctx, e, prefix) }
}

// runWorkers times commands. Their program is wasi.c, built with clang and wasi-libc.
func runWorkers(ctx context.Context, e *Env, prefix string) ([]Row, error) {
	shim, err := e.Peer("@bjorn3/browser_wasi_shim")
	if err != nil {
		return nil, err
	}
	nested := filepath.Join(e.Root, "browsertest")
	if _, err := e.Build(ctx, nested, "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	source := filepath.Join(nested, "bench", "testdata", "wasi.c")
	for out, args := range map[string][]string{"wasi.wasm": {"--target=wasm32-wasi", "-O2"}, "wasi": {"-O2"}} {
		cmd := exec.CommandContext(ctx, "clang", append(args, "-o", filepath.Join(e.dir, out), source)...)
		if msg, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("clang: %w (make testwasm says what is needed)\n%s", err, msg)
		}
	}
	const bare, budget = "floor: a bare worker and the posted module", "budget: 2 ms, a worker waits"
	type bench struct {
		id, call string
		trusted  bool
		rounds   int
		args     []any
		rows     func(samples) []Row
	}
	one := func(id, theirs, peer string, goal float64) func(samples) []Row {
		return func(s samples) []Row { return []Row{newRow(id, s.median("ours"), s.median(theirs), peer, "ms", goal)} }
	}
	size := 50 << 20 // bytes of text through the pipeline
	if e.Quick {
		size = 5 << 20
	}
	var rows []Row
	for _, b := range []bench{
		{"worker.start.fresh.trusted", "fresh", true, 80, nil, one("worker.start.fresh.trusted", "floor", bare, 1.2)},
		{"worker.start.fresh.untrusted", "untrusted", false, 60, nil, one("worker.start.fresh.untrusted", "floor", "floor: a bare worker in a bare frame that compiles the bytes", 1.3)},
		{"worker.start.warm", "warm", true, 60, nil, func(s samples) []Row {
			return []Row{newRow("worker.start.warm", s.median("ours"), 2, budget, "ms", 1), newRow("worker.start.warm", s.median("ours"), s.median("floor"), bare, "ms", 0),
				newRow("worker.start.warm", s.median("ours"), s.median("hops"), "four bare messages: to a waiting worker, to the one below it, and back", "ms", 0)}
		}},
		{"worker.start.warm.untrusted", "warm", false, 60, nil, one("worker.start.warm.untrusted", "floor", bare, 0)},
		{"wasi.sha256.64m", "sha256", true, 8, nil, func(s samples) []Row {
			rows := one("wasi.sha256.64m", "peer", shim+", in a worker", 1)(s)
			if native, err := e.native(ctx); err == nil {
				rows = append(rows, newRow("wasi.sha256.64m", s.median("ours"), native, "the same C, native", "ms", 0))
			}
			return rows
		}},
		{"wasi.files.10k", "files", true, 12, nil, func(s samples) []Row {
			return append(one("wasi.files.10k", "peer", shim+" in a worker, in-memory; ours is a snapshot", 1)(s),
				newRow("wasi.files.10k.lazy", s.median("lazy"), s.median("peer"), shim+" in a worker, in-memory; ours asks the host for each", "ms", 0))
		}},
		{"pool.8x", "work", true, 8, nil, func(s samples) []Row {
			r := newRow("pool.8x", 1/s.median("ours"), 1/s.median("one"), "throughput of one worker; 8 at once on the cores there are", "1/ms", 1.6)
			r.HigherIsBetter = true
			return []Row{r}
		}},
		{"pool.pipeline.50m", "pipe", true, 4, []any{size}, func(s samples) []Row {
			return append(one("pool.pipeline.50m", "parts", "the sum of its parts: cat, grep, sort, uniq -c, one after the other", 1.3)(s),
				newRow("pool.pipeline.50m.memory", s.median("memory"), 16, "budget: 16 MB more of the page's memory than after 1 MB through the same pipe", "MB", 1))
		}},
	} {
		if !strings.HasPrefix(b.id, prefix) || !e.Wants(b.id) {
			continue
		}
		page, err := e.Open(ctx, "/worker.html")
		if err != nil {
			return nil, err
		}
		s := samples{}
		err = page.Call(ctx, "load", nil, b.trusted, 8)
		if err == nil {
			err = page.Call(ctx, b.call, &s, append([]any{max(2, e.Rounds(b.rounds))}, b.args...)...)
		}
		page.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.id, err)
		}
		rows = append(rows, b.rows(s)...)
	}
	return rows, nil
}

// native returns the time of the native build, in milliseconds.
func (e *Env) native(ctx context.Context) (float64, error) {
	file := filepath.Join(e.dir, "64m")
	if err := os.WriteFile(file, make([]byte, 64<<20), 0o600); err != nil {
		return 0, err
	}
	var took []float64
	for range 5 {
		start := time.Now()
		if err := exec.CommandContext(ctx, filepath.Join(e.dir, "wasi"), "sha256", file).Run(); err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(start).Microseconds())/1000)
	}
	return median(took), nil
}
