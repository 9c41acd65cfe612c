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
	"slices"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/worker"
)

// toolbox is the commands that there are: those of tools/tools.json, which make wasitools
// builds, each fetched when it is first run, and those that the person installed.
type toolbox struct {
	pool     *worker.Pool
	packages *worker.Packages
	built    *command.Runner
	bundles  []bundle
	names    []string // of the built ones
	own      map[string]*worker.Package
	modules  map[string]*worker.Module // of own, by hash
}

// bundle is a program of several tools, as tools.json has it.
type bundle struct {
	Name, File, SHA256 string
	Size               int64
	Tools              []struct{ Name, Description, Licence, Version string }
}

var _ sandbox.CommandRunner = (*toolbox)(nil)

func newToolbox(ctx context.Context) (*toolbox, error) {
	text, err := fetch(ctx, "tools/tools.json")
	if err != nil { // the page works without them too
		failed(err)
		text = []byte("{}")
	}
	var file struct{ Binaries []bundle }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	b := &toolbox{bundles: file.Binaries, own: map[string]*worker.Package{}, modules: map[string]*worker.Module{}}
	commands, sums := map[string]string{}, map[string]string{}
	for _, x := range file.Binaries {
		sums[x.File] = x.SHA256
		for _, t := range x.Tools {
			commands[t.Name] = x.File
			b.names = append(b.names, t.Name)
		}
	}
	if b.pool, err = worker.NewPool(ctx, worker.Options{}); err != nil {
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
	if len(commands) == 0 {
		return b, nil
	}
	b.built, err = command.New(b.pool, command.Options{Commands: commands, Fetch: func(ctx context.Context, file string) ([]byte, error) {
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

// Commands is part of [sandbox.CommandRunner].
func (b *toolbox) Commands() []string {
	list := slices.Clone(b.names)
	for name := range b.own {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// RunCommand runs a tool, and tells what it says as it says it.
func (b *toolbox) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	sandbox.Tell(ctx, "runs "+c.Name)
	c.Stdout, c.Stderr = told{ctx, c.Stdout}, told{ctx, c.Stderr}
	pkg := b.own[c.Name]
	switch {
	case pkg != nil:
		return b.run(ctx, pkg, c)
	case b.built == nil:
		return 0, protocol.Errorf(protocol.ErrExecution, "run", c.Name, "there is no such command").WithReason(protocol.ReasonNotFound)
	}
	return b.built.RunCommand(ctx, c)
}

// run runs a package, with what was granted to it and no more.
func (b *toolbox) run(ctx context.Context, pkg *worker.Package, c sandbox.Command) (int, error) {
	m := b.modules[pkg.SHA256]
	if m == nil {
		var err error
		if m, err = b.pool.Compile(ctx, pkg.Wasm()); err != nil {
			return 0, err
		}
		b.modules[pkg.SHA256] = m
	}
	cmd, err := pkg.ShellCommand(ctx, b.pool, m, c.Args, nil)
	if c.FS != nil && err == nil {
		cmd, err = pkg.ShellCommand(ctx, b.pool, m, c.Args, c.FS)
	}
	if err != nil {
		return 0, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	err = cmd.Run()
	var exit *worker.ExitError
	switch {
	case err == nil:
		return 0, nil
	case context.Cause(ctx) != nil:
		return 0, context.Cause(ctx)
	case errors.As(err, &exit) && exit.Exited() && exit.Code == protocol.ErrExecution:
		return exit.ExitCode(), nil
	case errors.As(err, &exit):
		return 0, protocol.Errorf(exit.Code, "run", pkg.Name, "%w", err)
	}
	return 0, protocol.Errorf(protocol.ErrExecution, "run", pkg.Name, "%w", err)
}

// told is a stream whose lines are told too.
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

// rules are the policy's, with the person's decisions about packages before them.
func (b *toolbox) rules(p protocol.Policy) *protocol.Policy {
	p.Rules = slices.Clone(p.Rules)
	for name, pkg := range b.own {
		action := map[worker.PackageDecision]protocol.Action{worker.PackageAlways: protocol.ActionAllow, worker.PackageNever: protocol.ActionDeny}[pkg.Granted.Decision]
		if action == "" {
			action = protocol.ActionAsk
		}
		p.Rules = append(p.Rules, protocol.Rule{Permission: string(protocol.ShellRun), Pattern: name, Action: action})
	}
	return &p
}

// fetch gets a file of this page's own.
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

// bytesOf reads a response or a file.
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
