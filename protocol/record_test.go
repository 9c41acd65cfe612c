package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/ids"
	"github.com/bailey-go/bailey/protocol"
)

func ExampleRing() {
	ring := protocol.NewRing[string](2)
	for _, s := range []string{"a", "b", "c"} {
		ring.Add(s)
	}
	fmt.Println(ring.All(), ring.Total())
	ring.Clear()
	fmt.Println(ring.All(), ring.Total())
	// Output:
	// [b c] 3
	// [] 3
}

func TestRing(t *testing.T) {
	var zero protocol.Ring[int]
	for i := range 250 {
		zero.Add(i)
	}
	if all := zero.All(); len(all) != 100 || all[0] != 150 || all[99] != 249 || !slices.IsSorted(all) {
		t.Errorf("%v", all)
	}
	zero.Clear()
	zero.Add(7)
	if all := zero.All(); len(all) != 1 || all[0] != 7 || zero.Total() != 251 {
		t.Errorf("%v %d", all, zero.Total())
	}
	r := protocol.NewRing[int](3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 1000 {
				r.Add(i)
				if i%100 == 0 {
					r.Clear()
				}
			}
		})
	}
	wg.Wait()
	if r.Total() != 8000 || len(r.All()) > 3 {
		t.Errorf("%d %v", r.Total(), r.All())
	}
}

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

func TestSessionRecords(t *testing.T) {
	at := time.Unix(1000, 0).UTC()
	session := protocol.SessionRecord{ID: "s1", Agent: "a", Permissions: protocol.Rules{rule("write", "", "ask", "user")}, CreatedAt: at, UpdatedAt: at}
	message := protocol.MessageRecord{ID: "m1", SessionID: "s1", Role: protocol.RoleUser, Metadata: protocol.MessageMetadata{SnapshotID: "x", HiddenAt: at}, CreatedAt: at, UpdatedAt: at}
	part := protocol.PartRecord{ID: "p1", MessageID: "m1", SessionID: "s1", Type: "tool-read", ToolCallID: "c1", ToolState: protocol.ToolInputAvailable, CreatedAt: at, UpdatedAt: at}
	for _, v := range []interface{ Validate() error }{&session, &message, &part} {
		if err := v.Validate(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(*protocol.SessionRecord){
		"id": func(s *protocol.SessionRecord) { s.ID = "" }, "long id": func(s *protocol.SessionRecord) { s.ID = strings.Repeat("a", 65) },
		"own parent": func(s *protocol.SessionRecord) { s.ParentID = "s1" }, "parent": func(s *protocol.SessionRecord) { s.ParentID = "?" },
		"message alone": func(s *protocol.SessionRecord) { s.ParentMessageID = "m" }, "tokens": func(s *protocol.SessionRecord) { s.InputTokens = -1 },
		"time": func(s *protocol.SessionRecord) { s.UpdatedAt = at.Add(-1) }, "rules": func(s *protocol.SessionRecord) { s.Permissions = protocol.Rules{{}} },
	} {
		s := session
		change(&s)
		if s.Validate() == nil {
			t.Errorf("session, %s: taken", name)
		}
	}
	for name, change := range map[string]func(*protocol.MessageRecord){
		"id": func(m *protocol.MessageRecord) { m.ID = "a/b" }, "session": func(m *protocol.MessageRecord) { m.SessionID = "" },
		"role": func(m *protocol.MessageRecord) { m.Role = "root" }, "snapshot": func(m *protocol.MessageRecord) { m.Metadata.SnapshotID = "../x" },
		"time": func(m *protocol.MessageRecord) { m.CreatedAt = at.Add(1) },
	} {
		m := message
		change(&m)
		if m.Validate() == nil {
			t.Errorf("message, %s: taken", name)
		}
	}
	for name, change := range map[string]func(*protocol.PartRecord){
		"id": func(p *protocol.PartRecord) { p.ID = "" }, "index": func(p *protocol.PartRecord) { p.Index = -1 }, "type": func(p *protocol.PartRecord) { p.Type = "" },
		"bad type": func(p *protocol.PartRecord) { p.Type = "a b" }, "state alone": func(p *protocol.PartRecord) { p.ToolCallID = "" },
		"call alone": func(p *protocol.PartRecord) { p.ToolState = "" }, "state": func(p *protocol.PartRecord) { p.ToolState = "done" },
		"long call": func(p *protocol.PartRecord) { p.ToolCallID = strings.Repeat("a", 257) }, "time": func(p *protocol.PartRecord) { p.UpdatedAt = at.Add(-1) },
	} {
		p := part
		change(&p)
		if p.Validate() == nil {
			t.Errorf("part, %s: taken", name)
		}
	}
	if !part.Orphaned() || (&protocol.PartRecord{Type: "text"}).Orphaned() {
		t.Error("Orphaned")
	}
	states := []protocol.ToolState{protocol.ToolInputStreaming, protocol.ToolInputAvailable, protocol.ToolOutputAvailable, protocol.ToolOutputError}
	for i, from := range states {
		for j, to := range states {
			want := i == j || i < j && i < 2
			if from.CanBecome(to) != want {
				t.Errorf("%s → %s: %t", from, to, !want)
			}
		}
	}
	// A record is the same JSON by encoding/json and by the codec of this package, and
	// comes back.
	for _, v := range []any{session, message, part} {
		text, err := protocol.EncodeJSON(v, protocol.JSONLimits{})
		if err != nil {
			t.Fatal(err)
		}
		std, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if string(std) != text {
			t.Errorf("\n%s\n%s", std, text)
		}
	}
	text, _ := protocol.EncodeJSON(session, protocol.JSONLimits{})
	var back protocol.SessionRecord
	tree, err := protocol.ParseJSON(text, protocol.JSONLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := protocol.Unmarshal(tree, &back); err != nil || back.ID != "s1" || !back.CreatedAt.Equal(at) || len(back.Permissions) != 1 {
		t.Errorf("%v %+v", err, back)
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
