package markdown_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

// seedTexts returns texts to start fuzzing from.
func seedTexts(f *testing.F) []string {
	var seeds []string
	for _, p := range loadXSS(f) {
		if text := p.expand(xssSink); len(text) < 1000 {
			seeds = append(seeds, text)
		}
	}
	g := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		seeds = append(seeds, soup(g, 30))
	}
	return seeds
}

// checkOutput checks the properties that hold for the rendering of any text.
func checkOutput(t testing.TB, r *markdown.Renderer, src, out string, report markdown.Report) {
	t.Helper()
	for _, f := range inert(out) {
		t.Errorf("%s\n--- in\n%q\n--- out\n%s", f, src, out)
	}
	if report.Count(markdown.Broken) > 0 {
		t.Errorf("refused by the last check: %q", src)
	}
	if !r.Verify(out) {
		t.Errorf("the whole is not what its blocks are\n--- in\n%q\n--- out\n%s", src, out)
	}
	// Sanitising the output again changes nothing: the policy is no stricter than the check.
	if again := r.Sanitise(out); again != out && strings.TrimSpace(out) != "" {
		t.Errorf("the policy changes what the last check accepts\n--- in\n%q\n--- out\n%s\n--- again\n%s", src, out, again)
	}
}

func FuzzRender(f *testing.F) {
	native.Only(f)
	for _, s := range seedTexts(f) {
		f.Add([]byte(s))
	}
	r := newRenderer(f, markdown.Options{})
	small := newRenderer(f, markdown.Options{Limits: markdown.Limits{Bytes: 400, BlockBytes: 100, Depth: 3, LineBytes: 60, Delimiters: 10,
		TableCells: 6, ImageBytes: 20, References: 2, GroupBytes: 80}})
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4<<10 {
			return
		}
		for _, r := range []*markdown.Renderer{r, small} {
			out, report := render(t, r, string(src))
			checkOutput(t, r, string(src), out, report)
		}
	})
}

func FuzzStream(f *testing.F) {
	native.Only(f)
	for i, s := range seedTexts(f) {
		if i%scaled(1, 8) == 0 {
			f.Add([]byte(s), uint64(i))
		}
	}
	r := newRenderer(f, markdown.Options{})
	small := newRenderer(f, markdown.Options{Limits: markdown.Limits{Bytes: 400, BlockBytes: 100, Depth: 3, LineBytes: 60, Delimiters: 10,
		TableCells: 6, ImageBytes: 20, References: 2, GroupBytes: 80}})
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		if len(src) > 1<<10 {
			return
		}
		g := rand.New(rand.NewPCG(seed, 3))
		checkSplits(t, r, string(src), g)
		checkSplits(t, small, string(src), g)
	})
}
