package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"
)

// replace writes to the upper folder, after it has noted the version in the lower one.
func (o *overlay) replace(ctx context.Context, name string, perm fs.FileMode) (replacement, error) {
	c, fi, err := o.side(ctx, name)
	if err == nil && fi.IsDir() {
		return nil, errIsDir
	}
	if err != nil && !notExist(err) {
		return nil, err
	}
	if err := needDir(ctx, o, parentOf(name)); err != nil {
		return nil, err
	}
	if err := o.makeRoom(ctx, name); err != nil {
		return nil, err
	}
	if err == nil && c == o.low {
		perm = fi.Mode().Perm()
	}
	return o.up.replace(ctx, name, perm)
}

// makeRoom prepares the upper folder for an entry of this name.
func (o *overlay) makeRoom(ctx context.Context, name string) error {
	if err := o.remember(ctx, name); err != nil {
		return err
	}
	return o.folderUp(ctx, parentOf(name))
}

// remember notes the version of the file in the lower folder, once.
func (o *overlay) remember(ctx context.Context, name string) error {
	if o.of(name) != nil || o.hidden(name) {
		return nil
	}
	if _, err := o.up.stat(ctx, name); err == nil {
		return nil
	}
	fi, err := o.low.stat(ctx, name)
	if notExist(err) || errors.Is(err, errNotDir) || err == nil && fi.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := version(ctx, o.low, name)
	if err != nil {
		return err
	}
	return o.note(ctx, &origin{Path: name, Base: v})
}

// folderUp makes a folder, and the folders above it, in the upper folder.
func (o *overlay) folderUp(ctx context.Context, dir string) error {
	if dir == "." {
		return nil
	}
	if fi, err := o.up.stat(ctx, dir); err == nil && fi.IsDir() {
		return nil
	}
	if err := o.folderUp(ctx, parentOf(dir)); err != nil {
		return err
	}
	perm := fs.FileMode(0o777)
	if fi, err := o.low.stat(ctx, dir); err == nil && fi.IsDir() {
		perm = fi.Mode().Perm()
	}
	if err := o.up.mkdir(ctx, dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (o *overlay) mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if _, err := o.stat(ctx, name); err == nil {
		return errExist
	} else if !notExist(err) {
		return err
	}
	if err := needDir(ctx, o, parentOf(name)); err != nil {
		return err
	}
	if err := o.folderUp(ctx, parentOf(name)); err != nil {
		return err
	}
	return o.up.mkdir(ctx, name, perm)
}

func (o *overlay) remove(ctx context.Context, name string) error {
	fi, err := o.stat(ctx, name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		if list, err := o.readDir(ctx, name); err != nil {
			return err
		} else if len(list) > 0 {
			return errNotEmpty
		}
	}
	return o.removeAll(ctx, name)
}

// removeAll hides the lower entry before it removes the upper one. If it is interrupted in
// between, the old state stays visible.
func (o *overlay) removeAll(ctx context.Context, name string) error {
	if _, err := o.stat(ctx, name); err != nil {
		return err
	}
	m := &origin{Path: name, Gone: true}
	if was := o.of(name); was != nil {
		*m = *was
		m.Gone = true
	}
	fi, err := o.low.stat(ctx, name)
	below := err == nil && !o.hidden(name)
	if below {
		if err := o.version(ctx, m, fi); err != nil {
			return err
		}
	}
	inner := o.metaBelow(name)
	if below || m.Base != "" || m.Tree != nil {
		if err := o.note(ctx, m); err != nil {
			return err
		}
	}
	if err := o.up.removeAll(ctx, name); err != nil && !notExist(err) {
		return err
	}
	for _, p := range inner {
		if err := o.unnote(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// version fills in the versions of the entry that is being removed. For a file that was
// changed before, it takes the version noted at its first change.
func (o *overlay) version(ctx context.Context, m *origin, fi fs.FileInfo) (err error) {
	if !fi.IsDir() {
		if m.Base == "" {
			m.Base, err = version(ctx, o.low, m.Path)
		}
		return err
	}
	m.Tree = make(map[string]Version)
	werr := walkCore(ctx, o.low, m.Path, pageSize, func(page []Entry) bool {
		for _, e := range page {
			var v Version
			if old := o.of(e.Path); old != nil && old.Base != "" {
				v = old.Base
			} else if !e.Dir {
				if v, err = version(ctx, o.low, e.Path); err != nil {
					return false
				}
			}
			m.Tree[relative(m.Path, e.Path)] = v // "" for a folder
		}
		return true
	})
	if err == nil && werr != errStop {
		err = werr
	}
	return err
}

func (o *overlay) metaBelow(name string) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var out []string
	for p := range o.meta {
		if p != name && within(name, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (o *overlay) rename(ctx context.Context, from, to string) error {
	return copyRename(ctx, o, from, to)
}

func (o *overlay) chmod(ctx context.Context, name string, mode fs.FileMode) error {
	return o.adjust(ctx, name, func() error {
		if c, ok := o.up.(chmodder); ok {
			return c.chmod(ctx, name, mode)
		}
		return errUnsupported
	})
}

func (o *overlay) chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	return o.adjust(ctx, name, func() error {
		if c, ok := o.up.(chtimer); ok {
			return c.chtimes(ctx, name, atime, mtime)
		}
		return errUnsupported
	})
}

// adjust copies an entry to the upper folder before its mode or times are set there.
func (o *overlay) adjust(ctx context.Context, name string, do func() error) error {
	if !o.features().Chmod {
		return errUnsupported
	}
	c, fi, err := o.side(ctx, name)
	switch {
	case err != nil:
		return err
	case fi.IsDir():
		err = o.folderUp(ctx, name)
	case c == o.low:
		_, err = copyFile(ctx, o, name, o, name, nil)
	}
	if err != nil {
		return err
	}
	return do()
}
