package wasifs

import (
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// place is where a path leads: a name in a mount.
type place struct {
	m    *mount
	name string
	root bool // the path leads to the very folder it started from
	dir  bool // it must be a folder: the path ends in a slash or a dot
}

func (p place) key() key { return key{p.m, p.name} }

// resolve follows a path from an open folder and never out of it. ".." after a
// name needs that name to be a folder, as it does on a disk.
func (f *FS) resolve(fd FD, p string, need Rights) (place, Errno) {
	d, e := f.get(fd, 0)
	switch {
	case e != ESUCCESS:
		return place{}, e
	case !d.isDir():
		return place{}, ENOTDIR
	case d.base&need != need:
		return place{}, ENOTCAPABLE
	}
	if e := checkPath(p); e != ESUCCESS {
		return place{}, e
	}
	var stack []string
	at := func() string { return join(d.name, joined(stack)) }
	must := false
	for part := range strings.SplitSeq(p, "/") {
		must = part == "" || part == "." || part == ".."
		switch part {
		case "", ".":
		case "..":
			if len(stack) == 0 {
				return place{}, EPERM
			}
			if e := needDir(d.m, at()); e != ESUCCESS {
				return place{}, e
			}
			stack = stack[:len(stack)-1]
		default:
			if len(part) > maxName {
				return place{}, ENAMETOOLONG
			}
			stack = append(stack, part)
		}
	}
	return place{d.m, at(), len(stack) == 0, must}, ESUCCESS
}

func checkPath(p string) Errno {
	switch {
	case p == "":
		return ENOENT
	case len(p) > maxPath:
		return ENAMETOOLONG
	case !utf8.ValidString(p):
		return EILSEQ
	case strings.IndexByte(p, 0) >= 0:
		return EINVAL
	case p[0] == '/':
		return EPERM
	}
	return ESUCCESS
}

func joined(parts []string) string {
	if len(parts) == 0 {
		return "."
	}
	return strings.Join(parts, "/")
}

func needDir(m *mount, name string) Errno {
	if name == "." {
		return ESUCCESS
	}
	fi, err := fs.Stat(m.fsys, name)
	if err != nil {
		return ErrnoOf(err)
	}
	if !fi.IsDir() {
		return ENOTDIR
	}
	return ESUCCESS
}

// PathOpen opens a file or a folder. Whether it can be read and written follows
// from base, as the libc's do it: RightFdRead, RightFdWrite. What of base makes
// no sense for what is there is left out.
func (f *FS) PathOpen(dir FD, _ LookupFlags, path string, oflags OFlags, base, inheriting Rights, flags FDFlags) (FD, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	need := RightPathOpen
	if oflags&OCreat != 0 {
		need |= RightPathCreateFile
	}
	if oflags&OTrunc != 0 {
		need |= RightPathFilestatSetSize
	}
	p, e := f.resolve(dir, path, need)
	if e != ESUCCESS {
		return 0, e
	}
	if may := f.fds[dir].inherit; base&AllRights&^may != 0 || inheriting&AllRights&^may != 0 {
		return 0, ENOTCAPABLE
	}
	switch {
	case oflags > 15 || flags&^allFDFlags != 0 || oflags&(OCreat|ODirectory) == OCreat|ODirectory:
		return 0, EINVAL
	case len(f.fds) >= f.MaxOpen:
		return 0, EMFILE
	}
	d := &desc{base: base, inherit: inheriting & AllRights, flags: flags}
	if e := f.openAt(p, d, oflags); e != ESUCCESS {
		return 0, e
	}
	return f.put(d)
}

// openAt makes a descriptor one of what is at a place.
func (f *FS) openAt(p place, d *desc, oflags OFlags) Errno {
	fi, err := fs.Stat(p.m.fsys, p.name)
	switch {
	case err == nil && oflags&(OCreat|OExcl) == OCreat|OExcl:
		return EEXIST
	case err == nil && fi.IsDir():
		if oflags&(OCreat|OTrunc) != 0 || d.base&writeRights != 0 {
			return EISDIR
		}
		d.m, d.name, d.base = p.m, p.name, d.base&DirRights
		return ESUCCESS
	case err == nil && (p.dir || oflags&ODirectory != 0):
		return ENOTDIR
	case err != nil && (oflags&OCreat == 0 || ErrnoOf(err) != ENOENT):
		return ErrnoOf(err)
	case err != nil && p.dir:
		return EISDIR // a name with a slash at its end is a folder's
	}
	if p.m.w == nil && (d.base&writeRights != 0 || oflags&(OCreat|OTrunc) != 0 && (err != nil || oflags&OTrunc != 0)) {
		return EROFS
	}
	return f.openNode(p, d, oflags)
}

func (f *FS) openNode(p place, d *desc, oflags OFlags) Errno {
	read, write := d.base&RightFdRead != 0, d.base&writeRights != 0
	n := f.nodes[p.key()]
	if n == nil {
		n = &node{k: p.key()}
	} else if e := n.sync(); e != ESUCCESS {
		return e
	}
	mode := accessMode(n.read || read, n.writ || write)
	if d.flags&FDAppend != 0 && write && n.refs == 0 {
		mode = os.O_WRONLY | os.O_APPEND
	}
	if oflags&OTrunc != 0 || n.f == nil || !suits(n.mode, mode) {
		h, err := p.m.openFile(p.name, mode|osFlags(oflags, p.m))
		if err != nil {
			return ErrnoOf(err)
		}
		if e := n.settle(); e != ESUCCESS {
			h.Close()
			return e
		}
		// A file that was cut is cut for others when the program syncs.
		n.f, n.mode, n.dirty = h, mode, oflags&OTrunc != 0
	}
	n.read, n.writ = n.read || read, n.writ || write
	n.refs++
	f.nodes[n.k] = n
	d.n = n
	d.base &= FileRights
	return ESUCCESS
}

func osFlags(o OFlags, m *mount) (flag int) {
	if m.w == nil {
		return 0
	}
	if o&OCreat != 0 {
		flag |= os.O_CREATE
	}
	if o&OExcl != 0 {
		flag |= os.O_EXCL
	}
	if o&OTrunc != 0 {
		flag |= os.O_TRUNC
	}
	return flag
}

// PathFilestatGet tells what has a name.
func (f *FS) PathFilestatGet(dir FD, _ LookupFlags, path string) (Filestat, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.resolve(dir, path, RightPathFilestatGet)
	if e != ESUCCESS {
		return Filestat{}, e
	}
	st, e := f.statName(p.m, p.name)
	if e == ESUCCESS && p.dir && st.Type != TypeDirectory {
		return Filestat{}, ENOTDIR
	}
	return st, e
}

// PathFilestatSetTimes sets the times of what has a name, where the file
// system can.
func (f *FS) PathFilestatSetTimes(dir FD, _ LookupFlags, path string, atim, mtim uint64, flags FstFlags) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.resolve(dir, path, RightPathFilestatSetTimes)
	if e != ESUCCESS {
		return e
	}
	if p.dir {
		if e := needDir(p.m, p.name); e != ESUCCESS {
			return e
		}
	}
	if n := f.nodes[p.key()]; n != nil {
		if e := n.settle(); e != ESUCCESS {
			return e
		}
	}
	return setTimes(p.m, p.name, atim, mtim, flags)
}

