package web

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// bytesInPlace is a file that can be read and written at any offset without a promise. In
// practice it is the browser's access handle in a Worker.
type bytesInPlace interface {
	readAt(p []byte, off int64) (int, error) // fewer bytes than asked for mean the end
	writeAt(p []byte, off int64) (int, error)
	size() (int64, error)
	truncate(size int64) error
	flush() error
	Release() error
}

// lives holds the files of a folder that are open for writing in place. The browser gives
// out one access handle for a file, and locks the file for all others while it is open. So
// All handles of this folder share it, and another tab gets [core.ErrBusy].
type lives struct {
	open func(ctx context.Context, name string) (bytesInPlace, error)

	mu  sync.Mutex
	All map[string]*live
}

// live is one such file. An operation that replaces, moves or removes the file by its name
// holds it: the access handle is closed, and opened again when it is needed next.
type live struct {
	l    *lives
	name string // changed under l.mu and mu
	refs int    // under l.mu

	mu   sync.Mutex
	free sync.Cond // signalled when no operation holds the file any more
	held int
	b    bytesInPlace // nil while the file is held, and until the handle is needed again
	gone error        // set if the name was removed
	when time.Time    // of the last change
}

func newLives(open func(context.Context, string) (bytesInPlace, error)) *lives {
	return &lives{open: open, All: make(map[string]*live)}
}

// take opens a file for writing, or shares the open one.
func (l *lives) take(ctx context.Context, name string, when time.Time) (*live, error) {
	l.mu.Lock()
	v := l.All[name]
	if v == nil {
		v = &live{l: l, name: name, when: when}
		v.free.L = &v.mu
		l.All[name] = v
	}
	v.refs++
	l.mu.Unlock()
	err := v.use(ctx, func(bytesInPlace) error { return nil })
	if err != nil {
		_ = v.drop()
		return nil, err
	}
	return v, nil
}

// find returns a share of a file that is open already, or nil. A nil receiver has no files.
func (l *lives) find(name string) *live {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.All[name]
	if v != nil {
		v.refs++
	}
	return v
}

// hold closes the access handles at or below a name until release is called, because
// another operation of this folder needs the file. Meanwhile reads use the name and writes
// wait.
func (l *lives) hold(name string) (release func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	var list []*live
	l.mu.Lock()
	for p, v := range l.All {
		if core.Within(name, p) {
			v.refs++
			list = append(list, v)
		}
	}
	l.mu.Unlock()
	release = func() {
		for _, v := range list {
			v.mu.Lock()
			if v.held--; v.held == 0 {
				v.free.Broadcast()
			}
			v.mu.Unlock()
			_ = v.drop()
		}
	}
	for _, v := range list {
		v.mu.Lock()
		v.held++
		if v.b != nil {
			if cerr := v.b.Release(); err == nil {
				err = cerr
			}
			v.b = nil
		}
		v.mu.Unlock()
	}
	if err != nil {
		release()
		return nil, err
	}
	return sync.OnceFunc(release), nil
}

