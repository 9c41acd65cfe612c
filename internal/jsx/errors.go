package jsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// A Code is the name of a JavaScript error, and itself an error to compare with: errors.Is(err,
// jsx.ErrQuota).
type Code string

// Names of DOMExceptions and JavaScript errors. Each comment names the Go error that errors.Is also
// matches, if any, and the cause.
const (
	ErrNotFound            Code = "NotFoundError"              // fs.ErrNotExist
	ErrNotAllowed          Code = "NotAllowedError"            // fs.ErrPermission
	ErrSecurity            Code = "SecurityError"              // fs.ErrPermission
	ErrTypeMismatch        Code = "TypeMismatchError"          // fs.ErrInvalid: a file instead of a folder, or the reverse
	ErrInvalidModification Code = "InvalidModificationError"   // fs.ErrExist, as ENOTEMPTY: the folder is not empty
	ErrConstraint          Code = "ConstraintError"            // fs.ErrExist: the key exists already
	ErrQuota               Code = "QuotaExceededError"         // the origin's storage is full
	ErrAborted             Code = "AbortError"                 // context.Canceled
	ErrTimeout             Code = "TimeoutError"               // context.DeadlineExceeded
	ErrDataClone           Code = "DataCloneError"             // the value cannot cross a port
	ErrInvalidState        Code = "InvalidStateError"          // the object is closed, detached or has changed
	ErrLocked              Code = "NoModificationAllowedError" // another handle holds the file
	ErrNotReadable         Code = "NotReadableError"           // the file changed or cannot be read
	ErrNetwork             Code = "NetworkError"               // a request failed
	ErrNotSupported        Code = "NotSupportedError"          // errors.ErrUnsupported
	ErrInvalidCharacter    Code = "InvalidCharacterError"      // fs.ErrInvalid
	ErrSyntax              Code = "SyntaxError"                // a text cannot be parsed
	ErrType                Code = "TypeError"                  // a value has the wrong type
	ErrRange               Code = "RangeError"                 // a number is out of its range
	ErrReference           Code = "ReferenceError"             // a variable does not exist
)

// ErrClosed is returned by operations on a closed object. It is also fs.ErrClosed.
var ErrClosed = fmt.Errorf("jsx: %w", fs.ErrClosed)

// ErrTooLarge is wrapped by every [SizeError].
var ErrTooLarge = errors.New("too large")

// Error returns the name.
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

// An Error is a value that JavaScript threw, or that a promise was rejected with. Its texts are
// bounded. They come from the code that threw, so show them but never act on them.
type Error struct {
	Name    string // such as "NotFoundError", or empty for a value that is not an error object
	Message string // at most 4 KiB
	Stack   string // at most 8 KiB, empty for DOMExceptions and if the browser has none
	Op      string // the operation, such as "call getFileHandle", or empty

	// Quota and Requested are in bytes, from browsers whose QuotaExceededError has them. 0 is
	// unknown.
	Quota, Requested float64
}

// Error returns the operation, the name and the message, such as "get x: TypeError: undefined has
// no properties".
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

// Code returns the name of the error as a [Code]. It maps the older names of browsers to the
// standard ones.
func (e *Error) Code() Code { return codeOf(e.Name) }

// Is reports whether target is e's [Code] or a Go error that the code stands for.
func (e *Error) Is(target error) bool {
	c := e.Code()
	if t, ok := target.(Code); ok {
		return c == t && t != ""
	}
	return c.Is(target)
}

// Timeout reports whether the error is a TimeoutError, for net.Error and os.IsTimeout.
func (e *Error) Timeout() bool { return e.Code() == ErrTimeout }

// codeOf maps the names that engines used before the standard ones.
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

// A SizeError is the error for a value over a limit. It is [ErrTooLarge].
type SizeError struct {
	What        string // "ArrayBuffer", "string"
	Size, Limit int64
	Unit        string // "bytes", "UTF-16 units"
}

// Error returns the value, its size and the limit.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s of %d %s is over the limit of %d", e.What, e.Size, e.Unit, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// A PanicError is a panic of Go code in a callback, a timer or a release. The scope's OnError
// receives it.
type PanicError struct {
	Value any
	Stack string
}

// Error returns the panic's value as text.
func (e *PanicError) Error() string { return fmt.Sprintf("panic in a callback: %v", e.Value) }

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// contextError returns ctx's error together with its cause, if that is different.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != nil && cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
