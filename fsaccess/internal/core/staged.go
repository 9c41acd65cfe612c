package core

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// extents holds written bytes in memory, sorted by offset and without overlaps.
type extents struct {
	list  []extent
	bytes int
}

type extent struct {
	off  int64
	data []byte
}

func (e extent) end() int64 { return e.off + int64(len(e.data)) }

func (x *extents) end() int64 {
	if len(x.list) == 0 {
		return 0
	}
	return x.list[len(x.list)-1].end()
}

func (x *extents) isPrefix(size int64) bool {
	return len(x.list) == 1 && x.list[0].off == 0 && x.list[0].end() == size
}

func (x *extents) put(off int64, p []byte) {
	// The common case: continue where the last write ended.
	if n := len(x.list); n > 0 && x.list[n-1].end() == off {
		x.list[n-1].data = append(x.list[n-1].data, p...)
		x.bytes += len(p)
		return
	}
	end := off + int64(len(p))
	lo := 0
	for lo < len(x.list) && x.list[lo].end() < off {
		lo++
	}
	hi := lo
	for hi < len(x.list) && x.list[hi].off <= end {
		hi++
	}
	if lo == hi {
		x.list = append(x.list[:lo], append([]extent{{off, append([]byte(nil), p...)}}, x.list[lo:]...)...)
		x.bytes += len(p)
		return
	}
	start, stop := min(off, x.list[lo].off), max(end, x.list[hi-1].end())
	data := make([]byte, stop-start)
	for _, e := range x.list[lo:hi] {
		copy(data[e.off-start:], e.data)
		x.bytes -= len(e.data)
	}
	copy(data[off-start:], p)
	x.bytes += len(data)
	x.list = append(x.list[:lo], append([]extent{{start, data}}, x.list[hi:]...)...)
}

func (x *extents) cut(size int64) {
	for n := len(x.list); n > 0; n = len(x.list) {
		e := &x.list[n-1]
		if e.end() <= size {
			return
		}
		if e.off < size {
			x.bytes -= int(e.end() - size)
			e.data = e.data[:size-e.off]
			return
		}
		x.bytes -= len(e.data)
		x.list = x.list[:n-1]
	}
}

func (x *extents) readInto(p []byte, off int64) {
	end := off + int64(len(p))
	for _, e := range x.list {
		if e.off >= end || e.end() <= off {
			continue
		}
		from := max(off, e.off)
		copy(p[from-off:], e.data[from-e.off:])
	}
}

// Cursor adds an offset to positioned reads and writes.
type Cursor struct {
	mu     sync.Mutex
	off    int64
	Append bool
}

