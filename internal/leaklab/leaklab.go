// Package leaklab contains the vectors of the leak lab. Each is a way by which code or markup in a
// page might reach the network. They are data. iframe's TestLeakLab runs them in every layout, and
// the command leaklab reports which vectors reached a sink.
package leaklab

import (
	"fmt"
	"slices"
	"strings"
)

// Engines returns the browsers in which the lab runs.
func Engines() []string { return []string{"chromium", "firefox", "webkit"} }

// Layouts returns the places in which each vector is tried. The controls come first: a vector that
// does not leak in "plain" proves nothing elsewhere.
func Layouts() []string {
	return []string{"plain", "single", "document", "document-allowlist", "document-raw", "document-raw-allowlist",
		"compute", "compute-strict", "compute-warm", "compute-url", "dom", "dom-allowlist", "dom-url",
		"app", "app-conforming", "realm-open", "realm", "realm-warm"}
}

// MustHold returns the layouts of an engine in which a leak is a defect. THREATMODEL.md lists the leaks of
// the others. The page of "app" and the proxy of "app-conforming" send a Connection-Allowlist, without
// which an app starts only if it is told to.
func MustHold(engine string) []string {
	return slices.DeleteFunc(Layouts(), func(l string) bool {
		return slices.Contains([]string{"plain", "single", "document-raw", "dom", "realm-open"}, l) || engine != "chromium" && strings.HasPrefix(l, "app")
	})
}

// Has reports whether an engine has the layout. Only Chromium implements Connection-Allowlist.
func Has(engine, layout string) bool {
	return engine == "chromium" || !strings.HasSuffix(layout, "-allowlist") && layout != "dom-url"
}

// Vector is one way to reach the network.
type Vector struct {
	ID, Category string
	HTML         string // markup, or empty
	JS           string // the body of an async function in a window or a worker
}

// Target is the sink that a vector tries to reach. Each vector has one of its own.
type Target struct{ Host, Port string }

// Expand returns v with its placeholders replaced: {U} by an address below the sink, {H} by its
// host and port, {N} by the host's name, {P} by the port.
func (v Vector) Expand(t Target) Vector {
	host := t.Host + ":" + t.Port
	r := strings.NewReplacer("{U}", "http://"+host+"/"+v.ID, "{H}", host, "{N}", t.Host, "{P}", t.Port)
	v.HTML, v.JS = r.Replace(v.HTML), r.Replace(v.JS)
	return v
}

// All returns every vector. The ids are unique, and may be part of a host name.
func All() []Vector {
	var all []Vector
	add := func(category string, html bool, rows []string) {
		for i, row := range rows {
			v := Vector{ID: fmt.Sprintf("%s-%d", category, i+1), Category: category}
			if html {
				v.HTML = row
			} else {
				v.JS = row
			}
			all = append(all, v)
		}
	}
	add("element", true, elements)
	add("link", true, links())
	add("svg", true, svg)
	add("style", true, styles())
	add("markup", true, markup)
	add("request", false, requests)
	add("socket", false, sockets)
	add("navigation", false, navigations)
	add("dom", false, dom)
	add("script", false, scripts)
	add("worker", false, workers)
	add("platform", false, platform)
	return all
}

func links() (rows []string) {
	for _, attrs := range []string{
		`rel=stylesheet`, `rel="alternate stylesheet" title=x`, `rel=icon`, `rel="shortcut icon"`, `rel=apple-touch-icon`, `rel=manifest`,
		`rel=preload as=image`, `rel=preload as=script`, `rel=preload as=style`, `rel=preload as=fetch crossorigin`, `rel=preload as=font crossorigin`,
		`rel=preload as=track`, `rel=prefetch`, `rel=modulepreload`, `rel=preconnect`, `rel="preconnect" crossorigin`, `rel=dns-prefetch`, `rel=prerender`,
		`rel="dns-prefetch preconnect"`, `rel=next`, `rel=pingback`, `rel=import`, `rel=search type=application/opensearchdescription+xml`,
		`rel=compression-dictionary`, `rel=stylesheet media=print`, `rel=preload as=image imagesrcset="{U} 1x"`,
	} {
		rows = append(rows, `<link `+attrs+` href="{U}">`)
	}
	return rows
}

