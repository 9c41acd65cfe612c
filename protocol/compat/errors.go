package compat

import (
	"slices"

	"github.com/bailey-go/bailey/protocol"
)

type number struct {
	code         protocol.Code
	spec, server int
	pml          []string
}

// numbers returns the table of codes, with their numbers in BTCP's specification and in its server,
// and their names in PML. If a number or a name stands for several codes, it is decoded as the code
// of the first row.
func numbers() []number {
	return []number{
		{protocol.ErrToolNotFound, -32000, -32004, nil},
		{protocol.ErrInvalidParams, -32004, -32005, []string{"SyntaxError"}},
		{protocol.ErrCapabilityDenied, -32001, -32006, []string{"PermissionError"}},
		{protocol.ErrTimeout, -32002, -32001, []string{"TimeoutError", "RPC_TIMEOUT"}},
		{protocol.ErrExecution, -32603, -32003, []string{"RuntimeError", "CODE_ERROR"}},
		{protocol.ErrSandbox, -32003, -32003, []string{"WORKER_TERMINATED"}},
		{protocol.ErrSession, -32603, -32002, nil},
		{protocol.ErrResourceLimit, -32603, -32603, []string{"ResourceLimitError", "MemoryError"}},
		{protocol.ErrOutputTooLarge, -32603, -32603, nil},
		{protocol.ErrSecurityViolation, -32603, -32603, []string{"SecurityError"}},
		{protocol.ErrAborted, -32603, -32603, nil},
	}
}

// SpecNumber returns the number of a code in BTCP's specification, or -32603 if it has none.
func SpecNumber(c protocol.Code) int {
	for _, n := range numbers() {
		if n.code == c {
			return n.spec
		}
	}
	return -32603
}

// ServerNumber returns the number of a code in BTCP's server, or -32603 if it has none.
func ServerNumber(c protocol.Code) int {
	for _, n := range numbers() {
		if n.code == c {
			return n.server
		}
	}
	return -32603
}

// FromSpec returns the code of a number of BTCP's specification or of JSON-RPC. For an unknown
// number it returns [protocol.ErrExecution].
func FromSpec(n int) protocol.Code {
	if n == -32602 || n == -32600 || n == -32700 {
		return protocol.ErrInvalidParams
	}
	if n == -32601 {
		return protocol.ErrToolNotFound
	}
	return first(func(r number) bool { return r.spec == n })
}

// FromServer returns the code of a number of BTCP's server or of JSON-RPC. For an unknown number it
// returns [protocol.ErrExecution].
func FromServer(n int) protocol.Code {
	if n == -32602 || n == -32600 || n == -32700 {
		return protocol.ErrInvalidParams
	}
	if n == -32601 {
		return protocol.ErrToolNotFound
	}
	return first(func(r number) bool { return r.server == n })
}

// PMLName returns the name of a code in PML, or "RuntimeError" if it has none.
func PMLName(c protocol.Code) string {
	for _, n := range numbers() {
		if n.code == c && len(n.pml) > 0 {
			return n.pml[0]
		}
	}
	return "RuntimeError"
}

// FromPML returns the code of an error's name in PML. For an unknown name it returns
// [protocol.ErrExecution].
func FromPML(name string) protocol.Code {
	return first(func(r number) bool { return slices.Contains(r.pml, name) })
}

func first(is func(number) bool) protocol.Code {
	for _, n := range numbers() {
		if is(n) {
			return n.code
		}
	}
	return protocol.ErrExecution
}
