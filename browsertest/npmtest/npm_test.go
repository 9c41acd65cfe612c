package npmtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// root is the repository, dist the unpacked package, and policy the Content-Security-Policy that
// `wasm_exec headers` prints for a page without further features.
var (
	root, dist, policy string
	chrome             browser.Browser
)

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "npmtest-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := prepare(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer chrome.Close()
	return m.Run()
}

func prepare(ctx context.Context, dir string) (err error) {
	if root, err = filepath.Abs("../.."); err != nil {
		return err
	}
	tool, built := filepath.Join(dir, "wasm_exec"), filepath.Join(dir, "built")
	dist = filepath.Join(dir, "dist")
	for _, args := range [][]string{
		{"go", "build", "-o", tool, "./wasm_exec"},
		{tool, "build", "-fast", "-name", "bailey", "-o", built, "./wasm_exec/prebuilt"},
		{tool, "build", "-fast", "-name", "agent", "-o", built, "./wasm_exec/prebuilt/agent"},
		{"go", "run", "./wasm_exec/npm", "-o", dist, built},
	} {
		if _, err := command(ctx, root, args...); err != nil {
			return err
		}
	}
	out, err := command(ctx, root, tool, "headers", "-for", "json")
	if err != nil {
		return err
	}
	headers := map[string]string{}
	if err := json.Unmarshal(out, &headers); err != nil {
		return err
	}
	policy = headers["Content-Security-Policy"]
	profile := filepath.Join(dir, "profile")
	if err := os.Mkdir(profile, 0o700); err != nil {
		return err
	}
	chrome, err = browser.Start(ctx, browser.Options{Dir: profile, Args: browser.NoSpare})
	return err
}

func command(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, errs.String(), out)
	}
	return out, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	return ctx
}

// hosting is a way in which the files of a project reach the page.
type hosting struct {
	name   string
	folder string // of the page's address
	cdn    bool   // all but the page's HTML is at another origin, with CORS
	strict bool   // the page has the policy of wasm_exec headers
	types  string // further Trusted Types policies, which a framework makes for its own templates
}

var hostings = []hosting{
	{name: "subfolder", folder: "some/folder/"},
	{name: "another origin", cdn: true},
	{name: "strict policy", strict: true},
	{name: "another origin, strict policy", folder: "app/", cdn: true, strict: true},
}