// styles returns each CSS property that accepts an address, in an attribute and in a rule.
func styles() (rows []string) {
	for _, d := range []string{
		`background:url({U})`, `background-image:url({U})`, `background-image:image-set(url({U}) 1x)`, `background-image:-webkit-image-set(url({U}) 1x)`,
		`background-image:cross-fade(url({U}),url({U}),50%)`, `background-image:-webkit-cross-fade(url({U}),url({U}),.5)`, `list-style:square url({U});display:list-item`,
		`list-style-image:url({U});display:list-item`, `border:9px solid;border-image:url({U}) 30`, `border:9px solid;border-image-source:url({U})`, `content:url({U})`,
		`cursor:url({U}),auto`, `mask:url({U})`, `mask-image:url({U})`, `-webkit-mask-image:url({U})`, `-webkit-mask-box-image:url({U})`, `mask-border:url({U}) 30`,
		`filter:url({U}#f)`, `backdrop-filter:url({U}#f)`, `clip-path:url({U}#c)`, `shape-outside:url({U});float:left`, `offset-path:url({U}#p)`, `--a:url({U});background:var(--a)`,
		`fill:url({U}#g)`, `marker-start:url({U}#m)`, `background:url("{U}"),url('{U}/2')`, `background:u\72l({U})`, `background-image:src("{U}")`, `-webkit-box-reflect:below 0 url({U})`,
	} {
		rows = append(rows, `<div style="width:20px;height:20px;`+strings.ReplaceAll(d, `"`, "&quot;")+`">x</div>`, `<style>.v{width:20px;height:20px;`+d+`}</style><div class=v>x</div>`)
	}
	for _, rule := range []string{
		`@import url({U});`, `@import "{U}";`, `@import url({U}) layer(a);`, `@import url({U}) supports(display:block);`, `@import url({U}) screen;`,
		`@font-face{font-family:v;src:url({U})}div{font-family:v}`, `@font-face{font-family:v;src:url({U}) format("woff2")}div{font-family:v}`,
		`@font-face{font-family:v;src:local(none),url({U});unicode-range:U+78}div{font-family:v}`, `div::before{content:url({U})}`, `div::after{content:url({U})}`,
		`div::first-line{background:url({U})}`, `div::marker{content:url({U})}div{display:list-item}`, `@keyframes k{from,to{background:url({U})}}div{animation:k 9s}`,
		`@media all{div{background:url({U})}}`, `@supports(display:block){div{background:url({U})}}`, `@layer l{div{background:url({U})}}`, `body{div{background:url({U})}}`,
		`@container not (width>99999px){div{background:url({U})}}`, `div{transition:all 9s;background:url({U})}`, `:has(div){background:url({U})}`, `html{background:url({U})}`,
		`@counter-style c{system:cyclic;symbols:url({U})}div{display:list-item;list-style:c}`, `input[value^="a"]{background:url({U})}`, `@namespace url({U});`, `@page{background:url({U})}`,
		`@starting-style{div{background:url({U})}}div{background:none}`, `@scope(body){div{background:url({U})}}`, `@property --p{syntax:"<image>";inherits:false;initial-value:url({U})}div{background:var(--p)}`,
	} {
		rows = append(rows, `<style>`+rule+`</style><div style="width:20px;height:20px">x<input value=abc></div>`)
	}
	return rows
}

