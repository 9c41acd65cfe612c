package examples

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/browsertest/internal/e2e"
	"github.com/bailey-go/bailey/browsertest/internal/poll"
)

// stream opens the example and streams an answer at a speed, to its end.
func stream(t *testing.T, p *e2e.Page, answer, speed string) {
	t.Helper()
	ctx := testContext(t)
	must(t, p.Wait(ctx, "#"+answer))
	must(t, p.Eval(ctx, fmt.Sprintf(`document.getElementById("speed").value = %q`, speed), nil))
	must(t, p.Click(ctx, "#"+answer))
	must(t, p.WaitFor(ctx, `/bytes in/.test(document.getElementById("status").textContent)`))
}

func openMarkdown(t *testing.T, b *e2e.Browser) *e2e.Page {
	t.Helper()
	p, err := b.Page(testContext(t), site+"markdown/")
	must(t, err)
	return p
}

func TestMarkdownLooks(t *testing.T) {
	t.Parallel()
	answer := func(name string) func(t *testing.T, p *e2e.Page) {
		return func(t *testing.T, p *e2e.Page) { stream(t, p, name, "0") }
	}
	looks(t, "markdown", openMarkdown, []look{
		{name: "light", width: 1280, height: 900, show: answer("folder")},
		{name: "dark", dark: true, width: 1280, height: 900, show: answer("hostile")},
		{name: "narrow", width: 390, height: 844, show: func(t *testing.T, p *e2e.Page) {
			stream(t, p, "science", "0")
			must(t, p.Eval(testContext(t), `document.querySelector("main").scrollIntoView()`, nil))
		}},
		{name: "narrow dark", dark: true, width: 390, height: 844, show: answer("languages"), bare: true},
	})
}

func TestMarkdownMidStream(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openMarkdown(t, b)
	must(t, p.Wait(ctx, "#travel"))
	must(t, p.Eval(ctx, `globalThis.shift = 0; new PerformanceObserver((list) => {
		for (const e of list.getEntries()) if (!e.hadRecentInput) shift += e.value;
	}).observe({type: "layout-shift", buffered: true}); document.getElementById("speed").value = "600"`, nil))
	must(t, p.Click(ctx, "#travel"))
	must(t, p.WaitFor(ctx, `document.querySelector("#conversation iframe").getBoundingClientRect().height > 700`))
	noViolations(t, p)
	if *shots {
		_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples/markdown/screenshots/mid-stream.png")})
		must(t, err)
	}
	must(t, p.WaitFor(ctx, `/bytes in/.test(document.getElementById("status").textContent)`))
	if s := eval[float64](t, p, "shift"); s > 0.05 {
		t.Errorf("layout shift of %.3f while streaming: at most 0.05", s)
	}
	noErrors(t, p)
}

// Code has colours and formulas are drawn, by libraries that load when they are first needed. Long code is folded, and a
// link to a file says its path.
func TestMarkdownDraws(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openMarkdown(t, b)
	must(t, p.Wait(ctx, "#own :enabled"))
	loaded := `performance.getEntriesByType("resource").filter((e) => /guests/.test(e.name)).length`
	if n := eval[int](t, p, loaded); n != 0 {
		t.Errorf("%d libraries are loaded before any text needs one", n)
	}
	must(t, p.Eval(ctx, "document.getElementById('speed').value = '0'; document.getElementById('paste').value = "+
		"'So $a^2$ and [the plan](notes/plan.md).\\n\\n```go\\n' + 'var a = 1 // b\\n'.repeat(30) + '```\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |\\n\\n```mermaid\\ngraph TD\\n  A --> B\\n```\\n'", nil))
	must(t, p.Click(ctx, "#own button"))
	poll.Until(t, "colours and a formula", func() bool {
		return inFrame(t, p, `document.querySelectorAll("math msup").length`) == "1" && inFrame(t, p, `document.querySelectorAll("pre .hl-keyword").length`) == "30"
	})
	poll.Until(t, "a diagram", func() bool {
		return inFrame(t, p, `document.querySelector("figure > img")?.naturalWidth > 50 && document.querySelector("figure > img").alt`) == "mermaid: A, B"
	})
	for _, c := range [][2]string{
		{`document.querySelectorAll("pre[data-fold=shut] > button[data-ui=fold]").length`, "1"},
		{`document.querySelectorAll("pre button[data-ui=save], pre button[data-ui=wrap], pre button[data-ui=copy]").length`, "6"},
		{`document.querySelectorAll("table + [data-ui=bar] > button[data-ui=csv]").length`, "1"},
		{`document.querySelector("pre > code").scrollHeight > document.querySelector("pre > code").clientHeight + 50`, "true"},
		{`(document.querySelector("button[data-ui=fold]").click(), document.querySelector("pre > code").scrollHeight <= document.querySelector("pre > code").clientHeight)`, "true"},
		{`(document.querySelector("button[data-ui=wrap]").click(), getComputedStyle(document.querySelector("pre > code")).whiteSpace)`, "pre-wrap"},
	} {
		if got := inFrame(t, p, c[0]); got != c[1] {
			t.Errorf("%s is %s, want %s", c[0], got, c[1])
		}
	}
	inFrame(t, p, `document.querySelector("[data-path]").click()`)
	must(t, p.WaitFor(ctx, `/notes\/plan\.md/.test(document.getElementById("status").textContent)`))
	noViolations(t, p)
	noErrors(t, p)
}

