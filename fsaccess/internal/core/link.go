package core

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
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

// maxTarget is the size of the longest target of a link, in bytes.
const maxTarget = 4095

// LeadsInside returns the name to which a link leads, or [ErrBadName] if that is not below the folder. The target is relative, and
// only begins with "..": after a folder that is a link itself, ".." would lead elsewhere.
func LeadsInside(name, target string) (string, error) {
	clean := path.Clean(target)
	if target == "" || len(target) > maxTarget || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") || clean != strings.TrimSuffix(strings.TrimPrefix(target, "./"), "/") && target != "./" {
		return "", fmt.Errorf("%w: the target of a link is a relative path in its shortest form, of at most %d bytes", ErrBadName, maxTarget)
	}
	to := path.Join(ParentOf(name), clean)
	if to == ".." || strings.HasPrefix(to, "../") {
		return "", fmt.Errorf("%w: the link %q would lead out of the folder", ErrBadName, name)
	}
	if to != "." {
		if err := CleanName(to); err != nil {
			return "", err
		}
	}
	return to, nil
}

// Symlink makes a link in c, if c can.
func Symlink(ctx context.Context, c Core, target, name string) error {
	l, ok := c.(Linker)
	if !ok || !c.Features().Links {
		return ErrUnsupported
	}
	return l.Symlink(ctx, target, name)
}

// ReadLink returns the target of a link in c, or [ErrInvalid] if name is none.
func ReadLink(ctx context.Context, c Core, name string) (string, error) {
	if l, ok := c.(Linker); ok {
		return l.ReadLink(ctx, name)
	}
	if _, err := c.Stat(ctx, name); err != nil {
		return "", err
	}
	return "", ErrUnsupported
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
