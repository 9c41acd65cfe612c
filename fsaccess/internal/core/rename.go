package core

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
)

// CheckRename makes the checks that package os promises for Rename, the same for every
// source, so that a rename can lose no file. done reports that nothing is left to do.
func CheckRename(ctx context.Context, c Core, from, to string) (done bool, err error) {
	if from == "." || to == "." {
		return false, ErrInvalid
	}
	oi, err := c.Stat(ctx, from)
	if err != nil {
		// As in the kernel, an error of the new name's folder takes precedence over a
		// missing old name.
		if NotExist(err) && NeedDir(ctx, c, ParentOf(from)) == nil {
			if perr := NeedDir(ctx, c, ParentOf(to)); perr != nil {
				return false, perr
			}
		}
		return false, err
	}
	ni, nerr := c.Stat(ctx, to)
	if nerr == nil && ni.IsDir() {
		if from == to {
			return false, ErrExist
		}
		if same, err := SameEntry(ctx, c, from, to); err != nil || !same {
			return false, errors.Join(err, ErrExist)
		}
		return false, nil
	}
	if from == to {
		return true, nil
	}
	if nerr != nil {
		if err := NeedDir(ctx, c, ParentOf(to)); err != nil {
			return false, err
		}
	}
	if oi.IsDir() {
		if inside, err := InsideItself(ctx, c, from, to); err != nil || inside {
			return false, errors.Join(err, ErrInvalid)
		}
	}
	if nerr == nil {
		if oi.IsDir() {
			return false, ErrNotDir
		}
		return false, nil
	}
	if !NotExist(nerr) {
		return false, nerr
	}
	return false, nil
}

// NeedDir returns the reason why name cannot have an entry below it, or nil.
func NeedDir(ctx context.Context, c Core, name string) error {
	if name == "." {
		return nil
	}
	fi, err := c.Stat(ctx, name)
	if err != nil {
		return err
	}
	if IsLink(fi.Mode()) {
		return LinkAt(name, "")
	}
	if !fi.IsDir() {
		return ErrNotDir
	}
	return nil
}

// SameEntry reports whether two names that differ at most by case are one entry. In that
// case both names exist, but their folder lists only one of them.
func SameEntry(ctx context.Context, c Core, a, b string) (bool, error) {
	if ParentOf(a) != ParentOf(b) || !FoldEqual(a, b) {
		return false, nil
	}
	list, err := c.ReadDir(ctx, ParentOf(a))
	if NotExist(err) || errors.Is(err, ErrNotDir) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	unlisted := ""
	for _, n := range []string{a, b} {
		if !slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == BaseOf(n) }) {
			unlisted = n
		}
	}
	if unlisted == "" {
		return a == b, nil
	}
	if _, err := c.Stat(ctx, unlisted); err != nil {
		if NotExist(err) {
			err = nil
		}
		return false, err
	}
	return true, nil
}

// InsideItself reports whether to is below from, also in another spelling. A folder moved
// into itself would be lost.
func InsideItself(ctx context.Context, c Core, from, to string) (bool, error) {
	if Within(from, to) {
		return true, nil
	}
	if FoldEqual(from, to) || !Within(FoldName(from), FoldName(to)) {
		return false, nil
	}
	var head string
	n := Depth(".", from)
	for part := range Parts(to) {
		if n--; n < 0 {
			break
		}
		head = path.Join(head, part)
	}
	a, err := Spelled(ctx, c, from)
	if err != nil {
		return false, err
	}
	b, err := Spelled(ctx, c, head)
	return a == b, err
}

// Spelled returns a name as the file system spells it. A missing element is returned as
// passed.
func Spelled(ctx context.Context, c Core, name string) (string, error) {
	out := "."
	for part := range Parts(name) {
		list, err := c.ReadDir(ctx, out)
		if err != nil && !NotExist(err) && !errors.Is(err, ErrNotDir) {
			return "", err
		}
		near := part
		for _, e := range list {
			if e.Name() == part {
				near = part
				break
			}
			if FoldEqual(e.Name(), part) {
				near = e.Name()
			}
		}
		out = Join(out, near)
	}
	return out, nil
}
