package jsx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
)

var sentinels = map[string]error{
	"fs.ErrNotExist":           fs.ErrNotExist,
	"fs.ErrPermission":         fs.ErrPermission,
	"fs.ErrExist":              fs.ErrExist,
	"fs.ErrInvalid":            fs.ErrInvalid,
	"context.Canceled":         context.Canceled,
	"context.DeadlineExceeded": context.DeadlineExceeded,
	"errors.ErrUnsupported":    errors.ErrUnsupported,
}

// errorNames lists the Go errors of each name. A name matches no other Go error.
var errorNames = []struct {
	name string
	code Code
	is   []string
}{
	{"NotFoundError", ErrNotFound, []string{"fs.ErrNotExist"}},
	{"NotAllowedError", ErrNotAllowed, []string{"fs.ErrPermission"}},
	{"SecurityError", ErrSecurity, []string{"fs.ErrPermission"}},
	{"TypeMismatchError", ErrTypeMismatch, []string{"fs.ErrInvalid"}},
	{"InvalidCharacterError", ErrInvalidCharacter, []string{"fs.ErrInvalid"}},
	{"InvalidModificationError", ErrInvalidModification, []string{"fs.ErrExist"}},
	{"ConstraintError", ErrConstraint, []string{"fs.ErrExist"}},
	{"QuotaExceededError", ErrQuota, nil},
	{"NS_ERROR_DOM_QUOTA_REACHED", ErrQuota, nil},
	{"NS_ERROR_FILE_NO_DEVICE_SPACE", ErrQuota, nil},
	{"NS_ERROR_FILE_NOT_FOUND", ErrNotFound, []string{"fs.ErrNotExist"}},
	{"NS_ERROR_FILE_ACCESS_DENIED", ErrNotAllowed, []string{"fs.ErrPermission"}},
	{"AbortError", ErrAborted, []string{"context.Canceled"}},
	{"TimeoutError", ErrTimeout, []string{"context.DeadlineExceeded"}},
	{"DataCloneError", ErrDataClone, nil},
	{"InvalidStateError", ErrInvalidState, nil},
	{"NoModificationAllowedError", ErrLocked, nil},
	{"NotReadableError", ErrNotReadable, nil},
	{"NetworkError", ErrNetwork, nil},
	{"NotSupportedError", ErrNotSupported, []string{"errors.ErrUnsupported"}},
	{"SyntaxError", ErrSyntax, nil},
	{"TypeError", ErrType, nil},
	{"RangeError", ErrRange, nil},
	{"ReferenceError", ErrReference, nil},
	{"SomethingNew", "SomethingNew", nil},
	{"notfounderror", "notfounderror", nil}, // names are exact
	{"", "", nil},
}

func TestErrorNames(t *testing.T) {
	for _, tt := range errorNames {
		t.Run(tt.name, func(t *testing.T) {
			err := fmt.Errorf("open a: %w", &Error{Name: tt.name, Message: "m"})
			var e *Error
			if !errors.As(err, &e) || e.Code() != tt.code {
				t.Fatalf("code %q, want %q", e.Code(), tt.code)
			}
			for name, sentinel := range sentinels {
				want := slices.Contains(tt.is, name)
				if got := errors.Is(err, sentinel); got != want {
					t.Errorf("errors.Is(%s) = %v, want %v", name, got, want)
				}
				if got := errors.Is(tt.code, sentinel); got != want {
					t.Errorf("code: errors.Is(%s) = %v, want %v", name, got, want)
				}
			}
			if got, want := errors.Is(err, tt.code), tt.code != ""; got != want {
				t.Errorf("errors.Is(its own code) = %v, want %v", got, want)
			}
			if errors.Is(err, Code("Other")) {
				t.Error("is another code")
			}
			if e.Timeout() != (tt.code == ErrTimeout) {
				t.Error("Timeout")
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*Error{
		"NotFoundError: gone":              {Name: "NotFoundError", Message: "gone"},
		"NotFoundError":                    {Name: "NotFoundError"},
		"gone":                             {Message: "gone"},
		"an error without a message":       {},
		"call read: NotFoundError: gone":   {Name: "NotFoundError", Message: "gone", Op: "call read"},
		"read: an error without a message": {Op: "read"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s := (&SizeError{What: "string", Size: 9, Limit: 8, Unit: "bytes"}).Error(); s != "string of 9 bytes is over the limit of 8" {
		t.Error(s)
	}
	if !errors.Is(&SizeError{}, ErrTooLarge) {
		t.Error("a SizeError is not ErrTooLarge")
	}
	if !errors.Is(ErrClosed, fs.ErrClosed) {
		t.Error("ErrClosed is not fs.ErrClosed")
	}
	if !errors.Is(&PanicError{Value: fs.ErrExist}, fs.ErrExist) || errors.Unwrap(&PanicError{Value: 1}) != nil {
		t.Error("PanicError does not unwrap to an error value")
	}
}

func TestContextErrorHasItsCause(t *testing.T) {
	cause := errors.New("the user closed the tab")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if err := contextError(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
	plain, stop := context.WithCancel(context.Background())
	stop()
	if err := contextError(plain); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func FuzzErrorNames(f *testing.F) {
	for _, tt := range errorNames {
		f.Add(tt.name, "message")
	}
	f.Add("\x00\xff", "")
	f.Fuzz(func(t *testing.T, name, message string) {
		e := &Error{Name: name, Message: message}
		if e.Error() == "" {
			t.Error("an error without text")
		}
		if got := errors.Is(e, e.Code()); got != (e.Code() != "") {
			t.Errorf("errors.Is(itself) = %v", got)
		}
		known := slices.ContainsFunc(errorNames, func(n struct {
			name string
			code Code
			is   []string
		}) bool {
			return n.name == name
		})
		for s, sentinel := range sentinels {
			if !known && errors.Is(e, sentinel) {
				t.Errorf("the unknown name %q is %s", name, s)
			}
		}
	})
}
