package markdown_test

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// For every limit: below it and at it there is no note. Above it the block is shown as plain
// text, whole, with a note, and the blocks around it do not change.
func TestLimits(t *testing.T) {
	rep := strings.Repeat
	png := func(n int) string {
		b := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, n-8)...)
		return "![x](data:image/png;base64," + base64.StdEncoding.EncodeToString(b) + ")"
	}
	defs := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("[d" + num(i) + "]: https://a.example\n\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		name   string
		limits markdown.Limits
		text   func(n int) string // n is the amount that the limit counts
		at     int
	}{
		{"Bytes", markdown.Limits{Bytes: 100}, func(n int) string { return rep("a", n-19) }, 100},
		{"BlockBytes", markdown.Limits{BlockBytes: 64}, func(n int) string { return rep("a\n", n/2) + rep("b", n%2) }, 64},
		{"Depth", markdown.Limits{Depth: 5}, func(n int) string { return rep("> ", n) + "a" }, 5},
		{"Depth", markdown.Limits{Depth: 5}, func(n int) string { return rep("- ", n) + "a" }, 5},
		{"Depth", markdown.Limits{Depth: 5}, func(n int) string { return rep("<b>", n) + "a" }, 5},
		{"Depth", markdown.Limits{Depth: 5}, func(n int) string { return rep("![", n) + "a" + rep("](b)", n) }, 6},
		{"Depth", markdown.Limits{Depth: 5}, func(n int) string { return rep("*a _b ", n/2) + rep("*a ", n%2) + rep(" c*", n%2) + rep(" c_ c*", n/2) }, 5},
		{"LineBytes", markdown.Limits{LineBytes: 50}, func(n int) string { return rep("a", n) }, 50},
		{"LineBytes", markdown.Limits{LineBytes: 50}, func(n int) string { return "![x](data:image/png;base64," + rep("A", 1000) + ")" + rep("a", n-28) }, 50},
		{"Delimiters", markdown.Limits{Delimiters: 10}, func(n int) string { return rep("a* ", n) }, 10},
		{"Delimiters", markdown.Limits{Delimiters: 10}, func(n int) string { return "# " + rep("a[ ", n) }, 10},
		{"TableCells", markdown.Limits{TableCells: 30}, func(n int) string { return "a|b|c\n-|-|-\n" + rep("1|2\n", n-1) }, 10},
		{"ImageBytes", markdown.Limits{ImageBytes: 100}, png, 100},
		{"References", markdown.Limits{References: 4}, defs, 4},
		{"References", markdown.Limits{References: 4}, func(n int) string { return strings.ReplaceAll(defs(n), "[d", "[^d") }, 4},
	} {
		r := newRenderer(t, markdown.Options{Limits: c.limits})
		for _, n := range []int{c.at - 1, c.at, c.at + 1} {
			src := "*before*\n\n" + c.text(n) + "\n\n*after*"
			out, report := render(t, r, src)
			checkOutput(t, r, src, out, report)
			over := report.Count(markdown.Limit) > 0 || c.name == "ImageBytes" && report.Count(markdown.Image) > 0
			if over != (n > c.at) {
				t.Errorf("%s: at %d of %d: %s\n%.300s\n%.600s", c.name, n, c.at, report, src, out)
			}
			if over && !strings.Contains(report.String(), c.name) && c.name != "ImageBytes" {
				t.Errorf("%s: %s", c.name, report)
			}
			if !strings.HasPrefix(out, "<p><em>before</em></p>\n") || c.name != "Bytes" && !strings.Contains(out, "<p><em>after</em></p>\n") {
				t.Errorf("%s: at %d what is round it changed\n%.600s", c.name, n, out)
			}
			if n > c.at && c.name != "ImageBytes" && !strings.Contains(out, `<p class="bailey-note">`) {
				t.Errorf("%s: no note\n%s", c.name, out)
			}
		}
	}
}

func TestGroupBytes(t *testing.T) {
	r := newRenderer(t, markdown.Options{Limits: markdown.Limits{GroupBytes: 100}})
	for n, closed := range map[int]bool{80: true, 87: true, 88: false, 200: false} {
		src := "<details>\n\n" + strings.Repeat("a", n) + "\n\n</details>\n"
		out, _ := render(t, r, src)
		inside := strings.Contains(out, "</p>\n</details>")
		if inside != closed {
			t.Errorf("closing tag behind %d bytes: inside %v, want %v\n%s", n, inside, closed, out)
		}
	}
	for n, gone := range map[int]bool{60: true, 85: true, 200: false} {
		src := "<!--\n\n" + strings.Repeat("a", n) + "\n-->\n"
		out, _ := render(t, r, src)
		if got := !strings.Contains(out, "aaa"); got != gone {
			t.Errorf("end of a comment behind %d bytes: gone %v, want %v\n%s", n, got, gone, out)
		}
	}
}

