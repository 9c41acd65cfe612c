package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/reach"
	"github.com/bailey-go/bailey/protocol"
)

// Options configures a guard beside the path policy. Zero limits are the defaults.
type Options struct {
	Kinds         map[Kind]protocol.Action // the default for a kind is protocol.ActionAsk
	Ask, AskFirst func(ctx context.Context, q Question) (bool, error)
	Check         func(op protocol.FSOp, path, from string) error
	MaxWrite      int64
	MaxBytes      int64
	MaxFiles      int
	// Refuse makes the error of a refusal, and Refused returns the reason in such an error,
	// of any guard. Their type belongs to the public package.
	Refuse  func(rule string, reason, policy error) error
	Refused func(error) (reason error, ok bool)
}

// Question is a question to the user about one change.
type Question struct {
	Op       string
	Path, To string
	Kind     Kind
	Content  []byte
}

// New returns a guard in front of c.
func New(c core.Core, policy protocol.FSPolicy, o Options) *Guard {
	if o.MaxWrite == 0 {
		o.MaxWrite = 256 << 20
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 4 << 30
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = 100_000
	}
	return &Guard{Core: c, policy: &policy, p: o}
}

// Guard is a folder with a policy in front.
type Guard struct {
	core.Core
	policy *protocol.FSPolicy
	p      Options

	mu    sync.Mutex
	grown int64
	made  int
}

func (g *Guard) refuse(reason error, format string, args ...any) error {
	return g.p.Refuse(fmt.Sprintf(format, args...), reason, nil)
}

// check returns the refusal of op at a path by the policy or by Check, or nil.
func (g *Guard) check(op protocol.FSOp, name string) error { return g.checkMoved(op, name, "") }

// checkMoved is check for a path to which the file from is moved.
func (g *Guard) checkMoved(op protocol.FSOp, name, from string) error {
	if err := g.policy.Check(op, name); err != nil || g.p.Check == nil {
		return g.policyErr(err)
	}
	return g.policyErr(g.p.Check(op, name, from))
}

func (g *Guard) policyErr(err error) error {
	if err == nil {
		return nil
	}
	kind := core.ErrDenied
	if errors.Is(err, protocol.ReasonProtected) {
		kind = core.ErrProtected
	}
	rule := err.Error()
	if entry := errors.Unwrap(err); entry != nil && protocol.CodeOf(err) == protocol.ErrCapabilityDenied {
		rule = entry.Error()
	}
	return g.p.Refuse(rule, kind, err)
}

func (g *Guard) mayRead(name string) bool { return g.check(protocol.OpRead, name) == nil }

// untold returns err. If the path may not be read, it returns that refusal instead, so that
// the caller cannot find out whether the file exists.
func (g *Guard) untold(name string, err error) error {
	if g.p.Check == nil || err == nil {
		return err
	}
	return cmp.Or(g.read(name), err)
}

func (g *Guard) Features() core.Features {
	ft := g.Core.Features()
	ft.Staged = true
	return ft
}

func (g *Guard) Release() error {
	if c, ok := g.Core.(core.Closer); ok {
		return c.Release()
	}
	return nil
}

// Push leaves out the paths that the caller may not see, as a listing does.
func (g *Guard) Push(ctx context.Context, root string, told chan<- []string) (func(), error) {
	if err := g.read(root); err != nil && !g.policy.MayTraverse(root) {
		return nil, err
	}
	return core.Push(ctx, g.Core, root, told, func(name string) (string, bool) { return name, g.shows(name, true) })
}

// consent returns nil if d allows q, and else the error no. If d is ActionAsk, it asks the
// user.
func (g *Guard) consent(ctx context.Context, d protocol.Action, q Question, no error, rule string) error {
	if d == protocol.ActionAllow {
		return nil
	}
	if d != protocol.ActionAsk {
		return g.refuse(no, "%s", rule)
	}
	return g.answer(ctx, g.p.Ask, q, no, rule)
}

func (g *Guard) answer(ctx context.Context, ask func(context.Context, Question) (bool, error), q Question, no error, rule string) error {
	if ask == nil {
		return g.refuse(no, "%s, and there is nobody to ask", rule)
	}
	ok, err := ask(ctx, q)
	if err != nil {
		return errors.Join(g.refuse(no, "%s, and the question was not answered", rule), err)
	}
	if !ok {
		return g.refuse(no, "%s, and the user refused", rule)
	}
	return nil
}

