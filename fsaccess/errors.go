package fsaccess

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/bailey-go/bailey/protocol"
)

// Error is an error constant of this package. Its text is written for the user. It matches
// the standard errors that fit with [errors.Is], for example [ErrDenied] matches
// [fs.ErrPermission].
type Error string

const (
	// ErrConflict is returned if the file differs from the version that the caller last
	// read. Read it again.
	ErrConflict Error = "changed by somebody else since it was last read; read it again and redo the change"
	// ErrReadOnly is returned if the folder cannot be changed at all. Put an [Overlay] over
	// it.
	ErrReadOnly Error = "this folder is read-only; work on a copy (NewOverlay) or ask for write access"
	// ErrDenied is returned if the policy or the user denied the operation. This package
	// never retries it.
	ErrDenied Error = "not allowed by policy"
	// ErrProtected is returned if the path is on the list of protected paths, which no
	// policy can allow.
	ErrProtected Error = "protected path: may never be written"
	// ErrBadName is returned if the name could lead out of the folder or deceive a reader.
	ErrBadName Error = "this name is not allowed in a folder"
	// ErrLink is returned if the name is a symbolic link, or passes through one. A link can
	// be listed, described and removed. It is never followed.
	ErrLink Error = "a symbolic link is not followed"
	// ErrKind is returned if the content is of a dangerous [Kind] and the separate consent
	// for it is missing.
	ErrKind Error = "this kind of file needs consent of its own"
	// ErrQuota is returned if a limit on bytes or files is reached. The old content is
	// unchanged.
	ErrQuota Error = "no room left: the limit on bytes or files is reached; nothing was changed"
	// ErrTooLarge is returned if a file or a change exceeds the limit for one file or one
	// change.
	ErrTooLarge Error = "too large for the limit on one file or one change; nothing was changed"
	// ErrNothing is returned if no step is left to undo or redo, or the step is not in the
	// history.
	ErrNothing Error = "nothing to undo or redo"
	// ErrCancelled is returned if the user closed the picker, or the browser refused the
	// chosen folder.
	ErrCancelled Error = "no folder was chosen: the picker was closed, or the browser refused a system folder such as Downloads or the home folder"
	// ErrGesture is returned if the browser requires a click or a key press first.
	ErrGesture Error = "the browser asks only in answer to a click or a key press: call this from its handler"
	// ErrRevoked is returned if the permission was granted once and is gone. Ask again with
	// a gesture.
	ErrRevoked Error = "permission to this folder is gone: ask for it again from a click"
	// ErrBusy is returned if another handle, tab or program has the file open.
	ErrBusy Error = "in use by another tab or program; close it there and try again"
	// ErrCorrupt is returned if a stored record does not match its checksum.
	ErrCorrupt Error = "stored record is damaged"
)

// Error returns the text of the error.
func (e Error) Error() string { return string(e) }

// Is reports whether target is a standard error, or an error of package protocol, that e
// refines.
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

// Errors that package syscall has are used as they are, so that one errors.Is works for a
// picked folder and for a folder of the operating system.
const (
	errNotExist    = syscall.ENOENT
	errExist       = syscall.EEXIST
	errIsDir       = syscall.EISDIR
	errNotDir      = syscall.ENOTDIR
	errNotEmpty    = syscall.ENOTEMPTY
	errUnsupported = syscall.ENOSYS // matches errors.ErrUnsupported
)

// errInvalid matches both fs.ErrInvalid and syscall.EINVAL.
const errInvalid Error = "invalid argument"

var errNegative = errors.New("negative offset")

// rootCause removes the wrapping that a lower layer added. The caller shall read the name
// that it passed, not the name that a lower layer used.
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
