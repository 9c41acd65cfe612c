package fsaccess

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// view is a core together with a folder of it and a context. Folder embeds it, so every
// layer that embeds Folder has it too.
type view struct {
	c   core.Core
	dir string
	ctx context.Context
}

func (v *view) door() view { return *v }

type doored interface{ door() view }

// viewOf returns the core of any FS. For an FS of another package it makes one.
func viewOf(fsys FS) view {
	if d, ok := fsys.(doored); ok {
		return d.door()
	}
	return view{c: newForeign(fsys), dir: ".", ctx: context.Background()}
}

// rooted returns a core whose "." is the view's folder.
func (v view) rooted() core.Core {
	if v.dir == "." {
		return v.c
	}
	return core.Sub(v.c, v.dir)
}

// Folder is the [FS] type that every source and layer of this package returns or embeds. It
// is safe for concurrent use.
type Folder struct {
	view
}

var (
	_ FS         = (*Folder)(nil)
	_ chmodFS    = (*Folder)(nil)
	_ chtimesFS  = (*Folder)(nil)
	_ featuresFS = (*Folder)(nil)
)

func newFolder(c core.Core) *Folder {
	return &Folder{view{c: c, dir: ".", ctx: context.Background()}}
}

// enter checks a name and the context, and returns the name relative to the core's root.
func (f *Folder) enter(name string) (string, error) {
	if err := context.Cause(f.ctx); err != nil {
		return "", err
	}
	if err := core.CleanName(name); err != nil {
		return "", err
	}
	return core.Join(f.dir, name), nil
}

// change runs one change of a path. It holds the path's lock and marks the path as changed
// by this program.
func (f *Folder) change(op, name string, do func(p string) error) error {
	p, err := f.enter(name)
	if err != nil {
		return pathErr(op, name, err)
	}
	return pathErr(op, name, core.Locked(f.ctx, f.c, do, p))
}

// Features returns the abilities of this folder on this platform.
func (f *Folder) Features() Features { return Features(f.c.Features()) }

// Close releases the resources of the source, such as an open os.Root. It is idempotent. On
// a folder from Sub it does nothing.
func (f *Folder) Close() error {
	if c, ok := f.c.(core.Closer); ok && f.dir == "." {
		return c.Release()
	}
	return nil
}

// Open opens the named file or folder for reading.
func (f *Folder) Open(name string) (fs.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// Create makes or truncates a file and opens it for reading and writing.
func (f *Folder) Create(name string) (fs.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile opens a file or folder with the flags of package os. perm is used only if the
// file is made. The returned fs.File is a [File].
func (f *Folder) OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error) {
	p, err := f.enter(name)
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	var file core.File
	open := func(p string) (err error) {
		file, err = f.c.Open(f.ctx, p, flag, perm.Perm())
		return err
	}
	if flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		err = open(p)
	} else {
		err = core.Locked(f.ctx, f.c, open, p)
	}
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return &handle{File: file, name: name, core: f.c, path: p, append: flag&os.O_APPEND != 0}, nil
}

// Stat returns the information of a file or folder. A symbolic link is described as a link.
func (f *Folder) Stat(name string) (fs.FileInfo, error) {
	p, err := f.enter(name)
	if err != nil {
		return nil, pathErr("stat", name, err)
	}
	fi, err := f.c.Stat(f.ctx, p)
	if err != nil {
		return nil, pathErr("stat", name, err)
	}
	return fi, nil
}

// ReadFile returns the content of a file.
func (f *Folder) ReadFile(name string) ([]byte, error) {
	p, err := f.enter(name)
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	b, err := f.c.ReadFile(f.ctx, p)
	if errors.Is(err, core.ErrIsDir) {
		return nil, pathErr("read", name, err)
	}
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return b, nil
}

// ReadDir returns the entries of a folder, sorted by name.
func (f *Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := f.enter(name)
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	list, err := f.c.ReadDir(f.ctx, p)
	if errors.Is(err, core.ErrNotDir) {
		if _, serr := f.c.Stat(f.ctx, p); serr == nil {
			return nil, pathErr("readdir", name, err)
		}
	}
	if err != nil {
		return nil, pathErr("open", name, err)
	}
	return list, nil
}

// WriteFile replaces the content of a file in one step. It makes the file if it does not
// exist.
func (f *Folder) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return f.change("open", name, func(p string) error {
		return core.WriteWhole(f.ctx, f.c, p, data, perm.Perm())
	})
}

