package fsaccess

import (
	"context"
	"io/fs"
	"os"
)

func (j *journal) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if !writable(flag) && flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		return j.core.open(ctx, name, flag, perm)
	}
	fi, err := j.core.stat(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, errExist
	case err == nil && fi.IsDir():
		return nil, errIsDir
	case notExist(err) && flag&os.O_CREATE != 0 && writable(flag) && keepsFresh(j.core):
		// The guard below may refuse the content, so nothing is made before.
		if err := mayCreate(ctx, j.core, name); err != nil {
			return nil, err
		}
		return newFresh(asked(ctx, j.core), j, name, flag, perm), nil
	case notExist(err) && flag&os.O_CREATE != 0:
		ctx = grouped(ctx) // making and filling the file are one step for Undo
		if _, err := j.make(ctx, name, perm); err != nil {
			return nil, err
		}
		if fi, err = j.core.stat(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := mayWrite(ctx, j.core, name, flag); err != nil {
			return nil, err
		}
	}
	if !writable(flag) {
		if flag&os.O_TRUNC != 0 && fi.Size() > 0 {
			if err := j.writeFile(ctx, name, nil, perm); err != nil {
				return nil, err
			}
		}
		return j.core.open(ctx, name, os.O_RDONLY, 0)
	}
	return newStaged(asked(ctx, j.core), j, name, flag, perm, func() (File, error) { return j.core.open(ctx, name, os.O_RDONLY, 0) }, fi)
}

// writeChecker is a core that can check whether a file may be written without touching it.
type writeChecker interface {
	mayWrite(ctx context.Context, name string) error
}

func mayWrite(ctx context.Context, c core, name string, flag int) error {
	if w, ok := c.(writeChecker); ok {
		return w.mayWrite(ctx, name)
	}
	if c.features().ReadOnly {
		return ErrReadOnly
	}
	if c.features().Staged {
		return nil // opening would cost a copy; the write itself returns the error
	}
	f, err := c.open(ctx, name, flag&^(os.O_CREATE|os.O_EXCL|os.O_TRUNC), 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func (j *journal) keepsFresh() bool { return keepsFresh(j.core) }

func (j *journal) asked(ctx context.Context) context.Context { return asked(ctx, j.core) }

// asked returns a context in which a guard below does not repeat the question that it asked
// when the file was opened.
func asked(ctx context.Context, c core) context.Context {
	if a, ok := c.(interface {
		asked(context.Context) context.Context
	}); ok {
		return a.asked(ctx)
	}
	return ctx
}

func (j *journal) mayCreate(ctx context.Context, name string) error {
	return mayCreate(ctx, j.core, name)
}

// createChecker is a core that can check whether a file may be made without making it.
type createChecker interface {
	mayCreate(ctx context.Context, name string) error
}

func mayCreate(ctx context.Context, c core, name string) error {
	if m, ok := c.(createChecker); ok {
		return m.mayCreate(ctx, name)
	}
	if c.features().ReadOnly {
		return ErrReadOnly
	}
	return needDir(ctx, c, parentOf(name))
}

func (j *journal) mayWrite(ctx context.Context, name string) error {
	return mayWrite(ctx, j.core, name, os.O_WRONLY)
}