// A further answer comes into view, and its end stays there while it streams.
func TestMarkdownNextAnswerIsInView(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openMarkdown(t, b)
	stream(t, p, "folder", "0")
	must(t, p.WaitFor(ctx, `document.documentElement.scrollHeight > innerHeight + 300`))
	before := eval[float64](t, p, "(scrollTo(0, 0), document.getElementById('conversation').getBoundingClientRect().bottom)")
	stream(t, p, "travel", "0")
	must(t, p.WaitFor(ctx, fmt.Sprintf(`scrollY > 100 && scrollY < %f && %f - scrollY < innerHeight`, before, before)))
	must(t, p.Eval(ctx, `scrollTo(0, 0); document.getElementById("speed").value = "600"`, nil))
	must(t, p.Click(ctx, "#folder"))
	must(t, p.WaitFor(ctx, `document.documentElement.scrollHeight - innerHeight - scrollY < 200 && /Streaming/.test(document.getElementById("status").textContent)`))
	noErrors(t, p)
}

// The hostile answer loads nothing and runs nothing, and the page lists the blocked parts. The browser's own network
// log proves it.
func TestMarkdownHostileAnswer(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{NetLog: true})
	p := openMarkdown(t, b)
	stream(t, p, "hostile", "0")
	before := eval[string](t, p, `location.href`)
	if rows := eval[int](t, p, `document.querySelectorAll("#stopped li").length`); rows < 5 {
		t.Errorf("%d rows of what was stopped", rows)
	}
	for _, bad := range []string{"[href]", "[src]:not([src^='data:image/'])", "[srcset]", ":not(#root > section)[style]", "script:not(body > script)", "iframe", "form", "object", "embed", "svg", "link", "base", "[onerror]", "[onload]"} {
		// The frame's own script and template stand outside #root, and a section that rests gets a style of the frame's.
		if n := inFrame(t, p, fmt.Sprintf(`document.querySelectorAll("#root " + %q).length`, bad)); n != "0" {
			t.Errorf("%s × %s in the document", n, bad)
		}
	}
	if now := eval[string](t, p, `location.href`); now != before {
		t.Errorf("the page went to %s", now)
	}
	noErrors(t, p)
	nothingOutside(t, b, p)
}

func TestMarkdownLinkAsksFirst(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openMarkdown(t, b)
	must(t, p.Wait(ctx, "#own :enabled"))
	must(t, p.Eval(ctx, `document.getElementById("paste").value = "[your bank](https://example.org/login)\n\nend"; document.getElementById("speed").value = "0"`, nil))
	must(t, p.Click(ctx, "#own button"))
	must(t, p.WaitFor(ctx, `/bytes in/.test(document.getElementById("status").textContent)`))
	// By keyboard: the link has the focus order of any other.
	must(t, p.Click(ctx, "#clear + #status, #stop, #theme"))
	inFrame(t, p, `document.querySelector("[data-href]").focus()`)
	must(t, p.Press(ctx, "Enter"))
	must(t, p.WaitFor(ctx, `document.getElementById("leave").open`))
	if host := eval[string](t, p, `document.getElementById("leave-host").textContent`); host != "example.org" {
		t.Errorf("the dialog shows the host %q", host)
	}
	noViolations(t, p)
	must(t, p.Click(ctx, `#leave button[value=cancel]`))
	must(t, p.WaitFor(ctx, `document.querySelector("#stopped li")?.textContent.includes("https://example.org/login")`))
	noErrors(t, p)
}

