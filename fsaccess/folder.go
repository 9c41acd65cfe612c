package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Folder is the [FS] type that every source and layer of this package returns or embeds. It
// is safe for concurrent use.
type Folder struct {
	view
}

var (
	_ FS         = (*Folder)(nil)
	_ ChmodFS    = (*Folder)(nil)
	_ ChtimesFS  = (*Folder)(nil)
	_ FeaturesFS = (*Folder)(nil)
)

func newFolder(c core) *Folder {
	return &Folder{view{c: c, dir: ".", ctx: context.Background()}}
}

// enter checks a name and the context, and returns the name relative to the core's root.
func (f *Folder) enter(name string) (string, error) {
	if err := context.Cause(f.ctx); err != nil {
		return "", err
	}
	if err := cleanName(name); err != nil {
		return "", err
	}
	return join(f.dir, name), nil
}

// change runs one change of a path. It holds the path's lock and marks the path as changed
// by this program.
func (f *Folder) change(op, name string, do func(p string) error) error {
	p, err := f.enter(name)
	if err != nil {
		return pathErr(op, name, err)
	}
	return pathErr(op, name, locked(f.ctx, f.c, do, p))
}

// locked holds the locks of all paths while it calls do with the first path.
func locked(ctx context.Context, c core, do func(p string) error, paths ...string) error {
	unlock, err := c.base().lock(ctx, paths...)
	if err != nil {
		return err
	}
	defer unlock()
	for _, p := range paths {
		defer c.base().changing(p)()
	}
	return do(paths[0])
}

// Features returns the abilities of this folder on this platform.
func (f *Folder) Features() Features { return f.c.features() }

// Close releases the resources of the source, such as an open os.Root. It is idempotent. On
// a folder from Sub it does nothing.
func (f *Folder) Close() error {
	if c, ok := f.c.(closer); ok && f.dir == "." {
		return c.close()
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
	var file File
	open := func(p string) (err error) {
		file, err = f.c.open(f.ctx, p, flag, perm.Perm())
		return err
	}
	if flag&(os.O_CREATE|os.O_TRUNC) == 0 {
		err = open(p)
	} else {
		err = locked(f.ctx, f.c, open, p)
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
	fi, err := f.c.stat(f.ctx, p)
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
	b, err := f.c.readFile(f.ctx, p)
	if errors.Is(err, errIsDir) {
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
	list, err := f.c.readDir(f.ctx, p)
	if errors.Is(err, errNotDir) {
		if _, serr := f.c.stat(f.ctx, p); serr == nil {
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
		return writeWhole(f.ctx, f.c, p, data, perm.Perm())
	})
}

// Mkdir makes a folder. If the name exists, the error wraps [fs.ErrExist].
func (f *Folder) Mkdir(name string, perm fs.FileMode) error {
	return f.change("mkdir", name, func(p string) error {
		if p == "." {
			return errExist
		}
		return f.c.mkdir(f.ctx, p, perm.Perm())
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
			return pathErr("mkdir", part, errNotDir)
		}
	}
	return nil
}

// Remove removes a file or an empty folder.
func (f *Folder) Remove(name string) error {
	return f.change("remove", name, func(p string) error {
		if p == "." {
			return errInvalid
		}
		return f.c.remove(f.ctx, p)
	})
}

// RemoveAll removes a file or a whole tree. A missing name is no error.
func (f *Folder) RemoveAll(name string) error {
	return f.change("unlinkat", name, func(p string) error {
		if p == "." || name == "." {
			return errInvalid
		}
		// As in package os, a name below a file counts as missing.
		if err := f.c.removeAll(f.ctx, p); err != nil && !notExist(err) {
			return err
		}
		return nil
	})
}

// Rename moves a file or a folder. A file can replace a file. Nothing can replace a folder.
func (f *Folder) Rename(oldname, newname string) error {
	from, err := f.enter(oldname)
	if err == nil && newname == "." {
		err = errExist
	}
	if err != nil {
		return linkErr("rename", oldname, newname, err)
	}
	to, err := f.enter(newname)
	if err != nil {
		return linkErr("rename", oldname, newname, err)
	}
	return linkErr("rename", oldname, newname, locked(f.ctx, f.c, func(string) error {
		done, err := checkRename(f.ctx, f.c, from, to)
		if err != nil || done {
			return err
		}
		return f.c.rename(f.ctx, from, to)
	}, from, to))
}

// Truncate sets a file's length. Added bytes are zero.
func (f *Folder) Truncate(name string, size int64) error {
	if size < 0 {
		return pathErr("truncate", name, errInvalid)
	}
	file, err := f.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return pathErr("truncate", name, err)
	}
	err = file.(File).Truncate(size)
	return pathErr("truncate", name, errors.Join(err, file.Close()))
}

// Chmod sets the permission bits. Without [Features].Chmod the error wraps
// [errors.ErrUnsupported].
func (f *Folder) Chmod(name string, mode fs.FileMode) error {
	return f.change("chmod", name, func(p string) error {
		if c, ok := f.c.(chmodder); ok {
			return c.chmod(f.ctx, p, mode.Perm())
		}
		return errUnsupported
	})
}

// Chtimes sets the times. Without [Features].Chtimes the error wraps
// [errors.ErrUnsupported].
func (f *Folder) Chtimes(name string, atime, mtime time.Time) error {
	return f.change("chtimes", name, func(p string) error {
		if c, ok := f.c.(chtimer); ok {
			return c.chtimes(f.ctx, p, atime, mtime)
		}
		return errUnsupported
	})
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
