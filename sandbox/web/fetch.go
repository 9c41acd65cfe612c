package web

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/bailey-go/bailey/internal/legible"
	"github.com/bailey-go/bailey/protocol"
	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/fetch"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// maxHops is the maximum number of redirects in one web_fetch. Each is decided like the first
// request. In a page it follows none, because the browser does not reveal them.
const maxHops = 5

// Fetch returns the tool web_fetch over a broker. If b is nil, the tool is listed as missing.
func Fetch(b *Broker) sandbox.Tool {
	t := sandbox.Tool{
		Tool: protocol.Tool{ID: "web_fetch", Requires: []protocol.Grant{{Capability: protocol.NetFetch}}, Time: 30e9,
			Description: "Fetches a page by its https address and returns it as Markdown, or as it is if it is no HTML.",
			Parameters:  `{"type":"object","properties":{"url":{"type":"string","minLength":1,"maxLength":8192}},"required":["url"],"additionalProperties":false}`},
		Needs: func(_ context.Context, c *sandbox.Call) ([]policy.Need, error) {
			target, err := b.Target(address(c))
			if err != nil {
				return nil, err
			}
			return []policy.Need{{Capability: protocol.NetFetch, Subject: target, Words: "fetch " + address(c)}}, nil
		},
		Run:  func(ctx context.Context, c *sandbox.Call) (any, error) { return b.fetch(ctx, c) },
		Text: "content",
	}
	if b == nil {
		t.Missing = "there is no way to the network; give it a broker"
	}
	return t
}

func address(c *sandbox.Call) string {
	m, _ := c.Args.(map[string]any)
	s, _ := m["url"].(string)
	return s
}

func (b *Broker) fetch(ctx context.Context, c *sandbox.Call) (any, error) {
	at, permit := address(c), c.Permit
	for hop := 0; ; hop++ {
		res, err := b.Do(ctx, permit, fetch.Request{URL: at, Header: map[string]string{"accept": "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.1"}})
		if err != nil {
			return nil, b.failed(err)
		}
		next := res.Header["location"]
		if res.Status < 300 || res.Status > 399 || next == "" {
			defer res.Body.Close()
			return b.page(ctx, res, at)
		}
		res.Body.Close()
		if hop == maxHops {
			return nil, protocol.Errorf(protocol.ErrExecution, "web_fetch", "", "more than %d redirects", maxHops)
		}
		if at, err = resolve(at, next); err != nil {
			return nil, err
		}
		target, err := b.Target(at)
		if err != nil {
			return nil, err
		}
		if permit, err = c.Acquire(ctx, policy.Need{Capability: protocol.NetFetch, Subject: target, Words: "follow the redirect to " + at}); err != nil {
			return nil, err
		}
	}
}

func resolve(base, ref string) (string, error) {
	u, err := url.Parse(base)
	if err == nil {
		u, err = u.Parse(ref)
	}
	if err != nil {
		return "", protocol.Errorf(protocol.ErrExecution, "web_fetch", "", "the server redirects to an invalid address")
	}
	return u.String(), nil
}

func (b *Broker) failed(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) {
		return e
	}
	return protocol.Errorf(protocol.ErrExecution, "web_fetch", "", "the server did not answer")
}

func (b *Broker) page(ctx context.Context, res *fetch.Response, at string) (any, error) {
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, b.failed(err)
	}
	kind, _, _ := strings.Cut(strings.ToLower(res.Header["content-type"]), ";")
	if kind = strings.TrimSpace(kind); kind != "" && !mediaType(kind) && !b.o.raw { // the server's words, which the model reads
		kind = "application/octet-stream"
	}
	text := strings.ToValidUTF8(string(data), "\uFFFD")
	switch {
	case kind == "text/html" || kind == "application/xhtml+xml":
		if text, err = markdown(ctx, text, at); err != nil {
			return nil, err
		}
		if !b.o.raw {
			text = legible.Text(text)
		}
	case strings.HasPrefix(kind, "text/"), kind == "", kind == "application/json", strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"), kind == "application/xml", kind == "application/javascript":
	default:
		return nil, protocol.Errorf(protocol.ErrExecution, "web_fetch", "", "the answer is %s, and no text (%d bytes)", kind, len(data)).WithReason(protocol.ReasonParse)
	}
	return map[string]any{"url": at, "status": float64(res.Status), "content_type": kind, "content": b.clean(text)}, nil
}

// mediaType reports whether a text is a media type, such as text/html, in at most 100 characters.
func mediaType(s string) bool {
	major, minor, ok := strings.Cut(s, "/")
	return ok && len(s) <= 100 && major != "" && minor != "" && strings.Trim(major+minor, "abcdefghijklmnopqrstuvwxyz0123456789!#$&^_.+-") == ""
}
