package btcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/internal/eventstream"
)

// message is a JSON-RPC message of any kind.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *problem        `json:"error,omitempty"`
}

type problem struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// link is one connection to a relay.
type link struct {
	o             Options
	session, kind string // the session of the stream, and "browser" or "agent"
	client        string // the relay's name for this connection, or ""
}

// errFinal is the error of a relay that will not accept the same request later.
type errFinal struct{ err error }

func (e errFinal) Error() string { return e.err.Error() }
func (e errFinal) Unwrap() error { return e.err }

// open opens the stream of events.
func (l *link) open(ctx context.Context) (io.ReadCloser, error) {
	q := url.Values{"sessionId": {l.session}, "clientType": {l.kind}, "version": {"1.0"}}
	ctx, cancel := context.WithCancelCause(ctx)
	res, err := l.do(ctx, fetch.Request{URL: l.o.URL + "/events?" + q.Encode(), Header: map[string]string{"accept": "text/event-stream"}})
	if err != nil {
		cancel(nil)
		return nil, err
	}
	stream := &stream{ReadCloser: res.Body, ctx: ctx, end: cancel, silent: l.errorf("the relay was silent for %v", maxSilence), fresh: true}
	if kind, _, _ := strings.Cut(res.Header["content-type"], ";"); !strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
		_ = stream.Close()
		return nil, errFinal{l.errorf("/events answered with %.80q: this is no relay of BTCP", kind)}
	}
	return stream, nil
}

// maxSilence is the longest time without a byte from a relay that sends comments as signs of life. Relays send one every 15 to 30 s.
const maxSilence = 2 * time.Minute

// stream is a relay's stream of events. After its first comment it has to go on: a computer that slept or has changed its network is
// not always told that a connection is lost. A relay without comments may be silent for any time.
type stream struct {
	io.ReadCloser
	ctx    context.Context // of the request, which end ends
	end    context.CancelCauseFunc
	silent error
	fresh  bool        // the next byte begins a line
	timer  *time.Timer // nil before the first comment
}

func (s *stream) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	for _, c := range b[:n] {
		if s.timer == nil && s.fresh && c == ':' {
			s.timer = time.AfterFunc(maxSilence, func() { s.end(s.silent) })
		}
		s.fresh = c == '\n' || c == '\r'
	}
	if s.timer != nil && n > 0 {
		s.timer.Reset(maxSilence)
	}
	if err != nil && context.Cause(s.ctx) == s.silent {
		err = s.silent
	}
	return n, err
}

func (s *stream) Close() error {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.end(nil)
	return s.ReadCloser.Close()
}

// read calls do for each message of a stream until it ends. A message that is no JSON-RPC is dropped.
func (l *link) read(body io.Reader, do func(message) error) error {
	err := eventstream.ReadUpTo(body, l.o.MaxBytes, func(e eventstream.Event) error {
		m, err := decode(e.Data)
		if err != nil {
			return nil
		}
		return do(m)
	})
	if err == nil {
		err = l.errorf("the relay ended the stream")
	}
	return err
}

// decode reads a message. Like the arguments of a model, it has no duplicate keys and no depth beyond the
// limit.
func decode(text string) (message, error) {
	var m message
	if _, err := protocol.ParseJSON(text, protocol.JSONLimits{Bytes: maxBytes}); err != nil {
		return m, err
	}
	err := json.Unmarshal([]byte(text), &m)
	return m, err
}

// post sends a message to a session.
func (l *link) post(ctx context.Context, session string, m message) error {
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		message
	}{"2.0", m})
	if err != nil {
		return errFinal{err}
	}
	if len(body) > l.o.MaxBytes {
		return errFinal{protocol.Errorf(protocol.ErrOutputTooLarge, "btcp", m.Method, "the message has %d bytes, and the limit is %d", len(body), l.o.MaxBytes)}
	}
	q := url.Values{"sessionId": {session}}
	if l.client != "" {
		q.Set("clientId", l.client)
	}
	res, err := l.do(ctx, fetch.Request{Method: "POST", URL: l.o.URL + "/message?" + q.Encode(), Header: map[string]string{"content-type": "application/json"}, Body: body})
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 4<<10))
	return res.Body.Close()
}

func (l *link) do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	if l.o.Token != "" {
		r.Header["authorization"] = "Bearer " + l.o.Token
	}
	res, err := l.o.Transport.Do(ctx, r)
	if err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, errFinal{err}
		}
		return nil, l.errorf("%v", err)
	}
	if res.Status >= 200 && res.Status < 300 {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
	err = l.errorf("the relay answered %d: %s", res.Status, l.clean(string(text)))
	switch res.Status {
	case 408, 425, 429, 500, 502, 503, 504:
		return nil, err
	}
	return nil, errFinal{err}
}

// clean returns a text of the relay's that can be shown: valid, on one line, and without the token.
func (l *link) clean(text string) string {
	if len(l.o.Token) >= 8 {
		text = strings.ReplaceAll(text, l.o.Token, "{{token}}")
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

func (l *link) errorf(format string, args ...any) error {
	return protocol.Errorf(protocol.ErrSession, "btcp", l.o.URL, format, args...)
}
