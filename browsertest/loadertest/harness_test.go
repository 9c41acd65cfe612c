package loadertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// built is the fixture's page, built once. chrome is the browser, started once.
var (
	built  string
	chrome browser.Browser
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "loadertest-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	tool := filepath.Join(dir, "wasm_exec")
	if err := command(ctx, "../..", "go", "build", "-o", tool, "./wasm_exec"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	built = filepath.Join(dir, "page")
	for _, name := range []string{"main", "other"} {
		if err := command(ctx, ".", tool, "build", "./testdata/fixture", "-fast", "-name", name, "-o", built); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	profile := filepath.Join(dir, "profile")
	if err := os.Mkdir(profile, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	chrome, err = browser.Start(ctx, browser.Options{Dir: profile, Args: browser.NoSpare})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer chrome.Close()
	return m.Run()
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// strict is the strictest policy under which the loader must work.
const strict = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

// site describes the page that a test opens. The zero value loads main.wasm by the script tag under
// the strict policy.
type site struct {
	csp    string // strict if empty, "-" for none
	html   string // content of the body, the script tag if empty
	script string // the module at /test.mjs
	// answer may answer a request itself.
	answer func(w http.ResponseWriter, r *http.Request) bool
	dark   bool
}

// tab is an open page, with its console.
type tab struct {
	browser.Page
	t       *testing.T
	ctx     context.Context
	url     string
	mu      sync.Mutex
	console []string
	asked   []string
}

func open(t *testing.T, s site) *tab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	files := http.FileServer(http.Dir(built))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.URL.Path)
		p.mu.Unlock()
		w.Header().Set("Cache-Control", "no-store")
		if s.csp != "-" {
			policy := s.csp
			if policy == "" {
				policy = strict
			}
			w.Header().Set("Content-Security-Policy", policy)
		}
		if s.answer != nil && s.answer(w, r) {
			return
		}
		switch r.URL.Path {
		case "/":
			body := s.html
			if body == "" && s.script == "" {
				body = `<script src="bailey.js" data-wasm="main.wasm"></script>`
			} else if s.script != "" {
				body += `<script type="module" src="test.mjs"></script>`
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>t</title><body>%s</body></html>`, body)
		case "/test.mjs":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, s.script)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	p.url = srv.URL
	p.show()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	p.must(p.Media(ctx, map[string]string{"prefers-color-scheme": scheme}))
	p.must(p.Viewport(ctx, 720, 420, 1))
	p.eval(`location.href = ` + quote(srv.URL+"/"))
	p.until(`document.readyState === "complete" && location.href !== "about:blank"`)
	return p
}

// show opens an empty page in the tab.
func (p *tab) show() {
	p.t.Helper()
	page, err := chrome.Open(p.ctx, "about:blank", browser.Events{Console: func(kind, text string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.console = append(p.console, kind+": "+text)
	}})
	p.must(err)
	p.t.Cleanup(func() { page.Close() })
	p.Page = page
}

func (p *tab) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// eval returns the JSON value of an expression.
func (p *tab) eval(js string) string {
	p.t.Helper()
	v, err := p.Eval(p.ctx, js)
	if err != nil {
		p.t.Fatalf("%s: %v\nconsole:\n%s", js, err, p.said())
	}
	return string(v)
}

func (p *tab) text(js string) string {
	p.t.Helper()
	var s string
	if v := p.eval(js); v != "" && v != "null" {
		p.must(json.Unmarshal([]byte(v), &s))
	}
	return s
}

// until waits until an expression is true.
func (p *tab) until(js string) {
	p.t.Helper()
	var err error
	poll.Until(p.t, js, func() bool {
		var v []byte
		v, err = p.Eval(p.ctx, "!!("+js+")")
		return err == nil && string(v) == "true"
	}, func() string { return fmt.Sprintf("%v\nconsole:\n%s", err, p.said()) })
}

const card = `(document.querySelector("bailey-loader")?.shadowRoot.querySelector(".card"))`

// failure waits for the error card, and returns its title, advice and details.
func (p *tab) failure() (title, fix, details string) {
	p.t.Helper()
	p.until(card + `?.classList.contains("error")`)
	get := func(sel string) string { return p.text(card + `.querySelector("` + sel + `")?.textContent ?? ""`) }
	return get("h2"), get("p"), get("pre")
}

func (p *tab) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.console, "\n")
}

// heard waits until the console contains text.
func (p *tab) heard(text string) {
	p.t.Helper()
	poll.Until(p.t, "the console says "+text, func() bool { return strings.Contains(p.said(), text) }, p.said)
}

// shot saves a screenshot if LOADERTEST_SHOTS is set.
func (p *tab) shot(name string) {
	p.t.Helper()
	dir := os.Getenv("LOADERTEST_SHOTS")
	if dir == "" {
		return
	}
	p.eval(`Promise.allSettled((document.querySelector("bailey-loader")?.shadowRoot.getAnimations() ?? []).map((a) => a.finished)).then(() => 1)`)
	png, err := p.Screenshot(p.ctx)
	p.must(err)
	p.must(os.MkdirAll(dir, 0o755))
	p.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// wants checks that text contains every part.
func wants(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s is %q: it should say %q", what, text, part)
		}
	}
}

// binary returns the name and content of the built main.wasm.
func binary(t *testing.T, pattern string) (name string, data []byte) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(built, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v %v", pattern, found, err)
	}
	data, err = os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return "/" + filepath.Base(found[0]), data
}

// plain returns a handler for a program under names without a hash. module answers with the module.
func plain(t *testing.T, module func(w http.ResponseWriter, r *http.Request, data []byte)) func(http.ResponseWriter, *http.Request) bool {
	t.Helper()
	_, data := binary(t, "main.*.wasm")
	_, exec := binary(t, "wasm_exec.*.js")
	return func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/plain.wasm":
			module(w, r, data)
		case "/wasm_exec.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Write(exec)
		default:
			return false
		}
		return true
	}
}

func isWasm(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, ".wasm") }

func replaceIn(data []byte, old, new string) []byte {
	return bytes.ReplaceAll(data, []byte(old), []byte(new))
}

// css returns a handler for app.css.
func css(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/app.css" {
			return false
		}
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, text)
		return true
	}
}
