package wasifs

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// Writer is what a mount's file system needs beyond fs.FS so that a program can
// write. The methods have the shapes, flags and errors of package os; names are
// those of io/fs. A file of OpenFile is an io.ReaderAt, an io.WriterAt, and has
// Truncate and Sync as *os.File has.
type Writer interface {
	fs.FS
	OpenFile(name string, flag int, perm fs.FileMode) (fs.File, error)
	Mkdir(name string, perm fs.FileMode) error
	Remove(name string) error
	Rename(oldname, newname string) error
}

// timer is a file system that can set times. A zero time stays as it is.
type timer interface {
	Chtimes(name string, atime, mtime time.Time) error
}

// Mount is a folder the program finds open when it starts.
type Mount struct {
	Name     string // where the program sees it: "/" if empty
	FS       fs.FS  // written only if it is a Writer
	ReadOnly bool   // every change fails with EROFS
}

// Limits of a file system, where [FS] is told none.
const (
	DefaultMaxOpen   = 1024
	DefaultMaxFile   = 4 << 30  // bytes
	DefaultMaxOrphan = 64 << 20 // bytes
	maxPath          = 4096     // bytes of a path
	maxName          = 255      // bytes of one name in it
)

// FS is the descriptors of one program. Descriptors 0 to 2 are streams or
// nothing; the mounts follow from 3 in their order, which is where every libc
// looks for them. Calls may come from several goroutines; they are done one
// after the other, streams aside.
type FS struct {
	// To be set, if at all, before the first call.
	MaxOpen   int   // descriptors open at once; beyond: EMFILE
	MaxFile   int64 // size to which one file may be grown; beyond: EFBIG
	MaxOrphan int64 // size of a file that may be removed while open; beyond: EBUSY

	mu    sync.Mutex
	fds   map[FD]*desc
	nodes map[key]*node
	done  bool
}

// desc is what a descriptor stands for: one of a folder, a file, a stream.
type desc struct {
	m       *mount // of a folder
	name    string // of a folder, in its mount
	preopen string // of a mount
	dir     *listing

	n   *node // of a file
	off int64

	r io.Reader // of a stream
	w io.Writer

	base, inherit Rights
	flags         FDFlags
}

func (d *desc) isDir() bool    { return d.m != nil }
func (d *desc) isFile() bool   { return d.n != nil }
func (d *desc) isStream() bool { return d.m == nil && d.n == nil }

func (d *desc) filetype() Filetype {
	switch {
	case d.isDir():
		return TypeDirectory
	case d.isFile():
		return TypeRegular
	}
	return TypeUnknown
}

// mount is a file system with what it can do.
type mount struct {
	fsys fs.FS
	w    Writer // nil: read only
	dev  uint64
}

// New opens the mounts.
func New(mounts ...Mount) *FS {
	f := &FS{MaxOpen: DefaultMaxOpen, MaxFile: DefaultMaxFile, MaxOrphan: DefaultMaxOrphan,
		fds: make(map[FD]*desc), nodes: make(map[key]*node)}
	for i, x := range mounts {
		m := &mount{fsys: x.FS, dev: uint64(i + 1)}
		if w, ok := x.FS.(Writer); ok && !x.ReadOnly {
			m.w = w
		}
		name := x.Name
		if name == "" {
			name = "/"
		}
		f.fds[FD(3+i)] = &desc{m: m, name: ".", preopen: name, base: DirRights, inherit: AllRights}
	}
	return f
}

// SetStream puts a stream at a descriptor, such as 0, 1 or 2: r is what the
// program reads, w what it writes; nil is neither. Reads and writes go straight
// through and may block.
func (f *FS) SetStream(fd FD, r io.Reader, w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := &desc{r: r, w: w, base: streamRights}
	if r == nil {
		d.base &^= RightFdRead
	}
	if w == nil {
		d.base &^= RightFdWrite
	}
	f.fds[fd] = d
}

// Close closes every descriptor, as the end of a program does: what was
// written becomes visible. To drop it instead, end the context the mounts'
// file systems are bound to first. It is idempotent.
func (f *FS) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	var errs []error
	for _, fd := range f.sorted() {
		d := f.fds[fd]
		delete(f.fds, fd)
		if e := f.release(d); e != ESUCCESS {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

func (f *FS) sorted() []FD {
	list := make([]FD, 0, len(f.fds))
	for fd := range f.fds {
		list = append(list, fd)
	}
	slices.Sort(list)
	return list
}

// get finds a descriptor that has the rights.
func (f *FS) get(fd FD, need Rights) (*desc, Errno) {
	d, ok := f.fds[fd]
	if !ok {
		return nil, EBADF
	}
	if d.base&need != need {
		return nil, ENOTCAPABLE
	}
	return d, ESUCCESS
}

// put gives a descriptor the lowest free number, as POSIX does.
func (f *FS) put(d *desc) (FD, Errno) {
	if f.done {
		return 0, EBADF
	}
	if len(f.fds) >= f.MaxOpen {
		return 0, EMFILE
	}
	for fd := FD(3); ; fd++ { // 0 to 2 stay streams
		if _, taken := f.fds[fd]; !taken {
			f.fds[fd] = d
			return fd, ESUCCESS
		}
	}
}

func (f *FS) release(d *desc) Errno {
	if d.isFile() {
		return f.drop(d.n)
	}
	return ESUCCESS
}

// FdPrestatGet tells the length of a mount's name. EBADF says that there are
// no more mounts.
func (f *FS) FdPrestatGet(fd FD) (nameLen uint32, e Errno) {
	name, e := f.FdPrestatDirName(fd)
	return uint32(len(name)), e
}

// FdPrestatDirName tells a mount's name.
func (f *FS) FdPrestatDirName(fd FD) (string, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	if e != ESUCCESS {
		return "", e
	}
	if d.preopen == "" {
		return "", EBADF
	}
	return d.preopen, ESUCCESS
}

// FdClose closes a descriptor. An error means that what was written did not
// become visible; the descriptor is gone all the same.
func (f *FS) FdClose(fd FD) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	if e != ESUCCESS {
		return e
	}
	delete(f.fds, fd)
	return f.release(d)
}

// FdRenumber moves a descriptor over another one, which is closed.
func (f *FS) FdRenumber(from, to FD) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(from, 0)
	if e != ESUCCESS {
		return e
	}
	over, e := f.get(to, 0)
	if e != ESUCCESS || from == to {
		return e
	}
	delete(f.fds, from)
	f.fds[to] = d
	return f.release(over)
}

// within reports whether name is dir or below it.
func within(dir, name string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

func join(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + name
}
