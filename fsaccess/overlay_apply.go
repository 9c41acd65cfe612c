package fsaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// ConflictError is the error of [Overlay.Apply] for paths that another program has changed
// in the lower folder since the overlay first changed them. It matches [ErrConflict].
type ConflictError struct{ Paths []string }

// Error returns a text with the paths.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("changed below since the copy was made: %s; look at the difference, then discard or write again", strings.Join(e.Paths, ", "))
}

// Is reports whether target is [ErrConflict].
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Apply writes changes to the lower folder: the changes at or below the given paths, or all
// changes if no path is given. It returns the changes that it has written. New folders
// above a chosen path are included. If another program has changed a chosen path in the
// lower folder, nothing is written and the error is a [*ConflictError]. Over a [Journal]
// the whole Apply is one step for Undo. If Apply is interrupted, the remaining changes stay
// in the overlay, and Apply can be called again.
func (w *Overlay) Apply(ctx context.Context, paths ...string) ([]FileChange, error) {
	o := w.o
	if o.low.features().ReadOnly {
		return nil, ErrReadOnly
	}
	want, err := o.chosen(ctx, paths)
	if err != nil {
		return nil, err
	}
	if len(want) == 0 {
		return nil, o.tidy(ctx)
	}
	locks := make([]string, len(want))
	for i, c := range want {
		locks[i] = c.Path
	}
	if ctx.Value(groupKey{}) == nil {
		ctx = context.WithValue(ctx, groupKey{}, &group{label: "apply"})
	}
	var done []FileChange
	err = locked(ctx, o.low, func(string) error {
		if err := o.conflicts(ctx, want); err != nil {
			return err
		}
		for _, c := range want {
			if err := o.applyOne(ctx, c); err != nil {
				return pathErr("apply", c.Path, err)
			}
			done = append(done, c)
		}
		return nil
	}, locks...)
	if err == nil {
		err = o.tidy(ctx)
	}
	return done, err
}