func (g *Guard) read(name string) error { return g.check(protocol.OpRead, name) }

// change checks a change of q.Path, and of q.To if it is set, before it is made.
func (g *Guard) change(ctx context.Context, op protocol.FSOp, q Question) error {
	from := ""
	for _, p := range []string{q.Path, q.To} {
		if p == "" {
			continue
		}
		if why := badName(p); why != "" {
			return g.refuse(core.ErrBadName, "%s", why)
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
	return g.answer(ctx, g.p.AskFirst, q, core.ErrDenied, q.Op)
}

// askedKey is the context key for the guard that has already asked about an open file.
// Without it each Sync would ask again.
type askedKey struct{}

// writable checks a name, and also the name that it looks like.
func (g *Guard) writable(op protocol.FSOp, name, from string) error {
	if err := g.checkMoved(op, name, from); err != nil {
		return err
	}
	if look := skeleton(name); look != name && !isASCII(name) && fs.ValidPath(look) {
		if err := g.check(op, look); errors.Is(err, core.ErrProtected) {
			return err
		}
	}
	return nil
}

// fresh checks a name that is about to be made. It refuses a name that looks like an
// existing one, and a name over the limit of files.
func (g *Guard) fresh(ctx context.Context, name string) error {
	if err := g.room(0, 1, true); err != nil {
		return err
	}
	base := core.BaseOf(name)
	if isASCII(base) {
		return nil
	}
	list, err := g.Core.ReadDir(ctx, core.ParentOf(name))
	if err != nil {
		return nil // no folder, so no similar name either
	}
	look := skeleton(base)
	for _, e := range list {
		if e.Name() != base && skeleton(e.Name()) == look {
			return g.refuse(core.ErrBadName, "looks like %q", e.Name())
		}
	}
	return nil
}

// room checks a growth of bytes and files against the limits. It counts the growth unless
// try is set.
func (g *Guard) room(bytes int64, files int, try bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if bytes > 0 && g.grown+bytes > g.p.MaxBytes {
		return g.refuse(core.ErrQuota, "the folder may grow by %d bytes", g.p.MaxBytes)
	}
	if files > 0 && g.made+files > g.p.MaxFiles {
		return g.refuse(core.ErrQuota, "%d files and folders may be made", g.p.MaxFiles)
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
func (g *Guard) content(ctx context.Context, name string, kinds []Kind, head []byte, oldName string, old core.Core) error {
	if len(kinds) == 0 {
		return nil
	}
	if old != nil {
		was, err := kindsOf(ctx, old, oldName)
		if err != nil {
			return err
		}
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k != kindAutorun && slices.Contains(was, k) })
	}
	for _, k := range kinds {
		d, ok := g.p.Kinds[k]
		if !ok {
			d = protocol.ActionAsk
		}
		q := Question{Op: "write", Path: name, Kind: k, Content: head}
		if err := g.consent(ctx, d, q, core.ErrKind, string(k)); err != nil {
			return err
		}
	}
	return nil
}

// Stat describes a path that may be read, passed through, or written.
func (g *Guard) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	err := g.read(name)
	if err == nil || reach.IsHidden(ctx) || g.check(protocol.OpWrite, name) == nil {
		return g.Core.Stat(ctx, name)
	}
	if !g.policy.MayTraverse(name) {
		return nil, err
	}
	fi, serr := g.Core.Stat(ctx, name)
	if g.p.Check != nil && (serr != nil || !fi.IsDir()) {
		return nil, err
	}
	return fi, serr
}

// ReadDir lists the entries that may be read. In a folder that is only passed through, it
// lists only entries that lead to readable ones.
func (g *Guard) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if reach.IsHidden(ctx) {
		return g.Core.ReadDir(ctx, name)
	}
	if err := g.read(name); err != nil && !g.policy.MayTraverse(name) {
		return nil, err
	}
	list, err := g.Core.ReadDir(ctx, name)
	if err != nil {
		return nil, g.untold(name, err)
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return !g.shows(core.Join(name, e.Name()), e.IsDir()) }), nil
}

// pages is readDir with entries in the order in which they are found.
func (g *Guard) pages(ctx context.Context, name string) (core.Pager, error) {
	p, err := core.PagesOf(ctx, g.Core, name)
	if err != nil {
		return nil, err
	}
	return core.Sift(p, func(e fs.DirEntry) bool { return g.shows(core.Join(name, e.Name()), e.IsDir()) }), nil
}