var elements = []string{
	`<img src="{U}">`, `<img srcset="{U} 1x">`, `<img srcset="{U} 100w" sizes=100vw>`, `<img src="//{H}/a">`, `<img loading=eager decoding=sync src="{U}">`, `<img crossorigin src="{U}">`, `<img lowsrc="{U}" dynsrc="{U}" src="{U}">`,
	`<picture><source srcset="{U}"><img></picture>`, `<picture><source media=all srcset="{U} 2x"><img alt=x></picture>`, `<input type=image src="{U}">`, `<video src="{U}" preload=auto></video>`,
	`<video poster="{U}"></video>`, `<video autoplay muted><source src="{U}"></video>`, `<audio src="{U}" preload=auto></audio>`, `<audio autoplay><source src="{U}"></audio>`,
	`<video src="data:video/mp4,"><track default kind=captions src="{U}"></video>`, `<object data="{U}"></object>`, `<object type=text/html data="{U}">x</object>`, `<embed src="{U}">`, `<embed type=text/html src="{U}">`,
	`<iframe src="{U}"></iframe>`, `<iframe sandbox src="{U}"></iframe>`, `<iframe srcdoc="<img src='{U}'>"></iframe>`, `<iframe srcdoc="<link rel=preconnect href='{U}'>"></iframe>`, `<iframe credentialless src="{U}"></iframe>`, `<iframe loading=eager allow="*" src="{U}"></iframe>`,
	`<fencedframe src="{U}"></fencedframe>`, `<portal src="{U}"></portal>`, `<body background="{U}">`, `<table background="{U}"><tr><td>x</table>`, `<table><tr><td background="{U}">x</table>`, `<frameset><frame src="{U}"></frameset>`,
	`<script src="{U}"></script>`, `<script type=module src="{U}"></script>`, `<script defer src="{U}"></script>`, `<applet archive="{U}" code=x></applet>`, `<bgsound src="{U}">`, `<html manifest="{U}">`, `<img attributionsrc="{U}" src="data:,">`, `<details open><summary>s</summary><img src="{U}"></details>`,
}

var svg = []string{
	`<svg><image href="{U}" width=9 height=9 /></svg>`, `<svg><image xlink:href="{U}" width=9 height=9 /></svg>`, `<svg><use href="{U}#a"/></svg>`, `<svg><use xlink:href="{U}#a"/></svg>`,
	`<svg><filter id=f><feImage href="{U}"/></filter><rect filter="url(#f)" width=9 height=9 /></svg>`, `<svg><rect fill="url({U}#a)" width=9 height=9 /></svg>`, `<svg><rect stroke="url({U}#a)" width=9 height=9 /></svg>`,
	`<svg><rect clip-path="url({U}#a)" width=9 height=9 /></svg>`, `<svg><rect mask="url({U}#a)" width=9 height=9 /></svg>`, `<svg><rect filter="url({U}#a)" width=9 height=9 /></svg>`, `<svg><script href="{U}"></script></svg>`, `<svg><script xlink:href="{U}"></script></svg>`,
	`<svg><style>@import "{U}";</style></svg>`, `<svg><style>*{background:url({U})}</style></svg>`, `<svg><foreignObject width=9 height=9><img src="{U}"></foreignObject></svg>`, `<svg><image width=9 height=9><set attributeName=href to="{U}"/></image></svg>`,
	`<svg><image width=9 height=9><animate attributeName=href values="{U}" dur=1s /></image></svg>`, `<svg><linearGradient href="{U}#a"/></svg>`, `<svg><textPath href="{U}#a">x</textPath></svg>`, `<svg><path marker-end="url({U}#a)" d="M0 0L9 9"/></svg>`,
	`<svg><image href="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='{U}'/></svg>" width=9 height=9 /></svg>`, `<math><mglyph src="{U}"/></math>`, `<math href="{U}">x</math>`, `<math><annotation-xml encoding="text/html"><img src="{U}"></annotation-xml></math>`,
}

var markup = []string{
	`<meta http-equiv=refresh content="0;url={U}">`, `<meta http-equiv=refresh content="0;URL='{U}'">`, `<base href="http://{H}/"><img src=x>`, `<meta http-equiv=Content-Security-Policy content="img-src 'none';report-uri {U}"><img src=data:,x>`,
	`<meta http-equiv=x-dns-prefetch-control content=on><a href="{U}">x</a>`, `<meta http-equiv=Link content="<{U}>;rel=preload;as=image">`, `<meta http-equiv=Set-Cookie content="a={U}"><img src="{U}">`, `<meta property=og:image content="{U}"><img src="{U}">`,
	`<script type=speculationrules>{"prefetch":[{"source":"list","urls":["{U}"]}]}</script>`, `<script type=speculationrules>{"prerender":[{"urls":["{U}"],"eagerness":"immediate"}]}</script>`,
	`<script type=importmap>{"imports":{"v":"{U}"}}</script><script type=module>import "v"</script>`, `<template shadowrootmode=open><img src="{U}"></template>`, `<div><template shadowrootmode=open><style>:host{background:url({U})}</style></template>x</div>`,
	`<noscript><img src="{U}"></noscript><img src="{U}">`, `<xmp><img src="{U}"></xmp><img src="{U}">`, `<select><option style="background:url({U})">x</select>`, `<img src="{U}` + "\n" + `dangling"`, `<a href="{U}" ping="{U}" id=a>x</a><img src=x: onerror=a.click()>`,
	`<form action="{U}" id=f><input name=a value=b></form><img src=x: onerror=f.submit()>`, `<form id=g><button formaction="{U}" id=b>x</button></form><img src=x: onerror=b.click()>`, `<img src=x: onerror="this.src='{U}'">`, `<input autofocus onfocus="new Image().src='{U}'">`,
	`<details ontoggle="new Image().src='{U}'" open>x</details>`, `<svg onload="new Image().src='{U}'">`, `<iframe src="javascript:new Image().src='{U}'"></iframe>`, `<object data="javascript:new Image().src='{U}'"></object>`, `<iframe src="data:text/html,<img src='{U}'>"></iframe>`,
	`<object data="data:text/html,<img src='{U}'>"></object>`, `<embed src="data:text/html,<img src='{U}'>">`, `<style onload="new Image().src='{U}'"></style>`,
}