// Mkdir makes a folder. If the name exists, the error wraps [fs.ErrExist].
func (f *Folder) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, func(p string) error {
		if p == "." {
			return core.ErrExist
		}
		return f.c.Mkdir(f.ctx, p, perm.Perm())
	})
}

// MkdirAll makes a folder and the folders above it. An existing folder is no error. If a
// file is in the way, the error contains the name of that file.
func (f *Folder) MkdirAll(name string, perm fs.FileMode) error {
	if _, err := f.enter(name); err != nil {
		return pathErr("mkdir", name, err)
	}
	if fi, err := f.Stat(name); err == nil && fi.IsDir() {
		return nil
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		part := name[:i]
		err := f.Mkdir(part, perm)
		if err == nil || part == "." {
			continue
		}
		if !errors.Is(err, fs.ErrExist) {
			// A guard may forbid making a folder that exists already.
			if fi, serr := f.Stat(part); serr == nil && fi.IsDir() {
				continue
			}
			return err
		}
		fi, serr := f.Stat(part)
		if serr == nil && !fi.IsDir() {
			return pathErr("mkdir", part, core.ErrNotDir)
		}
	}
	return nil
}

// Remove removes a file or an empty folder.
func (f *Folder) Remove(name string) error {
	return f.change("remove", name, func(p string) error {
		if p == "." {
			return core.ErrInvalid
		}
		return f.c.Remove(f.ctx, p)
	})
}

// RemoveAll removes a file or a whole tree. A missing name is no error.
func (f *Folder) RemoveAll(name string) error {
	return f.change("unlinkat", name, func(p string) error {
		if p == "." || name == "." {
			return core.ErrInvalid
		}
		// As in package os, a name below a file counts as missing.
		if err := f.c.RemoveAll(f.ctx, p); err != nil && !core.NotExist(err) {
			return err
		}
		return nil
	})
}

// Rename moves a file or a folder. A file can replace a file. Nothing can replace a folder.
func (f *Folder) Rename(oldname, newname string) error {
	from, err := f.enter(oldname)
	if err == nil && newname == "." {
		err = core.ErrExist
	}
	if err != nil {
		return linkErr("rename", oldname, newname, err)
	}
	to, err := f.enter(newname)
	if err != nil {
		return linkErr("rename", oldname, newname, err)
	}
	return linkErr("rename", oldname, newname, core.Locked(f.ctx, f.c, func(string) error {
		done, err := core.CheckRename(f.ctx, f.c, from, to)
		if err != nil || done {
			return err
		}
		return f.c.Rename(f.ctx, from, to)
	}, from, to))
}

// Truncate sets a file's length. Added bytes are zero.
func (f *Folder) Truncate(name string, size int64) error {
	if size < 0 {
		return pathErr("truncate", name, core.ErrInvalid)
	}
	file, err := f.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return pathErr("truncate", name, err)
	}
	err = file.(core.File).Truncate(size)
	return pathErr("truncate", name, errors.Join(err, file.Close()))
}

// Chmod sets the permission bits. Without [Features].Chmod the error wraps
// [errors.ErrUnsupported].
func (f *Folder) Chmod(name string, mode fs.FileMode) error {
	return f.change("chmod", name, func(p string) error {
		if c, ok := f.c.(core.Chmodder); ok {
			return c.Chmod(f.ctx, p, mode.Perm())
		}
		return core.ErrUnsupported
	})
}

// Chtimes sets the times. Without [Features].Chtimes the error wraps
// [errors.ErrUnsupported].
func (f *Folder) Chtimes(name string, atime, mtime time.Time) error {
	return f.change("chtimes", name, func(p string) error {
		if c, ok := f.c.(core.Chtimer); ok {
			return c.Chtimes(f.ctx, p, atime, mtime)
		}
		return core.ErrUnsupported
	})
}

// Symlink makes a symbolic link. The target is a relative path in its shortest form, and leads to a name in this folder,
// which need not exist. Any other target is an error that wraps [ErrBadName]. No method follows the link. Without [Features].Links the
// error wraps [errors.ErrUnsupported].
func (f *Folder) Symlink(target, name string) error {
	return f.change("symlink", name, func(p string) error {
		if _, err := core.LeadsInside(name, target); err != nil {
			return err
		}
		return core.Symlink(f.ctx, f.c, target, p)
	})
}

