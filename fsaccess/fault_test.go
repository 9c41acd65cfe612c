package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
	core
	c    *crasher
	torn bool // writes are not atomic: death leaves half of one
	move bool // the platform renames in one step
}

func faultyFS(fsys FS, c *crasher, torn, eager bool) FS {
	v := viewOf(fsys)
	f := &faulty{v.rooted(), c, torn, v.c.features().DirMove}
	if eager {
		return newFolder(faultyEager{f})
	}
	return newFolder(f)
}

func (f *faulty) stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.core.stat(ctx, name)
}

func (f *faulty) readDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.core.readDir(ctx, name)
}

func (f *faulty) readFile(ctx context.Context, name string) ([]byte, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	return f.core.readFile(ctx, name)
}

func (f *faulty) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	if flag != os.O_RDONLY {
		return nil, errUnsupported
	}
	return f.core.open(ctx, name, flag, perm)
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

func (f *faulty) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return f.act(func() error { return f.core.mkdir(ctx, name, perm) })
}

func (f *faulty) remove(ctx context.Context, name string) error {
	return f.act(func() error { return f.core.remove(ctx, name) })
}

// removeAll goes file by file, as platforms do.
func (f *faulty) removeAll(ctx context.Context, name string) error {
	fi, err := f.stat(ctx, name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		list, err := f.readDir(ctx, name)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := f.removeAll(ctx, join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return f.remove(ctx, name)
}

func (f *faulty) rename(ctx context.Context, from, to string) error {
	if !f.move {
		return copyRename(ctx, f, from, to)
	}
	return f.act(func() error { return f.core.rename(ctx, from, to) })
}

func (f *faulty) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	if err := f.c.alive(); err != nil {
		return nil, err
	}
	r, err := f.core.replace(ctx, name, perm)
	if err != nil {
		return nil, err
	}
	return &faultyReplacement{replacement: r, f: f, name: name, perm: perm}, nil
}

type faultyReplacement struct {
	replacement
	f    *faulty
	name string
	perm fs.FileMode
	data []byte
}

func (r *faultyReplacement) Write(p []byte) (n int, err error) {
	r.data = append(r.data, p...)
	err = r.f.act(func() (err error) { n, err = r.replacement.Write(p); return err })
	return n, err
}

func (r *faultyReplacement) commit(ctx context.Context) error {
	was := r.f.c.dead
	err := r.f.act(func() error { return r.replacement.commit(ctx) })
	if r.f.torn && !was && r.f.c.dead && r.f.c.how == dieTorn {
		_ = writeWhole(ctx, r.f.core, r.name, r.data[:len(r.data)/2], r.perm)
	}
	return err
}

// faultyEager is a faulty core with the short ways of the browser's core: a new file
// exists, empty, as soon as it is begun.
type faultyEager struct{ *faulty }

func (f faultyEager) beginNew(ctx context.Context, name string) (replacement, error) {
	if err := f.act(func() error { return writeWhole(ctx, f.core, name, nil, 0o600) }); err != nil {
		return nil, err
	}
	r, err := f.core.replace(ctx, name, 0o600)
	if err != nil {
		return nil, err
	}
	return &begunNew{faultyReplacement: faultyReplacement{replacement: r, f: f.faulty, name: name, perm: 0o600}, ctx: ctx}, nil
}

// begunNew removes the empty file if it is aborted.
type begunNew struct {
	faultyReplacement
	ctx  context.Context
	done bool
}

func (r *begunNew) commit(ctx context.Context) error {
	err := r.faultyReplacement.commit(ctx)
	r.done = err == nil
	return err
}

func (r *begunNew) abort() {
	if r.replacement.abort(); !r.done {
		_ = r.f.remove(r.ctx, r.name)
	}
	r.done = true
}

func (f faultyEager) readReplace(ctx context.Context, name string, data []byte, max int64) (fs.FileInfo, []byte, *pending, error) {
	fi, err := f.stat(ctx, name)
	if err != nil || fi.IsDir() {
		return fi, nil, nil, err
	}
	var old []byte
	if fi.Size() <= max {
		if old, err = f.readFile(ctx, name); err != nil {
			return nil, nil, nil, err
		}
	}
	p := &pending{done: make(chan struct{})}
	close(p.done) // in order: steps are counted
	r, err := f.replace(ctx, name, 0o666)
	p.r, p.err = filled(r, err, data)
	return fi, old, p, nil
}

func (f faultyEager) overlaps() bool { return true }

func (f faultyEager) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	if _, err := f.stat(ctx, name); !notExist(err) {
		return f.faulty.replace(ctx, name, perm)
	}
	if err := f.act(func() error { return writeWhole(ctx, f.core, name, nil, perm) }); err != nil {
		return nil, err
	}
	r, err := f.core.replace(ctx, name, perm)
	if err != nil {
		return nil, err
	}
	return &begunNew{faultyReplacement: faultyReplacement{replacement: r, f: f.faulty, name: name, perm: perm}, ctx: ctx}, nil
}
