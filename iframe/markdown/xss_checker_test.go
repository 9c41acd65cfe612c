package markdown_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// inert is an independent check of rendered HTML. It shares no code and no list with the
// sanitiser. It reads the text as a tokeniser does, and as a tree in every context where it
// might be inserted. It returns everything that could run, load, navigate, imitate the host, or
// change when parsed again. It accepts only the elements of prose and reports all others.
func inert(out string) []string {
	var found []string
	add := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		if !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	inertTokens(out, add)
	for _, c := range []struct {
		context   atom.Atom
		scripting bool
	}{{atom.Div, true}, {atom.Div, false}, {atom.Body, true}, {atom.Template, true}, {atom.Td, true}, {atom.Section, false}} {
		nodes, err := html.ParseFragmentWithOptions(strings.NewReader(out),
			&html.Node{Type: html.ElementNode, Data: c.context.String(), DataAtom: c.context}, html.ParseOptionEnableScripting(c.scripting))
		if err != nil {
			add("does not parse in %s: %v", c.context, err)
			continue
		}
		first := inertTree(nodes, add)
		again, err := html.ParseFragmentWithOptions(strings.NewReader(first),
			&html.Node{Type: html.ElementNode, Data: c.context.String(), DataAtom: c.context}, html.ParseOptionEnableScripting(c.scripting))
		if err != nil {
			add("does not parse again in %s: %v", c.context, err)
			continue
		}
		if second := inertTree(again, add); second != first {
			add("changes when parsed again in %s", c.context)
		}
	}
	inertShape(out, add)
	inertBalance(out, add)
	return found
}

var inertElements = strings.Fields(`a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col colgroup
	dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img input ins kbd label li main mark menu
	nav ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr`)

var inertAttrs = strings.Fields(`abbr align alt checked class colspan datetime dir disabled headers height id lang open reversed role rowspan scope
	span start title type valign value width compact cite`)

var (
	inertImage  = regexp.MustCompile(`^data:image/(png|jpeg|jpg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=\s]*$`)
	inertStyle  = regexp.MustCompile(`^\s*text-align:\s*(left|right|center|justify);?\s*$`)
	inertNumber = regexp.MustCompile(`^-?\d{0,7}%?$`)
	inertData   = regexp.MustCompile(`^data-[a-z-]+$`)
	inertScheme = regexp.MustCompile(`(?i)^[\x00-\x20]*(j[\x00-\x20]*a[\x00-\x20]*v[\x00-\x20]*a|v[\x00-\x20]*b)[\x00-\x20]*s[\x00-\x20]*c[\x00-\x20]*r[\x00-\x20]*i[\x00-\x20]*p[\x00-\x20]*t[\x00-\x20]*:`)
)

// hostWords are data attributes, classes and references of a surrounding page that the
// collection tries to imitate.
var hostWords = strings.Fields(`data-bailey-action data-target data-toggle data-turbo-method data-remote data-controller data-action data-src
	data-srcset data-onclick data-hx-get data-ui data-at data-state data-x data-u data-secret`)

func inertTokens(out string, add func(string, ...any)) {
	z := html.NewTokenizer(strings.NewReader(out))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.CommentToken:
			add("comment %.60q", z.Raw())
		case html.DoctypeToken:
			add("doctype %.60q", z.Raw())
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if !slices.Contains(inertElements, t.Data) {
				add("element <%.40s>", t.Data)
			}
			for _, a := range t.Attr {
				inertAttr(t.Data, a, add)
			}
		case html.TextToken:
			if bytes.IndexByte(z.Raw(), 0) >= 0 {
				add("a null byte in text")
			}
			if bytes.ContainsAny(z.Raw(), "\u202d\u202e") {
				add("text that turns direction")
			}
		}
	}
}

