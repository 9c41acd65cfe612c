package fsaccess

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bailey-go/bailey/fsaccess/internal/core"

	"github.com/bailey-go/bailey/fsaccess/internal/overlay"
)

// Overlay is a working copy of a folder. Reads come from the folder below (lower) unless a
// path was changed, changes go to a second folder (upper), and [Overlay.Apply] copies the
// wanted changes to lower. Upper may outlive the program: an Overlay opened again over the
// same lower and upper shows the same changes. Upper must not be inside lower, and it
// serves one overlay. It contains:
//
//	files/…      new contents
//	meta/<hash>  the version of a path in lower when it was first changed or removed
type Overlay struct {
	*Folder
	o *overlay.Overlay
}

// NewOverlay returns an overlay over lower that stores changes in upper. If lower is not an
// [FS], it is read-only, and Apply returns [ErrReadOnly].
func NewOverlay(lower fs.FS, upper FS) *Overlay {
	ctx := context.Background()
	var c core.Core
	if l, ok := lower.(FS); ok {
		v := viewOf(l)
		c, ctx = v.rooted(), v.ctx
	} else {
		c = &foreign{r: lower, sh: core.NewShared(), source: "iofs"}
	}
	o := overlay.New(c, viewOf(upper).rooted())
	return &Overlay{&Folder{view{c: o, dir: ".", ctx: ctx}}, o}
}

// Apply writes changes to the lower folder: the changes at or below the given paths, or all
// changes if no path is given. It returns the changes that it has written. New folders
// above a chosen path are included. If another program has changed a chosen path in the
// lower folder, nothing is written and the error is a [*ConflictError]. Over a [Journal]
// the whole Apply is one step for Undo. If Apply is interrupted, the remaining changes stay
// in the overlay, and Apply can be called again.
func (w *Overlay) Apply(ctx context.Context, paths ...string) ([]FileChange, error) {
	done, conflicts, err := w.o.Apply(ctx, paths)
	if len(conflicts) > 0 {
		err = &ConflictError{conflicts}
	}
	return fileChanges(done), err
}

// Discard drops the changes at or below the given paths, or all changes if no path is
// given.
func (w *Overlay) Discard(ctx context.Context, paths ...string) error {
	return w.o.Discard(ctx, paths)
}

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
	list, err := w.o.Diff(ctx)
	return fileChanges(list), err
}

func fileChanges(list []overlay.Change) []FileChange {
	return convert(list, func(c overlay.Change) FileChange { return FileChange{c.Path, ChangeKind(c.Kind), c.Dir, c.Size} })
}

// DiffText returns the change of one path for a question to the user, as [Question.Diff] does.
// An old content that is not text, or has more than 4 MiB or 200,000 lines, is replaced by one
// line with its size, which begins with a backslash.
func (w *Overlay) DiffText(ctx context.Context, name string) (string, error) {
	return w.o.DiffText(ctx, name)
}

// ConflictError is the error of [Overlay.Apply] for paths that another program has changed
// in the lower folder since the overlay first changed them. It matches [ErrConflict].
type ConflictError struct{ Paths []string }

// Error returns a text with the paths.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("changed below since the copy was made: %s; look at the difference, then discard or write again", strings.Join(e.Paths, ", "))
}

// Is reports whether target is [ErrConflict].
func (e *ConflictError) Is(target error) bool {
	return target == ErrConflict || target == core.ErrConflict
}
