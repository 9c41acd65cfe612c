//go:build js && wasm

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/worker"
)

// toolbox is the commands of the page. The built ones are listed in tools/tools.json, which make
// wasitools writes, and fetched at the first run. The others are packages that the user installed.
type toolbox struct {
	packages *worker.Packages
	run      *command.Runner
	bundles  []bundle
	names    []string // the names of the built commands
}

// bundle is a program that contains several tools, an entry of tools.json.
type bundle struct {
	Name, File, SHA256 string
	Size               int64
	Tools              []struct{ Name, Description, Licence, Version string }
}

var _ sandbox.CommandAsker = (*toolbox)(nil)

func newToolbox(ctx context.Context) (*toolbox, error) {
	text, err := fetch(ctx, "tools/tools.json")
	if err != nil { // the page also works without them
		failed(err)
		text = []byte("{}")
	}
	var file struct{ Binaries []bundle }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	b := &toolbox{bundles: file.Binaries}
	commands, sums := map[string]string{}, map[string]string{}
	for _, x := range file.Binaries {
		sums[x.File] = x.SHA256
		for _, t := range x.Tools {
			commands[t.Name] = x.File
			b.names = append(b.names, t.Name)
		}
	}
	pool, err := worker.NewPool(ctx, worker.Options{})
	if err != nil {
		return nil, err
	}
	store := worker.MemoryStore()
	folder, err := fsaccess.OPFS(ctx, "tool-packages")
	if err == nil {
		store = worker.FolderStore(folder, ".")
	} else if !errors.Is(err, errors.ErrUnsupported) {
		return nil, err
	}
	b.packages = worker.NewPackages(store, worker.PackagesOptions{Reserved: b.names})
	b.run, err = command.New(pool, command.Options{Commands: commands, Packages: b.packages, Fetch: func(ctx context.Context, file string) ([]byte, error) {
		sandbox.Tell(ctx, "fetching "+file)
		wasm, err := fetch(ctx, "tools/"+file)
		if err != nil {
			return nil, err
		}
		if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != sums[file] {
			return nil, fmt.Errorf("%s is not what tools.json says; load the page again", file)
		}
		return wasm, nil
	}})
	return b, err
}

// Commands implements [sandbox.CommandRunner].
func (b *toolbox) Commands() []string { return b.run.Commands() }

// RunCommand runs a tool, and reports each line of its output as progress.
func (b *toolbox) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	sandbox.Tell(ctx, "runs "+c.Name)
	c.Stdout, c.Stderr = told{ctx, c.Stdout}, told{ctx, c.Stderr}
	return b.run.RunCommand(ctx, c)
}

// AskCommand implements [sandbox.CommandAsker]. It returns a question for packages, whose programs
// are not Bailey's.
func (b *toolbox) AskCommand(ctx context.Context, name string) (reason, key string, err error) {
	return b.run.AskCommand(ctx, name)
}

// told is a writer that also reports each line as progress. It passes on all data, and reports at
// most the first 2,000 bytes of each write.
type told struct {
	ctx context.Context
	w   io.Writer
}

func (t told) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p[:min(len(p), 2000)])) {
		sandbox.Tell(t.ctx, strings.TrimRight(line, "\n"))
	}
	if t.w == nil {
		return len(p), nil
	}
	return t.w.Write(p)
}

// fetch returns a file of this page's own server.
func fetch(ctx context.Context, path string) ([]byte, error) {
	response, err := await(ctx, js.Global().Call("fetch", path))
	if err != nil {
		return nil, fmt.Errorf("%s can't be fetched: there is no network, and no copy of it here", path)
	}
	if !response.Get("ok").Bool() {
		return nil, fmt.Errorf("%s: the server answered %d", path, response.Get("status").Int())
	}
	return bytesOf(ctx, response)
}

// bytesOf returns the bytes of a response or a file.
func bytesOf(ctx context.Context, from js.Value) ([]byte, error) {
	buffer, err := await(ctx, from.Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	bytes := js.Global().Get("Uint8Array").New(buffer)
	out := make([]byte, bytes.Length())
	js.CopyBytesToGo(out, bytes)
	return out, nil
}