func TestMarkdownCopiesCode(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	must(t, b.Grant(ctx, strings.TrimSuffix(site, "/"), "clipboardReadWrite", "clipboardSanitizedWrite"))
	p := openMarkdown(t, b)
	must(t, p.Wait(ctx, "#own :enabled"))
	must(t, p.Eval(ctx, `document.getElementById("paste").value = "~~~go\nfunc f() bool { return 1 < 2 && true }\n~~~\n"; document.getElementById("speed").value = "0"`, nil))
	must(t, p.Click(ctx, "#own button"))
	must(t, p.WaitFor(ctx, `/bytes in/.test(document.getElementById("status").textContent)`))
	poll.Until(t, "the button is in view", func() bool { // the block is there with a later frame, and the height with it
		return inFrame(t, p, `document.querySelectorAll("button[data-ui=copy]").length`) == "1" &&
			inFrame(t, p, `document.querySelector("button[data-ui=copy]").getBoundingClientRect().bottom <= innerHeight`) == "true" &&
			eval[bool](t, p, `document.querySelector("#conversation iframe").getBoundingClientRect().height > 36`)
	})
	var at [2]float64
	must(t, p.Eval(ctx, `(() => { const r = document.querySelector("#conversation iframe").getBoundingClientRect(); return [r.right - 30, r.top + 18]; })()`, &at))
	must(t, p.ClickAt(ctx, at[0], at[1]))
	said := ""
	poll.Until(t, "the button says what it did", func() bool {
		said = inFrame(t, p, `document.querySelector("button[data-ui=copy]").textContent`)
		return said != "Copy"
	})
	if said != "Copied" {
		t.Errorf("the button says %q", said)
	}
}

func TestMarkdownPrints(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	p := openMarkdown(t, b)
	stream(t, p, "folder", "0")
	pdf, err := p.PDF(testContext(t))
	must(t, err)
	if len(pdf) < 10_000 {
		t.Errorf("a PDF of %d bytes", len(pdf))
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"plain/")
	must(t, err)
	must(t, p.WaitFor(ctx, `/^Done/.test(document.getElementById("status").textContent)`))
	if n := inFrame(t, p, `document.querySelectorAll("table, pre").length`); n != "2" {
		t.Errorf("%s tables and code blocks: want 2", n)
	}
	noViolations(t, p)
	noErrors(t, p)
	if got := eval[string](t, p, `import("./api.mjs").then(({load}) => load({panel: false})).then((b) => b.markdown("*a* <script>x</script>"))`); !strings.Contains(got, "<em>a</em>") || strings.Contains(got, "script") {
		t.Errorf("markdown(): %q", got)
	}
	must(t, p.Click(ctx, "#run button"))
	must(t, p.WaitFor(ctx, `document.getElementById("result").textContent === "log: fetch is undefined\n[2, 3, 5, 7, 11, 13, 17, 19, 23, 29]"`))
	must(t, p.Eval(ctx, `document.getElementById("code").value = "for (;;);"`, nil))
	must(t, p.Click(ctx, "#run button"))
	must(t, p.WaitFor(ctx, `/^TIMEOUT: /.test(document.getElementById("result").textContent)`))
	noViolations(t, p)
	if *shots {
		_, err := p.Screenshot(ctx, e2e.Shot{File: filepath.Join(root, "examples/plain/screenshots/light.png")})
		must(t, err)
	}
}

