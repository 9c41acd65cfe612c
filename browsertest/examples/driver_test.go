package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// driver is the part of a page's API that tests of the files example use in every engine.
// Chromium's, an *e2e.Page, has more.
type driver interface {
	Eval(ctx context.Context, expression string, result any) error
	EvalFrames(ctx context.Context, expression string) ([]browser.FrameValue, error)
	WaitFor(ctx context.Context, expression string) error
	Click(ctx context.Context, selector string) error
	MoveTo(ctx context.Context, x, y float64) error
	Type(ctx context.Context, selector, text string) error
	Press(ctx context.Context, key string) error
	Goto(ctx context.Context, url string) error
	Reload(ctx context.Context) error
	SetFiles(ctx context.Context, selector string, paths ...string) error
	Errors() []e2e.Message
	Axe(ctx context.Context, source, options string) ([]e2e.Violation, error)
	Close() error
}

var (
	_ driver = (*e2e.Page)(nil)
	_ driver = (*wire)(nil)
)

// wire is a driver over WebDriver, for Firefox and WebKitGTK.
type wire struct {
	browser.Page
	mu   sync.Mutex
	said []e2e.Message
}

func openWire(ctx context.Context, b browser.Browser, url string) (*wire, error) {
	w := &wire{}
	var err error
	w.Page, err = b.Open(ctx, url, browser.Events{Console: func(kind, text string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.said = append(w.said, e2e.Message{Kind: kind, Text: text})
	}})
	return w, err
}

