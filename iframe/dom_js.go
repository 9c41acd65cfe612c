package iframe

import (
	"context"
	"strconv"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
)

// connectionsClosed returns an error that wraps ErrLeaks, unless the page has a
// Connection-Allowlist that this browser enforces. If url is not empty, the page at url is
// checked. A script can't see the headers of its own page, so the address is requested again.
// Enforcement was first measured in Chromium 156.
func connectionsClosed(ctx context.Context, url string) error {
	if !enforcesAllowlist() {
		return leaksError("this browser is not known to enforce a Connection-Allowlist")
	}
	headers, href, err := headersOf(ctx, url)
	if err != nil {
		return leaksError("the headers of " + href + " can't be read (" + err.Error() + ")")
	}
	v, err := jsx.Call(headers, "get", "connection-allowlist")
	if err != nil {
		return err
	}
	if s, err := jsx.String(v, 64<<10); err != nil || s == "" {
		return leaksError(href + " has no Connection-Allowlist")
	}
	return nil
}

// headersOf requests the headers of the page at url, or of this page if it is empty. It also returns the
// whole address.
func headersOf(ctx context.Context, url string) (headers jsx.Value, href string, err error) {
	if href, err = frame.Address(url); err != nil {
		return headers, url, err
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	response, err := jsx.CallAwait(ctx, jsx.Global(), "fetch", href, map[string]any{"method": "HEAD", "cache": "no-store", "signal": signal})
	if err != nil {
		return headers, href, err
	}
	headers, err = jsx.Get(response, "headers")
	return headers, href, err
}

func enforcesAllowlist() bool {
	brands, err := jsx.Lookup(jsx.Global(), "navigator.userAgentData.brands")
	if err != nil || jsx.Nullish(brands) {
		return false
	}
	n, err := jsx.Length(brands)
	if err != nil {
		return false
	}
	for i := range n {
		b, err := jsx.Index(brands, i)
		if err != nil {
			return false
		}
		name, err := jsx.Get(b, "brand")
		if err != nil || !isString(name, "Chromium") {
			continue
		}
		v, err := jsx.Get(b, "version")
		if err != nil {
			return false
		}
		s, err := jsx.String(v, 16)
		if err != nil {
			return false
		}
		version, err := strconv.Atoi(s)
		return err == nil && version >= 156
	}
	return false
}

// place styles the outer frame and returns the element to append it to.
func (d *domFrame) place(el, page jsx.Value) (jsx.Value, error) {
	style, err := jsx.Get(el, "style")
	if err != nil {
		return el, err
	}
	props := [][2]string{{"display", "block"}, {"border", "0"}, {"width", "100%"}, {"height", strconv.Itoa(d.height) + "px"}}
	if !d.shown() {
		// The frame is laid out but invisible. With display none, measuring would return
		// nothing.
		props = [][2]string{{"position", "fixed"}, {"left", "0"}, {"top", "0"}, {"width", "1024px"}, {"height", "768px"}, {"border", "0"},
			{"visibility", "hidden"}, {"pointer-events", "none"}, {"z-index", "-1"}}
	}
	for _, p := range props {
		if _, err := jsx.Call(style, "setProperty", p[0], p[1]); err != nil {
			return el, err
		}
	}
	if d.shown() {
		for _, name := range []string{"aria-hidden", "tabindex"} {
			if _, err := jsx.Call(el, "removeAttribute", name); err != nil {
				return el, err
			}
		}
		if _, err := jsx.Call(el, "setAttribute", "title", d.label); err != nil {
			return el, err
		}
		return d.parent.impl.v, nil
	}
	return jsx.Get(page, "body")
}

func (d *domFrame) shown() bool { return jsx.InstanceOf(d.parent.impl.v, "HTMLElement") }
