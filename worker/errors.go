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
	// ErrClosed is wrapped by the errors of commands of a pool that has been closed.
	ErrClosed = errors.New("worker: the pool is closed")

	// ErrBlocked is returned by [NewPool] if the page's Content-Security-Policy forbids the
	// workers.
	ErrBlocked = errors.New("worker: the page's policy forbids the worker")

	// ErrLost is wrapped by the errors of commands of a pool that failed because its frames or
	// workers died more than 20 times in 30 s.
	ErrLost = errors.New("worker: the workers were lost")

	// ErrQueueFull is returned by [Cmd.Start] if too many commands wait: see [Options].Queue.
	ErrQueueFull = protocol.Errorf(protocol.ErrResourceLimit, "start", "", "too many commands wait; try again when some have ended, or raise Options.Queue")
)

func blockedError(trusted bool) error {
	if trusted {
		return fmt.Errorf("%w: add worker-src blob: and to script-src 'wasm-unsafe-eval'", ErrBlocked)
	}
	return fmt.Errorf("%w: srcdoc frames and their workers inherit the page's Content-Security-Policy. Add worker-src blob: and to script-src: 'wasm-unsafe-eval' %s",
		ErrBlocked, strings.Join(frame.ScriptHashes(), " "))
}

// ProcessState describes a run that has ended. A nil *ProcessState is valid.
type ProcessState struct {
	exited bool
	code   int
	stats  Stats
}

// Stats are the measurements of a run. Those that only the program's worker has (Memory, Input,
// Read, Written, Files) are 0 if the worker could not send them, as after a kill.
type Stats struct {
	Queued   time.Duration // the wait for a worker
	Duration time.Duration // from then to the end, by the host's clock
	Memory   int64         // bytes of WebAssembly memory at the end, which is their peak
	Input    int64         // bytes of standard input read by the program
	Output   int64         // bytes of standard output and error received
	Read     int64         // bytes read from files
	Written  int64         // bytes written to files
	Files    int           // the most files and folders open at once
	Changes  int           // files and folders written back
	Lazy     bool          // at least one mount was lazy: see [LazyFiles]
}

// Exited reports whether the program exited by itself. It is false if the program crashed or
// was killed.
func (s *ProcessState) Exited() bool { return s != nil && s.exited }

// ExitCode returns the program's exit code, or -1 if it did not exit by itself.
func (s *ProcessState) ExitCode() int {
	if s == nil || !s.exited {
		return -1
	}
	return s.code
}

// Success reports whether the program exited with code 0.
func (s *ProcessState) Success() bool { return s.Exited() && s.code == 0 }

// Stats returns the measurements of the run.
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

// An ExitError is the error of a program that did not exit with code 0. It wraps its Code, for
// [errors.Is]: [protocol.ErrTimeout], [protocol.ErrResourceLimit],
// [protocol.ErrOutputTooLarge], [protocol.ErrAborted], [protocol.ErrExecution] for a trap or an
// exit code, and so on.
type ExitError struct {
	*ProcessState

	// Code is the kind of failure. With an exit code it is [protocol.ErrExecution].
	Code protocol.Code

	// Reason describes the failure in words, for example "RuntimeError: unreachable". It is
	// empty with an exit code.
	Reason string

	// Stderr is the start of standard error, up to 64 KiB, if [Cmd.Output] collected it.
	Stderr []byte

	cause error
}

func (e *ExitError) Error() string {
	if e.Reason == "" {
		return e.ProcessState.String()
	}
	return fmt.Sprintf("%s (%s)", e.Reason, string(e.Code))
}

// Unwrap returns the code, and the error that caused the end if there was one.
func (e *ExitError) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Code, e.cause}
	}
	return []error{e.Code}
}

// A ConflictError reports that files which a program changed were also changed by something
// else during the run. Paths lists all of these files, and none of the program's changes has
// been written. If the conflict was found while writing, [Stats].Changes is the number of
// changes already written, and Paths holds the first file that was not.
type ConflictError struct {
	Paths []string // names in the mount, such as "notes/plan.md"
	made  int
}

func (e *ConflictError) Error() string {
	if e.made > 0 {
		return fmt.Sprintf("worker: changed by something else during the run, so it was not written back, after %d changes that were: %s", e.made, strings.Join(e.Paths, ", "))
	}
	return "worker: changed by something else during the run, so nothing was written back: " + strings.Join(e.Paths, ", ")
}