var requests = []string{
	`await fetch("{U}")`, `await fetch("{U}", {method: "POST", body: "x"})`, `await fetch("{U}", {mode: "no-cors"})`, `await fetch("{U}", {keepalive: true, method: "POST", body: "x"})`, `await fetch("{U}", {method: "HEAD"})`,
	`await fetch("{U}", {method: "PUT", body: "x"})`, `await fetch("{U}", {headers: {range: "bytes=0-1"}})`, `await fetch(new Request("{U}"))`, `await fetch("{U}", {cache: "no-store", credentials: "include", mode: "no-cors"})`, `await fetch("{U}", {priority: "high"})`,
	`await fetch("{U}", {referrerPolicy: "unsafe-url"})`, `await fetch("//{H}/a")`, `await fetch(new URL("{U}"))`, `const x = new XMLHttpRequest(); x.open("GET", "{U}"); x.send()`, `const x = new XMLHttpRequest(); x.open("POST", "{U}"); x.send("x")`,
	`const x = new XMLHttpRequest(); x.open("GET", "{U}", false); x.send()`, `const x = new XMLHttpRequest(); x.upload.onprogress = () => {}; x.open("POST", "{U}"); x.send(new Blob(["x"]))`, `navigator.sendBeacon("{U}", "x")`, `navigator.sendBeacon("{U}", new Blob(["x"]))`, `navigator.sendBeacon("{U}", new FormData())`,
	`fetchLater("{U}", {activateAfter: 0})`, `new EventSource("{U}")`, `new EventSource("{U}", {withCredentials: true})`, `(await caches.open("a")).add("{U}")`, `Reflect.apply(globalThis.fetch, globalThis, ["{U}"])`, `Function.prototype.call.call(fetch, self, "{U}")`,
	`Object.getPrototypeOf(globalThis).fetch?.call(globalThis, "{U}"); WindowOrWorkerGlobalScope`, `await (0, eval)("fetch")("{U}")`, `await Function("return fetch('{U}')")()`, `await (async () => {}).constructor("return fetch('{U}')")()`, `setTimeout("fetch('{U}')")`, `await new Promise((r) => r(fetch("{U}")))`,
	`await [].constructor.constructor("return fetch('{U}')")()`, `await import("data:text/javascript,fetch('{U}')")`, `queueMicrotask(() => fetch("{U}"))`, `addEventListener("pagehide", () => navigator.sendBeacon("{U}")); location.reload()`,
}

