package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/command"
	"github.com/bailey-go/bailey/worker"
)

// Toolbox is the commands of the page. The built ones are listed in tools/tools.json, which make
// wasitools writes, and fetched at the first run. The others are packages that the user installed.
type Toolbox struct {
	packages *worker.Packages
	run      *command.Runner
	bundles  []bundle
	names    []string // of the built commands
}

// bundle is a program that contains several tools, an entry of tools.json.
type bundle struct {
	Name, File string
	Size       int64
	Tools      []struct{ Name, Description, Licence, Version string }
}

var _ sandbox.CommandAsker = (*Toolbox)(nil)

// NewToolbox reads the list of the built commands, and the installed packages.
func NewToolbox(ctx context.Context) (*Toolbox, error) {
	const list = "tools/tools.json"
	b := &Toolbox{}
	var o command.Options
	text, err := dom.Fetch(ctx, list)
	if err != nil { // the page also works without them
		dom.Failed(err)
	} else {
		var file struct{ Binaries []bundle }
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("tools.json: %w", err)
		}
		b.bundles = file.Binaries
	}
	if len(b.bundles) > 0 { // a page that was built without tools has an empty list
		if o, err = command.Catalogue(ctx, func(ctx context.Context, name string) ([]byte, error) {
			if name == list {
				return text, nil
			}
			sandbox.ReportProgress(ctx, "fetching "+strings.TrimPrefix(name, "tools/"))
			return dom.Fetch(ctx, name)
		}, list); err != nil {
			return nil, err
		}
		b.names = slices.Sorted(maps.Keys(o.Commands))
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
	o.Packages = b.packages
	b.run, err = command.New(pool, o)
	return b, err
}

// Commands implements [sandbox.CommandRunner].
func (b *Toolbox) Commands() []string { return b.run.Commands() }

// RunCommand runs a tool, and reports each line of its output as progress.
func (b *Toolbox) RunCommand(ctx context.Context, c sandbox.Command) (int, error) {
	sandbox.ReportProgress(ctx, "runs "+c.Name)
	c.Stdout, c.Stderr = told{ctx, c.Stdout}, told{ctx, c.Stderr}
	return b.run.RunCommand(ctx, c)
}

// AskCommand implements [sandbox.CommandAsker]. It returns a question for packages, whose programs
// are not Bailey's.
func (b *Toolbox) AskCommand(ctx context.Context, name string) (reason, key string, err error) {
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
		sandbox.ReportProgress(t.ctx, strings.TrimRight(line, "\n"))
	}
	if t.w == nil {
		return len(p), nil
	}
	return t.w.Write(p)
}

// Built reports whether commands were built into this page.
func (b *Toolbox) Built() bool { return len(b.names) > 0 }
