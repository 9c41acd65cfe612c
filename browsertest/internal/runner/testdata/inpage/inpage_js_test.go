package inpage

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"os"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/bailey-go/bailey/browsertest/internal/poll"
	"github.com/bailey-go/bailey/internal/testpage"
)

func eval(code string) js.Value { return js.Global().Call("eval", code) }

// await waits until a promise settles. It returns its value, and reports whether it was fulfilled.
func await(t *testing.T, p js.Value) (js.Value, bool) {
	t.Helper()
	type res struct {
		v  js.Value
		ok bool
	}
	ch := make(chan res, 1)
	yes := js.FuncOf(func(_ js.Value, a []js.Value) any { ch <- res{a[0], true}; return nil })
	no := js.FuncOf(func(_ js.Value, a []js.Value) any { ch <- res{a[0], false}; return nil })
	defer yes.Release()
	defer no.Release()
	p.Call("then", yes, no)
	select {
	case r := <-ch:
		return r.v, r.ok
	case <-time.After(time.Minute): // of a test that has failed
		t.Fatal("the promise did not settle")
		return js.Value{}, false
	}
}

func fetch(t *testing.T, url string) (string, bool) {
	t.Helper()
	r, ok := await(t, js.Global().Call("fetch", url))
	if !ok {
		return r.Get("message").String(), false
	}
	b, _ := await(t, r.Call("text"))
	return b.String(), true
}

func TestEngine(t *testing.T) {
	if !testpage.Available() || testpage.Engine() == "" {
		t.Fatal("not in a page")
	}
	t.Log(testpage.Engine(), js.Global().Get("navigator").Get("userAgent").String())
}

func TestIsolatedByHeaders(t *testing.T) {
	if !testpage.InOwnPage() && js.Global().Get("crossOriginIsolated").Bool() {
		t.Fatal("an ordinary page is isolated")
	}
	testpage.Run(t, testpage.Page{Header: map[string]string{
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
	}}, func(t *testing.T) {
		if !js.Global().Get("crossOriginIsolated").Bool() {
			t.Fatal("not isolated")
		}
	})
}

func TestPolicyStopsFetch(t *testing.T) {
	if !testpage.InOwnPage() {
		sink := testpage.Sink(t)
		if _, ok := fetch(t, sink.URL+"/free"); !ok {
			t.Fatal("an ordinary page cannot reach the sink")
		}
		if got := sink.Wait(1, time.Minute); len(got.Requests) != 1 || got.Connections != 1 {
			t.Fatalf("the sink saw %+v, want one request on one connection", got)
		}
	}
	testpage.Run(t, testpage.Page{Header: map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
	}}, func(t *testing.T) {
		sink := testpage.Sink(t)
		if _, ok := fetch(t, sink.URL+"/stopped"); ok {
			t.Error("the fetch went through")
		}
		if got := sink.Quiet(300 * time.Millisecond); got.Total() != 0 {
			t.Errorf("the sink saw %+v", got)
		}
	})
}

// A sink sees traffic that is no request: STUN's datagrams, and a connection made in advance.
func TestSinkSeesDatagramsAndConnections(t *testing.T) {
	sink := testpage.Sink(t)
	eval(`document.head.insertAdjacentHTML("beforeend", '<link rel="preconnect" href="` + sink.URL + `">')`)
	stun := strings.Replace(sink.URL, "http://", "stun:", 1)
	rtc := eval("typeof RTCPeerConnection").String() == "function"
	if rtc {
		eval(`const pc = new RTCPeerConnection({iceServers: [{urls: "` + stun + `"}]}); pc.createDataChannel("x"); pc.createOffer().then((o) => pc.setLocalDescription(o)); window.pc = pc`)
	}
	var got testpage.Traffic
	poll.Try(func() bool {
		got = sink.Traffic()
		return got.Connections > 0 && (got.Datagrams > 0 || !rtc)
	})
	if rtc {
		eval("pc.close()")
		if got.Datagrams == 0 {
			t.Errorf("no datagram: %+v", got)
		}
	}
	if got.Connections == 0 || len(got.Requests) != 0 || got.Total() == 0 {
		t.Errorf("preconnect: %+v", got)
	}
	sink.Reset()
	if got := sink.Traffic(); len(got.Requests) != 0 {
		t.Errorf("after Reset: %+v", got)
	}
}

