package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// bareFrames is the text for the floor of a document.
const bareFrames = "floor: two bare srcdoc frames"

func runDocument(ctx context.Context, e *Env) ([]Row, error) {
	if _, err := e.Build(ctx, filepath.Join(e.Root, "browsertest"), "./bench/wasm", "bench"); err != nil {
		return nil, err
	}
	var rows []Row
	if e.Wants("document.create") || e.Wants("document.chunk_to_height") {
		page, err := openDocuments(ctx, e)
		if err != nil {
			return nil, err
		}
		defer page.Close()
		if e.Wants("document.create") {
			s := samples{}
			if err := page.Call(ctx, "createDocuments", &s, e.Rounds(40)); err != nil {
				return nil, err
			}
			rows = append(rows, newRow("document.create", s.median("ours"), s.median("floor"), bareFrames, "ms", 1.2))
		}
		if e.Wants("document.chunk_to_height") {
			var took []float64
			if err := page.Call(ctx, "heights", &took, e.Rounds(240)); err != nil {
				return nil, err
			}
			slices.Sort(took)
			p95 := took[len(took)*95/100]
			const twoFrames = 2 * 1000.0 / 60
			rows = append(rows, newRow("document.chunk_to_height", p95, twoFrames, "budget: two frames of 60 Hz; ours is the 95th percentile", "ms", 1))
		}
	}
	if e.Wants("document.memory.200sections") {
		row, err := documentMemory(ctx, e)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func openDocuments(ctx context.Context, e *Env) (*Page, error) {
	page, err := e.Open(ctx, "/document.html")
	if err != nil {
		return nil, err
	}
	if err := page.Call(ctx, "prepareDocuments", nil); err != nil {
		page.Close()
		return nil, err
	}
	return page, nil
}

// documentMemory compares the memory that a conversation adds to the browser's renderer processes
// (proportional set size, after a garbage collection, with the Go heap) with the memory that the
// same HTML adds in two bare frames. Each is measured in a page of its own that already runs the
// program.
func documentMemory(ctx context.Context, e *Env) (Row, error) {
	text, err := os.ReadFile(filepath.Join(e.Root, "examples", "markdown", "answers", "folder.md"))
	if err != nil {
		return Row{}, err
	}
	s := samples{}
	for range e.Rounds(8) {
		for _, who := range []string{"ours", "floor"} {
			page, err := openDocuments(ctx, e)
			if err != nil {
				return Row{}, err
			}
			added, err := adds(ctx, e, page, who, string(text))
			page.Close()
			if err != nil {
				return Row{}, err
			}
			s[who] = append(s[who], added)
		}
	}
	return newRow("document.memory.200sections", s.median("ours"), s.median("floor"), bareFrames+" with the same HTML", "MB", 1.5), nil
}

func adds(ctx context.Context, e *Env, page *Page, who, text string) (float64, error) {
	before, err := renderers(ctx, e, page)
	if err != nil {
		return 0, err
	}
	if err := page.Call(ctx, "fill", nil, who, text, 200); err != nil {
		return 0, err
	}
	after, err := renderers(ctx, e, page)
	return after - before, err
}

func renderers(ctx context.Context, e *Env, page *Page) (float64, error) {
	for range 3 {
		if _, err := page.Eval(ctx, `(async () => { gc(); await new Promise((done) => setTimeout(done, 200)); })()`); err != nil {
			return 0, err
		}
	}
	time.Sleep(500 * time.Millisecond)
	return held(e)
}

// held returns the proportional set size of the renderer processes, in MB.
func held(e *Env) (float64, error) {
	list, err := browser.Processes(e.browser.PID())
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, p := range list {
		if p.Kind == "renderer" {
			sum += p.Bytes
		}
	}
	if sum == 0 {
		return 0, fmt.Errorf("no renderer among %d processes", len(list))
	}
	return float64(sum) / 1e6, nil
}
