package iframe

import (
	"context"
	"fmt"
	"strings"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
)

// appProxy is the sandbox proxy of an app in the conforming mode.
type appProxy struct {
	address, origin string   // empty in the opaque mode
	within          []string // policies of the page around
	loads, hellos   int      // of the frame, and of the proxies in it
}

// of finds the proxy, and the policies of the page if an origin depends on them.
func (p *appProxy) of(ctx context.Context, opts AppOptions) error {
	if opts.Proxy == "" {
		return nil
	}
	var err error
	if p.address, err = frame.Address(opts.Proxy); err != nil {
		return err
	}
	own, err := jsx.Lookup(jsx.Global(), "location.origin")
	if err != nil {
		return err
	}
	mine, err := jsx.String(own, 1000)
	if err != nil {
		return err
	}
	u, err := jsx.NewGlobal("URL", p.address)
	if err != nil {
		return err
	}
	if p.origin, err = jsx.GetString(u, "origin", 1000); err != nil {
		return err
	}
	if p.origin == mine {
		return fmt.Errorf("iframe: AppOptions.Proxy %s has the origin of this page: serve it from another one, such as another host name", opts.Proxy)
	}
	if len(opts.Connect)+len(opts.Resources)+len(opts.Frames) > 0 && !opts.off.within {
		p.within = pagePolicies(ctx, mine)
	}
	return nil
}

// pagePolicies returns the policies of this page for an app. A script can't see the header of its own page,
// so its address is requested again. If that fails, the app has no host.
func pagePolicies(ctx context.Context, origin string) []string {
	none := frame.Within("default-src 'none'", origin)
	headers, _, err := headersOf(ctx, "")
	if err != nil {
		return none
	}
	v, err := jsx.Call(headers, "get", "content-security-policy")
	if err != nil {
		return none
	}
	text := ""
	if !jsx.Nullish(v) {
		if text, err = jsx.String(v, 64<<10); err != nil {
			return none
		}
	}
	list := frame.Within(text, origin)
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return none
	}
	metas, err := jsx.Call(page, "querySelectorAll", `meta[http-equiv="content-security-policy" i]`)
	if err != nil {
		return none
	}
	n, err := jsx.Length(metas)
	for i := 0; i < n && err == nil; i++ {
		var meta jsx.Value
		if meta, err = jsx.Index(metas, i); err == nil {
			text, err = jsx.GetString(meta, "content", 64<<10)
		}
		list = append(list, frame.Within(text, origin)...)
	}
	if err != nil {
		return none
	}
	return list
}

// announced reports whether each load of the frame was one of the proxy. mu of the app is held.
func (p *appProxy) announced() bool { return p.hellos > 0 && p.hellos >= p.loads }

func (p *appProxy) silent() error {
	return fmt.Errorf("%w: the page at %s is no sandbox proxy for this page. Serve there the page of AppOptions.Page with this page's origin among its embedders (wasm_exec apps), "+
		"and list its host in this page's frame-src (frames in headers.json or policy.json)", ErrFrameBlocked, p.address)
}

// post sends a message to the proxy. A page of another origin in its place receives nothing.
func (p *appProxy) post(outer jsx.Value, text string) error {
	window, err := jsx.Get(outer, "contentWindow")
	if err != nil {
		return err
	}
	parser, err := jsx.Get(jsx.Global(), "JSON")
	if err != nil {
		return err
	}
	v, err := jsx.Call(parser, "parse", text)
	if err != nil {
		return err
	}
	return jsx.PostTo(window, p.origin, v)
}

// proxied hears all messages to this window. It runs in a callback.
func (im *appImpl) proxied(event jsx.Value) {
	source, err := jsx.Get(event, "source")
	if err != nil {
		return
	}
	window, err := jsx.Get(im.outer, "contentWindow")
	if err != nil || jsx.Nullish(window) {
		return
	}
	from, err := jsx.Get(event, "origin")
	if err != nil || !im.host.opts.off.sender && (!window.Equal(source) || !isString(from, im.proxy.origin)) {
		return
	}
	data, err := jsx.Get(event, "data")
	if err != nil || jsx.TypeOf(data) != "object" {
		return
	}
	word := ""
	if v, err := jsx.Get(data, "method"); err == nil {
		if s, err := jsx.String(v, 100); err == nil {
			word, _ = strings.CutPrefix(s, frame.ProxyMethod)
			if word == s {
				word = ""
			}
		}
	}
	switch word {
	case "":
		parser, err := jsx.Get(jsx.Global(), "JSON")
		if err != nil {
			return
		}
		v, err := jsx.Call(parser, "stringify", data)
		if err != nil {
			return
		}
		if text, err := jsx.String(v, maxAppMessage+100); err == nil {
			im.host.heard(text)
		}
	case "proxy-ready":
		narrows, err := jsx.Lookup(data, "params.within")
		im.announce(window, err == nil && jsx.TypeOf(narrows) == "boolean")
	case "ended":
		reason, err := jsx.Lookup(data, "params.reason")
		go im.end(leftError(err == nil && isString(reason, "flood")), true)
	}
}

// announce sends the app to a proxy that is ready. A proxy that is loaded again, as the page moves the
// frame, begins the app anew. One that does not add the policies of this page gets no origins.
func (im *appImpl) announce(window jsx.Value, narrows bool) {
	im.host.restart()
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.ended != nil {
		return
	}
	im.proxy.hellos++
	opts := &im.host.opts
	csp := map[string]any{"connectDomains": opts.Connect, "resourceDomains": opts.Resources, "frameDomains": opts.Frames}
	if !narrows {
		csp = map[string]any{}
	}
	im.report(jsx.PostTo(window, im.proxy.origin, map[string]any{"jsonrpc": "2.0", "method": frame.ProxyMethod + "resource-ready", "params": map[string]any{
		"html": im.html, "csp": csp, "permissions": granted(opts.Permissions), "within": im.proxy.within}}))
}

func leftError(flood bool) error {
	if flood {
		return fmt.Errorf("%w: the app sent more messages than an app needs", ErrFrameLost)
	}
	return fmt.Errorf("%w: the app left its page", ErrFrameLost)
}
