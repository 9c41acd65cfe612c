package fsaccess

import (
	"context"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/protocol"
)

func (g *guard) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if readable(flag) {
		if err := g.read(name); err != nil && !(flag == os.O_RDONLY && g.policy.MayTraverse(name)) {
			return nil, err
		}
	}
	if !writable(flag) && flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		f, err := g.core.open(ctx, name, flag, perm)
		if err != nil {
			return nil, g.untold(name, err)
		}
		fi, err := f.Stat()
		if err == nil && fi.IsDir() {
			f.Close()
			return &dirFile{info: fi,
				list:  func() ([]fs.DirEntry, error) { return g.readDir(ctx, name) },
				pages: func() (pager, error) { return g.pages(ctx, name) }}, nil
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
	fi, err := g.core.stat(ctx, name)
	if err == nil && isLink(fi.Mode()) {
		return nil, linkAt(name, "")
	}
	q := Question{Op: "write", Path: name}
	if notExist(err) && flag&os.O_CREATE != 0 {
		q.Op = "create"
	}
	if err := g.change(ctx, protocol.OpWrite, q); err != nil {
		return nil, err
	}
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case err == nil && fi.IsDir():
		return nil, errIsDir
	case q.Op == "create":
		return g.openNew(ctx, name, flag, perm)
	case err != nil:
		return nil, err
	case flag&os.O_TRUNC != 0 && !writable(flag):
		if err := writeWhole(g.asked(ctx), g, name, nil, perm); err != nil {
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
	ctx = g.asked(ctx)
	return newStaged(ctx, &unreadGuard{g}, name, flag, perm, func() (File, error) { return g.core.open(ctx, name, os.O_RDONLY, 0) }, fi)
}

// openNew opens a file that does not exist yet. The file is made at Sync or Close, because
// only then its content is known, and with it the kinds that need consent.
func (g *guard) openNew(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if err := mayCreate(ctx, g.core, name); err != nil {
		return nil, err
	}
	if err := g.fresh(ctx, name); err != nil {
		return nil, err
	}
	ctx = g.asked(ctx)
	if writable(flag) {
		return newFresh(ctx, &unreadGuard{g}, name, flag, perm), nil
	}
	if err := writeWhole(ctx, g, name, nil, perm); err != nil {
		return nil, err
	}
	return g.core.open(ctx, name, os.O_RDONLY, 0)
}

func (g *guard) keepsFresh() bool { return true }

// asked returns a context in which this guard does not ask again.
func (g *guard) asked(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, g)
}

func (g *guard) mayCreate(ctx context.Context, name string) error {
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "create", Path: name}); err != nil {
		return err
	}
	if err := mayCreate(ctx, g.core, name); err != nil {
		return err
	}
	return g.fresh(ctx, name)
}

// unreadGuard is the guard below a staged file. It reads without a check, because merging
// the written bytes into the rest of the file is no reading by the caller.
type unreadGuard struct{ *guard }

func (u *unreadGuard) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	return u.core.open(ctx, name, flag, perm)
}
func (u *unreadGuard) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	return u.core.stat(ctx, name)
}

func (g *guard) mayWrite(ctx context.Context, name string) error {
	if err := g.change(ctx, protocol.OpWrite, Question{Op: "write", Path: name}); err != nil {
		return err
	}
	return mayWrite(ctx, g.core, name, os.O_WRONLY)
}
