package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// ChromiumBrowser is a Chromium that is driven over a pipe by the DevTools protocol.
type ChromiumBrowser struct {
	ctx     context.Context
	version string
	done    chan struct{}
	close   func() error
	// private is the browser context of a Private browser, empty for the profile itself.
	private cdp.BrowserContextID
	// broom is the page from which Empty works. It stays open, because a window costs a third of a second.
	broom *ChromiumPage
}

// chromiumFlags make a quiet browser: it makes no requests but the test's, and does not throttle windows in the
// background.
var chromiumFlags = []chromedp.ExecAllocatorOption{
	chromedp.NoFirstRun,
	chromedp.NoDefaultBrowserCheck,
	chromedp.Flag("headless", "new"),
	chromedp.Flag("disable-gpu", true),
	chromedp.Flag("disable-quic", true),
	chromedp.Flag("disable-background-networking", true),
	chromedp.Flag("disable-background-timer-throttling", true),
	chromedp.Flag("disable-backgrounding-occluded-windows", true),
	chromedp.Flag("disable-renderer-backgrounding", true),
	chromedp.Flag("disable-breakpad", true),
	chromedp.Flag("disable-component-update", true),
	chromedp.Flag("disable-client-side-phishing-detection", true),
	chromedp.Flag("disable-default-apps", true),
	chromedp.Flag("disable-dev-shm-usage", true),
	chromedp.Flag("disable-domain-reliability", true),
	chromedp.Flag("disable-extensions", true),
	chromedp.Flag("disable-hang-monitor", true),
	chromedp.Flag("disable-ipc-flooding-protection", true),
	chromedp.Flag("disable-popup-blocking", true),
	chromedp.Flag("disable-prompt-on-repost", true),
	chromedp.Flag("disable-sync", true),
	// The flags above leave some requests: sign-in, the time, form hints and updates. These flags send them to port
	// 9, to which the browser itself refuses to connect.
	chromedp.Flag("gaia-url", "http://127.0.0.1:9"),
	chromedp.Flag("component-updater", "url-source=http://127.0.0.1:9/"),
	chromedp.Flag("no-pings", true),
	chromedp.Flag("mute-audio", true),
	chromedp.Flag("hide-scrollbars", true),
	chromedp.Flag("force-color-profile", "srgb"),
	chromedp.Flag("metrics-recording-only", true),
	chromedp.Flag("safebrowsing-disable-auto-update", true),
	chromedp.Flag("password-store", "basic"),
	chromedp.Flag("use-mock-keychain", true),
	chromedp.Flag("window-size", "1280,800"),
}

// chromiumDisabled are features that make requests, or that take a renderer process for each window, such as the
// windows behind the address bar.
const chromiumDisabled = "Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider,InterestFeedContentSuggestions," +
	"CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,AutofillServerCommunication," +
	"WebUIOmniboxPopup,WebUIOmniboxAimPopup"

// NoSpare are arguments for Chromium without a renderer process in reserve. It starts one after each navigation, which takes
// a tenth of the processor's time of tests with many frames, and saves them none. A user's browser has one, so
// the benches have it.
var NoSpare = []string{"--disable-features=SpareRendererForSitePerProcess"}

// endLimit is the limit for steps that Chromium normally does at once: to close, to show a tab, to let a renderer
// crash. Only a browser that hangs, or a very busy machine, takes longer than a moment.
const endLimit = 30 * time.Second

func startChromium(ctx context.Context, o Options) (*ChromiumBrowser, error) {
	opts := append([]chromedp.ExecAllocatorOption{}, chromiumFlags...)
	opts = append(opts,
		chromedp.ExecPath(o.Path),
		chromedp.UserDataDir(filepath.Join(o.Dir, "profile")),
		chromedp.CombinedOutput(logWriter(o.Logf)),
		chromedp.ModifyCmdFunc(func(c *exec.Cmd) {
			c.Env = homeEnv(o.Dir)
			prepareChild(c)
		}),
	)
	if os.Geteuid() == 0 {
		// Chromium refuses to start its own sandbox as root.
		opts = append(opts, chromedp.NoSandbox)
	}
	// Chromium uses only the last such list, so a caller's list is added to ours.
	disabled := chromiumDisabled
	for _, a := range o.Args {
		name, value, ok := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name == "disable-features" {
			disabled += "," + value
			continue
		}
		if ok {
			opts = append(opts, chromedp.Flag(name, value))
		} else {
			opts = append(opts, chromedp.Flag(name, true))
		}
	}
	opts = append(opts, chromedp.Flag("disable-features", disabled))
	if err := writePreferences(filepath.Join(o.Dir, "profile"), o.Preferences); err != nil {
		return nil, err
	}
	// The browser outlives the end of ctx, until Close has ended it in order.
	actx, acancel := chromedp.NewExecAllocator(context.WithoutCancel(ctx), opts...)
	bctx, bcancel := chromedp.NewContext(actx, chromedp.WithErrorf(o.Logf), chromedp.WithLogf(o.Logf))
	b := &ChromiumBrowser{ctx: bctx, done: make(chan struct{})}
	var once sync.Once
	b.close = func() error {
		var err error
		once.Do(func() {
			tctx, cancel := context.WithTimeout(bctx, endLimit)
			defer cancel()
			err = chromedp.Cancel(tctx)
			bcancel()
			acancel()
		})
		return err
	}
	stop := context.AfterFunc(ctx, func() { bcancel() })
	defer stop()
	v, err := chromedp.CallBrowser(bctx, browser.GetVersion, cdp.Empty{})
	if err != nil {
		b.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("browser: starting %s: %w", o.Path, err)
	}
	b.version = v.Product
	go func() {
		select {
		case <-chromedp.FromContext(bctx).Browser.LostConnection:
		case <-bctx.Done():
		}
		close(b.done)
	}()
	return b, nil
}

