package guard

import (
	"context"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
	"github.com/bailey-go/bailey/internal/reach"
	"github.com/bailey-go/bailey/protocol"
)

func (g *Guard) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if core.Readable(flag) {
		if err := g.read(name); err != nil && !(flag == os.O_RDONLY && g.policy.MayTraverse(name)) {
			return nil, err
		}
	}
	if !core.Writable(flag) && flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		f, err := g.Core.Open(ctx, name, flag, perm)
		if err != nil {
			return nil, g.untold(name, err)
		}
		fi, err := f.Stat()
		if err == nil && fi.IsDir() {
			f.Close()
			return &core.DirFile{Info: fi,
				List:  func() ([]fs.DirEntry, error) { return g.ReadDir(ctx, name) },
				Pages: func() (core.Pager, error) { return g.pages(ctx, name) }}, nil
		}
		if err == nil {
			err = g.read(name)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	fi, err := g.Core.Stat(ctx, name)
	if err == nil && core.IsLink(fi.Mode()) {
		return nil, core.LinkAt(name, "")
	}
	q := Question{Op: "write", Path: name}
	if core.NotExist(err) && flag&os.O_CREATE != 0 {
		q.Op = "create"
	}
	if err := g.change(ctx, protocol.OpWrite, q); err != nil {
		return nil, err
	}
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, core.ErrExist
	case err == nil && fi.IsDir():
		return nil, core.ErrIsDir
	case q.Op == "create":
		return g.openNew(ctx, name, flag, perm)
	case err != nil:
		return nil, err
	case flag&os.O_TRUNC != 0 && !core.Writable(flag):
		if err := core.WriteWhole(g.Asked(ctx), g, name, nil, perm); err != nil {
			return nil, err
		}
	default:
		if err := core.MayWrite(ctx, g.Core, name, flag); err != nil {
			return nil, err
		}
	}
	if !core.Writable(flag) {
		return g.Core.Open(ctx, name, os.O_RDONLY, 0)
	}
	ctx = g.Asked(ctx)
	return core.NewStaged(ctx, &unreadGuard{g}, name, flag, perm, func() (core.File, error) { return g.Core.Open(ctx, name, os.O_RDONLY, 0) }, fi)
}

// openNew opens a file that does not exist yet. The file is made at Sync or Close, because
// only then its content is known, and with it the kinds that need consent.
func (g *Guard) openNew(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if err := core.MayCreate(ctx, g.Core, name); err != nil {
		return nil, err
	}
	if err := g.fresh(ctx, name); err != nil {
		return nil, err
	}
	ctx = g.Asked(ctx)
	if core.Writable(flag) {
		return core.NewFresh(ctx, &unreadGuard{g}, name, flag, perm), nil
	}
	if err := core.WriteWhole(ctx, g, name, nil, perm); err != nil {
		return nil, err
	}
	return g.Core.Open(ctx, name, os.O_RDONLY, 0)
}

func (g *Guard) KeepsFresh() bool { return true }

// Asked returns a context in which this guard does not ask again.
func (g *Guard) Asked(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, g)
}

func (g *Guard) MayCreate(ctx context.Context, name string) error {
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "create", Path: name}); err != nil {
		return err
	}
	if err := core.MayCreate(ctx, g.Core, name); err != nil {
		return err
	}
	return g.fresh(ctx, name)
}

// unreadGuard is the guard below a staged file. It reads without a check, because merging
// the written bytes into the rest of the file is no reading by the caller.
type unreadGuard struct{ *Guard }

func (u *unreadGuard) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	return u.Core.Open(ctx, name, flag, perm)
}

func (u *unreadGuard) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	return u.Core.Stat(ctx, name)
}

func (g *Guard) MayWrite(ctx context.Context, name string) error {
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "write", Path: name}); err != nil {
		return err
	}
	return core.MayWrite(ctx, g.Core, name, os.O_WRONLY)
}

// mayReplace checks whether the content of a file may be replaced, and returns the file's
// size. For a new file the size is -1.
func (g *Guard) mayReplace(ctx context.Context, name string) (size int64, err error) {
	fi, err := g.Core.Stat(ctx, name)
	op := "write"
	switch {
	case err == nil && fi.IsDir():
		return 0, core.ErrIsDir
	case err == nil && core.IsLink(fi.Mode()):
		return 0, core.LinkAt(name, "") // do not ask about a change that cannot be made
	case err == nil:
		size = fi.Size()
	case core.NotExist(err):
		op, size = "create", -1
	default:
		return 0, err
	}
	if err := g.change(ctx, protocol.OpWrite, Question{Op: op, Path: name}); err != nil {
		return 0, err
	}
	if size < 0 {
		err = g.fresh(ctx, name)
	}
	return size, err
}

