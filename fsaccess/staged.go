package fsaccess

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// stageLimit is the number of unsynced bytes that one handle keeps in memory. Beyond it, a
// handle that writes a new content from front to back streams it to a swap file. A handle
// that writes at other places syncs itself.
const stageLimit = 16 << 20

// staged is a file open for writing on a core that can only replace whole files. It keeps
// the written bytes. At Sync or Close it builds the next content from these bytes and the
// content of the file at that moment. So two handles that write different parts of one file
// both keep their bytes, and all appends are kept.
type staged struct {
	ctx  context.Context
	c    core
	name string
	flag int
	perm fs.FileMode
	cursor

	mu      sync.Mutex
	src     File // content at open or last sync; nil if empty
	openSrc func() (File, error)
	info    fs.FileInfo // of src
	keep    int64       // bytes of src that are still part of the content
	size    int64       // of the content
	whole   bool        // the file was truncated, so this handle's content replaces everything
	fresh   bool        // the file does not exist yet and is made with its content
	dirty   bool
	ext     extents
	tail    []byte    // O_APPEND: the bytes to append
	side    *sideways // O_TRUNC and sequential: the content already written to a swap file
}

// sideways is a new content that is streamed to its swap file.
type sideways struct {
	r replacement
	n int64
}

// newStaged returns a staged file. The file exists already.
func newStaged(ctx context.Context, c core, name string, flag int, perm fs.FileMode, openSrc func() (File, error), info fs.FileInfo) (File, error) {
	s := &staged{ctx: ctx, c: c, name: name, flag: flag, perm: perm, openSrc: openSrc, info: info,
		cursor: cursor{append: flag&os.O_APPEND != 0}}
	if flag&os.O_TRUNC != 0 {
		s.whole, s.dirty = true, info.Size() > 0
		return s, nil
	}
	s.keep, s.size = info.Size(), info.Size()
	if info.Size() > 0 {
		src, err := openSrc()
		if err != nil {
			return nil, err
		}
		s.src = src
	}
	return s, nil
}

// newFresh returns a staged file for a file that does not exist, and must not exist before
// its content does, not even empty. Sync or Close makes it.
func newFresh(ctx context.Context, c core, name string, flag int, perm fs.FileMode) File {
	return &staged{ctx: ctx, c: c, name: name, flag: flag, perm: perm, info: Info{name: baseOf(name), mode: perm},
		cursor: cursor{append: flag&os.O_APPEND != 0}, fresh: true, dirty: true, whole: flag&os.O_TRUNC != 0}
}

// freshKeeper is a core that makes a new file only together with its content.
type freshKeeper interface{ keepsFresh() bool }

func keepsFresh(c core) bool {
	k, ok := c.(freshKeeper)
	return ok && k.keepsFresh()
}

func (s *staged) Stat() (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mtime := s.info.ModTime()
	if s.dirty {
		mtime = time.Now()
	}
	return Info{name: baseOf(s.name), size: s.size, mode: s.info.Mode(), mtime: mtime}, nil
}

func (s *staged) length() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size, nil
}

func (s *staged) Read(p []byte) (int, error) { return s.cursor.read(p, s.ReadAt) }

