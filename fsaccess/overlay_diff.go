package fsaccess

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// FileChange is one difference between an overlay and its lower folder.
type FileChange struct {
	Path string
	// Kind is [Added], [Changed] or [Removed].
	Kind ChangeKind
	Dir  bool
	Size int64 // bytes after the change, or before it for a removed file, and 0 for a folder
}

// ChangeKind is the kind of a change.
type ChangeKind string

const (
	// Added is a new file or folder.
	Added ChangeKind = "added"
	// Changed is a file with a new content, or a path that changed between file and folder.
	Changed ChangeKind = "changed"
	// Removed is a removed file or folder.
	Removed ChangeKind = "removed"
)

// Diff returns the changes that [Overlay.Apply] would write, sorted by path.
func (w *Overlay) Diff(ctx context.Context) ([]FileChange, error) {
	return w.o.diff(ctx)
}

func (o *overlay) diff(ctx context.Context) ([]FileChange, error) {
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	changes := make(map[string]FileChange)
	var err error
	werr := walkCore(ctx, o.up, ".", pageSize, func(page []Entry) bool {
		for _, e := range page {
			var c FileChange
			if c, err = o.compare(ctx, e); err != nil {
				return false
			}
			if c.Path != "" {
				changes[c.Path] = c
			}
		}
		return true
	})
	if err == nil && werr != nil && werr != errStop && !notExist(werr) {
		err = werr
	}
	if err != nil {
		return nil, err
	}
	if err := o.removals(ctx, changes); err != nil {
		return nil, err
	}
	out := make([]FileChange, 0, len(changes))
	for _, c := range changes {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// compare returns the difference between an entry of the upper folder and the lower one.
func (o *overlay) compare(ctx context.Context, e Entry) (FileChange, error) {
	fi, err := o.low.stat(ctx, e.Path)
	if err != nil && !notExist(err) && !errors.Is(err, errNotDir) {
		return FileChange{}, err
	}
	c := FileChange{Path: e.Path, Kind: Added, Dir: e.Dir, Size: e.Size}
	if err != nil {
		return c, nil
	}
	if fi.IsDir() != e.Dir {
		c.Kind = Changed
		return c, nil
	}
	if e.Dir {
		return FileChange{}, nil
	}
	if fi.Size() == e.Size {
		a, err := version(ctx, o.low, e.Path)
		if err != nil {
			return FileChange{}, err
		}
		if b, err := version(ctx, o.up, e.Path); err != nil || a == b {
			return FileChange{}, err
		}
	}
	c.Kind = Changed
	return c, nil
}

// removals adds the hidden entries of the lower folder that have no replacement.
func (o *overlay) removals(ctx context.Context, changes map[string]FileChange) error {
	o.mu.RLock()
	var gone []string
	for p, m := range o.meta {
		if m.Gone {
			gone = append(gone, p)
		}
	}
	o.mu.RUnlock()
	for _, p := range gone {
		fi, err := o.low.stat(ctx, p)
		if notExist(err) || errors.Is(err, errNotDir) {
			continue
		}
		if err != nil {
			return err
		}
		up, uerr := o.up.stat(ctx, p)
		switch {
		case notExist(uerr) || errors.Is(uerr, errNotDir):
			changes[p] = FileChange{Path: p, Kind: Removed, Dir: fi.IsDir(), Size: entryOf(p, fi).Size}
		case uerr != nil:
			return uerr
		case up.IsDir() && fi.IsDir():
			// The folder was made again. Its old entries are removed unless the new folder
			// has them.
			err = walkCore(ctx, o.low, p, pageSize, func(page []Entry) bool {
				for _, e := range page {
					if _, err := o.up.stat(ctx, e.Path); err == nil {
						continue
					}
					if c, ok := changes[parentOf(e.Path)]; ok && c.Kind == Removed {
						changes[e.Path] = FileChange{} // removed together with its folder
						continue
					}
					changes[e.Path] = FileChange{Path: e.Path, Kind: Removed, Dir: e.Dir, Size: e.Size}
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
		for q := parentOf(p); q != "."; q = parentOf(q) {
			if d, ok := changes[q]; ok && d.Kind == Removed {
				delete(changes, p)
			}
		}
	}
	return nil
}

// DiffText returns the change of one path as a [QuestionDiff].
func (w *Overlay) DiffText(ctx context.Context, name string) (string, error) {
	if err := cleanName(name); err != nil {
		return "", pathErr("diff", name, err)
	}
	old, oerr := w.o.low.readFile(ctx, name)
	now, nerr := w.o.readFile(ctx, name)
	a, b := "a/"+name, "b/"+name
	if notExist(oerr) {
		a, oerr = "/dev/null", nil
	}
	if notExist(nerr) {
		b, nerr = "/dev/null", nil
	}
	if err := errors.Join(oerr, nerr); err != nil {
		return "", pathErr("diff", name, err)
	}
	return QuestionDiff(ctx, a, b, old, now)
}