// run opens the page of a built project, and fails the test if it does not show its text without violations.
func run(t *testing.T, files string, h hosting, wants map[string]any, more ...func(*testing.T, browser.Page, func())) {
	ctx := testContext(t)
	static := http.FileServer(http.Dir(files))
	cdn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.cdn {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			static.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(cdn.Close)
	html, err := os.ReadFile(filepath.Join(files, "index.html"))
	must(t, err)
	if h.cdn {
		html = []byte(strings.NewReplacer(`src="./`, `crossorigin src="`+cdn.URL+"/", `href="./`, `href="`+cdn.URL+"/").Replace(string(html)))
	}
	var mu sync.Mutex
	var missing, console []string
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.strict {
			csp := strings.Replace(policy, "trusted-types bailey", "trusted-types bailey"+h.types, 1)
			if h.cdn {
				csp = strings.NewReplacer("script-src 'self'", "script-src "+cdn.URL, "connect-src 'self'", "connect-src "+cdn.URL).Replace(csp)
			}
			w.Header().Set("Content-Security-Policy", csp)
		}
		path, inside := strings.CutPrefix(r.URL.Path, "/"+h.folder)
		switch {
		case inside && path == "":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write(html)
		case inside && !h.cdn:
			http.StripPrefix("/"+h.folder, static).ServeHTTP(w, r)
		default:
			mu.Lock()
			missing = append(missing, r.URL.Path)
			mu.Unlock()
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() { page.CloseClientConnections(); page.Close() })
	p, err := chrome.Open(ctx, page.URL+"/"+h.folder, browser.Events{Console: func(kind, text string) {
		mu.Lock()
		defer mu.Unlock()
		console = append(console, kind+": "+text)
	}})
	must(t, err)
	t.Cleanup(func() { p.Close() })
	said := func() string {
		mu.Lock()
		defer mu.Unlock()
		violations, _ := p.Eval(ctx, `globalThis.violations`)
		return fmt.Sprintf("violations %s, not found %q, console %q", violations, missing, console)
	}
	shows(t, p, wants, said)
	clean := func() {
		t.Helper()
		v, err := p.Eval(ctx, `globalThis.violations.length`)
		must(t, err)
		mu.Lock()
		defer mu.Unlock()
		bad := slices.DeleteFunc(slices.Clone(console), func(line string) bool { return strings.HasPrefix(line, "debug: ") })
		if string(v) != "0" || len(missing) > 0 || len(bad) > 0 {
			t.Errorf("violations %s, not found %q, console %q", v, missing, bad)
		}
	}
	clean()
	for _, f := range more {
		f(t, p, clean)
	}
}

// shows fails the test if the page does not report its text, and a click on its link.
func shows(t *testing.T, p browser.Page, wants map[string]any, said func() string) {
	t.Helper()
	ctx := testContext(t)
	poll.Until(t, "the page has reported", func() bool {
		v, err := p.Eval(ctx, `!!(globalThis.outcome || globalThis.failed)`)
		return err == nil && string(v) == "true"
	}, said)
	text, err := p.Eval(ctx, `globalThis.outcome ?? globalThis.failed`)
	must(t, err)
	got := map[string]any{}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s; %s", text, said())
	}
	for name, want := range wants {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
	shown, _ := got["html"].(string)
	if !strings.Contains(shown, "<em>you</em>") || strings.Contains(shown, "<script") || got["height"] != true {
		t.Errorf("the document shows %s", text)
	}
	// The user clicks the link, which is the last word of the document. A click that comes while the frame still moves hits nothing.
	poll.Until(t, "the event link", func() bool {
		must(t, clickLink(ctx, p))
		v, err := p.Eval(ctx, `globalThis.link`)
		return err == nil && string(v) == `"https://example.org/"`
	}, said)
}

// clickLink clicks into the line of the link, which begins 8 ems after the start of the document's last line.
func clickLink(ctx context.Context, p browser.Page) error {
	text, err := p.Eval(ctx, `(() => { const r = document.querySelector('bailey-document').getBoundingClientRect(); return [r.left + 60, r.bottom - 26]; })()`)
	if err != nil {
		return err
	}
	var at [2]float64
	if err := json.Unmarshal(text, &at); err != nil {
		return err
	}
	return p.ClickAt(ctx, at[0], at[1])
}

// project makes a fresh project from testdata below dir.
func project(t *testing.T, name, dir string) string {
	t.Helper()
	dir = filepath.Join(dir, name)
	must(t, os.RemoveAll(dir))
	must(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata/projects", name))))
	for _, shared := range []string{"outcome.mjs", "kit.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata/projects", shared))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, shared), text, 0o644))
	}
	return dir
}

var all = map[string]any{"sum": 3.0}

// A page without a bundler loads the folder by its address.
func TestBare(t *testing.T) {
	dir := project(t, "bare", t.TempDir())
	must(t, os.CopyFS(filepath.Join(dir, "bailey"), os.DirFS(dist)))
	for _, h := range hostings {
		if testing.Short() && !(h.cdn && h.strict) {
			continue
		}
		var more []func(*testing.T, browser.Page, func())
		if h.cdn && h.strict {
			more = append(more, element, integrity)
		}
		t.Run(h.name, func(t *testing.T) { run(t, dir, h, all, more...) })
	}
}

