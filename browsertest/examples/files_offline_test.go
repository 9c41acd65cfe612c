package examples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
)

// ownServer serves a copy of the built files example, and can be stopped.
type ownServer struct {
	t    *testing.T
	dir  string
	addr string
	cmd  *exec.Cmd

	args  []string // of the command
	relay string   // its address, if it has one
}

func newOwnServer(t *testing.T, args ...string) *ownServer {
	t.Helper()
	return newServerOf(t, "files", args...)
}

// newServerOf serves a copy of one of the built pages of the files example.
func newServerOf(t *testing.T, page string, args ...string) *ownServer {
	t.Helper()
	s := &ownServer{t: t, dir: t.TempDir(), args: args}
	must(t, copyBuilt(filepath.Join(s.dir, "files"), filepath.Join(built, page)))
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *ownServer) start() {
	s.t.Helper()
	s.cmd = exec.Command(command, append(append([]string{"serve", "-addr", "127.0.0.1:0"}, s.args...), s.dir)...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	must(s.t, err)
	must(s.t, s.cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "the settings of a page: "); ok {
			s.relay = rest
		}
		if _, rest, ok := strings.Cut(lines.Text(), " at http://"); ok {
			s.addr, _, _ = strings.Cut(rest, "/")
			go func() { _, _ = io.Copy(io.Discard, out) }() // the relay's log must not block it
			return
		}
	}
	s.t.Fatal("it does not say where it serves")
}

func (s *ownServer) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

func (s *ownServer) open(engine browser.Engine) *opened {
	s.t.Helper()
	p := open(s.t, engine, "http://"+s.addr+"/files/", e2e.Options{})
	filesReady(s.t, p)
	return p
}

// eachServed opens the page as it is deployed, from a server of its own, in each engine that this run tests.
func eachServed(t *testing.T, test func(t *testing.T, s *ownServer, p *opened)) {
	for _, engine := range engines() {
		t.Run(string(engine), func(t *testing.T) {
			s := newServerOf(t, whole)
			test(t, s, s.open(engine))
		})
	}
}

