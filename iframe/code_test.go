package iframe

import "testing"

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
		got, ok := codeText(c.html, c.n)
		if got != c.want || ok != c.ok {
			t.Errorf("%q, %d: %q, %v; want %q, %v", c.html, c.n, got, ok, c.want, c.ok)
		}
	}
}
