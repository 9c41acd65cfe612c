package browser

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// ChromiumPage is a page of a ChromiumBrowser.
type ChromiumPage struct {
	ctx    context.Context
	cancel context.CancelFunc
	target *chromedp.Target
}

// Open opens url in a window of its own, because a tab behind another one is hidden and gets no
// animation frames.
func (b *ChromiumBrowser) Open(ctx context.Context, url string, ev Events) (Page, error) {
	p, err := b.NewPage(ctx, ev, nil)
	if err != nil {
		return nil, err
	}
	// chromedp mirrors the DOM for its selectors, and the network for its waits. Both would slow
	// down a page under test.
	for _, c := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable, network.Disable} {
		if _, err := cdp.Call(ctx, p.target, c, cdp.Empty{}); err != nil {
			p.Close()
			return nil, err
		}
	}
	if err := p.Navigate(ctx, url); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// NewPage opens an empty page. If listen is not nil, it receives each DevTools event of the page
// from the start, and must not block.
func (b *ChromiumBrowser) NewPage(ctx context.Context, ev Events, listen func(any)) (*ChromiumPage, error) {
	options := []chromedp.ContextOption{chromedp.WithNewWindow(true)}
	if b.private != "" {
		options = append(options, chromedp.WithExistingBrowserContext(b.private))
	}
	pctx, cancel := chromedp.NewContext(b.ctx, options...)
	p := &ChromiumPage{ctx: pctx, cancel: cancel}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	err := chromedp.Do(pctx)
	if err == nil {
		p.target = chromedp.FromContext(pctx).Target
		err = chromedp.Listen(pctx, func(e any) {
			dispatch(e, ev)
			if listen != nil {
				listen(e)
			}
		})
	}
	if err == nil {
		err = chromedp.ListenBrowser(pctx, func(e any) {
			if c, ok := e.(*target.EventTargetCrashed); ok && ev.Crashed != nil && c.TargetID == p.target.TargetID {
				ev.Crashed(fmt.Sprintf("the page's renderer ended: %s (code %d)", c.Status, c.ErrorCode))
			}
		})
	}
	if err != nil {
		cancel()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("browser: opening a page: %w", err)
	}
	return p, nil
}

// Navigate loads url, and returns when the page's document has arrived.
func (p *ChromiumPage) Navigate(ctx context.Context, url string) error {
	r, err := cdp.Call(ctx, p.target, page.Navigate, page.NavigateParams{URL: url})
	if err == nil && r.ErrorText != "" {
		err = fmt.Errorf("browser: opening %s: %s", url, r.ErrorText)
	}
	return err
}

// Target returns the page's DevTools session.
func (p *ChromiumPage) Target() *chromedp.Target { return p.target }

// Context returns the chromedp context of the page.
func (p *ChromiumPage) Context() context.Context { return p.ctx }

// Call runs a command of the DevTools protocol on the page, and decodes its result.
func (p *ChromiumPage) Call(ctx context.Context, method string, params, result any) error {
	return p.target.Call(ctx, method, params, result)
}

// Close closes the page.
func (p *ChromiumPage) Close() error {
	tctx, cancel := context.WithTimeout(p.ctx, endLimit)
	defer cancel()
	err := chromedp.Cancel(tctx)
	p.cancel()
	return err
}

// Screenshot implements [Page].
func (p *ChromiumPage) Screenshot(ctx context.Context) ([]byte, error) {
	r, err := cdp.Call(ctx, p.target, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	return r.Data, err
}

// Media implements [Page].
func (p *ChromiumPage) Media(ctx context.Context, features map[string]string) error {
	params := emulation.SetEmulatedMediaParams{}
	for k, v := range features {
		if k == "media" {
			params.Media = v
			continue
		}
		params.Features = append(params.Features, &emulation.MediaFeature{Name: k, Value: v})
	}
	_, err := cdp.Call(ctx, p.target, emulation.SetEmulatedMedia, params)
	return err
}

// Viewport implements [Page]. A scale of 0 means 1.
func (p *ChromiumPage) Viewport(ctx context.Context, width, height int, scale float64) error {
	if width == 0 && height == 0 {
		_, err := cdp.Call(ctx, p.target, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
		return err
	}
	if scale == 0 {
		scale = 1
	}
	_, err := cdp.Call(ctx, p.target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(width), Height: int64(height), DeviceScaleFactor: scale,
	})
	return err
}

// Watch returns an expression whose value is a promise of the value of another expression. The page
// evaluates that one until it is true, every 20 ms for at most a second, and then has its last value,
// or throws what it threw last. So a wait is one command a second to the browser, not fifty.
func Watch(expression string) string {
	return `(async () => {
		for (const end = performance.now() + 1000; ; await new Promise((again) => setTimeout(again, 20))) {
			const late = performance.now() > end;
			try {
				const value = ` + expression + `;
				if (value || late) return value;
			} catch (e) {
				if (late) throw e;
			}
		}
	})()`
}

// Eval implements [Page]. The expression runs as if the user had just used the page.
func (p *ChromiumPage) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	yes := true
	r, err := cdp.Call(ctx, p.target, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes, UserGesture: &yes,
	})
	if err != nil {
		return nil, err
	}
	return evalResult(r, expression)
}
