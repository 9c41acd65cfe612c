package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/bailey-go/bailey/internal/strictjson"
)

// Code is the kind of an error, as one word. The same value is the word on the wire and the error
// to compare with:
//
//	if errors.Is(err, protocol.ErrTimeout) { … }
//
// [Codes] returns the valid codes.
//
// Each code has a page with its causes and the way out: [TOOL_NOT_FOUND], [INVALID_PARAMS],
// [CAPABILITY_DENIED], [TIMEOUT], [EXECUTION_ERROR], [SANDBOX_ERROR], [SESSION_ERROR],
// [RESOURCE_LIMIT], [OUTPUT_TOO_LARGE], [SECURITY_VIOLATION] and [ABORTED].
//
// [TOOL_NOT_FOUND]: https://github.com/bailey-go/bailey/blob/main/docs/errors/TOOL_NOT_FOUND.md
// [INVALID_PARAMS]: https://github.com/bailey-go/bailey/blob/main/docs/errors/INVALID_PARAMS.md
// [CAPABILITY_DENIED]: https://github.com/bailey-go/bailey/blob/main/docs/errors/CAPABILITY_DENIED.md
// [TIMEOUT]: https://github.com/bailey-go/bailey/blob/main/docs/errors/TIMEOUT.md
// [EXECUTION_ERROR]: https://github.com/bailey-go/bailey/blob/main/docs/errors/EXECUTION_ERROR.md
// [SANDBOX_ERROR]: https://github.com/bailey-go/bailey/blob/main/docs/errors/SANDBOX_ERROR.md
// [SESSION_ERROR]: https://github.com/bailey-go/bailey/blob/main/docs/errors/SESSION_ERROR.md
// [RESOURCE_LIMIT]: https://github.com/bailey-go/bailey/blob/main/docs/errors/RESOURCE_LIMIT.md
// [OUTPUT_TOO_LARGE]: https://github.com/bailey-go/bailey/blob/main/docs/errors/OUTPUT_TOO_LARGE.md
// [SECURITY_VIOLATION]: https://github.com/bailey-go/bailey/blob/main/docs/errors/SECURITY_VIOLATION.md
// [ABORTED]: https://github.com/bailey-go/bailey/blob/main/docs/errors/ABORTED.md
type Code string

const (
	// ErrToolNotFound: no tool has that name, or the caller may not see it.
	ErrToolNotFound Code = "TOOL_NOT_FOUND"
	// ErrInvalidParams: the arguments, the code or a message do not have the agreed form. It is
	// [fs.ErrInvalid].
	ErrInvalidParams Code = "INVALID_PARAMS"
	// ErrCapabilityDenied: a policy or the user refused. It is [fs.ErrPermission]. A call that
	// failed with it is never retried.
	ErrCapabilityDenied Code = "CAPABILITY_DENIED"
	// ErrTimeout: a time limit was reached. It is [context.DeadlineExceeded].
	ErrTimeout Code = "TIMEOUT"
	// ErrExecution: the tool or the code itself failed.
	ErrExecution Code = "EXECUTION_ERROR"
	// ErrSandbox: the frame or worker that runs the code died or could not be created.
	ErrSandbox Code = "SANDBOX_ERROR"
	// ErrSession: the session is not in a state that allows this.
	ErrSession Code = "SESSION_ERROR"
	// ErrResourceLimit: a count, a size or a rate is over its limit.
	ErrResourceLimit Code = "RESOURCE_LIMIT"
	// ErrOutputTooLarge: the result is over its limit.
	ErrOutputTooLarge Code = "OUTPUT_TOO_LARGE"
	// ErrSecurityViolation: the input is of a kind that only an attack sends, such as the key
	// __proto__. It is [fs.ErrPermission].
	ErrSecurityViolation Code = "SECURITY_VIOLATION"
	// ErrAborted: the caller cancelled the operation. It is [context.Canceled].
	ErrAborted Code = "ABORTED"
)

// Codes returns all codes, in a fixed order.
func Codes() []Code {
	return []Code{
		ErrToolNotFound, ErrInvalidParams, ErrCapabilityDenied, ErrTimeout, ErrExecution, ErrSandbox,
		ErrSession, ErrResourceLimit, ErrOutputTooLarge, ErrSecurityViolation, ErrAborted,
	}
}

// Valid reports whether c is one of [Codes].
func (c Code) Valid() bool {
	for _, k := range Codes() {
		if c == k {
			return true
		}
	}
	return false
}

// Error returns the code in words, such as "time limit reached" for [ErrTimeout].
func (c Code) Error() string {
	switch c {
	case ErrToolNotFound:
		return "no such tool"
	case ErrInvalidParams:
		return "invalid parameters"
	case ErrCapabilityDenied:
		return "not allowed"
	case ErrTimeout:
		return "time limit reached"
	case ErrExecution:
		return "execution failed"
	case ErrSandbox:
		return "the sandbox failed"
	case ErrSession:
		return "the session does not allow this now"
	case ErrResourceLimit:
		return "resource limit reached"
	case ErrOutputTooLarge:
		return "output is over its limit"
	case ErrSecurityViolation:
		return "security violation"
	case ErrAborted:
		return "aborted"
	}
	return "unknown error code " + quote(string(c))
}

