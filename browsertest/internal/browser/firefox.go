package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// firefox is a Firefox that is driven by WebDriver BiDi.
type firefox struct {
	proc    *child
	bidi    *bidi
	version string

	mu    sync.Mutex
	pages map[string]Events
}

var bidiAddress = regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)

func startFirefox(ctx context.Context, o Options) (Browser, error) {
	profile := filepath.Join(o.Dir, "profile")
	if err := writeProfile(profile); err != nil {
		return nil, err
	}
	args := append([]string{"--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "--remote-allow-system-access", "--window-size", "1280,800"}, o.Args...)
	cmd := exec.Command(o.Path, append(args, "about:blank")...)
	cmd.Env = append(homeEnv(o.Dir), "MOZ_HEADLESS_WIDTH=1280", "MOZ_HEADLESS_HEIGHT=800", "MOZ_CRASHREPORTER_DISABLE=1", "MOZ_REMOTE_SETTINGS_DEVTOOLS=1")
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	proc, err := startChild(cmd)
	if err != nil {
		return nil, fmt.Errorf("browser: starting %s: %w", o.Path, err)
	}
	address := make(chan string, 1)
	var said tail
	go func() {
		sc := bufio.NewScanner(r)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			o.Logf("%s", sc.Text())
			said.add(sc.Text())
			if m := bidiAddress.FindStringSubmatch(sc.Text()); m != nil {
				select {
				case address <- m[1]:
				default:
				}
			}
		}
		io.Copy(io.Discard, r)
	}()
	f := &firefox{proc: proc, pages: map[string]Events{}}
	fail := func(err error) (Browser, error) {
		f.Close()
		return nil, fmt.Errorf("browser: starting %s: %w%s", o.Path, err, said.String())
	}
	var url string
	select {
	case url = <-address:
	case <-proc.done:
		return fail(fmt.Errorf("it ended at once"))
	case <-ctx.Done():
		return fail(ctx.Err())
	case <-time.After(60 * time.Second):
		return fail(fmt.Errorf("it did not offer WebDriver BiDi within a minute"))
	}
	if f.bidi, err = dialBiDi(ctx, url+"/session", f.event); err != nil {
		return fail(err)
	}
	var session struct {
		Capabilities struct{ BrowserName, BrowserVersion string }
	}
	if err := f.bidi.call(ctx, "session.new", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"unhandledPromptBehavior": map[string]string{"default": "ignore"},
	}}}, &session); err != nil {
		return fail(err)
	}
	f.version = session.Capabilities.BrowserName + "/" + session.Capabilities.BrowserVersion
	if err := f.bidi.call(ctx, "session.subscribe", map[string]any{"events": []string{"log.entryAdded", "browsingContext.contextDestroyed"}}, nil); err != nil {
		return fail(err)
	}
	if err := f.unwatchWorkers(ctx); err != nil {
		return fail(err)
	}
	return f, nil
}

// unwatchWorkers ends the remote agent's listening for workers. While it or the developer tools
// listen, the thread that calls new Worker waits until the main thread has notified the listeners. If
// that thread is a worker, about one call in fifty never returns (Firefox 153). Pages that are not
// debugged have no such listeners.
func (f *firefox) unwatchWorkers(ctx context.Context) error {
	var tree struct{ Contexts []struct{ Context string } }
	if err := f.bidi.call(ctx, "browsingContext.getTree", map[string]any{"moz:scope": "chrome", "maxDepth": 0}, &tree); err != nil {
		return err
	}
	if len(tree.Contexts) == 0 {
		return errors.New("no window of its own to run a script in")
	}
	var r struct {
		Type             string
		ExceptionDetails struct{ Text string }
	}
	err := f.bidi.call(ctx, "script.evaluate", map[string]any{
		"expression": `{
			const at = "chrome://remote/content/shared/js-process-actors/WebDriverWorkerListenerActor.sys.mjs";
			let agent;
			try { agent = ChromeUtils.importESModule(at) } catch {} // a version that doesn't listen
			agent?.unregisterWebDriverWorkerListenerActor();
		}`,
		"target": map[string]any{"context": tree.Contexts[0].Context}, "awaitPromise": false,
	}, &r)
	if err == nil && r.Type == "exception" {
		err = errors.New(r.ExceptionDetails.Text)
	}
	return err
}

func (f *firefox) Engine() Engine        { return Firefox }
func (f *firefox) Version() string       { return f.version }
func (f *firefox) PID() int              { return f.proc.cmd.Process.Pid }
func (f *firefox) Done() <-chan struct{} { return f.proc.done }