var sockets = []string{
	`new WebSocket("ws://{H}/a")`, `new WebSocket("ws://{H}/a", "chat")`, `new WebSocket("http://{H}/a")`, `new WebSocketStream("ws://{H}/a")`, `new WebTransport("https://{H}/a")`, `new WebTransport("https://{H}/a", {serverCertificateHashes: [{algorithm: "sha-256", value: new Uint8Array(32)}]})`,
	`const p = new RTCPeerConnection({iceServers: [{urls: "stun:{H}"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const p = new RTCPeerConnection({iceServers: [{urls: "turn:{H}?transport=udp", username: "secret", credential: "x"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const p = new RTCPeerConnection({iceServers: [{urls: "turn:{H}?transport=tcp", username: "secret", credential: "x"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const p = new RTCPeerConnection({iceServers: [{urls: "turns:{H}?transport=tcp", username: "secret", credential: "x"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const p = new RTCPeerConnection(); p.createDataChannel("x"); p.setConfiguration({iceServers: [{urls: "stun:{H}"}]}); await p.setLocalDescription(await p.createOffer())`,
	`const p = new webkitRTCPeerConnection({iceServers: [{urls: "stun:{H}"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const p = new RTCPeerConnection({iceServers: [{urls: "stun:{H}"}], iceCandidatePoolSize: 4})`, `new TCPSocket("{N}", {P})`, `new UDPSocket({remoteAddress: "{N}", remotePort: {P}})`,
	`const f = document.body.appendChild(document.createElement("iframe")); const p = new f.contentWindow.RTCPeerConnection({iceServers: [{urls: "stun:{H}"}]}); p.createDataChannel("x"); await p.setLocalDescription(await p.createOffer())`,
	`const f = document.body.appendChild(document.createElement("iframe")); new f.contentWindow.WebSocket("ws://{H}/a")`,
}

var navigations = []string{
	`location.href = "{U}"`, `location = "{U}"`, `location.replace("{U}")`, `location.assign("{U}")`, `window.location = "{U}"`, `document.location = "{U}"`, `self.location.pathname = "//{H}/a"`, `parent.location = "{U}"`, `parent.location.replace("{U}")`, `parent.location.href = "{U}"`,
	`open("{U}")`, `open("{U}", "_self")`, `open("{U}", "_parent")`, `open("about:blank").location = "{U}"`, `navigation.navigate("{U}")`, `const a = document.createElement("a"); a.href = "{U}"; a.click()`, `const a = document.body.appendChild(document.createElement("a")); a.href = "{U}"; a.download = "x"; a.click()`,
	`const a = document.createElement("a"); a.href = "{U}"; a.target = "_blank"; a.click()`, `const a = document.createElement("a"); a.href = "about:blank"; a.ping = "{U}"; document.body.append(a); a.click()`, `const f = document.body.appendChild(document.createElement("form")); f.action = "{U}"; f.submit()`,
	`const f = document.body.appendChild(document.createElement("form")); f.action = "{U}"; f.method = "post"; f.requestSubmit()`, `const f = document.body.appendChild(document.createElement("form")); f.action = "{U}"; f.target = "_blank"; f.submit()`, `const f = document.createElement("iframe"); f.src = "{U}"; document.body.append(f)`,
	`const f = document.body.appendChild(document.createElement("iframe")); f.contentWindow.location = "{U}"`, `const f = document.body.appendChild(document.createElement("iframe")); f.name = "v"; open("{U}", "v")`, `const m = document.createElement("meta"); m.httpEquiv = "refresh"; m.content = "0;url={U}"; document.head.append(m)`,
	`document.write("<meta http-equiv=refresh content='0;url={U}'>")`, `const a = document.createElementNS("http://www.w3.org/2000/svg", "a"); a.setAttribute("href", "{U}"); document.body.append(a); a.dispatchEvent(new MouseEvent("click"))`, `location.hash = "a"; location.href = "//{H}/a"`, `frames[0]?.location.replace("{U}"); parent.frames[0].location = "{U}"`,
}

