package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// MemoryStore returns a store that keeps packages in memory.
func MemoryStore() PackageStore { return &memoryStore{data: map[string][]byte{}} }

type memoryStore struct {
	mu   sync.Mutex
	data map[string][]byte
}

func (s *memoryStore) Keys(context.Context) (keys []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.data {
		keys = append(keys, key)
	}
	return keys, nil
}

func (s *memoryStore) Load(_ context.Context, key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.data[key]
	if !ok {
		return nil, &fs.PathError{Op: "load", Path: key, Err: fs.ErrNotExist}
	}
	return bytes.Clone(data), nil
}

func (s *memoryStore) Save(_ context.Context, key string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[key] = bytes.Clone(data)
	return nil
}

func (s *memoryStore) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.data[key]; !ok {
		return &fs.PathError{Op: "remove", Path: key, Err: fs.ErrNotExist}
	}
	delete(s.data, key)
	return nil
}

// FolderStore returns a store that keeps packages as files of a folder, dir. The folder is created
// if it does not exist. Use the origin-private file system to keep packages after the page is
// closed.
func FolderStore(folder WriteFS, dir string) PackageStore {
	return folderStore{folder, path.Clean(dir)}
}

type folderStore struct {
	fsys WriteFS
	dir  string
}

const storeSuffix = ".bailey-tool"

func (s folderStore) name(key string) string { return path.Join(s.dir, key+storeSuffix) }

func (s folderStore) Keys(ctx context.Context) (keys []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.fsys, s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if key, ok := strings.CutSuffix(e.Name(), storeSuffix); ok && !e.IsDir() && packageName.MatchString(key) {
			keys = append(keys, key)
		}
	}
	return keys, err
}

func (s folderStore) Load(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fs.ReadFile(s.fsys, s.name(key))
}

func (s folderStore) Save(ctx context.Context, key string, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir := ""
	for part := range strings.SplitSeq(s.dir, "/") {
		dir = path.Join(dir, part)
		if err := s.fsys.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) && dir != "." {
			return err
		}
	}
	return s.fsys.WriteFile(s.name(key), data, 0o644)
}

func (s folderStore) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.fsys.Remove(s.name(key))
}

// readOnlyFS hides the methods that write.
type readOnlyFS struct{ fsys fs.FS }

func (r readOnlyFS) Open(name string) (fs.File, error)          { return r.fsys.Open(name) }
func (r readOnlyFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(r.fsys, name) }
func (r readOnlyFS) ReadFile(name string) ([]byte, error)       { return fs.ReadFile(r.fsys, name) }
func (r readOnlyFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(r.fsys, name) }

// dropFS is a folder that appears empty and accepts new files only. A tool that may only write sees
// none of the user's files, and changes none.
type dropFS struct{ fsys WriteFS }

func (d dropFS) Open(name string) (fs.File, error) {
	if name == "." {
		return emptyDir{}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat reports the real files. Writing back uses it to find out whether a file of that name exists,
// before anything is written.
func (d dropFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(d.fsys, name) }

// emptyDir is an open folder without entries.
type emptyDir struct{}

func (emptyDir) Stat() (fs.FileInfo, error) { return emptyDir{}, nil }
func (emptyDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}
func (emptyDir) Close() error       { return nil }
func (emptyDir) Name() string       { return "." }
func (emptyDir) Size() int64        { return 0 }
func (emptyDir) Mode() fs.FileMode  { return fs.ModeDir | 0o755 }
func (emptyDir) ModTime() time.Time { return time.Time{} }
func (emptyDir) IsDir() bool        { return true }
func (emptyDir) Sys() any           { return nil }
func (emptyDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 {
		return nil, io.EOF
	}
	return nil, nil
}

func (d dropFS) fresh(op, name string) error {
	if _, err := fs.Stat(d.fsys, name); err == nil {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (d dropFS) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if err := d.fresh("write", name); err != nil {
		return err
	}
	return d.fsys.WriteFile(name, data, perm)
}

func (d dropFS) Mkdir(name string, perm fs.FileMode) error {
	if info, err := fs.Stat(d.fsys, name); err == nil && info.IsDir() {
		return nil // the program saw no folder, so it made one
	}
	return d.fsys.Mkdir(name, perm)
}

func (d dropFS) Remove(name string) error {
	return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrPermission}
}

func (d dropFS) Rename(oldname, _ string) error {
	return &fs.PathError{Op: "rename", Path: oldname, Err: fs.ErrPermission}
}
