package main

import (
	"context"
	"path/filepath"
	"slices"
)

// conversions are the loops over data whose size a model, a file or a server chooses, by their names in
// wasm/pause.go.
var conversions = []string{"html.brackets", "html.nested", "html.tags", "diff", "edit", "grep", "shell.sort", "shell.sed", "shell.grep",
	"secrets", "kinds.zip", "kinds.gzip", "kinds.markup", "json"}

// runPauses measures how long the page is blocked while data of the largest allowed size is converted. The result is
// the longest pause of all rounds, compared with 50 ms.
func runPauses(ctx context.Context, e *Env) ([]Row, error) {
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "conversions", "-tags=conversions"); err != nil {
		return nil, err
	}
	page, err := e.Open(ctx, "/sandbox.html")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	if err := page.Call(ctx, "load", nil, "conversions"); err != nil {
		return nil, err
	}
	var rows []Row
	for _, name := range conversions {
		if !e.Wants("pause." + name) {
			continue
		}
		s := samples{}
		if err := page.Call(ctx, "pauses", &s, e.Rounds(4), name); err != nil {
			return nil, err
		}
		rows = append(rows, newRow("pause."+name, slices.Max(append(s["ours"], 0)), 50, "budget: 50 ms without a turn for the page", "ms", 1))
	}
	return rows, nil
}
