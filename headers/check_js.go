package headers

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailey-go/bailey/internal/jsx"
)

func check(ctx context.Context) ([]Finding, error) {
	document, err := jsx.Get(jsx.Global(), "document")
	if err != nil || jsx.Nullish(document) {
		return nil, fmt.Errorf("headers: Check runs in a page, not in a worker: %w", errors.ErrUnsupported)
	}
	return judge(ownHeaders(ctx), page{document}), ctx.Err()
}

// ownHeaders requests the page's own address and returns its headers. It returns nil if the
// request fails, as under connect-src 'none'.
func ownHeaders(ctx context.Context) map[string]string {
	href, err := jsx.Lookup(jsx.Global(), "location.href")
	if err != nil {
		return nil
	}
	signal, stop := jsx.Signal(ctx)
	defer stop()
	response, err := jsx.CallAwait(ctx, jsx.Global(), "fetch", href, map[string]any{"method": "HEAD", "cache": "no-store", "signal": signal})
	if err != nil {
		return nil
	}
	all, err := jsx.Get(response, "headers")
	if err != nil {
		return nil
	}
	sent := map[string]string{}
	for _, name := range []string{"content-security-policy", "connection-allowlist", "permissions-policy", "cross-origin-opener-policy",
		"referrer-policy", "x-content-type-options"} {
		if v, err := jsx.Call(all, "get", name); err == nil && !jsx.Nullish(v) {
			sent[name], _ = jsx.String(v, 64<<10)
		}
	}
	return sent
}

// page is the probe of the current page. None of its methods makes a request.
type page struct{ document jsx.Value }

func (page) isolated() (bool, bool) {
	v, err := jsx.GetBool(jsx.Global(), "crossOriginIsolated")
	return v, err == nil
}

func (page) evalBlocked() (bool, bool) {
	_, err := jsx.NewGlobal("Function", "")
	return err != nil, true
}

func (p page) stylesBlocked() (bool, bool) {
	style, err := jsx.Call(p.document, "createElement", "style")
	if err != nil {
		return false, false
	}
	head, err := jsx.Get(p.document, "head")
	if err != nil || jsx.Nullish(head) {
		return false, false
	}
	if err := jsx.Set(style, "textContent", "bailey-probe{}"); err != nil {
		return false, false
	}
	if _, err := jsx.Call(head, "append", style); err != nil {
		return false, false
	}
	defer jsx.Call(style, "remove")
	sheet, err := jsx.Get(style, "sheet")
	return jsx.Nullish(sheet), err == nil
}

func (p page) sinksTyped() (bool, bool) {
	if !jsx.Supported("trustedTypes") {
		return false, true
	}
	div, err := jsx.Call(p.document, "createElement", "div")
	if err != nil {
		return false, false
	}
	return jsx.Set(div, "innerHTML", "") != nil, true
}

func (p page) featureDenied(feature string) (bool, bool) {
	policy, err := jsx.Get(p.document, "featurePolicy")
	if err != nil || jsx.Nullish(policy) {
		return false, false
	}
	allowed, err := jsx.Call(policy, "allowsFeature", feature)
	if err != nil {
		return false, false
	}
	ok, err := jsx.Bool(allowed)
	return !ok, err == nil
}
