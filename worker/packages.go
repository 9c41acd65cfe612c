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
	// ErrReserved is returned for a package that has the name of a built-in tool.
	ErrReserved = errors.New("worker: a tool of this name is built in; a package can't replace it")

	// ErrDamaged is returned for a stored package that differs from the installed one.
	ErrDamaged = errors.New("worker: the stored package differs from the installed one; install it again")
)

// PackageDecision is whether the user is asked before a tool runs.
type PackageDecision string

const (
	// PackageAsk means that the caller asks the user before each run. It is the default.
	PackageAsk PackageDecision = "ask"
	// PackageAlways means that the caller runs the tool without a question.
	PackageAlways PackageDecision = "always"
	// PackageNever means that the user has switched the tool off. [Package.Command] returns
	// [protocol.ErrCapabilityDenied].
	PackageNever PackageDecision = "never"
)

// PackageGrant is the user's permission for one package. The access that a manifest requests is not
// granted by itself.
type PackageGrant struct {
	// Files is the tool's access to the files it is given, at most the access that its manifest
	// requests. The zero value is [FilesNone].
	Files FileAccess
	// Decision is stored for the caller, which asks the user. The zero value is [PackageAsk]. With
	// [PackageNever] no command is made.
	Decision PackageDecision
}

// PackageStore stores packages. Use [MemoryStore], [FolderStore] or an implementation of your own.
// Keys are lower-case names without a slash, such as "my-tool". If a key does not exist, Load and
// Delete return an error that wraps [fs.ErrNotExist].
type PackageStore interface {
	// Keys returns all keys, in any order.
	Keys(ctx context.Context) ([]string, error)
	// Load returns the data of a key.
	Load(ctx context.Context, key string) ([]byte, error)
	// Save stores data under a key, and replaces earlier data.
	Save(ctx context.Context, key string, data []byte) error
	// Delete removes a key.
	Delete(ctx context.Context, key string) error
}

// PackagesOptions are the options of [NewPackages].
type PackagesOptions struct {
	// Reserved are the names of the built-in tools, which no package can have.
	Reserved []string
	// Limits bound each package.
	Limits PackageLimits
	// Max is the most packages that may be installed. Default 100.
	Max int
}

// Packages are the tools that the user has installed. Its methods can be called from several
// goroutines.
type Packages struct {
	store PackageStore
	opts  PackagesOptions
	mu    sync.Mutex
}

// NewPackages returns the packages of a store.
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

// Install parses and checks a package, and stores it. It replaces a package with the same name. A package is
// installed without permission: only the same ZIP, installed again, keeps its grant. wanted, if not
// empty, must be the ZIP's SHA-256 in hexadecimal; otherwise Install returns
// [protocol.ErrSecurityViolation]. It refuses a package with any of these faults:
//
//   - a name that leads out of the package, occurs twice or differs from another by case only
//   - a name of more than 255 bytes, or with control characters
//   - a link or an encrypted file
//   - a file that unpacks to more bytes than its header gives, or to far more than packed
//   - bytes before, behind or between the archive's files
//   - a local header that differs from the archive's directory
//   - a module that is no WebAssembly
//
// These errors are [protocol.ErrInvalidParams]. Others are [ErrReserved], and
// [protocol.ErrResourceLimit] over a limit of [PackageLimits] or [PackagesOptions].Max. In a page Install
// yields to other goroutines and events while it unpacks, so do not call it in a callback. If ctx ends,
// Install returns its error.
func (p *Packages) Install(ctx context.Context, zip []byte, wanted string) (*Package, error) {
	pkg, err := readPackage(ctx, zip, p.opts.Limits)
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

// Get returns an installed package. Its content is checked against the stored hash. The errors are
// [ErrDamaged], [ErrReserved], and [fs.ErrNotExist] if it is not installed.
func (p *Packages) Get(ctx context.Context, name string) (*Package, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.load(ctx, name)
}

// List returns the usable packages, sorted by name. The error joins the reasons of the packages
// that can't be used. The returned list is valid even if the error is not nil.
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

// Names returns the names of the stored packages, sorted. It does not check whether a package can
// be used.
func (p *Packages) Names(ctx context.Context) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	keys, err := p.store.Keys(ctx)
	keys = slices.DeleteFunc(keys, func(k string) bool { return !packageName.MatchString(k) || p.reserved(k) })
	slices.Sort(keys)
	return keys, err
}

// Remove deletes a package. The error wraps [fs.ErrNotExist] if it is not installed, and
// [fs.ErrInvalid] if the name is not valid.
func (p *Packages) Remove(ctx context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !packageName.MatchString(name) {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrInvalid}
	}
	return p.store.Delete(ctx, name)
}

// Grant sets the user's permission for a package, and returns the package. It returns
// [protocol.ErrInvalidParams] if the permission is more than the package's manifest requests.
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

// packageRecord is the line of JSON before the ZIP. Both are in one file, so that a grant can't be
// combined with another ZIP.
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
	pkg, err := readPackage(ctx, zip, p.opts.Limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	pkg.Granted = PackageGrant{FileAccess(r.Files), PackageDecision(r.Decision)}
	if pkg.Name != name || pkg.Granted.check(&pkg.Manifest) != nil {
		return nil, damaged
	}
	return pkg, nil
}

// Command returns a command that runs the package's tool. module must be its [Package.Wasm],
// compiled by an untrusted pool. params is checked against the manifest's schema. folder may be
// nil. The tool gets only the granted access to it. The manifest's limits apply.
// [protocol.ErrCapabilityDenied] is returned for a trusted pool and for [PackageNever], and
// [protocol.ErrInvalidParams] for params that do not match.
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
	return protocol.Errorf(protocol.ErrCapabilityDenied, "run", name, "the user switched the tool off")
}

// command returns a command with the granted files and the manifest's limits.
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

// mount returns folder narrowed to the granted access, or nil if none is granted.
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
