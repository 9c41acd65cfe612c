package core

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// ReadOnly returns a core without the changes of c.
func ReadOnly(c Core) Core { return &readOnly{c} }

type readOnly struct{ Core }

func (r *readOnly) Features() Features {
	ft := r.Core.Features()
	ft.ReadOnly, ft.Chmod, ft.Chtimes, ft.Links = true, false, false, false
	return ft
}

func (r *readOnly) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	if flag != os.O_RDONLY {
		if _, err := r.Core.Stat(ctx, name); err != nil && flag&os.O_CREATE == 0 {
			return nil, err
		}
		return nil, ErrReadOnly
	}
	return r.Core.Open(ctx, name, flag, perm)
}

func (r *readOnly) Replace(context.Context, string, fs.FileMode) (Replacement, error) {
	return nil, ErrReadOnly
}

func (r *readOnly) Mkdir(context.Context, string, fs.FileMode) error { return ErrReadOnly }

func (r *readOnly) Remove(context.Context, string) error { return ErrReadOnly }

func (r *readOnly) RemoveAll(context.Context, string) error { return ErrReadOnly }

func (r *readOnly) Rename(context.Context, string, string) error { return ErrReadOnly }

func (r *readOnly) Symlink(context.Context, string, string) error { return ErrReadOnly }

func (r *readOnly) ReadLink(ctx context.Context, name string) (string, error) {
	return ReadLink(ctx, r.Core, name)
}

func (r *readOnly) WalkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	return WalkCore(ctx, r.Core, root, page, yield)
}

func (r *readOnly) Push(ctx context.Context, root string, told chan<- []string) (func(), error) {
	return Push(ctx, r.Core, root, told, SameName)
}

// Sub returns a core with a folder of c as the root.
func Sub(c Core, dir string) Core { return &subCore{c, dir} }

type subCore struct {
	c   Core
	dir string
}

func (s *subCore) p(name string) string { return Join(s.dir, name) }

func (s *subCore) Features() Features { return s.c.Features() }

func (s *subCore) KeepsFresh() bool { return KeepsFresh(s.c) }

func (s *subCore) Asked(ctx context.Context) context.Context { return Asked(ctx, s.c) }

func (s *subCore) MayWrite(ctx context.Context, name string) error {
	return MayWrite(ctx, s.c, s.p(name), os.O_WRONLY)
}

func (s *subCore) MayCreate(ctx context.Context, name string) error {
	return MayCreate(ctx, s.c, s.p(name))
}

func (s *subCore) Push(ctx context.Context, root string, told chan<- []string) (func(), error) {
	return Push(ctx, s.c, s.p(root), told, func(name string) (string, bool) {
		if !Within(s.dir, name) {
			return "", false
		}
		return Relative(s.dir, name), true
	})
}

func (s *subCore) Base() *Shared { return s.c.Base().Below(s.dir) }

func (s *subCore) Open(ctx context.Context, name string, flag int, perm fs.FileMode) (File, error) {
	return s.c.Open(ctx, s.p(name), flag, perm)
}

func (s *subCore) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	fi, err := s.c.Stat(ctx, s.p(name))
	if err == nil && name == "." {
		fi = NewInfo(".", fi.Size(), fi.Mode(), fi.ModTime())
	}
	return fi, err
}

func (s *subCore) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	return s.c.ReadDir(ctx, s.p(name))
}

func (s *subCore) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return s.c.ReadFile(ctx, s.p(name))
}

func (s *subCore) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode) error {
	return WriteWhole(ctx, s.c, s.p(name), data, perm)
}

func (s *subCore) Replace(ctx context.Context, name string, perm fs.FileMode) (Replacement, error) {
	return s.c.Replace(ctx, s.p(name), perm)
}

func (s *subCore) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	return s.c.Mkdir(ctx, s.p(name), perm)
}

func (s *subCore) Remove(ctx context.Context, name string) error { return s.c.Remove(ctx, s.p(name)) }

func (s *subCore) RemoveAll(ctx context.Context, name string) error {
	return s.c.RemoveAll(ctx, s.p(name))
}

func (s *subCore) Rename(ctx context.Context, from, to string) error {
	return s.c.Rename(ctx, s.p(from), s.p(to))
}

func (s *subCore) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	if c, ok := s.c.(Chmodder); ok {
		return c.Chmod(ctx, s.p(name), mode)
	}
	return ErrUnsupported
}

func (s *subCore) Chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	if c, ok := s.c.(Chtimer); ok {
		return c.Chtimes(ctx, s.p(name), atime, mtime)
	}
	return ErrUnsupported
}

func (s *subCore) Symlink(ctx context.Context, target, name string) error {
	return Symlink(ctx, s.c, target, s.p(name))
}

func (s *subCore) ReadLink(ctx context.Context, name string) (string, error) {
	return ReadLink(ctx, s.c, s.p(name))
}

func (s *subCore) WalkPages(ctx context.Context, root string, page int, yield func([]Entry) bool) error {
	cut := len(s.dir) + 1
	return WalkCore(ctx, s.c, s.p(root), page, func(list []Entry) bool {
		for i := range list {
			list[i].Path = list[i].Path[cut:]
		}
		return yield(list)
	})
}

func (r *readOnly) Keeping(ctx context.Context) context.Context { return Keeping(ctx, r.Core) }

func (s *subCore) Keeping(ctx context.Context) context.Context { return Keeping(ctx, s.c) }

func (r *readOnly) ReadMany(ctx context.Context, files []Entry) ([][]byte, error) {
	return ReadMany(ctx, r.Core, files)
}

func (s *subCore) ReadMany(ctx context.Context, files []Entry) ([][]byte, error) {
	below := make([]Entry, len(files))
	for i, e := range files {
		e.Path = s.p(e.Path)
		below[i] = e
	}
	return ReadMany(ctx, s.c, below)
}
