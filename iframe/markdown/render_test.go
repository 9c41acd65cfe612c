package markdown_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/iframe/markdown/extend"
	"github.com/bailey-go/bailey/internal/native"
)

func newRenderer(t testing.TB, opts markdown.Options) *markdown.Renderer {
	t.Helper()
	r, err := markdown.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, r *markdown.Renderer, src string) (string, markdown.Report) {
	t.Helper()
	h, report, err := r.Render([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return h.String(), report
}

// Every attack of the collection is inert after the sanitiser, as judged by a reader that
// shares no code with it.
func TestXSSIsInert(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	for _, p := range loadXSS(t) {
		for _, text := range p.forms(xssSink) {
			out, report := render(t, r, text)
			if report.Count(markdown.Broken) > 0 {
				t.Errorf("%s: refused by the last check:\n%.300s", p.ID, text)
			}
			for _, f := range inert(out) {
				t.Errorf("%s: %s\n--- in\n%.400s\n--- out\n%.600s", p.ID, f, text, out)
			}
			if again := strings.Contains(out, "\xff"); again {
				t.Errorf("%s: a mark was left over", p.ID)
			}
		}
	}
}

func link(url, text string) string {
	return `<a data-href="` + url + `" role="link" tabindex="0">` + text + `</a>`
}

func file(path, text string) string {
	return `<a data-path="` + path + `" role="link" tabindex="0">` + text + `</a>`
}

// Texts and their HTML, with a row for each design decision.
func TestRender(t *testing.T) {
	const gif = "R0lGODlhAQABAAAAACw="
	r := newRenderer(t, markdown.Options{NoHeadingIDs: true})
	for _, c := range []struct{ name, in, want, stopped string }{
		// links
		{"link", `[a](https://B.example/c d)`, `<p>[a](` + link("https://b.example/c", "https://B.example/c") + ` d)</p>`, ""},
		{"host in lower case", `[a](HTTPS://B.Example/C)`, `<p>` + link("https://b.example/C", "a") + `</p>`, ""},
		{"no href", `<a href="https://b.example">a</a>`, `<p>` + link("https://b.example", "a") + `</p>`, ""},
		{"script", `[a](javascript:alert(1))`, `<p>a</p>`, "scheme javascript"},
		{"script in pieces", "<a href=\"java\tscript:alert(1)\">a</a>", `<p><a>a</a></p>`, "scheme javascript"},
		{"file", `[a](b)`, `<p>` + file("b", "a") + `</p>`, ""},
		{"file in a folder", `[a](<./notes/my%20plan.md#L3>)`, `<p>` + file("notes/my plan.md", "a") + `</p>`, ""},
		{"file in HTML", `<a href="/b.md" data-path="c">a</a>`, `<p>` + file("b.md", "a") + `</p>`, "attribute data-path"},
		{"file out of the folder", `[a](../b)`, `<p>a</p>`, "scheme relative"},
		{"file that says it is a host", `[https://a.example](b.md)`, `<p>` + file("b.md", "https://a.example") + beside + `b.md)</span></p>`, "deception b.md"},
		{"file in HTML that says it is a host", `<a href="b.md">www.a.example</a>`, `<p>` + file("b.md", "www.a.example") + beside + `b.md)</span></p>`, "deception b.md"},
		{"file that says its path", `[notes/b.md](notes/b.md)`, `<p>` + file("notes/b.md", "notes/b.md") + `</p>`, ""},
		// alerts
		{"alert", "> [!NOTE]\n> a *b*\n>\n> c", `<blockquote class="bailey-alert bailey-alert-note">` + "\n" + `<p class="bailey-alert-title">Note</p>` + "\n<p>a <em>b</em></p>\n<p>c</p>\n</blockquote>", ""},
		{"alert of a list", "> [!warning]  \n> - a", `<blockquote class="bailey-alert bailey-alert-warning">` + "\n" + `<p class="bailey-alert-title">Warning</p>` + "\n<ul>\n<li>a</li>\n</ul>\n</blockquote>", ""},
		{"alert of another kind", "> [!DANGER]\n> a", "<blockquote>\n<p>[!DANGER]\na</p>\n</blockquote>", ""},
		{"alert with more in its line", "> [!NOTE] a", "<blockquote>\n<p>[!NOTE] a</p>\n</blockquote>", ""},
		{"alert that is a link", "> [!NOTE]\n> a\n\n[!note]: https://b.example", "<blockquote>\n<p>" + link("https://b.example", "!NOTE") + "\na</p>\n</blockquote>", ""},
		{"alert in HTML", `<blockquote class="bailey-alert-note">a</blockquote>`, "<blockquote>a</blockquote>", "attribute class"},
		{"without a scheme", `[a](//b.example)`, `<p>` + link("https://b.example", "a") + `</p>`, ""},
		{"backslashes", `[a](https:\\\\b.example\\@c.example)`, `<p>` + link("https://b.example/@c.example", "a") + `</p>`, ""},
		{"numbers", `[a](http://0x7f.1/)`, `<p>` + link("http://127.0.0.1/", "a") + `</p>`, ""},
		{"port", `[a](http://b.example:99999/)`, `<p>a</p>`, "scheme malformed"},
		{"mail", `<a@b.example>`, `<p>` + link("mailto:a@b.example", "a@b.example") + `</p>`, ""},
		{"phone", `[a](tel:+49-30-123)`, `<p>` + link("tel:+49-30-123", "a") + `</p>`, ""},
		{"fragment", `[a](#B-c)`, `<p><a data-fragment="user-content-B-c" role="link" tabindex="0">a</a></p>`, ""},
		{"link in link", `<a href="https://b.example">a [c](https://d.example) e</a>`, `<p>` + link("https://b.example", "a c e") + `</p>`, ""},
		// what a link says and where it leads
		{"other host", `[a.com](https://b.example)`, ``, "deception b.example"},
		{"other host in HTML", `<a href="https://b.example/">see <b>https://a.example</b></a>`, ``, "deception b.example"},
		{"other host in an image", `[![a.com](x.png)](https://b.example)`, ``, "deception b.example"},
		{"other mail", `[a@b.example](mailto:a@c.example)`, ``, "deception c.example"},
		{"user name", `[a](https://b.example@c.example/)`, ``, "deception c.example"},
		{"letters", "[a](https://\u0430pple.com)", ``, "deception xn--pple-43d.com"},
		{"same host", `[www.a.example/x](https://a.example/y)`, `<p>` + link("https://a.example/y", "www.a.example/x") + `</p>`, ""},
		{"no host", `[README.md and node.js 1.2](https://a.example)`, `<p>` + link("https://a.example", "README.md and node.js 1.2") + `</p>`, ""},
		{"direction", "a \u202eb\u202c c", "<p>a ⟨U+202E⟩b⟨U+202C⟩ c</p>", "deception U+202C, deception U+202E"},
		{"direction in code", "`a\u2066b`", "<p><code>a⟨U+2066⟩b</code></p>", "deception U+2066"},
		{"direction as a reference", "a&#x202e;b", "<p>a⟨U+202E⟩b</p>", "deception U+202E"},
		{"hidden characters", "a\U000E0068\U000E0069b", "<p>a⟨hidden characters: 2⟩b</p>", "deception hidden characters ×2"},
		{"a hidden character as a reference", "a&#xE0068;b", "<p>a⟨hidden characters: 1⟩b</p>", "deception hidden characters"},
		{"hidden characters in code", "`a\U000E0068`", "<p><code>a⟨hidden characters: 1⟩</code></p>", "deception hidden characters"},
		{"the flag of a region", "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F b", "<p>\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F b</p>", ""},
		{"a flag of seven letters", "\U0001F3F4" + strings.Repeat("\U000E0067", 7) + "\U000E007F", "<p>\U0001F3F4⟨hidden characters: 8⟩</p>", "deception hidden characters ×8"},
		{"marks stay", "a\u200fb", "<p>a\u200fb</p>", ""},
		// images
		{"data", "![a](data:image/gif;base64," + gif + ")", `<p><img src="data:image/gif;base64,` + gif + `" alt="a"></p>`, ""},
		{"data of another type", "![a](data:image/png;base64," + gif + ")", `<p><img data-warning="image not shown: data that is not of its type" alt="a"></p>`, "image data that is not of its type"},
		{"SVG", "![a](data:image/svg+xml;base64,PHN2Zz4=)", `<p><img data-warning="image not shown: data that is not of its type" alt="a"></p>`, "image data that is not of its type"},
		{"remote", "![a](https://b.example/c.png \"d\")", `<p><img data-image="https://b.example/c.png" alt="a" title="d"></p>`, ""},
		{"of the host", "![a](bailey-image:chart-1)", `<p><img data-image="bailey-image:chart-1" alt="a"></p>`, ""},
		{"script", "![a](javascript:b)", `<p><img data-warning="image not shown: javascript" alt="a"></p>`, "image javascript"},
		{"remote in HTML", `<img src="c.png" width="10" height=5 srcset="d" onerror=e>`, `<img width="10" height="5" data-image="c.png">`, "attribute onerror, attribute srcset"},
		// raw HTML
		{"unclosed", "<b>a\n\nb", "<p><b>a</b></p>\n<p>b</p>", "unclosed <b>"},
		{"unclosed block", "<div align=center>\na\n\nb", `<div align="center">` + "\na\n</div><p>b</p>", "unclosed <div>"},
		{"stray", "a</div></p></section></main>b\n\nc", "<p>ab</p>\n<p>c</p>", "unclosed </div>, unclosed </main>, unclosed </p>, unclosed </section>"},
		{"crossed", "a <b><i>b</b>c</i>", "<p>a <b><i>b</i></b>c</p>", "unclosed </i>, unclosed <i>"},
		{"details", "<details><summary>a</summary>\n\n- b\n\n</details>\n\nc", "<details><summary>a</summary>\n<ul>\n<li>b</li>\n</ul>\n</details>\n<p>c</p>", ""},
		{"end in a paragraph", "<details>\n\na\n</details>\n\nb", "<details>\n<p>a</p>\n</details>\n<p>b</p>", ""},
		{"end in a line", "<div>\n\na</div> b\n\nc", "<div>\n<p>a</p></div> b\n<p>c</p>", ""},
		{"paragraph round one", "<p align=\"center\">\n\na\n\n</p>", "<p align=\"center\">\na\n</p>", ""},
		{"not out of a list", "- a\n\n  </li></ul>\n\n- b", "<ul>\n<li>\n<p>a</p>\n\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>", "unclosed </li>, unclosed </ul>"},
		{"not out of a quote", "> <div>\n\na", "<blockquote>\n<div>\n</div></blockquote>\n<p>a</p>", "unclosed <div>"},
		{"table", "<table><tr><th>a<td>b<tr><td>c</table>", "<table><tbody><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></tbody></table>", ""},
		{"text in a table", "<table>a<tr>b</table>", "<table><tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody></table>", ""},
		{"items without a list", "<li>a", "a", "element <li>"},
		{"comment", "a <!-- b --> c", "<p>a  c</p>", ""},
		{"open comment", "a <!-- b", "<p>a &lt;!-- b</p>", ""},
		{"open script", "<script>\na\n\n*b*", "a\n<p><em>b</em></p>", "element <script>"},
		{"script", "<script>\na\n\nb</script>\n\nc", "<p>c</p>", "element <script>"},
		{"names", `<b id="x" name="y" class="z" style="color:red">a</b>`, `<p><b id="user-content-x">a</b></p>`, "attribute class, attribute name, attribute style"},
		{"not ours to write", `<b role="alert" tabindex="1" data-href="x" aria-label="y">a</b>`, `<p><b>a</b></p>`, "attribute aria-label, attribute data-href, attribute role, attribute tabindex"},
		{"language", `<code class="language-go host">a</code>`, `<p><code class="language-go">a</code></p>`, ""},
		{"bounded", "<table><tr><td colspan=1000 rowspan=2>a</table>", `<table><tbody><tr><td rowspan="2">a</td></tr></tbody></table>`, "attribute colspan"},
		// code
		{"fence", "```a\nb < c\n```", `<pre><code class="language-a">b &lt; c` + "\n</code></pre>", ""},
		{"open fence", "~~~\na", "<pre><code>a\n</code></pre>", ""},
		// footnotes
		{"unused", "[^a]: b", `<section class="bailey-footnotes">` + "\n<ol>\n" + `<li id="user-content-fn-1">` + "\n<p>b</p>\n</li>\n</ol>\n</section>", ""},
		{"undefined", "a[^b]", "<p>a[^b]</p>", ""},
	} {
		out, report := render(t, r, c.in)
		checkOutput(t, r, c.in, out, report)
		if c.want != "" && strings.TrimSpace(out) != c.want {
			t.Errorf("%s\n--- in\n%s\n--- want\n%s\n--- got\n%s", c.name, c.in, c.want, out)
		}
		if c.want == "" && !strings.Contains(out, `<span class="bailey-target"> (`) {
			t.Errorf("%s: the host is not shown\n%s", c.name, out)
		}
		if report.String() != c.stopped {
			t.Errorf("%s: stopped %q, want %q\n%s", c.name, report, c.stopped, out)
		}
	}
}

func TestFootnotes(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	out, _ := render(t, r, "a[^late] b[^one] c[^late]\n\n[^one]: first[^three]\n[^late]: second\n\n    more\n\nd\n\n[^three]: third\n[^one]: again\n")
	for i, want := range []string{`id="user-content-fnref-1"`, `>1</a></sup> b`, `id="user-content-fnref-2"`, `>2</a></sup> c`, `id="user-content-fnref-1-2"`, `<p>d</p>`,
		`<li id="user-content-fn-1">` + "\n<p>second</p>\n<p>more ", `<li id="user-content-fn-2">` + "\n<p>first<sup", `<li id="user-content-fn-3">` + "\n<p>third ",
		`<li id="user-content-fn-4">` + "\n<p>again</p>"} {
		at := strings.Index(out, want)
		if at < 0 {
			t.Fatalf("%d: %s is missing, or before the one before\n%s", i, want, out)
		}
		out = out[at:]
	}
}

func TestHeadingIDs(t *testing.T) {
	r := newRenderer(t, markdown.Options{IDPrefix: "a1-"})
	out, _ := render(t, r, "# One *two*\n\n# One two\n\n# One two\n\n## Ünï & co!\n\n# ...\n\n[x](#one-two-1) [y](#%C3%BCn%C3%AF--co)")
	for _, want := range []string{`<h1 id="a1-one-two">`, `<h1 id="a1-one-two-1">`, `<h1 id="a1-one-two-2">`, `<h2 id="a1-ünï--co">`, `<h1 id="a1-section">`,
		`data-fragment="a1-one-two-1"`, `data-fragment="a1-ünï--co"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is missing\n%s", want, out)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range []markdown.Options{
		{IDPrefix: "x"}, {IDPrefix: "1-"}, {IDPrefix: `a"-`}, {Schemes: []string{"javascript"}}, {Base: "ftp://a.example"}, {Base: "/x"},
		{Extensions: []markdown.Extension{nil}},
	} {
		if _, err := markdown.New(bad); err == nil || !strings.HasPrefix(err.Error(), "markdown: ") {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
	r := newRenderer(t, markdown.Options{Schemes: []string{"https"}, Base: "https://a.example/b/"})
	if out, report := render(t, r, "[a](http://b.example) [c](mailto:d@e.example) [f](../g)"); out != "<p>a c "+link("https://a.example/g", "f")+"</p>\n" || report.Count(markdown.Scheme) != 2 {
		t.Errorf("%s %s", out, report)
	}
}

// An app's policy removes content, and cannot add any.
func TestPolicyNarrows(t *testing.T) {
	r := newRenderer(t, markdown.Options{Policy: bluemonday.StrictPolicy().AllowElements("p", "em")})
	if out, _ := render(t, r, "# a\n\n*b* **c** <script>d</script>[e](https://f.example)"); out != "a\n<p><em>b</em> c de</p>\n" {
		t.Errorf("%q", out)
	}
	wide := bluemonday.UGCPolicy()
	wide.AllowElements("script", "style", "iframe").AllowAttrs("onclick", "href", "src", "style").Globally().AllowUnsafe(true)
	wide.AddTargetBlankToFullyQualifiedLinks(true)
	r = newRenderer(t, markdown.Options{Policy: wide})
	for _, p := range loadXSS(t) {
		text := p.expand(xssSink)
		if len(text) > 2000 {
			continue
		}
		out, report := render(t, r, text)
		checkOutput(t, r, text, out, report)
	}
}

// evil is an extension that renders emphasis and headings as forbidden HTML.
type evil struct{ out string }

func (e evil) Extend(m goldmark.Markdown) {
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(e, 1)))
}

func (e evil) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	f := func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			w.WriteString(e.out)
		} else {
			w.WriteString("</div></mark>")
		}
		return ast.WalkContinue, nil
	}
	reg.Register(ast.KindEmphasis, f)
	reg.Register(ast.KindHeading, f)
}

