package examples

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

const root = "../.."

var (
	shots = flag.Bool("shots", false, "write the kept screenshots into the examples' folders")
	ready = flag.String("built", "", "a folder of built examples to test, such as build/examples, in place of building them")
	site  string // the address of the served examples, ending in a slash

	command string // wasm_exec
	built   string // the folder of the built examples
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds the examples, serves them as a user does, and ends the server.
func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "bailey-examples-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "wasm_exec")
	built = filepath.Join(dir, "examples")
	plain := filepath.Join(built, "plain")
	// The commands of a step are run side by side.
	steps := [][][]string{{
		{"go", "build", "-o", command, "./wasm_exec"},
	}, {
		{"make", "-s", "wasitools"}, // made again only if something has changed
		{command, "build", "-fast", "-o", filepath.Join(built, "files"), "./examples/files"},
		{command, "build", "-fast", "-o", filepath.Join(built, "assistant"), "./examples/assistant"},
		{command, "build", "-fast", "-o", filepath.Join(built, "markdown"), "./examples/markdown"},
		{command, "build", "-fast", "-o", filepath.Join(built, "run"), "./examples/run"},
		{command, "build", "-fast", "-o", filepath.Join(built, "apps"), "./examples/apps"},
		{command, "build", "-fast", "-o", filepath.Join(built, "folder"), "./examples/folder"},
		{command, "build", "-fast", "-o", filepath.Join(built, "tool"), "./examples/tool"},
		{command, "build", "-fast", "-name", "bailey", "-o", plain, "./wasm_exec/prebuilt"},
	}, {
		{"cp", "-r", "build/tools", filepath.Join(built, "tool", "tools")},
		{"sh", "-c", `cp build/tools/* "$0"`, filepath.Join(built, "files", "tools")},
		{"sh", "-c", `cp examples/plain/web/* "$0"`, plain},
	}}
	if *ready != "" {
		from, err := filepath.Abs(*ready)
		if err != nil {
			return 0, err
		}
		steps = append(steps[:1], [][]string{{"cp", "-a", from, built}})
	}
	for _, commands := range steps {
		if err := together(commands); err != nil {
			return 0, err
		}
	}
	stop, err := models.start()
	if err != nil {
		return 0, err
	}
	defer stop()
	if err := withoutWorker(built); err != nil {
		return 0, err
	}
	if err := withModels(built); err != nil {
		return 0, err
	}
	serve := exec.Command(command, "serve", "-addr", "127.0.0.1:0", built)
	serve.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := serve.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := serve.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		_ = serve.Wait()
	}()
	lines := bufio.NewScanner(out)
	for site == "" && lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), " at "); ok {
			site = strings.Fields(rest)[0]
		}
	}
	if site == "" {
		return 0, fmt.Errorf("serve did not say where it serves")
	}
	code := m.Run()
	if shared.Browser != nil {
		err = shared.Close()
	}
	return code, err
}

// together runs commands in parallel, as many as there are processors.
func together(commands [][]string) error {
	slots, errs := make(chan struct{}, runtime.NumCPU()), make([]error, len(commands))
	var all sync.WaitGroup
	for i, args := range commands {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = root
			cmd.Env = slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "MAKE") }) // of a make that runs this test
			if out, err := cmd.CombinedOutput(); err != nil {
				errs[i] = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// long skips a test with -short. make e2e runs it.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes long: make e2e runs it")
	}
}

// testContext is the context of a test's actions. Waits have limits of their own, which begin anew with
// each. This one ends only a test that has failed.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// still is the system's setting of a user who wants no animations, which the examples respect. Without a graphics
// processor each frame of an animation is painted anew by the main one. The browsers that a test starts for itself
// have animations, except those of the drill.
var still = []string{"--force-prefers-reduced-motion"}

// shared is a browser for all tests that need nothing of it but pages. It is started for the first of them.
var shared struct {
	sync.Once
	*e2e.Browser
	err error
}

// pool has private windows of the shared browser that no test uses now. Such a window has compiled the programs of the
// examples, which is half of the processor's work at each load.
var pool struct {
	sync.Mutex
	free []*e2e.Browser
}

// window returns a private window with empty storage, and gives it back after the test.
func window(t *testing.T) *e2e.Browser {
	t.Helper()
	var b *e2e.Browser
	pool.Lock()
	if n := len(pool.free); n > 0 {
		b, pool.free = pool.free[n-1], pool.free[:n-1]
	}
	pool.Unlock()
	if b == nil {
		var err error
		b, err = shared.Private(context.Background())
		must(t, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := b.Empty(ctx, strings.TrimSuffix(site, "/")); err != nil || t.Failed() {
			b.Close()
			return
		}
		pool.Lock()
		pool.free = append(pool.free, b)
		pool.Unlock()
	})
	return b
}

