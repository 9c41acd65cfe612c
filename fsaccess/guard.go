package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Decision is what a policy says.
type Decision string

const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Access is the capability that an operation needs.
type Access string

const (
	Read  Access = "fs.read"
	Write Access = "fs.write"
)

// PathPolicy decides by capability and path. Write does not imply Read. A
// folder above an allowed path must be allowed to be read, if it is to be
// found by listing.
type PathPolicy interface {
	DecidePath(access Access, name string) Decision
}

// PathFunc is a PathPolicy of one function.
type PathFunc func(access Access, name string) Decision

func (f PathFunc) DecidePath(a Access, name string) Decision { return f(a, name) }

// AllPaths allows every path that the guard itself does not protect.
var AllPaths = PathFunc(func(Access, string) Decision { return Allow })

// GuardPolicy is what a guard goes by. The zero value allows nothing.
type GuardPolicy struct {
	// Paths decides by path; nil denies all.
	Paths PathPolicy
	// Kinds decides on dangerous kinds of new content, see [Kind]; a kind
	// that is not in it is asked about.
	Kinds map[Kind]Decision
	// Ask puts a question to the person; nil means that nobody is there, and
	// every ask is a deny.
	Ask func(ctx context.Context, q Question) (bool, error)
	// GitConfig allows to write .git/config, which is protected otherwise.
	GitConfig bool

	MaxWrite int64 // bytes of one file; 0 means 256 MiB
	MaxBytes int64 // bytes by which the folder may grow; 0 means 4 GiB
	MaxFiles int   // files and folders that may be made; 0 means 100,000
}

// Question is what the person is asked.
type Question struct {
	Access Access
	Op     string // "read", "write", "create", "remove", "rename", "mkdir"
	Path   string
	To     string // of a rename
	Kinds  []Kind // why the content is dangerous, if that is the question
}

// GuardError is a refusal: what was tried, and which rule said no. It is
// [ErrDenied], [ErrProtected], [ErrKind], [ErrBadName], [ErrQuota] or
// [ErrTooLarge]. A refusal is final: asking the same again gives the same.
type GuardError struct {
	Rule string
	Err  error
}

func (e *GuardError) Error() string { return e.Err.Error() + " (" + e.Rule + ")" }
func (e *GuardError) Unwrap() error { return e.Err }

// Guard puts a policy before a folder. Whatever the policy says, it refuses
// names that could escape or deceive, writes to the files that tools and shells
// execute (see [Protected]), and changes over the limits.
func Guard(fsys FS, p GuardPolicy) *Folder {
	if p.MaxWrite == 0 {
		p.MaxWrite = 256 << 20
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = 4 << 30
	}
	if p.MaxFiles == 0 {
		p.MaxFiles = 100_000
	}
	v := viewOf(fsys)
	return &Folder{view{c: &guard{core: v.rooted(), p: p}, dir: ".", ctx: v.ctx}}
}

type guard struct {
	core
	p GuardPolicy

	mu    sync.Mutex
	grown int64
	made  int
}

func refuse(err error, format string, args ...any) error {
	return &GuardError{fmt.Sprintf(format, args...), err}
}

func (g *guard) features() Features {
	ft := g.core.features()
	ft.Staged = true
	return ft
}

func (g *guard) close() error {
	if c, ok := g.core.(closer); ok {
		return c.close()
	}
	return nil
}

func (g *guard) path(a Access, name string) Decision {
	if g.p.Paths == nil {
		return Deny
	}
	return g.p.Paths.DecidePath(a, name)
}

// decide turns a decision into an error, asking if need be.
func (g *guard) decide(ctx context.Context, d Decision, q Question, no error, rule string) error {
	switch {
	case d == Allow:
		return nil
	case d != Ask:
		return refuse(no, "%s", rule)
	case g.p.Ask == nil:
		return refuse(no, "%s; nobody to ask", rule)
	}
	ok, err := g.p.Ask(ctx, q)
	if err != nil {
		return errors.Join(refuse(no, "%s; the question was not answered", rule), err)
	}
	if !ok {
		return refuse(no, "%s; the person refused", rule)
	}
	return nil
}

