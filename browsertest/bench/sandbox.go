package main

import (
	"context"
	"path/filepath"
	"slices"
)

// runSandbox times the box against its budgets: the cost of a call beside its tool's own work, the
// time to open a stored session, and the time from a stop to the end of a run.
func runSandbox(ctx context.Context, e *Env) ([]Row, error) {
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	page, err := e.Open(ctx, "/sandbox.html")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	if err := page.Call(ctx, "load", nil, "bench"); err != nil {
		return nil, err
	}
	var rows []Row
	for _, f := range []figure{
		{"sandbox.call", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "calls", &s, e.Rounds(32), 200)
			return []Row{newRow("sandbox.call", s.median("ours")-s.median("bare"), 0.3, "budget: 0.3 ms beside the tool's own work", "ms", 1)}, err
		}},
		{"sandbox.session.10k", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "sessions", &s, e.Rounds(16), 10_000)
			return []Row{newRow("sandbox.session.10k", s.median("ours"), 300, "budget: 300 ms to open 10,000 messages from IndexedDB", "ms", 1)}, err
		}},
		{"sandbox.stop", func(ctx context.Context, page *Page) ([]Row, error) {
			s := samples{}
			err := page.Call(ctx, "stops", &s, e.Rounds(32))
			return []Row{newRow("sandbox.stop", slices.Max(append(s["ours"], 0)), 100, "budget: 100 ms to the end of a run whose tool does not heed the stop; ours is the longest", "ms", 1)}, err
		}},
	} {
		if !e.Wants(f.id) {
			continue
		}
		got, err := f.rows(ctx, page)
		if err != nil {
			return nil, err
		}
		rows = append(rows, got...)
	}
	return rows, nil
}
