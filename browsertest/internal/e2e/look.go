package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

// Viewport sets the viewport's size in CSS pixels, and the number of device pixels for each (1 if
// scale is 0). A size of 0 by 0 restores the window's own.
func (p *Page) Viewport(ctx context.Context, width, height int, scale float64) error {
	return p.chrome.Viewport(ctx, width, height, scale)
}

// Dark sets prefers-color-scheme.
func (p *Page) Dark(ctx context.Context, dark bool) error {
	v := "light"
	if dark {
		v = "dark"
	}
	return p.setMedia(ctx, map[string]string{"prefers-color-scheme": v})
}

// ReducedMotion sets prefers-reduced-motion.
func (p *Page) ReducedMotion(ctx context.Context, reduced bool) error {
	v := "no-preference"
	if reduced {
		v = "reduce"
	}
	return p.setMedia(ctx, map[string]string{"prefers-reduced-motion": v})
}

// Media sets other CSS media features, and the media type by the key "media". An empty value ends
// the emulation of a feature.
func (p *Page) Media(ctx context.Context, features map[string]string) error {
	return p.setMedia(ctx, features)
}

// Locale sets the language and region of the page's Intl, such as "de_CH".
func (p *Page) Locale(ctx context.Context, locale string) error {
	return p.CDP(ctx, "Emulation.setLocaleOverride", map[string]string{"locale": locale}, nil)
}

// Timezone sets the page's time zone, such as "Europe/Zurich".
func (p *Page) Timezone(ctx context.Context, zone string) error {
	return p.CDP(ctx, "Emulation.setTimezoneOverride", map[string]string{"timezoneId": zone}, nil)
}

// Offline disconnects the page from the network, or connects it again. It replaces a limit of
// Throttle.
func (p *Page) Offline(ctx context.Context, offline bool) error {
	return p.CDP(ctx, "Network.emulateNetworkConditions", map[string]any{
		"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1,
	}, nil)
}

// Throttle limits the speed of the page's network to bytes per second, and adds a latency in
// milliseconds.
func (p *Page) Throttle(ctx context.Context, bytesPerSecond, latencyMs float64) error {
	return p.CDP(ctx, "Network.emulateNetworkConditions", map[string]any{
		"offline": false, "latency": latencyMs, "downloadThroughput": bytesPerSecond, "uploadThroughput": bytesPerSecond,
	}, nil)
}

// Shot is the part of a page for a screenshot. The zero value is the viewport.
type Shot struct {
	// Full takes the whole page, with the parts out of view.
	Full bool
	// Selector takes the first element that matches a CSS selector. Full takes precedence.
	Selector string
	// File, if not empty, is a path to which the PNG is written as well.
	File string
}

// Screenshot returns a PNG.
func (p *Page) Screenshot(ctx context.Context, s Shot) ([]byte, error) {
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng}
	yes := true
	switch {
	case s.Full:
		m, err := cdp.Call(ctx, p.chrome.Target(), page.GetLayoutMetrics, cdp.Empty{})
		if err != nil {
			return nil, err
		}
		c := m.CSSContentSize
		params.CaptureBeyondViewport = &yes
		params.Clip = &page.Viewport{Width: c.Width, Height: c.Height, Scale: 1}
	case s.Selector != "":
		var r []float64
		if err := p.Eval(ctx, `(() => { const e = document.querySelector(`+quote(s.Selector)+`); if (!e) return null;
			const r = e.getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, r.height]; })()`, &r); err != nil {
			return nil, err
		}
		if len(r) != 4 {
			return nil, fmt.Errorf("e2e: nothing in the page matches %q", s.Selector)
		}
		params.CaptureBeyondViewport = &yes
		params.Clip = &page.Viewport{X: r[0], Y: r[1], Width: r[2], Height: r[3], Scale: 1}
	}
	shot, err := cdp.Call(ctx, p.chrome.Target(), page.CaptureScreenshot, params)
	if err != nil || s.File == "" {
		return shot.Data, err
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o755); err != nil {
		return nil, err
	}
	return shot.Data, os.WriteFile(s.File, shot.Data, 0o644)
}

// PDF returns the printed page, with backgrounds.
func (p *Page) PDF(ctx context.Context) ([]byte, error) {
	yes := true
	r, err := cdp.Call(ctx, p.chrome.Target(), page.PrintToPDF, page.PrintToPDFParams{PrintBackground: &yes, PreferCSSPageSize: &yes})
	return r.Data, err
}
