package markdown_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// tokens is a renderer that colours each word, and draws each formula as text.
func tokens(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
	switch s.Lang {
	case "math":
		return markdown.Drawing{MathML: "<math><mrow><mi>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s.Text) + "</mi></mrow></math>"}, nil
	case "go", "js":
		var spans []markdown.Span
		for i, word := range strings.SplitAfter(s.Text, " ") {
			class := "a"
			if i%2 == 1 {
				class = ""
			}
			spans = append(spans, markdown.Span{Class: class, Text: word})
		}
		return markdown.Drawing{Spans: spans}, nil
	case "dot":
		return markdown.Drawing{Image: []byte("\x89PNG\r\n\x1a\n" + s.Text)}, nil
	}
	return markdown.Drawing{}, errors.New("unknown")
}

func TestDraw(t *testing.T) {
	r := newRenderer(t, markdown.Options{NoHeadingIDs: true}.Draw(tokens))
	for _, c := range [][2]string{
		{"```go\nif <b> {\n```", `<pre><code class="language-go"><span class="hl-a">if </span>&lt;b&gt; <span class="hl-a">{</span>` + "\n</code></pre>"},
		{"- ```JS\n  a b\n  ```", "<ul>\n<li>\n" + `<pre><code class="language-JS"><span class="hl-a">a </span>b` + "\n</code></pre>\n</li>\n</ul>"},
		{"```py\na\n```\n\n    b", `<pre><code class="language-py">a` + "\n</code></pre>\n<pre><code>b\n</code></pre>"},
		{"a $x<y$ b", `<p>a <math><mrow><mi>x&lt;y</mi></mrow></math> b</p>`},
		{"$$\nx\n$$", `<p><math display="block"><mrow><mi>x</mi></mrow></math></p>`},
		{"```math\nx\n```", `<p><math display="block"><mrow><mi>x</mi></mrow></math></p>`},
		{"| $x$ |\n|-|\n| a |", "<table>\n<thead>\n<tr>\n<th><math><mrow><mi>x</mi></mrow></math></th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>a</td>\n</tr>\n</tbody>\n</table>"},
		{"<b>a $x$</b>", "<p><b>a <math><mrow><mi>x</mi></mrow></math></b></p>"},
		{"<details>\n\n$x$\n\n```go\na\n```\n\n</details>", "<details>\n<p><math><mrow><mi>x</mi></mrow></math></p>\n" + `<pre><code class="language-go"><span class="hl-a">a</span>` + "\n</code></pre>\n</details>"},
		{"[ba\\(x\\).com](https://evil.test)", `<p><a data-href="https://evil.test" role="link" tabindex="0" data-warning="the text names bax.com, the link leads to evil.test" title="the text names bax.com, the link leads to evil.test">ba<math><mrow><mi>x</mi></mrow></math>.com</a>` + beside + `evil.test)</span></p>`},
		{"```dot\na\n```", "<figure>\n" + `<img src="data:image/png;base64,iVBORw0KGgph" alt="dot">` + "\n<details>\n<summary>dot source</summary>\n" + `<pre><code class="language-dot">a` + "\n</code></pre>\n</details>\n</figure>"},
	} {
		out, report := render(t, r, c[0])
		if strings.TrimSpace(out) != c[1] {
			t.Errorf("%s\n%s\nwant\n%s", c[0], out, c[1])
		}
		if !r.Verify(out) || report.Count(markdown.Broken) > 0 {
			t.Errorf("%s: refused: %s", c[0], report)
		}
		if again := r.Sanitise(out); again != out {
			t.Errorf("the policy changes\n%s\nto\n%s", out, again)
		}
	}
}

// Colours of unfinished code stay when more of it comes, and a late drawing changes what is shown once.
func TestDrawStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var calls atomic.Int32
		r := newRenderer(t, markdown.Options{}.Draw(func(ctx context.Context, s markdown.Source) (markdown.Drawing, error) {
			calls.Add(1)
			<-gate
			return tokens(ctx, s)
		}))
		s := r.NewStream()
		told := 0
		s.OnDrawn(func() { told++ })
		var view screen
		write := func(text string) {
			s.Write([]byte(text))
			view.apply(t, s.Patches())
			synctest.Wait()
		}
		draw := func() {
			gate <- struct{}{}
			synctest.Wait()
			if !s.Pending() {
				t.Error("a drawing came and nothing is pending")
			}
			view.apply(t, s.Patches())
			synctest.Wait()
		}
		shows := func(want string) {
			t.Helper()
			if got := strings.TrimSpace(view.String()); got != want {
				t.Errorf("shown\n%s\nwant\n%s", got, want)
			}
		}
		const open, shut = `<pre><code class="language-go">`, `</code></pre>`
		write("```go\na b\nc")
		shows(open + "a b\nc" + shut)
		draw()
		shows(open + `<span class="hl-a">a </span>b` + "\nc" + shut)
		write(" d\nsome more of it\nx")
		shows(open + `<span class="hl-a">a </span>b` + "\nc d\nsome more of it\nx" + shut)
		draw()
		shows(open + `<span class="hl-a">a </span>b` + "\nc " + `<span class="hl-a">d` + "\nsome </span>more <span class=\"hl-a\">of </span>it\nx" + shut)
		write("\n```\n\nso $x$ and $y")
		shows(open + `<span class="hl-a">a </span>b` + "\nc " + `<span class="hl-a">d` + "\nsome </span>more <span class=\"hl-a\">of </span>it\nx\n" + shut + "\n<p>so " + tex("x") + " and $y</p>")
		s.Close()
		view.apply(t, s.Patches())
		if s.Pending() || !s.Drawing() {
			t.Errorf("pending %v, drawing %v", s.Pending(), s.Drawing())
		}
		draw()
		draw()
		all := open + `<span class="hl-a">a </span>b` + "\nc " + `<span class="hl-a">d` + "\nsome </span>more <span class=\"hl-a\">of </span>it\nx\n" + shut + "\n<p>so <math><mrow><mi>x</mi></mrow></math> and $y</p>"
		if got := strings.TrimSpace(view.String()); got != strings.Replace(all, "it\nx\n", "it\nx", 1) && got != all {
			t.Errorf("shown\n%s\nwant\n%s", got, all)
		}
		if s.Drawing() || s.Pending() || told < 4 {
			t.Errorf("drawing %v, pending %v, told %d times", s.Drawing(), s.Pending(), told)
		}
		if whole := s.HTML().String(); whole != view.String() {
			t.Errorf("the stream has\n%s\nthe screen\n%s", whole, view.String())
		}
	})
}

