package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/browser"
	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/internal/attack"
)

// offering defines what an extension of the browser, or the page around, runs to offer a server.
const offering = `(() => {
	const all = globalThis.servers = {};
	globalThis.offer = (name, tools, more = {}) => {
		const {port1, port2} = new MessageChannel(), s = {port: port1, got: [], ended: false, say: (m) => port1.postMessage(JSON.stringify({jsonrpc: '2.0', ...m}))};
		s.call = (id, p) => s.say({id, result: {content: [{type: 'text', text: 'the page had ' + JSON.stringify(p.arguments)}]}});
		Object.assign(s, more);
		port1.onmessage = (e) => {
			if (e.data === '') return void (s.ended = true);
			const m = JSON.parse(e.data);
			s.got.push(m.method + (m.params?.arguments ? ' ' + m.params.name + ' ' + JSON.stringify(m.params.arguments) : ''));
			if (m.method === 'initialize') s.say({id: m.id, result: {protocolVersion: '2025-11-25', capabilities: {tools: {listChanged: true}}, serverInfo: {name: 'a <b>page</b>', version: '1'}}});
			if (m.method === 'tools/list') s.say({id: m.id, result: {tools: tools.map((name) => s.list?.[name] ?? ({name, description: 'Does ' + name + '.', inputSchema: {type: 'object', properties: {text: {type: 'string'}}}}))}});
			if (m.method === 'resources/read') s.say({id: m.id, result: {contents: [{uri: m.params.uri, mimeType: 'text/html;profile=mcp-app', text: s.page, _meta: s.meta}]}});
			if (m.method === 'tools/call') s.call(m.id, m.params, s);
		};
		all[name] = s;
		(globalThis.to ?? globalThis).postMessage({type: 'bailey-mcp', name}, globalThis.to ? '*' : location.origin, [port2]);
	};
})()`

// offer offers a server with tools from the page's own window, as an extension does.
func (n *networkPage) offer(name, more string, tools ...string) {
	n.t.Helper()
	n.check(`void offer(` + js(name) + `, ["` + strings.Join(tools, `","`) + `"], {` + more + `})`)
}

// server waits for a state of a server in the settings.
func (n *networkPage) server(name, words string) {
	n.t.Helper()
	n.wait("the server "+name+" says "+words, `[...document.querySelectorAll("#servers li")].some((e) => e.querySelector("b")?.textContent === `+js(name)+` && e.querySelector(".state").textContent.includes(`+js(words)+`))`)
}

// press presses a button of the list of servers.
func (n *networkPage) press(label string) {
	n.t.Helper()
	button := `[...document.querySelectorAll("#servers button")].find((b) => b.getAttribute("aria-label") === ` + js(label) + `)`
	n.wait("the button "+label, `!!`+button)
	n.check(`void setTimeout(() => ` + button + `.click())`)
}

// consents goes through the question about an offered server, and returns its text.
func (n *networkPage) consents(name, answer string) string {
	n.t.Helper()
	n.press("Show its tools: " + name)
	text := dialogue(n.t, n.in)
	n.wait("it can be agreed to", `[...document.querySelectorAll("#dialog button")].at(-1).getAttribute("aria-disabled") === "false"`)
	leaving(n.t, n.in, answer)
	n.wait("the question is answered", `!document.getElementById("dialog").open`)
	return text
}

