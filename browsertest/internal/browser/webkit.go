package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// webkit is WebKitGTK's MiniBrowser on a virtual display, driven by WebKitWebDriver.
type webkit struct {
	display *child
	driver  *child
	wd      *webdriver
	version string
	home    string // the first window, which stays open

	// Commands go to the current window, so one page at a time may send them.
	mu sync.Mutex
}

func startWebKit(ctx context.Context, o Options) (Browser, error) {
	driver, err := exec.LookPath("WebKitWebDriver")
	if err != nil {
		return nil, fmt.Errorf("browser: WebKitWebDriver is not installed: on Debian run `sudo apt-get install %s`", strings.Join(debian[WebKit], " "))
	}
	k := &webkit{}
	var said tail
	fail := func(err error) (Browser, error) {
		k.Close()
		return nil, fmt.Errorf("browser: starting WebKitGTK: %w%s", err, said.String())
	}
	log := func(r io.Reader) {
		sc := bufio.NewScanner(r)
		for sc.Scan() {
			o.Logf("%s", sc.Text())
			said.add(sc.Text())
		}
		io.Copy(io.Discard, r)
	}
	env := append(homeEnv(o.Dir), "XDG_RUNTIME_DIR="+o.Dir, "GDK_BACKEND=x11", "NO_AT_BRIDGE=1", "GSETTINGS_BACKEND=memory",
		"LIBGL_ALWAYS_SOFTWARE=1", "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1")
	if x, err := exec.LookPath("Xvfb"); err == nil {
		d, err := k.startDisplay(ctx, x, log)
		if err != nil {
			return fail(err)
		}
		env = append(env, "DISPLAY="+d)
	} else if os.Getenv("DISPLAY") == "" {
		return nil, fmt.Errorf("browser: WebKitGTK needs a display and there is neither DISPLAY nor Xvfb: on Debian run `sudo apt-get install xvfb`")
	}
	port, err := freePort()
	if err != nil {
		return fail(err)
	}
	cmd := exec.Command(driver, "--host=127.0.0.1", "--port="+strconv.Itoa(port))
	cmd.Env = env
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	go log(r)
	if k.driver, err = startChild(cmd); err != nil {
		return fail(err)
	}
	wd := &webdriver{base: "http://127.0.0.1:" + strconv.Itoa(port)}
	var made struct {
		SessionID    string
		Capabilities struct{ BrowserName, BrowserVersion string }
	}
	caps := map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"pageLoadStrategy":        "none",
		"unhandledPromptBehavior": "ignore",
		"webkitgtk:browserOptions": map[string]any{
			"binary": o.Path, "args": append([]string{"--automation", "--geometry=1280x800"}, o.Args...),
		},
	}}}
	for deadline := time.Now().Add(60 * time.Second); ; {
		if err = wd.call(ctx, http.MethodPost, "", caps, &made); err == nil {
			break
		}
		// The driver may not be listening yet.
		if ctx.Err() != nil || time.Now().After(deadline) || !isRefused(err) {
			return fail(err)
		}
		select {
		case <-k.driver.done:
			return fail(fmt.Errorf("WebKitWebDriver ended at once"))
		case <-time.After(20 * time.Millisecond):
		}
	}
	wd.id = made.SessionID
	k.wd = wd
	if err := wd.call(ctx, http.MethodGet, "/window", nil, &k.home); err != nil {
		return fail(err)
	}
	k.version = made.Capabilities.BrowserName + "/" + made.Capabilities.BrowserVersion
	return k, nil
}

// startDisplay starts an X server that chooses its own number, and returns its display, such as
// ":99".
func (k *webkit) startDisplay(ctx context.Context, x string, log func(io.Reader)) (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	cmd := exec.Command(x, "-displayfd", "3", "-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-ac")
	cmd.ExtraFiles = []*os.File{w}
	pr, pw := io.Pipe()
	cmd.Stdout, cmd.Stderr = pw, pw
	go log(pr)
	k.display, err = startChild(cmd)
	w.Close()
	if err != nil {
		return "", err
	}
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })
	defer stop()
	r.SetReadDeadline(time.Now().Add(30 * time.Second))
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("starting Xvfb: %w", err)
	}
	return ":" + strings.TrimSpace(line), nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func isRefused(err error) bool { return strings.Contains(err.Error(), "connection refused") }

