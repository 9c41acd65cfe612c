package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bailey-go/bailey/protocol"
)

// pathOf returns the path in a file system error, or "".
func pathOf(err error) string {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Path
	case errors.As(err, &l):
		return l.Old + " to " + l.New
	}
	return ""
}

// osError returns err with a message for a model if it is one of the errors that all file systems
// have.
func osError(tool string, err error) error {
	path := pathOf(err)
	say := func(why string) *protocol.Error {
		return protocol.Errorf(protocol.CodeOf(err), tool, path, "%s", why)
	}
	switch {
	case path == "":
		return err
	case errors.Is(err, fs.ErrNotExist):
		return say("there is no such file or folder").WithReason(protocol.ReasonNotFound)
	case errors.Is(err, fs.ErrExist):
		return say("there is something of that name already")
	case errors.Is(err, fs.ErrInvalid):
		e := say("this is not a name inside the folder: use names parted by /, without a leading slash, . or ..")
		e.Code = protocol.ErrInvalidParams
		return e
	case errors.Is(err, syscall.EISDIR):
		return say("this is a folder")
	case errors.Is(err, syscall.ENOTDIR):
		return say("this is not a folder")
	case errors.Is(err, syscall.ENOTEMPTY):
		return say("the folder is not empty")
	}
	return err
}
