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

// An id and a time to retry hold until the server sends others.
func TestIDsLast(t *testing.T) {
	text := "id: 1\nretry: 500\ndata: a\n\nevent: x\ndata: b\n\nid: 2\n\ndata: c\n\nid: bad\x00\nid\ndata: d\n\n"
	got := ""
	err := eventstream.Read(strings.NewReader(text), func(e eventstream.Event) error {
		got += e.Name + " " + e.Data + " " + e.ID + " " + e.Retry + "\n"
		return nil
	})
	if want := "message a 1 500\nx b 1 500\nmessage c 2 500\nmessage d  500\n"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
