package protocol_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/protocol"
)

func TestTraceEvents(t *testing.T) {
	source, err := ids.New("run-1")
	if err != nil {
		t.Fatal(err)
	}
	good := protocol.TraceEvent{TraceID: source.Next(), ExecID: "e", Type: protocol.TraceTool, Status: "ok", Capability: protocol.FSRead, Decision: protocol.ActionAllow}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*protocol.TraceEvent){
		"no id":      func(e *protocol.TraceEvent) { e.TraceID = "" },
		"bad id":     func(e *protocol.TraceEvent) { e.TraceID = "a b" },
		"refused id": func(e *protocol.TraceEvent) { e.ExecID = "__proto__" },
		"own parent": func(e *protocol.TraceEvent) { e.ParentID = e.TraceID },
		"bad parent": func(e *protocol.TraceEvent) { e.ParentID = "?" },
		"bad root":   func(e *protocol.TraceEvent) { e.RootID = "?" },
		"type":       func(e *protocol.TraceEvent) { e.Type = "x" },
		"duration":   func(e *protocol.TraceEvent) { e.DurationMS = -1 },
		"NaN":        func(e *protocol.TraceEvent) { e.DurationMS = math.NaN() },
		"capability": func(e *protocol.TraceEvent) { e.Capability = "fly" },
		"decision":   func(e *protocol.TraceEvent) { e.Decision = "maybe" },
		"status":     func(e *protocol.TraceEvent) { e.Status = "fine" },
	} {
		e := good
		change(&e)
		if e.Validate() == nil {
			t.Errorf("%s: taken", name)
		}
	}
	seen := map[string]bool{}
	for range 1000 {
		id := source.Next()
		if seen[id] {
			t.Fatal("an id twice")
		}
		seen[id] = true
	}
	for _, p := range []string{"", "a b", strings.Repeat("a", 41)} {
		if _, err := ids.New(p); err == nil {
			t.Errorf("%q is taken", p)
		}
	}
	if _, err := ids.New(strings.Repeat("a", 40)); err != nil {
		t.Error(err)
	}
}

func TestRunResult(t *testing.T) {
	ok := protocol.RunResult{Success: true}
	bad := protocol.RunResult{Error: &protocol.RunError{Code: protocol.ErrTimeout, Name: "TimeoutError", Message: "5 s"}, Partial: true}
	if ok.Err() != nil || !errors.Is(bad.Err(), protocol.ErrTimeout) || bad.Err().Error() != "TimeoutError: 5 s (TIMEOUT)" {
		t.Errorf("%v", bad.Err())
	}
	if (&protocol.RunResult{}).Err() == nil {
		t.Error("a run that did not succeed has no error")
	}
}
