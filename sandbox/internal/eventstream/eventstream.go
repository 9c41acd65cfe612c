// Package eventstream reads a text/event-stream, as in the HTML standard, server-sent events.
package eventstream

import (
	"bufio"
	"io"
	"strings"

	"github.com/bailey-go/bailey/protocol"
)

// Event is an event of an event stream.
type Event struct {
	Name string // "message" if the server sent no name
	Data string
	// ID is the last id that the server sent, with this event or before it, and Retry the last time in
	// milliseconds after which it wants a cut stream to be continued, "" if it sent none.
	ID, Retry string
}

// MaxEvent is the maximum length of a line, and of an event's data, in bytes. See [Read].
const MaxEvent = 8 << 20

// Read reads an event stream and calls do for each event, until the stream ends. If do returns an
// error, Read returns it. An incomplete event at the end of the stream is dropped. An event of more than
// MaxEvent bytes is [protocol.ErrResourceLimit].
func Read(r io.Reader, do func(Event) error) error { return ReadUpTo(r, MaxEvent, do) }

// ReadUpTo is [Read] with another maximum length.
func ReadUpTo(r io.Reader, most int, do func(Event) error) error {
	in := bufio.NewReaderSize(r, 32<<10)
	var e Event
	var data strings.Builder
	lines := 0
	first := true
	for {
		line, err := readLine(in, most)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if first {
			line, first = strings.TrimPrefix(line, "\uFEFF"), false
		}
		if line == "" {
			if lines > 0 {
				e.Data = data.String()
				if e.Name == "" {
					e.Name = "message"
				}
				if err := do(e); err != nil {
					return err
				}
			}
			e, lines = Event{ID: e.ID, Retry: e.Retry}, 0
			data.Reset()
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.Name = value
		case "id":
			if !strings.Contains(value, "\x00") {
				e.ID = value
			}
		case "retry":
			e.Retry = value
		case "data":
			if lines++; lines > 1 {
				data.WriteByte('\n')
			}
			data.WriteString(value)
			if data.Len() > most {
				return tooLong(most)
			}
		}
	}
}

func tooLong(most int) error {
	return protocol.Errorf(protocol.ErrResourceLimit, "stream", "", "an event has more than %d bytes", most)
}

// readLine returns a line, which ends with a line feed, a carriage return, or both. A last line
// without an end is dropped.
func readLine(in *bufio.Reader, most int) (string, error) {
	var b strings.Builder
	for {
		c, err := in.ReadByte()
		if err != nil {
			return "", err
		}
		switch c {
		case '\n':
			return b.String(), nil
		case '\r':
			if next, err := in.Peek(1); err == nil && next[0] == '\n' {
				_, _ = in.ReadByte()
			}
			return b.String(), nil
		}
		if b.WriteByte(c); b.Len() > most {
			return "", tooLong(most)
		}
	}
}
