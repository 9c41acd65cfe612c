package wasifs

import (
	"io/fs"
	"path"
)

// changing resolves a path for a change.
func (f *FS) changing(dir FD, p string, need Rights) (place, Errno) {
	at, e := f.resolve(dir, p, need)
	if e == ESUCCESS && at.m.w == nil {
		return at, EROFS
	}
	return at, e
}

// PathCreateDirectory makes a folder.
func (f *FS) PathCreateDirectory(dir FD, p string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, e := f.changing(dir, p, RightPathCreateDirectory)
	if e != ESUCCESS {
		return e
	}
	if at.root {
		return EEXIST
	}
	return ErrnoOf(at.m.w.Mkdir(at.name, 0o777))
}

// PathRemoveDirectory removes an empty folder.
func (f *FS) PathRemoveDirectory(dir FD, p string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, e := f.changing(dir, p, RightPathRemoveDirectory)
	if e != ESUCCESS {
		return e
	}
	if at.root {
		return EINVAL
	}
	if e := needDir(at.m, at.name); e != ESUCCESS {
		return e
	}
	return ErrnoOf(at.m.w.Remove(at.name))
}

// PathUnlinkFile removes a file. Descriptors that have it open keep its
// content, up to MaxOrphan bytes; a larger one is EBUSY.
func (f *FS) PathUnlinkFile(dir FD, p string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, e := f.changing(dir, p, RightPathUnlinkFile)
	if e != ESUCCESS {
		return e
	}
	fi, err := fs.Stat(at.m.fsys, at.name)
	switch {
	case err != nil:
		return ErrnoOf(err)
	case fi.IsDir():
		return EISDIR
	case at.dir:
		return ENOTDIR
	}
	removed, e := f.orphan(at.key())
	if e != ESUCCESS {
		return e
	}
	if err := at.m.w.Remove(at.name); err != nil {
		return ErrnoOf(err)
	}
	removed()
	return ESUCCESS
}

// PathRename moves a file or a folder: a file over a file, a folder over an
// empty folder. What is open goes along.
func (f *FS) PathRename(oldDir FD, oldPath string, newDir FD, newPath string) Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, e := f.changing(oldDir, oldPath, RightPathRenameSource)
	if e != ESUCCESS {
		return e
	}
	to, e := f.changing(newDir, newPath, RightPathRenameTarget)
	switch {
	case e != ESUCCESS:
		return e
	case from.m != to.m:
		return EXDEV
	case from.root || to.root:
		return EBUSY
	}
	old, err := fs.Stat(from.m.fsys, from.name)
	if err != nil {
		return ErrnoOf(err)
	}
	if !old.IsDir() && (from.dir || to.dir) {
		return ENOTDIR
	}
	if from.name == to.name {
		return ESUCCESS
	}
	if e := f.settleBelow(from.m, from.name); e != ESUCCESS {
		return e
	}
	return f.renameOver(from, to, old.IsDir())
}

func (f *FS) renameOver(from, to place, dir bool) Errno {
	moved := func() {}
	undo := func() {}
	fi, err := fs.Stat(to.m.fsys, to.name)
	same := err == nil && path.Dir(from.name) == path.Dir(to.name) && sameListed(from, to)
	if err == nil && !same {
		var e Errno
		switch {
		case dir && !fi.IsDir():
			return ENOTDIR
		case dir && within(from.name, to.name):
			return EINVAL
		case !dir && fi.IsDir():
			return EISDIR
		case dir:
			// The file system below replaces no folder.
			if err := to.m.w.Remove(to.name); err != nil {
				return ErrnoOf(err)
			}
			undo = func() { to.m.w.Mkdir(to.name, 0o777) }
		default:
			if moved, e = f.orphan(to.key()); e != ESUCCESS {
				return e
			}
		}
	}
	if err := from.m.w.Rename(from.name, to.name); err != nil {
		undo()
		return ErrnoOf(err)
	}
	moved()
	f.moved(from.m, from.name, to.name)
	return ESUCCESS
}

// sameListed tells whether two names of one folder are one entry, spelled in
// two ways: then the folder lists only one of them.
func sameListed(from, to place) bool {
	list, err := fs.ReadDir(from.m.fsys, path.Dir(from.name))
	if err != nil {
		return false
	}
	for _, e := range list {
		if e.Name() == path.Base(to.name) {
			return false
		}
	}
	return true
}