func (g *Guard) shows(name string, dir bool) bool {
	return g.mayRead(name) || dir && g.policy.MayTraverse(name)
}

func (g *Guard) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := g.read(name); err != nil {
		return nil, err
	}
	return g.Core.ReadFile(ctx, name)
}

// ReadSmall reads a small file with the short way of the folder below, if it has one.
func (g *Guard) ReadSmall(ctx context.Context, name string, max int64) (fs.FileInfo, []byte, error) {
	if err := g.read(name); err != nil {
		return nil, nil, err
	}
	if s, ok := g.Core.(core.SmallReader); ok {
		return s.ReadSmall(ctx, name, max)
	}
	fi, err := g.Core.Stat(ctx, name)
	if err != nil || fi.IsDir() || fi.Size() > max {
		return fi, nil, err
	}
	data, err := g.Core.ReadFile(ctx, name)
	return fi, data, err
}

// Overlaps reports whether the folder below prepares replacements in the background.
func (g *Guard) Overlaps() bool {
	o, ok := g.Core.(core.Overlapper)
	return ok && o.Overlaps()
}

func (g *Guard) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if err := g.change(ctx, protocol.OpMkdir, Question{Op: "mkdir", Path: name}); err != nil {
		return err
	}
	if err := g.fresh(ctx, name); err != nil {
		return err
	}
	if err := g.Core.Mkdir(ctx, name, perm); err != nil {
		return err
	}
	return g.room(0, 1, false)
}

func (g *Guard) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	c, ok := g.Core.(core.Chmodder)
	if !ok {
		return core.ErrUnsupported
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "chmod", Path: name}); err != nil {
		return err
	}
	return c.Chmod(ctx, name, mode)
}

func (g *Guard) Chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	c, ok := g.Core.(core.Chtimer)
	if !ok {
		return core.ErrUnsupported
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "chtimes", Path: name}); err != nil {
		return err
	}
	return c.Chtimes(ctx, name, atime, mtime)
}

// Symlink checks the name of a link, and the name to which it leads: other programs of the user follow links, so a link gives leave to
// neither read nor write more than its maker may.
func (g *Guard) Symlink(ctx context.Context, target, name string) error {
	if !g.Features().Links {
		return core.ErrUnsupported
	}
	to, err := core.LeadsInside(name, target)
	if err != nil {
		return g.refuse(core.ErrBadName, "%s", err)
	}
	if err := g.read(to); err != nil {
		return err
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "symlink", Path: name, To: to}); err != nil {
		return err
	}
	if err := g.fresh(ctx, name); err != nil {
		return err
	}
	if err := core.Symlink(ctx, g.Core, target, name); err != nil {
		return err
	}
	return g.room(0, 1, false)
}

func (g *Guard) ReadLink(ctx context.Context, name string) (string, error) {
	if err := g.read(name); err != nil {
		return "", err
	}
	return core.ReadLink(ctx, g.Core, name)
}

func (g *Guard) WalkPages(ctx context.Context, root string, page int, yield func([]core.Entry) bool) error {
	if reach.IsHidden(ctx) {
		return core.WalkCore(ctx, g.Core, root, page, yield)
	}
	if err := g.read(root); err != nil && !g.policy.MayTraverse(root) {
		return err
	}
	skip := ""
	return core.WalkCore(ctx, g.Core, root, page, func(list []core.Entry) bool {
		kept := list[:0]
		for _, e := range list {
			if skip != "" && core.Within(skip, e.Path) {
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

func (g *Guard) Keeping(ctx context.Context) context.Context { return core.Keeping(ctx, g.Core) }

// ReadMany of a guard reads the files that may be read. The caller reads the others one by
// one, and gets the reason of each refusal.
func (g *Guard) ReadMany(ctx context.Context, files []core.Entry) ([][]byte, error) {
	may := make([]core.Entry, 0, len(files))
	at := make([]int, 0, len(files))
	for i, e := range files {
		if g.mayRead(e.Path) {
			may, at = append(may, e), append(at, i)
		}
	}
	read, err := core.ReadMany(ctx, g.Core, may)
	if err != nil || len(read) != len(may) {
		return nil, err
	}
	out := make([][]byte, len(files))
	for k, i := range at {
		out[i] = read[k]
	}
	return out, nil
}