func (g *guard) read(ctx context.Context, name string) error {
	return g.decide(ctx, g.path(Read, name), Question{Access: Read, Op: "read", Path: name}, ErrDenied, string(Read))
}

// change is the check before any change at a path.
func (g *guard) change(ctx context.Context, op, name, to string) error {
	for _, p := range []string{name, to} {
		if p == "" {
			continue
		}
		if why := badName(p); why != "" {
			return refuse(ErrBadName, "%s", why)
		}
		if rule := g.protected(p); rule != "" {
			return refuse(ErrProtected, "%s", rule)
		}
	}
	q := Question{Access: Write, Op: op, Path: name, To: to}
	d := g.path(Write, name)
	if to != "" && d != Deny {
		if e := g.path(Write, to); e != Allow {
			d = e
		}
	}
	return g.decide(ctx, d, q, ErrDenied, string(Write))
}

func (g *guard) protected(name string) string {
	rule := Protected(name)
	if rule == ".git/config" && g.p.GitConfig && strings.HasSuffix(name, ".git/config") {
		return ""
	}
	return rule
}

// fresh is the check before a new name appears: one that looks like another is
// refused, and there may be too many.
func (g *guard) fresh(ctx context.Context, name string) error {
	if err := g.room(0, 1, true); err != nil {
		return err
	}
	base := baseOf(name)
	if isASCII(base) {
		return nil
	}
	list, err := g.core.readDir(ctx, parentOf(name))
	if err != nil {
		return nil // there is no folder to deceive anybody in
	}
	look := skeleton(base)
	for _, e := range list {
		if e.Name() != base && skeleton(e.Name()) == look {
			return refuse(ErrBadName, "looks like %q", e.Name())
		}
	}
	return nil
}

// room accounts for growth; try only asks.
func (g *guard) room(bytes int64, files int, try bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytes > 0 && g.grown+bytes > g.p.MaxBytes {
		return refuse(ErrQuota, "the folder may grow by %d bytes", g.p.MaxBytes)
	}
	if files > 0 && g.made+files > g.p.MaxFiles {
		return refuse(ErrQuota, "%d files and folders may be made", g.p.MaxFiles)
	}
	if !try {
		g.grown = max(0, g.grown+bytes)
		g.made = max(0, g.made+files)
	}
	return nil
}

// content checks what is about to become a file's content. old is the file's
// name and content so far: an edit does not need consent for what the file
// was already.
func (g *guard) content(ctx context.Context, name string, kinds []Kind, oldName string, old core) error {
	if len(kinds) == 0 {
		return nil
	}
	if old != nil {
		was, err := kindsOf(ctx, old, oldName)
		if err != nil {
			return err
		}
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return slices.Contains(was, k) })
	}
	for _, k := range kinds {
		d, ok := g.p.Kinds[k]
		if !ok {
			d = Ask
		}
		q := Question{Access: Write, Op: "write", Path: name, Kinds: []Kind{k}}
		if err := g.decide(ctx, d, q, ErrKind, string(k)); err != nil {
			return err
		}
	}
	return nil
}

func (g *guard) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	// What may be neither read nor asked for is not there to be seen.
	if g.path(Read, name) == Deny && g.path(Write, name) == Deny && name != "." {
		return nil, refuse(ErrDenied, "%s", Read)
	}
	return g.core.stat(ctx, name)
}

func (g *guard) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if err := g.read(ctx, name); err != nil {
		return nil, err
	}
	list, err := g.core.readDir(ctx, name)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return g.path(Read, join(name, e.Name())) == Deny }), nil
}

func (g *guard) readFile(ctx context.Context, name string) ([]byte, error) {
	if err := g.read(ctx, name); err != nil {
		return nil, err
	}
	return g.core.readFile(ctx, name)
}

