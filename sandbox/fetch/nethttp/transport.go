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

// New makes a transport over a client; nil is one of its own, without cookies. It never
// follows redirects: who asked decides about each hop.
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