func (s *staged) ReadAt(p []byte, off int64) (int, error) {
	if !readable(s.flag) {
		return 0, errBadFD
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.side != nil {
		if err := s.sync(); err != nil {
			return 0, err
		}
	}
	return s.readAt(p, off)
}

func (s *staged) readAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if off >= s.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.size-off))
	p = p[:n:len(p)]
	clear(p)
	if s.src != nil && off < s.keep {
		k := int(min(int64(n), s.keep-off))
		m, err := s.src.ReadAt(p[:k], off)
		if m < k {
			if err == io.EOF || err == nil {
				err = ErrConflict // shorter than it was when it was opened
			}
			return 0, err
		}
	}
	s.ext.readInto(p, off)
	if len(s.tail) > 0 {
		start := s.size - int64(len(s.tail))
		if off+int64(n) > start {
			from := max(0, off-start)
			copy(p[max(0, start-off):], s.tail[from:])
		}
	}
	if n < cap(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *staged) Write(p []byte) (int, error) {
	if !writable(s.flag) {
		return 0, errBadFD
	}
	if !s.cursor.append {
		return s.cursor.write(p, s.length, s.WriteAt)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = append(s.tail, p...)
	s.size += int64(len(p))
	s.dirty = s.dirty || len(p) > 0
	s.cursor.mu.Lock()
	s.cursor.off = s.size
	s.cursor.mu.Unlock()
	if len(s.tail) > stageLimit {
		return len(p), s.sync()
	}
	return len(p), nil
}

func (s *staged) WriteAt(p []byte, off int64) (int, error) {
	if !writable(s.flag) {
		return 0, errBadFD
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	s.dirty = true
	if s.side != nil {
		if off == s.side.n {
			n, err := s.side.r.Write(p)
			s.side.n += int64(n)
			s.size = s.side.n
			return n, err
		}
		if err := s.sync(); err != nil {
			return 0, err
		}
		s.dirty = true
	}
	s.ext.put(off, p)
	s.size = max(s.size, off+int64(len(p)))
	if s.ext.bytes <= stageLimit {
		return len(p), nil
	}
	if s.whole && s.keep == 0 && s.ext.isPrefix(s.size) {
		return len(p), s.goSideways()
	}
	return len(p), s.sync()
}

func (s *staged) goSideways() error {
	r, err := s.c.replace(s.ctx, s.name, s.perm)
	if err != nil {
		return err
	}
	for _, e := range s.ext.list {
		if _, err := r.Write(e.data); err != nil {
			r.abort()
			return err
		}
	}
	s.ext = extents{}
	s.side = &sideways{r, s.size}
	return nil
}

func (s *staged) Truncate(size int64) error {
	if !writable(s.flag) {
		return errInvalid
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.side != nil || len(s.tail) > 0 {
		if err := s.sync(); err != nil {
			return err
		}
	}
	if size == s.size {
		return nil
	}
	if size < s.size {
		s.whole = true
	}
	s.dirty = true
	s.keep = min(s.keep, size)
	s.ext.cut(size)
	if size > s.size {
		s.ext.put(size-1, []byte{0}) // so that a rebase grows the file too
	}
	s.size = size
	return nil
}

func (s *staged) Seek(off int64, whence int) (int64, error) {
	return s.cursor.seek(off, whence, s.length)
}

func (s *staged) ReadDir(int) ([]fs.DirEntry, error) { return nil, errNotDir }

func (s *staged) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sync()
}

func (s *staged) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.sync()
	if s.side != nil {
		s.side.r.abort()
		s.side = nil
	}
	if s.src != nil {
		s.src.Close()
		s.src = nil
	}
	return err
}

// sync makes the staged content the content of the file. If that fails, the file is
// unchanged, and the staged bytes are kept for another try.
func (s *staged) sync() error {
	if !s.dirty {
		return nil
	}
	if err := locked(s.ctx, s.c, func(string) error { return s.commit() }, s.name); err != nil {
		return err
	}
	if s.src != nil {
		s.src.Close()
		s.src = nil
	}
	s.dirty, s.whole, s.fresh, s.ext, s.tail, s.side = false, false, false, extents{}, nil, nil
	fi, err := s.c.stat(s.ctx, s.name)
	if err != nil {
		return err
	}
	s.info, s.size, s.keep = fi, fi.Size(), fi.Size()
	if fi.Size() > 0 {
		s.src, err = s.c.open(s.ctx, s.name, os.O_RDONLY, 0)
	}
	return err
}

func (s *staged) commit() error {
	if s.side != nil {
		return s.side.r.commit(s.ctx)
	}
	now, err := s.c.stat(s.ctx, s.name)
	gone := notExist(err)
	if err != nil && !gone {
		return err
	}
	if s.fresh && !gone && s.flag&os.O_EXCL != 0 {
		return errExist // another program made it meanwhile
	}
	if gone && s.info.Size() > 0 && !s.whole {
		return ErrConflict // another program removed it; the rest of its content is not ours to restore
	}
	if !s.whole && !gone && (now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime())) {
		if err := s.rebase(now); err != nil {
			return err
		}
	}
	r, err := s.c.replace(s.ctx, s.name, s.perm)
	if err != nil {
		return err
	}
	defer r.abort()
	buf := make([]byte, min(chunk, max(1, s.size)))
	for off := int64(0); off < s.size; {
		n, err := s.readAt(buf, off)
		if err != nil && err != io.EOF {
			return err
		}
		if _, err := r.Write(buf[:n]); err != nil {
			return err
		}
		off += int64(n)
	}
	return r.commit(s.ctx)
}

// rebase puts our bytes over a content that another program has written meanwhile.
func (s *staged) rebase(now fs.FileInfo) error {
	src, err := s.c.open(s.ctx, s.name, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	if s.src != nil {
		s.src.Close()
	}
	s.src, s.info, s.keep = src, now, now.Size()
	s.size = max(now.Size()+int64(len(s.tail)), s.ext.end())
	return nil
}
