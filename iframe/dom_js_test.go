package iframe

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/hosted"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

func domEnclave(t *testing.T, opts DOMEnclaveOptions) *Enclave {
	t.Helper()
	opts.AllowWithoutConnectionAllowlist = true
	e, err := NewDOMEnclave(testContext(t), opts)
	if testpage.Has(testpage.NoInnermostScript) {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Fatalf("%v: WebKitGTK 2.50 starts no code in the innermost frame; if it does now, end this exception", err)
		}
		t.Skip("WebKitGTK 2.50 starts no code in the innermost frame, and NewDOMEnclave says so")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Programs for code with a document, and their results.
var domCode = []struct{ name, code, want string }{
	{"xml", `const d = new DOMParser().parseFromString("<r><item><title>T</title><link>L</link></item></r>", "application/xml"); return [...d.querySelectorAll("item")].map((i) => ({title: i.querySelector("title")?.textContent, link: i.querySelector("link")?.textContent}))`, `[{"link":"L","title":"T"}]`},
	{"html", `const c = document.createElement("div"); c.innerHTML = "<h1>A</h1><p>x</p><h2>B</h2>"; return Array.from(c.querySelectorAll("h1, h2, h3")).map((h) => h.textContent)`, `["A","B"]`},
	{"own document", `document.body.innerHTML = "<p id=a>one</p>"; return [document.querySelector("#a").textContent, document.title, document.scripts.length]`, `["one","Sandbox",1]`},
	{"measuring", `document.body.innerHTML = "<div id=b style='width:120px;height:30px;position:absolute'>x</div>"; const r = document.getElementById("b").getBoundingClientRect(); return [r.width, r.height]`, `[120,30]`},
	{"styles", `document.head.append(Object.assign(document.createElement("style"), {textContent: "#s{color:rgb(1, 2, 3)}"})); document.body.innerHTML = "<i id=s>x</i>"; return getComputedStyle(document.getElementById("s")).color`, `"rgb(1, 2, 3)"`},
	{"layout frames", `const t = await new Promise((r) => setTimeout(r, 20, "t")); return t`, `"t"`},
	{"events of its own", `let n = 0; document.body.innerHTML = "<button>b</button>"; document.querySelector("button").addEventListener("click", () => n++); document.querySelector("button").click(); return n`, `1`},
	{"observer", `const seen = new Promise((r) => new MutationObserver((l) => r(l.length)).observe(document.body, {childList: true})); document.body.append("x"); return await seen`, `1`},
	{"canvas", `const c = document.createElement("canvas"); c.width = c.height = 2; const g = c.getContext("2d"); g.fillStyle = "#010203"; g.fillRect(0, 0, 2, 2); return [...g.getImageData(0, 0, 1, 1).data]`, `[1,2,3,255]`},
	{"a tool", `return await callTool("echo", {a: document.createElement("p").outerHTML})`, `{"a":"\u003cp>\u003c/p>"}`},
	{"args and context", `return [args, X]`, `[{"a":1},2]`},
	{"no way to code from strings", `const t = []; for (const f of [() => eval("1"), () => Function("return 1")(), () => (async () => {}).constructor("return 1")()]) try { t.push(f()) } catch (e) { t.push("no") } return t`, `["no","no","no"]`},
	{"globals that are gone", `return [typeof fetch, typeof XMLHttpRequest, typeof WebSocket, typeof Worker, typeof RTCPeerConnection, typeof indexedDB, typeof localStorage, typeof open, typeof alert, typeof postMessage, typeof navigator, typeof BroadcastChannel, typeof baileyPort]`,
		`["undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined","undefined"]`},
}

func TestDOMEnclave(t *testing.T) {
	jsxtest.Check(t)
	e := domEnclave(t, DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{Level: protocol.Standard, Tools: toolset(t, echo("echo"))}})
	for _, c := range domCode {
		t.Run(c.name, func(t *testing.T) {
			res, err := e.Run(testContext(t), c.code, RunOptions{Args: map[string]any{"a": 1}, Context: map[string]any{"X": 2}})
			if err != nil {
				t.Fatal(err)
			}
			if got := wire(res.Value); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	t.Run("nothing stays", func(t *testing.T) {
		if _, err := e.Run(testContext(t), `document.body.innerHTML = "<p>left</p>"; window.left = 1; document.cookie`, RunOptions{}); err == nil {
			t.Error("an opaque origin has no cookies")
		}
		res, err := e.Run(testContext(t), `return [document.body.innerHTML, typeof left]`, RunOptions{})
		if err != nil || wire(res.Value) != `["","undefined"]` {
			t.Errorf("%v %s", err, wire(res.Value))
		}
	})
	t.Run("console and errors", func(t *testing.T) {
		res, err := e.Run(testContext(t), "console.log('a', [1]);\nsetTimeout(() => { throw new Error('later') });\nawait sleep(50);\nthrow new TypeError('mine')", RunOptions{})
		if !errors.Is(err, protocol.ErrExecution) || res.Error.Name != "TypeError" || len(res.Console) != 2 || !strings.Contains(wire(res.Console[1].Args), "later") {
			t.Errorf("%v %+v", err, res)
		}
		if strings.Contains(res.Error.Stack, "blob:") {
			t.Errorf("stack %q", res.Error.Stack)
		}
		res, err = e.Run(testContext(t), "return 1 +", RunOptions{})
		if !errors.Is(err, protocol.ErrInvalidParams) || res.Error.Name != "SyntaxError" {
			t.Errorf("%v %+v", err, res)
		}
	})
	t.Run("limits", func(t *testing.T) {
		_, err := e.Run(testContext(t), `await new Promise(() => {})`, RunOptions{Limits: protocol.Limits{Time: 300 * time.Millisecond}})
		if !errors.Is(err, protocol.ErrTimeout) {
			t.Errorf("%v", err)
		}
		if _, err := e.Run(testContext(t), `for (;;) { console.log(1); await sleep(0) }`, RunOptions{}); !errors.Is(err, protocol.ErrResourceLimit) {
			t.Errorf("%v", err)
		}
		if res, err := e.Run(testContext(t), `return 1`, RunOptions{}); err != nil || res.Value != 1.0 {
			t.Errorf("after it: %v", err)
		}
	})
	e.Close()
	if got := jsx.Live()[jsx.Frames]; got != 0 {
		t.Errorf("%d frames live after Close", got)
	}
}

// An endless loop holds the thread of the frames. If that is not the page's thread, the time
// limit still ends the run, and another enclave starts.
func TestDOMEnclaveLoop(t *testing.T) {
	if testpage.Has(testpage.FramesOnThePagesThread) {
		t.Skipf("%s runs sandboxed frames on the page's own thread: a loop without end there ends when the browser ends it", testpage.Engine())
	}
	e := domEnclave(t, DOMEnclaveOptions{})
	for range 2 {
		start := time.Now()
		_, err := e.Run(testContext(t), `for (;;);`, RunOptions{Limits: protocol.Limits{Time: time.Second}})
		if !errors.Is(err, protocol.ErrTimeout) {
			t.Errorf("%v", err)
		}
		if res, err := e.Run(testContext(t), `return document.body.localName`, RunOptions{}); err != nil || res.Value != "body" {
			t.Errorf("after it: %v", err)
		}
		t.Logf("back after %v", time.Since(start)-time.Second)
	}
}

// A visible DOM enclave has its size and receives events of the user.
func TestDOMEnclaveShown(t *testing.T) {
	parent := element(t, "div", map[string]string{"style": "width:400px;margin:0"})
	e := domEnclave(t, DOMEnclaveOptions{Parent: ElementOf(jsx.ToRaw(parent)), Height: 200, Label: "A form"})
	drawn := make(chan struct{}, 1)
	type end struct {
		v   any
		err error
	}
	got := make(chan end, 1)
	go func() {
		res, err := e.Run(testContext(t), `document.body.innerHTML = "<button style='position:fixed;inset:0'>press</button>";
			const clicked = new Promise((r) => document.querySelector("button").onclick = (e) => r([innerWidth, innerHeight, e.isTrusted]));
			await new Promise(requestAnimationFrame); console.log("drawn"); return await clicked`,
			RunOptions{OnConsole: func(protocol.ConsoleRow) { drawn <- struct{}{} }})
		if res == nil {
			got <- end{nil, err}
			return
		}
		got <- end{res.Value, err}
	}()
	select {
	case <-drawn:
	case g := <-got:
		t.Fatalf("%v %v", g.v, g.err)
	}
	frame := must(jsx.Call(parent, "querySelector", "iframe"))(t)
	box := must(jsx.Call(frame, "getBoundingClientRect"))(t)
	left, top := must(jsx.GetFinite(box, "left"))(t), must(jsx.GetFinite(box, "top"))(t)
	// A click may reach the frame only some time after the frame is drawn.
	var g end
	until.True(t, "a click", func() bool {
		testpage.ClickAt(t, left+200, top+100)
		for range 100 {
			select {
			case g = <-got:
				return true
			default:
				until.Turn()
			}
		}
		return false
	})
	if g.err != nil || wire(g.v) != `[400,200,true]` {
		t.Errorf("%s %v", wire(g.v), g.err)
	}
}

func TestDOMEnclaveNeedsConnectionAllowlist(t *testing.T) {
	try := func(header map[string]string, ok bool) func(*testing.T) {
		return func(t *testing.T) {
			testpage.Run(t, testpage.Page{Header: header}, func(t *testing.T) {
				e, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{})
				if err == nil {
					e.Close()
				}
				if ok && err != nil || !ok && !errors.Is(err, ErrLeaks) {
					t.Fatalf("%v", err)
				}
				if !ok && !strings.Contains(err.Error(), "Connection-Allowlist: (response-origin)") {
					t.Errorf("the error doesn't say what to add: %v", err)
				}
			})
		}
	}
	t.Run("without", try(nil, false))
	t.Run("with", try(map[string]string{"Connection-Allowlist": "(response-origin)"}, !testpage.Has(testpage.NoConnectionAllowlist)))
}

func TestDOMEnclaveConfig(t *testing.T) {
	config := func(images string) string {
		return `{"config": {"sandbox": "iframe", "iframeOptions": {"sandbox": "allow-scripts", "csp": {"default-src": "'none'", "script-src": "'unsafe-inline'", "img-src": "` + images + `"}}}}`
	}
	code := `const load = (src) => new Promise((r) => { const i = new Image(); i.onload = () => r("shown"); i.onerror = () => r("blocked"); i.src = src });
		const data = "data:image/svg+xml," + encodeURIComponent("<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"); return await load(data)`
	e := domEnclave(t, DOMEnclaveOptions{Config: config("data:")})
	if res, err := e.Run(testContext(t), code, RunOptions{}); err != nil || res.Value != "shown" {
		t.Errorf("%v %v", err, res)
	}
	narrow := domEnclave(t, DOMEnclaveOptions{Config: config("'none'")})
	if res, err := narrow.Run(testContext(t), code, RunOptions{}); err != nil || res.Value != "blocked" {
		t.Errorf("%v %v", err, res)
	}
	if _, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{Config: config("https://example.com")}); !errors.Is(err, protocol.ErrCapabilityDenied) {
		t.Errorf("a wider policy: %v", err)
	}
	for _, o := range []DOMEnclaveOptions{{Height: -1}, {Height: 10_001}} {
		if _, err := NewDOMEnclave(testContext(t), o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// A document starts although the user's code has less time than the start takes.
func TestDOMStartsWithAShortLimit(t *testing.T) {
	domEnclave(t, DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{Limits: protocol.Limits{Time: 10 * time.Millisecond}}})
}

// The code fetches from the origins that it was given, and from no other.
func TestDOMEnclaveConnects(t *testing.T) {
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		given, other := testpage.Sink(t), testpage.Sink(t)
		origin := given.URL[:len("http://")+strings.Index(given.URL[len("http://"):]+"/", "/")]
		code := `const out = [typeof XMLHttpRequest, typeof WebSocket];
			for (const u of args) try { out.push((await fetch(u)).status) } catch (e) { out.push("no") }
			return out`
		for _, c := range []struct {
			connect []string
			want    string
		}{{nil, `["undefined","undefined","no","no"]`}, {[]string{origin}, `["undefined","undefined",200,"no"]`}} {
			e := domEnclave(t, DOMEnclaveOptions{Connect: c.connect})
			res, err := e.Run(testContext(t), code, RunOptions{Args: []any{given.URL + "/x", other.URL + "/x"}})
			if err != nil {
				t.Fatal(err)
			}
			if got := wire(res.Value); got != c.want {
				t.Errorf("Connect %v: got %s, want %s", c.connect, got, c.want)
			}
			e.Close()
		}
		if n := given.Traffic(); len(n.Requests) != 1 {
			t.Errorf("%d requests reached the origin that was given", len(n.Requests))
		}
		if n := other.Traffic().Total(); n != 0 {
			t.Errorf("%d things reached the other", n)
		}
	})
}

func TestConnectOriginsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "*", "https:", "https://*", "https://*.com", "http://api.example.com", "https://a b", "https://a.example;script-src *", `https://a"b.example`, "https://a.example/x", "ws://a.example"} {
		_, err := NewDOMEnclave(testContext(t), DOMEnclaveOptions{Connect: []string{bad}, AllowWithoutConnectionAllowlist: true})
		if !errors.Is(err, protocol.ErrInvalidParams) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"https://api.example.com", "https://*.example.com:8443", "http://localhost:8080", "http://127.0.0.1:1"} {
		if err := hosted.CheckConnect(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
