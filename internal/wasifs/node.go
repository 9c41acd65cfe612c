package wasifs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// A node is a file that is open: all descriptors of one name share it, and with
// it one handle of the file system below, so that the program sees what it wrote
// whichever descriptor it looks through.
type node struct {
	k    key
	refs int
	read bool // some descriptor may read
	writ bool // some descriptor may write

	f     fs.File // nil until it is needed again
	mode  int     // what f was opened with: an access mode, with O_APPEND or not
	dirty bool    // f holds what nobody else sees yet
	gone  *memory // its content, when the name is no longer its own
}

type key struct {
	m    *mount
	name string
}

// file is what a handle must be, to be written.
type file interface {
	fs.File
	io.Writer
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
}

// openFile opens below, with what the file system has.
func (m *mount) openFile(name string, flag int) (fs.File, error) {
	if m.w != nil {
		return m.w.OpenFile(name, flag, 0o666)
	}
	if flag != os.O_RDONLY {
		return nil, EROFS
	}
	f, err := m.fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if _, ok := f.(io.ReaderAt); ok {
		return f, nil
	}
	return slurp(f)
}

// slurp reads a file that can only be read from front to back.
func slurp(f fs.File) (fs.File, error) {
	fi, err := f.Stat()
	if err != nil || fi.IsDir() {
		return f, err
	}
	defer f.Close()
	if fi.Size() > DefaultMaxOrphan {
		return nil, EFBIG
	}
	b, err := io.ReadAll(io.LimitReader(f, DefaultMaxOrphan+1))
	if err == nil && len(b) > DefaultMaxOrphan {
		err = EFBIG
	}
	return &memory{data: b, info: fi}, err
}

func accessMode(read, write bool) int {
	switch {
	case read && write:
		return os.O_RDWR
	case write:
		return os.O_WRONLY
	}
	return os.O_RDONLY
}

// suits tells whether a handle serves; appending needs one of its own.
func suits(have, want int) bool {
	const access = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
	return have&os.O_APPEND == want&os.O_APPEND && (have&access == os.O_RDWR || have&access == want&access)
}

// handle gives a handle for an access; one that does not suit is closed, which
// makes what was written through it visible.
func (n *node) handle(mode int) (file, Errno) {
	if n.gone != nil {
		return n.gone, ESUCCESS
	}
	if n.f == nil || !suits(n.mode, mode) {
		if e := n.settle(); e != ESUCCESS {
			return nil, e
		}
		f, err := n.k.m.openFile(n.k.name, mode)
		if err != nil {
			return nil, ErrnoOf(err)
		}
		n.f, n.mode = f, mode
	}
	if f, ok := n.f.(file); ok {
		return f, ESUCCESS
	}
	if mode == os.O_RDONLY {
		return readOnly{n.f}, ESUCCESS
	}
	return nil, ENOTSUP
}

// reader is a handle to read through, or to ask for the size.
func (n *node) reader() (file, Errno) {
	if n.f != nil && !n.dirty && n.mode&os.O_APPEND == 0 && n.mode != os.O_WRONLY {
		return n.handle(n.mode)
	}
	return n.handle(accessMode(true, n.writ))
}

func (n *node) writer() (file, Errno) { return n.handle(accessMode(n.read, true)) }

// any is whatever handle there is: for the size.
func (n *node) any() (file, Errno) {
	if n.f != nil {
		return n.handle(n.mode)
	}
	return n.handle(accessMode(n.read || !n.writ, n.writ))
}

// sync makes what was written visible.
func (n *node) sync() Errno {
	if n.gone != nil || !n.dirty || n.f == nil {
		return ESUCCESS
	}
	f, ok := n.f.(file)
	if !ok {
		return ENOTSUP
	}
	if err := f.Sync(); err != nil {
		return ErrnoOf(err)
	}
	n.dirty = false
	return ESUCCESS
}

// settle closes the handle. The next use opens the file anew.
func (n *node) settle() Errno {
	if n.f == nil {
		return ESUCCESS
	}
	err := n.f.Close()
	n.f, n.dirty = nil, false
	return ErrnoOf(err)
}

// drop takes one descriptor away from a node.
func (f *FS) drop(n *node) Errno {
	if n.refs--; n.refs > 0 {
		return n.sync()
	}
	if n.gone == nil {
		delete(f.nodes, n.k)
	}
	return n.settle()
}

// orphan gives an open file that is about to lose its name a content of its
// own. It takes effect when the caller has removed the name: call the result.
func (f *FS) orphan(k key) (func(), Errno) {
	n := f.nodes[k]
	if n == nil {
		return func() {}, ESUCCESS
	}
	if e := n.settle(); e != ESUCCESS {
		return nil, e
	}
	m := &memory{}
	if n.read {
		h, e := n.handle(os.O_RDONLY)
		if e != ESUCCESS {
			return nil, e
		}
		fi, err := h.Stat()
		if err != nil {
			return nil, ErrnoOf(err)
		}
		if fi.Size() > f.MaxOrphan {
			return nil, EBUSY
		}
		m.info, m.data = fi, make([]byte, fi.Size())
		if k, err := h.ReadAt(m.data, 0); k < len(m.data) && len(m.data) > 0 {
			return nil, ErrnoOf(errors.Join(err, io.ErrUnexpectedEOF))
		}
		if e := n.settle(); e != ESUCCESS {
			return nil, e
		}
	}
	return func() {
		delete(f.nodes, k)
		n.gone = m
	}, ESUCCESS
}

// moved gives what is open at or below a name its new name.
func (f *FS) moved(m *mount, from, to string) {
	rename := func(name string) string { return to + strings.TrimPrefix(name, from) }
	var list []*node
	for k, n := range f.nodes {
		if k.m == m && within(from, k.name) {
			delete(f.nodes, k)
			list = append(list, n)
		}
	}
	for _, n := range list {
		n.k.name = rename(n.k.name)
		f.nodes[n.k] = n
	}
	for _, d := range f.fds {
		if d.isDir() && d.m == m && within(from, d.name) {
			d.name, d.dir = rename(d.name), nil
		}
	}
}

// settleBelow closes the handles of all that is open at or below a name.
func (f *FS) settleBelow(m *mount, name string) Errno {
	for k, n := range f.nodes {
		if k.m == m && within(name, k.name) {
			if e := n.settle(); e != ESUCCESS {
				return e
			}
		}
	}
	return ESUCCESS
}
