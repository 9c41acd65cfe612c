package testpage

import (
	"encoding/json"
	"testing"
	"time"
)

// Freeze freezes this page, as a browser does with a background tab, for as
// long as given: timers, tasks and the Go program stand still. A frozen page is
// hidden too; afterwards it is shown again.
func Freeze(t testing.TB, d time.Duration) {
	t.Helper()
	must(t, "freeze", map[string]any{"ms": d.Milliseconds()}, nil)
}

// Hide puts another tab before this page for as long as given: its
// visibilityState is "hidden", and it gets no animation frames.
func Hide(t testing.TB, d time.Duration) {
	t.Helper()
	must(t, "hide", map[string]any{"ms": d.Milliseconds()}, nil)
}

// GC collects the garbage of the page's JavaScript.
func GC(t testing.TB) {
	t.Helper()
	must(t, "gc", nil, nil)
}

// Counts are what a page holds, after a collection of its garbage.
type Counts struct {
	// HeapUsed is the page's JavaScript heap in bytes, without wasm memory.
	HeapUsed int64
	// Documents, Nodes and Listeners count the DOM's objects in the page's
	// process, those that only JavaScript still holds included.
	Documents, Nodes, Listeners int
	// Frames are this page's frames in whatever process, the page not included.
	Frames int
	// Workers are the dedicated workers below the page and its frames.
	Workers int
	// Targets are all pages, frames with a process of their own and workers
	// that the browser knows.
	Targets int
}

// Count collects the garbage and counts.
func Count(t testing.TB) Counts {
	t.Helper()
	var c Counts
	must(t, "count", nil, &c)
	return c
}

// Process is one of the browser's processes.
type Process struct {
	PID int
	// Kind is "browser", "renderer", "gpu", "utility" or the engine's own name.
	Kind string
	// Bytes is the memory that counts against this process: its own, and its
	// share of what it shares (PSS).
	Bytes int64
}

// Processes lists the browser's processes, on Linux.
func Processes(t testing.TB) []Process {
	t.Helper()
	var list []Process
	must(t, "processes", nil, &list)
	return list
}

// Target is a page, a frame with a process of its own, or a worker.
type Target struct {
	ID, Type, URL, Title string
}

// Targets lists what the browser's debugger could attach to.
func Targets(t testing.TB) []Target {
	t.Helper()
	var list []Target
	must(t, "targets", nil, &list)
	return list
}

// Crash kills the renderer process of a target, as out-of-memory would.
// Killing this page's own ends the test binary.
func Crash(t testing.TB, target Target) {
	t.Helper()
	must(t, "crash", map[string]any{"id": target.ID}, nil)
}

// OtherPage is a page that [Open] opened.
type OtherPage struct {
	id string
	t  testing.TB
}

// Open opens an address in another top-level page until the test ends.
func Open(t testing.TB, url string) *OtherPage {
	t.Helper()
	p := &OtherPage{t: t}
	must(t, "open", map[string]any{"url": url}, &p.id)
	t.Cleanup(p.Close)
	return p
}

// Close closes the page. It may be called twice.
func (p *OtherPage) Close() {
	p.t.Helper()
	must(p.t, "close", map[string]any{"page": p.id}, nil)
}

// Eval runs a JavaScript expression in the page, awaits it if it is a promise,
// and stores its JSON value in result, unless that is nil.
func (p *OtherPage) Eval(expression string, result any) {
	p.t.Helper()
	must(p.t, "eval", map[string]any{"page": p.id, "expression": expression}, result)
}

// Freeze freezes the page, or thaws it.
func (p *OtherPage) Freeze(frozen bool) {
	p.t.Helper()
	must(p.t, "lifecycle", map[string]any{"page": p.id, "frozen": frozen}, nil)
}

// Crash kills the page's renderer process.
func (p *OtherPage) Crash() {
	p.t.Helper()
	must(p.t, "crashpage", map[string]any{"page": p.id}, nil)
}

// FrameValue is what an expression gave in one frame.
type FrameValue struct {
	// ID and Parent are the browser's names for the frame and its parent.
	ID, Parent, URL string
	// OwnProcess is set for the topmost frame of another process.
	OwnProcess bool
	Value      json.RawMessage
	// Err says why there is no value: the expression threw, or scripts are not
	// permitted in the frame.
	Err string
}

// EvalFrames evaluates a JavaScript expression in this page, which comes first,
// and in each frame below it, whatever its origin, sandbox and policy.
func EvalFrames(t testing.TB, expression string) []FrameValue {
	t.Helper()
	var list []FrameValue
	must(t, "evalframes", map[string]any{"expression": expression}, &list)
	return list
}
