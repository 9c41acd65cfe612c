package markdown_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/examples/markdown/answers"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// screen applies patches as a document does.
type screen struct {
	keys []int
	html []string
}

func (s *screen) apply(t testing.TB, patches []markdown.Patch) {
	t.Helper()
	for _, p := range patches {
		i := slices.Index(s.keys, p.Key)
		switch {
		case p.Remove && i < 0:
			t.Fatalf("patch removes block %d, which is not there", p.Key)
		case p.Remove:
			s.keys = slices.Delete(s.keys, i, i+1)
			s.html = slices.Delete(s.html, i, i+1)
		case i >= 0:
			if s.html[i] == p.HTML.String() {
				t.Fatalf("patch sets block %d to what it is", p.Key)
			}
			s.html[i] = p.HTML.String()
		default:
			s.keys = append(s.keys, p.Key)
			s.html = append(s.html, p.HTML.String())
		}
	}
	if !slices.IsSorted(s.keys) {
		t.Fatalf("blocks are out of order: %v", s.keys)
	}
}

func (s *screen) String() string { return strings.Join(s.html, "") }

// streamed writes src in pieces and returns what a document shows at the end.
func streamed(t testing.TB, r *markdown.Renderer, src string, next func(rest int) int) (string, markdown.Report) {
	t.Helper()
	s := r.NewStream()
	var view screen
	for len(src) > 0 {
		n := min(max(next(len(src)), 1), len(src))
		if _, err := s.Write([]byte(src[:n])); err != nil {
			t.Fatal(err)
		}
		src = src[n:]
		view.apply(t, s.Patches())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	view.apply(t, s.Patches())
	if s.Pending() {
		t.Fatal("something is pending after the last patches")
	}
	if p := s.Patches(); len(p) > 0 {
		t.Fatalf("%d patches after the last", len(p))
	}
	if h := s.HTML().String(); h != view.String() {
		t.Fatalf("what is shown is not the stream's HTML\n--- shown\n%s\n--- HTML\n%s", view.String(), h)
	}
	return view.String(), s.Report()
}

// checkSplits streams src in several ways and compares each result with the one-shot rendering.
func checkSplits(t testing.TB, r *markdown.Renderer, src string, rng *rand.Rand) {
	t.Helper()
	want, wantReport := render(t, r, src)
	for name, next := range map[string]func(int) int{
		"whole":   func(rest int) int { return rest },
		"bytes":   func(int) int { return 1 },
		"tokens":  func(int) int { return 1 + rng.IntN(8) },
		"chunks":  func(int) int { return 1 + rng.IntN(64) },
		"in half": func(rest int) int { return 1 + rng.IntN(rest) },
	} {
		if name == "bytes" && len(src) > 2000 {
			continue
		}
		got, report := streamed(t, r, src, next)
		if got != want {
			t.Fatalf("streamed in %s differs\n--- markdown\n%q\n--- at once\n%s\n--- streamed\n%s", name, src, want, got)
		}
		if !reflect.DeepEqual(report, wantReport) {
			t.Fatalf("streamed in %s reports %v, at once %v\n%q", name, report, wantReport, src)
		}
	}
}

func rng(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func TestStreamOfAnswers(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	for a := range answers.All() {
		checkSplits(t, r, a.Text, rng(t))
	}
}

func TestStreamOfAttacks(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	g := rng(t)
	for _, p := range sampleXSS(t, scaled(1, 8)) {
		for _, text := range p.forms(xssSink) {
			if len(text) < 2000 {
				checkSplits(t, r, text, g)
			}
		}
	}
}

// scaled returns n natively without -short, as in make soak. In make test, and in a browser,
// which is ten times slower and runs the same code, it returns small.
func scaled(n, small int) int {
	if testing.Short() || runtime.GOOS == "js" {
		return small
	}
	return n
}

// fragments are pieces of text that affect Markdown.
var fragments = strings.Split("# |## |### |> |>|- |* |+ |1. |2) |10. |   |    |\t|\n|\n|\n\n|\n\n|```|~~~|````go|`|``|*|**|_|__|~~|***|---|===|- - -|"+
	"[|]|(|)|[a]|[b]: /url|[a]: https://a.example \"t\"|[^1]|[^1]: note|[^2]: |[^2]|![|](|](https://b.example)|<|>|<div>|</div>|<details>|<summary>s</summary>|</details>|"+
	"<b>|</b>|<p>|</p>|<table>|<tr>|<td>|</table>|<ul>|<li>|</ul>|<!--|-->|<script>|</script>|<pre>|</pre>|<a href=\"https://c.example\">|</a>|<br>|"+
	"&amp;|&#42;|&|\\|\\*|text|word|a b c|é|日本|🙂|\u202e|https://d.example|www.e.example|x@y.example|:|.|@|!|\"|'|[ ] |[x] |<?|?>|<![CDATA[|]]>|<x y|\r\n|\r|  \n", "|")

func init() {
	fragments = append(fragments, "|", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "a | b\n- | -\n",
		"$", "$$", "$$\n", "\\(", "\\)", "\\[", "\\]", "\\\\", "$x_1$", "=", "+ ")
}

func soup(g *rand.Rand, n int) string {
	var b strings.Builder
	for range 1 + g.IntN(n) {
		b.WriteString(fragments[g.IntN(len(fragments))])
	}
	return b.String()
}

// A definition that comes late renders a block again. Its elements still enclose what they did.
func TestLateDefinitionInDetails(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	const want = "<details>\n<p>" + `<a data-href="https://x.example" role="link" tabindex="0">a</a>` + "</p>\n</details>"
	if out, _ := render(t, r, "<details>\n\n[a]\n\n</details>\n\nb\n\n[a]: https://x.example\n"); !strings.HasPrefix(out, want) {
		t.Errorf("%s", out)
	}
}

func TestStreamOfSoup(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	g := rng(t)
	for i := range scaled(3000, 300) {
		src := soup(g, 40)
		checkSplits(t, r, src, g)
		if i%10 == 0 {
			out, report := render(t, r, src)
			for _, f := range inert(out) {
				t.Fatalf("%s\n--- in\n%q\n--- out\n%s", f, src, out)
			}
			if report.Count(markdown.Broken) > 0 {
				t.Fatalf("refused by the last check: %q", src)
			}
		}
	}
}

// A large open block is not rendered for each token, but all of it appears in time.
func TestStreamOfOpenBlocks(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newRenderer(t, markdown.Options{})
	for name, src := range openTails(scaled(24<<10, 12<<10)) {
		checkSplits(t, r, src, rng(t))
		s := r.NewStream()
		var view screen
		calls := 0
		for i := 0; i < len(src); i += 100 {
			s.Write([]byte(src[i:min(i+100, len(src))]))
			before := view.String()
			view.apply(t, s.Patches())
			if view.String() != before {
				calls++
			}
		}
		if calls < 20 {
			t.Errorf("%s: rendered %d times only on its way", name, calls)
		}
		s.Write([]byte(strings.Repeat(" ", 3) + "lastword"))
		n := 0
		for ; s.Pending(); n++ {
			if n > 100 {
				t.Fatalf("%s: pending for %d calls", name, n)
			}
			view.apply(t, s.Patches())
		}
		if !strings.Contains(visible(view.String()), "lastword") {
			t.Errorf("%s: the last token is not shown after %d calls", name, n)
		}
		if p := s.Patches(); len(p) > 0 {
			t.Errorf("%s: %d patches with nothing pending", name, len(p))
		}
	}
}

// Text is shown even if the stream is never closed, and a stream may be abandoned.
func TestStreamLifecycle(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	s := r.NewStream()
	if s.Pending() || len(s.Patches()) > 0 || s.HTML().String() != "" {
		t.Error("an empty stream has something")
	}
	s.Write([]byte("caf\xc3"))
	s.Patches()
	s.Write([]byte("\xa9"))
	if p := s.Patches(); len(p) != 1 || p[0].HTML.String() != "<p>café</p>\n" {
		t.Errorf("%v", p)
	}
	s.Write([]byte("\xc3"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.Write([]byte("x")); n != 0 || !errors.Is(err, markdown.ErrClosed) {
		t.Errorf("write after Close: %d, %v", n, err)
	}
	if p := s.Patches(); len(p) != 1 || p[0].HTML.String() != "<p>café\uFFFD</p>\n" {
		t.Errorf("%v", p)
	}
}
