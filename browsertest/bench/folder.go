package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"
)

// runFolders times fsaccess over the origin private file system, and plain JavaScript for the same
// task over the same files.
func runFolders(ctx context.Context, e *Env) ([]Row, error) {
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	page, err := e.Open(ctx, "/fs.html")
	if err != nil {
		return nil, err
	}
	defer page.Close()
	if err := page.Call(ctx, "begin", nil); err != nil {
		return nil, err
	}
	const js = "floor: plain JavaScript, "
	var rows []Row
	filled := map[string]bool{}
	for _, c := range []struct {
		id, what, fill, peer string
		rounds               int
		goal                 float64
	}{
		{"fs.list.10k", "list", "flat", js + "64 files asked at once", 8, 1.25},
		{"fs.walk.10k", "walk", "deep", js + "64 files and 8 folders asked at once", 8, 0},
		{"fs.grep.10k", "grep", "deep", js + "64 files read at once, a RegExp for each line", 6, 0},
		{"fs.read.100m", "read", "", js + "arrayBuffer", 16, 1.2},
		{"fs.write.100m", "write", "", js + "createWritable", 16, 1.4},
		{"fs.smallwrites.1k", "small", "", js + "createWritable, one after another", 6, 0},
	} {
		if !e.Wants(c.id) {
			continue
		}
		if c.fill != "" && !filled[c.fill] {
			filled[c.fill] = true
			if err := page.Call(ctx, "fill", nil, c.fill); err != nil {
				return nil, err
			}
		}
		s := samples{}
		if err := page.Call(ctx, "compareFolders", &s, c.what, e.Rounds(c.rounds)); err != nil {
			return nil, err
		}
		rows = append(rows, newRow(c.id, s.median("ours"), s.median("floor"), c.peer, "ms", c.goal))
	}
	if e.Wants("fs.journal.write") {
		s := samples{}
		if err := page.Call(ctx, "journal", &s, e.Rounds(24)); err != nil {
			return nil, err
		}
		rows = append(rows, newRow("fs.journal.write", s.median("ours")/50, s.median("floor")/50, "ours without a journal, a change of 4.5 KB", "ms", 2))
	}
	if e.Wants("fs.copy.memory") {
		row, err := copyMemory(ctx, e, page)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// copyMemory returns the most memory that all the renderer processes use beyond their use before,
// while a file of 1 GiB is copied.
func copyMemory(ctx context.Context, e *Env, page *Page) (Row, error) {
	const mib = 1 << 10
	if err := page.Call(ctx, "huge", nil, mib); err != nil {
		return Row{}, fmt.Errorf("a file of %d MiB, which the quota must allow: %w", mib, err)
	}
	before, err := renderers(ctx, e, page)
	if err != nil {
		return Row{}, err
	}
	done := make(chan error, 1)
	go func() { done <- page.Call(ctx, "copyHuge", nil) }()
	most := []float64{0}
	for {
		select {
		case err := <-done:
			var size int
			if err == nil {
				err = page.Call(ctx, "copied", &size)
			}
			if err == nil && size != mib<<20 {
				err = fmt.Errorf("the copy has %d bytes", size)
			}
			return newRow("fs.copy.memory", slices.Max(most), 64, "budget: 64 MB of the page's process while 1 GiB is copied", "MB", 1), err
		case <-time.After(50 * time.Millisecond):
			now, err := held(e)
			if err != nil {
				return Row{}, err
			}
			most = append(most, now-before)
		}
	}
}
