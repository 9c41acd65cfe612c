// Package conformance runs the file system tests of hackpadfs over every source and every
// layer of fsaccess. It is a module of its own, so that users of Bailey do not get the
// modules of the test suite into their go.sum.
package conformance

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hack-pad/hackpadfs"

	"github.com/bailey-go/bailey/fsaccess"
)

// Adapter adapts a folder to the suite. They differ only in the type of the error of
// Rename: the suite has its own type, and the standard library has *os.LinkError.
type Adapter struct{ fsaccess.FS }

// Rename renames a file and returns the suite's type of error.
func (a Adapter) Rename(from, to string) error {
	err := a.FS.Rename(from, to)
	var le *os.LinkError
	if errors.As(err, &le) {
		return &hackpadfs.LinkError{Op: le.Op, Old: le.Old, New: le.New, Err: le.Err}
	}
	return err
}

// Chmod sets the permission bits of a file.
func (a Adapter) Chmod(name string, mode fs.FileMode) error {
	return a.FS.(interface {
		Chmod(string, fs.FileMode) error
	}).Chmod(name, mode)
}

// Chtimes sets the times of a file.
func (a Adapter) Chtimes(name string, atime, mtime time.Time) error {
	return a.FS.(interface {
		Chtimes(string, time.Time, time.Time) error
	}).Chtimes(name, atime, mtime)
}
