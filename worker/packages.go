package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

var (
	// ErrReserved is why a package is refused that has the name of a built-in tool.
	ErrReserved = errors.New("worker: a tool of this name is built in; a package can't take its place")

	// ErrDamaged is why a stored package is not given out: it is not what was installed.
	ErrDamaged = errors.New("worker: the stored package is not what was installed; install it again")
)

// PackageDecision is whether the person is asked before a tool runs.
type PackageDecision string

const (
	PackageAsk    PackageDecision = "ask"
	PackageAlways PackageDecision = "always"
	PackageNever  PackageDecision = "never"
)

// PackageGrant is what the person allows one package. What a manifest wants is no grant.
type PackageGrant struct {
	// Files is what the tool may do with the files it is given, and at most what its
	// manifest wants. The zero value is none.
	Files FileAccess
	// Decision is kept for whoever asks the person; the zero value is [PackageAsk]. With
	// [PackageNever] no command is made.
	Decision PackageDecision
}

// PackageStore is where packages are kept: [MemoryStore], [FolderStore], or one of your own.
// Keys are lower-case names without a slash. Load and Delete of what is not there fail with
// [fs.ErrNotExist].
type PackageStore interface {
	Keys(ctx context.Context) ([]string, error)
	Load(ctx context.Context, key string) ([]byte, error)
	Save(ctx context.Context, key string, data []byte) error
	Delete(ctx context.Context, key string) error
}

// PackagesOptions configure Packages.
type PackagesOptions struct {
	// Reserved are the names of the built-in tools.
	Reserved []string
	Limits   PackageLimits
	// Max is how many packages may be installed. Default 100.
	Max int
}

// Packages are the tools that a person has installed.
type Packages struct {
	store PackageStore
	opts  PackagesOptions
	mu    sync.Mutex
}

// NewPackages gives the packages of a store.
func NewPackages(store PackageStore, opts PackagesOptions) *Packages {
	if opts.Max <= 0 {
		opts.Max = 100
	}
	opts.Limits = opts.Limits.filled()
	opts.Reserved = slices.Clone(opts.Reserved)
	return &Packages{store: store, opts: opts}
}

func (p *Packages) reserved(name string) bool {
	return slices.ContainsFunc(p.opts.Reserved, func(r string) bool { return strings.EqualFold(r, name) })
}

// Install reads a package and keeps it, in the place of one with the same name. It is granted
// nothing: the same ZIP again keeps its grant, another one under the name does not. A wanted
// hash, if not empty, must be the ZIP's SHA-256 in hexadecimal.
func (p *Packages) Install(ctx context.Context, zip []byte, wanted string) (*Package, error) {
	pkg, err := ReadPackage(ctx, zip, p.opts.Limits)
	if err != nil {
		return nil, err
	}
	if wanted != "" && !strings.EqualFold(wanted, pkg.SHA256) {
		return nil, protocol.Errorf(protocol.ErrSecurityViolation, "install", pkg.Name, "the ZIP's hash is %s, not %s", pkg.SHA256, wanted)
	}
	if p.reserved(pkg.Name) {
		return nil, fmt.Errorf("%s: %w", pkg.Name, ErrReserved)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, err := p.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(keys, pkg.Name) {
		if old, err := p.load(ctx, pkg.Name); err == nil && old.SHA256 == pkg.SHA256 {
			pkg.Granted = old.Granted
			return pkg, nil
		}
	} else if len(keys) >= p.opts.Max {
		return nil, tooLarge(pkg.Name, "%d packages are installed; remove one first", len(keys))
	}
	pkg.Granted = PackageGrant{Files: FilesNone, Decision: PackageAsk}
	return pkg, p.save(ctx, pkg)
}

// Get gives an installed package, checked against its hash.
func (p *Packages) Get(ctx context.Context, name string) (*Package, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.load(ctx, name)
}

// List gives the packages that can be used, by name. Those that can't are in the error, each
// with its reason; it is no reason not to use the others.
func (p *Packages) List(ctx context.Context) (list []*Package, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, err := p.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	slices.Sort(keys)
	var bad []error
	for _, key := range keys {
		pkg, err := p.load(ctx, key)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		list = append(list, pkg)
	}
	return list, errors.Join(bad...)
}

// Names are those of what is installed, sorted, without a look at whether it can be used.
func (p *Packages) Names(ctx context.Context) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, err := p.store.Keys(ctx)
	keys = slices.DeleteFunc(keys, func(k string) bool { return !packageName.MatchString(k) || p.reserved(k) })
	slices.Sort(keys)
	return keys, err
}

