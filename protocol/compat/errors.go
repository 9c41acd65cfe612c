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

// numbers is the table of codes, with their numbers in BTCP's specification and in
// its server, and their names in PML. Where a number or a name stands for several
// codes, the first row is what it is read as.
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

// SpecNumber is a code's number in BTCP's specification; -32603 for one it lacks.
func SpecNumber(c protocol.Code) int {
	for _, n := range numbers() {
		if n.code == c {
			return n.spec
		}
	}
	return -32603
}

// ServerNumber is a code's number in BTCP's server; -32603 for one it lacks.
func ServerNumber(c protocol.Code) int {
	for _, n := range numbers() {
		if n.code == c {
			return n.server
		}
	}
	return -32603
}

// FromSpec reads a number of BTCP's specification, or of JSON-RPC. One that is not
// known is [protocol.ErrExecution].
func FromSpec(n int) protocol.Code {
	if n == -32602 || n == -32600 || n == -32700 {
		return protocol.ErrInvalidParams
	}
	if n == -32601 {
		return protocol.ErrToolNotFound
	}
	return first(func(r number) bool { return r.spec == n })
}

// FromServer reads a number of BTCP's server, or of JSON-RPC.
func FromServer(n int) protocol.Code {
	if n == -32602 || n == -32600 || n == -32700 {
		return protocol.ErrInvalidParams
	}
	if n == -32601 {
		return protocol.ErrToolNotFound
	}
	return first(func(r number) bool { return r.server == n })
}

// PMLName is what PML calls a code, or "RuntimeError".
func PMLName(c protocol.Code) string {
	for _, n := range numbers() {
		if n.code == c && len(n.pml) > 0 {
			return n.pml[0]
		}
	}
	return "RuntimeError"
}

// FromPML reads an error's name in PML.
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