var dom = []string{
	`new Image().src = "{U}"`, `document.createElement("img").srcset = "{U}"`, `new Audio("{U}").load()`, `const v = document.createElement("video"); v.src = "{U}"; v.load()`, `document.body.innerHTML = "<img src='{U}'>"`, `document.body.insertAdjacentHTML("beforeend", "<img src='{U}'>")`, `document.write("<img src='{U}'>")`,
	`document.body.append(document.createRange().createContextualFragment("<img src='{U}'>"))`, `document.body.append(document.importNode(new DOMParser().parseFromString("<img src='{U}'>", "text/html").body, true))`, `document.body.setHTMLUnsafe("<img src='{U}'>")`, `const s = document.body.attachShadow({mode: "open"}); s.innerHTML = "<img src='{U}'>"`,
	`document.body.style.backgroundImage = "url({U})"`, `document.body.style.cssText = "background:url({U})"`, `document.body.setAttribute("style", "background:url({U})")`, `const s = document.createElement("style"); s.textContent = "body{background:url({U})}"; document.head.append(s)`,
	`const s = new CSSStyleSheet(); s.replaceSync("body{background:url({U})}"); document.adoptedStyleSheets = [s]`, `await new CSSStyleSheet().replace("@import url({U})")`, `document.head.append(document.createElement("style")); document.styleSheets[document.styleSheets.length - 1].insertRule("body{background:url({U})}")`,
	`await new FontFace("v", "url({U})").load()`, `const f = new FontFace("v", "url({U})"); document.fonts.add(f); await document.fonts.load("9px v")`, `document.body.animate([{backgroundImage: "url({U})"}, {backgroundImage: "url({U})"}], 9000)`, `document.body.attributeStyleMap.set("background-image", "url({U})")`,
	`for (const rel of ["preconnect"]) document.head.append(Object.assign(document.createElement("link"), {rel, href: "{U}"}))`, `document.head.append(Object.assign(document.createElement("link"), {rel: "dns-prefetch", href: "{U}"}))`, `document.head.append(Object.assign(document.createElement("link"), {rel: "prefetch", href: "{U}"}))`,
	`document.head.append(Object.assign(document.createElement("link"), {rel: "stylesheet", href: "{U}"}))`, `document.head.append(Object.assign(document.createElement("link"), {rel: "preload", as: "image", href: "{U}"}))`, `document.head.append(Object.assign(document.createElement("link"), {rel: "modulepreload", href: "{U}"}))`, `document.head.append(Object.assign(document.createElement("link"), {rel: "icon", href: "{U}"}))`,
	`const s = document.createElement("script"); s.type = "speculationrules"; s.textContent = JSON.stringify({prefetch: [{urls: ["{U}"]}]}); document.head.append(s)`, `const o = document.createElement("object"); o.data = "{U}"; document.body.append(o)`, `const e = document.createElement("embed"); e.src = "{U}"; document.body.append(e)`, `const f = document.createElement("iframe"); f.srcdoc = "<img src='{U}'>"; document.body.append(f)`,
	`const f = document.body.appendChild(document.createElement("iframe")); await f.contentWindow.fetch("{U}")`, `const f = document.body.appendChild(document.createElement("iframe")); new f.contentWindow.Image().src = "{U}"`, `const f = document.createElement("iframe"); f.src = "javascript:fetch('{U}')"; document.body.append(f)`, `const f = document.createElement("iframe"); f.src = URL.createObjectURL(new Blob(["<img src='{U}'>"], {type: "text/html"})); document.body.append(f)`,
	`const x = document.createElementNS("http://www.w3.org/2000/svg", "image"); x.setAttribute("href", "{U}"); const s = document.createElementNS("http://www.w3.org/2000/svg", "svg"); s.append(x); document.body.append(s)`, `const i = document.createElement("input"); i.type = "image"; i.src = "{U}"; document.body.append(i)`, `const v = document.createElement("video"); v.poster = "{U}"; document.body.append(v)`,
	`document.open(); document.write("<link rel=stylesheet href='{U}'>"); document.close()`, `const p = new XSLTProcessor(); const d = new DOMParser().parseFromString("<x:stylesheet version='1.0' xmlns:x='http://www.w3.org/1999/XSL/Transform'><x:import href='{U}'/></x:stylesheet>", "text/xml"); p.importStylesheet(d)`, `document.body.background = "{U}"`,
}

var scripts = []string{
	`await import("{U}")`, `await import("{U}", {with: {type: "json"}})`, `await import(URL.createObjectURL(new Blob(["import '{U}'"], {type: "text/javascript"})))`, `await import("data:text/javascript,import '{U}'")`, `importScripts("{U}")`, `self.importScripts("{U}")`, `WorkerGlobalScope.prototype.importScripts.call(self, "{U}")`,
	`const s = document.createElement("script"); s.src = "{U}"; document.head.append(s)`, `const s = document.createElement("script"); s.type = "module"; s.textContent = "import '{U}'"; document.head.append(s)`, `const s = document.createElement("script"); s.textContent = "fetch('{U}')"; document.head.append(s)`,
	`const s = document.createElement("script"); s.type = "importmap"; s.textContent = JSON.stringify({imports: {v: "{U}"}}); document.head.append(s); await import("v")`, `await WebAssembly.compileStreaming(fetch("{U}"))`, `document.body.setAttribute("onclick", "fetch('{U}')"); document.body.click()`, `throw Object.assign(new Error("{U}"), {stack: "{U}"})`,
	"//# sourceMappingURL={U}\nreturn 1", "eval('1//# sourceMappingURL={U}'); await fetch('{U}')",
}

