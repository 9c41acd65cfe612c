package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
)

// publicError returns err with a message for a model, where the error is of a known kind. Errors of
// package protocol, of the folder and of file systems in general are. Of any other error a model
// later receives only the code.
func publicError(tool string, err error) error {
	var e *protocol.Error
	var known fsaccess.Error
	var refused *fsaccess.GuardError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.As(err, &refused):
		out := protocol.Errorf(protocol.ErrCapabilityDenied, tool, pathOf(err), "%s", refused.Error())
		switch {
		case errors.Is(err, fsaccess.ErrProtected):
			out.Reason = protocol.ReasonProtected
		case errors.Is(err, protocol.ErrResourceLimit):
			out.Code = protocol.ErrResourceLimit
		}
		return out
	case errors.Is(err, fsaccess.ErrConflict):
		return protocol.Errorf(protocol.ErrExecution, tool, pathOf(err), "the file was changed since you read it; read it again").WithReason(protocol.ReasonStale)
	case errors.As(err, &known):
		code := protocol.CodeOf(err)
		switch {
		case errors.Is(err, protocol.ErrResourceLimit):
			code = protocol.ErrResourceLimit
		case errors.Is(err, fs.ErrInvalid):
			code = protocol.ErrInvalidParams
		}
		return protocol.Errorf(code, tool, pathOf(err), "%s", string(known))
	}
	return osError(tool, err)
}

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
		return say("a file or folder of that name exists already")
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
