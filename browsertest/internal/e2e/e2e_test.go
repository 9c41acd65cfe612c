package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>
<style>body{margin:0;background:#fff;height:3000px} #drop{width:300px;height:100px}
@media (prefers-color-scheme: dark) {body{background:#123}} @media print {#i{display:none}}</style>
<main><h1>Heading</h1><label>Name <input id="i"></label><button id="b" onclick="out.textContent = i.value + ' ' + event.isTrusted">Go</button>
<p id="out"></p><div id="drop">drop</div><input id="f" type="file" multiple aria-label="files"></main>
<script>
console.log("hello", 42); console.error("bad");
setTimeout(() => { throw new Error("thrown") });
setTimeout(() => { const p = document.createElement("p"); p.className = "late"; p.textContent = "late"; out.append(p) }, 100);
drop.ondragover = (e) => e.preventDefault();
drop.ondrop = async (e) => { e.preventDefault();
  const h = await e.dataTransfer.items[0].getAsFileSystemHandle();
  const names = []; for await (const n of h.keys()) names.push(n);
  let wrote = "";
  if (await h.queryPermission({mode: "readwrite"}) !== "granted") wrote = "must ask";
  else try { const w = await (await h.getFileHandle("made.txt", {create: true})).createWritable(); await w.write("by the page"); await w.close(); wrote = "wrote" } catch (err) { wrote = err.name }
  out.textContent = h.kind + " " + names.sort().join() + " " + wrote };
</script>`

func context1(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // ends only a test that has failed
	t.Cleanup(cancel)
	return ctx
}

func site(t *testing.T, header map[string]string) *Site {
	s := ServeHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, html)
	}), header)
	t.Cleanup(s.Close)
	return s
}

func launch(t *testing.T, o Options) *Browser {
	t.Helper()
	b, err := Launch(context1(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(b.dir); !os.IsNotExist(err) {
			t.Errorf("the profile is still there: %v", err)
		}
	})
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestPage(t *testing.T) {
	ctx := context1(t)
	s := site(t, nil)
	b := launch(t, Options{Width: 900, Height: 700, WriteGrants: []string{s.URL}})
	p, err := b.Page(ctx, s.URL+"/x?y=1")
	must(t, err)

	t.Run("input", func(t *testing.T) {
		must(t, p.Type(ctx, "#i", "Zoë"))
		must(t, p.Click(ctx, "#b"))
		if s, err := p.Text(ctx, "#out"); err != nil || !strings.HasPrefix(s, "Zoë true") {
			t.Errorf("%q, %v", s, err)
		}
		if err := p.Click(ctx, "#none"); err == nil || !strings.Contains(err.Error(), "#none") {
			t.Errorf("clicking nothing: %v", err)
		}
	})
	t.Run("wait", func(t *testing.T) {
		must(t, p.Reload(ctx))
		must(t, p.Wait(ctx, ".late"))
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		if err := p.Wait(short, ".never"); err == nil || !strings.Contains(err.Error(), ".never") {
			t.Errorf("waiting for nothing: %v", err)
		}
	})
	t.Run("console", func(t *testing.T) {
		var got []string
		for _, m := range p.Console() {
			got = append(got, m.Kind+":"+m.Text)
		}
		if !slices.Contains(got, "log:hello 42") || !slices.Contains(got, "error:bad") {
			t.Errorf("%q", got)
		}
		errs := p.Errors()
		if !slices.ContainsFunc(errs, func(m Message) bool { return m.Kind == "exception" && strings.Contains(m.Text, "thrown") }) {
			t.Errorf("%q", errs)
		}
	})
	t.Run("look", func(t *testing.T) {
		red := func(s Shot) (uint32, int, int) {
			data, err := p.Screenshot(ctx, s)
			must(t, err)
			img, err := png.Decode(bytes.NewReader(data))
			must(t, err)
			bounds := img.Bounds()
			r, _, _, _ := img.At(bounds.Dx()-2, 2).RGBA()
			return r >> 8, bounds.Dx(), bounds.Dy()
		}
		file := filepath.Join(t.TempDir(), "shots", "a.png")
		if r, _, _ := red(Shot{File: file}); r != 0xff {
			t.Errorf("light: %x", r)
		}
		if fi, err := os.Stat(file); err != nil || fi.Size() == 0 {
			t.Error(err)
		}
		must(t, p.Viewport(ctx, 320, 480, 2))
		must(t, p.Dark(ctx, true))
		must(t, p.ReducedMotion(ctx, true))
		if r, w, h := red(Shot{}); r != 0x11 || w != 640 || h != 960 {
			t.Errorf("dark: %x, %d by %d", r, w, h)
		}
		var both bool
		must(t, p.Eval(ctx, "matchMedia('(prefers-color-scheme: dark)').matches && matchMedia('(prefers-reduced-motion: reduce)').matches", &both))
		if !both {
			t.Error("one emulation ends the other")
		}
		if _, _, h := red(Shot{Full: true}); h < 5000 {
			t.Errorf("the full page is %d pixels high", h)
		}
		if _, w, h := red(Shot{Selector: "#drop"}); w != 600 || h != 200 {
			t.Errorf("the element is %d by %d", w, h)
		}
		must(t, p.Viewport(ctx, 0, 0, 0))
		must(t, p.Dark(ctx, false))
	})
	t.Run("pdf", func(t *testing.T) {
		data, err := p.PDF(ctx)
		must(t, err)
		if !bytes.HasPrefix(data, []byte("%PDF-")) {
			t.Errorf("%.20q", data)
		}
	})
	t.Run("place", func(t *testing.T) {
		must(t, p.Locale(ctx, "de_DE"))
		must(t, p.Timezone(ctx, "Asia/Tokyo"))
		var got string
		must(t, p.Eval(ctx, "(1234.5).toLocaleString() + ' ' + Intl.DateTimeFormat().resolvedOptions().timeZone", &got))
		if got != "1.234,5 Asia/Tokyo" {
			t.Errorf("%q", got)
		}
	})
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o644))
		must(t, p.Drop(ctx, "#drop", dir))
		must(t, p.WaitFor(ctx, "out.textContent.startsWith('directory')"))
		if s, _ := p.Text(ctx, "#out"); !strings.Contains(s, "a.txt wrote") {
			t.Errorf("%q", s)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "made.txt")); err != nil || string(data) != "by the page" {
			t.Errorf("%q, %v", data, err)
		}
	})
	t.Run("files", func(t *testing.T) {
		must(t, p.SetFiles(ctx, "#f", "e2e_test.go", "page.go"))
		var names string
		must(t, p.Eval(ctx, "[...f.files].map((x) => x.name).join()", &names))
		if names != "e2e_test.go,page.go" {
			t.Error(names)
		}
	})
	t.Run("offline", func(t *testing.T) {
		must(t, p.Offline(ctx, true))
		var ok bool
		must(t, p.Eval(ctx, "fetch('/z').then(() => true, () => false)", &ok))
		if ok {
			t.Error("a request went through offline")
		}
		must(t, p.Offline(ctx, false))
		must(t, p.Eval(ctx, "fetch('/z').then(() => true, () => false)", &ok))
		if !ok {
			t.Error("no request went through online")
		}
		reqs := p.Requests()
		if reqs[0].URL != s.URL+"/x?y=1" || reqs[0].Status != 200 || reqs[0].Type != "Document" {
			t.Errorf("%+v", reqs[0])
		}
		if !slices.ContainsFunc(reqs, func(r Request) bool { return r.Failed == "net::ERR_INTERNET_DISCONNECTED" }) {
			t.Errorf("%+v", reqs)
		}
	})
	t.Run("crash", func(t *testing.T) {
		q, err := b.Page(ctx, s.URL)
		must(t, err)
		must(t, q.Chrome().Crash(ctx))
		poll.Until(t, "the crash is noticed", func() bool { return q.Crashed() != "" })
		must(t, p.Eval(ctx, "1", nil))
	})
}

// Without the grant, the same folder cannot be written.
func TestDropWithoutGrant(t *testing.T) {
	ctx := context1(t)
	s := site(t, nil)
	b := launch(t, Options{})
	p, err := b.Page(ctx, s.URL)
	must(t, err)
	dir := t.TempDir()
	must(t, p.Drop(ctx, "#drop", dir))
	must(t, p.WaitFor(ctx, "out.textContent.startsWith('directory')"))
	if s, _ := p.Text(ctx, "#out"); !strings.Contains(s, "must ask") {
		t.Errorf("%q", s)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("written all the same: %v", list)
	}
}

func TestHeadersAndFrames(t *testing.T) {
	ctx := context1(t)
	inner := site(t, nil)
	s := ServeHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>outer</title><iframe src="%s"></iframe><iframe sandbox srcdoc="<p>mute"></iframe><script>document.title = "ran"</script>`, strings.Replace(inner.URL, "127.0.0.1", "localhost", 1))
	}), map[string]string{"Content-Security-Policy": "script-src 'none'"})
	defer s.Close()
	b := launch(t, Options{})
	p, err := b.Page(ctx, s.URL)
	must(t, err)
	var title string
	must(t, p.Eval(ctx, "document.title", &title))
	if title != "outer" {
		t.Errorf("the header did not hold: %q", title)
	}
	vals, err := p.EvalFrames(ctx, "typeof out === 'undefined' ? document.title : out.tagName")
	must(t, err)
	got := map[string]string{}
	for _, v := range vals {
		got[v.URL] = string(v.Value) + v.Err
	}
	if len(vals) != 3 || got[s.URL+"/"] != `"outer"` || !slices.ContainsFunc(vals, func(v browser.FrameValue) bool { return v.OwnProcess && string(v.Value) == `"P"` }) {
		t.Errorf("%+v", vals)
	}
}

