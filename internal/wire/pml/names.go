package pml

import (
	"slices"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

type name struct {
	code protocol.Code
	pml  []string
}

// names returns the codes that have names in PML. The first name of a row is written.
func names() []name {
	return []name{
		{protocol.ErrInvalidParams, []string{"SyntaxError"}},
		{protocol.ErrCapabilityDenied, []string{"PermissionError"}},
		{protocol.ErrTimeout, []string{"TimeoutError", "RPC_TIMEOUT"}},
		{protocol.ErrExecution, []string{"RuntimeError", "CODE_ERROR"}},
		{protocol.ErrSandbox, []string{"WORKER_TERMINATED"}},
		{protocol.ErrResourceLimit, []string{"ResourceLimitError", "MemoryError"}},
		{protocol.ErrSecurityViolation, []string{"SecurityError"}},
	}
}

// nameOf returns the name of a code in PML, or "RuntimeError" if it has none.
func nameOf(c protocol.Code) string {
	for _, n := range names() {
		if n.code == c {
			return n.pml[0]
		}
	}
	return "RuntimeError"
}

// errorOf returns the error of a message that begins with a name of PML, such as "TimeoutError: no answer". Without one the
// code is [protocol.ErrExecution].
func errorOf(text string) error {
	before, rest, _ := strings.Cut(text, ": ")
	for _, n := range names() {
		if slices.Contains(n.pml, before) {
			return protocol.Errorf(n.code, "call", "", "%s", rest)
		}
	}
	return protocol.Errorf(protocol.ErrExecution, "call", "", "%s", text)
}
