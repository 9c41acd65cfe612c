package fetch

import (
	"context"
	"io"

	"github.com/bailey-go/bailey/internal/jsx"
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
	// content-length, retry-after, retry-after-ms, location, mcp-session-id, www-authenticate and x-request-id. Of
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