// PathReadlink answers that what is there is no link.
func (f *FS) PathReadlink(dir FD, path string) (string, Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.resolve(dir, path, RightPathReadlink)
	if e != ESUCCESS {
		return "", e
	}
	if _, e := f.statName(p.m, p.name); e != ESUCCESS {
		return "", e
	}
	return "", EINVAL
}

// PathSymlink is refused: a link could lead out of the folder.
func (f *FS) PathSymlink(_ string, dir FD, newPath string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused(dir, newPath, RightPathSymlink)
}

// PathLink is refused: no file here has two names.
func (f *FS) PathLink(oldDir FD, _ LookupFlags, oldPath string, newDir FD, newPath string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.resolve(oldDir, oldPath, RightPathLinkSource)
	if e != ESUCCESS {
		return e
	}
	if _, e := f.statName(p.m, p.name); e != ESUCCESS {
		return e
	}
	return f.refused(newDir, newPath, RightPathLinkTarget)
}

func (f *FS) refused(dir FD, path string, need Rights) Errno {
	p, e := f.resolve(dir, path, need)
	if e != ESUCCESS {
		return e
	}
	if _, e := f.statName(p.m, p.name); e == ESUCCESS {
		return EEXIST
	} else if e != ENOENT {
		return e
	}
	return ENOTSUP
}
