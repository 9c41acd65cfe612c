package iframe

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/protocol"
)

// appImpl is the outer frame of an app.
type appImpl struct {
	host   *appHost
	ctx    context.Context
	cancel context.CancelFunc
	scope  *jsx.Scope
	outer  jsx.Value
	html   string
	first  chan error
	once   sync.Once
	onEnd  func(error)

	mu    sync.Mutex
	port  *jsx.Port
	held  *jsx.Scope // of port
	ended error
	proxy appProxy
}

func newApp(ctx context.Context, parent Element, page protocol.App, opts AppOptions) (*App, error) {
	if !jsx.InstanceOf(parent.impl.v, "HTMLElement") {
		return nil, fmt.Errorf("iframe: NewApp: parent is no element; get one with ElementByID or ElementOf")
	}
	if !opts.AllowWithoutConnectionAllowlist {
		if err := connectionsClosed(ctx, opts.Proxy); err != nil {
			return nil, err
		}
	}
	a := &App{}
	im := &a.impl
	if err := im.proxy.of(ctx, opts); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	im.ctx, im.cancel = context.WithCancel(ctx)
	a.host = newAppHost(im.ctx, opts)
	im.host, im.html, im.onEnd = a.host, page.HTML, opts.OnEnd
	im.scope = jsx.NewScope(jsx.ScopeOptions{})
	im.first = make(chan error, 1)
	im.host.post, im.host.size, im.host.end = im.post, im.resize, func(err error) { im.end(err, true) }
	im.host.opens, im.host.save = func(ctx context.Context, l Link) error { return openLink(ctx, l.URL) }, saveFile
	err := im.build(parent, opts)
	if err == nil {
		timeout := time.NewTimer(opts.ReadyTimeout)
		defer timeout.Stop()
		select {
		case err = <-im.first:
		case <-timeout.C:
			err = fmt.Errorf("iframe: the app's frame was not ready after %v: %w", opts.ReadyTimeout, context.DeadlineExceeded)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		im.end(err, false)
		return nil, err
	}
	context.AfterFunc(im.ctx, func() { im.end(ErrClosed, false) })
	return a, nil
}

func (im *appImpl) build(parent Element, opts AppOptions) error {
	if _, err := im.scope.Add(jsx.Track(jsx.Frames)); err != nil {
		return err
	}
	page, err := jsx.Get(jsx.Global(), "document")
	if err != nil {
		return err
	}
	if im.outer, err = jsx.Call(page, "createElement", "iframe"); err != nil {
		return err
	}
	p := frame.AppPage{Label: opts.Label, PolicyName: opts.TrustedTypesPolicy, Connect: opts.Connect, Resources: opts.Resources, Off: opts.layers}
	sandbox, allow, hello, ready := p.Sandbox(), frame.Allow, im.hello, func() bool { return im.port != nil }
	if len(opts.layers) > 0 {
		allow = ""
	}
	if opts.Proxy != "" {
		sandbox, allow, hello, ready = frame.ProxySandbox, frame.AllowOnly(opts.Permissions, im.proxy.origin), im.proxied, im.proxy.announced
	}
	for _, a := range [][2]string{
		{"sandbox", sandbox}, {"allow", allow}, {"referrerpolicy", "no-referrer"}, {"title", opts.Label}, {"frameborder", "0"},
	} {
		if _, err := jsx.Call(im.outer, "setAttribute", a[0], a[1]); err != nil {
			return err
		}
	}
	style, err := jsx.Get(im.outer, "style")
	if err != nil {
		return err
	}
	for _, p := range [][2]string{{"display", "block"}, {"width", "100%"}, {"border", "0"}, {"height", pixels(opts.Height)}} {
		if _, err := jsx.Call(style, "setProperty", p[0], p[1]); err != nil {
			return err
		}
	}
	if _, err := im.scope.Listen(jsx.Global(), "message", hello); err != nil {
		return err
	}
	if _, err := im.scope.Listen(im.outer, "load", func(jsx.Value) {
		im.mu.Lock()
		im.proxy.loads++
		im.mu.Unlock()
		_, _ = im.scope.AfterFunc(helloGrace, func() {
			im.mu.Lock()
			defer im.mu.Unlock()
			if ready() {
				return
			}
			if opts.Proxy == "" {
				im.report(blockedError())
				return
			}
			if im.proxy.hellos == 0 {
				im.report(im.proxy.silent())
				return
			}
			go im.end(fmt.Errorf("%w: another page came in the place of the proxy", ErrFrameLost), true)
		})
	}); err != nil {
		return err
	}
	if opts.Proxy != "" {
		if _, err := jsx.Call(im.outer, "setAttribute", "src", im.proxy.address); err != nil {
			return err
		}
		_, err = jsx.Call(parent.impl.v, "append", im.outer)
		return err
	}
	policy, err := jsx.Trusted(opts.TrustedTypesPolicy)
	if err != nil {
		return err
	}
	if err := policy.SetSrcdoc(im.outer, p.Srcdoc()); err != nil {
		return err
	}
	_, err = jsx.Call(parent.impl.v, "append", im.outer)
	return err
}

// report passes the outcome of the first load to newApp.
func (im *appImpl) report(err error) {
	select {
	case im.first <- err:
	default:
	}
}

// hello accepts a port from the outer frame alone. It runs in a callback. When the page moves the frame,
// the browser loads it again, and the app begins anew.
func (im *appImpl) hello(event jsx.Value) {
	data, err := jsx.Get(event, "data")
	if err != nil || !isString(data, frame.AppHello) {
		return
	}
	window, err := jsx.Get(im.outer, "contentWindow")
	if err != nil || jsx.Nullish(window) {
		return
	}
	if source, err := jsx.Get(event, "source"); err != nil || !window.Equal(source) {
		return
	}
	v, ok := jsx.OnlyPort(event)
	if !ok {
		return
	}
	im.host.restart()
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.ended != nil {
		return
	}
	if im.held != nil {
		_ = im.held.Close()
	}
	if im.held, err = im.scope.Child(); err != nil {
		return
	}
	port, err := im.held.Port(v)
	if err == nil {
		im.port = port
		err = port.OnMessage(func(m jsx.Message) { im.heard(port, m) })
	}
	if err == nil {
		err = port.Post("page\x1f" + im.html)
	}
	im.report(err)
}

// heard runs in a callback.
func (im *appImpl) heard(from *jsx.Port, m jsx.Message) {
	text, err := jsx.String(m.Data, maxAppMessage+100)
	im.mu.Lock()
	stale := im.port != from
	im.mu.Unlock()
	if err != nil || stale {
		return
	}
	word, rest, _ := strings.Cut(text, "\x1f")
	switch word {
	case "app":
		if rest == `{"baileyBlocked":true}` {
			go im.end(blobsError(), true)
			return
		}
		im.host.heard(rest)
	case "ended":
		go im.end(leftError(rest == "flood"), true)
	}
}

func blobsError() error {
	return fmt.Errorf("%w: the page's Content-Security-Policy is inherited by the app and has no blob: in script-src. Set blobScripts in headers.json or policy.json", ErrFrameBlocked)
}

func (im *appImpl) post(text string) {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.port != nil {
		_ = im.port.Post("host\x1f" + text)
	}
	if im.proxy.origin != "" && im.ended == nil {
		_ = im.proxy.post(im.outer, text)
	}
}

func (im *appImpl) resize(height int) {
	if style, err := jsx.Get(im.outer, "style"); err == nil {
		_, _ = jsx.Call(style, "setProperty", "height", pixels(height))
	}
}

// end removes the app. tell reports whether OnEnd is called.
func (im *appImpl) end(err error, tell bool) {
	im.once.Do(func() {
		im.host.over()
		im.mu.Lock()
		if im.ended = err; err == nil {
			im.ended = ErrClosed
		}
		im.port = nil
		im.mu.Unlock()
		im.cancel()
		_ = im.scope.Close()
		if !jsx.Nullish(im.outer) {
			_, _ = jsx.Call(im.outer, "remove")
		}
		if tell && im.onEnd != nil {
			im.onEnd(err)
		}
	})
}

func (im *appImpl) failure() error {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.ended
}

func (im *appImpl) close() error {
	if im.failure() == nil {
		ctx, stop := context.WithTimeout(im.ctx, im.host.grace())
		im.host.teardown(ctx)
		stop()
	}
	im.end(ErrClosed, false)
	return nil
}

// saveFile has the browser save a file.
func saveFile(name, kind string, data []byte) error {
	bytes, err := jsx.FromBytes(data)
	if err != nil {
		return err
	}
	blob, err := jsx.NewGlobal("Blob", []any{bytes}, map[string]any{"type": kind})
	if err != nil {
		return err
	}
	return saveBlob(blob, name)
}
