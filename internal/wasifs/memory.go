package wasifs

import (
	"io"
	"io/fs"
	"time"
)

// memory is a file without a name: one that was removed while it was open, or
// one whose file system cannot read here and there.
type memory struct {
	data  []byte
	info  fs.FileInfo // nil: nothing is known
	mtime time.Time   // zero: as in info
}

func (m *memory) Stat() (fs.FileInfo, error) { return memoryInfo{m}, nil }
func (m *memory) Read([]byte) (int, error)   { return 0, EBADF } // only ReadAt is used
func (m *memory) Close() error               { return nil }
func (m *memory) Sync() error                { return nil }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(m.data)) {
		return 0, io.EOF
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) Write(p []byte) (int, error) { return m.WriteAt(p, int64(len(m.data))) }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if end := off + int64(len(p)); end > int64(len(m.data)) {
		if err := m.Truncate(end); err != nil {
			return 0, err
		}
	}
	m.mtime = time.Now()
	return copy(m.data[off:], p), nil
}

func (m *memory) Truncate(size int64) error {
	if size > DefaultMaxOrphan {
		return EFBIG
	}
	m.mtime = time.Now()
	if size <= int64(len(m.data)) {
		m.data = m.data[:size:size]
		return nil
	}
	m.data = append(m.data, make([]byte, size-int64(len(m.data)))...)
	return nil
}

type memoryInfo struct{ m *memory }

func (i memoryInfo) Name() string      { return "" }
func (i memoryInfo) Size() int64       { return int64(len(i.m.data)) }
func (i memoryInfo) Mode() fs.FileMode { return 0o666 }
func (i memoryInfo) IsDir() bool       { return false }
func (i memoryInfo) Sys() any          { return nil }
func (i memoryInfo) ModTime() time.Time {
	if i.m.mtime.IsZero() && i.m.info != nil {
		return i.m.info.ModTime()
	}
	return i.m.mtime
}

// readOnly is a handle that has no write methods.
type readOnly struct{ fs.File }

func (r readOnly) ReadAt(p []byte, off int64) (int, error) {
	return r.File.(io.ReaderAt).ReadAt(p, off) // openFile has seen to it
}
func (r readOnly) Write([]byte) (int, error)          { return 0, EBADF }
func (r readOnly) WriteAt([]byte, int64) (int, error) { return 0, EBADF }
func (r readOnly) Truncate(int64) error               { return EBADF }
func (r readOnly) Sync() error                        { return nil }
