package fsaccess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/protocol"
)

// GuardOptions configures a guard beside the path policy. The zero value is strict: each
// dangerous kind of content needs an answer, and without Ask the answer is no.
type GuardOptions struct {
	// Kinds contains the decision for each dangerous kind of new content, see [Kind]. The
	// default for a kind is [protocol.ActionAsk].
	Kinds map[Kind]protocol.Action
	// Ask shows a question to the user and reports whether the user agreed. nil refuses
	// every question. If Ask returns an error, the change is refused with that error.
	Ask func(ctx context.Context, q Question) (bool, error)
	// AskFirst, if set, is called in the same way before each change that the policy
	// allows.
	AskFirst func(ctx context.Context, q Question) (bool, error)

	// Check, if set, is called for each path after the policy allowed it, for reading too.
	// It returns an error if op may not be done at path. If a file is moved to path, from
	// is its old name, else from is "". A file that Check does not let the caller read is
	// not listed. Check is called with locks held, so it must not wait for another change.
	Check func(op protocol.FSOp, path, from string) error

	MaxWrite int64 // bytes in one file, default 256 MiB
	MaxBytes int64 // bytes by which the folder may grow, default 4 GiB
	MaxFiles int   // files and folders that may be made, default 100,000
}

// Question is a question to the user about one change.
type Question struct {
	Op   string // "write", "create", "remove", "rename", "mkdir", "chmod", "chtimes"
	Path string
	To   string // the new name, for a rename
	Kind Kind   // the dangerous kind of the content, or "" if the question is about the change itself
	// Content is the new content if Kind is set, at most its first 16 MiB. It is nil for a
	// file that is renamed. It must not be changed, and not be used after the call.
	Content []byte
}

// GuardError is a refusal by a [Guard]. It wraps one of [ErrDenied], [ErrProtected],
// [ErrKind], [ErrBadName], [ErrQuota] and [ErrTooLarge]. If the policy refused, it also
// wraps the *[protocol.Error] of the policy. Treat a refusal as final, and do not
// try the same operation again.
type GuardError struct {
	Rule   string // the rule that refused, for the user; it may quote the policy
	Err    error
	Policy error // the policy's own error, or nil
}

// Error returns the text of Err, followed by the text of Policy or, if Policy is nil, by
// Rule.
func (e *GuardError) Error() string {
	if e.Policy != nil {
		return e.Err.Error() + ": " + e.Policy.Error()
	}
	return e.Err.Error() + ": " + e.Rule
}

// Unwrap returns Err, and Policy if it is set.
func (e *GuardError) Unwrap() []error {
	if e.Policy == nil {
		return []error{e.Err}
	}
	return []error{e.Err, e.Policy}
}

// Guard returns fsys with a policy in front. Independent of the policy, it refuses names
// that could lead out of the folder or deceive a reader, writes to files that other
// programs execute ([protocol.Mandatory]), and changes beyond the limits of the options. If
// more than one GuardOptions is given, the last one counts.
func Guard(fsys FS, policy protocol.FSPolicy, opts ...GuardOptions) *Folder {
	var o GuardOptions
	for _, x := range opts {
		o = x
	}
	if o.MaxWrite == 0 {
		o.MaxWrite = 256 << 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 4 << 30
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = 100_000
	}
	v := viewOf(fsys)
	return &Folder{view{c: &guard{core: v.rooted(), policy: &policy, p: o}, dir: ".", ctx: v.ctx}}
}

type guard struct {
	core
	policy *protocol.FSPolicy
	p      GuardOptions

	mu    sync.Mutex
	grown int64
	made  int
}

func refuse(err error, format string, args ...any) error {
	return &GuardError{Rule: fmt.Sprintf(format, args...), Err: err}
}

// check returns the refusal of op at a path by the policy or by Check, or nil.
func (g *guard) check(op protocol.FSOp, name string) error { return g.checkMoved(op, name, "") }

// checkMoved is check for a path to which the file from is moved.
func (g *guard) checkMoved(op protocol.FSOp, name, from string) error {
	if err := g.policy.Check(op, name); err != nil || g.p.Check == nil {
		return policyErr(err)
	}
	return policyErr(g.p.Check(op, name, from))
}