// ReadLink returns the target of a symbolic link. If name is no link, the error wraps [fs.ErrInvalid].
func (f *Folder) ReadLink(name string) (string, error) {
	p, err := f.enter(name)
	if err != nil {
		return "", pathErr("readlink", name, err)
	}
	to, err := core.ReadLink(f.ctx, f.c, p)
	return to, pathErr("readlink", name, err)
}

// Sub returns a folder inside this one as a [*Folder]. Names cannot lead out of it. Sub
// does not check that dir exists.
func (f *Folder) Sub(dir string) (fs.FS, error) {
	p, err := f.enter(dir)
	if err != nil {
		return nil, pathErr("sub", dir, err)
	}
	return &Folder{view{c: f.c, dir: p, ctx: f.ctx}}, nil
}

// Glob returns the names that match pattern, with the syntax of [path.Match], as in io/fs.
func (f *Folder) Glob(pattern string) ([]string, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, err
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		return nil, nil
	}
	return fs.Glob(struct {
		fs.StatFS
		readDirer
	}{f, f}, pattern)
}

type readDirer interface {
	ReadDir(name string) ([]fs.DirEntry, error)
}

// handle is the File that a caller gets. It makes the checks of package os, puts the
// caller's name into errors, and returns an error from a second Close.
type handle struct {
	core.File
	name   string
	core   core.Core
	path   string
	append bool

	mu     sync.Mutex
	closed bool
	wrote  bool
}

func (h *handle) err(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return pathErr(op, h.name, err)
}

func (h *handle) alive(op string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return pathErr(op, h.name, fs.ErrClosed)
	}
	return nil
}

func (h *handle) touch() {
	h.mu.Lock()
	h.wrote = true
	h.mu.Unlock()
	h.core.Base().Note(h.path) // a file written in place changes at once
}

func (h *handle) Stat() (fs.FileInfo, error) {
	if err := h.alive("stat"); err != nil {
		return nil, err
	}
	fi, err := h.File.Stat()
	return fi, h.err("stat", err)
}

func (h *handle) Read(p []byte) (int, error) {
	if err := h.alive("read"); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := h.File.Read(p)
	return n, h.err("read", err)
}

func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	if err := h.alive("readat"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathErr("readat", h.name, core.ErrNegative)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := h.File.ReadAt(p, off)
	return n, h.err("readat", err)
}

func (h *handle) Write(p []byte) (int, error) {
	if err := h.alive("write"); err != nil {
		return 0, err
	}
	h.touch()
	n, err := h.File.Write(p)
	return n, h.err("write", err)
}

func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	if err := h.alive("writeat"); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, pathErr("writeat", h.name, core.ErrNegative)
	}
	if h.append {
		return 0, pathErr("writeat", h.name, errors.New("invalid use of WriteAt on a file opened with O_APPEND"))
	}
	h.touch()
	n, err := h.File.WriteAt(p, off)
	return n, h.err("writeat", err)
}

func (h *handle) Seek(offset int64, whence int) (int64, error) {
	if err := h.alive("seek"); err != nil {
		return 0, err
	}
	if whence < io.SeekStart || whence > io.SeekEnd {
		return 0, pathErr("seek", h.name, core.ErrInvalid)
	}
	n, err := h.File.Seek(offset, whence)
	if err != nil {
		return 0, h.err("seek", err)
	}
	return n, nil
}

func (h *handle) Truncate(size int64) error {
	if err := h.alive("truncate"); err != nil {
		return err
	}
	if size < 0 {
		return pathErr("truncate", h.name, core.ErrInvalid)
	}
	h.touch()
	return h.err("truncate", h.File.Truncate(size))
}

func (h *handle) Sync() error {
	if err := h.alive("sync"); err != nil {
		return err
	}
	return h.err("sync", h.File.Sync())
}

func (h *handle) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := h.alive("readdir"); err != nil {
		return nil, err
	}
	list, err := h.File.ReadDir(n)
	return list, h.err("readdir", err)
}

func (h *handle) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return pathErr("close", h.name, fs.ErrClosed)
	}
	h.closed = true
	wrote := h.wrote
	h.mu.Unlock()
	err := h.File.Close()
	if wrote {
		h.core.Base().Note(h.path)
	}
	return h.err("close", err)
}
