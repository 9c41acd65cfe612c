package worker

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/protocol"
)

var (
	// ErrClosed is returned by a pool that was closed.
	ErrClosed = errors.New("worker: the pool is closed")

	// ErrBlocked is returned where the page's own policy forbids the workers.
	ErrBlocked = errors.New("worker: the page's policy forbids the worker")

	// ErrLost is why a pool failed whose frames or workers died again and again.
	ErrLost = errors.New("worker: the workers were lost")

	// ErrQueueFull is returned by Start if too many commands wait already.
	ErrQueueFull = protocol.Errorf(protocol.ErrResourceLimit, "start", "", "too many commands wait; try again when some have ended, or raise Options.Queue")
)

func blockedError(trusted bool) error {
	if trusted {
		return fmt.Errorf("%w: add worker-src blob: and to script-src 'wasm-unsafe-eval'", ErrBlocked)
	}
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add worker-src blob: and to script-src: 'wasm-unsafe-eval' %s",
		ErrBlocked, strings.Join(frame.ScriptHashes(), " "))
}

// ProcessState is what is known of a run that has ended.
type ProcessState struct {
	exited bool
	code   int
	stats  Stats
}

// Stats are the figures of a run. Those that only the program's worker knows are 0 if
// it was killed.
type Stats struct {
	Queued   time.Duration // the wait for a worker
	Duration time.Duration // from then to the end, by the host's clock
	Memory   int64         // bytes of WebAssembly memory at the end, which is their peak
	Input    int64         // bytes of standard input taken
	Output   int64         // bytes of standard output and error that came
	Read     int64         // bytes read from files
	Written  int64         // bytes written to files
	Files    int           // most files and folders open at once
	Changes  int           // files and folders written back
	Lazy     bool          // the files came as they were opened
}

// Exited reports whether the program ended by itself. It did not if it crashed or was
// killed.
func (s *ProcessState) Exited() bool { return s != nil && s.exited }

// ExitCode is the program's exit code, or -1 if it did not end by itself.
func (s *ProcessState) ExitCode() int {
	if s == nil || !s.exited {
		return -1
	}
	return s.code
}

// Success reports whether the program ended with the exit code 0.
func (s *ProcessState) Success() bool { return s.Exited() && s.code == 0 }

// Stats are the figures of the run.
func (s *ProcessState) Stats() Stats {
	if s == nil {
		return Stats{}
	}
	return s.stats
}

func (s *ProcessState) String() string {
	if s == nil {
		return "<nil>"
	}
	if !s.exited {
		return "killed"
	}
	return fmt.Sprintf("exit status %d", s.code)
}

// An ExitError is how a program ended that did not succeed. It answers [errors.Is] for its
// Code: [protocol.ErrTimeout], [protocol.ErrResourceLimit], [protocol.ErrOutputTooLarge],
// [protocol.ErrAborted], [protocol.ErrExecution] for a trap or an exit code, and so on.
type ExitError struct {
	*ProcessState

	// Code is what ended it: [protocol.ErrExecution] with an exit code, too.
	Code protocol.Code

	// Reason says it in words: "RuntimeError: unreachable". Empty with an exit code.
	Reason string

	// Stderr holds what the program wrote to standard error, as far as Output
	// collected it.
	Stderr []byte

	cause error
}

func (e *ExitError) Error() string {
	if e.Reason == "" {
		return e.ProcessState.String()
	}
	return fmt.Sprintf("%s (%s)", e.Reason, string(e.Code))
}

// Unwrap returns the code, and what caused the end if that was an error.
func (e *ExitError) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Code, e.cause}
	}
	return []error{e.Code}
}

// A ConflictError says that files which a program changed were changed by somebody else
// meanwhile. None of the program's changes was made then, unless it happened while they
// were: Stats.Changes says how many were made, and Paths is the first that was not.
type ConflictError struct {
	Paths []string
	made  int
}

func (e *ConflictError) Error() string {
	if e.made > 0 {
		return fmt.Sprintf("worker: changed by somebody else during the run, so it was not written back, after %d changes that were: %s", e.made, strings.Join(e.Paths, ", "))
	}
	return "worker: changed by somebody else during the run, so nothing was written back: " + strings.Join(e.Paths, ", ")
}