// install makes a fresh project with the packed package in it, below the folder with the bundlers.
func install(t *testing.T, name string) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("long: make npm")
	}
	ctx := testContext(t)
	npm := filepath.Join(root, "build/npm")
	if _, err := os.Stat(filepath.Join(npm, "node_modules/vite")); err != nil {
		t.Fatalf("the bundlers are not installed: %v (make npm)", err)
	}
	out, err := command(ctx, npm, "npm", "pack", "--silent", dist)
	must(t, err)
	dir = project(t, name, filepath.Join(npm, "projects"))
	must(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true, "type": "module"}`), 0o644))
	_, err = command(ctx, dir, "npm", "install", "--offline", "--no-audit", "--no-fund", "--no-package-lock", filepath.Join(npm, strings.TrimSpace(string(out))))
	must(t, err)
	return dir
}

// Vite's development server bundles the packages by itself and serves the program from where it is installed.
func TestViteServer(t *testing.T) {
	dir := install(t, "vite")
	ctx := testContext(t)
	cmd := exec.CommandContext(ctx, "node", "../../node_modules/vite/bin/vite.js", "--host", "127.0.0.1", "--port", "0", "--no-open")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	url := ""
	for url == "" && lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "Local:"); ok {
			url = strings.TrimSpace(after)
		}
	}
	go func() { // the server stops when its output is not read
		for lines.Scan() {
		}
	}()
	p, err := chrome.Open(ctx, url, browser.Events{})
	must(t, err)
	t.Cleanup(func() { p.Close() })
	shows(t, p, all, func() string { return url })
}

// TypeScript finds the types of the installed package in both resolutions that it offers for such a project.
func TestTypes(t *testing.T) {
	dir := install(t, "types")
	for module, resolution := range map[string]string{"esnext": "bundler", "nodenext": "nodenext"} {
		_, err := command(testContext(t), dir, filepath.Join(root, "node_modules/.bin/tsc"), "--ignoreConfig", "--noEmit", "--strict", "--target", "es2022",
			"--lib", "es2022,dom", "--jsx", "react-jsx", "--module", module, "--moduleResolution", resolution, "user.mts", "user.tsx")
		if err != nil {
			t.Errorf("%s: %v", resolution, err)
		}
		// The declarations of the frameworks themselves are not checked.
		_, err = command(testContext(t), dir, filepath.Join(root, "node_modules/.bin/tsc"), "--ignoreConfig", "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
			"--lib", "es2022,dom", "--module", module, "--moduleResolution", resolution, "vue.mts", "svelte.mts")
		if err != nil {
			t.Errorf("%s: %v", resolution, err)
		}
	}
}

// A server imports the module to render a page, where no browser is.
func TestServer(t *testing.T) {
	dir := install(t, "types")
	out, err := command(testContext(t), dir, "node", "--input-type=module", "-e", `import {load} from 'bailey'; import {load as agent} from 'bailey/agent'; import 'bailey/element'; import 'bailey/react'; import 'bailey/vue'; import 'bailey/svelte';
		for (const l of [load, agent]) console.log(await l().then(() => 'loaded', (e) => e.message))`)
	must(t, err)
	if strings.Count(string(out), "runs in a page") != 2 {
		t.Errorf("load() on a server: %s", out)
	}
}

func TestBundlers(t *testing.T) {
	vite := []string{"node", "../../node_modules/vite/bin/vite.js", "build", "--base=./"}
	script := []string{"node", "build.mjs"}
	for _, c := range []struct {
		name  string
		build []string
		wants map[string]any
		types string
	}{
		{"vite", vite, all, ""},
		{"react", vite, nil, ""},
		{"vue", vite, nil, " vue"},
		{"svelte", vite, nil, " svelte-trusted-html"},
		{"webpack", script, all, ""},
		{"esbuild", script, all, ""},
		{"rollup", script, all, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := install(t, c.name)
			_, err := command(testContext(t), dir, c.build...)
			must(t, err)
			for _, h := range hostings {
				h.types = c.types
				t.Run(h.name, func(t *testing.T) { run(t, filepath.Join(dir, "dist"), h, c.wants) })
			}
		})
	}
}