func policyErr(err error) error {
	if err == nil {
		return nil
	}
	kind := ErrDenied
	if errors.Is(err, protocol.ReasonProtected) {
		kind = ErrProtected
	}
	rule := err.Error()
	if entry := errors.Unwrap(err); entry != nil && protocol.CodeOf(err) == protocol.ErrCapabilityDenied {
		rule = entry.Error()
	}
	return &GuardError{Rule: rule, Err: kind, Policy: err}
}

func (g *guard) mayRead(name string) bool { return g.check(protocol.OpRead, name) == nil }

// untold returns err. If the path may not be read, it returns that refusal instead, so that
// the caller cannot find out whether the file exists.
func (g *guard) untold(name string, err error) error {
	if g.p.Check == nil || err == nil {
		return err
	}
	return cmp.Or(g.read(name), err)
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

// consent returns nil if d allows q, and else the error no. If d is ActionAsk, it asks the
// user.
func (g *guard) consent(ctx context.Context, d protocol.Action, q Question, no error, rule string) error {
	if d == protocol.ActionAllow {
		return nil
	}
	if d != protocol.ActionAsk {
		return refuse(no, "%s", rule)
	}
	return answer(ctx, g.p.Ask, q, no, rule)
}

func answer(ctx context.Context, ask func(context.Context, Question) (bool, error), q Question, no error, rule string) error {
	if ask == nil {
		return refuse(no, "%s, and there is nobody to ask", rule)
	}
	ok, err := ask(ctx, q)
	if err != nil {
		return errors.Join(refuse(no, "%s, and the question was not answered", rule), err)
	}
	if !ok {
		return refuse(no, "%s, and the person refused", rule)
	}
	return nil
}

func (g *guard) read(name string) error { return g.check(protocol.OpRead, name) }

// change checks a change of q.Path, and of q.To if it is set, before it is made.
func (g *guard) change(ctx context.Context, op protocol.FSOp, q Question) error {
	from := ""
	for _, p := range []string{q.Path, q.To} {
		if p == "" {
			continue
		}
		if why := badName(p); why != "" {
			return refuse(ErrBadName, "%s", why)
		}
		if err := g.writable(op, p, from); err != nil {
			return err
		}
		if err := g.insideGit(ctx, p); err != nil {
			return err
		}
		op, from = protocol.OpWrite, p // q.To is checked as a write
	}
	if g.p.AskFirst == nil || ctx.Value(askedKey{}) == any(g) {
		return nil
	}
	return answer(ctx, g.p.AskFirst, q, ErrDenied, q.Op)
}

// askedKey is the context key for the guard that has already asked about an open file.
// Without it each Sync would ask again.
type askedKey struct{}

// writable checks a name, and also the name that it looks like.
func (g *guard) writable(op protocol.FSOp, name, from string) error {
	if err := g.checkMoved(op, name, from); err != nil {
		return err
	}
	if look := skeleton(name); look != name && !isASCII(name) && fs.ValidPath(look) {
		if err := g.check(op, look); errors.Is(err, ErrProtected) {
			return err
		}
	}
	return nil
}

// fresh checks a name that is about to be made. It refuses a name that looks like an
// existing one, and a name over the limit of files.
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
		return nil // no folder, so no similar name either
	}
	look := skeleton(base)
	for _, e := range list {
		if e.Name() != base && skeleton(e.Name()) == look {
			return refuse(ErrBadName, "looks like %q", e.Name())
		}
	}
	return nil
}

// room checks a growth of bytes and files against the limits. It counts the growth unless
// try is set.
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

// content checks the kinds of a new content, which begins with head. oldName in old is the
// file's name and content until now: an edit needs no consent for a kind that the file had
// before. A start-up file needs consent each time, because each edit will be executed.
func (g *guard) content(ctx context.Context, name string, kinds []Kind, head []byte, oldName string, old core) error {
	if len(kinds) == 0 {
		return nil
	}
	if old != nil {
		was, err := kindsOf(ctx, old, oldName)
		if err != nil {
			return err
		}
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k != KindAutorun && slices.Contains(was, k) })
	}
	for _, k := range kinds {
		d, ok := g.p.Kinds[k]
		if !ok {
			d = protocol.ActionAsk
		}
		q := Question{Op: "write", Path: name, Kind: k, Content: head}
		if err := g.consent(ctx, d, q, ErrKind, string(k)); err != nil {
			return err
		}
	}
	return nil
}

