package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
)

// Page is a top-level page in a window of its own.
type Page struct {
	browser *Browser
	chrome  *browser.ChromiumPage

	mu       sync.Mutex
	console  []Message
	requests []*Request
	byID     map[network.RequestID]*Request
	media    map[string]string
	crashed  string
	loads    int
	leaves   int // questions whether to leave the page
	loaded   chan struct{}
}

// Message is a line of the page's console.
type Message struct {
	// Kind is the method of console ("log", "error", …), "exception" for an uncaught exception, or "log" for the
	// browser's own messages about the page.
	Kind, Text string
}

// Request is a request of the page or one of the frames in its process.
type Request struct {
	Method, URL string
	// Type is "Document", "Script", "Fetch" and so on.
	Type string
	// Status is 0 until the answer has come.
	Status int
	// FromCache is set if the answer came from the disk cache or a service worker.
	FromCache bool
	// Failed is the reason why there is no answer, such as "net::ERR_BLOCKED_BY_CSP".
	Failed string
}

// Page opens url in a new window, and returns when its load event has fired.
func (b *Browser) Page(ctx context.Context, url string) (*Page, error) {
	p, err := b.Blank(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.Goto(ctx, url); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Blank opens an empty page, for settings that must be made before the first load.
func (b *Browser) Blank(ctx context.Context) (*Page, error) {
	p := &Page{browser: b, byID: map[network.RequestID]*Request{}, media: map[string]string{}, loaded: make(chan struct{})}
	chrome, err := b.chromium.NewPage(ctx, browser.Events{
		Console: func(kind, text string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.console = append(p.console, Message{kind, text})
		},
		Crashed: func(reason string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.crashed = reason
			p.wake()
		},
	}, p.event)
	if err != nil {
		return nil, err
	}
	p.chrome = chrome
	// chromedp mirrors the DOM for its selectors, which slows down the page and is not used here.
	for _, c := range []cdp.Command[cdp.Empty, cdp.Empty]{css.Disable, dom.Disable} {
		if _, err := cdp.Call(ctx, chrome.Target(), c, cdp.Empty{}); err != nil {
			p.Close()
			return nil, err
		}
	}
	return p, nil
}

// wake wakes Goto and Reload, which check again. The caller holds the lock.
func (p *Page) wake() {
	close(p.loaded)
	p.loaded = make(chan struct{})
}

func (p *Page) event(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *page.EventLoadEventFired:
		p.loads++
		p.wake()
	case *page.EventJavascriptDialogOpening:
		if e.Type == page.DialogTypeBeforeunload { // a test that reloads means it
			p.leaves++
			go cdp.Call(context.Background(), p.chrome.Target(), page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		}
	case *network.EventRequestWillBeSent:
		if old := p.byID[e.RequestID]; old != nil && e.RedirectResponse != nil {
			old.Status = int(e.RedirectResponse.Status)
		}
		r := &Request{Method: e.Request.Method, URL: e.Request.URL, Type: string(e.Type)}
		p.byID[e.RequestID] = r
		p.requests = append(p.requests, r)
	case *network.EventResponseReceived:
		if r := p.byID[e.RequestID]; r != nil && e.Response != nil {
			r.Status = int(e.Response.Status)
			r.FromCache = e.Response.FromDiskCache || e.Response.FromServiceWorker
		}
	case *network.EventLoadingFailed:
		if r := p.byID[e.RequestID]; r != nil {
			r.Failed = e.ErrorText
			if e.BlockedReason != "" {
				r.Failed += " (" + string(e.BlockedReason) + ")"
			}
		}
	}
}

// Goto loads url, and waits for its load event for at most 5 minutes.
func (p *Page) Goto(ctx context.Context, url string) error {
	return p.awaitLoad(ctx, func() error { return p.chrome.Navigate(ctx, url) })
}

// Leaves returns how often the page has asked the user whether to leave it. Each time the answer was yes.
func (p *Page) Leaves() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leaves
}

// Reload loads the page again, and waits for its load event for at most 5 minutes.
func (p *Page) Reload(ctx context.Context) error {
	return p.awaitLoad(ctx, func() error {
		_, err := cdp.Call(ctx, p.chrome.Target(), page.Reload, page.ReloadParams{})
		return err
	})
}

func (p *Page) awaitLoad(ctx context.Context, start func() error) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	p.mu.Lock()
	before := p.loads
	p.mu.Unlock()
	if err := start(); err != nil {
		return err
	}
	for {
		p.mu.Lock()
		n, crashed, changed := p.loads, p.crashed, p.loaded
		p.mu.Unlock()
		if crashed != "" {
			return fmt.Errorf("e2e: %s", crashed)
		}
		if n > before {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("e2e: waiting for the page's load event: %w", ctx.Err())
		}
	}
}

