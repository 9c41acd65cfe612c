package fsaccess

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bailey-go/bailey/protocol"
)

// mayReplace checks whether the content of a file may be replaced, and returns the file's
// size. For a new file the size is -1.
func (g *guard) mayReplace(ctx context.Context, name string) (size int64, err error) {
	fi, err := g.core.stat(ctx, name)
	op := "write"
	switch {
	case err == nil && fi.IsDir():
		return 0, errIsDir
	case err == nil && isLink(fi.Mode()):
		return 0, linkAt(name, "") // do not ask about a change that cannot be made
	case err == nil:
		size = fi.Size()
	case notExist(err):
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

// writeFile asks all questions before it changes anything, because a browser shows a new
// file, empty, as soon as writing begins.
func (g *guard) writeFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	before, err := g.mayReplace(ctx, name)
	if err != nil {
		return err
	}
	r := guardReplacement{g: g, name: name, before: before}
	if err := r.fits(len(data)); err != nil {
		return err
	}
	r.size, r.head = int64(len(data)), data[:min(len(data), inspectMax)]
	return r.settle(ctx, func() error { return writeWhole(ctx, g.core, name, data, perm) })
}

// replace begins a new content. The content of a new file stays in memory until its kinds
// are known.
func (g *guard) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	size, err := g.mayReplace(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &guardReplacement{g: g, ctx: ctx, name: name, perm: perm, before: size}
	if size < 0 {
		return r, needDir(ctx, g.core, parentOf(name))
	}
	r.under, err = g.core.replace(ctx, name, perm)
	return r, err
}

type guardReplacement struct {
	g      *guard
	ctx    context.Context
	name   string
	perm   fs.FileMode
	under  replacement // nil: the content so far is all in head
	before int64       // bytes before; -1 for a new file
	size   int64
	head   []byte
	asked  bool // the content was longer than inspectMax, and the user has agreed
}

// fits returns an error if more bytes would exceed the limits.
func (r *guardReplacement) fits(more int) error {
	if r.size+int64(more) > r.g.p.MaxWrite {
		return refuse(ErrTooLarge, "one file may have %d bytes", r.g.p.MaxWrite)
	}
	return r.g.room(r.size+int64(more)-max(0, r.before), 0, true)
}

func (r *guardReplacement) Write(p []byte) (int, error) {
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
func (r *guardReplacement) start(next []byte) error {
	look := append(r.head[:len(r.head):len(r.head)], next[:inspectMax-len(r.head)]...)
	kinds, err := classify(r.ctx, r.name, look, r.size+int64(len(next)))
	if err != nil {
		return err
	}
	if err := r.g.content(r.ctx, r.name, kinds, look, r.name, nil); err != nil {
		return err
	}
	under, err := r.g.core.replace(r.ctx, r.name, r.perm)
	if err != nil {
		return err
	}
	if _, err := under.Write(r.head); err != nil {
		under.abort()
		return err
	}
	r.under, r.asked = under, true
	return nil
}

func (r *guardReplacement) commit(ctx context.Context) error {
	return r.settle(ctx, func() error {
		if r.under == nil {
			return writeWhole(ctx, r.g.core, r.name, r.head, r.perm)
		}
		return r.under.commit(ctx)
	})
}

func (r *guardReplacement) abort() {
	if r.under != nil {
		r.under.abort()
	}
}

// settle checks the content, counts its size against the limits, and calls do to write it.
func (r *guardReplacement) settle(ctx context.Context, do func() error) error {
	var old core
	files := 0
	if r.before >= 0 {
		old = r.g.core
	} else {
		files = 1
	}
	if !r.asked {
		kinds, err := classify(ctx, r.name, r.head, r.size)
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

// mayRemove checks name and everything below it. A protected file cannot be removed with
// the folder above it. size is the number of bytes to be removed.
func (g *guard) mayRemove(ctx context.Context, name string) (size int64, err error) {
	if err := g.change(ctx, protocol.OpRemove, Question{Op: "remove", Path: name}); err != nil {
		return 0, err
	}
	err = g.below(context.WithValue(ctx, reachKey{}, true), name, func(e Entry) error {
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
func (g *guard) unnamed(e Entry, err error) error {
	var refused *GuardError
	if !errors.As(err, &refused) || g.read(e.Path) == nil {
		return err
	}
	return refuse(refused.Err, "the folder holds a file that may not be read, and that this may not be done to")
}

// below calls do for a file, or for everything in a folder.
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

func (g *guard) rename(ctx context.Context, from, to string) error {
	if err := g.change(ctx, protocol.OpRemove, Question{Op: "rename", Path: from, To: to}); err != nil {
		return err
	}
	if err := g.fresh(ctx, to); err != nil {
		return err
	}
	// A guard below may hide files from this one. They move too.
	err := g.below(context.WithValue(ctx, reachKey{}, true), from, func(e Entry) error {
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
	err = g.below(ctx, from, func(e Entry) error {
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
		if e.Dir || e.Link {
			return nil // a link is moved itself and not followed
		}
		kinds, err := kindsOfAs(ctx, g.core, e.Path, next)
		if err != nil {
			return err
		}
		return g.content(ctx, next, kinds, nil, e.Path, g.core)
	})
	if err != nil {
		return err
	}
	return g.core.rename(ctx, from, to)
}