// stat describes a path that may be read, passed through, or written.
func (g *guard) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	err := g.read(name)
	if err == nil || reaches(ctx) || g.check(protocol.OpWrite, name) == nil {
		return g.core.stat(ctx, name)
	}
	if !g.policy.MayTraverse(name) {
		return nil, err
	}
	fi, serr := g.core.stat(ctx, name)
	if g.p.Check != nil && (serr != nil || !fi.IsDir()) {
		return nil, err
	}
	return fi, serr
}

// readDir lists the entries that may be read. In a folder that is only passed through, it
// lists only entries that lead to readable ones.
func (g *guard) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if reaches(ctx) {
		return g.core.readDir(ctx, name)
	}
	if err := g.read(name); err != nil && !g.policy.MayTraverse(name) {
		return nil, err
	}
	list, err := g.core.readDir(ctx, name)
	if err != nil {
		return nil, g.untold(name, err)
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return !g.shows(join(name, e.Name()), e.IsDir()) }), nil
}

// pages is readDir with entries in the order in which they are found.
func (g *guard) pages(ctx context.Context, name string) (pager, error) {
	p, err := pagesOf(ctx, g.core, name)
	if err != nil {
		return nil, err
	}
	return &sieve{p, func(e fs.DirEntry) bool { return g.shows(join(name, e.Name()), e.IsDir()) }}, nil
}

type reachKey struct{}

// reaches reports whether hidden entries are visited too, as for [Reach].
func reaches(ctx context.Context) bool { return ctx.Value(reachKey{}) != nil }

// Reach returns all files and folders that removing or moving root would affect, also those
// that a [Guard] hides. Use it to decide whether the operation is allowed. Do not show the
// names to a caller that may not read them.
func Reach(ctx context.Context, fsys FS, root string) iter.Seq2[Entry, error] {
	return Walk(context.WithValue(ctx, reachKey{}, true), fsys, root, WalkOptions{})
}

func (g *guard) shows(name string, dir bool) bool {
	return g.mayRead(name) || dir && g.policy.MayTraverse(name)
}

func (g *guard) readFile(ctx context.Context, name string) ([]byte, error) {
	if err := g.read(name); err != nil {
		return nil, err
	}
	return g.core.readFile(ctx, name)
}

// readSmall reads a small file with the short way of the folder below, if it has one.
func (g *guard) readSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error) {
	if err := g.read(name); err != nil {
		return nil, nil, err
	}
	if s, ok := g.core.(smallReader); ok {
		return s.readSmall(ctx, name, max)
	}
	fi, err := g.core.stat(ctx, name)
	if err != nil || fi.IsDir() || fi.Size() > max {
		return fi, nil, err
	}
	data, err := g.core.readFile(ctx, name)
	return fi, data, err
}

// overlaps reports whether the folder below prepares replacements in the background.
func (g *guard) overlaps() bool {
	o, ok := g.core.(overlapper)
	return ok && o.overlaps()
}

func (g *guard) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if err := g.change(ctx, protocol.OpMkdir, Question{Op: "mkdir", Path: name}); err != nil {
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

func (g *guard) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	c, ok := g.core.(chmodder)
	if !ok {
		return errUnsupported
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "chmod", Path: name}); err != nil {
		return err
	}
	return c.chmod(ctx, name, mode)
}

func (g *guard) chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	c, ok := g.core.(chtimer)
	if !ok {
		return errUnsupported
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "chtimes", Path: name}); err != nil {
		return err
	}
	return c.chtimes(ctx, name, atime, mtime)
}

func (g *guard) walkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	if reaches(ctx) {
		return walkCore(ctx, g.core, root, page, yield)
	}
	if err := g.read(root); err != nil && !g.policy.MayTraverse(root) {
		return err
	}
	skip := ""
	return walkCore(ctx, g.core, root, page, func(list []Entry) bool {
		kept := list[:0]
		for _, e := range list {
			if skip != "" && within(skip, e.Path) {
				continue
			}
			if !g.shows(e.Path, e.Dir) {
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
