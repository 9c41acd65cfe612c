package eventstream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// The limit is that of a line and of an event's data.
func TestEventsHaveALimit(t *testing.T) {
	const most = 50
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		text string
		data int // bytes, or -1 for an error
	}{
		"a line at the limit": {"data:" + x(most-5) + "\n\n", most - 5},
		"a line above it":     {"data:" + x(most-4) + "\n\n", -1},
		"another field":       {"event:" + x(most-5) + "\n\n", -1},
		"lines at the limit":  {"data:" + x(25) + "\ndata:" + x(24) + "\n\n", most},
		"lines above it":      {"data:" + x(25) + "\ndata:" + x(25) + "\n\n", -1},
		"a line without end":  {"data:" + x(most), -1},
	} {
		got := 0
		err := eventstream.ReadUpTo(strings.NewReader(c.text), most, func(e eventstream.Event) error {
			got = len(e.Data)
			return nil
		})
		if c.data < 0 != errors.Is(err, protocol.ErrResourceLimit) || c.data >= 0 && (err != nil || got != c.data) {
			t.Errorf("%s: %d bytes, %v", name, got, err)
		}
	}
}
