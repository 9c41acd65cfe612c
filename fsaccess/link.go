package fsaccess

import (
	"fmt"
	"io/fs"
)

// linkError is the refusal of a name that is, or passes through, a symbolic link. It is
// [ErrLink]. The link's own text is in it, so that one who may use the file it leads to can
// name that file, and every rule is asked about the name it was written for.
type linkError struct {
	name, to string
	swapped  bool
}

func linkAt(name, to string) error { return &linkError{name: name, to: to} }

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

func isLink(m fs.FileMode) bool { return m&fs.ModeSymlink != 0 }

// linkOn finds a link among the elements of a name of a file system that can tell of them,
// such as os.DirFS, which follows links, also out of its folder. What can't tell has none as
// far as is known.
func linkOn(fsys fs.FS, name string, last bool) error {
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
			return nil // what is missing, the operation itself says
		}
		if isLink(fi.Mode()) {
			to, _ := l.ReadLink(name[:i])
			return linkAt(name[:i], to)
		}
	}
	return nil
}
