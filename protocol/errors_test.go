package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
)

func TestErrorsAnswerForTheirKin(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, c := range []struct {
		err      error
		is, isnt []error
	}{
		{protocol.ErrTimeout, []error{protocol.ErrTimeout, context.DeadlineExceeded}, []error{protocol.ErrAborted, context.Canceled}},
		{protocol.ErrAborted, []error{context.Canceled}, []error{context.DeadlineExceeded}},
		{protocol.ErrCapabilityDenied, []error{fs.ErrPermission}, []error{fs.ErrNotExist}},
		{protocol.ErrSecurityViolation, []error{fs.ErrPermission}, nil},
		{protocol.ErrInvalidParams, []error{fs.ErrInvalid}, []error{fs.ErrPermission}},
		{protocol.ErrExecution, nil, []error{fs.ErrPermission, context.Canceled, context.DeadlineExceeded}},
		{protocol.ReasonNotFound, []error{fs.ErrNotExist}, []error{fs.ErrPermission}},
		{protocol.ReasonProtected, []error{fs.ErrPermission}, nil},
		{
			protocol.Errorf(protocol.ErrExecution, "read", "a.txt", "not there: %w", cause).WithReason(protocol.ReasonNotFound),
			[]error{protocol.ErrExecution, protocol.ReasonNotFound, fs.ErrNotExist, cause},
			[]error{protocol.ErrTimeout, protocol.ReasonStale, fs.ErrPermission},
		},
		{&protocol.Error{Code: protocol.ErrExecution}, nil, []error{protocol.Reason("")}},
		{fmt.Errorf("outer: %w", protocol.Errorf(protocol.ErrTimeout, "run", "", "5 s")), []error{protocol.ErrTimeout, context.DeadlineExceeded}, nil},
	} {
		for _, target := range c.is {
			if !errors.Is(c.err, target) {
				t.Errorf("%v is not %v", c.err, target)
			}
		}
		for _, target := range c.isnt {
			if errors.Is(c.err, target) {
				t.Errorf("%v is %v", c.err, target)
			}
		}
	}
}

func TestErrorTextSaysWhatWasTried(t *testing.T) {
	for want, e := range map[string]*protocol.Error{
		"read a.txt: changed; read it again (EXECUTION_ERROR, stale)": protocol.Errorf(protocol.ErrExecution, "read", "a.txt", "changed; read it again").WithReason(protocol.ReasonStale),
		"time limit reached (TIMEOUT)":                                {Code: protocol.ErrTimeout},
		"x: not found (EXECUTION_ERROR, not_found)":                   {Code: protocol.ErrExecution, Reason: protocol.ReasonNotFound, Op: "x"},
		"x: EOF (SANDBOX_ERROR)":                                      {Code: protocol.ErrSandbox, Op: "x", Err: errors.New("EOF")},
	} {
		if e.Error() != want {
			t.Errorf("got  %s\nwant %s", e, want)
		}
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range protocol.Codes() {
		text := c.Error()
		if !c.Valid() || seen[text] || strings.Contains(text, "unknown") {
			t.Errorf("%q: %q is not a text of its own", string(c), text)
		}
		seen[text] = true
		if protocol.CodeOf(fmt.Errorf("x: %w", c)) != c {
			t.Errorf("CodeOf loses %s", string(c))
		}
	}
	if protocol.Code("NO_SUCH").Valid() {
		t.Error("an unknown code is valid")
	}
	for err, want := range map[error]protocol.Code{
		nil:                      "",
		context.DeadlineExceeded: protocol.ErrTimeout,
		context.Canceled:         protocol.ErrAborted,
		fs.ErrPermission:         protocol.ErrCapabilityDenied,
		errors.New("other"):      protocol.ErrExecution,
	} {
		if got := protocol.CodeOf(err); got != want {
			t.Errorf("CodeOf(%v) = %q, want %q", err, string(got), string(want))
		}
	}
}
