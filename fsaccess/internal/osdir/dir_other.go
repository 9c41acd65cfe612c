//go:build !js

package osdir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Open opens a folder of the operating system. If noSync is true, written files are not
// flushed to the disk.
func Open(name string, noSync bool) (core.Core, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Dir{Root: root, noSync: noSync, sh: core.NewShared()}, nil
}

// Dir is a folder of the operating system in which no symbolic link is followed.
//
// os.Root keeps a name inside the folder, but follows links on the way. So each operation
// opens the folders of a name one by one ([osDir.at]) and works in the last one. A check
// and the operation after it use the same open folder. If another program puts a link in
// place of a folder meanwhile, the link is not followed.
type Dir struct {
	Root   *os.Root
	sh     *core.Shared
	noSync bool
	once   sync.Once

	// These are for tests. follow lets links be followed. blind switches off the comparison
	// of the opened file with the checked one. between is called after an element of a name
	// was checked and before it is opened.
	Follow, Blind bool
	Between       func(elem string)
}

func (d *Dir) Features() core.Features {
	return core.Features{Source: "os", Chmod: true, Chtimes: true, Links: true, DirMove: true, FileMove: true}
}

func (d *Dir) Base() *core.Shared { return d.sh }

func (d *Dir) Release() (err error) {
	d.once.Do(func() { err = d.Root.Close() })
	return err
}

// osErr returns the error of this package for a bare error of os.Root.
func osErr(err error) error {
	if err == nil {
		return nil
	}
	if err = core.RootCause(err); err.Error() == "path escapes from parent" {
		return core.ErrBadName
	}
	return err
}

func plain(m fs.FileMode) bool { return m.IsRegular() || m.IsDir() }

// place is the open folder that contains a name, and the last element of the name.
type place struct {
	d    *Dir
	dir  *os.Root
	base string
	name string // the whole name, for errors
}

// Release closes the folder, unless it is the root.
func (p place) close() {
	if p.dir != p.d.Root {
		p.dir.Close()
	}
}

// at opens the folder that contains a name. It fails with [core.ErrLink] if an element before
// the last is a link.
func (d *Dir) at(name string) (place, error) {
	p := place{d: d, dir: d.Root, base: name, name: name}
	if d.Follow {
		return p, nil
	}
	parent := core.ParentOf(name)
	if p.base = core.BaseOf(name); parent == "." {
		return p, nil
	}
	done := ""
	for elem := range core.Parts(parent) {
		done = join2(done, elem)
		next, err := place{d: d, dir: p.dir, base: elem, name: done}.enter()
		if err != nil {
			p.close()
			return p, err
		}
		p.close()
		p.dir = next
	}
	return p, nil
}

// join2 is join for a dir that may be "".
func join2(dir, elem string) string {
	if dir == "" {
		return elem
	}
	return dir + "/" + elem
}

// look returns the information of the entry, for a link that of the link.
func (p place) look() (fs.FileInfo, error) {
	stat := p.dir.Lstat
	if p.d.Follow {
		stat = p.dir.Stat
	}
	fi, err := stat(p.base)
	if err == nil && p.d.Between != nil {
		p.d.Between(p.base)
	}
	return fi, err
}

// link returns the error of using the link at the place.
func (p place) link() error {
	to, _ := p.dir.Readlink(p.base)
	return core.LinkAt(p.name, to)
}

// enter opens the folder at the place.
func (p place) enter() (*os.Root, error) {
	for try := 0; ; try++ {
		dir, err := p.enterOnce()
		if try < Tries && core.IsSwapped(err) {
			continue
		}
		return dir, err
	}
}

