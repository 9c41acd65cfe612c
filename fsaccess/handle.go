package fsaccess

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"
)

// handle is the File that a caller gets. It makes the checks of package os, puts the
// caller's name into errors, and returns an error from a second Close.
type handle struct {
	File
	name   string
	core   core
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
	h.core.base().note(h.path) // a file written in place changes at once
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
		return 0, pathErr("readat", h.name, errNegative)
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
		return 0, pathErr("writeat", h.name, errNegative)
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
		return 0, pathErr("seek", h.name, errInvalid)
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
		return pathErr("truncate", h.name, errInvalid)
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
		h.core.base().note(h.path)
	}
	return h.err("close", err)
}

// errBadFD is the error of a write to a handle opened for reading, and of a read from one
// opened for writing.
const errBadFD = syscall.EBADF

// cursor adds an offset to positioned reads and writes.
type cursor struct {
	mu     sync.Mutex
	off    int64
	append bool
}

func (c *cursor) read(p []byte, at func([]byte, int64) (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := at(p, c.off)
	c.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (c *cursor) write(p []byte, size func() (int64, error), at func([]byte, int64) (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.append {
		end, err := size()
		if err != nil {
			return 0, err
		}
		c.off = end
	}
	n, err := at(p, c.off)
	c.off += int64(n)
	return n, err
}

func (c *cursor) seek(offset int64, whence int, size func() (int64, error)) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += c.off
	case io.SeekEnd:
		end, err := size()
		if err != nil {
			return 0, err
		}
		offset += end
	}
	if offset < 0 {
		return 0, errInvalid
	}
	c.off = offset
	return offset, nil
}
