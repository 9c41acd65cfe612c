package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bailey-go/bailey/protocol"
)

// Error is an error of this package: its text is what a person reads, and it
// answers [errors.Is] for the standard errors that fit.
type Error string

const (
	// ErrConflict: the file is not what the caller last saw. Read it again.
	ErrConflict Error = "changed by somebody else since it was last read; read it again and redo the change"
	// ErrReadOnly: this folder cannot be changed at all. Put an Overlay over it.
	ErrReadOnly Error = "this folder is read-only; work on a copy (NewOverlay) or ask for write access"
	// ErrDenied: the policy, or the person, said no. It is never retried.
	ErrDenied Error = "not allowed by policy"
	// ErrProtected: the path is on the list that no policy opens.
	ErrProtected Error = "protected path: may never be written"
	// ErrBadName: the name could escape the folder or deceive a reader.
	ErrBadName Error = "this name is not allowed in a folder"
	// ErrLink: the name is a symbolic link, or passes through one. A link can be
	// listed, described and removed, and is never followed.
	ErrLink Error = "a symbolic link is not followed"
	// ErrKind: the content is of a kind that needs consent of its own.
	ErrKind Error = "this kind of file needs consent of its own"
	// ErrQuota: a limit on bytes or files is reached; the old content is intact.
	ErrQuota Error = "no room left: the limit on bytes or files is reached; nothing was changed"
	// ErrTooLarge: one file or one change is over its own limit.
	ErrTooLarge Error = "too large for the limit on one file or one change; nothing was changed"
	// ErrNothing: there is nothing left to undo or redo.
	ErrNothing Error = "nothing to undo or redo"
	// ErrCancelled: the person closed the picker, or the browser refused it.
	ErrCancelled Error = "no folder was chosen: the picker was closed, or the browser refused a system folder such as Downloads or the home folder"
	// ErrGesture: the browser wants a click or a key first.
	ErrGesture Error = "the browser asks only in answer to a click or a key press: call this from its handler"
	// ErrRevoked: permission was there and is gone. Ask again with a gesture.
	ErrRevoked Error = "permission to this folder is gone: ask for it again from a click"
	// ErrBusy: another handle, tab or program holds the file.
	ErrBusy Error = "in use by another tab or program; close it there and try again"
	// ErrCorrupt: a stored record does not match its checksum.
	ErrCorrupt Error = "stored record is damaged"
)

func (e Error) Error() string { return string(e) }

// Is makes each error answer for the standard errors it refines.
func (e Error) Is(target error) bool {
	switch e {
	case ErrReadOnly:
		return target == fs.ErrPermission || target == error(syscall.EROFS)
	case ErrProtected:
		return target == fs.ErrPermission || target == error(protocol.ErrCapabilityDenied) || target == error(protocol.ReasonProtected)
	case ErrDenied, ErrKind, ErrRevoked, ErrGesture:
		return target == fs.ErrPermission || target == error(protocol.ErrCapabilityDenied)
	case ErrLink:
		return target == error(ErrBadName) || target == fs.ErrInvalid || target == error(syscall.ELOOP)
	case ErrConflict:
		return target == error(protocol.ReasonStale) || target == error(syscall.ESTALE)
	case ErrBadName, errInvalid:
		return target == fs.ErrInvalid || target == error(syscall.EINVAL)
	case ErrQuota:
		return target == error(syscall.ENOSPC) || target == error(protocol.ErrResourceLimit)
	case ErrTooLarge:
		return target == error(syscall.EFBIG) || target == error(protocol.ErrResourceLimit)
	case ErrBusy:
		return target == error(syscall.EBUSY)
	case ErrCancelled:
		return target == context.Canceled
	}
	return false
}

// Errors that have a name in package syscall keep it, so that one errors.Is
// serves a picked folder and an operating system's alike.
const (
	errNotExist    = syscall.ENOENT
	errExist       = syscall.EEXIST
	errIsDir       = syscall.EISDIR
	errNotDir      = syscall.ENOTDIR
	errNotEmpty    = syscall.ENOTEMPTY
	errUnsupported = syscall.ENOSYS // is errors.ErrUnsupported
)

// errInvalid is both io/fs's and syscall's "invalid argument".
const errInvalid Error = "invalid argument"

var errNegative = errors.New("negative offset")

// cause strips the wrapping that says where below us an error came from: the
// caller shall read the name it used, not the one a layer used.
func rootCause(err error) error {
	for {
		switch e := err.(type) {
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}

func pathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: rootCause(err)}
}

func linkErr(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: rootCause(err)}
}

func notExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
