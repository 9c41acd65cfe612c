package fsaccess

import (
	"io"
	"io/fs"
)

// memFile is an open file. It follows its node even if that is renamed or removed.
type memFile struct {
	m    *memory
	n    *memNode
	name string
	flag int
	cursor
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return f.n.info(f.name), nil
}

func (f *memFile) size() (int64, error) {
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	return int64(len(f.n.data)), nil
}

func (f *memFile) Read(p []byte) (int, error) { return f.cursor.read(p, f.ReadAt) }

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if !readable(f.flag) {
		return 0, errBadFD
	}
	f.m.mu.RLock()
	defer f.m.mu.RUnlock()
	if off >= int64(len(f.n.data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(p []byte) (int, error) { return f.cursor.write(p, f.size, f.WriteAt) }

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if !writable(f.flag) {
		return 0, errBadFD
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := f.resize(max(int64(len(f.n.data)), off+int64(len(p)))); err != nil {
		return 0, err
	}
	return copy(f.n.data[off:], p), nil
}

func (f *memFile) resize(size int64) error {
	old := int64(len(f.n.data))
	if err := f.m.room(size - old); err != nil {
		return err
	}
	if size > old {
		f.n.data = append(f.n.data, make([]byte, size-old)...)
	}
	f.n.data = f.n.data[:size]
	f.n.mtime = f.m.o.Now()
	return nil
}

func (f *memFile) Truncate(size int64) error {
	if !writable(f.flag) {
		return errInvalid
	}
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	return f.resize(size)
}

func (f *memFile) Seek(off int64, whence int) (int64, error) {
	return f.cursor.seek(off, whence, f.size)
}
func (f *memFile) ReadDir(int) ([]fs.DirEntry, error) { return nil, errNotDir }
func (f *memFile) Sync() error                        { return nil }
func (f *memFile) Close() error                       { return nil }