func (f *firefox) Close() error {
	if f.bidi != nil {
		f.bidi.close()
	}
	f.proc.stop()
	return nil
}

func (f *firefox) event(method string, raw json.RawMessage) {
	if method != "log.entryAdded" {
		return
	}
	var e struct {
		Type   string
		Method string
		Level  string
		Text   string
		Source struct{ Context string }
	}
	if json.Unmarshal(raw, &e) != nil {
		return
	}
	f.mu.Lock()
	ev := f.pages[e.Source.Context]
	f.mu.Unlock()
	if ev.Console == nil {
		return
	}
	kind := e.Method
	if e.Type == "javascript" {
		kind = "exception"
	}
	ev.Console(kind, e.Text)
}

func (f *firefox) Open(ctx context.Context, url string, ev Events) (Page, error) {
	var made struct{ Context string }
	if err := f.bidi.call(ctx, "browsingContext.create", map[string]any{"type": "window"}, &made); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.pages[made.Context] = ev
	f.mu.Unlock()
	p := &firefoxPage{f, made.Context}
	if err := f.bidi.call(ctx, "browsingContext.navigate", map[string]any{"context": made.Context, "url": url, "wait": "none"}, nil); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

type firefoxPage struct {
	f       *firefox
	context string
}

func (p *firefoxPage) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p.f.mu.Lock()
	delete(p.f.pages, p.context)
	p.f.mu.Unlock()
	return p.f.bidi.call(ctx, "browsingContext.close", map[string]any{"context": p.context}, nil)
}

func (p *firefoxPage) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	// JSON.stringify, because BiDi has a format of its own for values.
	var r struct {
		Type             string
		Result           struct{ Type, Value string }
		ExceptionDetails struct{ Text string }
	}
	err := p.f.bidi.call(ctx, "script.evaluate", map[string]any{
		"expression": "(async () => JSON.stringify(await (" + expression + ")) ?? 'null')()",
		"target":     map[string]any{"context": p.context}, "awaitPromise": true, "userActivation": true,
	}, &r)
	if err != nil {
		return nil, err
	}
	if r.Type == "exception" {
		return nil, fmt.Errorf("browser: evaluating %.80q: %s", expression, r.ExceptionDetails.Text)
	}
	return json.RawMessage(r.Result.Value), nil
}

func (p *firefoxPage) Screenshot(ctx context.Context) ([]byte, error) {
	var r struct{ Data []byte }
	err := p.f.bidi.call(ctx, "browsingContext.captureScreenshot", map[string]any{"context": p.context}, &r)
	return r.Data, err
}

func (p *firefoxPage) Viewport(ctx context.Context, width, height int, scale float64) error {
	params := map[string]any{"context": p.context, "viewport": nil, "devicePixelRatio": nil}
	if width != 0 || height != 0 {
		params["viewport"] = map[string]int{"width": width, "height": height}
		if scale != 0 {
			params["devicePixelRatio"] = scale
		}
	}
	return p.f.bidi.call(ctx, "browsingContext.setViewport", params, nil)
}

func (p *firefoxPage) Media(ctx context.Context, features map[string]string) error {
	return noPage{"Firefox: emulating media features over WebDriver BiDi"}.Media(ctx, features)
}

func (p *firefoxPage) actions(ctx context.Context, source map[string]any) error {
	return p.f.bidi.call(ctx, "input.performActions", map[string]any{"context": p.context, "actions": []any{source}}, nil)
}

func (p *firefoxPage) Click(ctx context.Context, selector string) error {
	x, y, err := point(ctx, p.Eval, selector)
	if err != nil {
		return err
	}
	return p.ClickAt(ctx, x, y)
}

func (p *firefoxPage) ClickAt(ctx context.Context, x, y float64) error {
	return p.actions(ctx, pointer(x, y, true))
}

func (p *firefoxPage) MoveTo(ctx context.Context, x, y float64) error {
	return p.actions(ctx, pointer(x, y, false))
}

func (p *firefoxPage) Type(ctx context.Context, text string) error {
	return p.actions(ctx, typing(text))
}

func (p *firefoxPage) Press(ctx context.Context, key string) error {
	source, err := pressing(key)
	if err != nil {
		return err
	}
	return p.actions(ctx, source)
}

// tail keeps the last ten lines that a browser printed, for an error.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, s)
	if len(t.lines) > 10 {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return "\nIt said:\n  " + strings.Join(t.lines, "\n  ")
}