// launch returns a browser with storage of its own: a private window of the shared one, or another process if
// it has options.
func launch(t *testing.T, o e2e.Options) *e2e.Browser {
	t.Helper()
	if reflect.DeepEqual(o, e2e.Options{}) {
		shared.Do(func() {
			shared.Browser, shared.err = e2e.Launch(context.Background(), e2e.Options{Args: still, Width: 1400, Height: 900})
		})
		must(t, shared.err)
		return window(t)
	}
	return launchOwn(t, o)
}

// launchOwn starts a browser for one test, which counts what the browser holds.
func launchOwn(t *testing.T, o e2e.Options) *e2e.Browser {
	t.Helper()
	if o.Width == 0 {
		o.Width, o.Height = 1400, 900
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute) // its life
	t.Cleanup(cancel)
	b, err := e2e.Launch(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// find returns a JavaScript expression of the first element that a CSS selector matches. In it " >>> " goes
// on in the open shadow tree of an element.
func find(selector string) string {
	return "document.querySelector(" + strings.ReplaceAll(js(selector), ` >>> `, `")?.shadowRoot.querySelector("`) + ")"
}

// focused is the element with the focus, also in an open shadow tree.
const focused = `((e) => { while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e; })(document.activeElement)`

// press clicks a button once it is enabled.
func press(t *testing.T, p driver, selector string) {
	t.Helper()
	ctx := testContext(t)
	must(t, p.WaitFor(ctx, "!"+find(selector)+`.matches(":disabled")`))
	unfold(t, selector, func(e string) string { return eval[string](t, p, e) }, func(s string) { must(t, p.Click(ctx, s)) },
		func(x, y float64) { must(t, p.MoveTo(ctx, x, y)) })
	must(t, p.Click(ctx, selector))
}

// unfold opens the menu that a button is in, if it is closed. It uses text to evaluate an expression, click
// to click an element, and move to move the mouse. It ends once the mouse reaches the button.
func unfold(t *testing.T, selector string, text func(expression string) string, click func(selector string), move func(x, y float64)) {
	t.Helper()
	id := text(find(selector) + `?.closest("[popover]:not(:popover-open)")?.id ?? ""`)
	if id == "" {
		return
	}
	opener := "[popovertarget=" + id + "]"
	if id == "chat-menu" {
		opener = `#sessions li:has([aria-current]) .more`
	}
	click(opener)
	poll.Until(t, id+" is open", func() bool { // it gets the focus once it is in its place
		return text(`String(document.getElementById(`+js(id)+`).matches(":popover-open:focus-within"))`) == "true"
	})
	reach(t, selector, text, move)
}

// reach moves the mouse to an element that has just come into the page: until it has been drawn, Chromium gives events
// above the frame of another process to that frame.
func reach(t *testing.T, selector string, text func(expression string) string, move func(x, y float64)) {
	t.Helper()
	poll.Until(t, selector+" is under the mouse", func() bool {
		var at [2]float64
		must(t, json.Unmarshal([]byte(text(`(() => { const r = `+find(selector)+`.getBoundingClientRect(); return JSON.stringify([r.x + r.width / 2, r.y + r.height / 2]) })()`)), &at))
		move(at[0]+1, at[1])
		move(at[0], at[1])
		return text(`String(`+find(selector)+`.matches(":hover"))`) == "true"
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, p driver, expression string) (v T) {
	t.Helper()
	must(t, p.Eval(testContext(t), expression, &v))
	return v
}

// nothingOutside reports an error for each request of a page to another server than the examples'. It closes
// the browser, and reports what its log has about names and machines.
func nothingOutside(t *testing.T, b *e2e.Browser, p *e2e.Page) {
	t.Helper()
	for _, r := range p.Requests() {
		if !strings.HasPrefix(r.URL, site) && !strings.HasPrefix(r.URL, "data:") && !strings.HasPrefix(r.URL, "about:") && !strings.HasPrefix(r.URL, "blob:") {
			t.Errorf("request for %s", r.URL)
		}
	}
	must(t, b.Close())
	noNames(t, b)
}

// inFrame returns the value of an expression in the inner frame of the page's document.
func inFrame(t *testing.T, p driver, expression string) string {
	t.Helper()
	values, err := p.EvalFrames(testContext(t), `document.getElementById("root")?.dataset.policy ? String(`+expression+`) : null`)
	must(t, err)
	said := ""
	for _, v := range values {
		if s := string(v.Value); s != "null" && s != "" {
			var text string
			must(t, json.Unmarshal(v.Value, &text))
			return text
		}
		if v.Err != "" {
			said += "; " + v.Err
		}
	}
	t.Fatalf("no frame of a document among %d frames%s", len(values), said)
	return ""
}

func noErrors(t *testing.T, p driver) {
	t.Helper()
	for _, m := range p.Errors() {
		t.Errorf("the page's console says: %+v", m)
	}
}

func noViolations(t *testing.T, p driver) {
	t.Helper()
	list, err := p.Axe(testContext(t), filepath.Join(root, "node_modules/axe-core/axe.min.js"), "")
	must(t, err)
	for _, v := range list {
		t.Errorf("axe: %s", v)
	}
}