// chosen returns the changes at or below the given paths, and the new folders that they
// need.
func (o *overlay) chosen(ctx context.Context, paths []string) ([]FileChange, error) {
	all, err := o.diff(ctx)
	if err != nil || len(paths) == 0 {
		return all, err
	}
	pick := make(map[string]bool)
	for _, p := range paths {
		if err := cleanName(p); err != nil {
			return nil, pathErr("apply", p, err)
		}
		for _, c := range all {
			if within(p, c.Path) {
				pick[c.Path] = true
				for q := parentOf(c.Path); q != "."; q = parentOf(q) {
					pick[q] = true
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(c FileChange) bool { return !pick[c.Path] }), nil
}

func (o *overlay) conflicts(ctx context.Context, want []FileChange) error {
	e := &ConflictError{}
	for _, c := range want {
		ok, err := o.unmoved(ctx, c)
		if err != nil {
			return err
		}
		if !ok {
			e.Paths = append(e.Paths, c.Path)
		}
	}
	if len(e.Paths) > 0 {
		return e
	}
	return nil
}

// unmoved reports whether the lower folder still has the state on which the change is
// based.
func (o *overlay) unmoved(ctx context.Context, c FileChange) (bool, error) {
	fi, err := o.low.stat(ctx, c.Path)
	if notExist(err) || errors.Is(err, errNotDir) {
		// A file that existed is gone. Writing it would revert the removal by another
		// program.
		m := o.of(c.Path)
		return c.Kind == Removed || m == nil || m.Base == "" || m.Gone, nil
	}
	if err != nil {
		return false, err
	}
	base, tree := o.known(c.Path)
	if fi.IsDir() {
		if tree == nil {
			return c.Dir && c.Kind == Added, nil
		}
		return o.treeIs(ctx, c.Path, tree)
	}
	v, err := version(ctx, o.low, c.Path)
	return err == nil && base != "" && v == base, err
}

// known returns the noted version of a path, noted by itself or with a removed folder.
func (o *overlay) known(name string) (Version, map[string]Version) {
	if m := o.of(name); m != nil {
		return m.Base, m.Tree
	}
	for p := parentOf(name); p != "."; p = parentOf(p) {
		if m := o.of(p); m != nil && m.Tree != nil {
			rel := relative(p, name)
			v, ok := m.Tree[rel]
			if !ok || v != "" {
				return v, nil
			}
			sub := make(map[string]Version)
			for q, v := range m.Tree {
				if q != rel && within(rel, q) {
					sub[relative(rel, q)] = v
				}
			}
			return "", sub
		}
	}
	return "", nil
}

func (o *overlay) treeIs(ctx context.Context, name string, tree map[string]Version) (same bool, err error) {
	same = true
	werr := walkCore(ctx, o.low, name, pageSize, func(page []Entry) bool {
		for _, e := range page {
			want, ok := tree[relative(name, e.Path)]
			var have Version
			if !e.Dir {
				if have, err = version(ctx, o.low, e.Path); err != nil {
					return false
				}
			}
			if same = ok && have == want; !same {
				return false
			}
		}
		return true
	})
	if err == nil && werr != errStop {
		err = werr
	}
	return same, err
}

// applyOne writes one change to the lower folder and then removes it from the upper one.
func (o *overlay) applyOne(ctx context.Context, c FileChange) error {
	fi, err := o.low.stat(ctx, c.Path)
	there := err == nil
	if err != nil && !notExist(err) && !errors.Is(err, errNotDir) {
		return err
	}
	if there && (c.Kind == Removed || fi.IsDir() != c.Dir) {
		if err := o.low.removeAll(ctx, c.Path); err != nil && !notExist(err) {
			return err
		}
		there = false
	}
	switch {
	case c.Kind == Removed:
	case c.Dir && !there:
		up, err := o.up.stat(ctx, c.Path)
		if err != nil {
			return err
		}
		if err := o.low.mkdir(ctx, c.Path, up.Mode().Perm()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	case !c.Dir:
		if _, err := copyFile(ctx, o.up, c.Path, o.low, c.Path, nil); err != nil {
			return err
		}
	}
	o.low.base().note(c.Path)
	if c.Dir && c.Kind != Removed && there {
		return nil // the upper folder is removed after all its entries are applied
	}
	if o.of(c.Path) != nil {
		if err := o.unnote(ctx, c.Path); err != nil {
			return err
		}
	}
	// While a folder above is hidden in lower, the lower file cannot stand in for the upper
	// one.
	if c.Dir || c.Kind == Removed || o.hidden(c.Path) {
		return nil
	}
	if err := o.up.remove(ctx, c.Path); err != nil && !notExist(err) {
		return err
	}
	return nil
}

// tidy removes data that has become useless: notes of unchanged paths, notes of folders
// that were made again and whose old content is gone, and upper files that equal the lower
// ones.
func (o *overlay) tidy(ctx context.Context) error {
	left, err := o.diff(ctx)
	if err != nil {
		return err
	}
	busy := func(p string) bool {
		return slices.ContainsFunc(left, func(c FileChange) bool { return within(p, c.Path) || within(c.Path, p) })
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
	err = walkCore(ctx, o.up, ".", pageSize, func(page []Entry) bool {
		for _, e := range page {
			all = append(all, e.Path)
		}
		return true
	})
	if err != nil && !notExist(err) {
		return err
	}
	for _, p := range slices.Backward(all) {
		if !busy(p) && !o.hidden(p) {
			if err := o.up.remove(ctx, p); err != nil && !notExist(err) && !errors.Is(err, errNotEmpty) {
				return err
			}
		}
	}
	return nil
}

// madeAnew reports whether a folder that was removed and made again exists in lower too,
// with no entry left that must be removed.
func (o *overlay) madeAnew(ctx context.Context, p string, left []FileChange) (bool, error) {
	for _, c := range []core{o.low, o.up} {
		fi, err := c.stat(ctx, p)
		if notExist(err) || errors.Is(err, errNotDir) || err == nil && !fi.IsDir() {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return !slices.ContainsFunc(left, func(c FileChange) bool {
		return within(p, c.Path) && c.Kind != Added
	}), nil
}

// Discard drops the changes at or below the given paths, or all changes if no path is
// given.
func (w *Overlay) Discard(ctx context.Context, paths ...string) error {
	o := w.o
	if err := o.load(ctx); err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, p := range paths {
		if err := cleanName(p); err != nil {
			return pathErr("discard", p, err)
		}
		if p == "." {
			list, err := o.up.readDir(ctx, ".")
			if err != nil && !notExist(err) {
				return err
			}
			for _, e := range list {
				if err := o.up.removeAll(ctx, e.Name()); err != nil && !notExist(err) {
					return pathErr("discard", e.Name(), err)
				}
			}
		} else if err := o.up.removeAll(ctx, p); err != nil && !notExist(err) {
			return pathErr("discard", p, err)
		}
		for _, m := range append(o.metaBelow(p), p) {
			if o.of(m) == nil {
				continue
			}
			if err := o.unnote(ctx, m); err != nil {
				return pathErr("discard", m, err)
			}
		}
	}
	return nil
}
