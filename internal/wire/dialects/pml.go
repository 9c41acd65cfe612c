package dialects

import (
	"slices"

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

// PMLName returns the name of a code in PML, or "RuntimeError" if it has none.
func PMLName(c protocol.Code) string {
	for _, n := range names() {
		if n.code == c {
			return n.pml[0]
		}
	}
	return "RuntimeError"
}

// FromPML returns the code of an error's name in PML. For an unknown name it returns
// [protocol.ErrExecution].
func FromPML(text string) protocol.Code {
	for _, n := range names() {
		if slices.Contains(n.pml, text) {
			return n.code
		}
	}
	return protocol.ErrExecution
}
