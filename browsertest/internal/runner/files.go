package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// files gives a page access to the machine's file system: to read all of it, and to write only at
// or below the writable paths.
type files struct {
	writable []string

	mu   sync.Mutex
	open map[int]*os.File
	next int
}

func newFiles(writable []string) *files {
	var list []string
	for _, p := range writable {
		list = append(list, p)
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			list = append(list, real)
		}
	}
	return &files{writable: list, open: map[int]*os.File{}, next: 1}
}

func (s *files) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, f := range s.open {
		f.Close()
		delete(s.open, h)
	}
}

// errReadOnly is returned for a path that may not be written. With EROFS Go's message states the
// cause.
var errReadOnly = syscall.EROFS

// mayWrite returns an error if the target of path may not be written. A symbolic link does not lead
// out of the writable paths.
func (s *files) mayWrite(path string) error {
	real := realDir(path)
	if target, err := filepath.EvalSymlinks(real); err == nil {
		real = target
	} else if _, err := os.Lstat(real); err == nil {
		return errReadOnly // a link to a missing file, which opening would create
	}
	return s.writes(real)
}

// mayChange returns an error if the name itself may not be created, removed or renamed.
func (s *files) mayChange(path string) error { return s.writes(realDir(path)) }

// realDir resolves the links in a path's folder, but not a link at its end.
func realDir(path string) string {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

func (s *files) writes(real string) error {
	for _, w := range s.writable {
		if real == w || strings.HasPrefix(real, strings.TrimSuffix(w, "/")+"/") {
			return nil
		}
	}
	return errReadOnly
}

func (s *files) handle(h int) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.open[h]
	if !ok {
		return nil, syscall.EBADF
	}
	return f, nil
}

// The flags of shim.js for programs with syscall/js.
const (
	jsWronly = 1
	jsRdwr   = 2
	jsCreat  = 64
	jsExcl   = 128
	jsTrunc  = 512
	jsAppend = 1024
	jsDir    = 65536
)

func (s *files) openFile(path string, flags int, mode fs.FileMode) (int, error) {
	osFlags := os.O_RDONLY
	switch {
	case flags&jsRdwr != 0:
		osFlags = os.O_RDWR
	case flags&jsWronly != 0:
		osFlags = os.O_WRONLY
	}
	if flags&jsCreat != 0 {
		osFlags |= os.O_CREATE
	}
	if flags&jsExcl != 0 {
		osFlags |= os.O_EXCL
	}
	if flags&jsTrunc != 0 {
		osFlags |= os.O_TRUNC
	}
	if flags&jsAppend != 0 {
		osFlags |= os.O_APPEND
	}
	if osFlags != os.O_RDONLY {
		if err := s.mayWrite(path); err != nil {
			return 0, err
		}
	}
	if flags&jsDir != 0 {
		if fi, err := os.Stat(path); err == nil && !fi.IsDir() {
			return 0, syscall.ENOTDIR
		}
	}
	f, err := os.OpenFile(path, osFlags, mode)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.next
	s.next++
	s.open[h] = f
	return h, nil
}

