package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Code is what went wrong, in one word: the word on the wire and the error to
// compare with are the same value.
//
//	if errors.Is(err, protocol.ErrTimeout) { … }
//
// Dialects that number their errors get the numbers in protocol/compat.
type Code string

const (
	// ErrToolNotFound: no tool has that name, or this caller may not see it.
	ErrToolNotFound Code = "TOOL_NOT_FOUND"
	// ErrInvalidParams: the arguments, the code or a message do not have the agreed form.
	ErrInvalidParams Code = "INVALID_PARAMS"
	// ErrCapabilityDenied: a policy, or the person, said no. Is [fs.ErrPermission]; never retried.
	ErrCapabilityDenied Code = "CAPABILITY_DENIED"
	// ErrTimeout: a time limit was reached. Is [context.DeadlineExceeded].
	ErrTimeout Code = "TIMEOUT"
	// ErrExecution: the tool or the code itself failed.
	ErrExecution Code = "EXECUTION_ERROR"
	// ErrSandbox: what should hold the code died or could not be made.
	ErrSandbox Code = "SANDBOX_ERROR"
	// ErrSession: the session is not in a state that allows this.
	ErrSession Code = "SESSION_ERROR"
	// ErrResourceLimit: a count, a size or a rate is over its limit.
	ErrResourceLimit Code = "RESOURCE_LIMIT"
	// ErrOutputTooLarge: the result is over its limit.
	ErrOutputTooLarge Code = "OUTPUT_TOO_LARGE"
	// ErrSecurityViolation: something was sent that only an attack sends. Is [fs.ErrPermission].
	ErrSecurityViolation Code = "SECURITY_VIOLATION"
	// ErrAborted: the caller ended it. Is [context.Canceled].
	ErrAborted Code = "ABORTED"
)

// Codes returns every code there is, in a fixed order.
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

// Error says the code in words.
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

// Is makes a code answer for the standard errors that mean the same.
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

// Reason refines a code for the tools that work on files.
type Reason string

const (
	ReasonNotRead    Reason = "not_read"    // the file was not read before it was changed
	ReasonStale      Reason = "stale"       // the file changed since it was read
	ReasonNotFound   Reason = "not_found"   // no such file, or no such text in it; is [fs.ErrNotExist]
	ReasonAmbiguous  Reason = "ambiguous"   // the text to replace is there more than once
	ReasonNoOp       Reason = "no_op"       // nothing would change
	ReasonParse      Reason = "parse_error" // the pattern or the file could not be parsed
	ReasonProtected  Reason = "protected"   // a path no policy opens; is [fs.ErrPermission]
	ReasonRejected   Reason = "rejected"    // the person said no; is [fs.ErrPermission]
	ReasonNobodyAsks Reason = "headless"    // it needed an answer and nobody is there to ask; is [fs.ErrPermission]
)

// Valid reports whether r is one of the reasons above, or none.
func (r Reason) Valid() bool {
	switch r {
	case "", ReasonNotRead, ReasonStale, ReasonNotFound, ReasonAmbiguous, ReasonNoOp, ReasonParse, ReasonProtected, ReasonRejected, ReasonNobodyAsks:
		return true
	}
	return false
}

func (r Reason) Error() string { return strings.ReplaceAll(string(r), "_", " ") }

// Is makes a reason answer for the standard errors that mean the same.
func (r Reason) Is(target error) bool {
	switch r {
	case ReasonNotFound:
		return target == fs.ErrNotExist
	case ReasonProtected, ReasonRejected, ReasonNobodyAsks:
		return target == fs.ErrPermission
	}
	return false
}

// Error is the error of every room above this one: what was tried, on what, what
// went wrong and what to do about it. Its Code and Reason answer [errors.Is], and
// so does the error it wraps.
type Error struct {
	Code    Code
	Reason  Reason // or none
	Op      string // what was tried: "read", "callTool"
	Subject string // on what: a path, a host, a tool's name
	Message string // what went wrong and what to do, for a person or a model to read
	Err     error  // the cause; stays on this side, never crosses a boundary
}

// Errorf makes an *Error; %w in format sets Err.
func Errorf(code Code, op, subject, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Op: op, Subject: subject, Message: err.Error(), Err: errors.Unwrap(err)}
}

// WithReason returns e with its reason set.
func (e *Error) WithReason(r Reason) *Error {
	e.Reason = r
	return e
}

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

// Is answers for the code, the reason and what those answer for.
func (e *Error) Is(target error) bool {
	switch t := target.(type) {
	case Code:
		return e.Code == t
	case Reason:
		return e.Reason == t && t != ""
	}
	return e.Code.Is(target) || e.Reason.Is(target)
}

// Unwrap is the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf says which code describes err best; for nil it is the empty code.
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

// asJSON reports whether err speaks only of text that was to be decoded.
func asJSON(err error) bool {
	var e *jsonError
	return errors.As(err, &e)
}

// quote puts s in double quotes, cut so that an error stays readable, with
// everything that could confuse a terminal or a reader escaped.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%+q… (%d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%+q", s)
}