// The output of an extension is treated as untrusted HTML.
func TestExtensionsCannotWeaken(t *testing.T) {
	native.Only(t)
	for _, p := range loadXSS(t) {
		text := p.expand(xssSink)
		if len(text) > 2000 {
			continue
		}
		r := newRenderer(t, markdown.Options{Extensions: []markdown.Extension{extend.Goldmark(evil{text})}})
		src := "a *b* c\n\n# d\n\n- *e*\n- f\n\ng"
		out, report := render(t, r, src)
		checkOutput(t, r, src, out, report)
	}
	r := newRenderer(t, markdown.Options{Extensions: []markdown.Extension{extend.Goldmark(evil{"<mark>"})}})
	if out, _ := render(t, r, "a *b* c"); out != "<p>a <mark>b</mark> c</p>\n" {
		t.Errorf("%s", out)
	}
	r = newRenderer(t, markdown.Options{Extensions: []markdown.Extension{extend.Goldmark(extension.DefinitionList), extend.Goldmark(extension.Typographer)}})
	if out, _ := render(t, r, "a\n: \"b\" -- c\n"); out != "<dl>\n<dt>a</dt>\n<dd>“b” – c</dd>\n</dl>\n" {
		t.Errorf("%s", out)
	}
}

// If an extension panics, the block becomes plain text.
func TestExtensionPanics(t *testing.T) {
	r := newRenderer(t, markdown.Options{Extensions: []markdown.Extension{extend.Goldmark(panics{})}})
	out, report := render(t, r, "*a*\n\nb")
	if !strings.Contains(out, `<pre class="bailey-plain">*a*`) || !strings.Contains(out, "<p>b</p>") || report.Count(markdown.Broken) != 1 {
		t.Errorf("%s %s", out, report)
	}
}

