package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func TestSessionRecords(t *testing.T) {
	at := time.Unix(1000, 0).UTC()
	session := sandbox.SessionRecord{ID: "s1", Agent: "a", Permissions: policy.Rules{{Permission: "write", Action: protocol.ActionAsk, Source: policy.SourceUser, AddedAt: time.Unix(1, 0)}}, CreatedAt: at, UpdatedAt: at}
	message := sandbox.MessageRecord{ID: "m1", SessionID: "s1", Role: sandbox.RoleUser, Metadata: sandbox.MessageMetadata{SnapshotID: "x", HiddenAt: at}, CreatedAt: at, UpdatedAt: at}
	part := sandbox.PartRecord{ID: "p1", MessageID: "m1", SessionID: "s1", Type: "tool-read", ToolCallID: "c1", ToolState: sandbox.ToolInputAvailable, CreatedAt: at, UpdatedAt: at}
	for _, v := range []interface{ Validate() error }{&session, &message, &part} {
		if err := v.Validate(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(*sandbox.SessionRecord){
		"id": func(s *sandbox.SessionRecord) { s.ID = "" }, "long id": func(s *sandbox.SessionRecord) { s.ID = strings.Repeat("a", 65) },
		"own parent": func(s *sandbox.SessionRecord) { s.ParentID = "s1" }, "parent": func(s *sandbox.SessionRecord) { s.ParentID = "?" },
		"message alone": func(s *sandbox.SessionRecord) { s.ParentMessageID = "m" }, "tokens": func(s *sandbox.SessionRecord) { s.InputTokens = -1 },
		"time": func(s *sandbox.SessionRecord) { s.UpdatedAt = at.Add(-1) }, "rules": func(s *sandbox.SessionRecord) { s.Permissions = policy.Rules{{}} },
	} {
		s := session
		change(&s)
		if s.Validate() == nil {
			t.Errorf("session, %s: taken", name)
		}
	}
	for name, change := range map[string]func(*sandbox.MessageRecord){
		"id": func(m *sandbox.MessageRecord) { m.ID = "a/b" }, "session": func(m *sandbox.MessageRecord) { m.SessionID = "" },
		"role": func(m *sandbox.MessageRecord) { m.Role = "root" }, "snapshot": func(m *sandbox.MessageRecord) { m.Metadata.SnapshotID = "../x" },
		"time": func(m *sandbox.MessageRecord) { m.CreatedAt = at.Add(1) },
	} {
		m := message
		change(&m)
		if m.Validate() == nil {
			t.Errorf("message, %s: taken", name)
		}
	}
	for name, change := range map[string]func(*sandbox.PartRecord){
		"id": func(p *sandbox.PartRecord) { p.ID = "" }, "index": func(p *sandbox.PartRecord) { p.Index = -1 }, "type": func(p *sandbox.PartRecord) { p.Type = "" },
		"bad type": func(p *sandbox.PartRecord) { p.Type = "a b" }, "state alone": func(p *sandbox.PartRecord) { p.ToolCallID = "" },
		"call alone": func(p *sandbox.PartRecord) { p.ToolState = "" }, "state": func(p *sandbox.PartRecord) { p.ToolState = "done" },
		"long call": func(p *sandbox.PartRecord) { p.ToolCallID = strings.Repeat("a", 257) }, "time": func(p *sandbox.PartRecord) { p.UpdatedAt = at.Add(-1) },
	} {
		p := part
		change(&p)
		if p.Validate() == nil {
			t.Errorf("part, %s: taken", name)
		}
	}
	if !part.Orphaned() || (&sandbox.PartRecord{Type: "text"}).Orphaned() {
		t.Error("Orphaned")
	}
	states := []sandbox.ToolState{sandbox.ToolInputStreaming, sandbox.ToolInputAvailable, sandbox.ToolOutputAvailable, sandbox.ToolOutputError}
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
	var back sandbox.SessionRecord
	tree, err := protocol.ParseJSON(text, protocol.JSONLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if err := protocol.Unmarshal(tree, &back); err != nil || back.ID != "s1" || !back.CreatedAt.Equal(at) || len(back.Permissions) != 1 {
		t.Errorf("%v %+v", err, back)
	}
}

func TestBoundsOfRecords(t *testing.T) {
	part := func(kind string) *sandbox.PartRecord {
		return &sandbox.PartRecord{ID: "p", MessageID: "m", SessionID: "s", Type: kind}
	}
	for name, c := range map[string][2]error{
		"an id's bytes":       {(&sandbox.SessionRecord{ID: strings.Repeat("a", 64)}).Validate(), (&sandbox.SessionRecord{ID: strings.Repeat("a", 65)}).Validate()},
		"a part type's bytes": {part(strings.Repeat("a", 128)).Validate(), part(strings.Repeat("a", 129)).Validate()},
	} {
		if c[0] != nil {
			t.Errorf("%s, at the limit: %v", name, c[0])
		}
		if c[1] == nil {
			t.Errorf("%s, above the limit: taken", name)
		}
	}
}
