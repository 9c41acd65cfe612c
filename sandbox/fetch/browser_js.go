package fetch

import (
	"context"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// Browser returns a transport over the page's fetch. It sends no cookies and no referrer, uses no
// cache and fails on redirects. The page's Content-Security-Policy must list the host.
func Browser() Transport { return TransportFunc(browserDo) }

func browserDo(ctx context.Context, r Request) (*Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	signal, stop := jsx.Signal(ctx)
	done := func() { stop(); cancel() }
	blocked, unheard := violations(r.URL)
	res, err := send(ctx, r, signal)
	if err != nil {
		cause := context.Cause(ctx)
		defer unheard()
		defer done()
		if cause != nil {
			return nil, cause
		}
		select {
		case <-blocked:
			return nil, protocol.Errorf(protocol.ErrExecution, "fetch", r.URL, "the page's Content-Security-Policy does not list the host, so nothing was sent: add it to headers.json, {\"connect\": [%q]}, or to \"page\" of policy.json", hostOf(r.URL))
		case <-time.After(violationGrace):
		}
		// The browser does not reveal more to a page, so that pages can't explore the network.
		return nil, protocol.Errorf(protocol.ErrExecution, "fetch", r.URL, "no answer: the server at %s is not there, redirects, or does not let pages of %s read (CORS); the page's Content-Security-Policy did not block it", hostOf(r.URL), origin())
	}
	unheard()
	out, err := response(res)
	if err != nil {
		done()
		return nil, err
	}
	body, err := jsx.Get(res, "body")
	if err != nil || jsx.Nullish(body) {
		out.Body = &streamBody{ctx: ctx, done: done, ended: true}
		return out, err
	}
	reader, err := jsx.Call(body, "getReader")
	if err != nil {
		done()
		return nil, err
	}
	out.Body = &restingBody{ReadCloser: &streamBody{ctx: ctx, reader: reader, done: done}, ctx: ctx}
	return out, nil
}

// violationGrace is how long after a failed request the browser's report of a violation may come. It is a
// task of its own, which Chromium queues before the request fails.
const violationGrace = 100 * time.Millisecond

// violations returns a channel that is closed if the page's policy blocks a request to the URL, and a function
// that ends the listening.
func violations(at string) (blocked <-chan struct{}, unheard func()) {
	out := make(chan struct{})
	scope := jsx.NewScope(jsx.ScopeOptions{})
	unheard = func() { _ = scope.Close() }
	var once sync.Once
	_, err := scope.Listen(jsx.Global(), "securitypolicyviolation", func(e jsx.Value) {
		directive, _ := jsx.GetString(e, "effectiveDirective", 100)
		uri, _ := jsx.GetString(e, "blockedURI", 8<<10)
		mode, _ := jsx.GetString(e, "disposition", 20)
		if directive == "connect-src" && mode == "enforce" && uri != "" && strings.HasPrefix(at, uri) {
			once.Do(func() { close(out) })
		}
	})
	if err != nil {
		unheard()
		return nil, func() {}
	}
	return out, unheard
}

// hostOf returns the host of a URL with its port, as headers.json has it.
func hostOf(at string) string {
	if u, err := url.Parse(at); err == nil {
		return u.Host
	}
	return at
}

// origin returns the page's origin.
func origin() string {
	s, _ := jsx.GetString(jsx.Global(), "origin", 1000)
	return s
}

func send(ctx context.Context, r Request, signal jsx.Value) (jsx.Value, error) {
	method := r.Method
	if method == "" {
		method = "GET"
	}
	headers := map[string]any{}
	for k, v := range r.Header {
		headers[k] = v
	}
	init := map[string]any{"method": method, "headers": headers, "signal": signal, "credentials": "omit", "referrerPolicy": "no-referrer",
		"cache": "no-store", "redirect": "error", "mode": "cors", "keepalive": false}
	if r.Body != nil {
		body, err := jsx.FromBytes(r.Body)
		if err != nil {
			return jsx.Undefined(), err
		}
		init["body"] = body
	}
	return jsx.CallAwait(ctx, jsx.Global(), "fetch", r.URL, init)
}

// shown are the response headers that this module uses.
var shown = []string{"content-type", "content-length", "retry-after", "location", "mcp-session-id", "x-request-id", "retry-after-ms", "www-authenticate"}

func response(res jsx.Value) (*Response, error) {
	status, err := jsx.GetInt(res, "status")
	if err != nil {
		return nil, err
	}
	out := &Response{Status: status, Header: map[string]string{}}
	headers, err := jsx.Get(res, "headers")
	if err != nil {
		return nil, err
	}
	for _, name := range shown {
		v, err := jsx.Call(headers, "get", name)
		if err != nil {
			return nil, err
		}
		if jsx.Nullish(v) {
			continue
		}
		if text, err := jsx.String(v, 8<<10); err == nil {
			out.Header[strings.ToLower(name)] = text
		}
	}
	return out, nil
}

// streamBody reads a ReadableStream.
type streamBody struct {
	ctx    context.Context
	reader jsx.Value
	rest   []byte
	done   func()
	ended  bool
}

// maxPiece is the maximum size of a chunk of a stream, in bytes.
const maxPiece = 64 << 20

func (s *streamBody) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.ended {
			return 0, io.EOF
		}
		piece, err := jsx.CallAwait(s.ctx, s.reader, "read")
		if err != nil {
			if cause := context.Cause(s.ctx); cause != nil {
				return 0, cause
			}
			return 0, io.ErrUnexpectedEOF // the connection broke, and the browser gives no reason
		}
		if s.ended, err = jsx.GetBool(piece, "done"); err != nil || s.ended {
			continue
		}
		value, err := jsx.Get(piece, "value")
		if err != nil {
			return 0, err
		}
		if s.rest, err = jsx.Bytes(value, maxPiece); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close ends the request.
func (s *streamBody) Close() error {
	s.ended, s.rest = true, nil
	s.done()
	return nil
}