func (w *wire) Eval(ctx context.Context, expression string, result any) error {
	raw, err := w.Page.Eval(ctx, expression)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (w *wire) EvalFrames(ctx context.Context, expression string) ([]browser.FrameValue, error) {
	return w.Page.(browser.Framer).EvalFrames(ctx, expression)
}

func (w *wire) WaitFor(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, poll.Limit)
	defer cancel()
	for {
		var ok bool
		// A message between two documents may stay without an answer, for which WebKitGTK's driver
		// waits half a minute.
		try, end := context.WithTimeout(ctx, 10*time.Second)
		last := w.Eval(try, "(async () => !!(await ("+expression+")))()", &ok)
		end()
		if last == nil && ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %.100q: %w", expression, errors.Join(ctx.Err(), last))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (w *wire) Type(ctx context.Context, selector, text string) error {
	if selector != "" {
		if err := w.Click(ctx, selector); err != nil {
			return err
		}
		// WebKitGTK's driver is back from a click before the focus has moved.
		if err := w.Eval(ctx, `void document.querySelector(`+js(selector)+`).focus()`, nil); err != nil {
			return err
		}
	}
	return w.Page.Type(ctx, text)
}

// Goto and Reload wait for a new document, which does not have the old one's mark.
func (w *wire) Goto(ctx context.Context, url string) error {
	return w.leave(ctx, `location.href = `+js(url))
}

func (w *wire) Reload(ctx context.Context) error { return w.leave(ctx, `location.reload()`) }

func (w *wire) leave(ctx context.Context, how string) error {
	if err := w.Eval(ctx, `(globalThis.stale = true, setTimeout(() => `+how+`), null)`, nil); err != nil {
		return err
	}
	return w.WaitFor(ctx, `!globalThis.stale && document.readyState === "complete"`)
}

func (w *wire) SetFiles(ctx context.Context, selector string, paths ...string) error {
	return w.Page.(browser.Filer).SetFiles(ctx, selector, paths...)
}

func (w *wire) Errors() (list []e2e.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.said {
		if m.Kind == "exception" || m.Kind == "error" || m.Kind == "assert" {
			list = append(list, m)
		}
	}
	return list
}

func (w *wire) Axe(ctx context.Context, source, options string) (list []e2e.Violation, err error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	if options == "" {
		options = "{}"
	}
	if _, err := w.EvalFrames(ctx, `(() => { if (globalThis.axe) return; `+string(text)+"\n;"+`axe.configure({allowedOrigins: ["<unsafe_all_origins>"]}); })()`); err != nil {
		return nil, err
	}
	err = w.Eval(ctx, `axe.run(document, Object.assign({resultTypes: ["violations"], pingWaitTime: 500, frameWaitTime: 40000}, `+options+`)).then((r) => r.violations)`, &list)
	return list, err
}

// opened is a page of the files example in one engine, with its browser.
type opened struct {
	driver
	engine browser.Engine
	page   browser.Page // the same underneath
	pid    int          // of the browser
	more   func(url string) *opened
}

// lasts reports whether the page keeps the sample folder and its conversations over a reload.
// Without an origin private file system it does not, and shows that.
func (o *opened) lasts() bool { return o.engine != browser.WebKit }

// calm ends all movement, so that colours are checked after their transitions.
func (o *opened) calm(t *testing.T) {
	t.Helper()
	if c, ok := o.driver.(*e2e.Page); ok {
		must(t, c.ReducedMotion(testContext(t), true))
		return
	}
	must(t, o.Eval(testContext(t), `void (() => { const s = new CSSStyleSheet(); s.replaceSync("*, ::before, ::after { animation: none !important; transition: none !important; }"); document.adoptedStyleSheets.push(s); })()`, nil))
}

// look sets the theme and the window's width. WebDriver has no theme of the system's: there
// it is the page's own. It reports false for a width that the engine can't have.
func (o *opened) look(t *testing.T, dark bool, width int) bool {
	t.Helper()
	ctx := testContext(t)
	if c, ok := o.driver.(*e2e.Page); ok {
		must(t, c.Dark(ctx, dark))
		must(t, c.Viewport(ctx, width, 800, 1))
		return true
	}
	scheme := map[bool]string{true: "dark", false: "light"}[dark]
	for range 2 {
		if eval[string](t, o, `document.documentElement.style.colorScheme`) != scheme {
			before := eval[string](t, o, `document.documentElement.style.colorScheme`)
			must(t, o.Eval(ctx, `document.getElementById("theme").click()`, nil)) // below a dialogue too
			must(t, o.WaitFor(ctx, `document.documentElement.style.colorScheme !== `+js(before)))
		}
	}
	err := o.page.Viewport(ctx, width, 800, 1)
	if errors.Is(err, browser.ErrUnsupported) {
		return width == 1280 // the window's own
	}
	must(t, err)
	return true
}

// open opens an address in a new browser of an engine.
func open(t *testing.T, engine browser.Engine, url string, o e2e.Options) *opened {
	t.Helper()
	if engine == browser.Chromium {
		b := launch(t, o)
		return more(t, func(url string) (driver, browser.Page, error) {
			p, err := b.Page(testContext(t), url)
			if err != nil {
				return nil, nil, err
			}
			return p, p.Chrome(), nil
		}, engine, b.Chromium().PID(), url)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // its life
	t.Cleanup(cancel)
	b, err := browser.Start(ctx, browser.Options{Engine: engine, Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { b.Close() })
	return more(t, func(url string) (driver, browser.Page, error) {
		w, err := openWire(ctx, b, url)
		return w, w.Page, err
	}, engine, b.PID(), url)
}

// more opens a page, and returns it with the ability to open others in the same browser.
func more(t *testing.T, page func(url string) (driver, browser.Page, error), engine browser.Engine, pid int, url string) *opened {
	t.Helper()
	d, p, err := page(url)
	must(t, err)
	return &opened{d, engine, p, pid, func(url string) *opened { return more(t, page, engine, pid, url) }}
}

// crash kills the process of the page, as the system does when no memory is left.
func (o *opened) crash(t *testing.T) {
	t.Helper()
	ctx := testContext(t)
	if c, ok := o.driver.(*e2e.Page); ok {
		go c.CDP(ctx, "Page.crash", map[string]any{}, nil) // which has no answer
		poll.Until(t, "the page crashes", func() bool { return c.Crashed() != "" })
		return
	}
	list, err := browser.Processes(o.pid)
	must(t, err)
	killed := 0
	for _, p := range list {
		if p.Kind == "tab" || p.Kind == "WebKitWebProcess" {
			must(t, syscall.Kill(p.PID, syscall.SIGKILL))
			killed++
		}
	}
	if killed == 0 {
		t.Fatalf("no process of a page among %+v", list)
	}
}

// eachFiles opens the page of the files example in each engine that this run tests, with the reader
// of commands as the model.
func eachFiles(t *testing.T, test func(t *testing.T, p *opened)) {
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			p := open(t, engine, site+"files/", e2e.Options{})
			filesReady(t, p)
			memory := eval[bool](t, p, `document.getElementById("name").textContent.includes("in memory")`)
			if private := eval[bool](t, p, `!!navigator.storage?.getDirectory`); private != p.lasts() || memory == private {
				t.Errorf("private file system: %v; the page says that the folder is in memory: %v", private, memory)
			}
			test(t, p)
		})
	}
}

// reloaded loads the page again, and reports whether its data is kept. If not, the page must show
// that, and start like a first visit.
func reloaded(t *testing.T, p *opened) bool {
	t.Helper()
	must(t, p.Reload(testContext(t)))
	filesReady(t, p)
	if p.lasts() {
		return true
	}
	for _, c := range [][2]string{
		{"that the folder is gone with the page", `document.getElementById("name").textContent.includes("in memory: gone with this page")`},
		{"the welcome of a first visit", `!document.getElementById("welcome").hidden && document.querySelectorAll("#sessions .chat").length === 1`},
	} {
		if !eval[bool](t, p, c[1]) {
			t.Errorf("after a reload in %s the page does not show %s; it says %q", p.engine, c[0], strings.TrimSpace(eval[string](t, p, `document.body.innerText.slice(0, 300)`)))
		}
	}
	return false
}

// keepPort keeps the port of a server that is closed, so that no other test's server gets it. It accepts no connection.
func keepPort(t *testing.T, host string) {
	t.Helper()
	at, err := netip.ParseAddrPort(host)
	must(t, err)
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	must(t, syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)) // its last connections are still being closed
	must(t, syscall.Bind(fd, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}))
}