func (b *ChromiumBrowser) Engine() Engine        { return Chromium }
func (b *ChromiumBrowser) Version() string       { return b.version }
func (b *ChromiumBrowser) Done() <-chan struct{} { return b.done }
func (b *ChromiumBrowser) Close() error          { return b.close() }

// Private returns a browser in b's processes with storage, a cache and service workers of its own,
// like a private window. Close closes its pages and drops its storage.
func (b *ChromiumBrowser) Private(ctx context.Context) (*ChromiumBrowser, error) {
	yes := true
	r, err := chromedp.CallBrowser(b.ctx, target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: &yes})
	if err != nil {
		return nil, fmt.Errorf("browser: a private window: %w", err)
	}
	pctx, cancel := context.WithCancel(b.ctx)
	p := &ChromiumBrowser{ctx: pctx, version: b.version, done: b.done, private: r.BrowserContextID}
	var once sync.Once
	p.close = func() (err error) {
		once.Do(func() {
			defer cancel()
			_, err = chromedp.CallBrowser(b.ctx, target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: p.private})
		})
		return err
	}
	context.AfterFunc(ctx, func() { p.close() })
	return p, nil
}

// Empty makes a Private browser as good as a new one for pages of the origins: it closes all pages
// but an empty one of its own, deletes what these origins have stored, and takes back all permissions. The cache stays,
// with the compiled code of programs.
func (b *ChromiumBrowser) Empty(ctx context.Context, origins ...string) error {
	if b.private == "" {
		return errors.New("browser: only a private window can be emptied")
	}
	pages := func() (list []target.ID, err error) {
		infos, err := b.targets(ctx)
		for _, t := range infos {
			if t.BrowserContextID == b.private && t.Type == "page" && (b.broom == nil || t.TargetID != b.broom.target.TargetID) {
				list = append(list, t.TargetID)
			}
		}
		return list, err
	}
	open, err := pages()
	if err != nil {
		return err
	}
	for _, id := range open { // one may have closed itself
		_ = b.Call(ctx, target.CloseTarget.Method, target.CloseTargetParams{TargetID: id}, nil)
	}
	for len(open) > 0 {
		if open, err = pages(); err != nil {
			return err
		}
	}
	if err := b.Call(ctx, "Browser.resetPermissions", map[string]any{"browserContextId": b.private}, nil); err != nil {
		return err
	}
	if b.broom == nil {
		if b.broom, err = b.NewPage(ctx, Events{}, nil); err != nil {
			return err
		}
	}
	const types = "cookies,file_systems,indexeddb,local_storage,service_workers,cache_storage,interest_groups,shared_storage,storage_buckets"
	for _, origin := range origins {
		if err := b.broom.Call(ctx, "Storage.clearDataForOrigin", map[string]any{"origin": origin, "storageTypes": types}, nil); err != nil {
			return fmt.Errorf("browser: deleting what %s has stored: %w", origin, err)
		}
	}
	return nil
}

// PID implements [Browser]. It returns 0 if the process is unknown.
func (b *ChromiumBrowser) PID() int {
	if p := chromedp.FromContext(b.ctx).Browser.Process(); p != nil {
		return p.Pid
	}
	return 0
}

// Call runs a command of the DevTools protocol on the browser, and decodes its result.
func (b *ChromiumBrowser) Call(ctx context.Context, method string, params, result any) error {
	return chromedp.FromContext(b.ctx).Browser.Call(ctx, method, params, result)
}

// Grant gives an origin permissions by their DevTools names.
func (b *ChromiumBrowser) Grant(ctx context.Context, origin string, permissions []string) error {
	params := map[string]any{"origin": origin, "permissions": permissions}
	if b.private != "" {
		params["browserContextId"] = b.private
	}
	return b.Call(ctx, "Browser.grantPermissions", params, nil)
}

// dispatch calls the functions of Events for a page's DevTools events.
func dispatch(e any, ev Events) {
	switch e := e.(type) {
	case *inspector.EventTargetCrashed:
		if ev.Crashed != nil {
			ev.Crashed("the page's renderer crashed")
		}
	case *runtime.EventConsoleAPICalled:
		if ev.Console == nil {
			return
		}
		var parts []string
		for _, a := range e.Args {
			parts = append(parts, remoteText(a))
		}
		ev.Console(string(e.Type), strings.Join(parts, " "))
	case *runtime.EventExceptionThrown:
		if ev.Console == nil || e.ExceptionDetails == nil {
			return
		}
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + remoteText(x)
		}
		ev.Console("exception", text)
	case *log.EventEntryAdded:
		if ev.Console == nil || e.Entry == nil {
			return
		}
		text := e.Entry.Text
		if e.Entry.URL != "" {
			text += " (" + e.Entry.URL + ")"
		}
		ev.Console("log", text)
	}
}

func remoteText(o *runtime.RemoteObject) string {
	if len(o.Value) > 0 {
		s := string(o.Value)
		if o.Type == runtime.RemoteObjectTypeString {
			s = unquote(s)
		}
		return s
	}
	if o.Description != "" {
		return o.Description
	}
	if o.UnserializableValue != "" {
		return string(o.UnserializableValue)
	}
	return string(o.Type)
}

// writePreferences writes settings into a profile that Chromium has not opened yet.
func writePreferences(profile string, prefs map[string]any) error {
	if len(prefs) == 0 {
		return nil
	}
	data, err := json.Marshal(prefs)
	if err != nil {
		return err
	}
	dir := filepath.Join(profile, "Default")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "Preferences"), data, 0o600)
}