// Is reports whether target is the standard error with the same meaning as c, such as
// [context.DeadlineExceeded] for [ErrTimeout]. The constants above name the standard error of each
// code.
func (c Code) Is(target error) bool {
	switch c {
	case ErrTimeout:
		return target == context.DeadlineExceeded
	case ErrAborted:
		return target == context.Canceled
	case ErrCapabilityDenied, ErrSecurityViolation:
		return target == fs.ErrPermission
	case ErrInvalidParams:
		return target == fs.ErrInvalid
	}
	return false
}

// Reason refines a [Code] for tools that work on files. It is an error itself, for [errors.Is].
type Reason string

const (
	ReasonNotRead    Reason = "not_read"    // the file was not read before it was changed
	ReasonStale      Reason = "stale"       // the file has changed since it was read
	ReasonNotFound   Reason = "not_found"   // the file, or the text in it, does not exist (is [fs.ErrNotExist])
	ReasonAmbiguous  Reason = "ambiguous"   // the text to replace occurs more than once
	ReasonNoOp       Reason = "no_op"       // the call would change nothing
	ReasonParse      Reason = "parse_error" // the pattern or the file could not be parsed
	ReasonProtected  Reason = "protected"   // no policy can allow this path (is [fs.ErrPermission])
	ReasonRejected   Reason = "rejected"    // the user declined (is [fs.ErrPermission])
	ReasonNobodyAsks Reason = "headless"    // the call needs consent and no user can be asked (is [fs.ErrPermission])
)

// Valid reports whether r is one of the reasons above, or empty.
func (r Reason) Valid() bool {
	switch r {
	case "", ReasonNotRead, ReasonStale, ReasonNotFound, ReasonAmbiguous, ReasonNoOp, ReasonParse, ReasonProtected, ReasonRejected, ReasonNobodyAsks:
		return true
	}
	return false
}

// Error returns the reason with spaces for underscores, such as "not read".
func (r Reason) Error() string { return strings.ReplaceAll(string(r), "_", " ") }

// Is reports whether target is the standard error with the same meaning as r, such as
// [fs.ErrNotExist] for [ReasonNotFound].
func (r Reason) Is(target error) bool {
	switch r {
	case ReasonNotFound:
		return target == fs.ErrNotExist
	case ReasonProtected, ReasonRejected, ReasonNobodyAsks:
		return target == fs.ErrPermission
	}
	return false
}

// Error is the error type of all of Bailey's packages. It contains the operation, its subject, the
// problem and the way out. [errors.Is] matches its Code, its Reason, their standard errors and Err.
type Error struct {
	Code    Code
	Reason  Reason // may be empty
	Op      string // the operation, such as "read" or "callTool"
	Subject string // its subject: a path, a host or a tool's name, or empty
	Message string // the problem and the way out, in words for a user or a model
	Err     error  // the cause, which never crosses a boundary, see [Public]
}

// Errorf returns an *Error whose Message is the formatted text. If format has a %w, Err is the
// error it wraps.
func Errorf(code Code, op, subject, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Op: op, Subject: subject, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithReason sets the reason of e and returns e.
func (e *Error) WithReason(r Reason) *Error {
	e.Reason = r
	return e
}

// Error returns the operation, the subject, the message, the code and the reason, such as "write
// notes.md: the file changed (INVALID_PARAMS, stale)". Without a message it uses the text of Err,
// of the reason or of the code, in this order.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Subject != "" {
		if e.Op != "" {
			b.WriteByte(' ')
		}
		b.WriteString(e.Subject)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	switch {
	case e.Message != "":
		b.WriteString(e.Message)
	case e.Err != nil:
		b.WriteString(e.Err.Error())
	case e.Reason != "":
		b.WriteString(e.Reason.Error())
	default:
		b.WriteString(e.Code.Error())
	}
	b.WriteString(" (")
	b.WriteString(string(e.Code))
	if e.Reason != "" {
		b.WriteString(", ")
		b.WriteString(string(e.Reason))
	}
	b.WriteByte(')')
	return b.String()
}

// Is reports whether target is the code or the reason of e, or a standard error that one of them
// means.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case Reason:
		return e.Reason == t && t != ""
	}
	return e.Code.Is(target) || e.Reason.Is(target)
}

// Unwrap returns Err, which may be nil.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of err. If err wraps no code, it returns the code of the standard error
// that err wraps ([context.DeadlineExceeded], [context.Canceled], [fs.ErrPermission]), else
// [ErrExecution]. For nil it returns the empty code.
func CodeOf(err error) Code {
	var e *Error
	var c Code
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e) && e.Code != "":
		return e.Code
	case errors.As(err, &c):
		return c
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, context.Canceled):
		return ErrAborted
	case errors.Is(err, fs.ErrPermission):
		return ErrCapabilityDenied
	}
	return ErrExecution
}

func asError(err error, to **Error) bool { return errors.As(err, to) }

// asJSON reports whether err is about a JSON text. Its text is only about the text that was decoded,
// so it may cross a boundary.
func asJSON(err error) bool {
	var e *strictjson.Error
	return errors.As(err, &e)
}
