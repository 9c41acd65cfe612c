package protocol

import (
	"time"
)

// RunResult is how a run of code ended. After a time-out or a kill the console and
// the traces that were complete are here all the same, and Partial is true.
type RunResult struct {
	Success bool         `json:"success"`
	Value   any          `json:"value,omitempty"`
	Error   *RunError    `json:"error,omitempty"`
	Partial bool         `json:"partial"`
	Traces  []TraceEvent `json:"traces"`
	Console []ConsoleRow `json:"console"`
	Stats   Stats        `json:"stats"`
}

// RunError is an error as a run's caller gets it.
type RunError struct {
	Code    Code   `json:"code"`
	Name    string `json:"name"` // the JavaScript class, as "TypeError"
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"` // the code's own, without frames of the runtime
}

func (e *RunError) Error() string {
	if e.Name == "" {
		return e.Message + " (" + string(e.Code) + ")"
	}
	return e.Name + ": " + e.Message + " (" + string(e.Code) + ")"
}

// Is answers for the code.
func (e *RunError) Is(target error) bool { return target == e.Code || e.Code.Is(target) }

// Err is nil for a run that succeeded, else its error.
func (r *RunResult) Err() error {
	switch {
	case r.Success:
		return nil
	case r.Error == nil:
		return ErrExecution
	}
	return r.Error
}

// ConsoleRow is one call of console.
type ConsoleRow struct {
	Level ConsoleLevel  `json:"level"`
	Args  []any         `json:"args"`
	At    time.Duration `json:"at_ns"` // since the run began, on the host's clock
}

// ConsoleLevel is which method of console it was.
type ConsoleLevel string

// Valid reports whether l is one that is relayed.
func (l ConsoleLevel) Valid() bool {
	switch l {
	case "log", "info", "warn", "error", "debug", "trace":
		return true
	}
	return false
}

// Stats is what a run used. What is counted inside the code's realm can be forged
// there and is called an estimate; the rest is counted outside of it.
type Stats struct {
	Duration     time.Duration `json:"duration_ns"`
	ToolCalls    int           `json:"tool_calls"`
	ConsoleCalls int           `json:"console_calls"`
	ConsoleBytes int           `json:"console_bytes"`
	OutputBytes  int           `json:"output_bytes"`

	EstimatedIterations int `json:"estimated_iterations,omitempty"`
	EstimatedHeap       int `json:"estimated_heap,omitempty"` // bytes asked for by known large operations
	PeakMemory          int `json:"peak_memory,omitempty"`    // bytes of WebAssembly memory, which is real
}
