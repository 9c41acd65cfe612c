package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// A crasher dies at its n-th step. Nothing works after that, as in a killed tab. The step
// itself is not done, or done without a reply, or, for a write to a store that is not
// atomic, half done.
type crasher struct {
	at    int // 0: never
	how   crashKind
	steps int
	dead  bool
	// answer, if set, is returned instead of dying: one refusal, and then everything works.
	answer error
}

type crashKind int

const (
	dieBefore crashKind = iota
	dieAfter
	dieTorn
)

var errCrash = errors.New("the tab was killed")

// step reports whether to do the next step, and returns the error for it.
func (c *crasher) step() (do bool, err error) {
	if c.dead {
		return false, errCrash
	}
	c.steps++
	if c.at == 0 || c.steps != c.at {
		return true, nil
	}
	if c.answer != nil {
		return false, c.answer
	}
	c.dead = true
	return c.how == dieAfter, errCrash
}

func (c *crasher) alive() error {
	if c.dead {
		return errCrash
	}
	return nil
}

// faulty is a core that calls a crasher once for each operation that the platform does as a
// whole.
type faulty struct {
	core.Core
	c    *crasher
	torn bool // writes are not atomic: death leaves half of one
	move bool // the platform renames in one step
}

func faultyFS(fsys FS, c *crasher, torn, eager bool) FS {
	v := viewOf(fsys)
	f := &faulty{v.rooted(), c, torn, v.c.Features().DirMove}
	if eager {
		return newFolder(faultyEager{f})
	}
	return newFolder(f)
}

func (f *faulty) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.Core.Stat(ctx, name)
}

func (f *faulty) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.Core.ReadDir(ctx, name)
}

func (f *faulty) ReadFile(ctx context.Context, name string) ([]byte, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.Core.ReadFile(ctx, name)
}

func (f *faulty) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	if flag != os.O_RDONLY {
		return nil, core.ErrUnsupported
	}
	return f.Core.Open(ctx, name, flag, perm)
}

func (f *faulty) act(do func() error) error {
	ok, err := f.c.step()
	if ok {
		if derr := do(); derr != nil {
			return derr
		}
	}
	return err
}

func (f *faulty) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return f.act(func() error { return f.Core.Mkdir(ctx, name, perm) })
}

func (f *faulty) Remove(ctx context.Context, name string) error {
	return f.act(func() error { return f.Core.Remove(ctx, name) })
}

// RemoveAll goes file by file, as platforms do.
func (f *faulty) RemoveAll(ctx context.Context, name string) error {
	fi, err := f.Stat(ctx, name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		list, err := f.ReadDir(ctx, name)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := f.RemoveAll(ctx, core.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return f.Remove(ctx, name)
}

func (f *faulty) Rename(ctx context.Context, from, to string) error {
	if !f.move {
		return core.CopyRename(ctx, f, from, to)
	}
	return f.act(func() error { return f.Core.Rename(ctx, from, to) })
}

func (f *faulty) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	r, err := f.Core.Replace(ctx, name, perm)
	if err != nil {
		return nil, err
	}
	return &faultyReplacement{Replacement: r, f: f, name: name, perm: perm}, nil
}

type faultyReplacement struct {
	core.Replacement
	f    *faulty
	name string
	perm fs.FileMode
	data []byte
}

func (r *faultyReplacement) Write(p []byte) (n int, err error) {
	r.data = append(r.data, p...)
	err = r.f.act(func() (err error) { n, err = r.Replacement.Write(p); return err })
	return n, err
}

func (r *faultyReplacement) Commit(ctx context.Context) error {
	was := r.f.c.dead
	err := r.f.act(func() error { return r.Replacement.Commit(ctx) })
	if r.f.torn && !was && r.f.c.dead && r.f.c.how == dieTorn {
		_ = core.WriteWhole(ctx, r.f.Core, r.name, r.data[:len(r.data)/2], r.perm)
	}
	return err
}

// faultyEager is a faulty core with the short ways of the browser's core: a new file
// exists, empty, as soon as it is begun.
type faultyEager struct{ *faulty }

func (f faultyEager) BeginNew(ctx context.Context, name string) (core.Replacement, error) {
	if err := f.act(func() error { return core.WriteWhole(ctx, f.Core, name, nil, 0o600) }); err != nil {
		return nil, err
	}
	r, err := f.Core.Replace(ctx, name, 0o600)
	if err != nil {
		return nil, err
	}
	return &begunNew{faultyReplacement: faultyReplacement{Replacement: r, f: f.faulty, name: name, perm: 0o600}, ctx: ctx}, nil
}

// begunNew removes the empty file if it is aborted.
type begunNew struct {
	faultyReplacement
	ctx  context.Context
	done bool
}

func (r *begunNew) Commit(ctx context.Context) error {
	err := r.faultyReplacement.Commit(ctx)
	r.done = err == nil
	return err
}

func (r *begunNew) Abort() {
	if r.Replacement.Abort(); !r.done {
		_ = r.f.Remove(r.ctx, r.name)
	}
	r.done = true
}

func (f faultyEager) ReadReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *core.Pending, error) {
	fi, err := f.Stat(ctx, name)
	if err != nil || fi.IsDir() {
		return fi, nil, nil, err
	}
	var old []byte
	if fi.Size() <= max {
		if old, err = f.ReadFile(ctx, name); err != nil {
			return nil, nil, nil, err
		}
	}
	p := &core.Pending{Done: make(chan struct{})}
	close(p.Done) // in order: steps are counted
	r, err := f.Replace(ctx, name, 0o666)
	p.R, p.Err = core.Filled(r, err, data)
	return fi, old, p, nil
}

func (f faultyEager) Overlaps() bool { return true }

func (f faultyEager) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	if _, err := f.Stat(ctx, name); !core.NotExist(err) {
		return f.faulty.Replace(ctx, name, perm)
	}
	if err := f.act(func() error { return core.WriteWhole(ctx, f.Core, name, nil, perm) }); err != nil {
		return nil, err
	}
	r, err := f.Core.Replace(ctx, name, perm)
	if err != nil {
		return nil, err
	}
	return &begunNew{faultyReplacement: faultyReplacement{Replacement: r, f: f.faulty, name: name, perm: perm}, ctx: ctx}, nil
}