// park takes the open files at or below a name out of the table while they are moved. place
// puts them back under the new name, or the old one. The caller holds the files meanwhile.
func (l *lives) park(from string) (place func(to string)) {
	if l == nil {
		return func(string) {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	aside := make(map[string]*live)
	for p, v := range l.All {
		if core.Within(from, p) {
			aside[p[len(from):]] = v
			delete(l.All, p)
		}
	}
	return func(to string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for rest, v := range aside {
			if old := l.All[to+rest]; old != nil {
				old.lose() // the file that had the name before
			}
			v.mu.Lock()
			v.name = to + rest
			v.mu.Unlock()
			l.All[v.name] = v
		}
	}
}

// removed marks the open files at or below a name as removed.
func (l *lives) removed(name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for p, v := range l.All {
		if core.Within(name, p) {
			delete(l.All, p)
			v.lose()
		}
	}
}

func (v *live) lose() {
	v.mu.Lock()
	v.gone = core.ErrConflict
	v.mu.Unlock()
}

// drop releases one share. After the last one the access handle is closed, and the browser
// gives the file to others. On a nil receiver it does nothing.
func (v *live) drop() error {
	if v == nil {
		return nil
	}
	v.l.mu.Lock()
	defer v.l.mu.Unlock()
	if v.refs--; v.refs > 0 {
		return nil
	}
	if v.l.All[v.name] == v {
		delete(v.l.All, v.name)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.b == nil {
		return nil
	}
	err := v.b.flush()
	if cerr := v.b.Release(); err == nil {
		err = cerr
	}
	v.b = nil
	return err
}

// use calls do with the open file. It waits while another operation holds the file.
func (v *live) use(ctx context.Context, do func(bytesInPlace) error) error {
	stop := context.AfterFunc(ctx, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.free.Broadcast()
	})
	defer stop()
	v.mu.Lock()
	defer v.mu.Unlock()
	for v.held > 0 && ctx.Err() == nil {
		v.free.Wait()
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if v.gone != nil {
		return v.gone
	}
	if v.b == nil {
		b, err := v.l.open(ctx, v.name)
		if err != nil {
			return err
		}
		v.b = b
	}
	return do(v.b)
}

// isHeld reports whether the file must be read by its name at present.
func (v *live) isHeld() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.held > 0
}

func (v *live) stat(ctx context.Context, name string) (info core.Info, err error) {
	err = v.use(ctx, func(b bytesInPlace) error {
		n, err := b.size()
		info = core.NewInfo(name, n, 0o666, v.when)
		return err
	})
	return info, err
}

// liveFile is an open File that shares a live.
type liveFile struct {
	ctx  context.Context
	v    *live
	path string
	flag int
	// byName opens the file for reading while it is held.
	byName func() (core.File, error)
	core.Cursor
}

func (f *liveFile) use(do func(bytesInPlace) error) error { return f.v.use(f.ctx, do) }

func (f *liveFile) Stat() (fs.FileInfo, error) {
	if f.v.isHeld() {
		g, err := f.byName()
		if err != nil {
			return nil, err
		}
		defer g.Close()
		return g.Stat()
	}
	fi, err := f.v.stat(f.ctx, f.path)
	return fi, err
}

func (f *liveFile) length() (n int64, err error) {
	err = f.use(func(b bytesInPlace) (err error) { n, err = b.size(); return err })
	return n, err
}

func (f *liveFile) Read(p []byte) (int, error) { return f.Cursor.ReadWith(p, f.ReadAt) }

func (f *liveFile) ReadAt(p []byte, off int64) (n int, err error) {
	if !core.Readable(f.flag) {
		return 0, core.ErrBadFD
	}
	if f.v.isHeld() {
		g, err := f.byName()
		if err != nil {
			return 0, err
		}
		defer g.Close()
		return g.ReadAt(p, off)
	}
	err = f.use(func(b bytesInPlace) error {
		for n < len(p) {
			k, err := b.readAt(p[n:], off+int64(n))
			if err != nil {
				return err
			}
			if n += k; k == 0 {
				return io.EOF
			}
		}
		return nil
	})
	return n, err
}

func (f *liveFile) Write(p []byte) (int, error) {
	return f.Cursor.WriteWith(p, f.length, f.WriteAt)
}

func (f *liveFile) WriteAt(p []byte, off int64) (n int, err error) {
	if !core.Writable(f.flag) {
		return 0, core.ErrBadFD
	}
	err = f.use(func(b bytesInPlace) error {
		f.v.when = time.Now()
		for n < len(p) {
			k, err := b.writeAt(p[n:], off+int64(n))
			if n += k; err != nil {
				return err
			}
			if k == 0 {
				return core.ErrQuota
			}
		}
		return nil
	})
	return n, err
}

func (f *liveFile) Truncate(size int64) error {
	if !core.Writable(f.flag) {
		return core.ErrInvalid
	}
	return f.use(func(b bytesInPlace) error {
		f.v.when = time.Now()
		return b.truncate(size)
	})
}

func (f *liveFile) Sync() error {
	if !core.Writable(f.flag) {
		return nil
	}
	return f.use(bytesInPlace.flush)
}

func (f *liveFile) Seek(off int64, whence int) (int64, error) {
	return f.Cursor.SeekWith(off, whence, f.length)
}

func (f *liveFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, core.ErrNotDir }

func (f *liveFile) Close() error { return f.v.drop() }

// NewFile opens an existing file for writing in place.
func (l *lives) NewFile(ctx context.Context, path string, flag int, when time.Time, byName func() (core.File, error)) (core.File, error) {
	v, err := l.take(ctx, path, when)
	if err != nil {
		return nil, err
	}
	f := &liveFile{ctx: ctx, v: v, path: path, flag: flag, byName: byName, Cursor: core.Cursor{Append: flag&os.O_APPEND != 0}}
	if flag&os.O_TRUNC != 0 {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}
