package fetch

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// Request is one request. Redirects are never followed by a transport.
type Request struct {
	Method string // GET if empty
	URL    string
	Header map[string]string
	Body   []byte
}

// Response is the answer as it comes. Whoever gets one closes its Body.
type Response struct {
	Status int
	// Header has the names in lower case. A page sees of a foreign server what its
	// CORS headers show.
	Header map[string]string
	Body   io.ReadCloser
}

// Transport sends requests. Do honours its context until the body is closed.
type Transport interface {
	Do(ctx context.Context, r Request) (*Response, error)
}

// TransportFunc is a function that is a [Transport].
type TransportFunc func(ctx context.Context, r Request) (*Response, error)

// Do calls f.
func (f TransportFunc) Do(ctx context.Context, r Request) (*Response, error) { return f(ctx, r) }

// restingBody is a body that gives the page its turn, for a server may send faster than its
// answer is read. It ends with its context.
type restingBody struct {
	io.ReadCloser
	ctx    context.Context
	budget jsx.Budget
}

// mostRead is how much of a body is handed out together.
const mostRead = 32 << 10

func (b *restingBody) Read(p []byte) (int, error) {
	p = p[:min(len(p), mostRead)]
	if err := b.budget.Steps(b.ctx, len(p)); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// Event is one event of an event stream.
type Event struct {
	Name string // "message" if the server gave none
	Data string
}

// maxEvent is how long a line, and all of an event, may be.
const maxEvent = 8 << 20

// Events reads a text/event-stream and calls do for each event, until the stream ends,
// or do returns an error, which is then the error. An event that the stream's end cut
// short is dropped, as the standard has it (HTML, server-sent events).
func Events(r io.Reader, do func(Event) error) error {
	in := bufio.NewReaderSize(r, 32<<10)
	var e Event
	var data strings.Builder
	lines := 0
	first := true
	for {
		line, err := readLine(in)
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
			e, lines = Event{}, 0
			data.Reset()
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.Name = value
		case "data":
			if lines++; lines > 1 {
				data.WriteByte('\n')
			}
			data.WriteString(value)
			if data.Len() > maxEvent {
				return tooLong()
			}
		}
	}
}

func tooLong() error {
	return protocol.Errorf(protocol.ErrResourceLimit, "stream", "", "an event has more than %d bytes", maxEvent)
}

// readLine reads up to a line feed, a carriage return, or both. A last line without an
// end is not one.
func readLine(in *bufio.Reader) (string, error) {
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
		if b.WriteByte(c); b.Len() > maxEvent {
			return "", tooLong()
		}
	}
}