// The prebuilt program runs code for pages without Go.
func TestPlainRuns(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p, err := b.Page(ctx, site+"plain/")
	must(t, err)
	must(t, p.Eval(ctx, `import("./api.mjs").then(({load}) => load({panel: false})).then((b) => { globalThis.b = b; })`, nil))
	for _, c := range []struct{ name, script, want string }{
		{"a value", `b.run("return args.a + extra[1]", {args: {a: 1}, context: {extra: [0, 41]}}).then((r) => [r.success, r.value])`, `[true,42]`},
		{"bytes", `b.run("return args.map((x) => x * 2)", {args: new Uint8Array([1, 2, 255])}).then((r) => [r.value instanceof Uint8Array, ...r.value])`, `[true,2,4,254]`},
		{"rich values", `b.run("return {m: new Map([[{k: 1}, new Set([2n])]]), d: new Date(5), e: new TypeError('no'), f: new Float32Array([1.5])}").then(({value: v}) => [...v.m].map(([k, s]) => [k.k, String([...s][0])]).concat([[v.d.getTime(), v.e.name, v.e.message, v.f[0], v.f.length]]))`,
			`[[1,"2"],[5,"TypeError","no",1.5,1]]`},
		{"console", `(async () => { const rows = []; const r = await b.run("console.warn('a', [1])", {onConsole: (row) => rows.push(row)}); return [rows.length, r.console.length, rows[0].level, rows[0].args, r.value]; })()`, `[1,1,"warn",["a",[1]],null]`},
		{"its own error", `b.run("null.x").then((r) => [r.success, r.error.name, r.error.code])`, `[false,"TypeError","EXECUTION_ERROR"]`},
		{"time", `b.run("for (;;);", {time: 100}).then((r) => [r.success, r.error.code, r.partial])`, `[false,"TIMEOUT",true]`},
		{"abort", `(async () => { const c = new AbortController(); setTimeout(() => c.abort(), 100); const r = await b.run("await new Promise(() => {})", {signal: c.signal}); return [r.success, r.error.code]; })()`, `[false,"ABORTED"]`},
		{"nothing to reach", `b.run("return [typeof fetch, typeof document, typeof importScripts, typeof callTool]").then((r) => r.value)`, `["undefined","undefined","undefined","function"]`},
		{"misspelt", `b.run("1", {tiem: 5}).then(() => "ran", (e) => e.message)`, `"run(code, options): tiem: there is no such option"`},
		{"no code", `b.run().then(() => "ran", (e) => e.message)`, `"run(code): code is missing"`},
		{"tools", `(async () => {
			const e = await b.enclave({level: 'STANDARD', tools: {
				add: {description: 'adds', parameters: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}, run: async ({a, b}) => a + b},
				fail: {run: () => { throw new Error('not today'); }},
			}});
			try {
				const r = await e.run("const s = await callTool('add', {a: 1, b: 2}); let said; try { await callTool('fail', {}); } catch (x) { said = x.message; } let bad; try { await callTool('add', {a: '1', b: 2}); } catch (x) { bad = x.code; } return [s, said, bad]");
				return [r.success, r.value, r.stats.toolCalls];
			} finally { await e.close(); }
		})()`, `[true,[3,"not today","INVALID_PARAMS"],3]`},
		{"closed", `(async () => { const e = await b.enclave(); await e.close(); return e.run("1").then(() => "ran", (e) => e.message); })()`, `"run(): this is closed"`},
		{"a tool without run", `b.enclave({tools: {x: {}}}).then(() => "made", (e) => e.message)`, `"enclave(options): tools: x: run is missing: the function that does it"`},
		{"an unknown level", `b.enclave({level: 'LAX'}).then(() => "made", (e) => e.message)`, `"enclave(options): level: level \"LAX\": must be STRICT, SECURE, STANDARD or PERMISSIVE (INVALID_PARAMS)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got any
			must(t, p.Eval(ctx, `(`+c.script+`).then((x) => JSON.stringify(x))`, &got))
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	noErrors(t, p)
}

// A program that panicked starts again in the same page, under the page's
// own headers: main runs a second time, and its Trusted Types policy is made a
// second time.
func TestMarkdownRestarts(t *testing.T) {
	t.Parallel()
	b := launch(t, e2e.Options{})
	ctx := testContext(t)
	p := openMarkdown(t, b)
	stream(t, p, "folder", "0")
	buttons := eval[int](t, p, `document.querySelectorAll("#answers button").length`)
	// An exception of the browser at a place where the program expects none is a panic.
	must(t, p.Eval(ctx, `(() => {
		const button = document.getElementById("folder");
		document.getElementById = () => { throw new Error("as asked"); };
		try { button.click(); } finally { delete document.getElementById; }
	})()`, nil))
	const card = `document.querySelector("bailey-loader")?.shadowRoot`
	must(t, p.WaitFor(ctx, card+`.querySelector(".main")?.textContent === "Restart"`))
	must(t, p.Eval(ctx, card+`.querySelector(".main").click()`, nil))
	must(t, p.WaitFor(ctx, `document.querySelector("bailey-loader") === null && !document.getElementById("ready").disabled`))
	stream(t, p, "hostile", "0")
	if n := eval[int](t, p, `document.querySelectorAll("#answers button").length`); n != buttons {
		t.Errorf("%d answers to pick from after the restart, %d before", n, buttons)
	}
	if n := eval[int](t, p, `document.querySelectorAll("#conversation iframe").length`); n != 1 {
		t.Errorf("%d documents after the restart", n)
	}
	if rows := eval[int](t, p, `document.querySelectorAll("#stopped li").length`); rows < 5 {
		t.Errorf("%d rows of what was stopped", rows)
	}
}
