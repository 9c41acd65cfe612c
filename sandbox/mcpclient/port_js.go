package mcpclient

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// Limits of a port. Beyond them the connection ends. Each message is read on the page's own thread, also one that
// nobody waits for.
const (
	maxMessage = 8 << 20  // UTF-16 units of one message
	maxWaiting = 16 << 20 // UTF-8 bytes of all waiting messages
	maxQueued  = 1000     // number of waiting messages
	maxBurst   = 1000     // number of messages at once, and in each 10 s. A page on a slow machine reads some hundreds a second
)

// portTransport carries messages over a MessagePort in the form of HTTP, so that a server in the page is like
// any other. A request's answer is a stream, which gets the response of its id, and the server's other
// messages. Without an open request those go to the stream for announcements, or are dropped.
type portTransport struct {
	scope *jsx.Scope
	port  *jsx.Port

	mu   sync.Mutex
	open []*portBody
	gone bool
	left float64   // messages that may come now
	seen time.Time // when left was counted
	now  func() time.Time
}

func newPort(v any) (fetch.Transport, error) {
	raw, ok := v.(jsx.Raw)
	if !ok {
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", "", "Port must be a js.Value")
	}
	s := jsx.NewScope(jsx.ScopeOptions{})
	port, err := s.Port(jsx.FromRaw(raw))
	if err != nil {
		_ = s.Close()
		return nil, protocol.Errorf(protocol.ErrInvalidParams, "connect", "", "Port must be a MessagePort")
	}
	t := &portTransport{scope: s, port: port, left: maxBurst, seen: time.Now(), now: time.Now}
	err = port.OnMessage(func(m jsx.Message) {
		text, err := jsx.String(m.Data, maxMessage)
		if err != nil || text == "" || !t.may() {
			t.end()
			return
		}
		t.take(text)
	})
	if err == nil { // the window or worker with the other side is gone. Chromium 156 does not tell
		_, err = s.Listen(jsx.FromRaw(raw), "close", func(jsx.Value) { t.end() })
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return t, nil
}

// may reports whether one more message may come.
func (t *portTransport) may() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.left = min(maxBurst, t.left+now.Sub(t.seen).Seconds()*maxBurst/10) - 1
	t.seen = now
	return t.left >= 0 && !t.gone
}

// take gives a message to the stream that it is for.
func (t *portTransport) take(text string) {
	var m message
	if json.Unmarshal([]byte(text), &m) != nil {
		t.end()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var to *portBody
	for _, b := range t.open {
		if m.Method == "" && b.id == string(m.ID) && b.id != "" {
			to = b
			break
		}
		if m.Method != "" && (to == nil || to.id == "") {
			to = b
		}
	}
	if to == nil {
		return
	}
	text = strings.NewReplacer("\n", " ", "\r", " ").Replace(text) // between the parts of JSON
	_ = to.in.Push("data: " + text + "\n\n")                       // beyond the limits, Push fails the queue
	if m.Method == "" {
		_ = to.in.Push("")
	}
}

// end ends all streams, tells the other side, and closes the port. That side has closed it, has sent what is no message,
// or too many.
func (t *portTransport) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return
	}
	t.gone = true
	_ = t.port.Post("")
	defer t.scope.Close()
	for _, b := range t.open {
		b.in.Fail(io.ErrUnexpectedEOF)
	}
}

// Do implements [fetch.Transport].
func (t *portTransport) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	none := &fetch.Response{Status: 202, Header: map[string]string{}, Body: io.NopCloser(eof{})}
	if r.Method == "DELETE" {
		return none, nil
	}
	var m message
	if r.Body != nil {
		if err := json.Unmarshal(r.Body, &m); err != nil {
			return nil, err
		}
	}
	var b *portBody
	if r.Body == nil || m.Method != "" && len(m.ID) > 0 {
		in, err := jsx.NewQueue(jsx.QueueOptions[string]{Max: maxQueued, MaxWeight: maxWaiting, Weigh: func(s string) int { return len(s) }, Full: jsx.CloseFull})
		if err != nil {
			return nil, err
		}
		b = &portBody{ctx: ctx, t: t, id: string(m.ID), in: in}
		t.mu.Lock()
		if t.gone {
			t.mu.Unlock()
			return nil, protocol.Errorf(protocol.ErrExecution, "fetch", "", "the server in the page has closed its port")
		}
		t.open = append(t.open, b)
		t.mu.Unlock()
	}
	if r.Body != nil {
		if err := t.port.Post(string(r.Body)); err != nil {
			if b != nil {
				_ = b.Close()
			}
			return nil, err
		}
	}
	if b == nil {
		return none, nil
	}
	return &fetch.Response{Status: 200, Header: map[string]string{"content-type": "text/event-stream"}, Body: b}, nil
}

// Close implements [io.Closer].
func (t *portTransport) Close() error {
	t.end()
	return nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// portBody is the stream of one request, or with no id that of announcements.
type portBody struct {
	ctx  context.Context
	t    *portTransport
	id   string
	in   *jsx.Queue[string]
	rest string
}

func (b *portBody) Read(p []byte) (int, error) {
	for b.rest == "" {
		text, err := b.in.Recv(b.ctx)
		if err != nil {
			return 0, err
		}
		if text == "" {
			return 0, io.EOF
		}
		b.rest = text
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *portBody) Close() error {
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	for i, o := range b.t.open {
		if o == b {
			b.t.open = append(b.t.open[:i:i], b.t.open[i+1:]...)
			break
		}
	}
	_ = b.in.Close()
	return nil
}