// A script of the page, as an extension of the browser has one, offers an MCP server over a port. Nothing happens before
// the user presses a button and agrees. Then each call is asked about, and nothing of it outlives the visit.
func TestFilesMCPInPage(t *testing.T) {
	t.Parallel()
	f, _ := filesIn(t, launch(t, e2e.Options{}))
	n := &networkPage{filesPage: f}
	n.check(offering)
	n.click("#tab-settings")
	n.offer("notes", "", "echo", "drop")
	n.server("notes", "not used yet")
	n.state("from an extension of your browser, or another script of this page")
	if n.check(`document.getElementById("dialog").open`) != "false" || n.check(`String(servers.notes.got)`) != "" {
		t.Error("an offer asks, or is answered, before the user has pressed anything")
	}
	noViolations(t, n.in)
	holds(t, "before the user agreed", n.one("", "notes_echo", "text", "x"), "no tool")
	n.click("#tab-settings")
	holds(t, "the question", n.consents("notes", "Don't use it"), "Use the server notes?", "extension of your browser", "echo", "Does echo.", "drop", "asked before each use")
	n.wait("it is gone", `!document.getElementById("no-servers").hidden && servers.notes.ended`)
	n.offer("notes", "", "echo", "drop")
	n.consents("notes", "Use it")
	n.state("connected to a <b>page</b>")
	n.state("Tools: 2")
	noViolations(t, n.in)

	n.then(turn{calls: []call{tc("notes_echo", "text", "hello")}}, turn{text: "That was it."})
	n.say("echo")
	holds(t, "it asks", n.asks(), "the MCP server notes in this page", "its tool echo", "hello", "not Bailey's own")
	n.answer(reject)
	n.rested()
	if got := n.check(`String(servers.notes.got)`); strings.Contains(got, "tools/call") {
		t.Errorf("after a no the server had %s", got)
	}
	holds(t, "a call", n.one(once, "notes_echo", "text", "hi"), `the page had {\"text\":\"hi\"}`)
	n.click("#tab-settings")
	n.decide("echo", "allow")
	n.decide("drop", "deny")
	holds(t, "always", n.one("", "notes_echo", "text", "again"), "again")
	holds(t, "never", n.one("", "notes_drop", "text", "x"), "not allowed")

	// An answer that holds for longer is about what the server was. Another one of its name is asked about.
	n.click("#tab-settings")
	n.decide("echo", "ask")
	holds(t, "for this folder", n.one(project, "notes_echo", "text", "for long"), "for long")
	holds(t, "for this folder", n.one("", "notes_echo", "text", "unasked"), "unasked")

	// Its end during a call is the call's end, and its tools are gone.
	n.check(`void (servers.notes.call = (id, p, s) => { s.port.postMessage(""); s.port.close(); })`)
	holds(t, "closed in a call", n.one("", "notes_echo", "text", "x"), "error")
	n.click("#tab-settings")
	n.server("notes", "it has ended")
	holds(t, "after its end", n.one("", "notes_echo", "text", "x"), "no tool")
	n.click("#tab-settings")
	n.offer("notes", "", "echo")
	n.consents("notes", "Use it")
	n.state("connected to a <b>page</b>")
	holds(t, "another server of the name", n.one(once, "notes_echo", "text", "asked"), "asked")

	// A visit later it is not there, and another server of its name is asked about.
	n.reload()
	n.click("#tab-settings")
	n.wait("it is not there", `!document.getElementById("no-servers").hidden`)
	if got := n.check(`localStorage.getItem("bailey-files")`); strings.Contains(got, "mcp:notes") {
		t.Errorf("kept: %s", got)
	}
	noErrors(t, n.in)
}

