// Package browser finds, starts, drives and ends real browsers for tests: each
// with a profile of its own, no traffic of its own, and nothing left behind.
//
// It trusts the pages it opens as far as a test does, so a browser that runs as
// root runs without its own process sandbox; never browse the web with it.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Engine names a browser engine.
type Engine string

const (
	Chromium Engine = "chromium"
	Firefox  Engine = "firefox"
	WebKit   Engine = "webkit"
)

// Options describe a browser to start.
type Options struct {
	Engine Engine
	// Path is the browser's executable; empty means to look for it.
	Path string
	// Dir is an existing folder for the profile and all other files. The caller
	// removes it after Close.
	Dir string
	// Args are further command-line arguments.
	Args []string
	// Preferences are settings of Chromium's profile, as its own file has them.
	Preferences map[string]any
	// Logf, if not nil, gets what the browser prints and how it is driven.
	Logf func(format string, args ...any)
}

// Events are what a page tells its opener besides its own HTTP requests. The
// functions may be called from any goroutine, and must not block.
type Events struct {
	// Console gets what the page writes to its console, the browser's own
	// messages about the page (kind "log") and uncaught exceptions.
	Console func(kind, text string)
	// Crashed is called if the page's renderer is gone.
	Crashed func(reason string)
}

// Browser is a running browser.
type Browser interface {
	Engine() Engine
	Version() string
	// Open opens url in a new visible window.
	Open(ctx context.Context, url string, ev Events) (Page, error)
	// PID is the browser's first process, the ancestor of all others.
	PID() int
	// Done is closed when the browser is gone.
	Done() <-chan struct{}
	// Close ends the browser and all its processes. It may be called twice.
	Close() error
}

// Page is a top-level page that Open opened. What an engine cannot do returns an
// error that wraps ErrUnsupported.
type Page interface {
	Close() error
	// Click clicks the middle of the first element that a CSS selector finds,
	// scrolled into view, with a trusted event.
	Click(ctx context.Context, selector string) error
	// ClickAt clicks at a point of the viewport, in CSS pixels.
	ClickAt(ctx context.Context, x, y float64) error
	// MoveTo moves the mouse to a point of the viewport.
	MoveTo(ctx context.Context, x, y float64) error
	// Type types into what has the focus.
	Type(ctx context.Context, text string) error
	// Press presses one key with modifiers: "Enter", "Control+a".
	Press(ctx context.Context, key string) error
	// Screenshot is a PNG of the viewport.
	Screenshot(ctx context.Context) ([]byte, error)
	// Media emulates CSS media features, and a media type by the key "media".
	Media(ctx context.Context, features map[string]string) error
	// Viewport sets the viewport's size; 0 by 0 ends the emulation.
	Viewport(ctx context.Context, width, height int, scale float64) error
	// Eval is the JSON value of a JavaScript expression, awaited.
	Eval(ctx context.Context, expression string) (json.RawMessage, error)
}

// noPage is a Page that can do nothing, for an engine without a driver.
type noPage struct{ why string }

func (p noPage) err() error                                      { return fmt.Errorf("%s: %w", p.why, ErrUnsupported) }
func (p noPage) Close() error                                    { return nil }
func (p noPage) Click(context.Context, string) error             { return p.err() }
func (p noPage) ClickAt(context.Context, float64, float64) error { return p.err() }
func (p noPage) MoveTo(context.Context, float64, float64) error  { return p.err() }
func (p noPage) Type(context.Context, string) error              { return p.err() }
func (p noPage) Press(context.Context, string) error             { return p.err() }
func (p noPage) Screenshot(context.Context) ([]byte, error)      { return nil, p.err() }
func (p noPage) Media(context.Context, map[string]string) error  { return p.err() }
func (p noPage) Viewport(context.Context, int, int, float64) error {
	return p.err()
}
func (p noPage) Eval(context.Context, string) (json.RawMessage, error) { return nil, p.err() }

// ErrUnsupported is wrapped by the errors of what an engine cannot do here.
var ErrUnsupported = errors.ErrUnsupported

// Start starts the browser that o describes.
func Start(ctx context.Context, o Options) (Browser, error) {
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Engine == "" {
		o.Engine = Chromium
	}
	if o.Path == "" {
		p, err := Find(ctx, o.Engine)
		if err != nil {
			return nil, err
		}
		o.Path = p
	}
	var b Browser
	var err error
	switch o.Engine {
	case Chromium:
		b, err = startChromium(ctx, o)
	case Firefox:
		b, err = startFirefox(ctx, o)
	case WebKit:
		b, err = startWebKit(ctx, o)
	default:
		err = fmt.Errorf("browser: unknown engine %q: use chromium, firefox or webkit", o.Engine)
	}
	if err != nil {
		return nil, err // and not an interface around a nil pointer
	}
	return b, nil
}
