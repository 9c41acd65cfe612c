package jsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// A Code is the name of a kind of JavaScript error, and itself an error to
// compare with: errors.Is(err, jsx.ErrQuota).
type Code string

// The names of DOMExceptions and JavaScript errors that callers act upon. The
// comment says what else errors.Is finds in each.
const (
	ErrNotFound            Code = "NotFoundError"              // fs.ErrNotExist
	ErrNotAllowed          Code = "NotAllowedError"            // fs.ErrPermission
	ErrSecurity            Code = "SecurityError"              // fs.ErrPermission
	ErrTypeMismatch        Code = "TypeMismatchError"          // fs.ErrInvalid: a file where a folder was asked for, or the reverse
	ErrInvalidModification Code = "InvalidModificationError"   // fs.ErrExist, as ENOTEMPTY: the folder is not empty
	ErrConstraint          Code = "ConstraintError"            // fs.ErrExist: the key is taken
	ErrQuota               Code = "QuotaExceededError"         // the origin's storage is full
	ErrAborted             Code = "AbortError"                 // context.Canceled
	ErrTimeout             Code = "TimeoutError"               // context.DeadlineExceeded
	ErrDataClone           Code = "DataCloneError"             // the value cannot cross a port
	ErrInvalidState        Code = "InvalidStateError"          // closed, detached or changed underneath
	ErrLocked              Code = "NoModificationAllowedError" // another handle holds the file
	ErrNotReadable         Code = "NotReadableError"           // the file changed or cannot be read
	ErrNetwork             Code = "NetworkError"               //
	ErrNotSupported        Code = "NotSupportedError"          // errors.ErrUnsupported
	ErrInvalidCharacter    Code = "InvalidCharacterError"      // fs.ErrInvalid
	ErrSyntax              Code = "SyntaxError"                //
	ErrType                Code = "TypeError"                  //
	ErrRange               Code = "RangeError"                 //
	ErrReference           Code = "ReferenceError"             //
)

// ErrClosed is returned by what was already closed. It is also fs.ErrClosed.
var ErrClosed = fmt.Errorf("jsx: %w", fs.ErrClosed)

// ErrTooLarge is wrapped by every [SizeError].
var ErrTooLarge = errors.New("too large")

// Error implements error.
func (c Code) Error() string { return string(c) }

// Is reports whether target is the Go error that this code stands for.
func (c Code) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return c == ErrNotFound
	case fs.ErrPermission:
		return c == ErrNotAllowed || c == ErrSecurity
	case fs.ErrExist:
		return c == ErrInvalidModification || c == ErrConstraint
	case fs.ErrInvalid:
		return c == ErrTypeMismatch || c == ErrInvalidCharacter
	case context.Canceled:
		return c == ErrAborted
	case context.DeadlineExceeded:
		return c == ErrTimeout
	case errors.ErrUnsupported:
		return c == ErrNotSupported
	}
	return false
}

// An Error is what JavaScript threw or a promise was rejected with. Its texts
// are bounded, and come from whoever threw: show them, never act on them.
type Error struct {
	Name    string // "NotFoundError"; empty when what was thrown was no error object
	Message string // at most 4 KiB
	Stack   string // at most 8 KiB; empty for DOMExceptions, and if the browser gave none
	Op      string // what was tried, as "call getFileHandle"; may be empty

	// Quota and Requested are bytes, from browsers whose QuotaExceededError
	// carries them; 0 if unknown.
	Quota, Requested float64
}

// Error implements error.
func (e *Error) Error() string {
	s := e.Message
	switch {
	case e.Name != "" && s != "":
		s = e.Name + ": " + s
	case e.Name != "":
		s = e.Name
	case s == "":
		s = "an error without a message"
	}
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	return s
}

// Code is the error's name as a [Code], with the browsers' own older names
// made the standard one.
func (e *Error) Code() Code { return codeOf(e.Name) }

// Is makes errors.Is work with a [Code] and with Go's own sentinels.
func (e *Error) Is(target error) bool {
	c := e.Code()
	if t, ok := target.(Code); ok {
		return c == t && t != ""
	}
	return c.Is(target)
}

// Timeout reports whether time ran out, as net.Error and os.IsTimeout have it.
func (e *Error) Timeout() bool { return e.Code() == ErrTimeout }

// codeOf normalises the names that engines gave before the standard did.
func codeOf(name string) Code {
	switch name {
	case "NS_ERROR_DOM_QUOTA_REACHED", "NS_ERROR_FILE_NO_DEVICE_SPACE", "QUOTA_EXCEEDED_ERR":
		return ErrQuota // Firefox, on paths that are not yet DOMExceptions
	case "NS_ERROR_FILE_NOT_FOUND":
		return ErrNotFound
	case "NS_ERROR_FILE_ACCESS_DENIED":
		return ErrNotAllowed
	}
	return Code(name)
}

// A SizeError says that something is over a limit. It is ErrTooLarge.
type SizeError struct {
	What        string // "ArrayBuffer", "string"
	Size, Limit int64
	Unit        string // "bytes", "UTF-16 units"
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s of %d %s is over the limit of %d", e.What, e.Size, e.Unit, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// A PanicError is a panic of Go code that ran in a callback, a timer or a
// release, handed to the scope's OnError.
type PanicError struct {
	Value any
	Stack string
}

// Error implements error.
func (e *PanicError) Error() string { return fmt.Sprintf("panic in a callback: %v", e.Value) }

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// contextError is ctx's error together with its cause, if it has one of its own.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != nil && cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
