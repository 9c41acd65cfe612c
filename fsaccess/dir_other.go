//go:build !js

package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"
)

func openDir(name string, o DirOptions) (*Folder, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return newFolder(&osDir{root: root, o: o, sh: newShared()}), nil
}

type osDir struct {
	root *os.Root
	o    DirOptions
	sh   *shared
	once sync.Once
}

func (d *osDir) features() Features {
	return Features{Source: "os", Chmod: true, Chtimes: true, Symlinks: true, DirMove: true, FileMove: true}
}

func (d *osDir) base() *shared { return d.sh }

func (d *osDir) close() (err error) {
	d.once.Do(func() { err = d.root.Close() })
	return err
}

// osErr names what os.Root leaves nameless.
func osErr(err error) error {
	if err == nil {
		return nil
	}
	if err = rootCause(err); err.Error() == "path escapes from parent" {
		return ErrBadName
	}
	return err
}

func plain(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

func (d *osDir) open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	fi, err := d.root.Stat(name)
	if err == nil && !plain(fi.Mode()) {
		return nil, errors.ErrUnsupported // opening a pipe would wait for its other end
	}
	f, err := d.root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, osErr(err)
	}
	if fi, err = f.Stat(); err != nil {
		f.Close()
		return nil, osErr(err)
	}
	if !fi.IsDir() {
		return &osFile{f}, nil
	}
	f.Close()
	return &dirFile{info: dirInfo(fi, name),
		list:  func() ([]fs.DirEntry, error) { return d.readDir(ctx, name) },
		pages: func() (pager, error) { return d.pages(name) }}, nil
}

// dirInfo names the root ".", which the system knows by its outside name.
func dirInfo(fi fs.FileInfo, name string) fs.FileInfo {
	return Info{name: path.Base(name), size: fi.Size(), mode: fi.Mode(), mtime: fi.ModTime()}
}

func (d *osDir) stat(_ context.Context, name string) (fs.FileInfo, error) {
	fi, err := d.root.Stat(name)
	if err != nil {
		return nil, osErr(err)
	}
	return dirInfo(fi, name), nil
}

func (d *osDir) readDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, osErr(err)
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, osErr(err)
	}
	out := list[:0]
	for _, e := range list {
		if !isSwap(e.Name()) {
			out = append(out, e)
		}
	}
	sortEntries(out)
	return out, nil
}

func (d *osDir) pages(name string) (pager, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, osErr(err)
	}
	return &sieve{osPager{f}, func(e fs.DirEntry) bool { return !isSwap(e.Name()) }}, nil
}

type osPager struct{ *os.File }

func (p osPager) close() error { return osErr(p.Close()) }

func (p osPager) next(n int) ([]fs.DirEntry, error) {
	list, err := p.ReadDir(n)
	if err == io.EOF {
		return list, err
	}
	return list, osErr(err)
}

func (d *osDir) readFile(_ context.Context, name string) ([]byte, error) {
	if fi, err := d.root.Stat(name); err == nil && !plain(fi.Mode()) {
		return nil, errors.ErrUnsupported
	}
	b, err := d.root.ReadFile(name)
	return b, osErr(err)
}

// target follows a link to the file that is to be replaced, for a rename would
// replace the link itself.
func (d *osDir) target(name string) (string, error) {
	p := name
	for range 40 {
		fi, err := d.root.Lstat(p)
		if err != nil || fi.Mode()&fs.ModeSymlink == 0 {
			break
		}
		to, err := d.root.Readlink(p)
		if err != nil {
			return "", err
		}
		if p = path.Join(path.Dir(p), to); path.IsAbs(to) || !fs.ValidPath(p) {
			return "", ErrBadName
		}
	}
	if p == name {
		return p, nil
	}
	a, err := d.root.Stat(name)
	if notExist(err) {
		return p, nil
	}
	if err != nil {
		return "", err
	}
	// A link through linked folders may mean another file than its text says.
	if b, err := d.root.Stat(p); err != nil || !os.SameFile(a, b) {
		return "", ErrBadName
	}
	return p, nil
}

func (d *osDir) replace(_ context.Context, name string, perm fs.FileMode) (replacement, error) {
	name, err := d.target(name)
	if err != nil {
		return nil, osErr(err)
	}
	fi, err := d.root.Stat(name)
	switch {
	case err == nil && fi.IsDir():
		return nil, errIsDir
	case err == nil && !plain(fi.Mode()):
		return nil, errors.ErrUnsupported
	case err == nil:
		// The rename below needs only the folder's permission; a file that
		// may not be written shall still say so.
		f, err := d.root.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, osErr(err)
		}
		f.Close()
	case !notExist(err):
		return nil, osErr(err)
	}
	tmp := join(parentOf(name), swapName())
	f, err2 := d.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err2 != nil {
		return nil, osErr(err2)
	}
	r := &osReplacement{d: d, f: f, tmp: tmp, name: name}
	if err == nil {
		if err := f.Chmod(fi.Mode().Perm()); err != nil {
			r.abort()
			return nil, osErr(err)
		}
	}
	return r, nil
}

type osReplacement struct {
	d         *osDir
	f         *os.File
	tmp, name string
	done      bool
}

func (r *osReplacement) Write(p []byte) (int, error) {
	n, err := r.f.Write(p)
	return n, osErr(err)
}

func (r *osReplacement) commit(context.Context) error {
	if r.done {
		return fs.ErrClosed
	}
	var err error
	if !r.d.o.NoSync {
		err = r.f.Sync()
	}
	if err = errors.Join(err, r.f.Close()); err == nil {
		err = r.d.root.Rename(r.tmp, r.name)
	}
	r.done = true
	if err != nil {
		r.d.root.Remove(r.tmp)
	}
	return osErr(err)
}

func (r *osReplacement) abort() {
	if r.done {
		return
	}
	r.done = true
	r.f.Close()
	r.d.root.Remove(r.tmp)
}

func (d *osDir) mkdir(_ context.Context, name string, perm fs.FileMode) error {
	return osErr(d.root.Mkdir(name, perm))
}

func (d *osDir) remove(ctx context.Context, name string) error {
	err := d.root.Remove(name)
	if errors.Is(err, errNotEmpty) && d.sweep(ctx, name) {
		err = d.root.Remove(name)
	}
	return osErr(err)
}

// sweep removes swap files that a killed program left in a folder that is
// otherwise empty.
func (d *osDir) sweep(ctx context.Context, name string) bool {
	if list, err := d.readDir(ctx, name); err != nil || len(list) > 0 {
		return false
	}
	f, err := d.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, n := range names {
		if isSwap(n) {
			d.root.Remove(join(name, n))
		}
	}
	return true
}

func (d *osDir) removeAll(_ context.Context, name string) error {
	return osErr(d.root.RemoveAll(name))
}

func (d *osDir) rename(_ context.Context, from, to string) error {
	return osErr(d.root.Rename(from, to))
}

func (d *osDir) chmod(_ context.Context, name string, mode fs.FileMode) error {
	return osErr(d.root.Chmod(name, mode))
}

func (d *osDir) chtimes(_ context.Context, name string, atime, mtime time.Time) error {
	return osErr(d.root.Chtimes(name, atime, mtime))
}

// osFile is os.File with its errors bare.
type osFile struct{ *os.File }

func (f *osFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, errNotDir }