func (k *webkit) Engine() Engine        { return WebKit }
func (k *webkit) Version() string       { return k.version }
func (k *webkit) PID() int              { return k.driver.cmd.Process.Pid }
func (k *webkit) Done() <-chan struct{} { return k.driver.done }

func (k *webkit) Close() error {
	if k.wd != nil && k.wd.id != "" {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		k.wd.call(ctx, http.MethodDelete, "", nil, nil)
		cancel()
	}
	for _, c := range []*child{k.driver, k.display} {
		if c != nil {
			c.stop()
		}
	}
	return nil
}

func (k *webkit) Open(ctx context.Context, url string, ev Events) (Page, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// The current window may be closed already.
	if err := (&webkitPage{k, k.home}).locked(ctx, http.MethodGet, "/window", nil, nil); err != nil {
		return nil, err
	}
	var made struct{ Handle string }
	if err := k.wd.call(ctx, http.MethodPost, "/window/new", map[string]string{"type": "window"}, &made); err != nil {
		return nil, err
	}
	p := &webkitPage{k, made.Handle}
	if err := p.locked(ctx, http.MethodPost, "/url", map[string]string{"url": url}, nil); err != nil {
		return nil, err
	}
	return p, nil
}

type webkitPage struct {
	k      *webkit
	handle string
}

func (p *webkitPage) locked(ctx context.Context, verb, path string, params, result any) error {
	if err := p.k.wd.call(ctx, http.MethodPost, "/window", map[string]string{"handle": p.handle}, nil); err != nil {
		return err
	}
	return p.k.wd.call(ctx, verb, path, params, result)
}

func (p *webkitPage) call(ctx context.Context, verb, path string, params, result any) error {
	p.k.mu.Lock()
	defer p.k.mu.Unlock()
	return p.locked(ctx, verb, path, params, result)
}

func (p *webkitPage) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return p.call(ctx, http.MethodDelete, "/window", nil, nil)
}

func (p *webkitPage) Eval(ctx context.Context, expression string) (json.RawMessage, error) {
	return evalWebKit(ctx, p.call, expression)
}

func evalWebKit(ctx context.Context, call func(ctx context.Context, verb, path string, params, result any) error, expression string) (json.RawMessage, error) {
	var r *string
	err := call(ctx, http.MethodPost, "/execute/async", map[string]any{
		"script": "const done = arguments[0]; (async () => JSON.stringify(await (" + expression + ")) ?? 'null')().then(done, (e) => done('!' + e))",
		"args":   []any{},
	}, &r)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return json.RawMessage("null"), nil
	}
	if msg, ok := strings.CutPrefix(*r, "!"); ok {
		return nil, fmt.Errorf("browser: evaluating %.80q: %s", expression, msg)
	}
	return json.RawMessage(*r), nil
}

func (p *webkitPage) Screenshot(ctx context.Context) ([]byte, error) {
	var data []byte
	err := p.call(ctx, http.MethodGet, "/screenshot", nil, &data)
	return data, err
}

func (p *webkitPage) Media(ctx context.Context, f map[string]string) error {
	return noPage{"WebKitGTK: emulating media features"}.Media(ctx, f)
}

func (p *webkitPage) Viewport(ctx context.Context, width, height int, scale float64) error {
	return noPage{"WebKitGTK: emulating a viewport"}.Viewport(ctx, width, height, scale)
}

func (p *webkitPage) actions(ctx context.Context, source map[string]any) error {
	return p.call(ctx, http.MethodPost, "/actions", map[string]any{"actions": []any{source}}, nil)
}

func (p *webkitPage) Click(ctx context.Context, selector string) error {
	x, y, err := point(ctx, p.Eval, selector)
	if err != nil {
		return err
	}
	return p.ClickAt(ctx, x, y)
}

func (p *webkitPage) ClickAt(ctx context.Context, x, y float64) error {
	return p.actions(ctx, pointer(x, y, true))
}

func (p *webkitPage) MoveTo(ctx context.Context, x, y float64) error {
	return p.actions(ctx, pointer(x, y, false))
}

func (p *webkitPage) Type(ctx context.Context, text string) error {
	return p.actions(ctx, typing(text))
}

func (p *webkitPage) Press(ctx context.Context, key string) error {
	source, err := pressing(key)
	if err != nil {
		return err
	}
	return p.actions(ctx, source)
}