// Offers that must not be, and servers in the page that do harm.
func TestAttackFilesMCPInPage(t *testing.T) {
	long(t)
	count := attack.Start(t, "server")
	count.NoSwitch("the page's own listener has no switch; sandbox/mcpclient has the controls of a server")
	t.Parallel()
	f, p := filesIn(t, launch(t, e2e.Options{}))
	n := &networkPage{filesPage: f}
	n.check(offering)
	n.click("#tab-settings")
	rows := func() string {
		return n.check(`[...document.querySelectorAll("#servers b")].map((e) => e.textContent).join(" ")`)
	}
	// The frames of answers are opaque. One that runs a stranger's code offers a server in vain, and so does an event
	// that a script has made, with an origin of its choice.
	if _, err := p.EvalFrames(testContext(t), `void (window !== top && top.postMessage({type: "bailey-mcp", name: "framed"}, "*", [new MessageChannel().port2]))`); err != nil {
		t.Fatal(err)
	}
	n.check(`void dispatchEvent(new MessageEvent("message", {data: {type: "bailey-mcp", name: "forged"}, origin: "https://bank.example", source: window, ports: [new MessageChannel().port2]}))`)
	for _, bad := range []string{`{type: "bailey-mcp"}`, `{type: "bailey-mcp", name: "a_b"}`, `{type: "bailey-mcp", name: {toString() { return "x" }}.x}`, `{type: "bailey-mcp", name: "x".repeat(1e6)}`, `"bailey-mcp"`, `null`} {
		n.check(`void postMessage(` + bad + `, location.origin, [new MessageChannel().port2])`)
	}
	n.check(`void postMessage({type: "bailey-mcp", name: "portless"}, location.origin)`)
	n.check(`(() => { const a = new MessageChannel(), b = new MessageChannel(); postMessage({type: "bailey-mcp", name: "two"}, location.origin, [a.port2, b.port2]); })()`)
	n.offer("good", "", "echo")
	n.server("good", "not used yet")
	got := rows()
	count.Try("an offer of a frame, of a script, or in another form: "+got, got != "good")
	n.consents("good", "Use it")
	n.state("connected to")

	// Another offer of its name does not take its place.
	n.check(`void (globalThis.first = servers.good)`)
	n.offer("good", "", "steal")
	n.wait("the second is refused", `servers.good.ended`)
	holds(t, "the first", n.one(once, "good_echo", "text", "mine"), "mine")
	// An answer with another id is none.
	n.check(`void (first.call = (id, p, s) => { for (const i of [0, -1, id + 1, String(id), null]) s.say({id: i, result: {content: [{type: "text", text: "forged"}]}}); s.say({id, result: {content: [{type: "text", text: "true"}]}}); s.say({id, result: {content: [{type: "text", text: "late"}]}}); })`)
	got = n.one(once, "good_echo", "text", "x")
	count.Try("an answer with another id: "+got, !strings.Contains(got, "true") || strings.Contains(got, "forged") || strings.Contains(got, "late"))
	// A tool with the name of one of the page's is left out.
	n.click("#tab-settings")
	n.offer("code", "", "run")
	n.consents("code", "Use it")
	holds(t, "the page's own tool", n.one("", "code_run", "code", "return 6 * 7"), "42")
	got = n.check(`String(servers.code.got)`)
	count.Try("a tool with a name of the page's: "+got, strings.Contains(got, "tools/call"))
	// A message beyond the limit, and messages without end, end the server.
	for name, call := range map[string]string{"big": `s.port.postMessage("x".repeat(9e6))`, "odd": `s.port.postMessage({})`, "flood": `for (let i = 0; i < 20000; i++) s.say({method: "notifications/progress", params: {progressToken: 0, progress: i}})`} {
		n.click("#tab-settings")
		n.offer(name, `call: (id, p, s) => { `+call+` }`, "echo")
		n.consents(name, "Use it")
		n.server(name, "connected to")
		holds(t, name, n.one(once, name+"_echo", "text", "x"), "error")
		n.server(name, "it has ended")
		holds(t, name+" is gone", n.one("", name+"_echo", "text", "x"), "no tool")
		n.click("#tab-settings")
		n.press("Remove: " + name)
	}
	// One that closes its port without a word is silent, where the browser does not tell. The user's stop ends the step.
	n.check(`void (first.call = (id, p, s) => { globalThis.called = true; s.port.close(); })`)
	n.then(turn{calls: []call{tc("good_echo", "text", "x")}})
	n.say("the silent one")
	n.asks()
	n.answer(once)
	n.wait("it is called", `globalThis.called === true`)
	n.click("#stop")
	n.rested()
	// A flood of offers is a few lines, and the page goes on.
	n.check(`void (() => { for (let i = 0; i < 2000; i++) offer("f" + i, ["echo"]); })()`)
	n.wait("the last is refused", `servers.f1999.ended`)
	got = rows()
	count.Try("a flood of offers: "+got, len(strings.Fields(got)) != 2+5)
	holds(t, "the page works", n.one("", "read", "path", "notes/plan.md"), "TODO")
	noErrors(t, n.in)
}

// The page around this one, which the headers allow, offers a server. The question names its origin, and not that of
// the page itself.
func TestFilesMCPAround(t *testing.T) {
	t.Parallel()
	s := newOwnServer(t)
	around := filepath.Join(s.dir, "around")
	must(t, os.MkdirAll(around, 0o755))
	for name, text := range map[string]string{
		"files/headers.json":  `{"connect": ["` + strings.TrimPrefix(models.URL, "http://") + `"], "ancestors": ["self"]}`,
		"around/headers.json": `{"frames": ["self"]}`,
		"around/index.html":   `<!doctype html><html lang="en"><title>Around</title><body><iframe src="../files/" width="1200" height="800" title="Files"></iframe><script src="around.js"></script></body></html>`,
		"around/around.js": offering + `;
			addEventListener('message', (e) => {
				if (e.data?.type !== 'bailey-mcp-ready' || e.source !== frames[0]) return;
				globalThis.to = frames[0];
				offer('outer', ['echo']);
			});`,
	} {
		must(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
	}
	o := s.open(browser.Chromium)
	n := &filesPage{anyPage: anyPage{o.page, t}, in: o}
	must(t, o.Goto(testContext(t), "http://"+s.addr+"/around/"))
	within := func(text string) string {
		return `frames[0].document.getElementById("servers")?.innerText.includes(` + js(text) + `)`
	}
	n.wait("the server is offered", within("in this page, from http://"+s.addr))
	n.check(`void setTimeout(() => frames[0].document.querySelector("#servers button").click())`)
	n.wait("it asks", `frames[0].document.getElementById("dialog").open && frames[0].document.getElementById("dialog").innerText.includes(`+js("It comes from http://"+s.addr+".")+`)`)
	n.wait("it can be agreed to", `[...frames[0].document.querySelectorAll("#dialog button")].at(-1).getAttribute("aria-disabled") === "false"`)
	n.check(`void setTimeout(() => [...frames[0].document.querySelectorAll("#dialog button")].at(-1).click())`)
	n.wait("it is connected", within("connected to a <b>page</b>"))
	noErrors(t, n.in)
}