var workers = []string{
	`new Worker("{U}")`, `new Worker("data:text/javascript,fetch('{U}')")`, `new Worker(URL.createObjectURL(new Blob(["fetch('{U}')"])))`, `new Worker(URL.createObjectURL(new Blob(["importScripts('{U}')"])))`, `new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://{H}/a')"])))`, `new Worker(URL.createObjectURL(new Blob(["new EventSource('{U}')"])))`,
	`new Worker(URL.createObjectURL(new Blob(["const x=new XMLHttpRequest();x.open('GET','{U}',false);x.send()"])))`, `new Worker(URL.createObjectURL(new Blob(["import '{U}'"])), {type: "module"})`, `new Worker(URL.createObjectURL(new Blob(["import('{U}')"])))`, `new Worker(URL.createObjectURL(new Blob(["new Worker(URL.createObjectURL(new Blob([\"fetch('{U}')\"])))"])))`,
	`new SharedWorker("{U}")`, `new SharedWorker(URL.createObjectURL(new Blob(["fetch('{U}')"])))`, `new SharedWorker("data:text/javascript,fetch('{U}')")`, `await navigator.serviceWorker.register("{U}")`, `const c = new AudioContext(); await c.audioWorklet.addModule("{U}")`, `const c = new OfflineAudioContext(1, 1, 44100); await c.audioWorklet.addModule("{U}")`, `await CSS.paintWorklet.addModule("{U}")`,
	`await sharedStorage.worklet.addModule("{U}")`, `new Worker("data:text/javascript,importScripts('{U}')")`, `new Worker("data:text/javascript,new WebTransport('https://{H}/a')")`, `new (Object.getPrototypeOf(async function () {}).constructor)("new Worker(URL.createObjectURL(new Blob([\"fetch('{U}')\"])))")()`,
}

var platform = []string{
	`await navigator.credentials.get({identity: {providers: [{configURL: "https://{H}/a", clientId: "1"}]}})`, `new PaymentRequest([{supportedMethods: "https://{H}/a"}], {total: {label: "x", amount: {currency: "EUR", value: "1"}}}).canMakePayment()`, `new Notification("x", {icon: "{U}"})`, `navigator.registerProtocolHandler("web+v", "{U}?%s")`,
	`await navigator.joinAdInterestGroup({owner: "https://{H}", name: "x", lifetimeMs: 9000, biddingLogicURL: "https://{H}/b"}, 9)`, `await navigator.runAdAuction({seller: "https://{H}", decisionLogicURL: "https://{H}/a"})`, `await document.requestStorageAccessFor("https://{H}")`, `navigator.setAppBadge?.(1); await (await navigator.serviceWorker.ready).backgroundFetch.fetch("a", "{U}")`,
	`await navigator.share({url: "{U}"})`, `window.fence?.reportEvent({eventType: "x", destinationURL: "{U}"})`, `navigator.mediaSession.metadata = new MediaMetadata({artwork: [{src: "{U}"}]})`, `new ReportingObserver(() => {}).observe(); document.featurePolicy; await fetch("{U}", {mode: "no-cors"})`, `await cookieStore.set({name: "a", value: "b", domain: "{N}"})`, `const u = new URL("{U}"); u.searchParams.set("x", 1); await fetch(u)`,
	`await navigator.storage.getDirectory(); await fetch("{U}")`, `new BroadcastChannel("x").postMessage("{U}"); await fetch("{U}")`, `indexedDB.open("x"); await fetch("{U}")`, `await navigator.locks.request("x", () => fetch("{U}"))`, `const c = new MessageChannel(); c.port1.onmessage = () => fetch("{U}"); c.port2.postMessage(1); await new Promise((r) => setTimeout(r, 50))`, `const s = new Response(new ReadableStream({pull() { fetch("{U}") }})); await Promise.race([s.text(), new Promise((r) => setTimeout(r, 50))])`,
}
