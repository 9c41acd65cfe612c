package wasifs

import (
	"encoding/binary"
	"io/fs"
)

// listing is a folder's lines as they were when they were read from the
// beginning, so that a cookie means the same line however long it takes.
type listing struct{ lines []line }

type line struct {
	name string
	ino  uint64
	typ  Filetype
}

const direntSize = 24

// FdReaddir fills p with lines of a folder from a cookie on: 0 is the
// beginning, and reads the folder anew. Less than a full p is the end; the last
// line may be cut off, and is asked for again by the cookie of the one before.
// A line is its 24 bytes, then the name; "." and ".." come first.
func (f *FS) FdReaddir(fd FD, p []byte, cookie uint64) (int, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	switch {
	case e != ESUCCESS:
		return 0, e
	case !d.isDir():
		return 0, ENOTDIR
	case d.base&RightFdReaddir == 0:
		return 0, ENOTCAPABLE
	}
	if cookie == 0 || d.dir == nil {
		if e := d.list(); e != ESUCCESS {
			return 0, e
		}
	}
	n := 0
	for i := cookie; i < uint64(len(d.dir.lines)) && n < len(p); i++ {
		l := d.dir.lines[i]
		var head [direntSize]byte
		binary.LittleEndian.PutUint64(head[0:], i+1)
		binary.LittleEndian.PutUint64(head[8:], l.ino)
		binary.LittleEndian.PutUint32(head[16:], uint32(len(l.name)))
		head[20] = byte(l.typ)
		n += copy(p[n:], head[:])
		n += copy(p[n:], l.name)
	}
	return n, ESUCCESS
}

func (d *desc) list() Errno {
	entries, err := fs.ReadDir(d.m.fsys, d.name)
	if err != nil {
		return ErrnoOf(err)
	}
	lines := []line{{".", inode(d.m, d.name), TypeDirectory}, {"..", inode(d.m, "."), TypeDirectory}}
	for _, e := range entries {
		name := join(d.name, e.Name())
		lines = append(lines, line{e.Name(), inode(d.m, name), typeOf(e.Type())})
	}
	d.dir = &listing{lines}
	return ESUCCESS
}
