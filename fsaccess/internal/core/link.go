package core

import (
	"errors"
	"fmt"
	"io/fs"
)

// linkError is the refusal of a name that is, or passes through, a symbolic link. It wraps
// [ErrLink]. It contains the target of the link, so that a caller that may use the target
// can use its name. Then every rule judges the name for which it was written.
type linkError struct {
	name, to string
	swapped  bool
}

func LinkAt(name, to string) error { return &linkError{name: name, to: to} }

// LinkSwapped is linkAt for a name that another program replaced by a link meanwhile.
func LinkSwapped(name string) error { return &linkError{name: name, swapped: true} }

func (e *linkError) Error() string {
	switch {
	case e.swapped:
		return fmt.Sprintf("%s: %q was replaced by another program while it was being opened; try again", ErrLink, e.name)
	case e.to == "":
		return fmt.Sprintf("%s: %q is one", ErrLink, e.name)
	}
	return fmt.Sprintf("%s: %q leads to %q; use the name of what it leads to", ErrLink, e.name, e.to)
}

func (e *linkError) Unwrap() error { return ErrLink }

// IsSwapped reports whether err is from linkSwapped.
func IsSwapped(err error) bool {
	le, ok := errors.AsType[*linkError](err)
	return ok && le.swapped
}

func IsLink(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 }

// LinkOn returns an error if an element of a name is a link. It works for file systems that
// report links, such as os.DirFS, which follows links even out of its folder. Other file
// systems are assumed to have no links.
func LinkOn(fsys fs.FS, name string, last bool) error {
	l, ok := fsys.(fs.ReadLinkFS)
	if !ok || name == "." {
		return nil
	}
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' || i == len(name) && !last {
			continue
		}
		fi, err := l.Lstat(name[:i])
		if err != nil {
			return nil // the operation itself reports a missing name
		}
		if IsLink(fi.Mode()) {
			to, _ := l.ReadLink(name[:i])
			return LinkAt(name[:i], to)
		}
	}
	return nil
}
