package fsaccess

import (
	"github.com/bailey-go/bailey/fsaccess/internal/core"
)

// Error is an error constant of this package. Its text is written for the user. It matches
// the standard errors that fit with [errors.Is], for example [ErrDenied] matches
// [fs.ErrPermission].
type Error string

const (
	// ErrConflict is returned if the file differs from the version that the caller last
	// read. Read it again.
	ErrConflict Error = Error(core.ErrConflict)
	// ErrReadOnly is returned if the folder cannot be changed at all. Put an [Overlay] over
	// it.
	ErrReadOnly Error = Error(core.ErrReadOnly)
	// ErrDenied is returned if the policy or the user denied the operation. This package
	// never retries it.
	ErrDenied Error = Error(core.ErrDenied)
	// ErrProtected is returned if the path is on the list of protected paths, which no
	// policy can allow.
	ErrProtected Error = Error(core.ErrProtected)
	// ErrBadName is returned if the name could lead out of the folder or deceive a reader.
	ErrBadName Error = Error(core.ErrBadName)
	// ErrLink is returned if the name is a symbolic link, or passes through one. A link can
	// be listed, described and removed. It is never followed.
	ErrLink Error = Error(core.ErrLink)
	// ErrKind is returned if the content is of a dangerous [Kind] and the separate consent
	// for it is missing.
	ErrKind Error = Error(core.ErrKind)
	// ErrQuota is returned if a limit on bytes or files is reached. The old content is
	// unchanged.
	ErrQuota Error = Error(core.ErrQuota)
	// ErrTooLarge is returned if a file or a change exceeds the limit for one file or one
	// change.
	ErrTooLarge Error = Error(core.ErrTooLarge)
	// ErrNothing is returned if no step is left to undo or redo, or the step is not in the
	// history.
	ErrNothing Error = Error(core.ErrNothing)
	// ErrCancelled is returned if the user closed the picker, or the browser refused the
	// chosen folder.
	ErrCancelled Error = Error(core.ErrCancelled)
	// ErrGesture is returned if the browser requires a click or a key press first.
	ErrGesture Error = Error(core.ErrGesture)
	// ErrRevoked is returned if the permission was granted once and is gone. Ask again with
	// a gesture.
	ErrRevoked Error = Error(core.ErrRevoked)
	// ErrBusy is returned if another handle, tab or program has the file open.
	ErrBusy Error = Error(core.ErrBusy)
	// ErrCorrupt is returned if a stored record does not match its checksum.
	ErrCorrupt Error = Error(core.ErrCorrupt)
)

// Error returns the text of the error.
func (e Error) Error() string { return string(e) }

// Is reports whether target is a standard error, or an error of package protocol, that e
// refines.
func (e Error) Is(target error) bool { return core.Error(e) == target || core.Error(e).Is(target) }

// public returns an error of a layer as an error of this package.
func public(err error) error {
	if e, ok := err.(core.Error); ok {
		return Error(e)
	}
	return err
}

func pathErr(op, name string, err error) error {
	return core.PathErr(op, name, public(core.RootCause(err)))
}

func linkErr(op, from, to string, err error) error {
	return core.LinkErr(op, from, to, public(core.RootCause(err)))
}
