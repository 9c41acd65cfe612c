// Package jsxtest fails a test run that leaves resources behind: callbacks, listeners, ports,
// timers, frames and all others that [jsx.Live] counts, and goroutines. A package that touches the
// browser has in its tests
//
//	func TestMain(m *testing.M) { jsxtest.Main(m) }
//
// It trusts the packages under test to count their resources. It waits at most a moment for them to
// be released. It ignores no goroutine by name, except those of the runtime, of testing and of
// os/signal.
package jsxtest

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

// Patience is the maximum time for closed resources to disappear. Only a run that fails waits so long.
const Patience = 20 * time.Second

// Main runs the tests, and exits with 1 if they fail or leave resources behind.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main for a TestMain that has more to do afterwards. It returns the exit code.
func Run(m interface{ Run() int }) int { return run(m, Patience, os.Stderr) }

func run(m interface{ Run() int }, patience time.Duration, out io.Writer) int {
	if !flag.Parsed() {
		flag.Parse()
	}
	if f := flag.Lookup("test.bench"); f == nil || f.Value.String() == "" {
		jsx.TraceLive(true)
		defer jsx.TraceLive(false)
	}
	before := Now()
	code := m.Run()
	if err := Settle(before, patience); err != nil {
		fmt.Fprintf(out, "FAIL: the tests left something behind: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Check fails t if the test leaves resources behind. Call it first.
func Check(t testing.TB) {
	t.Helper()
	before := Now()
	t.Cleanup(func() {
		t.Helper()
		if err := Settle(before, Patience); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
}

// A Snapshot contains the live resources and goroutines at one time.
type Snapshot struct {
	Counts     jsx.Counts
	Goroutines map[string]string // their stacks, by their number in the dump
}

// Now returns a snapshot.
func Now() Snapshot {
	return Snapshot{Counts: jsx.Live(), Goroutines: parse(dump())}
}

// A LeakError lists the resources and goroutines that were not there before.
type LeakError struct {
	Counts     jsx.Counts
	Goroutines []string // their stacks
	Stacks     []string // of the calls that made the counted resources, if traced
}

// Error returns the counts and the stacks.
func (e *LeakError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", e.Counts)
	if len(e.Goroutines) > 0 {
		fmt.Fprintf(&b, ", goroutines %d", len(e.Goroutines))
	}
	for _, s := range append(slices.Clone(e.Stacks), e.Goroutines...) {
		b.WriteString("\n\n" + strings.TrimSpace(s))
	}
	return b.String()
}

// Settle waits up to patience until all resources and goroutines that are not in before have
// disappeared. If some have not, it returns a *LeakError with them.
func Settle(before Snapshot, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		now := Now()
		leak := &LeakError{Counts: now.Counts.Over(before.Counts)}
		for _, id := range slices.Sorted(maps.Keys(now.Goroutines)) {
			if _, was := before.Goroutines[id]; !was {
				leak.Goroutines = append(leak.Goroutines, now.Goroutines[id])
			}
		}
		if len(leak.Counts) == 0 && len(leak.Goroutines) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			if len(leak.Counts) > 0 {
				leak.Stacks = jsx.LiveStacks()
			}
			return leak
		}
		// Yield and sleep: goroutines need turns of Go to end, and callbacks turns of the browser.
		_ = jsx.Yield(context.Background())
		time.Sleep(5 * time.Millisecond)
	}
}

// own are prefixes of functions of the standard library whose goroutines stay.
var own = []string{
	"os/signal.",
	"testing.(*M).",
	"testing.runTests",
	"testing.(*F).Fuzz",
	"internal/fuzz.",
}

func dump() string {
	for n := 1 << 16; ; n *= 2 {
		b := make([]byte, n)
		if got := runtime.Stack(b, true); got < n {
			return string(b[:got])
		}
	}
}

// parse returns the goroutines of a dump by number. It leaves out the first, which is the caller,
// those that run only the runtime, and the standard library's own.
func parse(dump string) map[string]string {
	all := map[string]string{}
	for i, g := range strings.Split(strings.TrimSpace(dump), "\n\n") {
		head, rest, _ := strings.Cut(g, "\n")
		fields := strings.Fields(head)
		if i > 0 && len(fields) >= 2 && fields[0] == "goroutine" && !excused(rest) {
			all[fields[1]] = g
		}
	}
	return all
}

func excused(stack string) bool {
	onlyRuntime := true
	for line := range strings.SplitSeq(stack, "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // the file
		}
		fn, made := strings.CutPrefix(line, "created by ")
		for _, p := range own {
			if strings.HasPrefix(fn, p) {
				return true
			}
		}
		onlyRuntime = onlyRuntime && !made && strings.HasPrefix(fn, "runtime.")
	}
	return onlyRuntime
}
