// Package browser finds, starts, drives and ends real browsers for tests. Each browser has a
// profile of its own, makes no requests of its own, and leaves no file and no process behind.
//
// It trusts the pages as far as a test does: as root, Chromium runs without its own process
// sandbox. Never browse the web with it.
package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Engine names a browser engine.
type Engine string

// The supported engines.
const (
	Chromium Engine = "chromium"
	Firefox  Engine = "firefox"
	WebKit   Engine = "webkit"
)

// Options describe a browser to start. Dir is required.
type Options struct {
	// Engine is the engine to start. The default is Chromium.
	Engine Engine
	// Path is the browser's executable. The default is the result of Find.
	Path string
	// Dir is an existing folder for the profile and all other files. The caller
	// removes it after Close.
	Dir string
	// Args are further command-line arguments.
	Args []string
	// Preferences are settings of Chromium's profile, in the form of its Preferences file. Other
	// engines ignore them.
	Preferences map[string]any
	// Logf, if not nil, receives each line that the browser prints, and messages of its driver.
	Logf func(format string, args ...any)
}

// Events are functions that the browser calls for events of a page. They may be called from any
// goroutine, and must not block. WebKitGTK reports no events.
type Events struct {
	// Console receives the page's console output, and uncaught exceptions (kind "exception"). In
	// Chromium it also receives the browser's own messages about the page (kind "log").
	Console func(kind, text string)
	// Crashed is called if the page's renderer process has ended. Only Chromium reports that.
	Crashed func(reason string)
}

// Browser is a running browser.
type Browser interface {
	// Engine returns the engine of the browser.
	Engine() Engine
	// Version returns the browser's name and version.
	Version() string
	// Open opens url in a new visible window.
	Open(ctx context.Context, url string, ev Events) (Page, error)
	// PID returns the id of the browser's first process, the ancestor of all others. For WebKitGTK
	// that is its driver.
	PID() int
	// Done returns a channel that is closed when that process has ended.
	Done() <-chan struct{}
	// Close ends the browser and all its processes. It may be called again.
	Close() error
}

// Page is a top-level page that Open opened. A method that the engine does not support returns an
// error that wraps ErrUnsupported.
type Page interface {
	// Close closes the page.
	Close() error
	// Click scrolls the first element that matches a CSS selector into view, and clicks its middle
	// with a trusted event. It returns an error if there is none, or it has no size. In the selector
	// " >>> " goes on in the open shadow tree of an element.
	Click(ctx context.Context, selector string) error
	// ClickAt clicks at a point of the viewport, in CSS pixels.
	ClickAt(ctx context.Context, x, y float64) error
	// MoveTo moves the mouse to a point of the viewport.
	MoveTo(ctx context.Context, x, y float64) error
	// Type types text into the focused element.
	Type(ctx context.Context, text string) error
	// Press presses one key with modifiers: "Enter", "Control+a".
	Press(ctx context.Context, key string) error
	// Screenshot returns a PNG of the viewport.
	Screenshot(ctx context.Context) ([]byte, error)
	// Media emulates CSS media features, and a media type by the key "media".
	Media(ctx context.Context, features map[string]string) error
	// Viewport sets the viewport's size in CSS pixels. A size of 0 by 0 ends the emulation.
	Viewport(ctx context.Context, width, height int, scale float64) error
	// Eval returns the JSON value of a JavaScript expression, awaited if it is a promise.
	Eval(ctx context.Context, expression string) (json.RawMessage, error)
}

// noPage is a Page whose methods return ErrUnsupported, for features that an engine does not support.
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

// ErrUnsupported is wrapped by the errors for features that an engine does not support.
var ErrUnsupported = errors.ErrUnsupported

// Start starts a browser. The end of ctx while it starts ends it again.
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
		return nil, err // not b, which may be an interface around a nil pointer
	}
	return b, nil
}
