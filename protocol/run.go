package protocol

import (
	"time"
)

// RunResult is the result of a run of code. After a time-out or a kill it contains the console rows
// and traces that were complete until then, and Partial is true.
type RunResult struct {
	Success bool         `json:"success"`
	Value   any          `json:"value,omitempty"`
	Error   *RunError    `json:"error,omitempty"`
	Partial bool         `json:"partial"`
	Traces  []TraceEvent `json:"traces"`
	Console []ConsoleRow `json:"console"`
	Stats   Stats        `json:"stats"`
}

// RunError is the error of a run of code, as the caller of the run receives it.
type RunError struct {
	Code    Code   `json:"code"`
	Name    string `json:"name"` // of the JavaScript class, such as "TypeError"
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"` // of the code, without frames of the runtime
}

// Error returns the name, the message and the code, such as "TypeError: x is null
// (EXECUTION_ERROR)".
func (e *RunError) Error() string {
	if e.Name == "" {
		return e.Message + " (" + string(e.Code) + ")"
	}
	return e.Name + ": " + e.Message + " (" + string(e.Code) + ")"
}

// Is reports whether target is e.Code or a standard error that it means.
func (e *RunError) Is(target error) bool { return target == e.Code || e.Code.Is(target) }

// Err returns nil for a run that succeeded, else its error, or [ErrExecution] if it has none.
func (r *RunResult) Err() error {
	switch {
	case r.Success:
		return nil
	case r.Error == nil:
		return ErrExecution
	}
	return r.Error
}

// ConsoleRow is one call of a method of console.
type ConsoleRow struct {
	Level ConsoleLevel  `json:"level"`
	Args  []any         `json:"args"`
	At    time.Duration `json:"at_ns"` // since the run began, on the host's clock
}

// ConsoleLevel is the name of a method of console.
type ConsoleLevel string

// Valid reports whether l is a method whose calls are relayed: log, info, warn, error, debug or
// trace.
func (l ConsoleLevel) Valid() bool {
	switch l {
	case "log", "info", "warn", "error", "debug", "trace":
		return true
	}
	return false
}

// Stats are the resources that a run used. Values from inside the code's realm can be forged there
// and are named Estimated. The others are counted outside of it.
type Stats struct {
	Duration     time.Duration `json:"duration_ns"`
	ToolCalls    int           `json:"tool_calls"`
	ConsoleCalls int           `json:"console_calls"`
	ConsoleBytes int           `json:"console_bytes"`
	OutputBytes  int           `json:"output_bytes"`

	EstimatedHeap int `json:"estimated_heap,omitempty"` // bytes that known large operations requested
	PeakMemory    int `json:"peak_memory,omitempty"`    // bytes of WebAssembly memory, which is not an estimate
}
