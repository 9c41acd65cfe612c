package fetch

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// Request is an HTTP request. A transport never follows redirects.
type Request struct {
	Method string // GET if empty
	URL    string
	Header map[string]string
	Body   []byte // nil sends no body
}

// Response is an HTTP response. The caller must close its Body, which is read while it arrives.
type Response struct {
	Status int // HTTP status, such as 200
	// Header has names in lower case. In a page it contains only these: content-type,
	// content-length, retry-after, retry-after-ms, location, mcp-session-id and x-request-id. Of
	// another origin's response, a page sees only the headers that the server exposes by CORS.
	Header map[string]string
	Body   io.ReadCloser
}

// A Transport sends requests. The context of Do applies until the response's body is closed.
type Transport interface {
	Do(ctx context.Context, r Request) (*Response, error)
}

// TransportFunc is a function that implements [Transport].
type TransportFunc func(ctx context.Context, r Request) (*Response, error)

// Do returns the result of f.
func (f TransportFunc) Do(ctx context.Context, r Request) (*Response, error) { return f(ctx, r) }

// restingBody is a body that yields to the page between reads, because a server may send faster
// than the data is processed. It ends with its context.
type restingBody struct {
	io.ReadCloser
	ctx    context.Context
	budget jsx.Budget
}

// mostRead is the maximum number of bytes of one Read.
const mostRead = 32 << 10

func (b *restingBody) Read(p []byte) (int, error) {
	p = p[:min(len(p), mostRead)]
	if err := b.budget.Steps(b.ctx, len(p)); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// Event is an event of an event stream.
type Event struct {
	Name string // "message" if the server sent no name
	Data string
}

// maxEvent is the maximum length of a line, and of an event's data, in bytes.
const maxEvent = 8 << 20

// Events reads a text/event-stream and calls do for each event, until the stream ends. If do
// returns an error, Events returns it. An incomplete event at the end of the stream is dropped
// (HTML standard, server-sent events). An event of more than 8 MiB is [protocol.ErrResourceLimit].
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

// readLine returns a line, which ends with a line feed, a carriage return, or both. A last line
// without an end is dropped.
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
