package overlay

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Replace writes to the upper folder, after it has noted the version in the lower one.
func (o *Overlay) Replace(ctx context.Context, name string, perm fs.FileMode) (core.Replacement, error) {
	c, fi, err := o.side(ctx, name)
	if err == nil && fi.IsDir() {
		return nil, core.ErrIsDir
	}
	if err != nil && !core.NotExist(err) {
		return nil, err
	}
	if err := core.NeedDir(ctx, o, core.ParentOf(name)); err != nil {
		return nil, err
	}
	if err := o.makeRoom(ctx, name); err != nil {
		return nil, err
	}
	if err == nil && c == o.low {
		perm = fi.Mode().Perm()
	}
	return o.up.Replace(ctx, name, perm)
}

// makeRoom prepares the upper folder for an entry of this name.
func (o *Overlay) makeRoom(ctx context.Context, name string) error {
	if err := o.Remember(ctx, name); err != nil {
		return err
	}
	return o.folderUp(ctx, core.ParentOf(name))
}

// Remember notes the version of the file in the lower folder, once.
func (o *Overlay) Remember(ctx context.Context, name string) error {
	if o.of(name) != nil || o.hidden(name) {
		return nil
	}
	if _, err := o.up.Stat(ctx, name); err == nil {
		return nil
	}
	fi, err := o.low.Stat(ctx, name)
	if core.NotExist(err) || errors.Is(err, core.ErrNotDir) || err == nil && fi.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := core.VersionAt(ctx, o.low, name)
	if err != nil {
		return err
	}
	return o.note(ctx, &origin{Path: name, Base: v})
}

// folderUp makes a folder, and the folders above it, in the upper folder.
func (o *Overlay) folderUp(ctx context.Context, dir string) error {
	if dir == "." {
		return nil
	}
	if fi, err := o.up.Stat(ctx, dir); err == nil && fi.IsDir() {
		return nil
	}
	if err := o.folderUp(ctx, core.ParentOf(dir)); err != nil {
		return err
	}
	perm := fs.FileMode(0o777)
	if fi, err := o.low.Stat(ctx, dir); err == nil && fi.IsDir() {
		perm = fi.Mode().Perm()
	}
	if err := o.up.Mkdir(ctx, dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (o *Overlay) Mkdir(ctx context.Context, name string, perm fs.FileMode) error {
	if _, err := o.Stat(ctx, name); err == nil {
		return core.ErrExist
	} else if !core.NotExist(err) {
		return err
	}
	if err := core.NeedDir(ctx, o, core.ParentOf(name)); err != nil {
		return err
	}
	if err := o.folderUp(ctx, core.ParentOf(name)); err != nil {
		return err
	}
	return o.up.Mkdir(ctx, name, perm)
}

func (o *Overlay) Remove(ctx context.Context, name string) error {
	fi, err := o.Stat(ctx, name)
	if err != nil {
		return err
	}
	if fi.IsDir() {
		if list, err := o.ReadDir(ctx, name); err != nil {
			return err
		} else if len(list) > 0 {
			return core.ErrNotEmpty
		}
	}
	return o.RemoveAll(ctx, name)
}

// RemoveAll hides the lower entry before it removes the upper one. If it is interrupted in
// between, the old state stays visible.
func (o *Overlay) RemoveAll(ctx context.Context, name string) error {
	if _, err := o.Stat(ctx, name); err != nil {
		return err
	}
	m := &origin{Path: name, Gone: true}
	if was := o.of(name); was != nil {
		*m = *was
		m.Gone = true
	}
	fi, err := o.low.Stat(ctx, name)
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
	if err := o.up.RemoveAll(ctx, name); err != nil && !core.NotExist(err) {
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
func (o *Overlay) version(ctx context.Context, m *origin, fi fs.FileInfo) (err error) {
	if !fi.IsDir() {
		if m.Base == "" {
			m.Base, err = core.VersionAt(ctx, o.low, m.Path)
		}
		return err
	}
	m.Tree = make(map[string]core.Version)
	werr := core.WalkCore(ctx, o.low, m.Path, core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			var v core.Version
			if old := o.of(e.Path); old != nil && old.Base != "" {
				v = old.Base
			} else if !e.Dir {
				if v, err = core.VersionAt(ctx, o.low, e.Path); err != nil {
					return false
				}
			}
			m.Tree[core.Relative(m.Path, e.Path)] = v // "" for a folder
		}
		return true
	})
	if err == nil && werr != core.ErrStop {
		err = werr
	}
	return err
}

func (o *Overlay) metaBelow(name string) []string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var out []string
	for p := range o.meta {
		if p != name && core.Within(name, p) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (o *Overlay) Rename(ctx context.Context, from, to string) error {
	return core.CopyRename(ctx, o, from, to)
}

func (o *Overlay) Chmod(ctx context.Context, name string, mode fs.FileMode) error {
	return o.adjust(ctx, name, func() error {
		if c, ok := o.up.(core.Chmodder); ok {
			return c.Chmod(ctx, name, mode)
		}
		return core.ErrUnsupported
	})
}

func (o *Overlay) Chtimes(ctx context.Context, name string, atime, mtime time.Time) error {
	return o.adjust(ctx, name, func() error {
		if c, ok := o.up.(core.Chtimer); ok {
			return c.Chtimes(ctx, name, atime, mtime)
		}
		return core.ErrUnsupported
	})
}

// Symlink makes a link in the folder of changes. A removed entry of that name stays hidden below.
func (o *Overlay) Symlink(ctx context.Context, target, name string) error { return core.ErrUnsupported }

// ReadLink reads a link of the lower folder.
func (o *Overlay) ReadLink(ctx context.Context, name string) (string, error) {
	c, _, err := o.side(ctx, name)
	if err != nil {
		return "", err
	}
	return core.ReadLink(ctx, c, name)
}

// adjust copies an entry to the upper folder before its mode or times are set there.
func (o *Overlay) adjust(ctx context.Context, name string, do func() error) error {
	if !o.Features().Chmod {
		return core.ErrUnsupported
	}
	c, fi, err := o.side(ctx, name)
	switch {
	case err != nil:
		return err
	case fi.IsDir():
		err = o.folderUp(ctx, name)
	case c == o.low:
		_, err = core.CopyFile(ctx, o, name, o, name, nil)
	}
	if err != nil {
		return err
	}
	return do()
}