func TestAxe(t *testing.T) {
	source := "../../../node_modules/axe-core/axe.min.js"
	if _, err := os.Stat(source); err != nil {
		t.Skipf("axe-core is not installed (npm ci in the repository's root): %v", err)
	}
	ctx := context1(t)
	b := launch(t, Options{})
	s := site(t, nil)
	p, err := b.Page(ctx, s.URL)
	must(t, err)
	list, err := p.Axe(ctx, source, "")
	must(t, err)
	if len(list) != 0 {
		t.Errorf("a page without faults has %v", list)
	}
	must(t, p.Eval(ctx, `document.body.insertAdjacentHTML("beforeend", '<img src="data:,"><iframe title="f" srcdoc="<html lang=en><title>x</title><main><h1>x</h1><button></button></main>"></iframe>')`, nil))
	must(t, p.WaitFor(ctx, "document.querySelector('iframe').contentDocument.querySelector('button')"))
	list, err = p.Axe(ctx, source, "")
	must(t, err)
	var ids []string
	for _, v := range list {
		ids = append(ids, v.ID)
	}
	if !slices.Contains(ids, "image-alt") || !slices.Contains(ids, "button-name") {
		t.Errorf("faults in the page and in its frame were not found: %v", list)
	}
}

func TestNetLog(t *testing.T) {
	ctx := context1(t)
	s := site(t, nil)
	b := launch(t, Options{NetLog: true})
	p, err := b.Page(ctx, s.URL)
	must(t, err)
	must(t, p.Eval(ctx, "fetch('/more').then(() => 1)", nil))
	// Nothing answers there, but the log must contain the names.
	must(t, p.Eval(ctx, "Promise.allSettled([fetch('http://leak.invalid/x'), fetch('http://192.0.2.7:9/y', {signal: AbortSignal.timeout(300)})]).then(() => 1)", nil))
	log, err := b.NetLog()
	must(t, err)
	host := strings.TrimPrefix(s.URL, "http://")
	if !slices.Contains(log.Connected, host) || !slices.Contains(log.URLs, s.URL+"/more") {
		t.Errorf("%+v", log)
	}
	if got := log.Outside(); !slices.Equal(got, []string{"192.0.2.7", "leak.invalid"}) {
		t.Errorf("outside: %v\n%+v", got, log)
	}
	if !slices.Contains(log.Resolved, "leak.invalid") {
		t.Errorf("resolved: %v", log.Resolved)
	}
}

