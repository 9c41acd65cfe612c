package iframe

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
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
		{table("<tr><td>a<details>=1+1</details></td></tr>"), 0, "", false},
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

// A cell that a spreadsheet takes for a formula, wherever it ends a cell: at a comma, at a semicolon (as in Germany), or at a tab.
func TestAttackCSV(t *testing.T) {
	a := attack.Start(t, "drawn")
	runs := regexp.MustCompile(`(?m)(^|[,;\t])["' \x{feff}\x{200b}]*[=+@＝＋－＠-]\S*[A-Za-z(|]`)
	for _, cell := range []string{
		"=cmd|' /C calc'!A0", "=HYPERLINK(A1)", "+cmd|x!A", "-2+cmd|x!A", "@SUM(A1)", " =A1", "\t=A1", "\r=A1", "\n=A1", "\u00a0=A1", "\u2003=A1", "\ufeff=A1", "\u200b=A1", "\u202e=A1", "\x00=A1",
		"＝A1", "＋A1", "－A1", "＠SUM(A1)", "x;=A1", "x; =A1", "x;\"=A1", "x;;=A1", "x\t=A1", "x\t\"=A1\"", ";=A1", "1;+A1;-A1;@A1", "=1+A1", "-1.5%+A1", "x;'=A1", "=\"a\"&A1",
	} {
		raw := cell + ",b\r\n"
		a.Off(cell, runs.MatchString(raw))
		csv, ok := tableCSV("<table><tbody><tr><td>"+html.EscapeString(cell)+"</td><td>b</td></tr></tbody></table>", 0)
		line := strings.ReplaceAll(csv, `"`, "")
		// In a cell that a comma ends, an apostrophe holds the formula.
		bad := !ok || regexp.MustCompile(`(^|[,;\t\n])[ \x{feff}\x{200b}]*[=+@＝＋－＠-]\S*[A-Za-z(|]`).MatchString(line)
		a.Try(cell, bad)
		if bad {
			t.Errorf("%q: %q", cell, csv)
		}
	}
	for cell, want := range map[string]string{"-5": "-5", "+1,5 %": "\"'+1,5 %\"", "a-b": "a-b", "a;b": `"a;b"`, "x; -y": "\"x;'-y\"", "": "", "-": "-", "é": "é"} {
		if got := csvCell(cell); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

// A block of code whose language is the ending of a program.
func TestAttackFileNames(t *testing.T) {
	a := attack.Start(t, "drawn")
	a.NoSwitch("the ending comes from a list of languages, or it is .txt")
	for _, lang := range strings.Fields("exe com bat cmd scr pif msi msp dll cpl jar hta vbs vbe js.exe jse wsf wsh reg lnk url inf scf chm gadget application desktop appimage command workflow dmg pkg app deb rpm apk iso htm xhtml mht xll xlsm docm " +
		"ps1xml psc1 sct shb sys vb ws msc ade adp bas crt hlp ins isp mde mst pcd cab library-ms search-ms settingcontent-ms webloc terminal ../../x /etc/passwd a/b a\\b txt\u202egpj.exe COM EXE Bat con nul") {
		name := fileName(lang)
		bad := name != "code.txt"
		a.Try(lang, bad)
		if bad {
			t.Errorf("%q is saved as %q", lang, name)
		}
	}
}

func TestFileName(t *testing.T) {
	for lang, want := range map[string]string{"go": "code.go", "Python": "code.py", "": "code.txt", "c++": "code.cpp", "GoLang": "code.go", "python py": "code.txt", "mermaid": "code.mmd", "../x": "code.txt", "python:py": "code.txt", "verylongname": "code.txt", "math": "code.tex"} {
		if got := fileName(lang); got != want {
			t.Errorf("%q: %q, want %q", lang, got, want)
		}
	}
}