// WriteFile asks all questions before it changes anything, because a browser shows a new
// file, empty, as soon as writing begins.
func (g *Guard) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	before, err := g.mayReplace(ctx, name)
	if err != nil {
		return err
	}
	r := replacement{g: g, name: name, before: before}
	if err := r.fits(len(data)); err != nil {
		return err
	}
	r.size, r.head = int64(len(data)), data[:min(len(data), inspectMax)]
	return r.settle(ctx, func() error { return core.WriteWhole(ctx, g.Core, name, data, perm) })
}

// Replace begins a new content. The content of a new file stays in memory until its kinds
// are known.
func (g *Guard) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	size, err := g.mayReplace(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &replacement{g: g, ctx: ctx, name: name, perm: perm, before: size}
	if size < 0 {
		return r, core.NeedDir(ctx, g.Core, core.ParentOf(name))
	}
	r.under, err = g.Core.Replace(ctx, name, perm)
	return r, err
}

type replacement struct {
	g      *Guard
	ctx    context.Context
	name   string
	perm   fs.FileMode
	under  core.Replacement // nil: the content so far is all in head
	before int64            // bytes before, or -1 for a new file
	size   int64
	head   []byte
	asked  bool // the content was longer than inspectMax, and the user has agreed
}

// fits returns an error if more bytes would exceed the limits.
func (r *replacement) fits(more int) error {
	if r.size+int64(more) > r.g.p.MaxWrite {
		return r.g.refuse(core.ErrTooLarge, "one file may have %d bytes", r.g.p.MaxWrite)
	}
	return r.g.room(r.size+int64(more)-max(0, r.before), 0, true)
}

func (r *replacement) Write(p []byte) (int, error) {
	if err := r.fits(len(p)); err != nil {
		return 0, err
	}
	if r.under == nil && len(r.head)+len(p) > inspectMax {
		if err := r.start(p); err != nil {
			return 0, err
		}
	}
	n := len(p)
	if r.under != nil {
		var err error
		if n, err = r.under.Write(p); err != nil {
			return n, err
		}
	}
	r.size += int64(n)
	if room := inspectMax - len(r.head); room > 0 {
		r.head = append(r.head, p[:min(n, room)]...)
	}
	return n, nil
}

// start makes a new file whose content is longer than the inspected part. More bytes would
// not change the answer.
func (r *replacement) start(next []byte) error {
	look := append(r.head[:len(r.head):len(r.head)], next[:inspectMax-len(r.head)]...)
	kinds, err := classifyIn(r.ctx, r.name, look, r.size+int64(len(next)))
	if err != nil {
		return err
	}
	if err := r.g.content(r.ctx, r.name, kinds, look, r.name, nil); err != nil {
		return err
	}
	under, err := r.g.Core.Replace(r.ctx, r.name, r.perm)
	if err != nil {
		return err
	}
	if _, err := under.Write(r.head); err != nil {
		under.Abort()
		return err
	}
	r.under, r.asked = under, true
	return nil
}

func (r *replacement) Commit(ctx context.Context) error {
	return r.settle(ctx, func() error {
		if r.under == nil {
			return core.WriteWhole(ctx, r.g.Core, r.name, r.head, r.perm)
		}
		return r.under.Commit(ctx)
	})
}

func (r *replacement) Abort() {
	if r.under != nil {
		r.under.Abort()
	}
}

// settle checks the content, counts its size against the limits, and calls do to write it.
func (r *replacement) settle(ctx context.Context, do func() error) error {
	var old core.Core
	files := 0
	if r.before >= 0 {
		old = r.g.Core
	} else {
		files = 1
	}
	if !r.asked {
		kinds, err := classifyIn(ctx, r.name, r.head, r.size)
		if err != nil {
			return err
		}
		if err := r.g.content(ctx, r.name, kinds, r.head, r.name, old); err != nil {
			return err
		}
	}
	grow := r.size - max(0, r.before)
	if err := r.g.room(grow, files, false); err != nil {
		return err
	}
	if err := do(); err != nil {
		_ = r.g.room(-grow, -files, false)
		return err
	}
	return nil
}

