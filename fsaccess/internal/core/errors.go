package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"syscall"

	"github.com/bailey-go/bailey/protocol"
)

// Error is an error constant. Package fsaccess has a type of its own with the same texts, and
// documents them. An Error matches its twin there with [errors.Is] and [errors.As].
type Error string

const (
	ErrConflict  Error = "changed by somebody else since it was last read; read it again and redo the change"
	ErrReadOnly  Error = "this folder is read-only; work on a copy (NewOverlay) or ask for write access"
	ErrDenied    Error = "not allowed by policy"
	ErrProtected Error = "protected path: may never be written"
	ErrBadName   Error = "this name is not allowed in a folder"
	ErrLink      Error = "a symbolic link is not followed"
	ErrKind      Error = "this kind of file needs consent of its own"
	ErrQuota     Error = "no room left: the limit on bytes or files is reached; nothing was changed"
	ErrTooLarge  Error = "too large for the limit on one file or one change; nothing was changed"
	ErrNothing   Error = "nothing to undo or redo"
	ErrCancelled Error = "no folder was chosen: the picker was closed, or the browser refused a system folder such as Downloads or the home folder"
	ErrGesture   Error = "the browser asks only in answer to a click or a key press: call this from its handler"
	ErrRevoked   Error = "permission to this folder is gone: ask for it again from a click"
	ErrBusy      Error = "in use by another tab or program; close it there and try again"
	ErrCorrupt   Error = "stored record is damaged"
)

// Error returns the text of the error.
func (e Error) Error() string { return string(e) }

// Is reports whether target is the twin of e, or a standard error, or an error of package
// protocol, that e refines.
func (e Error) Is(target error) bool {
	if v := reflect.ValueOf(target); target != nil && twin(v.Type()) {
		if e == Error(v.String()) {
			return true
		}
		target = Error(v.String())
	}
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
	case ErrBadName, ErrInvalid:
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

// As sets target, if it points to a twin.
func (e Error) As(target any) bool {
	v := reflect.ValueOf(target).Elem()
	if !twin(v.Type()) {
		return false
	}
	v.SetString(string(e))
	return true
}

// twin reports whether t is the type of the constants of package fsaccess. This package
// cannot import it.
func twin(t reflect.Type) bool {
	return t.Kind() == reflect.String && t.Name() == "Error" && t.PkgPath() == "github.com/bailey-go/bailey/fsaccess"
}

// Errors that package syscall has are used as they are, so that one errors.Is works for a
// picked folder and for a folder of the operating system.
const (
	ErrNotExist    = syscall.ENOENT
	ErrExist       = syscall.EEXIST
	ErrIsDir       = syscall.EISDIR
	ErrNotDir      = syscall.ENOTDIR
	ErrNotEmpty    = syscall.ENOTEMPTY
	ErrUnsupported = syscall.ENOSYS // matches errors.ErrUnsupported
)

// ErrInvalid matches both fs.ErrInvalid and syscall.EINVAL.
const ErrInvalid Error = "invalid argument"

var ErrNegative = errors.New("negative offset")

// RootCause removes the wrapping that a lower layer added. The caller shall read the name
// that it passed, not the name that a lower layer used.
func RootCause(err error) error {
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

func PathErr(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: RootCause(err)}
}

func LinkErr(op, from, to string, err error) error {
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: RootCause(err)}
}

func NotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// ErrBadFD is the error of a write to a handle opened for reading, and of a read from one
// opened for writing.
const ErrBadFD = syscall.EBADF