// build builds the page again, with a change in its files.
func (s *ownServer) build(name, old, new string) {
	s.t.Helper()
	src := filepath.Join(root, "examples", "files-"+filepath.Base(s.dir)) // in the module, for its imports
	defer os.RemoveAll(src)
	must(s.t, os.CopyFS(src, os.DirFS(filepath.Join(root, "examples/files"))))
	file := filepath.Join(src, name)
	data, err := os.ReadFile(file)
	must(s.t, err)
	if !strings.Contains(string(data), old) {
		s.t.Fatalf("%s has no %q", name, old)
	}
	must(s.t, os.WriteFile(file, []byte(strings.Replace(string(data), old, new, 1)), 0o644))
	cmd := exec.Command(command, "build", "-fast", "-o", filepath.Join(s.dir, "files"), "./"+filepath.ToSlash(strings.TrimPrefix(src, root+"/")))
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

func filesReady(t *testing.T, p driver) {
	t.Helper()
	if err := p.WaitFor(testContext(t), `document.getElementById("tour")?.disabled === false`); err != nil {
		t.Fatalf("the page is not ready: %v; it says %q", err, eval[string](t, p, `document.body?.innerText.slice(0, 500) ?? ""`))
	}
}

// stored waits until the service worker has stored the page.
func stored(t *testing.T, p driver) {
	t.Helper()
	must(t, p.WaitFor(testContext(t), `!document.getElementById("stored").hidden && !!navigator.serviceWorker.controller`))
}

// After one visit the page works without its server: the conversation is kept, commands are read, code
// runs, and so does a tool that was used before. An error names a file that was never fetched.
func TestFilesOffline(t *testing.T) {
	t.Parallel()
	eachServed(t, func(t *testing.T, s *ownServer, p *opened) {
		ctx := testContext(t)
		stored(t, p)
		isolated := eval[bool](t, p, `crossOriginIsolated`)
		if isolated != (p.engine != browser.WebKit) { // WebKit does not support credentialless
			t.Errorf("online it is isolated: %v", isolated)
		}
		say(t, p, `run "awk 'END {print NR}' README.md"`)
		rested(t, p)
		s.stop()
		if reloaded(t, p) && eval[bool](t, p, `!document.getElementById("welcome").hidden`) {
			t.Error("the conversation is gone")
		}
		before := eval[int](t, p, `document.getElementById("cards").children.length`)
		for i, text := range []string{`search for TODO in notes`, `javascript: return 6 * 7`, `run "awk 'END {print NR}' hours.csv"`} {
			say(t, p, text)
			must(t, p.WaitFor(ctx, fmt.Sprintf(`document.getElementById("stop").hidden && document.querySelectorAll("#cards li.done").length >= %d`, before+i+1)))
		}
		say(t, p, `run "sqlite3 :memory: 'select 1'"`)
		must(t, p.WaitFor(ctx, `document.getElementById("stop").hidden && [...document.querySelectorAll("#cards pre")].some((e) => e.textContent.includes("can't be fetched: there is no network"))`))
		// The headers of the copy are in force.
		if got := eval[string](t, p, `(async () => { try { await fetch("https://collect.example/"); return "out"; } catch { return "held"; } })()`); got != "held" {
			t.Error("without its server the page reaches out")
		}
		if eval[bool](t, p, `crossOriginIsolated`) != isolated {
			t.Error("the copy lost the isolation")
		}
	})
}

// The page's own requests, such as a conversation sent to a model, bypass the service worker. It would
// otherwise keep a copy of each until its garbage is collected.
func TestFilesSendsPastServiceWorker(t *testing.T) {
	t.Parallel()
	s := newServerOf(t, whole)
	p := s.open(browser.Chromium) // the other engines know no routes
	stored(t, p)
	past := func(method string) bool {
		return eval[bool](t, p, `(async () => {
			const url = new URL("style.css?`+method+`", location.href).href;
			await (await fetch(url, {method: "`+method+`", body: "`+method+`" === "GET" ? undefined : "x"})).text();
			for (;;) {
				const [entry] = performance.getEntriesByName(url);
				if (entry?.workerStart > 0) return entry.workerMatchedSourceType === "network"; // by a route
				await new Promise((done) => setTimeout(done, 10));
			}
		})()`)
	}
	for method, want := range map[string]bool{"GET": false, "POST": true, "PUT": true} {
		if past(method) != want {
			t.Errorf("%s goes past the service worker: %v, want %v", method, !want, want)
		}
	}
}

// A policy changed on the server is in force from the next load on, and then without a server too: no copy
// keeps an older one.
func TestFilesPolicyStaysCurrent(t *testing.T) {
	t.Parallel()
	eachServed(t, func(t *testing.T, s *ownServer, p *opened) {
		ctx := testContext(t)
		stored(t, p)
		policyOf := func() string {
			return eval[string](t, p, `new Promise((done) => { document.addEventListener("securitypolicyviolation", (e) => done(e.originalPolicy), {once: true}); const i = new Image(); i.src = "https://pictures.example/x.png"; document.body.append(i); })`)
		}
		if got := policyOf(); strings.Contains(got, "news.example") || !strings.Contains(got, "img-src") {
			t.Fatal(got)
		}
		headers := filepath.Join(s.dir, "files", "headers.json")
		data, err := os.ReadFile(headers)
		must(t, err)
		var use map[string]any
		must(t, json.Unmarshal(data, &use))
		use["images"] = []string{"news.example"}
		data, err = json.Marshal(use)
		must(t, err)
		must(t, os.WriteFile(headers, data, 0o644))
		must(t, p.Reload(ctx))
		filesReady(t, p)
		if got := policyOf(); !strings.Contains(got, "news.example") {
			t.Errorf("online, the policy is still %s", got)
		}
		s.stop()
		must(t, p.Reload(ctx))
		filesReady(t, p)
		if got := policyOf(); !strings.Contains(got, "news.example") {
			t.Errorf("without the server the policy is %s", got)
		}
	})
}

// An open page notices a new build, and loads all of it. Without a network the newer one is used.
func TestFilesNewVersion(t *testing.T) {
	long(t)
	t.Parallel()
	eachServed(t, func(t *testing.T, s *ownServer, p *opened) {
		stored(t, p)
		if eval[bool](t, p, `!document.getElementById("update").hidden`) {
			t.Error("a new version is told of where there is none")
		}
		s.build("web/index.html", "<h2>Work with an assistant on your own files</h2>", "<h2>What this is now</h2>")
		ctx := testContext(t)                                           // the build took its time
		must(t, p.Eval(ctx, `dispatchEvent(new Event("online"))`, nil)) // as each hour, and when the tab is shown again
		must(t, p.WaitFor(ctx, `!document.getElementById("update").hidden`))
		noViolations(t, p)
		must(t, p.Click(ctx, "#update-now"))
		must(t, p.WaitFor(ctx, `document.querySelector("#welcome h2")?.textContent === "What this is now"`))
		filesReady(t, p)
		if eval[bool](t, p, `!document.getElementById("update").hidden`) {
			t.Error("the new page takes itself for an old one")
		}
		s.stop()
		must(t, p.Reload(ctx))
		filesReady(t, p)
		if got := eval[string](t, p, `document.querySelector("#welcome h2").textContent`); got != "What this is now" {
			t.Errorf("without the server it is %q", got)
		}
		if n := eval[int](t, p, `caches.keys().then((list) => list.filter((n) => !n.endsWith(" kept")).length)`); n != 1 {
			t.Errorf("%d builds are stored", n)
		}
	})
}

// The browser offers to install the page.
func TestFilesInstallable(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p, err := b.Page(ctx, site+whole+"/")
	must(t, err)
	stored(t, p)
	var manifest struct {
		Errors []struct{ Message string } `json:"errors"`
		Data   string                     `json:"data"`
	}
	must(t, p.CDP(ctx, "Page.getAppManifest", map[string]any{}, &manifest))
	if len(manifest.Errors) > 0 || !strings.Contains(manifest.Data, `"start_url"`) {
		t.Errorf("the manifest: %+v", manifest)
	}
	var no struct {
		InstallabilityErrors []struct {
			ErrorID string `json:"errorId"`
		} `json:"installabilityErrors"`
	}
	must(t, p.CDP(ctx, "Page.getInstallabilityErrors", map[string]any{}, &no))
	for _, e := range no.InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // as the test's own profile is
			t.Errorf("it can't be installed: %s", e.ErrorID)
		}
	}
	noErrors(t, p)
}
