package sandbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
)

// The watchdog of an enclave without a box refuses names, repetitions and sequences.
func TestWatchOfAnEnclave(t *testing.T) {
	now := time.Unix(0, 0)
	check, err := sandbox.WatchOptions{Now: func() time.Time { return now }, Allow: `[a-z_]+`, Deny: []string{"admin_.*"}, Repeats: 2}.Authorize()
	if err != nil {
		t.Fatal(err)
	}
	tool := func(id string, c ...protocol.Capability) *protocol.Tool {
		out := &protocol.Tool{ID: id}
		for _, c := range c {
			out.Requires = append(out.Requires, protocol.Grant{Capability: c})
		}
		return out
	}
	for _, c := range []struct {
		name string
		tool *protocol.Tool
		want bool
	}{
		{"a tool", tool("weather"), true},
		{"a name that is denied", tool("admin_reset"), false},
		{"a name that is not allowed", tool("Weather"), false},
		{"again", tool("weather"), true},
		{"a third time within 5 s", tool("weather"), false},
		{"the beginning of a sequence", tool("list_users"), true},
		{"its end", tool("post", protocol.FSRead, protocol.NetFetch), false},
	} {
		if err := check(t.Context(), c.tool, nil); (err == nil) != c.want || err != nil && !errors.Is(err, protocol.ErrCapabilityDenied) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	now = now.Add(time.Hour)
	if err := check(t.Context(), tool("weather"), nil); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if _, err := (sandbox.WatchOptions{Deny: []string{"("}}).Authorize(); !errors.Is(err, protocol.ErrInvalidParams) {
		t.Errorf("a bad expression: %v", err)
	}
}
