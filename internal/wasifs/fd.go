package wasifs

import (
	"io"
	"os"
	"time"
)

// file finds a file's descriptor for reading or writing. Rights that were not
// asked for at open are what package os calls a bad descriptor.
func (f *FS) file(fd FD, need Rights) (*desc, Errno) {
	d, ok := f.fds[fd]
	switch {
	case !ok:
		return nil, EBADF
	case d.isDir():
		return nil, EISDIR
	case d.base&need&(RightFdRead|RightFdWrite) != need&(RightFdRead|RightFdWrite):
		return nil, EBADF
	case d.isStream():
		return d, ESPIPE
	case d.base&need != need:
		return nil, ENOTCAPABLE
	}
	return d, ESUCCESS
}

// FdRead reads where the descriptor stands. 0 bytes without an error is the
// end. A guest's vector of buffers is read into one.
func (f *FS) FdRead(fd FD, p []byte) (int, Errno) {
	f.mu.Lock()
	d, e := f.file(fd, RightFdRead)
	if e == ESPIPE {
		r := d.r
		f.mu.Unlock()
		return readStream(r, p)
	}
	defer f.mu.Unlock()
	if e != ESUCCESS {
		return 0, e
	}
	k, e := readAt(d.n, p, d.off)
	d.off += int64(k)
	return k, e
}

func readStream(r io.Reader, p []byte) (int, Errno) {
	if r == nil {
		return 0, EBADF
	}
	for {
		k, err := r.Read(p)
		switch {
		case k > 0 || len(p) == 0 || err == io.EOF:
			return k, ESUCCESS
		case err != nil:
			return 0, ErrnoOf(err)
		}
	}
}

func readAt(n *node, p []byte, off int64) (int, Errno) {
	h, e := n.reader()
	if e != ESUCCESS || len(p) == 0 {
		return 0, e
	}
	k, err := h.ReadAt(p, off)
	if k > 0 || err == io.EOF {
		return k, ESUCCESS
	}
	return 0, ErrnoOf(err)
}

// FdPread reads at an offset.
func (f *FS) FdPread(fd FD, p []byte, off uint64) (int, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.file(fd, RightFdRead|RightFdSeek)
	if e != ESUCCESS {
		return 0, e
	}
	if off > 1<<63-1 {
		return 0, EINVAL
	}
	return readAt(d.n, p, int64(off))
}

// FdWrite writes where the descriptor stands, or at the end with FDAppend: then
// after what anybody has written meanwhile.
func (f *FS) FdWrite(fd FD, p []byte) (int, Errno) {
	f.mu.Lock()
	d, e := f.file(fd, RightFdWrite)
	if e == ESPIPE {
		w := d.w
		f.mu.Unlock()
		if w == nil {
			return 0, EBADF
		}
		k, err := w.Write(p)
		return k, ErrnoOf(err)
	}
	defer f.mu.Unlock()
	if e != ESUCCESS {
		return 0, e
	}
	if d.flags&FDAppend != 0 {
		return f.add(d, p)
	}
	k, e := f.writeAt(d, p, d.off)
	d.off += int64(k)
	return k, e
}

func (f *FS) add(d *desc, p []byte) (int, Errno) {
	h, e := d.n.handle(os.O_WRONLY | os.O_APPEND)
	if e != ESUCCESS {
		return 0, e
	}
	size, e := sizeOf(h)
	if e != ESUCCESS {
		return 0, e
	}
	if size+int64(len(p)) > f.MaxFile {
		return 0, EFBIG
	}
	k, err := h.Write(p)
	if k > 0 {
		d.n.dirty = true
	}
	d.off = size + int64(k)
	if err != nil {
		return k, ErrnoOf(err)
	}
	return k, f.durable(d)
}

func (f *FS) writeAt(d *desc, p []byte, off int64) (int, Errno) {
	h, e := d.n.writer()
	if e != ESUCCESS || len(p) == 0 {
		return 0, e
	}
	if off > f.MaxFile-int64(len(p)) {
		return 0, EFBIG
	}
	k, err := h.WriteAt(p, off)
	if k > 0 {
		d.n.dirty = true
	}
	if err != nil {
		return k, ErrnoOf(err)
	}
	return k, f.durable(d)
}

// durable is what a descriptor with FDSync or FDDsync does after each write.
func (f *FS) durable(d *desc) Errno {
	if d.flags&(FDSync|FDDsync) == 0 {
		return ESUCCESS
	}
	return d.n.sync()
}

// FdPwrite writes at an offset, also with FDAppend, as POSIX says.
func (f *FS) FdPwrite(fd FD, p []byte, off uint64) (int, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.file(fd, RightFdWrite|RightFdSeek)
	if e != ESUCCESS {
		return 0, e
	}
	if off > 1<<63-1 {
		return 0, EINVAL
	}
	return f.writeAt(d, p, int64(off))
}