type panics struct{}

func (panics) Extend(m goldmark.Markdown) {
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(panics{}, 1)))
}

func (panics) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindEmphasis, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) { panic("x") })
}

// The last check is an independent layer: it refuses the markup of the collection's attacks,
// without the earlier layers.
func TestVerifyRefusesAttacks(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, p := range loadXSS(t) {
		for _, raw := range p.raw(t, xssSink) {
			if r.Verify(raw) && len(inert(raw)) > 0 {
				t.Errorf("%s is accepted: %v\n%.300s", p.ID, inert(raw), raw)
			}
		}
	}
	for _, bad := range []string{"<p>", "</p>", "<p><p>a</p></p>", "<p a></p>", `<p title=a></p>`, `<p title="a" title="b"></p>`, `<P>a</P>`, "<p >a</p>", "<br/>", "&nbsp;", "&",
		"a > b", `a " b`, "<b><i>a</b></i>", "<table>a</table>", "<tr></tr>", "<li>a</li>", "<h1><h2>a</h2></h1>", "<p><div>a</div></p>", "\xff", "a\x00", "<!-- a -->",
		`<a data-href="javascript:a">b</a>`, `<a data-href="https://a@b">c</a>`, `<p id="x">a</p>`, `<p class="x">a</p>`, `<img src="https://a">`, `<p style="a">b</p>`,
		strings.Repeat("<b>", 500) + strings.Repeat("</b>", 500), `<a data-href="https://a.b"><a data-href="https://a.b">c</a></a>`} {
		if r.Verify(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// bluemonday runs only on HTML that the last check does not accept. So it must not change HTML
// that the check accepts.
func TestPolicyIsIdentity(t *testing.T) {
	native.Only(t)
	r := newRenderer(t, markdown.Options{})
	g := rng(t)
	for range scaled(2000, 200) {
		out, _ := render(t, r, soup(g, 40))
		if again := r.Sanitise(out); again != out && strings.TrimSpace(out) != "" {
			t.Fatalf("--- accepted\n%s\n--- sanitised\n%s", out, again)
		}
	}
}

// A text of the user's is shown as it is, however long its lines are.
func TestText(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, text := range []string{"", "a *b* <b>c</b> \\. & d\n> e", "\n\na", strings.Repeat("lorem ipsum. ", 90_000), strings.Repeat("a", 1<<20), strings.Repeat("é \\_ ", 50_000)} {
		out := r.Text(text).String()
		shown := html.UnescapeString(regexp.MustCompile(`</?pre[^>]*>\n?`).ReplaceAllString(out, ""))
		if want := strings.TrimLeft(text, "\n"); strings.TrimLeft(shown, " \n") != want {
			t.Errorf("%.80q: %.200q", text, shown)
		}
		if !r.Verify(out) || strings.Contains(out, "bailey-note") {
			t.Errorf("%.80q is refused", text)
		}
	}
	if out := r.Text("a\u202eb\xff").String(); strings.ContainsAny(out, "\u202e") || !strings.Contains(out, "\ufffd") {
		t.Errorf("%q", out)
	}
}