func TestTwoRuns(t *testing.T) {
	for i := range 2 {
		testpage.Run(t, testpage.Page{Host: "localhost", HTML: fmt.Sprintf("<p id=n>%d</p>", i)}, func(t *testing.T) {
			if h := js.Global().Get("location").Get("hostname").String(); h != "localhost" {
				t.Errorf("host %s", h)
			}
			if n := eval("document.getElementById('n').textContent").String(); n != fmt.Sprint(i) {
				t.Errorf("page %s, want %d", n, i)
			}
		})
	}
}

func TestSubtests(t *testing.T) {
	for _, name := range []string{"one thing", "other+thing"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testpage.Run(t, testpage.Page{}, func(t *testing.T) {
				t.Run("inner", func(t *testing.T) { t.Log("here") })
			})
		})
	}
}

func TestServe(t *testing.T) {
	a := testpage.Serve(t, testpage.Response{Path: "/hello", Body: "hi", Header: map[string]string{"X-Thing": "1"}})
	if s, ok := fetch(t, a.URL); !ok || s != "hi" {
		t.Fatal(s, ok)
	}
	if s, ok := fetch(t, "/hello"); !ok || s != "hi" {
		t.Fatal(s, ok)
	}
	b := testpage.Serve(t, testpage.Response{Origin: 1, Path: "/x", Prefix: true, Status: 201, Body: "far"})
	if _, ok := fetch(t, b.URL+"/y"); ok {
		t.Fatal("another origin without CORS could be read")
	}
	c := testpage.Serve(t, testpage.Response{Origin: 1, Body: "far", Header: map[string]string{"Access-Control-Allow-Origin": "*"}})
	if s, ok := fetch(t, c.URL); !ok || s != "far" {
		t.Fatal(s, ok)
	}
	if !strings.HasPrefix(c.URL, testpage.Origin(t, 1)) || testpage.Origin(t, 0) != js.Global().Get("location").Get("origin").String() {
		t.Error(c.URL, testpage.Origin(t, 0), testpage.Origin(t, 1))
	}
	if got := b.Requests(); len(got) != 1 || got[0].Method != "GET" || !strings.HasSuffix(got[0].URL, "/x/y") || got[0].Header["Origin"] == "" {
		t.Errorf("%+v", got)
	}
}

func TestInput(t *testing.T) {
	eval(`document.body.innerHTML = '<input id=i><button id=b style="margin-top:2000px">x</button>'; window.log = [];
		document.getElementById('b').onclick = (e) => log.push('click ' + e.isTrusted + ' ' + navigator.userActivation?.isActive);
		document.getElementById('i').onkeydown = (e) => log.push(e.key + ' ' + e.isTrusted)`)
	testpage.Click(t, "#b")
	testpage.Click(t, "#i")
	testpage.Type(t, "Hé!")
	testpage.Press(t, "Control+a")
	testpage.Press(t, "Backspace")
	testpage.Type(t, "z")
	if v := eval("document.getElementById('i').value").String(); v != "z" {
		t.Errorf("the field holds %q", v)
	}
	log := eval("log.join(', ')").String()
	if !strings.Contains(log, "click true true") || !strings.Contains(log, "H true") || !strings.Contains(log, "Backspace true") {
		t.Error(log)
	}
}

func TestScreenshotAndMedia(t *testing.T) {
	shot := func() (r uint32, w int) {
		img, err := png.Decode(bytes.NewReader(testpage.Screenshot(t)))
		if err != nil {
			t.Fatal(err)
		}
		r, _, _, _ = img.At(3, 3).RGBA()
		return r >> 8, img.Bounds().Dx()
	}
	eval(`document.body.innerHTML = '<style>body{background:#fff} @media (prefers-color-scheme: dark) { body{background:#111} }</style>'`)
	// Firefox may be asked before it has painted for the first time.
	poll.Until(t, "light", func() bool { r, _ := shot(); return r == 0xff })
	testpage.Media(t, map[string]string{"prefers-color-scheme": "dark"})
	testpage.Viewport(t, 400, 300, 2)
	if r, w := shot(); r != 0x11 || w != 800 {
		t.Errorf("dark: red %x, width %d", r, w)
	}
	testpage.Media(t, nil)
	testpage.Viewport(t, 0, 0, 0)
	if r, _ := shot(); r != 0xff {
		t.Errorf("light again: red %x", r)
	}
}