// Remove forgets a package.
func (p *Packages) Remove(ctx context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !packageName.MatchString(name) {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	return p.store.Delete(ctx, name)
}

// Grant sets what a package may do. More than its manifest wants is an error.
func (p *Packages) Grant(ctx context.Context, name string, grant PackageGrant) (*Package, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	pkg, err := p.load(ctx, name)
	if err != nil {
		return nil, err
	}
	if grant.Files == "" {
		grant.Files = FilesNone
	}
	if grant.Decision == "" {
		grant.Decision = PackageAsk
	}
	if err := grant.check(&pkg.Manifest); err != nil {
		return nil, err
	}
	pkg.Granted = grant
	return pkg, p.save(ctx, pkg)
}

func (g PackageGrant) check(m *Manifest) error {
	if !slices.Contains([]FileAccess{FilesNone, FilesRead, FilesWrite, FilesReadWrite}, g.Files) || !g.Files.within(m.Execution.FileAccess) {
		return protocol.Errorf(protocol.ErrInvalidParams, "grant", m.Name, "files %q: its manifest wants %q, and no more can be granted", g.Files, m.Execution.FileAccess)
	}
	if !slices.Contains([]PackageDecision{PackageAsk, PackageAlways, PackageNever}, g.Decision) {
		return protocol.Errorf(protocol.ErrInvalidParams, "grant", m.Name, "decision %q: want ask, always or never", g.Decision)
	}
	return nil
}

// A record is a line of JSON, and the ZIP behind it: one file, so that what is granted can't be
// another ZIP's.
type packageRecord struct {
	SHA256   string `json:"sha256"`
	Files    string `json:"files"`
	Decision string `json:"decision"`
}

func (p *Packages) save(ctx context.Context, pkg *Package) error {
	head, err := protocol.EncodeJSON(map[string]any{"sha256": pkg.SHA256, "files": string(pkg.Granted.Files), "decision": string(pkg.Granted.Decision)}, protocol.JSONLimits{})
	if err != nil {
		return err
	}
	return p.store.Save(ctx, pkg.Name, slices.Concat([]byte(head), []byte("\n"), pkg.zip))
}

func (p *Packages) load(ctx context.Context, name string) (*Package, error) {
	if !packageName.MatchString(name) {
		return nil, &fs.PathError{Op: "load", Path: name, Err: fs.ErrNotExist}
	}
	if p.reserved(name) {
		return nil, fmt.Errorf("%s: %w", name, ErrReserved)
	}
	data, err := p.store.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	damaged := fmt.Errorf("%s: %w", name, ErrDamaged)
	head, zip, ok := bytes.Cut(data, []byte("\n"))
	if !ok || len(head) > 1024 {
		return nil, damaged
	}
	var r packageRecord
	tree, err := protocol.ParseJSON(string(head), protocol.JSONLimits{})
	if err != nil || protocol.Unmarshal(tree, &r) != nil {
		return nil, damaged
	}
	var budget jsx.Budget
	if sum, err := hashOf(ctx, &budget, zip); err != nil {
		return nil, err
	} else if sum != r.SHA256 {
		return nil, damaged
	}
	pkg, err := ReadPackage(ctx, zip, p.opts.Limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	pkg.Granted = PackageGrant{FileAccess(r.Files), PackageDecision(r.Decision)}
	if pkg.Name != name || pkg.Granted.check(&pkg.Manifest) != nil {
		return nil, damaged
	}
	return pkg, nil
}

// Command returns a command that runs the package's tool: module must be its [Package.Wasm],
// compiled by an untrusted pool. params is checked against the manifest's schema. Of folder,
// which may be nil, the tool gets what was granted. The manifest's limits hold.
func (pkg *Package) Command(ctx context.Context, pool *Pool, module *Module, params any, folder fs.FS) (*Cmd, error) {
	if pool.opts.Trusted {
		return nil, protocol.Errorf(protocol.ErrCapabilityDenied, "run", pkg.Name, "a package runs in an untrusted pool only")
	}
	args, stdin, err := pkg.prepare(params)
	if err != nil {
		return nil, err
	}
	cmd := pkg.command(ctx, pool, module, args, folder)
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	return cmd, nil
}

func switchedOff(name string) error {
	return protocol.Errorf(protocol.ErrCapabilityDenied, "run", name, "the person has switched the tool off")
}

// command has what is granted, and the manifest's limits.
func (pkg *Package) command(ctx context.Context, pool *Pool, module *Module, args []string, folder fs.FS) *Cmd {
	cmd := pool.Command(ctx, module, pkg.Name, args...)
	cmd.Owner = "package:" + pkg.Name
	cmd.FS = pkg.mount(folder)
	cmd.Limits = Limits{Time: pkg.Execution.Timeout, Memory: pkg.Execution.MemoryLimit}
	return cmd
}

func (pkg *Package) prepare(params any) ([]string, string, error) {
	if pkg.Granted.Decision == PackageNever {
		return nil, "", switchedOff(pkg.Name)
	}
	return pkg.Args(params)
}

// mount narrows a folder to what was granted.
func (pkg *Package) mount(folder fs.FS) fs.FS {
	if folder == nil {
		return nil
	}
	switch pkg.Granted.Files {
	case FilesRead:
		return readOnlyFS{folder}
	case FilesReadWrite:
		return folder
	case FilesWrite:
		if w, ok := folder.(WriteFS); ok {
			return dropFS{w}
		}
	}
	return nil
}
