//go:build !js

package nethttp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/bailey-go/bailey/sandbox/fetch"
)

// New returns a transport over a copy of c. With nil it uses a client of its own, without cookies.
// It never follows redirects: the caller receives the redirect and decides about the next request.
func New(c *http.Client) fetch.Transport {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return fetch.TransportFunc(func(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
		var body io.Reader
		if r.Body != nil {
			body = bytes.NewReader(r.Body)
		}
		req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, body)
		if err != nil {
			return nil, err
		}
		for k, v := range r.Header {
			req.Header.Set(k, v)
		}
		res, err := own.Do(req)
		if err != nil {
			return nil, err
		}
		out := &fetch.Response{Status: res.StatusCode, Header: map[string]string{}, Body: res.Body}
		for k := range res.Header {
			out.Header[strings.ToLower(k)] = res.Header.Get(k)
		}
		return out, nil
	})
}