// A drawing that does not come changes nothing, and after three that ignore the end of their context no more are made.
func TestDrawHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		var calls atomic.Int32
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			calls.Add(1)
			<-stop
			return markdown.Drawing{MathML: "<math><mi>late</mi></math>"}, nil
		}))
		out, _ := render(t, r, "$a$ $b$ $c$ $d$ $e$ $f$ $g$ $h$ $i$ $j$ $k$")
		if strings.Contains(out, "<math>") || strings.Count(out, "<code") != 11 {
			t.Errorf("%s", out)
		}
		// Eight are made at once, and end at the same time. In the place of the first two, others may begin.
		n := calls.Load()
		if n < 8 || n > 10 {
			t.Errorf("%d calls of a renderer that hangs", n)
		}
		render(t, r, "$l$ $m$ $n$")
		if more := calls.Load() - n; more != 0 {
			t.Errorf("%d more calls of a renderer that hangs", more)
		}
		close(stop)
		synctest.Wait()
		if out, _ := render(t, r, "$a$"); strings.Contains(out, "late") {
			t.Errorf("a drawing that came too late is shown: %s", out)
		}
	})
}

// A text keeps its drawings, so more of them than a renderer keeps are made once each.
func TestDrawnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		image := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 255<<10)...)
		r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
			calls.Add(1)
			return markdown.Drawing{Image: image}, nil
		}))
		s := r.NewStream()
		for i := range 60 { // in one block
			s.Write([]byte("- a\n\n  ```dot\n  " + num(i) + "\n  ```\n"))
		}
		s.Close()
		rounds := 0
		for ; s.Pending() || s.Drawing(); rounds++ {
			if s.Patches(); rounds > 200 {
				t.Fatal("it is drawn again and again")
			}
			synctest.Wait()
		}
		if n, shown := calls.Load(), strings.Count(s.HTML().String(), "<img"); n != 60 || shown != 48 {
			t.Errorf("%d calls, %d images; want 60 and 48, which are 16 MiB", n, shown)
		}
	})
}