func inertAttr(tag string, a html.Attribute, add func(string, ...any)) {
	name := strings.ToLower(a.Key)
	switch {
	case a.Namespace != "":
		add("attribute in a namespace, %s:%s", a.Namespace, name)
	case strings.HasPrefix(name, "on"):
		add("handler %s on <%s>", name, tag)
	case inertScheme.MatchString(a.Val) && !strings.HasPrefix(name, "data-") && name != "title" && name != "alt":
		add("script address in %s on <%s>", name, tag)
	case name == "style":
		if !inertStyle.MatchString(a.Val) {
			add("style %.60q on <%s>", a.Val, tag)
		}
	case name == "src" && tag == "img":
		if !inertImage.MatchString(a.Val) {
			add("image %.60q", a.Val)
		}
	case name == "id":
		// No property of document, window or form has a dash in its name.
		if !strings.Contains(a.Val, "-") || strings.HasPrefix(a.Val, "bailey-root") {
			add("id %.60q on <%s>", a.Val, tag)
		}
	case name == "role":
		if strings.Contains("alert dialog alertdialog application status log", a.Val) {
			add("role %.40q", a.Val)
		}
	case name == "headers", name == "aria-labelledby", name == "aria-describedby":
		for _, ref := range strings.Fields(a.Val) {
			if !strings.Contains(ref, "-") {
				add("%s names %.60q on <%s>", name, ref, tag)
			}
		}
	case name == "type" && tag == "input":
		if a.Val != "checkbox" {
			add("input of type %.40q", a.Val)
		}
	case slices.Contains([]string{"width", "height", "colspan", "rowspan", "span"}, name):
		if !inertNumber.MatchString(a.Val) {
			add("%s=%.40q on <%s>", name, a.Val, tag)
		}
	case name == "tabindex":
		if a.Val != "0" {
			add("tabindex %.40q on <%s>", a.Val, tag)
		}
	case name == "cite":
		add("cite on <%s>: an address nobody asked for", tag)
	case slices.Contains(hostWords, name):
		add("attribute %s on <%s> is the host's", name, tag)
	case name == "class":
		for _, c := range strings.Fields(a.Val) {
			if slices.Contains([]string{"fixed", "inset-0", "hidden", "modal", "active", "bailey-button", "lazyload", "lazy"}, c) {
				add("class %s on <%s> is the host's", c, tag)
			}
		}
	case inertData.MatchString(name), name == "aria-label", name == "aria-hidden" && a.Val == "true" && tag == "span":
	case slices.Contains(inertAttrs, name):
	default:
		add("attribute %.40s on <%s>", name, tag)
	}
}

// inertTree walks parsed nodes, checks them, and writes them out again.
func inertTree(nodes []*html.Node, add func(string, ...any)) string {
	var b strings.Builder
	for _, n := range nodes {
		for d := range n.Descendants() {
			inertNode(d, add)
		}
		inertNode(n, add)
		if err := html.Render(&b, n); err != nil {
			add("does not write out: %v", err)
		}
	}
	return b.String()
}

func inertNode(n *html.Node, add func(string, ...any)) {
	switch n.Type {
	case html.CommentNode:
		add("comment node %.60q", n.Data)
	case html.ElementNode:
		if n.Namespace != "" {
			add("element <%s> of %s", n.Data, n.Namespace)
		}
		if !slices.Contains(inertElements, n.Data) {
			add("element <%.40s>", n.Data)
		}
		for _, a := range n.Attr {
			inertAttr(n.Data, a, add)
		}
	}
}

// inertShape reports each difference between the elements written in out and those that a
// parser finds: nothing may be implied, moved or corrected. Mutation attacks use HTML that two
// parsers correct differently.
func inertShape(out string, add func(string, ...any)) {
	out = strings.ReplaceAll(out, "<pre>\n", "<pre>") // parsers drop it
	void := strings.Fields("br hr img input wbr col")
	var written, parsed []string
	z := html.NewTokenizer(strings.NewReader(out))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		name, _ := z.TagName()
		switch tag := string(name); tt {
		case html.StartTagToken, html.SelfClosingTagToken:
			written = append(written, tag)
			if slices.Contains(void, tag) {
				written = append(written, "/"+tag)
			}
		case html.EndTagToken:
			written = append(written, "/"+tag)
		case html.TextToken:
			written = append(written, "#"+string(z.Text()))
		}
	}
	nodes, err := html.ParseFragment(strings.NewReader(out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		add("does not parse: %v", err)
		return
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			parsed = append(parsed, n.Data)
		}
		if n.Type == html.TextNode {
			parsed = append(parsed, "#"+n.Data)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if n.Type == html.ElementNode {
			parsed = append(parsed, "/"+n.Data)
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	if !slices.Equal(written, parsed) {
		add("is not built as it is written")
	}
}

// inertBalance reports elements that out leaves open, and end tags without an element. Content
// after out must not be swallowed, moved or restyled.
func inertBalance(out string, add func(string, ...any)) {
	page := `<!doctype html><html><body><main id="q-main"><section id="q-hold">` + out +
		`</section><section id="q-after">after</section></main></body></html>`
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		add("does not parse in a page: %v", err)
		return
	}
	var main, hold, after *html.Node
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "id" && n.Type == html.ElementNode {
				switch a.Val {
				case "q-main":
					main = n
				case "q-hold":
					hold = n
				case "q-after":
					after = n
				}
			}
		}
	}
	switch {
	case main == nil || hold == nil || after == nil:
		add("swallows what stands after it")
	case hold.Parent != main || after.Parent != main || hold.NextSibling != after:
		add("moves what stands after it")
	case after.FirstChild == nil || after.FirstChild != after.LastChild || after.FirstChild.Type != html.TextNode || after.FirstChild.Data != "after":
		add("restyles what stands after it")
	case main.LastChild != after || main.Parent.Data != "body":
		add("leaves something behind")
	}
}

