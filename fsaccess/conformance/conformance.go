// Package conformance runs the file system tests of hackpadfs over every source
// and every layer of fsaccess. It is a module of its own so that those who use
// Bailey do not get the suite's modules into their go.sum.
package conformance

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/hack-pad/hackpadfs"

	"github.com/bailey-go/bailey/fsaccess"
)

// Adapter is a folder in the suite's terms: it differs in one type only, the
// error of Rename, which the suite has as a type of its own and the standard
// library as *os.LinkError.
type Adapter struct{ fsaccess.FS }

func (a Adapter) Rename(from, to string) error {
	err := a.FS.Rename(from, to)
	var le *os.LinkError
	if errors.As(err, &le) {
		return &hackpadfs.LinkError{Op: le.Op, Old: le.Old, New: le.New, Err: le.Err}
	}
	return err
}

func (a Adapter) Chmod(name string, mode fs.FileMode) error {
	return a.FS.(fsaccess.ChmodFS).Chmod(name, mode)
}

func (a Adapter) Chtimes(name string, atime, mtime time.Time) error {
	return a.FS.(fsaccess.ChtimesFS).Chtimes(name, atime, mtime)
}
