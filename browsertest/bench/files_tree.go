package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// ourTree is a script that records the times from a drop until rows of the folder are painted, and
// until all of it is listed. Any row counts, because a browser returns files in their order on the
// disk.
const ourTree = `void document.addEventListener("drop", () => {
	const began = performance.now(), took = {};
	const look = () => {
		took.first ??= document.querySelector("#tree [data-path^='file-']") ? performance.now() - began : undefined;
		if (document.getElementById("status").textContent === "Open: huge") took.all = performance.now() - began;
		took.all ? globalThis.benchTook = took : requestAnimationFrame(look);
	};
	look();
}, true)`

// bareTree is a script that records the times of the browser itself: until the first name, and
// until the last.
const bareTree = `void document.addEventListener("drop", async (e) => {
	e.preventDefault();
	e.stopImmediatePropagation();
	const began = performance.now(), took = {};
	const folder = await e.dataTransfer.items[0].getAsFileSystemHandle();
	for await (const _ of folder.values()) took.first ??= performance.now() - began;
	took.all = performance.now() - began;
	globalThis.benchTook = took;
}, true)`

// treePaint measures the time from the drop of a folder with 50,000 files on the page until rows of
// it are painted, and until it is listed. It compares them with the bare browser's times, in turns.
func treePaint(ctx context.Context, e *Env, origin string) ([]Row, error) {
	files := filepath.Join(e.dir, "huge")
	if err := os.Mkdir(files, 0o777); err != nil {
		return nil, err
	}
	for i := range 50_000 {
		if err := os.WriteFile(filepath.Join(files, fmt.Sprintf("file-%05d.txt", i)), []byte("x"), 0o666); err != nil {
			return nil, err
		}
	}
	s := samples{}
	for round := range e.Rounds(8) {
		for i := range 2 {
			name, script := "ours", ourTree
			if (i+round)%2 == 1 {
				name, script = "bare", bareTree
			}
			if err := dropped(ctx, origin, script, files, name, s); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return []Row{
		newRow("files.tree.50k.first_paint", s.median("ours.first"), 200, "budget: 200 ms from the drop of a folder with 50,000 files to its first rows", "ms", 1),
		newRow("files.tree.50k.first_name", s.median("ours.first"), s.median("bare.first"), "the bare browser's first name, from the same drop", "ms", 0),
		newRow("files.tree.50k.listed", s.median("ours.all"), s.median("bare.all"), "the bare browser's listing of all 50,000", "ms", 0),
	}, nil
}

// dropped drops the folder on a page of a new browser: the page opens the folder of an earlier visit by itself.
func dropped(ctx context.Context, origin, script, files, name string, s samples) error {
	b, err := e2e.Launch(ctx, e2e.Options{WriteGrants: []string{origin}})
	if err != nil {
		return err
	}
	defer b.Close()
	page, err := b.Page(ctx, origin+"/")
	if err != nil {
		return err
	}
	defer page.Close()
	if err := page.WaitFor(ctx, `document.getElementById("tour").disabled === false`); err != nil {
		return err
	}
	if err := page.Eval(ctx, script, nil); err != nil {
		return err
	}
	if err := page.Drop(ctx, "body", files); err != nil {
		return err
	}
	limit, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := page.WaitFor(limit, `!!globalThis.benchTook`); err != nil {
		return fmt.Errorf("the folder was never listed: %w", err)
	}
	var took struct{ First, All float64 }
	if err := page.Eval(ctx, `({ First: benchTook.first, All: benchTook.all })`, &took); err != nil {
		return err
	}
	s[name+".first"] = append(s[name+".first"], took.First)
	s[name+".all"] = append(s[name+".all"], took.All)
	return nil
}
