package jsxtest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
)

type tests func() int

func (f tests) Run() int { return f() }

func TestACleanRunPasses(t *testing.T) {
	code := Run(tests(func() int {
		done := jsx.Track(jsx.Frames)
		time.AfterFunc(20*time.Millisecond, done) // gone after a moment
		return 0
	}))
	if code != 0 {
		t.Fatalf("code %d, want 0", code)
	}
}

func TestARunThatFailsKeepsItsCode(t *testing.T) {
	if code := Run(tests(func() int { return 2 })); code != 2 {
		t.Fatalf("code %d, want 2", code)
	}
}

func TestWhatIsLeftIsNamed(t *testing.T) {
	jsx.TraceLive(true)
	defer jsx.TraceLive(false)
	before := Now()
	done := jsx.Track(jsx.Ports)
	stop := make(chan struct{})
	go func() { <-stop }()
	err := Settle(before, 30*time.Millisecond)
	var leak *LeakError
	if !errors.As(err, &leak) {
		t.Fatalf("Settle = %v, want a *LeakError", err)
	}
	if leak.Counts[jsx.Ports] != 1 || len(leak.Goroutines) != 1 || len(leak.Stacks) != 1 {
		t.Errorf("counts %v, %d goroutines, %d stacks; want ports 1, 1, 1", leak.Counts, len(leak.Goroutines), len(leak.Stacks))
	}
	for _, want := range []string{"ports 1", "goroutines 1", "TestWhatIsLeftIsNamed"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the report does not say %q:\n%v", want, err)
		}
	}
	done()
	close(stop)
	if err := Settle(before, Patience); err != nil {
		t.Errorf("after the release: %v", err)
	}
}

func TestARunThatLeavesSomethingFails(t *testing.T) {
	var done func()
	var out strings.Builder
	code := run(tests(func() int { done = jsx.Track(jsx.Workers); return 0 }), 30*time.Millisecond, &out)
	done()
	if code != 1 || !strings.Contains(out.String(), "workers 1") {
		t.Fatalf("code %d, want 1; said %q", code, out.String())
	}
}

func TestOnlyTheRuntimesOwnIsExcused(t *testing.T) {
	for stack, want := range map[string]bool{
		"runtime.gopark(0x0)\n\t/proc.go:1\nruntime.handleEvent()\n\t/lock_js.go:2":                true,
		"os/signal.signal_recv()\n\t/sigqueue.go:1\nos/signal.loop()\n\t/x.go:1":                   true,
		"runtime.gopark(0x0)\n\t/proc.go:1\nmain.main.func1()\n\t/main.go:2":                       false,
		"main.main.func1()\n\t/main.go:2\ncreated by main.main in goroutine 1\n\t/main.go:1":       false,
		"runtime.gopark(0x0)\n\t/p.go:1\ncreated by main.main in goroutine 1\n\t/main.go:1":        false,
		"goroutine running on other thread; stack unavailable\ncreated by x.y in goroutine 1\n\tz": false,
	} {
		if got := excused(stack); got != want {
			t.Errorf("excused(%q) = %v, want %v", stack, got, want)
		}
	}
}