func (c *Cursor) ReadWith(p []byte, at func([]byte, int64) (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := at(p, c.off)
	c.off += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (c *Cursor) WriteWith(p []byte, size func() (int64, error), at func([]byte, int64) (int, error)) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Append {
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

func (c *Cursor) SeekWith(offset int64, whence int, size func() (int64, error)) (int64, error) {
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
		return 0, ErrInvalid
	}
	c.off = offset
	return offset, nil
}

func Writable(flag int) bool { return flag&(os.O_WRONLY|os.O_RDWR) != 0 }

func Readable(flag int) bool { return flag&os.O_WRONLY == 0 }

// StageLimit is the number of unsynced bytes that one handle keeps in memory. Beyond it, a
// handle that writes a new content from front to back streams it to a swap file. A handle
// that writes at other places syncs itself.
const StageLimit = 16 << 20

// staged is a file open for writing on a core that can only replace whole files. It keeps
// the written bytes. At Sync or Close it builds the next content from these bytes and the
// content of the file at that moment. So two handles that write different parts of one file
// both keep their bytes, and all appends are kept.
type staged struct {
	ctx  context.Context
	c    Core
	name string
	flag int
	perm fs.FileMode
	Cursor

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
	r Replacement
	n int64
}

// NewStaged returns a staged file. The file exists already.
func NewStaged(ctx context.Context, c Core, name string, flag int, perm fs.FileMode, openSrc func() (File, error), info fs.FileInfo) (File, error) {
	s := &staged{ctx: ctx, c: c, name: name, flag: flag, perm: perm, openSrc: openSrc, info: info,
		Cursor: Cursor{Append: flag&os.O_APPEND != 0}}
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

// NewFresh returns a staged file for a file that does not exist, and must not exist before
// its content does, not even empty. Sync or Close makes it.
func NewFresh(ctx context.Context, c Core, name string, flag int, perm fs.FileMode) File {
	return &staged{ctx: ctx, c: c, name: name, flag: flag, perm: perm, info: NewInfo(name, 0, perm, time.Time{}),
		Cursor: Cursor{Append: flag&os.O_APPEND != 0}, fresh: true, dirty: true, whole: flag&os.O_TRUNC != 0}
}

func (s *staged) Stat() (fs.FileInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mtime := s.info.ModTime()
	if s.dirty {
		mtime = time.Now()
	}
	return NewInfo(s.name, s.size, s.info.Mode(), mtime), nil
}

func (s *staged) length() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size, nil
}

func (s *staged) Read(p []byte) (int, error) { return s.Cursor.ReadWith(p, s.ReadAt) }

func (s *staged) ReadAt(p []byte, off int64) (int, error) {
	if !Readable(s.flag) {
		return 0, ErrBadFD
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
	if !Writable(s.flag) {
		return 0, ErrBadFD
	}
	if !s.Cursor.Append {
		return s.Cursor.WriteWith(p, s.length, s.WriteAt)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tail = append(s.tail, p...)
	s.size += int64(len(p))
	s.dirty = s.dirty || len(p) > 0
	s.Cursor.mu.Lock()
	s.Cursor.off = s.size
	s.Cursor.mu.Unlock()
	if len(s.tail) > StageLimit {
		return len(p), s.sync()
	}
	return len(p), nil
}

func (s *staged) WriteAt(p []byte, off int64) (int, error) {
	if !Writable(s.flag) {
		return 0, ErrBadFD
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
	if s.ext.bytes <= StageLimit {
		return len(p), nil
	}
	if s.whole && s.keep == 0 && s.ext.isPrefix(s.size) {
		return len(p), s.goSideways()
	}
	return len(p), s.sync()
}

func (s *staged) goSideways() error {
	r, err := s.c.Replace(s.ctx, s.name, s.perm)
	if err != nil {
		return err
	}
	for _, e := range s.ext.list {
		if _, err := r.Write(e.data); err != nil {
			r.Abort()
			return err
		}
	}
	s.ext = extents{}
	s.side = &sideways{r, s.size}
	return nil
}

func (s *staged) Truncate(size int64) error {
	if !Writable(s.flag) {
		return ErrInvalid
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
	return s.Cursor.SeekWith(off, whence, s.length)
}

func (s *staged) ReadDir(int) ([]fs.DirEntry, error) { return nil, ErrNotDir }

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
		s.side.r.Abort()
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
	if err := Locked(s.ctx, s.c, func(string) error { return s.commit() }, s.name); err != nil {
		return err
	}
	if s.src != nil {
		s.src.Close()
		s.src = nil
	}
	s.dirty, s.whole, s.fresh, s.ext, s.tail, s.side = false, false, false, extents{}, nil, nil
	fi, err := s.c.Stat(s.ctx, s.name)
	if err != nil {
		return err
	}
	s.info, s.size, s.keep = fi, fi.Size(), fi.Size()
	if fi.Size() > 0 {
		s.src, err = s.c.Open(s.ctx, s.name, os.O_RDONLY, 0)
	}
	return err
}

func (s *staged) commit() error {
	if s.side != nil {
		return s.side.r.Commit(s.ctx)
	}
	now, err := s.c.Stat(s.ctx, s.name)
	gone := NotExist(err)
	if err != nil && !gone {
		return err
	}
	if s.fresh && !gone && s.flag&os.O_EXCL != 0 {
		return ErrExist // another program made it meanwhile
	}
	if gone && s.info.Size() > 0 && !s.whole {
		return ErrConflict // another program removed it; the rest of its content is not ours to restore
	}
	if !s.whole && !gone && (now.Size() != s.info.Size() || !now.ModTime().Equal(s.info.ModTime())) {
		if err := s.rebase(now); err != nil {
			return err
		}
	}
	r, err := s.c.Replace(s.ctx, s.name, s.perm)
	if err != nil {
		return err
	}
	defer r.Abort()
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
	return r.Commit(s.ctx)
}

// rebase puts our bytes over a content that another program has written meanwhile.
func (s *staged) rebase(now fs.FileInfo) error {
	src, err := s.c.Open(s.ctx, s.name, os.O_RDONLY, 0)
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