func TestFreeze(t *testing.T) {
	eval(`window.states = []; document.addEventListener('freeze', () => states.push('freeze')); document.addEventListener('resume', () => states.push('resume'))`)
	testpage.Freeze(t, 4*time.Second)
	if s := eval("states.join()").String(); s != "freeze,resume" {
		t.Error(s)
	}
	if s := eval("document.visibilityState").String(); s != "visible" {
		t.Errorf("the page is %s after the thaw", s)
	}
}

func TestHide(t *testing.T) {
	eval(`window.vis = []; document.addEventListener('visibilitychange', () => vis.push(document.visibilityState))`)
	testpage.Hide(t, 300*time.Millisecond)
	poll.Until(t, "hidden, then visible", func() bool { return eval("vis.join()").String() == "hidden,visible" }, func() string { return eval("vis.join()").String() })
}

func TestCountsAndCrash(t *testing.T) {
	before := testpage.Count(t)
	eval(`for (let i = 0; i < 3; i++) { const f = document.createElement('iframe'); f.className = 'x'; f.sandbox = 'allow-scripts'; f.srcdoc = '<p>hi<script>new Worker(URL.createObjectURL(new Blob(["onmessage=()=>{}"])))</'+'script>'; document.body.append(f) }`)
	var mid testpage.Counts
	poll.Until(t, "three frames with a worker each", func() bool {
		mid = testpage.Count(t)
		return mid.Frames == before.Frames+3 && mid.Workers == before.Workers+3
	}, func() string { return fmt.Sprintf("%+v, then %+v", before, mid) })
	var scripts int
	values := testpage.EvalFrames(t, "document.body.innerText.trim() + origin")
	for _, v := range values {
		if string(v.Value) == `"hinull"` && v.Parent == values[0].ID {
			scripts++
		}
	}
	if len(values) != 4 || scripts != 3 {
		t.Errorf("%+v", values)
	}
	t.Logf("%+v\n%+v\n%+v", before, mid, testpage.Targets(t))
	for _, p := range testpage.Processes(t) {
		t.Logf("%+v", p)
	}
	eval(`document.querySelectorAll('iframe.x').forEach(f => f.remove())`)
	var after testpage.Counts
	poll.Until(t, "as before", func() bool {
		after = testpage.Count(t)
		return after.Frames == before.Frames && after.Documents <= before.Documents
	}, func() string { return fmt.Sprintf("%+v, then %+v", before, after) })
}

func TestOtherPage(t *testing.T) {
	e := testpage.Serve(t, testpage.Response{Origin: 2, Body: "<title>other</title>", Header: map[string]string{"Content-Type": "text/html"}})
	p := testpage.Open(t, e.URL)
	e.Wait(1, time.Minute)
	var title string
	poll.Until(t, "the other page's title", func() bool { p.Eval("document.title", &title); return title == "other" })
	p.Freeze(true)
	p.Freeze(false)
	p.Crash()
	p.Close()
	p.Close()
}

func TestCDP(t *testing.T) {
	if testpage.Engine() != "chromium" {
		if err := testpage.CDP(t.Context(), "Browser.getVersion", nil, nil); !errors.Is(err, testpage.ErrUnsupported) {
			t.Error(err)
		}
		return
	}
	var v struct{ Product string }
	if err := testpage.CDP(t.Context(), "Browser.getVersion", nil, &v); err != nil || !strings.Contains(v.Product, "Chrome") {
		t.Error(v, err)
	}
	var r struct{ Result struct{ Value int } }
	if err := testpage.CDP(t.Context(), "Runtime.evaluate", map[string]any{"expression": "6*7"}, &r); err != nil || r.Result.Value != 42 {
		t.Error(r, err)
	}
	if err := testpage.CDP(t.Context(), "No.such", nil, nil); err == nil {
		t.Error("no error")
	}
}

// A test in a worker of its page has all that a test in a page has.
func TestRunInWorker(t *testing.T) {
	testpage.Run(t, testpage.Page{Worker: true}, func(t *testing.T) {
		if doc := js.Global().Get("document"); !doc.IsUndefined() {
			t.Error("there is a document")
		}
		if js.Global().Get("importScripts").IsUndefined() {
			t.Error("this is no worker")
		}
		b, err := os.ReadFile("doc.go")
		if err != nil || len(b) == 0 {
			t.Errorf("files: %d bytes, %v", len(b), err)
		}
	})
}