func (g *guard) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if readable(flag) {
		if err := g.read(ctx, name); err != nil {
			return nil, err
		}
	}
	if !writable(flag) && flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		f, err := g.core.open(ctx, name, flag, perm)
		if err != nil {
			return nil, err
		}
		if fi, err := f.Stat(); err == nil && fi.IsDir() {
			f.Close()
			return &dirFile{info: fi, list: func() ([]fs.DirEntry, error) { return g.readDir(ctx, name) }}, nil
		}
		return f, nil
	}
	if err := g.change(ctx, "write", name, ""); err != nil {
		return nil, err
	}
	fi, err := g.core.stat(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case err == nil && fi.IsDir():
		return nil, errIsDir
	case notExist(err) && flag&os.O_CREATE != 0:
		if err := writeWhole(ctx, g, name, nil, perm); err != nil {
			return nil, err
		}
		if fi, err = g.core.stat(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case flag&os.O_TRUNC != 0 && !writable(flag):
		if err := writeWhole(ctx, g, name, nil, perm); err != nil {
			return nil, err
		}
	default:
		if err := mayWrite(ctx, g.core, name, flag); err != nil {
			return nil, err
		}
	}
	if !writable(flag) {
		return g.core.open(ctx, name, os.O_RDONLY, 0)
	}
	return newStaged(ctx, &unreadGuard{g}, name, flag, perm, func() (File, error) { return g.core.open(ctx, name, os.O_RDONLY, 0) }, fi)
}

// unreadGuard is for the inside of a write: putting the written bytes into the
// rest of the file is no reading by the caller.
type unreadGuard struct{ *guard }

func (u *unreadGuard) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	return u.core.open(ctx, name, flag, perm)
}
func (u *unreadGuard) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	return u.core.stat(ctx, name)
}

func (g *guard) mayWrite(ctx context.Context, name string) error {
	if err := g.change(ctx, "write", name, ""); err != nil {
		return err
	}
	return mayWrite(ctx, g.core, name, os.O_WRONLY)
}

func (g *guard) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	fi, err := g.core.stat(ctx, name)
	op, size := "write", int64(0)
	switch {
	case err == nil && fi.IsDir():
		return nil, errIsDir
	case err == nil:
		size = fi.Size()
	case notExist(err):
		op, size = "create", -1
	default:
		return nil, err
	}
	if err := g.change(ctx, op, name, ""); err != nil {
		return nil, err
	}
	if size < 0 {
		if err := g.fresh(ctx, name); err != nil {
			return nil, err
		}
	}
	r, err := g.core.replace(ctx, name, perm)
	if err != nil {
		return nil, err
	}
	return &guardReplacement{replacement: r, g: g, name: name, before: size}, nil
}

type guardReplacement struct {
	replacement
	g      *guard
	name   string
	before int64 // -1: a new file
	size   int64
	head   []byte
}

func (r *guardReplacement) Write(p []byte) (int, error) {
	if r.size+int64(len(p)) > r.g.p.MaxWrite {
		return 0, refuse(ErrTooLarge, "one file may have %d bytes", r.g.p.MaxWrite)
	}
	if err := r.g.room(r.size+int64(len(p))-max(0, r.before), 0, true); err != nil {
		return 0, err
	}
	n, err := r.replacement.Write(p)
	r.size += int64(n)
	if room := inspectMax - len(r.head); room > 0 {
		r.head = append(r.head, p[:min(n, room)]...)
	}
	return n, err
}

func (r *guardReplacement) commit(ctx context.Context) error {
	kinds := classify(r.name, r.head, r.size)
	var old core
	files := 0
	if r.before >= 0 {
		old = r.g.core
	} else {
		files = 1
	}
	if err := r.g.content(ctx, r.name, kinds, r.name, old); err != nil {
		return err
	}
	grow := r.size - max(0, r.before)
	if err := r.g.room(grow, files, false); err != nil {
		return err
	}
	if err := r.replacement.commit(ctx); err != nil {
		_ = r.g.room(-grow, -files, false)
		return err
	}
	return nil
}

func (g *guard) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if err := g.change(ctx, "mkdir", name, ""); err != nil {
		return err
	}
	if err := g.fresh(ctx, name); err != nil {
		return err
	}
	if err := g.core.mkdir(ctx, name, perm); err != nil {
		return err
	}
	return g.room(0, 1, false)
}