// rawGoldmark is what a page without a sanitiser would insert.
var rawGoldmark = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))

// raw returns p's forms as rendered without the sanitiser. Texts that would exhaust goldmark
// itself are cut, because those rows test the limits before it.
func (p xssPayload) raw(t testing.TB, sink string) []string {
	t.Helper()
	var outs []string
	for _, text := range p.forms(sink) {
		text = text[:min(len(text), 32<<10)]
		if strings.Contains(p.ID, "-huge") {
			text = text[:min(len(text), 2<<10)]
		}
		var b bytes.Buffer
		if err := rawGoldmark.Convert([]byte(text), &b); err != nil {
			t.Fatalf("%s: goldmark: %v", p.ID, err)
		}
		outs = append(outs, b.String())
	}
	return outs
}

// The positive control of the checker: if it found nothing in unsanitised output, the test of
// the sanitiser would be worthless.
func TestXSSCheckerSeesRawOutput(t *testing.T) {
	const floor = 0.96
	run, seen := 0, 0
	var harmless []string
	for _, p := range loadXSS(t) {
		if p.Does == "look" {
			continue
		}
		run++
		if slices.ContainsFunc(p.raw(t, xssSink), func(out string) bool { return len(inert(out)) > 0 }) {
			seen++
		} else {
			harmless = append(harmless, p.ID)
		}
	}
	t.Logf("goldmark alone makes harmless: %v", harmless)
	if got := float64(seen) / float64(run); got < floor {
		t.Errorf("the checker sees %d of %d unsanitised payloads, %.3f; want at least %.3f", seen, run, got, floor)
	}
}

// A table for the checker itself: HTML that it must accept, and HTML that it must refuse.
func TestXSSChecker(t *testing.T) {
	for _, good := range []string{
		``, `plain`, `<p>x</p>`, `<p><strong>a</strong> <em>b</em></p>`, `<ul><li><input type="checkbox" checked disabled> x</li></ul>`,
		`<table><thead><tr><th style="text-align:center">a</th></tr></thead><tbody><tr><td align="right">b</td></tr></tbody></table>`,
		`<pre><code class="language-go">x &lt; y</code></pre>`, `<a data-href="https://a.example/" tabindex="0" role="link">x</a>`,
		`<img alt="x" src="data:image/png;base64,AAAA">`, `<h1 id="section-x">x</h1>`, `<details open><summary>s</summary>d</details>`,
		`&lt;script&gt;`, `<p>javascript:alert(1)</p>`, `<ol start="3"><li>x</li></ol>`, `<p dir="rtl" lang="ar">x</p>`,
	} {
		if f := inert(good); len(f) > 0 {
			t.Errorf("%q: found %q in something harmless", good, f)
		}
	}
	for _, bad := range []string{
		`<script>x</script>`, `<p onclick="x">y</p>`, `<a href="https://a.example/">x</a>`, `<a href="#x">x</a>`, `<img src="https://a.example/x.png">`,
		`<img src="data:image/svg+xml;base64,AAAA">`, `<img src="data:image/png,AAAA">`, `<img srcset="x">`, `<p style="color:red">x</p>`,
		`<p id="forms">x</p>`, `<!-- x -->`, `<svg></svg>`, `<math></math>`, `<style>x</style>`, `<template>x</template>`, `<iframe></iframe>`,
		`<form></form>`, `<b>x`, `</section>`, `<p>x</p></main>`, `<input type="text">`, `<p autofocus>x</p>`, `<p popover>x</p>`, `<x-y>x</x-y>`,
		`<b><p>x</b></p>`, `<table>x</table>`, `<p contenteditable>x</p>`, `<p slot="x">x</p>`, `<blockquote cite="https://a.example/">x</blockquote>`,
		`<p is="x-y">x</p>`, `<a ping="x">y</a>`, "<p>a\x00b</p>", "<p>a\u202eb</p>", `<td headers="body">x</td>`, `<link rel="x">`, `<base>`, `<meta>`, `<p><p>x</p></p>`,
	} {
		if len(inert(bad)) == 0 {
			t.Errorf("%q: found nothing", bad)
		}
	}
}
