package testpage

import (
	"encoding/json"
	"testing"
	"time"
)

// Freeze freezes this page for d, as a browser freezes a background tab. Timers, tasks and the Go
// program stop. A frozen page is also hidden, and is shown again afterwards.
func Freeze(t testing.TB, d time.Duration) {
	t.Helper()
	must(t, "freeze", map[string]any{"ms": d.Milliseconds()}, nil)
}

// Hide puts another tab before this page for d. Its visibilityState is then "hidden", and it gets
// no animation frames.
func Hide(t testing.TB, d time.Duration) {
	t.Helper()
	must(t, "hide", map[string]any{"ms": d.Milliseconds()}, nil)
}

// GC collects the garbage of the page's JavaScript.
func GC(t testing.TB) {
	t.Helper()
	must(t, "gc", nil, nil)
}

// Counts are the resources of a page, after a collection of its garbage.
type Counts struct {
	// HeapUsed is the size of the page's JavaScript heap in bytes, without wasm memory.
	HeapUsed int64
	// Documents, Nodes and Listeners are the numbers of DOM objects in the page's process,
	// including those that only JavaScript still references.
	Documents, Nodes, Listeners int
	// Frames is the number of this page's frames in all processes, without the page.
	Frames int
	// Workers is the number of dedicated workers below the page and its frames.
	Workers int
	// Targets is the number of all pages, frames with a process of their own and workers in the
	// browser.
	Targets int
}

// Count collects the garbage and returns the counts.
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
	// Bytes is the memory of this process with its share of the shared memory (PSS).
	Bytes int64
}

// Processes returns the browser's processes. It works on Linux only.
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

// Targets returns the targets that the browser's debugger could attach to.
func Targets(t testing.TB) []Target {
	t.Helper()
	var list []Target
	must(t, "targets", nil, &list)
	return list
}

// Crash kills the renderer process of a target, like a lack of memory would. If it is this page's
// own process, the test binary ends.
func Crash(t testing.TB, target Target) {
	t.Helper()
	must(t, "crash", map[string]any{"id": target.ID}, nil)
}

// OtherPage is a page that was opened by [Open].
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

// Eval evaluates a JavaScript expression in the page, awaits the value if it is a promise, and
// stores its JSON value in result unless that is nil.
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

// FrameValue is the value of an expression in one frame.
type FrameValue struct {
	// ID and Parent are the browser's names of the frame and its parent.
	ID, Parent, URL string
	// OwnProcess is set for the topmost frame of another process.
	OwnProcess bool
	Value      json.RawMessage
	// Err is the reason why there is no value: the expression threw, or scripts are not permitted
	// in the frame.
	Err string
}

// EvalFrames evaluates a JavaScript expression in this page, which is first in the result, and in
// each frame below it, of any origin, sandbox and policy.
func EvalFrames(t testing.TB, expression string) []FrameValue {
	t.Helper()
	var list []FrameValue
	must(t, "evalframes", map[string]any{"expression": expression}, &list)
	return list
}