func (p place) enterOnce() (*os.Root, error) {
	fi, err := p.look()
	switch {
	case err != nil:
		return nil, err
	case leadsElsewhere(fi.Mode()) && !p.d.Follow:
		return nil, p.link()
	case !fi.IsDir():
		return nil, core.ErrNotDir
	}
	dir, err := p.dir.OpenRoot(p.base)
	if err != nil {
		return nil, err
	}
	now, err := dir.Stat(".")
	if err == nil {
		err = p.same(fi, now)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// same returns an error if the opened file is not the checked one. os.Root follows a link
// that took the file's place in between.
func (p place) same(looked, opened fs.FileInfo) error {
	if os.SameFile(looked, opened) || p.d.Follow || p.d.Blind {
		return nil
	}
	return core.LinkSwapped(p.name)
}

// file opens the file or folder at the place and returns its information. flag is that of
// OpenFile. Nothing is truncated before it is known to be the checked file. Files are made
// only with O_EXCL, which follows no link.
func (p place) file(flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	for try := 0; ; try++ {
		looked, err := p.look()
		if core.NotExist(err) && flag&os.O_CREATE != 0 {
			f, err := p.dir.OpenFile(p.base, flag|os.O_EXCL, perm)
			if errors.Is(err, fs.ErrExist) && flag&os.O_EXCL == 0 && try < Tries {
				continue // another program has just made it
			}
			return described(f, err)
		}
		switch {
		case err != nil:
			return nil, nil, err
		case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
			return nil, nil, core.ErrExist
		case leadsElsewhere(looked.Mode()) && !p.d.Follow:
			return nil, nil, p.link()
		case !plain(looked.Mode()):
			return nil, nil, errors.ErrUnsupported // opening a pipe would wait for its other end
		case looked.IsDir() && (core.Writable(flag) || flag&(os.O_CREATE|os.O_TRUNC) != 0):
			return nil, nil, core.ErrIsDir
		}
		f, fi, err := described(p.dir.OpenFile(p.base, flag&^(os.O_CREATE|os.O_TRUNC|os.O_EXCL), 0))
		if err != nil {
			return nil, nil, err
		}
		if err = p.same(looked, fi); err == nil && flag&os.O_TRUNC != 0 {
			err = p.truncate(f, fi, flag)
		}
		if err != nil {
			f.Close()
			if core.IsSwapped(err) && try < Tries {
				continue
			}
			return nil, nil, err
		}
		return f, fi, nil
	}
}

// truncate empties an open file. If the file is open only for reading, it uses another
// handle.
func (p place) truncate(f *os.File, fi fs.FileInfo, flag int) error {
	if core.Writable(flag) {
		return f.Truncate(0)
	}
	w, now, err := described(p.dir.OpenFile(p.base, os.O_WRONLY, 0))
	if err != nil {
		return err
	}
	defer w.Close()
	if err := p.same(fi, now); err != nil {
		return err
	}
	return w.Truncate(0)
}

func described(f *os.File, err error) (*os.File, fs.FileInfo, error) {
	if err != nil {
		return nil, nil, err
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// leadsElsewhere reports whether a file is a symbolic link, or a similar file of Windows
// such as a junction, which package os calls irregular.
func leadsElsewhere(m fs.FileMode) bool { return m&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// openAt opens the file or folder of a name.
func (d *Dir) openAt(name string, flag int, perm fs.FileMode) (*os.File, fs.FileInfo, error) {
	p, err := d.at(name)
	if err != nil {
		return nil, nil, osErr(err)
	}
	defer p.close()
	f, fi, err := p.file(flag, perm)
	return f, fi, osErr(err)
}

func (d *Dir) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (core.File, error) {
	f, fi, err := d.openAt(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return &osFile{f}, nil
	}
	f.Close()
	return &core.DirFile{Info: dirInfo(fi, name),
		List:  func() ([]fs.DirEntry, error) { return d.ReadDir(ctx, name) },
		Pages: func() (core.Pager, error) { return d.pages(name) }}, nil
}

// dirInfo returns fi with the name that the caller used. The system would return the
// outside name for the root.
func dirInfo(fi fs.FileInfo, name string) fs.FileInfo {
	return core.NewInfo(path.Base(name), fi.Size(), fi.Mode(), fi.ModTime())
}

func (d *Dir) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	p, err := d.at(name)
	if err != nil {
		return nil, osErr(err)
	}
	defer p.close()
	fi, err := p.look()
	if err != nil {
		return nil, osErr(err)
	}
	return dirInfo(fi, name), nil
}

func (d *Dir) openFolder(name string) (*os.File, error) {
	f, fi, err := d.openAt(name, os.O_RDONLY, 0)
	if err == nil && !fi.IsDir() {
		f.Close()
		return nil, core.ErrNotDir
	}
	return f, err
}

func (d *Dir) ReadDir(_ context.Context, name string) ([]fs.DirEntry, error) {
	f, err := d.openFolder(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, osErr(err)
	}
	out := list[:0]
	for _, e := range list {
		if !core.IsSwap(e.Name()) {
			out = append(out, e)
		}
	}
	core.SortEntries(out)
	return out, nil
}

func (d *Dir) pages(name string) (core.Pager, error) {
	f, err := d.openFolder(name)
	if err != nil {
		return nil, err
	}
	return core.Sift(osPager{f}, func(e fs.DirEntry) bool { return !core.IsSwap(e.Name()) }), nil
}

type osPager struct{ *os.File }

func (p osPager) Release() error { return osErr(p.Close()) }

func (p osPager) Next(n int) ([]fs.DirEntry, error) {
	list, err := p.ReadDir(n)
	if err == io.EOF {
		return list, err
	}
	return list, osErr(err)
}

func (d *Dir) ReadFile(_ context.Context, name string) ([]byte, error) {
	f, fi, err := d.openAt(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi.IsDir() {
		return nil, core.ErrIsDir
	}
	data := make([]byte, 0, max(512, fi.Size()+1)) // one byte more finds the end
	for {
		n, err := f.Read(data[len(data):cap(data)])
		if data = data[:len(data)+n]; err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, osErr(err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

// Replace begins the next content of a file. A link is refused: a rename would replace the
// link, and writing through it would change a file with another name.
func (d *Dir) Replace(_ context.Context, name string, perm fs.FileMode) (_ core.Replacement, err error) {
	p, err := d.at(name)
	if err != nil {
		return nil, osErr(err)
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	// The rename in commit needs only write permission for the folder. A file that may not
	// be written must still be refused.
	f, fi, err := p.file(os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	} else if !core.NotExist(err) {
		return nil, osErr(err)
	}
	r := &osReplacement{place: p, tmp: core.SwapName()}
	if d.Follow {
		r.tmp = core.Join(core.ParentOf(p.base), r.tmp)
	}
	if r.f, err = p.dir.OpenFile(r.tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm); err != nil {
		return nil, osErr(err)
	}
	if fi != nil {
		if err := r.f.Chmod(fi.Mode().Perm()); err != nil {
			r.f.Close()
			p.dir.Remove(r.tmp)
			return nil, osErr(err)
		}
	}
	return r, nil
}

// osReplacement is a content in a swap file. It keeps the folder open until commit or
// Abort.
type osReplacement struct {
	place
	f    *os.File
	tmp  string
	done bool
}

func (r *osReplacement) Write(p []byte) (int, error) {
	n, err := r.f.Write(p)
	return n, osErr(err)
}

func (r *osReplacement) Commit(context.Context) error {
	if r.done {
		return fs.ErrClosed
	}
	var err error
	if !r.d.noSync {
		err = r.f.Sync()
	}
	if err = errors.Join(err, r.f.Close()); err == nil {
		err = r.dir.Rename(r.tmp, r.base)
	}
	r.done = true
	if err != nil {
		r.dir.Remove(r.tmp)
	}
	r.close()
	return osErr(err)
}

func (r *osReplacement) Abort() {
	if r.done {
		return
	}
	r.done = true
	r.f.Close()
	r.dir.Remove(r.tmp)
	r.close()
}

// do calls op, an operation of os.Root that follows no link at its last element.
func (d *Dir) do(name string, op func(p place) error) error {
	p, err := d.at(name)
	if err != nil {
		return osErr(err)
	}
	defer p.close()
	return osErr(op(p))
}

func (d *Dir) Mkdir(_ context.Context, name string, perm fs.FileMode) error {
	return d.do(name, func(p place) error { return p.dir.Mkdir(p.base, perm) })
}

// Remove removes a file, an empty folder, or a link itself.
func (d *Dir) Remove(_ context.Context, name string) error {
	return d.do(name, func(p place) error {
		err := p.dir.Remove(p.base)
		if errors.Is(err, core.ErrNotEmpty) && p.sweep() {
			err = p.dir.Remove(p.base)
		}
		return err
	})
}

// sweep removes swap files that a killed program left in a folder that is otherwise empty.
// It reports whether the folder is empty now.
func (p place) sweep() bool {
	dir, err := p.enter()
	if err != nil {
		return false
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, n := range names {
		if !core.IsSwap(n) {
			return false
		}
	}
	for _, n := range names {
		dir.Remove(n)
	}
	return true
}

func (d *Dir) RemoveAll(_ context.Context, name string) error {
	return d.do(name, func(p place) error { return p.dir.RemoveAll(p.base) })
}

func (d *Dir) Rename(_ context.Context, from, to string) error {
	return d.do(from, func(a place) error {
		return d.do(to, func(b place) error {
			if d.Follow || core.ParentOf(from) == core.ParentOf(to) {
				return a.dir.Rename(a.base, b.base)
			}
			return renameBetween(a, b, from, to)
		})
	})
}

func (d *Dir) Chmod(_ context.Context, name string, mode fs.FileMode) error {
	return d.do(name, func(p place) error {
		f, _, err := p.file(os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrPermission) && !errors.Is(err, core.ErrLink) {
			// An unreadable file is changed by its name. A link that takes its place now
			// leads no further than below the same folder.
			return p.dir.Chmod(p.base, mode)
		}
		if err != nil {
			return err
		}
		defer f.Close()
		return f.Chmod(mode)
	})
}

func (d *Dir) Chtimes(_ context.Context, name string, atime, mtime time.Time) error {
	return d.do(name, func(p place) error {
		fi, err := p.look()
		if err == nil && leadsElsewhere(fi.Mode()) && !d.Follow {
			err = p.link()
		}
		if err != nil {
			return err
		}
		return p.dir.Chtimes(p.base, atime, mtime)
	})
}

func (d *Dir) Symlink(_ context.Context, target, name string) error {
	return d.do(name, func(p place) error { return p.dir.Symlink(filepath.FromSlash(target), p.base) })
}

func (d *Dir) ReadLink(_ context.Context, name string) (to string, err error) {
	err = d.do(name, func(p place) error {
		fi, err := p.look()
		if err == nil && !core.IsLink(fi.Mode()) {
			err = core.ErrInvalid
		}
		if err == nil {
			to, err = p.dir.Readlink(p.base)
		}
		return err
	})
	return filepath.ToSlash(to), err
}

// osFile is os.File with bare errors.
type osFile struct{ *os.File }

func (f *osFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, core.ErrNotDir }

// Tries is how often a name is checked again because it was replaced between the check and
// the opening. Each save by a rename replaces a file, also a save by this package in
// parallel. Each try is checked completely. Only a name that is replaced all the time
// fails.
const Tries = 100
