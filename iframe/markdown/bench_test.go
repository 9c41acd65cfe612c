package markdown_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/bailey-go/bailey/examples/markdown/answers"
	"github.com/bailey-go/bailey/iframe/markdown"
)

func bench20k(t testing.TB) string {
	return answers.Bench20k().Text
}

func BenchmarkOneShot20k(b *testing.B) {
	src := []byte(bench20k(b))
	r := newRenderer(b, markdown.Options{})
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Render(src); err != nil {
			b.Fatal(err)
		}
	}
}

// stream writes src in n chunks, with the patches of each, and returns the
// slowest chunk.
func stream(b testing.TB, r *markdown.Renderer, src string, n int) (worst time.Duration, sent int) {
	s := r.NewStream()
	for i := range n {
		from, to := len(src)*i/n, len(src)*(i+1)/n
		start := time.Now()
		s.Write([]byte(src[from:to]))
		for _, p := range s.Patches() {
			sent += len(p.HTML.String())
		}
		worst = max(worst, time.Since(start))
	}
	s.Close()
	s.Patches()
	return worst, sent
}

func benchStream(b *testing.B, src string, n int) {
	r := newRenderer(b, markdown.Options{})
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	worst, sent := time.Hour, 0
	for b.Loop() {
		var w time.Duration
		w, sent = stream(b, r, src, n)
		worst = min(worst, w)
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "ms-worst")
	b.ReportMetric(float64(sent), "B-sent")
}

func BenchmarkStream20k1500(b *testing.B) { benchStream(b, bench20k(b), 1500) }
func BenchmarkStream200k(b *testing.B) {
	benchStream(b, strings.Repeat(bench20k(b)+"\n\n", 10), 15000)
}

// The cost of text that stays open to the end must not grow with the square of its length.
func BenchmarkStreamOpen200k(b *testing.B) {
	for name, src := range openTails(200 << 10) {
		b.Run(name, func(b *testing.B) { benchStream(b, src, len(src)/14) })
	}
}

// openTails are texts of one block of n bytes.
func openTails(n int) map[string]string {
	return map[string]string{
		"fence":     "```go\n" + strings.Repeat("\tfmt.Println(\"a line of code\", i, j)\n", n/37),
		"list":      strings.Repeat("- an item with **bold** and `code` in it\n", n/41),
		"loose":     strings.Repeat("1. an item with **bold** and `code` in it\n\n", n/44),
		"table":     "| a | b |\n|---|---|\n" + strings.Repeat("| a cell | **another** cell |\n", n/30),
		"quote":     strings.Repeat("> a line of a quote with **bold** in it\n", n/41),
		"paragraph": strings.Repeat("words of a line with **bold** and `code`\n", n/41),
		"details":   "<details>\n\n" + strings.Repeat("a paragraph with **bold** and `code` in it\n\n", n/44),
	}
}

// The libraries alone, for comparison with an app that combines them itself.
func BenchmarkBare20k(b *testing.B) {
	src := []byte(bench20k(b))
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))
	policy := bluemonday.UGCPolicy()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := md.Convert(src, &buf); err != nil {
			b.Fatal(err)
		}
		policy.SanitizeBytes(buf.Bytes())
	}
}