// FdSeek moves where a descriptor stands and tells it.
func (f *FS) FdSeek(fd FD, delta int64, whence Whence) (uint64, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.file(fd, 0)
	if e == EISDIR {
		e = EBADF
	}
	if e != ESUCCESS {
		return 0, e
	}
	// Asking where one stands is fd_tell by another name.
	if delta == 0 && whence == SeekCur {
		return uint64(d.off), f.need(d, RightFdTell)
	}
	if e := f.need(d, RightFdSeek); e != ESUCCESS {
		return 0, e
	}
	from := int64(0)
	switch whence {
	case SeekSet:
	case SeekCur:
		from = d.off
	case SeekEnd:
		h, e := d.n.any()
		if e == ESUCCESS {
			from, e = sizeOf(h)
		}
		if e != ESUCCESS {
			return 0, e
		}
	default:
		return 0, EINVAL
	}
	to := from + delta
	switch {
	case delta > 0 && to < from:
		return 0, EOVERFLOW
	case to < 0:
		return 0, EINVAL
	}
	d.off = to
	return uint64(to), ESUCCESS
}

func (f *FS) need(d *desc, r Rights) Errno {
	if d.base&r != r {
		return ENOTCAPABLE
	}
	return ESUCCESS
}

// FdTell tells where a descriptor stands.
func (f *FS) FdTell(fd FD) (uint64, Errno) { return f.FdSeek(fd, 0, SeekCur) }

// FdSync makes what was written visible to others, and durable where the
// platform can. All descriptors of one file are synced together.
func (f *FS) FdSync(fd FD) Errno { return f.syncFD(fd, RightFdSync) }

// FdDatasync does the same.
func (f *FS) FdDatasync(fd FD) Errno { return f.syncFD(fd, RightFdDatasync) }

func (f *FS) syncFD(fd FD, need Rights) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	switch {
	case e != ESUCCESS:
		return e
	case d.isStream():
		return EINVAL
	case d.base&need == 0:
		return ENOTCAPABLE
	case d.isDir():
		return ESUCCESS
	}
	return d.n.sync()
}

// FdAdvise takes advice and does nothing with it.
func (f *FS) FdAdvise(fd FD, off, length uint64, advice uint8) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	switch {
	case e != ESUCCESS:
		return e
	case d.isDir():
		return EBADF
	case d.isStream():
		return ESPIPE
	case advice > 5:
		return EINVAL
	}
	return f.need(d, RightFdAdvise)
}

// FdAllocate grows a file to off+length, if it is smaller.
func (f *FS) FdAllocate(fd FD, off, length uint64) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.file(fd, RightFdWrite|RightFdAllocate)
	if e != ESUCCESS {
		return e
	}
	end := off + length
	if length == 0 || end < off {
		return EINVAL
	}
	if end > uint64(f.MaxFile) {
		return EFBIG
	}
	h, e := d.n.writer()
	if e != ESUCCESS {
		return e
	}
	size, e := sizeOf(h)
	if e != ESUCCESS || size >= int64(end) {
		return e
	}
	return f.cut(d, int64(end))
}

// FdFilestatSetSize sets a file's length; what is added is zeros.
func (f *FS) FdFilestatSetSize(fd FD, size uint64) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.file(fd, RightFdFilestatSetSize)
	if e != ESUCCESS {
		return e
	}
	if d.base&writeRights == 0 {
		return EINVAL // open for reading
	}
	if size > uint64(f.MaxFile) {
		return EFBIG
	}
	return f.cut(d, int64(size))
}

func (f *FS) cut(d *desc, size int64) Errno {
	h, e := d.n.writer()
	if e != ESUCCESS {
		return e
	}
	if err := h.Truncate(size); err != nil {
		return ErrnoOf(err)
	}
	d.n.dirty = true
	return f.durable(d)
}

// FdFilestatSetTimes sets times, where the file system can.
func (f *FS) FdFilestatSetTimes(fd FD, atim, mtim uint64, flags FstFlags) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, RightFdFilestatSetTimes)
	if e != ESUCCESS {
		return e
	}
	if d.isDir() {
		return setTimes(d.m, d.name, atim, mtim, flags)
	}
	if d.n.gone != nil {
		return ENOTSUP
	}
	if e := d.n.settle(); e != ESUCCESS { // a later commit would set them anew
		return e
	}
	return setTimes(d.n.k.m, d.n.k.name, atim, mtim, flags)
}

func setTimes(m *mount, name string, atim, mtim uint64, flags FstFlags) Errno {
	if flags&(FstAtim|FstAtimNow) == FstAtim|FstAtimNow || flags&(FstMtim|FstMtimNow) == FstMtim|FstMtimNow || flags > 15 {
		return EINVAL
	}
	if m.w == nil {
		return EROFS
	}
	t, ok := m.fsys.(timer)
	if !ok {
		return ENOTSUP
	}
	pick := func(set, now bool, ns uint64) time.Time {
		switch {
		case now:
			return time.Now()
		case set:
			return time.Unix(0, int64(min(ns, 1<<63-1)))
		}
		return time.Time{} // stays
	}
	a := pick(flags&FstAtim != 0, flags&FstAtimNow != 0, atim)
	return ErrnoOf(t.Chtimes(name, a, pick(flags&FstMtim != 0, flags&FstMtimNow != 0, mtim)))
}
