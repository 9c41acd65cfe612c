package wasifs

import (
	"hash/fnv"
	"io/fs"
)

func sizeOf(h file) (int64, Errno) {
	fi, err := h.Stat()
	if err != nil {
		return 0, ErrnoOf(err)
	}
	return fi.Size(), ESUCCESS
}

// inode is a number made from a name: stable, and never 0, which makes a libc
// ask again for each line of a listing.
func inode(m *mount, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(m.dev), byte(m.dev >> 8)})
	h.Write([]byte(name))
	return h.Sum64() | 1
}

func filestat(m *mount, name string, fi fs.FileInfo) Filestat {
	t := nanos(fi.ModTime())
	size := uint64(max(0, fi.Size()))
	if fi.IsDir() {
		size = 0
	}
	return Filestat{Dev: m.dev, Ino: inode(m, name), Type: typeOf(fi.Mode()), Nlink: 1, Size: size, Atim: t, Mtim: t, Ctim: t}
}

// FdFilestatGet tells what a descriptor is, with what was written through it.
func (f *FS) FdFilestatGet(fd FD) (Filestat, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, RightFdFilestatGet)
	switch {
	case e != ESUCCESS:
		return Filestat{}, e
	case d.isStream():
		return Filestat{Type: TypeUnknown, Nlink: 1}, ESUCCESS
	case d.isDir():
		return f.statName(d.m, d.name)
	}
	return d.n.stat()
}

func (n *node) stat() (Filestat, Errno) {
	h, e := n.any()
	if e != ESUCCESS {
		return Filestat{}, e
	}
	fi, err := h.Stat()
	if err != nil {
		return Filestat{}, ErrnoOf(err)
	}
	return filestat(n.k.m, n.k.name, fi), ESUCCESS
}

// statName describes what has a name: an open file as the program left it.
func (f *FS) statName(m *mount, name string) (Filestat, Errno) {
	if n := f.nodes[key{m, name}]; n != nil && n.dirty {
		return n.stat()
	}
	fi, err := fs.Stat(m.fsys, name)
	if err != nil {
		return Filestat{}, ErrnoOf(err)
	}
	return filestat(m, name, fi), ESUCCESS
}

// FdFdstatGet tells what a descriptor may do.
func (f *FS) FdFdstatGet(fd FD) (Fdstat, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	if e != ESUCCESS {
		return Fdstat{}, e
	}
	return Fdstat{Type: d.filetype(), Flags: d.flags, Base: d.base, Inheriting: d.inherit}, ESUCCESS
}

const allFDFlags = FDAppend | FDDsync | FDNonblock | FDRsync | FDSync

// FdFdstatSetFlags sets a descriptor's flags.
func (f *FS) FdFdstatSetFlags(fd FD, flags FDFlags) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, RightFdFdstatSetFlags)
	if e != ESUCCESS {
		return e
	}
	if flags&^allFDFlags != 0 {
		return EINVAL
	}
	d.flags = flags
	return ESUCCESS
}

// FdFdstatSetRights takes rights away from a descriptor; it cannot add any.
func (f *FS) FdFdstatSetRights(fd FD, base, inheriting Rights) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, e := f.get(fd, 0)
	if e != ESUCCESS {
		return e
	}
	if base&^d.base != 0 || inheriting&^d.inherit != 0 {
		return ENOTCAPABLE
	}
	d.base, d.inherit = base, inheriting
	return ESUCCESS
}
