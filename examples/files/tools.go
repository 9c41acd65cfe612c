//go:build js && wasm

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/worker"
)

// tools gives the commands of tools/tools.json, which make wasitools builds: each program
// is fetched when one of its commands is first run. nil: there are none.
func (a *app) tools() (sandbox.CommandRunner, error) {
	text, err := fetch(a.ctx, "tools/tools.json")
	if err != nil {
		return nil, err
	}
	var file struct {
		Binaries []struct {
			File, SHA256 string
			Tools        []struct{ Name string }
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	commands, sums := map[string]string{}, map[string]string{}
	for _, b := range file.Binaries {
		sums[b.File] = b.SHA256
		for _, t := range b.Tools {
			commands[t.Name] = b.File
		}
	}
	if len(commands) == 0 {
		return nil, nil
	}
	pool, err := worker.NewPool(a.ctx, worker.Options{})
	if err != nil {
		return nil, err
	}
	return command.New(pool, command.Options{Commands: commands, Fetch: func(ctx context.Context, file string) ([]byte, error) {
		status("Fetching " + file)
		wasm, err := fetch(ctx, "tools/"+file)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != sums[file] {
			return nil, fmt.Errorf("%s is not what tools.json says", file)
		}
		return wasm, nil
	}})
}

// fetch gets a file of this page's own.
func fetch(ctx context.Context, path string) ([]byte, error) {
	response, err := await(ctx, js.Global().Call("fetch", path))
	if err != nil {
		return nil, err
	}
	if !response.Get("ok").Bool() {
		return nil, fmt.Errorf("%s: %d", path, response.Get("status").Int())
	}
	buffer, err := await(ctx, response.Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	bytes := js.Global().Get("Uint8Array").New(buffer)
	out := make([]byte, bytes.Length())
	js.CopyBytesToGo(out, bytes)
	return out, nil
}

func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type settled struct {
		v   js.Value
		err error
	}
	done := make(chan settled, 1)
	var well, badly js.Func
	settle := func(s settled) {
		well.Release()
		badly.Release()
		done <- s
	}
	well = js.FuncOf(func(_ js.Value, args []js.Value) any { settle(settled{v: args[0]}); return nil })
	badly = js.FuncOf(func(_ js.Value, args []js.Value) any {
		settle(settled{err: js.Error{Value: args[0]}})
		return nil
	})
	promise.Call("then", well, badly)
	select {
	case s := <-done:
		return s.v, s.err
	case <-ctx.Done():
		return js.Value{}, context.Cause(ctx)
	}
}
