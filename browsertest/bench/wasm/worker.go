//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/worker"
)

// workers adds the functions for the worker.*, wasi.* and pool.* benches. Times are in
// milliseconds, from Go's call until Go has the whole result.
func workers(all js.Value) {
	ctx := context.Background()
	api := js.Global().Get("Object").New()
	all.Set("worker", api)
	var pool *worker.Pool
	var module *worker.Module
	var wasm []byte
	var dir *fsaccess.Folder
	run := func(in io.Reader, out io.Writer, mode worker.FileMode, arg ...string) (*worker.Cmd, error) {
		cmd := pool.Command(ctx, module, "bench", arg...)
		cmd.Stdin, cmd.Stdout, cmd.Files = in, out, mode
		if dir != nil {
			cmd.FS = dir
		}
		return cmd, cmd.Run()
	}
	timed := func(name string, fn func(args []js.Value) error) {
		api.Set(name, promise(func(args []js.Value) (any, error) {
			start := time.Now()
			err := fn(args)
			return ms(start), err
		}))
	}
	// open(trusted, bytes, max) opens a pool with the module.
	api.Set("open", promise(func(args []js.Value) (any, error) {
		wasm = make([]byte, args[1].Get("length").Int())
		js.CopyBytesToGo(wasm, args[1])
		dir = nil
		var err error
		limits := worker.Limits{Time: 5 * time.Minute, Output: 1 << 30, Entries: 200_000}
		if pool, err = worker.NewPool(ctx, worker.Options{Trusted: args[0].Bool(), Max: args[2].Int(), Limits: limits}); err != nil {
			return nil, err
		}
		module, err = pool.Compile(ctx, wasm)
		return nil, err
	}))
	api.Set("close", promise(func([]js.Value) (any, error) { return nil, pool.Close() }))
	timed("noop", func([]js.Value) error {
		_, err := run(nil, nil, worker.AutoFiles)
		return err
	})
	// anew() compiles a module that has not been compiled before, and runs it.
	n := byte(0)
	timed("anew", func([]js.Value) error {
		n++
		m, err := pool.Compile(ctx, append(bytes.Clone(wasm), 0, 2, 1, n)) // a custom section makes it a different module
		if err != nil {
			return err
		}
		defer m.Close()
		return pool.Command(ctx, m, "bench").Run()
	})
	// fill(n, size) writes n files, f/0 to f/n-1, of size bytes each.
	api.Set("fill", promise(func(args []js.Value) (any, error) {
		dir = fsaccess.NewMemory(fsaccess.MemoryOptions{})
		if err := dir.Mkdir("f", 0o755); err != nil {
			return nil, err
		}
		for i := range args[0].Int() {
			if err := dir.WriteFile(fmt.Sprint("f/", i), bytes.Repeat([]byte("x"), args[1].Int()), 0o644); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
	// files(n, mode) and sha256() return the time from the mount to the result.
	timed("files", func(args []js.Value) error {
		var out strings.Builder
		_, err := run(nil, &out, worker.FileMode(args[1].Int()), "files", fmt.Sprint(args[0].Int()))
		if want := fmt.Sprintln(args[0].Int() * 100); err == nil && out.String() != want {
			err = fmt.Errorf("%q, want %q", out.String(), want)
		}
		return err
	})
	timed("sha256", func([]js.Value) error {
		var out strings.Builder
		_, err := run(nil, &out, worker.SnapshotFiles, "sha256", "f/0")
		if err == nil && len(out.String()) != 65 {
			err = errors.New("no sum: " + out.String())
		}
		return err
	})
	// work(n, parallel) runs n commands, so many of them in parallel.
	timed("work", func(args []js.Value) error {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var failed error
		next := make(chan int)
		for range args[1].Int() {
			wg.Go(func() {
				for range next {
					if _, err := run(nil, nil, worker.AutoFiles, "work", "30000000"); err != nil {
						mu.Lock()
						failed = err
						mu.Unlock()
					}
				}
			})
		}
		for i := range args[0].Int() {
			next <- i
		}
		close(next)
		wg.Wait()
		return failed
	})
	pipelines(api, func() (*worker.Pool, *worker.Module) { return pool, module })
}

var stages = [][]string{{"cat"}, {"grep", "e"}, {"sort"}, {"uniq"}}

// pipelines adds cat | grep | sort | uniq -c, as a whole and in its parts.
func pipelines(api js.Value, at func() (*worker.Pool, *worker.Module)) {
	ctx := context.Background()
	// The text repeats a megabyte, so that it adds nothing to the measured memory.
	var block []byte
	var times int
	text := func() io.Reader {
		list := make([]io.Reader, times)
		for i := range list {
			list[i] = bytes.NewReader(block)
		}
		return io.MultiReader(list...)
	}
	api.Set("text", promise(func(args []js.Value) (any, error) {
		times, block = args[0].Int()>>20, nil
		words := []string{"the", "keep", "wall", "gate", "court", "ditch", "stone", "bailey"}
		for i := 0; len(block) < 1<<20; i++ {
			block = fmt.Appendf(block, "%s %s %d\n", words[i%8], words[i/8*7%8], i*i%1000)
		}
		return nil, nil
	}))
	api.Set("parts", promise(func([]js.Value) (any, error) {
		pool, module := at()
		in := text()
		start := time.Now()
		for _, arg := range stages {
			var out bytes.Buffer
			cmd := pool.Command(ctx, module, "bench", arg...)
			cmd.Stdin, cmd.Stdout = in, &out
			if err := cmd.Run(); err != nil {
				return nil, err
			}
			in = &out
		}
		return ms(start), nil
	}))
	api.Set("pipe", promise(func([]js.Value) (any, error) {
		pool, module := at()
		var out bytes.Buffer
		in := text()
		var cmds []*worker.Cmd
		start := time.Now()
		for i, arg := range stages {
			cmd := pool.Command(ctx, module, "bench", arg...)
			cmd.Stdin = in
			if i == len(stages)-1 {
				cmd.Stdout = &out
			} else {
				p, err := cmd.StdoutPipe()
				if err != nil {
					return nil, err
				}
				in = p
			}
			cmds = append(cmds, cmd)
		}
		for _, c := range cmds {
			if err := c.Start(); err != nil {
				return nil, err
			}
		}
		for _, c := range cmds {
			if err := c.Wait(); err != nil {
				return nil, err
			}
		}
		took := ms(start)
		if out.Len() == 0 {
			return nil, errors.New("no output")
		}
		return took, nil
	}))
	// memory() returns the most memory of the page that Go has used, in MB. Go never returns memory
	// to the page.
	api.Set("memory", promise(func([]js.Value) (any, error) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20), nil
	}))
}