func TestNetLogIsQuiet(t *testing.T) {
	ctx := context1(t)
	s := site(t, nil)
	b := launch(t, Options{NetLog: true})
	p, err := b.Page(ctx, s.URL)
	must(t, err)
	for range 20 { // the browser's own work happens in parallel
		must(t, p.Reload(ctx))
	}
	log, err := b.NetLog()
	must(t, err)
	if got := log.Outside(); len(got) != 0 {
		t.Errorf("the browser spoke to %v: %+v", got, log)
	}
}

func TestParseNetLogCutOff(t *testing.T) {
	log, err := ParseNetLog([]byte(`{"constants":{"logEventTypes":{"TCP_CONNECT_ATTEMPT":7}},
"events": [
{"type":7,"params":{"address":"127.0.0.1:1"}},
{"type":7,"params":{"addr`))
	if err != nil || !slices.Equal(log.Connected, []string{"127.0.0.1:1"}) {
		t.Errorf("%+v, %v", log, err)
	}
	for _, bad := range []string{"", "x", "{}", `{"constants":3}`} {
		if _, err := ParseNetLog([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestCancelledContextEndsTheBrowser(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b, err := Launch(ctx, Options{})
	must(t, err)
	pid := b.Chromium().PID()
	cancel()
	select {
	case <-b.Chromium().Done():
	case <-time.After(poll.Limit):
		t.Fatal("still running")
	}
	must(t, b.Close())
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		t.Error("the process is still there")
	}
}

// An emptied window has no page of a test, nothing of what a page stored, and no permission.
func TestEmpty(t *testing.T) {
	ctx := context1(t)
	s := ServeHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>t</title>")
	}), nil)
	defer s.Close()
	b := launch(t, Options{})
	if err := b.Empty(ctx, s.URL); err == nil {
		t.Error("the profile itself was emptied")
	}
	w, err := b.Private(ctx)
	must(t, err)
	other, err := b.Private(ctx)
	must(t, err)
	const has = `(async () => [
		document.cookie, localStorage.length, (await indexedDB.databases()).length, (await caches.keys()).length,
		(await Array.fromAsync((await navigator.storage.getDirectory()).keys())).length, (await navigator.serviceWorker.getRegistrations()).length,
		(await navigator.permissions.query({name: "clipboard-read"})).state, (await navigator.permissions.query({name: "notifications"})).state,
	].join())()`
	const none, all = ",0,0,0,0,0,prompt,prompt", "a=b,1,1,1,1,1,granted,granted"
	look := func(b *Browser) (p *Page, got string) {
		p, err := b.Page(ctx, s.URL)
		must(t, err)
		must(t, p.Eval(ctx, has, &got))
		return p, got
	}
	for _, b := range []*Browser{w, other} {
		p, before := look(b)
		must(t, b.Grant(ctx, s.URL, "clipboardReadWrite", "clipboardSanitizedWrite", "notifications"))
		must(t, p.Eval(ctx, `(async () => {
			document.cookie = "a=b"; localStorage.setItem("a", "b");
			await new Promise((done) => { indexedDB.open("a").onsuccess = (e) => { e.target.result.close(); done(); }; });
			await caches.open("a");
			await (await navigator.storage.getDirectory()).getFileHandle("a", {create: true});
			await navigator.serviceWorker.register("worker.js"); await navigator.serviceWorker.ready;
		})()`, nil))
		var got string
		must(t, p.Eval(ctx, has, &got))
		if before != none || got != all {
			t.Fatalf("before %q, then %q", before, got)
		}
	}
	_, _ = look(w)
	must(t, w.Empty(ctx, s.URL))
	if _, got := look(w); got != none {
		t.Errorf("an emptied window has %q", got)
	}
	if _, got := look(other); got != all {
		t.Errorf("another window has %q", got)
	}
}
