// Package browser finds, starts, drives and ends real browsers for tests: each
// with a profile of its own, no traffic of its own, and nothing left behind.
//
// It trusts the pages it opens as far as a test does, so a browser that runs as
// root runs without its own process sandbox; never browse the web with it.
package browser

import (
	"context"
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
	// Done is closed when the browser is gone.
	Done() <-chan struct{}
	// Close ends the browser and all its processes. It may be called twice.
	Close() error
}

// Page is a top-level page that Open opened.
type Page interface {
	Close() error
}

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
	switch o.Engine {
	case Chromium:
		return startChromium(ctx, o)
	}
	return nil, fmt.Errorf("browser: unknown engine %q: use chromium, firefox or webkit", o.Engine)
}