func (g *guard) remove(ctx context.Context, name string) error {
	size, err := g.mayRemove(ctx, name)
	if err != nil {
		return err
	}
	if err := g.core.remove(ctx, name); err != nil {
		return err
	}
	return g.room(-size, -1, false)
}

func (g *guard) removeAll(ctx context.Context, name string) error {
	size, err := g.mayRemove(ctx, name)
	if err != nil {
		return err
	}
	if err := g.core.removeAll(ctx, name); err != nil {
		return err
	}
	return g.room(-size, 0, false)
}

// mayRemove also looks below: what is protected is not removed with a folder
// above it.
func (g *guard) mayRemove(ctx context.Context, name string) (size int64, err error) {
	if err := g.change(ctx, "remove", name, ""); err != nil {
		return 0, err
	}
	err = g.below(ctx, name, func(e Entry) error {
		size += e.Size
		if rule := g.protected(e.Path); rule != "" {
			return refuse(ErrProtected, "%s, in it", rule)
		}
		if g.path(Write, e.Path) == Deny {
			return refuse(ErrDenied, "%s of %s, in it", Write, e.Path)
		}
		return nil
	})
	return size, err
}

// below visits a file, or all in a folder.
func (g *guard) below(ctx context.Context, name string, do func(Entry) error) error {
	fi, err := g.core.stat(ctx, name)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return do(entryOf(name, fi))
	}
	var derr error
	err = walkCore(ctx, g.core, name, pageSize, func(page []Entry) bool {
		for _, e := range page {
			if e.Size == badFolder {
				e.Size = 0
			}
			if derr = do(e); derr != nil {
				return false
			}
		}
		return true
	})
	if derr != nil {
		return derr
	}
	return err
}

func (g *guard) rename(ctx context.Context, from, to string) error {
	if err := g.change(ctx, "rename", from, to); err != nil {
		return err
	}
	if err := g.fresh(ctx, to); err != nil {
		return err
	}
	err := g.below(ctx, from, func(e Entry) error {
		next := to + e.Path[len(from):]
		for _, p := range []string{e.Path, next} {
			if rule := g.protected(p); rule != "" {
				return refuse(ErrProtected, "%s, in it", rule)
			}
			if g.path(Write, p) == Deny {
				return refuse(ErrDenied, "%s of %s", Write, p)
			}
		}
		if e.Dir {
			return nil
		}
		if g.path(Read, next) != Deny && g.path(Read, e.Path) == Deny {
			// A rename must not make readable what may not be read.
			return refuse(ErrDenied, "%s of %s", Read, e.Path)
		}
		kinds, err := kindsOfAs(ctx, g.core, e.Path, next)
		if err != nil {
			return err
		}
		return g.content(ctx, next, kinds, e.Path, g.core)
	})
	if err != nil {
		return err
	}
	return g.core.rename(ctx, from, to)
}

func (g *guard) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	c, ok := g.core.(chmodder)
	if !ok {
		return errUnsupported
	}
	if err := g.change(ctx, "chmod", name, ""); err != nil {
		return err
	}
	return c.chmod(ctx, name, mode)
}

func (g *guard) chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	c, ok := g.core.(chtimer)
	if !ok {
		return errUnsupported
	}
	if err := g.change(ctx, "chtimes", name, ""); err != nil {
		return err
	}
	return c.chtimes(ctx, name, atime, mtime)
}

func (g *guard) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	if err := g.read(ctx, root); err != nil {
		return err
	}
	skip := ""
	return walkCore(ctx, g.core, root, page, func(list []Entry) bool {
		kept := list[:0]
		for _, e := range list {
			if skip != "" && within(skip, e.Path) {
				continue
			}
			if g.path(Read, e.Path) == Deny {
				if e.Dir {
					skip = e.Path
				}
				continue
			}
			kept = append(kept, e)
		}
		return len(kept) == 0 || yield(kept)
	})
}
