package iframe

import (
	"strings"
	"testing"
)

func TestCodeText(t *testing.T) {
	for _, c := range []struct {
		html string
		n    int
		want string
		ok   bool
	}{
		{`<pre><code>a &lt;b&gt; &amp; c` + "\n" + `</code></pre>`, 0, "a <b> & c", true},
		{"<pre><code>\na\n\nb\n\n\n</code></pre>", 0, "\na\n\nb", true},
		{`<pre><code><span dir="rtl">x</span></code></pre>`, 0, "", false},
		{`<pre><code dir="rtl">x</code></pre>`, 0, "", false},
		{`<pre><code><span class="hl-a" dir="auto">x</span></code></pre>`, 0, "", false},
		{`<pre><code class="language-go"><span class="k">func</span> f()</code></pre>`, 0, "func f()", true},
		{`<p><code>inline</code></p><pre><code>one</code></pre><ul><li><pre><code>two</code></pre></li></ul>`, 1, "two", true},
		{`<pre><code></code></pre>`, 0, "", true},
		{`<pre>no code</pre><pre><code>x</code></pre>`, 0, "", false},
		{`<pre>no code</pre><pre><code>x</code></pre>`, 1, "x", true},
		{`<pre><pre><code>decoy</code></pre></pre><pre><code>x</code></pre>`, 0, "", false},
		{`<pre><pre><code>decoy</code></pre></pre><pre><code>x</code></pre>`, 2, "x", true},
		{`<pre>` + "\n" + `<code>x</code>` + "\n" + `</pre>`, 0, "x", true},
		{`<pre>$ <code>x</code></pre>`, 0, "", false},
		{`<pre><code>x</code><code>y</code></pre>`, 0, "", false},
		{`<pre><code>x<details><summary>more</summary>y</details></code></pre>`, 0, "", false},
		{`<pre><details><summary>x</summary><code>y</code></details></pre>`, 0, "", false},
		{`<pre><code>x<img alt="y"></code></pre>`, 0, "", false},
		{`<pre><code>x</code></pre>`, 1, "", false},
		{`<pre><code>x</code></pre>`, 1 << 30, "", false},
		{`<pre><code>never closed`, 0, "", false},
		{``, 0, "", false},
		{`<code>x</code>`, 0, "", false},
	} {
		got, lang, ok := codeText(c.html, c.n)
		if got != c.want || ok != c.ok || ok && (lang == "go") != strings.Contains(c.html, "language-go") {
			t.Errorf("%q, %d: %q, %v; want %q, %v", c.html, c.n, got, ok, c.want, c.ok)
		}
	}
}

func TestTableCSV(t *testing.T) {
	table := func(rows string) string { return "<table>\n<thead>\n" + rows + "</thead>\n</table>\n" }
	for _, c := range []struct {
		html string
		n    int
		want string
		ok   bool
	}{
		{table("<tr>\n<th>a</th>\n<th align=\"right\">b <em>c</em></th>\n</tr>\n<tr>\n<td>1</td>\n<td>&lt;2&gt;</td>\n</tr>\n"), 0, "a,b c\r\n1,<2>\r\n", true},
		{table(`<tr><td>a,b</td><td>say &#34;x&#34;</td><td>` + "c\nd</td></tr>"), 0, "\"a,b\",\"say \"\"x\"\"\",\"c\nd\"\r\n", true},
		{table(`<tr><td>=cmd|' /C calc'!A0</td><td>-5.5%</td><td>+49</td><td>@SUM(1)</td><td>-x</td></tr>`), 0, "'=cmd|' /C calc'!A0,-5.5%,+49,'@SUM(1),'-x\r\n", true},
		{"<p>x</p>" + table("<tr><td>1</td></tr>") + table("<tr><td>2</td></tr>"), 1, "2\r\n", true},
		{table("<tr><td>1</td></tr>"), 1, "", false},
		{table("<tr><td>a<table><tbody><tr><td>b</td></tr></tbody></table>c</td></tr>"), 0, "abc\r\n", true},
		{"<table><tbody><tr><td>never closed", 0, "", false},
		{"<p>a</p>", 0, "", false},
	} {
		if got, ok := tableCSV(c.html, c.n); got != c.want || ok != c.ok {
			t.Errorf("%q, %d: %q, %v; want %q, %v", c.html, c.n, got, ok, c.want, c.ok)
		}
	}
}

func TestFileName(t *testing.T) {
	for lang, want := range map[string]string{"go": "code.go", "Python": "code.py", "": "code.txt", "c++": "code.txt", "../x": "code.txt", "python:py": "code.txt", "verylongname": "code.txt", "math": "code.tex"} {
		if got := fileName(lang); got != want {
			t.Errorf("%q: %q, want %q", lang, got, want)
		}
	}
}
