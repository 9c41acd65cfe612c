package sandbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// BenchmarkCall measures the cost of a call without its work: schema, policy, permit, traces and
// the audit log.
func BenchmarkCall(b *testing.B) {
	nothing := sandbox.Tool{Tool: protocol.Tool{ID: "nothing", Requires: []protocol.Grant{{Capability: protocol.FSRead}}, Parameters: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *sandbox.Call) ([]policy.Need, error) {
			return []policy.Need{{Capability: protocol.FSRead, Subject: "a/b.txt"}}, nil
		},
		Run: func(context.Context, *sandbox.Call) (any, error) { return map[string]any{"done": true}, nil }}
	h := build(b, parse(b, open), nil, nil, func(o *sandbox.Options) {
		o.Tools = append(sandbox.Standard(), nothing)
		o.Watch = &sandbox.WatchOptions{Rate: 100_000, Repeats: 100_000}
		o.OnTrace = nil
	})
	for b.Loop() {
		if res := h.Call(context.Background(), "nothing", args{"path": "a/b.txt"}); res.Err() != nil {
			if res.Code == protocol.ErrCapabilityDenied { // the watchdog's rate, on a fast machine
				continue
			}
			b.Fatal(res.ErrorText)
		}
	}
}

// BenchmarkAudit measures the cost of one line of the log.
func BenchmarkAudit(b *testing.B) {
	a := sandbox.NewAudit(nil)
	for b.Loop() {
		a.Note("something", time.Time{})
	}
}

// BenchmarkOpen opens a session of 10,000 messages from a folder.
func BenchmarkOpen(b *testing.B) {
	ctx := context.Background()
	folder := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	now := time.Unix(1, 0).UTC()
	rec := sandbox.SessionRecord{ID: "ses-b", Agent: "main", CreatedAt: now, UpdatedAt: now}
	var ms []sandbox.MessageRecord
	var ps []sandbox.PartRecord
	for i := range 10_000 {
		m := sandbox.MessageRecord{ID: fmt.Sprint("m", i), SessionID: rec.ID, Role: sandbox.RoleUser, CreatedAt: now, UpdatedAt: now}
		ms = append(ms, m)
		ps = append(ps, sandbox.PartRecord{ID: fmt.Sprint("p", i), MessageID: m.ID, SessionID: rec.ID, Type: "text", Data: args{"text": "a line of what somebody said, as long as lines are"}, CreatedAt: now, UpdatedAt: now})
	}
	must(b, sandbox.FolderStore(folder).Put(ctx, rec, ms, ps))
	for b.Loop() {
		h := build(b, &policy.Policy{}, nil, nil, func(o *sandbox.Options) { o.Sessions = sandbox.FolderStore(folder) })
		s, err := h.OpenSession(ctx, rec.ID)
		must(b, err)
		if n := len(s.Messages()); n != 10_000 {
			b.Fatal(n)
		}
		s.Close()
	}
}