// Close closes the page.
func (p *Page) Close() error { return p.chrome.Close() }

// Chrome returns the page itself, for features that this package does not have.
func (p *Page) Chrome() *browser.ChromiumPage { return p.chrome }

// CDP runs a command of the DevTools protocol on the page, and decodes its result.
func (p *Page) CDP(ctx context.Context, method string, params, result any) error {
	return p.chrome.Call(ctx, method, params, result)
}

// Eval evaluates a JavaScript expression, awaits it, and stores its JSON value in result, unless that is nil.
func (p *Page) Eval(ctx context.Context, expression string, result any) error {
	raw, err := p.chrome.Eval(ctx, expression)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// EvalFrames evaluates an expression in the page and in each frame below it, whatever its origin and sandbox. It
// returns a value or an error for each frame.
func (p *Page) EvalFrames(ctx context.Context, expression string) ([]browser.FrameValue, error) {
	return p.chrome.EvalFrames(ctx, p.browser.chromium, expression)
}

// Count collects garbage, and returns the counts of the page's objects.
func (p *Page) Count(ctx context.Context) (browser.Counts, error) {
	return p.chrome.Count(ctx, p.browser.chromium)
}

// Text returns the rendered text of the first element that matches a CSS selector.
func (p *Page) Text(ctx context.Context, selector string) (string, error) {
	var s *string
	if err := p.Eval(ctx, "document.querySelector("+quote(selector)+")?.innerText ?? null", &s); err != nil {
		return "", err
	}
	if s == nil {
		return "", fmt.Errorf("e2e: nothing in the page matches %q", selector)
	}
	return *s, nil
}

// waitLimit is the limit of each Wait, WaitFor and load. Only a test that fails waits so long. It begins anew with
// each of them, so that a slow machine does not fail a test that makes progress.
const waitLimit = 5 * time.Minute

// Wait waits until the first element that matches a CSS selector is visible, for at most 5 minutes.
func (p *Page) Wait(ctx context.Context, selector string) error {
	return p.WaitFor(ctx, "!!document.querySelector("+quote(selector)+")?.checkVisibility()")
}

// WaitFor waits until a JavaScript expression is true, for at most 5 minutes. An expression that throws counts as
// false.
func (p *Page) WaitFor(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		var ok bool
		// A page that is being left may never answer.
		try, end := context.WithTimeout(ctx, 10*time.Second)
		last := p.Eval(try, browser.Watch("!!(await ("+expression+"))"), &ok)
		end()
		if last == nil && ok {
			return nil
		}
		select {
		case <-ctx.Done():
			err := fmt.Errorf("e2e: waiting for %.100q: %w", expression, ctx.Err())
			if last != nil {
				err = fmt.Errorf("%w (at last: %w)", err, last)
			}
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Console returns the messages of the console so far.
func (p *Page) Console() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Message(nil), p.console...)
}

// Errors returns those messages of Console that report an error: exceptions, console.error and console.assert.
func (p *Page) Errors() []Message {
	var list []Message
	for _, m := range p.Console() {
		if m.Kind == "exception" || m.Kind == "error" || m.Kind == "assert" {
			list = append(list, m)
		}
	}
	return list
}

// Requests returns the requests so far, in order.
func (p *Page) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Request
	for _, r := range p.requests {
		list = append(list, *r)
	}
	return list
}

// Crashed returns the reason why the page's renderer has ended, "" if it has not.
func (p *Page) Crashed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.crashed
}

// setMedia merges emulated media features. An empty value ends one.
func (p *Page) setMedia(ctx context.Context, features map[string]string) error {
	p.mu.Lock()
	maps.Copy(p.media, features)
	maps.DeleteFunc(p.media, func(_, v string) bool { return v == "" })
	all := maps.Clone(p.media)
	p.mu.Unlock()
	return p.chrome.Media(ctx, all)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