// Code that is drawn as a formula has its source below it, as a diagram has.
func TestCodeAsFormula(t *testing.T) {
	r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) {
		return markdown.Drawing{MathML: "<math><mtext>rm -r build</mtext></math>"}, nil
	}))
	if out, _ := render(t, r, "```sh\nrm -r ~\n```"); !strings.Contains(out, `<pre><code class="language-sh">rm -r ~`) || !strings.Contains(out, "<math") {
		t.Errorf("%s", out)
	}
}

// A renderer that panics, or that says no, costs nothing.
func TestDrawPanics(t *testing.T) {
	r := newRenderer(t, markdown.Options{}.Draw(func(context.Context, markdown.Source) (markdown.Drawing, error) { panic("oops") }))
	if out, _ := render(t, r, "```go\na\n```"); out != `<pre><code class="language-go">a`+"\n</code></pre>\n" {
		t.Errorf("%s", out)
	}
}

// Drawings that are together above the limit of elements cost the block its drawings and nothing else.
func TestDrawElements(t *testing.T) {
	r := newRenderer(t, markdown.Options{}.Draw(func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
		var spans []markdown.Span
		for _, c := range s.Text {
			spans = append(spans, markdown.Span{Class: "a", Text: string(c)})
		}
		return markdown.Drawing{Spans: spans}, nil
	}))
	for n, want := range map[int]int{4999: 4999, 5000: 5000, 5001: 5000} {
		out, _ := render(t, r, "```go\n"+strings.Repeat("x", n)+"\n```")
		if got := strings.Count(out, "<span"); got != want || strings.Count(out, "x") != n {
			t.Errorf("of %d pieces %d are coloured, want %d", n, got, want)
		}
	}
	var b bytes.Buffer
	for i := range 4 {
		b.WriteString("- a" + num(i) + "\n\n  ```go\n  " + strings.Repeat("y", 3000) + "\n  ```\n")
	}
	out, report := render(t, r, b.String())
	if strings.Contains(out, "<span") || report.Count("") > 0 || strings.Count(out, "y") != 12000 || strings.Count(out, "<pre>") != 4 {
		t.Errorf("%s: %.300s", report, out)
	}
	s := r.NewStream()
	var view screen
	for len(b.Bytes()) > 0 {
		s.Write(b.Next(700))
		view.apply(t, s.Patches())
		if strings.Contains(view.String(), "bailey-note") {
			t.Fatalf("%.300s", view.String())
		}
	}
}

// Code is drawn up to 64 KiB.
func TestDrawBytes(t *testing.T) {
	for n, want := range map[int]int{64<<10 - 1: 64<<10 - 1, 64 << 10: 64 << 10, 64<<10 + 1: 64<<10 - 1} {
		drawn := 0
		r := newRenderer(t, markdown.Options{}.Draw(func(_ context.Context, s markdown.Source) (markdown.Drawing, error) {
			drawn = len(s.Text)
			return markdown.Drawing{Spans: []markdown.Span{{Class: "a", Text: s.Text}}}, nil
		}))
		text := strings.Repeat("123456\n", n/7) + strings.Repeat("x", n%7)
		out, _ := render(t, r, "```go\n"+text+"\n```")
		if drawn > want || drawn < want-7 || !strings.Contains(out, "hl-a") || strings.Count(out, "123456") != n/7 {
			t.Errorf("of %d bytes %d are drawn, want %d", n, drawn, want)
		}
	}
}
