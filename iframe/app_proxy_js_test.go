package iframe

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/frame"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/testpage"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/protocol"
)

// proxyPage returns the sandbox proxy of options for this page. edits are pairs: a text of the page that is
// there, and another one for it. With a layer off, the Connection-Allowlist is off too.
func proxyPage(t *testing.T, o AppOptions, edits ...string) HostedPage {
	t.Helper()
	page, err := o.Page(here(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(page.HTML, edits[i]) {
			t.Fatalf("the proxy has no %q", edits[i])
		}
		page.HTML = strings.Replace(page.HTML, edits[i], edits[i+1], 1)
	}
	if len(o.layers) > 0 {
		delete(page.Header, "Connection-Allowlist")
	}
	return page
}

// conforming returns options with a proxy on another origin.
func conforming(t *testing.T, o AppOptions, edits ...string) AppOptions {
	t.Helper()
	o.Proxy = host(t, 1, proxyPage(t, o, edits...), nil)
	return o
}

// Parts of the proxy that attack tests leave out.
var (
	policyEdit = []string{"narrow(policyOf(params.csp || {}));", ""}
	filterEdit = []string{"if (String(m.method).startsWith(OWN)) return;", ""}
	originEdit = []string{"typeof s === 'string' && ORIGIN.test(s)", "true"}
	hostsEdit  = []string{"if (!hosts.includes(e.origin)) return;", ""}
	// The first message decides about the page and its sender.
	sourceEdit = []string{"if (e.source === around) return fromHost(e);", "if (e.source === around || e.data.taken) return fromHost(e);", hostsEdit[0], "", "(host && host !== e.origin) ||", "", "host = e.origin;", "host = hosts[0];", "if (e.target === inner && ++loads > 1) end('left');", "", " && !inner) load", ") load"}
	tokensEdit = []string{"tokens.filter((t) => wish.includes(t))", "wish"}
	grantEdit  = []string{" && features.includes(name)", ""}
)

// proxyAttacks are attacks by an app in the conforming mode. One succeeds if it returns "ESCAPED", or if the
// host calls TOOL. Each says how its defence is switched off.
var proxyAttacks = []struct {
	name, code string
	edits      []string
	off        appOff
	frames     bool // the opaque origin
}{
	{name: "a call past the proxy", code: `await ask("ping", {}); top.postMessage({jsonrpc: "2.0", id: TOOL, method: "tools/call", params: {name: TOOL}}, "*"); await pause()`, off: appOff{sender: true}},
	{name: "the proxy's hello, through the proxy", code: `parent.postMessage({jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {within: true}}, "*"); await pause(); await start(); return "ESCAPED"`, edits: filterEdit},
	{name: "the proxy's hello, past the proxy", code: `top.postMessage({jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {within: true}}, "*"); await pause(); await start(); return "ESCAPED"`, off: appOff{sender: true}},
	{name: "the document of the proxy", code: `return parent.document.body ? "ESCAPED" : ""`, frames: true},
	{name: "the proxy's functions", code: `parent.MessagePort.prototype.postMessage = 1; return "ESCAPED"`, frames: true},
	{name: "the address of the proxy", code: `return parent.location.href ? "ESCAPED" : ""`, frames: true},
	{name: "its own frame's attributes", code: `frameElement.removeAttribute("sandbox"); return "ESCAPED"`, frames: true},
	{name: "cookies of the proxy's origin", code: `document.cookie = "a=secret; SameSite=None; Secure; Partitioned"; return document.cookie.includes("secret") ? "ESCAPED" : ""`, frames: true},
	{name: "storage shared by apps", code: `if (localStorage.getItem("a")) return "ESCAPED"; localStorage.setItem("a", "secret")`, frames: true},
	{name: "storage of the session shared by apps", code: `sessionStorage.setItem("a", "secret"); return "ESCAPED"`, frames: true},
	{name: "a database shared by apps", code: `for (const d of await indexedDB.databases()) if (d.name === "a") return "ESCAPED"; await new Promise((ok) => indexedDB.open("a").onsuccess = ok)`, frames: true},
	{name: "a cache shared by apps", code: `if (await caches.has("a")) return "ESCAPED"; await caches.open("a")`, frames: true},
	{name: "files shared by apps", code: `const d = await navigator.storage.getDirectory(); for await (const n of d.keys()) if (n === "a") return "ESCAPED"; await d.getFileHandle("a", {create: true})`, frames: true},
	{name: "a channel between apps", code: `const c = new BroadcastChannel("a"), pong = new Promise((ok) => c.onmessage = (e) => e.data === "pong" ? ok("ESCAPED") : c.postMessage("pong")); c.postMessage("ping"); return await pong`, frames: true},
	{name: "a lock shared by apps", code: `return await new Promise((ok) => navigator.locks.request("a", {ifAvailable: true}, (l) => l ? new Promise(() => ok("")) : ok("ESCAPED")))`, frames: true},
}

func proxyApp(only func(i int) bool) string {
	var b strings.Builder
	for i, a := range proxyAttacks {
		if only(i) {
			fmt.Fprintf(&b, "[%d, async (TOOL) => { %s }],\n", i, a.code)
		}
	}
	return `<script type=module>` + plainApp + `const pause = () => new Promise((r) => setTimeout(r, 200));
await start();
for (const [i, f] of [` + b.String() + `]) {
	let r = "";
	try { r = await Promise.race([f("tool-" + i), new Promise((ok) => setTimeout(ok, 1000))]) } catch (e) {}
	log(i + " " + (r === "ESCAPED" ? r : ""));
}
log("done");
</script>`
}

// No app reaches the host past the proxy, nor the proxy, nor another app by the proxy's origin. With -short other
// windows are left out.
func TestAttackAppProxy(t *testing.T) {
	skipInnermost(t)
	testpage.Run(t, bare(t, " "+testpage.Origin(t, 2)), func(t *testing.T) {
		count := attack.Start(t, "apps")
		// Two apps, one after the other, and both are open at the end.
		run := func(o AppOptions, only func(i int) bool, edits ...string) map[int]bool {
			won := map[int]bool{}
			o = conforming(t, o, edits...)
			calls := &appLogs{}
			o.OnCall = func(_ context.Context, tool string, _ map[string]any) (any, error) {
				calls.add("", tool)
				return nil, nil
			}
			for range 2 {
				a, logs := openApp(t, proxyApp(only), o)
				until.True(t, "all attacks are made", func() bool { return logs.has("done") || a.Err() != nil })
				if !logs.has("done") {
					t.Errorf("the app ended with %v after\n%s", a.Err(), logs)
				}
				defer a.Close()
				for i := range proxyAttacks {
					won[i] = won[i] || logs.has(fmt.Sprint(i, " ESCAPED"))
				}
			}
			for i := range proxyAttacks {
				won[i] = won[i] || calls.has(fmt.Sprint("tool-", i))
			}
			return won
		}
		won := run(AppOptions{}, func(int) bool { return true })
		key := func(i int) string {
			a := proxyAttacks[i]
			return fmt.Sprint(a.edits, a.off, a.frames)
		}
		open := map[int]bool{}
		for i, a := range proxyAttacks {
			if _, done := open[i]; !done {
				o := AppOptions{off: a.off}
				if a.frames {
					o.layers = []frame.Layer{frame.LayerFrames}
				}
				same := func(j int) bool { return key(j) == key(i) }
				got := run(o, same, a.edits...)
				for j := range proxyAttacks {
					if same(j) {
						open[j] = got[j]
					}
				}
			}
			count.Try(a.name, won[i])
			count.Off(a.name, open[i])
			if !open[i] {
				t.Errorf("%s: does not succeed with the defence off", a.name)
			}
		}
		both := func(name string, wins func(open bool) bool) {
			t.Helper()
			count.Try(name, wins(false))
			won := wins(true)
			count.Off(name, won)
			if !won {
				t.Errorf("%s: does not succeed with the defence off", name)
			}
		}
		edit := func(open bool, edits ...string) []string {
			if !open {
				return nil
			}
			return edits
		}
		both("an end in the proxy's words", func(open bool) bool {
			a, logs := openApp(t, `<script>`+plainApp+`start().then(() => { parent.postMessage({jsonrpc: "2.0", method: "ui/notifications/sandbox-ended", params: {}}, "*"); log("alive") })</script>`, conforming(t, AppOptions{}, edit(open, filterEdit...)...))
			until.True(t, "the app has said both", func() bool { return logs.has("alive") || a.Err() != nil })
			return a.Err() != nil
		})
		both("the proxy navigated by its app", func(open bool) bool {
			other := testpage.Serve(t, testpage.Response{Origin: 2})
			o, edits := AppOptions{}, []string{}
			if open {
				o.layers, edits = []frame.Layer{frame.LayerFrames, frame.LayerPolicy}, policyEdit
			}
			a, logs := openApp(t, `<script>`+plainApp+`start().then(() => { try { parent.location = "`+other.URL+`" } catch (e) {} try { new parent.Function("location = '`+other.URL+`'")() } catch (e) { log("refused") } })</script>`, conforming(t, o, edits...))
			defer a.Close()
			until.True(t, "the app has tried", func() bool { return logs.has("refused") || len(other.Requests()) > 0 || a.Err() != nil })
			return len(other.Wait(1, 300*time.Millisecond).Requests) > 0
		})
		if testing.Short() {
			return
		}
		// listening returns an app, its calls, and what receives when another page has said a word.
		listening := func(open bool, word string) (*App, chan string, chan struct{}) {
			calls, said := make(chan string, 10), make(chan struct{}, 10)
			a, _ := openApp(t, `<script>`+plainApp+`start()</script>`, conforming(t, AppOptions{off: appOff{sender: open, state: true}, OnCall: func(_ context.Context, tool string, _ map[string]any) (any, error) {
				calls <- tool
				return nil, nil
			}}))
			listenFor(t, word, said)
			return a, calls, said
		}
		// A frame beside the app poses as the proxy, on the same origin and on another one.
		for _, n := range []int{1, 2} {
			both(fmt.Sprintf("another window poses as the proxy, origin %d", n), func(open bool) bool {
				a, calls, said := listening(open, "posed")
				defer a.Close()
				defer beside(t, page(t, n, `parent.postMessage({jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "posed"}}, "*"); parent.postMessage("posed", "*")`))()
				<-said
				return called(calls)
			})
		}
		both("another page in the place of the proxy", func(open bool) bool {
			a, calls, said := listening(open, "replaced")
			defer a.Close()
			must(jsx.Call(a.impl.outer, "setAttribute", "src", page(t, 2, `parent.postMessage({jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: "replaced"}}, "*"); parent.postMessage("replaced", "*")`)))(t)
			<-said
			won := called(calls)
			until.True(t, "the app ends", func() bool { return a.Err() != nil })
			if !errors.Is(a.Err(), ErrFrameLost) {
				t.Errorf("it ended with %v", a.Err())
			}
			return won
		})
		// A frame beside gives the proxy a page of its own, in place of the host's.
		both("a page from another window", func(open bool) bool {
			calls := make(chan string, 100)
			said := make(chan struct{}, 10)
			listenFor(t, "given", said)
			defer beside(t, page(t, 2, `const give = () => { for (let i = 0; i < top.length; i++) top[i].postMessage({jsonrpc: "2.0", taken: true, method: "ui/notifications/sandbox-resource-ready",
	params: {html: "<script>parent.postMessage({jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'given'}}, '*')<\/script>"}}, "*") };
let n = 0; setInterval(() => { if (top.length < 2) return; give(); if (++n === 4) parent.postMessage("given", "*") }, 150)`))()
			a, _ := openApp(t, `<script>`+plainApp+`start()</script>`, conforming(t, AppOptions{off: appOff{state: true}, OnCall: func(_ context.Context, tool string, _ map[string]any) (any, error) {
				calls <- tool
				return nil, nil
			}}, edit(open, sourceEdit...)...))
			defer a.Close()
			<-said
			return called(calls)
		})
		// The proxy in a page of strangers.
		for name, keeps := range map[string]string{"a stranger around, by the header": "header", "a stranger around, without headers": "list"} {
			both(name, func(open bool) bool {
				sink := testpage.Sink(t)
				list := keeps == "list" && !open
				p := proxyPage(t, AppOptions{layers: []frame.Layer{frame.LayerPolicy}}, edit(!list, hostsEdit...)...)
				if keeps == "list" || open {
					p.Header = map[string][]string{"Content-Type": {"text/html"}}
				}
				said := make(chan struct{}, 10)
				listenFor(t, "tried", said)
				defer beside(t, page(t, 2, `const f = document.createElement("iframe"); f.src = "`+host(t, 1, p, nil)+`"; f.onload = () => { f.contentWindow.postMessage(`+resourceReady(`<img src='`+sink.URL+`'>`, `{resourceDomains: ["`+originOf(t, sink.URL)+`"]}`, "")+`, "*"); setTimeout(() => parent.postMessage("tried", "*"), 300) }; document.body.append(f)`))()
				<-said
				return len(sink.Wait(1, 200*time.Millisecond).Requests) > 0
			})
		}
	})
}

// page serves a page with a script on another origin.
func page(t *testing.T, n int, script string) string {
	return testpage.Serve(t, testpage.Response{Origin: n, Header: map[string]string{"Content-Type": "text/html"}, Body: "<!doctype html><body><script>" + script + "</script>"}).URL
}

// beside shows a frame in the page until remove is called.
func beside(t *testing.T, src string) (remove func()) {
	t.Helper()
	f := element(t, "iframe", map[string]string{"src": src})
	return func() { _, _ = jsx.Call(f, "remove") }
}

// listenFor reports each message to this window that is text.
func listenFor(t *testing.T, text string, said chan<- struct{}) {
	t.Helper()
	scope := jsx.NewScope(jsx.ScopeOptions{})
	t.Cleanup(func() { scope.Close() })
	if _, err := scope.Listen(jsx.Global(), "message", func(event jsx.Value) {
		if data, err := jsx.Get(event, "data"); err == nil && isString(data, text) {
			select {
			case said <- struct{}{}:
			default:
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// called reports whether the host has called a tool. Messages that were posted before a message that was
// heard are heard too, and the call itself runs on a goroutine.
func called(calls <-chan string) bool {
	until.Turns(50)
	select {
	case <-calls:
		return true
	default:
		return false
	}
}

// resourceReady returns the message that gives a proxy its page, as a JavaScript expression.
func resourceReady(html, csp, more string) string {
	return `{jsonrpc: "2.0", method: "ui/notifications/sandbox-resource-ready", params: {html: ` + fmt.Sprintf("%q", html) + `, csp: ` + csp + more + `}}`
}

func originOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}

// driven are attacks by a server that declares too much, through a host that passes it all on. One succeeds if
// a request reaches SINK. AT is its origin.
var driven = []struct {
	name, html, csp, more string
	edits                 []string
	features              bool // it asks document.featurePolicy
}{
	{name: "connect to everything", html: `<script>fetch('SINK', {mode: 'no-cors'})</script>`, csp: `{connectDomains: ["*"]}`, edits: originEdit},
	{name: "connect to a scheme", html: `<script>fetch('SINK', {mode: 'no-cors'})</script>`, csp: `{connectDomains: ["http:"]}`, edits: originEdit},
	{name: "connect by another directive", html: `<script>fetch('SINK', {mode: 'no-cors'})</script>`, csp: `{resourceDomains: ["https://a.example; connect-src *"]}`, edits: originEdit},
	{name: "connect by a line break", html: `<script>fetch('SINK', {mode: 'no-cors'})</script>`, csp: `{connectDomains: ["https://a.example\n*"]}`, edits: originEdit},
	{name: "connect by an object that is a text", html: `<script>fetch('SINK', {mode: 'no-cors'})</script>`, csp: `{connectDomains: [["*"]]}`, edits: originEdit},
	{name: "images of every port", html: `<img src='SINK'>`, csp: `{resourceDomains: ["http://*:*"]}`, edits: originEdit},
	{name: "images by a space", html: `<img src='SINK'>`, csp: `{resourceDomains: ["https://a.example AT"]}`, edits: originEdit},
	{name: "styles of everything", html: `<link rel=stylesheet href='SINK'>`, csp: `{resourceDomains: ["*"]}`, edits: originEdit},
	{name: "eval by a keyword", html: `<script>try { eval('1'); new Image().src = 'SINK' } catch (e) {}</script>`, csp: `{resourceDomains: ["AT", "'unsafe-eval'"]}`, edits: originEdit},
	{name: "frames of everything", html: `<iframe src='SINK'></iframe>`, csp: `{frameDomains: ["*"]}`, edits: originEdit},
	{name: "a frame in a frame of a text", html: `<iframe srcdoc="<iframe src='SINK'></iframe>"></iframe>`, csp: `{frameDomains: ["http:"]}`, edits: originEdit},
	{name: "an image in a frame of a text", html: `<iframe srcdoc="<img src='SINK'>"></iframe>`, csp: `{resourceDomains: ["http:"]}`, edits: originEdit},
	{name: "a form to everything", html: `<form id=f action='SINK'><input name=a></form><script>f.requestSubmit()</script>`, csp: `{resourceDomains: ["https://a.example; form-action *; frame-src *"]}`, edits: append(originEdit[:2:2], "addEventListener('submit', (e) => e.preventDefault());", "")},
	{name: "an origin in place of an opaque one", html: `<script>try { parent.document.body; new Image().src = 'SINK' } catch (e) {}</script>`, csp: `{resourceDomains: ["AT"]}`, more: `, sandbox: "allow-scripts allow-same-origin allow-top-navigation allow-popups"`, edits: tokensEdit},
	{name: "a camera that the proxy has not", html: `<script>if (document.featurePolicy.allowsFeature('camera')) new Image().src = 'SINK'</script>`, csp: `{resourceDomains: ["AT"]}`, more: `, permissions: {camera: {}}`, edits: grantEdit, features: true},
}

// The proxy trusts no word about its policy, whoever the host is.
func TestAttackAppProxyPolicy(t *testing.T) {
	skipInnermost(t)
	testpage.Run(t, bare(t, ""), func(t *testing.T) {
		count := attack.Start(t, "apps")
		run := func(open bool) map[int]bool {
			sinks, won := map[int]*testpage.Endpoint{}, map[int]bool{}
			scope := jsx.NewScope(jsx.ScopeOptions{})
			defer scope.Close()
			frames, messages := map[int]jsx.Value{}, map[int]jsx.Value{}
			if _, err := scope.Listen(jsx.Global(), "message", func(event jsx.Value) {
				word, err := jsx.Lookup(event, "data.method")
				if err != nil || !isString(word, "ui/notifications/sandbox-proxy-ready") {
					return
				}
				source := must(jsx.Get(event, "source"))(t)
				for i, f := range frames {
					if window := must(jsx.Get(f, "contentWindow"))(t); window.Equal(source) {
						must(jsx.Call(window, "postMessage", messages[i], "*"))(t)
					}
				}
			}); err != nil {
				t.Fatal(err)
			}
			parser := must(jsx.Get(jsx.Global(), "JSON"))(t)
			for i, d := range driven {
				if d.features && testpage.Has(testpage.NoFeaturePolicy) || testing.Short() && i%4 != 2 {
					continue
				}
				sinks[i] = testpage.Sink(t)
				r := strings.NewReplacer("SINK", sinks[i].URL+"/x", "AT", originOf(t, sinks[i].URL))
				var edits []string
				if open {
					edits = d.edits
				}
				messages[i] = must(jsx.Call(parser, "parse", jsonOf(resourceReady(r.Replace(d.html), r.Replace(d.csp), d.more))))(t)
				proxied := proxyPage(t, AppOptions{layers: []frame.Layer{frame.LayerPolicy}}, edits...)
				delete(proxied.Header, "Permissions-Policy")
				proxy := host(t, 1, proxied, nil)
				frames[i] = element(t, "iframe", map[string]string{"allow": "camera *"})
				must(jsx.Call(frames[i], "setAttribute", "src", proxy))(t)
			}
			if open {
				until.Met(func() bool {
					all := true
					for i := range sinks {
						won[i] = won[i] || len(sinks[i].Requests()) > 0
						all = all && won[i]
					}
					return all
				})
			} else {
				until.Passed(1500 * time.Millisecond)
			}
			for i := range sinks {
				won[i] = won[i] || len(sinks[i].Requests()) > 0
			}
			return won
		}
		won, open := run(false), run(true)
		for i, d := range driven {
			if _, tried := open[i]; tried {
				count.Try(d.name, won[i])
				count.Off(d.name, open[i])
				if !open[i] {
					t.Errorf("%s: does not succeed with the defence off", d.name)
				}
			}
		}
	})
}

// jsonOf makes JSON of a message that is written in JavaScript: its keys get quotation marks.
func jsonOf(s string) string {
	for _, key := range []string{"jsonrpc", "method", "params", "html", "csp", "connectDomains", "resourceDomains", "frameDomains", "sandbox", "permissions", "camera"} {
		for _, before := range []string{"{", ", "} {
			s = strings.ReplaceAll(s, before+key+": ", before+`"`+key+`": `)
		}
	}
	return s
}

// kinds are loads of an app from an origin that it declares and the user agreed to.
var kinds = map[string]string{
	"fetch":  `fetch("SINK/fetch")`,
	"image":  `new Image().src = "SINK/image"`,
	"script": `const s = document.createElement("script"); s.src = "SINK/script"; document.head.append(s)`,
	"style":  `document.head.insertAdjacentHTML("beforeend", "<link rel=stylesheet href='SINK/style'>")`,
	"font":   `new FontFace("f", "url('SINK/font')").load().catch(() => 0)`,
	"media":  `document.body.append(Object.assign(document.createElement("video"), {src: "SINK/media"}))`,
	"frame":  `document.body.append(Object.assign(document.createElement("iframe"), {src: "SINK/frame"}))`,
	"worker": `new Worker(URL.createObjectURL(new Blob(["fetch('SINK/worker')"])))`,
}

func kindsApp(at string) string {
	var b strings.Builder
	for _, code := range kinds {
		b.WriteString("try { " + strings.ReplaceAll(code, "SINK", at) + " } catch (e) {}\n")
	}
	return `<body><script>` + plainApp + `start().then(async () => { ` + b.String() + `await new Promise((r) => setTimeout(r, 300)); log("done") })</script>`
}

// tryKinds returns the loads of an app that reach an origin.
func tryKinds(t *testing.T, declare, all bool, off appOff) map[string]bool {
	t.Helper()
	sink := testpage.Sink(t)
	at := []string{originOf(t, sink.URL)}
	o := conforming(t, AppOptions{Connect: at, Resources: at, Frames: at, off: off})
	logs := &appLogs{}
	o.OnLog, o.AllowWithoutConnectionAllowlist = logs.add, true
	page := protocol.App{HTML: kindsApp(sink.URL)}
	if declare {
		page.Connect, page.Resources, page.Frames = at, at, at
	}
	a, err := NewApp(testContext(t), place(t), page, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	until.True(t, "the app has tried", func() bool { return logs.has("done") || a.Err() != nil })
	got := map[string]bool{}
	look := func() bool {
		for _, r := range sink.Requests() {
			for kind := range kinds {
				if strings.HasSuffix(r.URL, "/"+kind) {
					got[kind] = true
				}
			}
		}
		return len(got) == len(kinds)
	}
	if all {
		until.True(t, "each kind of load arrives", look)
	}
	look()
	return got
}

// An app gets the origins that it declares, that the user agreed to, and that the page around lists itself.
func TestAttackAppWiderThanThePage(t *testing.T) {
	skipInnermost(t)
	t.Run("strict", func(t *testing.T) {
		testpage.Run(t, bare(t, ""), func(t *testing.T) {
			count := attack.Start(t, "apps")
			won, open := tryKinds(t, true, false, appOff{}), tryKinds(t, true, true, appOff{within: true})
			for kind := range kinds {
				count.Try("wider than the page: "+kind, won[kind])
				count.Off("wider than the page: "+kind, open[kind])
			}
		})
	})
	t.Run("open", func(t *testing.T) {
		if testing.Short() {
			t.Skip("make soak and make attack try this without a policy of the page")
		}
		testpage.Run(t, testpage.Page{}, func(t *testing.T) {
			count := attack.Start(t, "apps")
			won, open := tryKinds(t, false, false, appOff{}), tryKinds(t, true, true, appOff{})
			for kind := range kinds {
				count.Try("wider than declared: "+kind, won[kind])
				count.Off("wider than declared: "+kind, open[kind])
			}
		})
	})
}

// An app in the conforming mode begins anew as the page moves it, and a wrong address says what is needed.
func TestAppProxy(t *testing.T) {
	skipInnermost(t)
	testpage.Run(t, bare(t, ""), func(t *testing.T) {
		a, logs := openApp(t, `<!doctype html><html lang=en><head><title>x</title></head><body><a id=a href="#b">x</a><p id=b>y</p><script>`+plainApp+`
let turn = 0; globalThis.noted = (m) => { if (m.method === "ui/notifications/tool-input") log("input " + m.params.arguments.n) };
start().then((r) => { document.getElementById("a").click(); log([document.compatMode, document.documentElement.lang, document.title, document.head.children.length, typeof RTCPeerConnection, origin, Object.keys(r.hostCapabilities.sandbox.csp).length].join(" ")) })</script>`, conforming(t, AppOptions{}))
		if err := a.Input(map[string]any{"n": 1}, true); err != nil {
			t.Fatal(err)
		}
		until.True(t, "the app has its input", func() bool { return logs.has("input 1") })
		if !logs.has("CSS1Compat en x 1 undefined null 2") {
			t.Errorf("the app says\n%s", logs)
		}
		must(jsx.Call(must(jsx.Lookup(jsx.Global(), "document.body"))(t), "append", a.impl.outer))(t)
		until.True(t, "the moved app has its input again", func() bool { return strings.Count(logs.String(), "input 1") == 2 || a.Err() != nil })
		if a.Err() != nil {
			t.Error(a.Err())
		}
		a.Close()
		foreign, err := AppOptions{}.Page("https://elsewhere.example")
		for _, c := range []struct{ name, proxy, want string }{
			{"this page's origin", here(t) + "/x", "has the origin of this page"},
			{"a script", "javascript:alert(1)", "https: or http:"},
			{"nothing there", testpage.Origin(t, 1) + "/nothing-here", "no sandbox proxy"},
			{"not in frame-src", testpage.Origin(t, 2) + "/x", "frame-src"},
			{"of another page", host(t, 1, foreign, err), "embedders"},
		} {
			_, err := NewApp(testContext(t), place(t), protocol.App{HTML: "x"}, AppOptions{Proxy: c.proxy, AllowWithoutConnectionAllowlist: true})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if n := jsx.Live()[jsx.Frames]; n != 0 {
			t.Errorf("%d frames live", n)
		}
	})
}

// The headers of the proxy close the leaks, whatever the page around sends.
func TestAppProxyNeedsConnectionAllowlist(t *testing.T) {
	if testpage.Has(testpage.NoConnectionAllowlist) {
		t.Skipf("%s has no Connection-Allowlist", testpage.Engine())
	}
	testpage.Run(t, testpage.Page{}, func(t *testing.T) {
		p := proxyPage(t, AppOptions{})
		a, err := NewApp(testContext(t), place(t), protocol.App{HTML: "x"}, AppOptions{Proxy: host(t, 1, p, nil)})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		delete(p.Header, "Connection-Allowlist")
		if _, err := NewApp(testContext(t), place(t), protocol.App{HTML: "x"}, AppOptions{Proxy: host(t, 1, p, nil)}); !errors.Is(err, ErrLeaks) {
			t.Errorf("without the header: %v", err)
		}
	})
}

// The whole table of the opaque mode. A sample of it is in TestAttackAppProxy.
func TestAttackAppConforming(t *testing.T) {
	skipInnermost(t)
	if testing.Short() {
		t.Skip("make soak and make attack try the table of the opaque mode in the conforming mode")
	}
	testpage.Run(t, bare(t, ""), func(t *testing.T) { attackFrames(t, attack.Start(t, "apps"), true) })
}