func (g *Guard) Remove(ctx context.Context, name string) error {
	size, err := g.mayRemove(ctx, name)
	if err != nil {
		return err
	}
	if err := g.Core.Remove(ctx, name); err != nil {
		return err
	}
	return g.room(-size, -1, false)
}

func (g *Guard) RemoveAll(ctx context.Context, name string) error {
	size, err := g.mayRemove(ctx, name)
	if err != nil {
		return err
	}
	if err := g.Core.RemoveAll(ctx, name); err != nil {
		return err
	}
	return g.room(-size, 0, false)
}

// mayRemove checks name and everything below it. A protected file cannot be removed with
// the folder above it. size is the number of bytes to be removed.
func (g *Guard) mayRemove(ctx context.Context, name string) (size int64, err error) {
	if err := g.change(ctx, protocol.OpRemove, Question{Op: "remove", Path: name}); err != nil {
		return 0, err
	}
	err = g.below(reach.Hidden(ctx), name, func(e core.Entry) error {
		size += e.Size
		if err := g.insideGit(ctx, e.Path); err != nil {
			return err
		}
		return g.writable(protocol.OpRemove, e.Path, "")
	})
	return size, err
}

// unnamed returns a refusal without the name if the file may not be read, so that the
// caller does not learn that the file exists.
func (g *Guard) unnamed(e core.Entry, err error) error {
	reason, ok := g.p.Refused(err)
	if !ok || g.read(e.Path) == nil {
		return err
	}
	return g.refuse(reason, "the folder holds a file that may not be read, and that this may not be done to")
}

// below calls do for a file, or for everything in a folder.
func (g *Guard) below(ctx context.Context, name string, do func(core.Entry) error) error {
	fi, err := g.Core.Stat(ctx, name)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return do(core.EntryOf(name, fi))
	}
	var derr error
	err = core.WalkCore(ctx, g.Core, name, core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			if e.Size == core.BadFolder {
				e.Size = 0
			}
			if derr = g.unnamed(e, do(e)); derr != nil {
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

// elsewhere returns an error if a link that leads to a permitted name would lead to another kind of name once it is moved. A link that
// came with the folder and leads to anything else is moved as it is.
func (g *Guard) elsewhere(ctx context.Context, from, to string) error {
	target, err := core.ReadLink(ctx, g.Core, from)
	if err != nil {
		return nil
	}
	may := func(name string) error {
		at, err := core.LeadsInside(name, target)
		if err != nil {
			return g.refuse(core.ErrBadName, "the link %q would lead out of the folder", name)
		}
		if err := g.read(at); err != nil {
			return err
		}
		return g.writable(protocol.OpWrite, at, "")
	}
	if may(from) != nil {
		return nil
	}
	return may(to)
}

func (g *Guard) Rename(ctx context.Context, from, to string) error {
	if err := g.change(ctx, protocol.OpRemove, Question{Op: "rename", Path: from, To: to}); err != nil {
		return err
	}
	if err := g.fresh(ctx, to); err != nil {
		return err
	}
	// A guard below may hide files from this one. They move too.
	err := g.below(reach.Hidden(ctx), from, func(e core.Entry) error {
		next := to + e.Path[len(from):]
		if err := g.writable(protocol.OpRemove, e.Path, ""); err != nil || e.Dir {
			return err
		}
		if err := g.writable(protocol.OpWrite, next, e.Path); err != nil {
			return err
		}
		if err := g.read(e.Path); err != nil && g.mayRead(next) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = g.below(ctx, from, func(e core.Entry) error {
		next := to + e.Path[len(from):]
		if err := g.writable(protocol.OpRemove, e.Path, ""); err != nil {
			return err
		}
		for _, p := range []string{e.Path, next} {
			if err := g.insideGit(ctx, p); err != nil {
				return err
			}
		}
		op := protocol.OpWrite
		if e.Dir {
			op = protocol.OpMkdir
		}
		if err := g.writable(op, next, e.Path); err != nil {
			return err
		}
		if err := g.read(e.Path); err != nil && g.mayRead(next) {
			return err // a rename must not make an unreadable file readable
		}
		if e.Link {
			return g.elsewhere(ctx, e.Path, next) // a link is moved itself and not followed
		}
		if e.Dir {
			return nil
		}
		kinds, err := kindsOfAs(ctx, g.Core, e.Path, next)
		if err != nil {
			return err
		}
		return g.content(ctx, next, kinds, nil, e.Path, g.Core)
	})
	if err != nil {
		return err
	}
	return g.Core.Rename(ctx, from, to)
}