func TestLimitOptions(t *testing.T) {
	for _, bad := range []markdown.Limits{{Bytes: -1}, {Depth: 101}, {LineBytes: 1<<20 + 1}, {Delimiters: -5}, {References: 1 << 20}} {
		if _, err := markdown.New(markdown.Options{Limits: bad}); err == nil || !strings.Contains(err.Error(), "markdown: Limits.") {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
	for _, good := range []markdown.Limits{{}, {Depth: 100}, {Depth: 1}, {Bytes: 1}} {
		if _, err := markdown.New(markdown.Options{Limits: good}); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

// A text above a limit is complete: it can be read from the HTML.
func TestPlainTextIsWhole(t *testing.T) {
	r := newRenderer(t, markdown.Options{Limits: markdown.Limits{Bytes: 1 << 10}})
	var want bytes.Buffer
	for i := range 30000 {
		want.WriteString("é<" + num(i) + ">")
	}
	out, _ := render(t, r, want.String())
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(out)
	for _, note := range []string{`<p class="bailey-note">Shown as plain text: the text is longer than 1 KiB</p>` + "\n" + `<pre class="bailey-plain">`, "</pre>\n", `<pre class="bailey-plain">`,
		`<p>`, "</p>\n", `<p class="bailey-note">Shown as plain text: more than 4000 special characters in one paragraph`} {
		text = strings.ReplaceAll(text, note, "")
	}
	if !strings.HasSuffix(want.String(), text[len(text)-100000:]) {
		t.Error("the end of a long text is not what was written")
	}
}

// For every flood, twice the text causes at most three times the work, in one piece and
// streamed. Work is the number of bytes allocated, because the parser allocates for everything
// it reads, and a clock on a shared machine is not reliable.
func TestFloodsAreLinear(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("it allocates the same everywhere: runs natively")
	}
	n := scaled(32<<10, 8<<10)
	slack := float64(64 * n) // what does not grow with the text, such as a buffer's first size
	r := newRenderer(t, markdown.Options{})
	render(t, r, "warm up <b>x</b>")
	work := func(f func()) float64 {
		var a, b runtime.MemStats
		runtime.ReadMemStats(&a)
		f()
		runtime.ReadMemStats(&b)
		return float64(b.TotalAlloc - a.TotalAlloc)
	}
	small, large := floods(n), floods(2*n)
	for name := range small {
		once := work(func() { render(t, r, small[name]) })
		twice := work(func() { render(t, r, large[name]) })
		if twice > 3*once+slack {
			t.Errorf("%s: %.1f times the work at once for twice the text", name, twice/once)
		}
		if once > 1500*32<<10+4<<20 { // of 32 KiB or less
			t.Errorf("%s: %.0f bytes of work a byte", name, once/float64(n))
		}
		once = work(func() { stream(t, r, small[name], n/64) })
		twice = work(func() { stream(t, r, large[name], n/32) })
		if twice > 3.5*once+2*slack {
			// The look-ahead for a closing tag is bounded by a length above that of this text.
			// Below the bound the work may grow faster, and above it may not.
			const wide = 128 << 10
			one, two := floods(wide)[name], floods(2 * wide)[name]
			once = work(func() { stream(t, r, one, wide/64) })
			twice = work(func() { stream(t, r, two, wide/32) })
		}
		if twice > 3.5*once+2*slack {
			t.Errorf("%s: %.1f times the work streamed for twice the text", name, twice/once)
		}
	}
}

// The floods at a megabyte, with the stack of the platform. In a browser a stack overflow would
// end the program.
func TestFloodsDoNoHarm(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{Limits: markdown.Limits{Depth: markdown.MaxDepth, Delimiters: 1 << 16, LineBytes: 1 << 20}})
	strict := newRenderer(t, markdown.Options{})
	for name, text := range floods(scaled(1<<20, 1<<17)) {
		out, report := render(t, strict, text)
		if report.Count(markdown.Broken) > 0 || len(out) > 12*len(text)+1000 {
			t.Errorf("%s: %d bytes of HTML, %s", name, len(out), report)
		}
	}
	for name, text := range floods(20 << 10) { // with the limits as wide as they go
		if _, report := render(t, r, text); report.Count(markdown.Broken) > 0 {
			t.Errorf("%s: %s", name, report)
		}
	}
}
