package overlay

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"

	"github.com/bailey-go/bailey/internal/textdiff"
)

// Apply writes changes to the lower folder: the changes at or below the given paths, or all
// changes if paths is empty. It returns the changes that it has written. If another program
// has changed a chosen path in the lower folder, it writes nothing and returns the paths of
// these conflicts.
func (o *Overlay) Apply(ctx context.Context, paths []string) (done []Change, conflicts []string, err error) {
	if o.low.Features().ReadOnly {
		return nil, nil, core.ErrReadOnly
	}
	want, err := o.chosen(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	if len(want) == 0 {
		return nil, nil, o.tidy(ctx)
	}
	locks := make([]string, len(want))
	for i, c := range want {
		locks[i] = c.Path
	}
	ctx = core.Labelled(ctx, "apply")
	err = core.Locked(ctx, o.low, func(string) error {
		var err error
		if conflicts, err = o.conflicts(ctx, want); err != nil || len(conflicts) > 0 {
			return err
		}
		for _, c := range want {
			if err := o.applyOne(ctx, c); err != nil {
				return core.PathErr("apply", c.Path, err)
			}
			done = append(done, c)
		}
		return nil
	}, locks...)
	if err == nil && len(conflicts) == 0 {
		err = o.tidy(ctx)
	}
	return done, conflicts, err
}

// chosen returns the changes at or below the given paths, and the new folders that they
// need.
func (o *Overlay) chosen(ctx context.Context, paths []string) ([]Change, error) {
	all, err := o.Diff(ctx)
	if err != nil || len(paths) == 0 {
		return all, err
	}
	pick := make(map[string]bool)
	for _, p := range paths {
		if err := core.CleanName(p); err != nil {
			return nil, core.PathErr("apply", p, err)
		}
		for _, c := range all {
			if core.Within(p, c.Path) {
				pick[c.Path] = true
				for q := core.ParentOf(c.Path); q != "."; q = core.ParentOf(q) {
					pick[q] = true
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(c Change) bool { return !pick[c.Path] }), nil
}

// conflicts returns the paths of the changes that another program has overtaken.
func (o *Overlay) conflicts(ctx context.Context, want []Change) (paths []string, err error) {
	for _, c := range want {
		ok, err := o.unmoved(ctx, c)
		if err != nil {
			return nil, err
		}
		if !ok {
			paths = append(paths, c.Path)
		}
	}
	return paths, nil
}

// unmoved reports whether the lower folder still has the state on which the change is
// based.
func (o *Overlay) unmoved(ctx context.Context, c Change) (bool, error) {
	fi, err := o.low.Stat(ctx, c.Path)
	if core.NotExist(err) || errors.Is(err, core.ErrNotDir) {
		// A file that existed is gone. Writing it would revert the removal by another
		// program.
		m := o.of(c.Path)
		return c.Kind == removed || m == nil || m.Base == "" || m.Gone, nil
	}
	if err != nil {
		return false, err
	}
	base, tree := o.known(c.Path)
	if fi.IsDir() {
		if tree == nil {
			return c.Dir && c.Kind == added, nil
		}
		return o.treeIs(ctx, c.Path, tree)
	}
	v, err := core.VersionAt(ctx, o.low, c.Path)
	return err == nil && base != "" && v == base, err
}

// known returns the noted version of a path, noted by itself or with a removed folder.
func (o *Overlay) known(name string) (core.Version, map[string]core.Version) {
	if m := o.of(name); m != nil {
		return m.Base, m.Tree
	}
	for p := core.ParentOf(name); p != "."; p = core.ParentOf(p) {
		if m := o.of(p); m != nil && m.Tree != nil {
			rel := core.Relative(p, name)
			v, ok := m.Tree[rel]
			if !ok || v != "" {
				return v, nil
			}
			sub := make(map[string]core.Version)
			for q, v := range m.Tree {
				if q != rel && core.Within(rel, q) {
					sub[core.Relative(rel, q)] = v
				}
			}
			return "", sub
		}
	}
	return "", nil
}

func (o *Overlay) treeIs(ctx context.Context, name string, tree map[string]core.Version) (same bool, err error) {
	same = true
	werr := core.WalkCore(ctx, o.low, name, core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			want, ok := tree[core.Relative(name, e.Path)]
			var have core.Version
			if !e.Dir {
				if have, err = core.VersionAt(ctx, o.low, e.Path); err != nil {
					return false
				}
			}
			if same = ok && have == want; !same {
				return false
			}
		}
		return true
	})
	if err == nil && werr != core.ErrStop {
		err = werr
	}
	return same, err
}

// applyOne writes one change to the lower folder and then removes it from the upper one.
func (o *Overlay) applyOne(ctx context.Context, c Change) error {
	fi, err := o.low.Stat(ctx, c.Path)
	there := err == nil
	if err != nil && !core.NotExist(err) && !errors.Is(err, core.ErrNotDir) {
		return err
	}
	if there && (c.Kind == removed || fi.IsDir() != c.Dir) {
		if err := o.low.RemoveAll(ctx, c.Path); err != nil && !core.NotExist(err) {
			return err
		}
		there = false
	}
	switch {
	case c.Kind == removed:
	case c.Dir && !there:
		up, err := o.up.Stat(ctx, c.Path)
		if err != nil {
			return err
		}
		if err := o.low.Mkdir(ctx, c.Path, up.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case !c.Dir:
		if _, err := core.CopyFile(ctx, o.up, c.Path, o.low, c.Path, nil); err != nil {
			return err
		}
	}
	o.low.Base().Note(c.Path)
	if c.Dir && c.Kind != removed && there {
		return nil // the upper folder is removed after all its entries are applied
	}
	if o.of(c.Path) != nil {
		if err := o.unnote(ctx, c.Path); err != nil {
			return err
		}
	}
	// While a folder above is hidden in lower, the lower file cannot stand in for the upper
	// one.
	if c.Dir || c.Kind == removed || o.hidden(c.Path) {
		return nil
	}
	if err := o.up.Remove(ctx, c.Path); err != nil && !core.NotExist(err) {
		return err
	}
	return nil
}

// tidy removes data that has become useless: notes of unchanged paths, notes of folders
// that were made again and whose old content is gone, and upper files that equal the lower
// ones.
func (o *Overlay) tidy(ctx context.Context) error {
	left, err := o.Diff(ctx)
	if err != nil {
		return err
	}
	busy := func(p string) bool {
		return slices.ContainsFunc(left, func(c Change) bool { return core.Within(p, c.Path) || core.Within(c.Path, p) })
	}
	for _, p := range o.metaBelow(".") {
		if busy(p) {
			again, err := o.madeAnew(ctx, p, left)
			if err != nil {
				return err
			}
			if !again {
				continue
			}
		}
		if err := o.unnote(ctx, p); err != nil {
			return err
		}
	}
	var all []string
	err = core.WalkCore(ctx, o.up, ".", core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			all = append(all, e.Path)
		}
		return true
	})
	if err != nil && !core.NotExist(err) {
		return err
	}
	for _, p := range slices.Backward(all) {
		if !busy(p) && !o.hidden(p) {
			if err := o.up.Remove(ctx, p); err != nil && !core.NotExist(err) && !errors.Is(err, core.ErrNotEmpty) {
				return err
			}
		}
	}
	return nil
}

// madeAnew reports whether a folder that was removed and made again exists in lower too,
// with no entry left that must be removed.
func (o *Overlay) madeAnew(ctx context.Context, p string, left []Change) (bool, error) {
	for _, c := range []core.Core{o.low, o.up} {
		fi, err := c.Stat(ctx, p)
		if core.NotExist(err) || errors.Is(err, core.ErrNotDir) || err == nil && !fi.IsDir() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(left, func(c Change) bool {
		return core.Within(p, c.Path) && c.Kind != added
	}), nil
}

// Discard drops the changes at or below the given paths, or all changes if paths is empty.
func (o *Overlay) Discard(ctx context.Context, paths []string) error {
	if err := o.load(ctx); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range paths {
		if err := core.CleanName(p); err != nil {
			return core.PathErr("discard", p, err)
		}
		if p == "." {
			list, err := o.up.ReadDir(ctx, ".")
			if err != nil && !core.NotExist(err) {
				return err
			}
			for _, e := range list {
				if err := o.up.RemoveAll(ctx, e.Name()); err != nil && !core.NotExist(err) {
					return core.PathErr("discard", e.Name(), err)
				}
			}
		} else if err := o.up.RemoveAll(ctx, p); err != nil && !core.NotExist(err) {
			return core.PathErr("discard", p, err)
		}
		for _, m := range append(o.metaBelow(p), p) {
			if o.of(m) == nil {
				continue
			}
			if err := o.unnote(ctx, m); err != nil {
				return core.PathErr("discard", m, err)
			}
		}
	}
	return nil
}

// Change is one difference between an overlay and its lower folder.
type Change struct {
	Path string
	// Kind is [added], [changed] or [removed].
	Kind changeKind
	Dir  bool
	Size int64 // bytes after the change, or before it for a removed file, and 0 for a folder
}

// changeKind is the kind of a change.
type changeKind string

const (
	added   changeKind = "added"
	changed changeKind = "changed"
	removed changeKind = "removed"
)

// Diff returns the changes that apply would write, sorted by path.
func (o *Overlay) Diff(ctx context.Context) ([]Change, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	changes := make(map[string]Change)
	var err error
	werr := core.WalkCore(ctx, o.up, ".", core.PageSize, func(page []core.Entry) bool {
		for _, e := range page {
			var c Change
			if c, err = o.compare(ctx, e); err != nil {
				return false
			}
			if c.Path != "" {
				changes[c.Path] = c
			}
		}
		return true
	})
	if err == nil && werr != nil && werr != core.ErrStop && !core.NotExist(werr) {
		err = werr
	}
	if err != nil {
		return nil, err
	}
	if err := o.removals(ctx, changes); err != nil {
		return nil, err
	}
	out := make([]Change, 0, len(changes))
	for _, c := range changes {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// compare returns the difference between an entry of the upper folder and the lower one.
func (o *Overlay) compare(ctx context.Context, e core.Entry) (Change, error) {
	fi, err := o.low.Stat(ctx, e.Path)
	if err != nil && !core.NotExist(err) && !errors.Is(err, core.ErrNotDir) {
		return Change{}, err
	}
	c := Change{Path: e.Path, Kind: added, Dir: e.Dir, Size: e.Size}
	if err != nil {
		return c, nil
	}
	if fi.IsDir() != e.Dir {
		c.Kind = changed
		return c, nil
	}
	if e.Dir {
		return Change{}, nil
	}
	if fi.Size() == e.Size {
		a, err := core.VersionAt(ctx, o.low, e.Path)
		if err != nil {
			return Change{}, err
		}
		if b, err := core.VersionAt(ctx, o.up, e.Path); err != nil || a == b {
			return Change{}, err
		}
	}
	c.Kind = changed
	return c, nil
}

// removals adds the hidden entries of the lower folder that have no replacement.
func (o *Overlay) removals(ctx context.Context, changes map[string]Change) error {
	o.mu.RLock()
	var gone []string
	for p, m := range o.meta {
		if m.Gone {
			gone = append(gone, p)
		}
	}
	o.mu.RUnlock()
	for _, p := range gone {
		fi, err := o.low.Stat(ctx, p)
		if core.NotExist(err) || errors.Is(err, core.ErrNotDir) {
			continue
		}
		if err != nil {
			return err
		}
		up, uerr := o.up.Stat(ctx, p)
		switch {
		case core.NotExist(uerr) || errors.Is(uerr, core.ErrNotDir):
			changes[p] = Change{Path: p, Kind: removed, Dir: fi.IsDir(), Size: core.EntryOf(p, fi).Size}
		case uerr != nil:
			return uerr
		case up.IsDir() && fi.IsDir():
			// The folder was made again. Its old entries are removed unless the new folder
			// has them.
			err = core.WalkCore(ctx, o.low, p, core.PageSize, func(page []core.Entry) bool {
				for _, e := range page {
					if _, err := o.up.Stat(ctx, e.Path); err == nil {
						continue
					}
					if c, ok := changes[core.ParentOf(e.Path)]; ok && c.Kind == removed {
						changes[e.Path] = Change{} // removed together with its folder
						continue
					}
					changes[e.Path] = Change{Path: e.Path, Kind: removed, Dir: e.Dir, Size: e.Size}
				}
				return true
			})
			if err != nil {
				return err
			}
		}
	}
	for p, c := range changes {
		if c.Path == "" {
			delete(changes, p)
		}
		for q := core.ParentOf(p); q != "."; q = core.ParentOf(q) {
			if d, ok := changes[q]; ok && d.Kind == removed {
				delete(changes, p)
			}
		}
	}
	return nil
}

// DiffText returns the change of one path as a question diff.
func (o *Overlay) DiffText(ctx context.Context, name string) (string, error) {
	if err := core.CleanName(name); err != nil {
		return "", core.PathErr("diff", name, err)
	}
	old, oerr := o.low.ReadFile(ctx, name)
	now, nerr := o.ReadFile(ctx, name)
	a, b := "a/"+name, "b/"+name
	if core.NotExist(oerr) {
		a, oerr = "/dev/null", nil
	}
	if core.NotExist(nerr) {
		b, nerr = "/dev/null", nil
	}
	if err := errors.Join(oerr, nerr); err != nil {
		return "", core.PathErr("diff", name, err)
	}
	return textdiff.Question(ctx, a, b, old, now)
}
