package btcp

import "github.com/bailey-go/bailey/protocol"

type number struct {
	code         protocol.Code
	spec, server int
}

// numbers returns the table of codes, with their numbers in BTCP's specification and in its server.
// If a number stands for several codes, it is decoded as the code of the first row.
func numbers() []number {
	return []number{
		{protocol.ErrToolNotFound, -32000, -32004},
		{protocol.ErrInvalidParams, -32004, -32005},
		{protocol.ErrCapabilityDenied, -32001, -32006},
		{protocol.ErrTimeout, -32002, -32001},
		{protocol.ErrExecution, -32603, -32003},
		{protocol.ErrSandbox, -32003, -32003},
		{protocol.ErrSession, -32603, -32002},
		{protocol.ErrResourceLimit, -32603, -32603},
		{protocol.ErrOutputTooLarge, -32603, -32603},
		{protocol.ErrSecurityViolation, -32603, -32603},
		{protocol.ErrAborted, -32603, -32603},
	}
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

func first(is func(number) bool) protocol.Code {
	for _, n := range numbers() {
		if is(n) {
			return n.code
		}
	}
	return protocol.ErrExecution
}
