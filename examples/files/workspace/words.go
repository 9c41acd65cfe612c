package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/bailey-go/bailey/fsaccess"
)

// plain returns an error whose text tells the user what happened and what to do. It wraps err.
func plain(err error) error {
	if err == nil {
		return nil
	}
	var known plainError
	if errors.As(err, &known) {
		return err
	}
	name := "It"
	var p *fs.PathError
	var l *os.LinkError
	if errors.As(err, &p) {
		name = p.Path
	} else if errors.As(err, &l) {
		name = l.New
	}
	if name == "." || name == "" {
		name = "The folder"
	}
	for _, w := range []struct {
		is   error
		text string
	}{
		{fsaccess.ErrConflict, name + " was changed meanwhile, so nothing was changed now. Look at it, then try again."},
		{fsaccess.ErrNothing, "There is nothing left to undo or to redo."},
		{fsaccess.ErrQuota, "There is no room left in the storage of this site, so nothing was changed. Delete what you don't need, or forget folders that were uploaded."},
		{fsaccess.ErrTooLarge, name + " is too large to be changed here in a way that can be undone, so nothing was changed."},
		{fsaccess.ErrBadName, name + " has characters that names can't have here. Choose another name."},
		{fsaccess.ErrRevoked, "The browser no longer lets this page into the folder. Open it again."},
		{fsaccess.ErrBusy, name + " is open in another tab or program, so nothing was changed. Close it there, then try again."},
		{fsaccess.ErrReadOnly, "This folder can only be read. Work on a copy of it to change it."},
		{fsaccess.ErrLink, name + " is a link to another place. Links are not followed here."},
		{fsaccess.ErrCorrupt, "A stored part of the history is damaged, so this was not done. Later changes can still be undone."},
		{fs.ErrNotExist, name + " is no longer there. It may have been renamed, moved or deleted."},
		{fs.ErrExist, name + " is there already. Choose another name."},
		{fs.ErrPermission, "The browser does not let this page do that. Open the folder again and allow it."},
		{fs.ErrInvalid, fmt.Sprintf("%q can't be a name in this folder. Use names without leading or double slashes and without “..”.", name)},
	} {
		if errors.Is(err, w.is) {
			return plainError{w.text, err}
		}
	}
	return err
}

// plainError is an error in words for the user.
type plainError struct {
	text string
	err  error
}

func (e plainError) Error() string { return e.text }
func (e plainError) Unwrap() error { return e.err }

// describe returns a step of the history as words, such as "Edited notes/plan.md".
func describe(c fsaccess.Change) string {
	if c.Label != "" {
		return c.Label
	}
	verb := map[string]string{"write": "Edited", "create": "Created", "mkdir": "New folder", "remove": "Deleted", "removeall": "Deleted", "rename": "Renamed", "truncate": "Shortened", "undo": "Undid", "redo": "Redid", "undoto": "Restored"}[c.Op]
	if verb == "" {
		verb = strings.ToUpper(c.Op[:min(1, len(c.Op))]) + c.Op[min(1, len(c.Op)):]
	}
	switch n := len(c.Paths); {
	case c.Op == "rename" && n == 2:
		return verb + " " + c.Paths[0] + " to " + c.Paths[1]
	case c.Op == "undo" && n <= 2:
		return verb + " the change of " + strings.Join(c.Paths, " and ")
	case c.Op == "redo" && n <= 2:
		return verb + " the change of " + strings.Join(c.Paths, " and ")
	case n > 2:
		return fmt.Sprintf("%s %d files", verb, n)
	default:
		return strings.TrimSpace(verb + " " + strings.Join(c.Paths, " and "))
	}
}

// copyName returns a name for a copy of a file beside it, the n-th one, such as "plan copy 2.md".
func copyName(name string, n int) string {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	if ext == base { // .gitignore
		ext = ""
	}
	if base = strings.TrimSuffix(base, ext) + " copy"; n > 1 {
		base += fmt.Sprint(" ", n)
	}
	return dir + base + ext
}

// restored returns the steps that going back has undone: each step with op "undoto" undoes those behind
// the step in its label, unless it is undone itself.
func restored(list []fsaccess.Change) map[int64]bool {
	out := map[int64]bool{}
	for _, c := range list { // the newest first
		var to int64
		if _, err := fmt.Sscanf(c.Cause, restoreCause+"%d", &to); err != nil || c.Op != "undoto" || c.Undone || out[c.ID] {
			continue
		}
		for _, d := range list {
			if d.ID > to && d.ID < c.ID {
				out[d.ID] = true
			}
		}
	}
	return out
}

// restoreCause is the cause of a step that goes back, before the number of the step that it goes back to.
const restoreCause = "user: back to "
