package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// begun is the knowledge at the beginning of a write: the state before, the content if it
// had to be read anyway, and the prepared next content, if any.
type begun struct {
	before state
	data   []byte
	swap   *core.Pending
}

func (j *Journal) beginWrite(ctx context.Context, name string, data []byte, perm fs.FileMode) (b begun, err error) {
	if c, ok := j.Core.(core.ReadReplacer); ok {
		var fi fs.FileInfo
		fi, b.data, b.swap, err = c.ReadReplace(ctx, name, data, inlineMax)
		if core.NotExist(err) || errors.Is(err, core.ErrNotDir) {
			return begun{}, nil
		}
		if err == nil {
			b.before, b.data, err = j.stateOf(ctx, name, fi, b.data, true)
		}
		return b, err
	}
	if b.before, b.data, err = j.lookRead(ctx, name); err != nil {
		return b, err
	}
	if o, ok := j.Core.(core.Overlapper); ok && b.before.file() && o.Overlaps() {
		b.swap = core.Begin(func() (core.Replacement, error) {
			r, err := j.Core.Replace(ctx, name, perm)
			return core.Filled(r, err, data)
		})
	}
	return b, nil
}

func (j *Journal) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	name, err := j.spelling(ctx, name)
	if err != nil {
		return err
	}
	leave, err := j.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ahead := j.store.ahead(ctx, j.last()+1)
	defer ahead.Abort()
	b, err := j.beginWrite(ctx, name, data, perm)
	defer b.swap.Abort()
	if err != nil {
		return err
	}
	act := func() error {
		ctx := context.WithoutCancel(ctx)
		if b.swap == nil {
			return core.WriteWhole(ctx, j.Core, name, data, perm)
		}
		r, err := b.swap.Wait()
		if err != nil {
			return err
		}
		return r.Commit(ctx)
	}
	r, err := j.putRecord(ctx, "write", name, b.before, b.data, fileState(data, perm))
	switch {
	case err != nil:
		return err
	case r == nil:
		return act() // the content is the same, so there is nothing to undo
	}
	r.ahead = ahead
	return j.changeLocked(ctx, r, act)
}

func fileState(data []byte, perm fs.FileMode) state {
	return state{"file", core.HashOf(data), int64(len(data)), permOf(perm)}
}

func (j *Journal) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if !core.Writable(flag) && flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		return j.Core.Open(ctx, name, flag, perm)
	}
	fi, err := j.Core.Stat(ctx, name)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, core.ErrExist
	case err == nil && fi.IsDir():
		return nil, core.ErrIsDir
	case core.NotExist(err) && flag&os.O_CREATE != 0 && core.Writable(flag) && core.KeepsFresh(j.Core):
		// The guard below may refuse the content, so nothing is made before.
		if err := core.MayCreate(ctx, j.Core, name); err != nil {
			return nil, err
		}
		return core.NewFresh(core.Asked(ctx, j.Core), j, name, flag, perm), nil
	case core.NotExist(err) && flag&os.O_CREATE != 0:
		ctx = core.Grouped(ctx) // making and filling the file are one step for Undo
		if _, err := j.make(ctx, name, perm); err != nil {
			return nil, err
		}
		if fi, err = j.Core.Stat(ctx, name); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		if err := core.MayWrite(ctx, j.Core, name, flag); err != nil {
			return nil, err
		}
	}
	if !core.Writable(flag) {
		if flag&os.O_TRUNC != 0 && fi.Size() > 0 {
			if err := j.WriteFile(ctx, name, nil, perm); err != nil {
				return nil, err
			}
		}
		return j.Core.Open(ctx, name, os.O_RDONLY, 0)
	}
	return core.NewStaged(core.Asked(ctx, j.Core), j, name, flag, perm, func() (core.File, error) { return j.Core.Open(ctx, name, os.O_RDONLY, 0) }, fi)
}

func (j *Journal) KeepsFresh() bool { return core.KeepsFresh(j.Core) }

func (j *Journal) Asked(ctx context.Context) context.Context { return core.Asked(ctx, j.Core) }

func (j *Journal) MayCreate(ctx context.Context, name string) error {
	return core.MayCreate(ctx, j.Core, name)
}

func (j *Journal) MayWrite(ctx context.Context, name string) error {
	return core.MayWrite(ctx, j.Core, name, os.O_WRONLY)
}

func (j *Journal) Push(ctx context.Context, root string, told chan<- []string) (func(), error) {
	return core.Push(ctx, j.Core, root, told, core.SameName)
}
