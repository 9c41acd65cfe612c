package markdown_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func newRenderer(t testing.TB, opts markdown.Options) *markdown.Renderer {
	t.Helper()
	r, err := markdown.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, r *markdown.Renderer, src string) (string, markdown.Report) {
	t.Helper()
	h, report, err := r.Render([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return h.String(), report
}

// Every attack of the collection, through the sanitiser, is inert to a reader
// that shares nothing with it.
func TestXSSIsInert(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, p := range loadXSS(t) {
		for _, text := range p.forms(xssSink) {
			out, report := render(t, r, text)
			if report.Count(markdown.Broken) > 0 {
				t.Errorf("%s: refused by the last check:\n%.300s", p.ID, text)
			}
			for _, f := range inert(out) {
				t.Errorf("%s: %s\n--- in\n%.400s\n--- out\n%.600s", p.ID, f, text, out)
			}
			if again := strings.Contains(out, "\xff"); again {
				t.Errorf("%s: a mark was left over", p.ID)
			}
		}
	}
}
