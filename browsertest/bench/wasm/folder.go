//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
)

// folders adds the functions for the fs.* benches, over folders of the origin private file system
// that the page has filled. Times are in milliseconds, measured in Go.
func folders(all js.Value) {
	ctx := context.Background()
	api := js.Global().Get("Object").New()
	all.Set("fs", api)
	timed := func(name string, run func(args []js.Value) error) {
		api.Set(name, promise(func(args []js.Value) (any, error) {
			start := time.Now()
			err := run(args)
			return ms(start), err
		}))
	}
	open := func(dir string) (*fsaccess.Folder, error) { return fsaccess.OPFS(ctx, "bench/"+dir) }
	want := func(got, want int) error {
		if got != want {
			return fmt.Errorf("%d, want %d", got, want)
		}
		return nil
	}
	var flat, deep, some, store *fsaccess.Folder
	var journal *fsaccess.Journal
	api.Set("openFolders", promise(func([]js.Value) (any, error) {
		for dir, f := range map[string]**fsaccess.Folder{"flat": &flat, "deep": &deep, "some": &some, "store": &store} {
			var err error
			if *f, err = open(dir); err != nil {
				return nil, err
			}
		}
		journal = fsaccess.NewJournal(some, store, fsaccess.JournalOptions{})
		return nil, nil
	}))
	timed("list", func([]js.Value) error {
		list, err := fsaccess.List(ctx, flat, ".")
		if err != nil {
			return err
		}
		return want(len(list), 10_000)
	})
	timed("walk", func([]js.Value) error {
		n := 0
		for e, err := range fsaccess.Walk(ctx, deep, ".", fsaccess.WalkOptions{}) {
			if err != nil {
				return err
			}
			if !e.Dir {
				n++
			}
		}
		return want(n, 10_000)
	})
	needle := regexp.MustCompile("needle 13$")
	timed("grep", func([]js.Value) error {
		n := 0
		for _, err := range fsaccess.Grep(ctx, deep, ".", needle, fsaccess.GrepOptions{}) {
			if err != nil {
				return err
			}
			n++
		}
		return want(n, 103)
	})
	timed("read", func([]js.Value) error {
		data, err := some.ReadFile("big")
		if err != nil {
			return err
		}
		return want(len(data), 100<<20)
	})
	var big []byte
	timed("write", func([]js.Value) error {
		if big == nil { // in the first round, which does not count
			big = make([]byte, 100<<20)
		}
		return some.WriteFile("ours", big, 0o644)
	})
	n := 0
	note := bytes.Repeat([]byte("text of a note\n"), 300)
	// small(n) writes n small files.
	timed("small", func(args []js.Value) error {
		n++
		for i := range args[0].Int() {
			if err := some.WriteFile(fmt.Sprint("o", i), fmt.Appendf(nil, "content %d %d", i, n), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	// again(n) changes one file n times. journaled(n) does the same with a journal, so each change
	// can be undone.
	change := func(to func() fsaccess.FS, name string) func([]js.Value) error {
		return func(args []js.Value) error {
			for range args[0].Int() {
				n++
				if err := to().WriteFile(name, append(note, byte(n), byte(n>>8)), 0o644); err != nil {
					return err
				}
			}
			return nil
		}
	}
	timed("again", change(func() fsaccess.FS { return some }, "plain"))
	timed("journaled", change(func() fsaccess.FS { return journal }, "journaled"))
	timed("copy", func([]js.Value) error {
		return fsaccess.Copy(ctx, some, "copy", some, "huge", fsaccess.CopyOptions{})
	})
}