// serve handles one file operation.
func (s *files) serve(w http.ResponseWriter, r *http.Request) {
	op := r.PathValue("op")
	q := r.URL.Query()
	num := func(name string) int64 {
		n, _ := strconv.ParseInt(q.Get(name), 10, 64)
		return n
	}
	path := filepath.FromSlash(q.Get("path"))
	var answer any = map[string]bool{"ok": true}
	err := func() error {
		switch op {
		case "read":
			f, err := s.handle(int(num("handle")))
			if err != nil {
				return err
			}
			n := min(num("n"), 64<<20)
			buf := make([]byte, n)
			got, err := f.ReadAt(buf, num("at"))
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			answer = nil
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Write(buf[:got])
			return nil
		case "write":
			f, err := s.handle(int(num("handle")))
			if err != nil {
				return err
			}
			data, err := io.ReadAll(r.Body)
			if err != nil {
				return err
			}
			if at := num("at"); at >= 0 {
				_, err = f.WriteAt(data, at)
			} else {
				_, err = f.Write(data)
			}
			return err
		case "open":
			h, err := s.openFile(path, int(num("flags")), fs.FileMode(num("mode")).Perm())
			answer = map[string]int{"handle": h}
			return err
		case "close":
			f, err := s.handle(int(num("handle")))
			if err != nil {
				return err
			}
			s.mu.Lock()
			delete(s.open, int(num("handle")))
			s.mu.Unlock()
			return f.Close()
		case "fstat", "ftruncate":
			f, err := s.handle(int(num("handle")))
			if err != nil {
				return err
			}
			if op == "ftruncate" {
				return f.Truncate(num("size"))
			}
			fi, err := f.Stat()
			if err == nil {
				answer = stat(fi)
			}
			return err
		case "stat", "lstat":
			f := os.Stat
			if op == "lstat" {
				f = os.Lstat
			}
			fi, err := f(path)
			if err == nil {
				answer = stat(fi)
			}
			return err
		case "readdir":
			list, err := os.ReadDir(path)
			names := make([]string, 0, len(list))
			for _, e := range list {
				names = append(names, e.Name())
			}
			answer = names
			return err
		case "readlink":
			to, err := os.Readlink(path)
			answer = to
			return err
		}
		may := s.mayWrite
		switch op {
		case "mkdir", "rmdir", "unlink", "rename", "link", "symlink":
			may = s.mayChange
		}
		if err := may(path); err != nil {
			return err
		}
		switch op {
		case "mkdir":
			return os.Mkdir(path, fs.FileMode(num("mode")).Perm())
		case "rmdir":
			return syscall.Rmdir(path)
		case "unlink":
			return syscall.Unlink(path)
		case "rename", "link":
			to := filepath.FromSlash(q.Get("to"))
			if err := may(to); err != nil {
				return err
			}
			if op == "link" {
				return os.Link(to, path)
			}
			return os.Rename(path, to)
		case "symlink":
			return os.Symlink(q.Get("target"), path)
		case "chmod":
			return os.Chmod(path, fs.FileMode(num("mode")).Perm())
		case "truncate":
			return os.Truncate(path, num("size"))
		case "utimes":
			return os.Chtimes(path, time.Unix(num("atime"), 0), time.Unix(num("mtime"), 0))
		}
		return fmt.Errorf("%s: %w", op, syscall.ENOSYS)
	}()
	if err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusConflict)
		json.NewEncoder(w).Encode(map[string]string{"code": errorCode(err), "message": err.Error()})
		return
	}
	if answer != nil {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	}
}

// errorCode returns the name of err in Node and syscall/js, such as "ENOENT". The default is "EIO".
func errorCode(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		for _, e := range errnos {
			if no == e.no {
				return e.name
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, fs.ErrExist):
		return "EEXIST"
	case errors.Is(err, fs.ErrPermission):
		return "EACCES"
	}
	return "EIO"
}

var errnos = []struct {
	no   syscall.Errno
	name string
}{
	{syscall.ENOENT, "ENOENT"}, {syscall.EEXIST, "EEXIST"}, {syscall.EACCES, "EACCES"},
	{syscall.EPERM, "EPERM"}, {syscall.EROFS, "EROFS"}, {syscall.EBADF, "EBADF"},
	{syscall.EISDIR, "EISDIR"}, {syscall.ENOTDIR, "ENOTDIR"}, {syscall.ENOTEMPTY, "ENOTEMPTY"},
	{syscall.EINVAL, "EINVAL"}, {syscall.EXDEV, "EXDEV"}, {syscall.ENOSPC, "ENOSPC"},
	{syscall.ENOSYS, "ENOSYS"}, {syscall.ELOOP, "ELOOP"}, {syscall.ENAMETOOLONG, "ENAMETOOLONG"},
	{syscall.EMFILE, "EMFILE"},
}

// stat returns fi as an object like Node's.
func stat(fi fs.FileInfo) map[string]int64 {
	mode := int64(fi.Mode().Perm())
	switch {
	case fi.IsDir():
		mode |= 0o040000
	case fi.Mode()&fs.ModeSymlink != 0:
		mode |= 0o120000
	case fi.Mode().IsRegular():
		mode |= 0o100000
	case fi.Mode()&fs.ModeNamedPipe != 0:
		mode |= 0o010000
	case fi.Mode()&fs.ModeSocket != 0:
		mode |= 0o140000
	case fi.Mode()&fs.ModeCharDevice != 0:
		mode |= 0o020000
	case fi.Mode()&fs.ModeDevice != 0:
		mode |= 0o060000
	}
	ms := fi.ModTime().UnixMilli()
	ino, dev := identity(fi)
	return map[string]int64{
		"dev": dev, "ino": ino, "mode": mode, "nlink": 1, "uid": 1000, "gid": 1000, "rdev": 0,
		"size": fi.Size(), "blksize": 4096, "blocks": (fi.Size() + 511) / 512,
		"atimeMs": ms, "mtimeMs": ms, "ctimeMs": ms,
	}
}
