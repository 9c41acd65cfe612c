package markdown_test

import (
	"html"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// tex and display are how a formula is shown.
func tex(s string) string { return `<code class="bailey-tex">` + html.EscapeString(s) + `</code>` }
func display(s string) string {
	return `<code class="bailey-tex bailey-display">` + html.EscapeString(s) + `</code>`
}

func TestMath(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, c := range [][2]string{
		// in a line
		{`a $x_1 + y_2$ b`, `<p>a ` + tex(`x_1 + y_2`) + ` b</p>`},
		{`$\sum_{i=1}^n$`, `<p>` + tex(`\sum_{i=1}^n`) + `</p>`},
		{`\( a^2 \), \(x\)`, `<p>` + tex(`a^2`) + `, ` + tex(`x`) + `</p>`},
		{`\[ \int e^{-x^2}\,dx \]`, `<p>` + display(`\int e^{-x^2}\,dx`) + `</p>`},
		{`so \[ a \\ b \] is`, `<p>so ` + display(`a \\ b`) + ` is</p>`},
		{`so $$a_b$$ is`, `<p>so ` + display(`a_b`) + ` is</p>`},
		{"$`a_b`$ too", `<p>` + tex(`a_b`) + ` too</p>`},
		{`*a $x*y$ b*`, `<p><em>a ` + tex(`x*y`) + ` b</em></p>`},
		{`$\text{5 \$ each}$`, `<p>` + tex(`\text{5 \$ each}`) + `</p>`},
		{"over $a\n= b$ lines", "<p>over " + tex("a\n= b") + " lines</p>"},
		{"> over $a\n> = b$ lines", "<blockquote>\n<p>over " + tex("a\n= b") + " lines</p>\n</blockquote>"},
		{`$100$ and $2x$`, `<p>` + tex(`100`) + ` and ` + tex(`2x`) + `</p>`},
		{`# $\alpha$ and`, `<h1 id="user-content-alpha-and">` + tex(`\alpha`) + ` and</h1>`},
		{`$<b>&amp;$`, `<p>` + tex(`<b>&amp;`) + `</p>`},
		{`[$a_b$](https://example.com)`, `<p><a data-href="https://example.com" role="link" tabindex="0">` + tex(`a_b`) + `</a></p>`},
		// on lines of their own
		{"$$\nx\n+ b\n# c\n$$\n*d*", "<p>" + display("x\n+ b\n# c") + "</p>\n<p><em>d</em></p>"},
		{"text:\n\\[\n\\begin{a}\n  x & y \\\\\n\\end{a}\n\\]\nnext", "<p>text:</p>\n<p>" + display("\\begin{a}\n  x & y \\\\\n\\end{a}") + "</p>\n<p>next</p>"},
		{"1. one\n   $$\n   a\n   - b\n   $$\n2. two", "<ol>\n<li>one\n<p>" + display("a\n- b") + "</p>\n</li>\n<li>two</li>\n</ol>"},
		{"> $$ x^2 $$\n> y", "<blockquote>\n<p>" + display("x^2") + "</p>\n<p>y</p>\n</blockquote>"},
		{"The result: $$ x=1\n$$\nand", "<p>The result: " + display("x=1") + "\nand</p>"},
		{"\\[\n1\n\\]", "<p>" + display("1") + "</p>"},
		{"$$ a $$", "<p>" + display("a") + "</p>"},
		// no formulas
		{`$5 and $10`, `<p>$5 and $10</p>`},
		{`It is $5 (or 10$).`, `<p>It is $5 (or 10$).</p>`},
		{`US$5, CA$10, 5$ to 10$`, `<p>US$5, CA$10, 5$ to 10$</p>`},
		{`$5-$10, $5/$6, $20,000`, `<p>$5-$10, $5/$6, $20,000</p>`},
		{`$HOME/$USER ${a}-${b} $HOME:$PATH`, `<p>$HOME/$USER ${a}-${b} $HOME:$PATH</p>`},
		{`$(a)$(b) and $a $`, `<p>$(a)$(b) and $a $</p>`},
		{`\$5 *and* \$6`, `<p>$5 <em>and</em> $6</p>`},
		{`\\(a\\) and \\[b\\]`, `<p>\(a\) and \[b\]</p>`},
		{`as in \[1\] \(see below\)`, `<p>as in [1] (see below)</p>`},
		{`\[not a link](/foo)`, `<p>[not a link](/foo)</p>`},
		{"`$a$` and $b `c$`", "<p><code>$a$</code> and $b <code>c$</code></p>"},
		{"$$ never *closed*\n+ b\n\nnext", "<p>$$ never <em>closed</em>\n+ b</p>\n<p>next</p>"},
		{"$$\na\n\nb\n$$", "<p>$$\na</p>\n<p>b</p>\n<p>$$</p>"},
		{"$$\n$$", "<p>$$\n$$</p>"},
		{"$$$a$$$", "<p>$$$a$$$</p>"},
		{"$$\n> x\n$$ and *more*", "<p>" + display("> x") + " and <em>more</em></p>"},
		{"    $$\n    x\n    $$", "<pre><code>$$\nx\n$$\n</code></pre>"},
		{"```\n$$\nx\n$$\n```", "<pre><code>$$\nx\n$$\n</code></pre>"},
	} {
		out, report := render(t, r, c[0])
		checkOutput(t, r, c[0], out, report)
		if strings.TrimSpace(out) != c[1] {
			t.Errorf("%s\n%s\nwant\n%s", c[0], out, c[1])
		}
	}
	r = newRenderer(t, markdown.Options{NoMath: true})
	for _, c := range [][2]string{
		{`\(a\) $x*y*z$`, `<p>(a) $x<em>y</em>z$</p>`},
		{"$$\n+ b\n$$", "<p>$$</p>\n<ul>\n<li>b\n$$</li>\n</ul>"},
	} {
		if out, _ := render(t, r, c[0]); strings.TrimSpace(out) != c[1] {
			t.Errorf("without math: %s\n%s\nwant\n%s", c[0], out, c[1])
		}
	}
}

// A formula inside a paragraph has at most 4 KiB, with its delimiters.
func TestMathBytes(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for n, want := range map[int]bool{4095: true, 4096: true, 4097: false} {
		out, _ := render(t, r, "a $"+strings.Repeat("x", n-2)+"$ b")
		if strings.Contains(out, "<code") != want {
			t.Errorf("a formula of %d bytes: %v, want %v", n, !want, want)
		}
	}
}

// While a formula arrives, its characters are shown as they are, and the first version that differs is the formula.
func TestMathStreams(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, c := range []struct{ before, formula, shown string }{
		{"So ", `$\alpha_1 + b_2*c*d$`, `$\alpha_1 + b_2*c*d`},
		{"**So** ", `\(a_b \[ c \)`, `\(a_b \[ c`},
		{"", "$$\n\\begin{a}\n  x_1 & y_1 \\\\\n+ *z*\n\\end{a}\n$$", "$$\n\\begin{a}\nx_1 & y_1 \\\\\n+ *z*\n\\end{a}"},
		{"- a\n\n  ", "\\[\n  x_1\n  > y\n  \\]", "\\[\nx_1\n> y"},
		{"> ", "$$\n> a*b*\n> # c\n> $$", "$$\na*b*\n# c"},
		{"over ", "$a_1 *\nb*$", "$a_1 *\nb*"},
	} {
		s := r.NewStream()
		text := c.before + c.formula
		for i := range len(text) {
			s.Write([]byte{text[i]})
			out := s.HTML().String()
			if i+1 < len(c.before) || i+1 == len(text) {
				continue
			}
			if strings.Contains(out, "bailey-tex") || strings.Contains(out, "<em>") || strings.Contains(out, "<h1>") || strings.Count(out, "<blockquote>") > 1 {
				t.Errorf("%q is shown as %s", text[:i+1], out)
				break
			}
			seen := html.UnescapeString(stripTags(out))
			from := strings.IndexAny(seen, `$\`)
			if from >= 0 && !strings.HasPrefix(c.shown, strings.TrimSpace(seen[from:])) && !strings.HasPrefix(strings.TrimSpace(seen[from:]), c.shown) {
				t.Errorf("%q is shown as %q", text[:i+1], seen[from:])
				break
			}
		}
		if out := s.HTML().String(); strings.Count(out, "bailey-tex") != 1 {
			t.Errorf("%q ends as %s", text, out)
		}
	}
	// Money is not held for a formula.
	s := r.NewStream()
	s.Write([]byte("It costs $5 and *then"))
	if out := s.HTML().String(); out != "<p>It costs $5 and <em>then</em></p>\n" {
		t.Errorf("%s", out)
	}
}

// stripTags returns the text of HTML that this package wrote.
func stripTags(s string) string {
	var b strings.Builder
	for {
		text, rest, ok := strings.Cut(s, "<")
		b.WriteString(text)
		if !ok {
			return b.String()
		}
		_, s, _ = strings.Cut(rest, ">")
	}
}
