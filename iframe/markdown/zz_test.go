package markdown

import (
	"bytes"
	"os"
	"testing"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/microcosm-cc/bluemonday"
	xhtml "golang.org/x/net/html"
)
func BenchmarkZParse(b *testing.B) {
	src, _ := os.ReadFile("../../examples/markdown/answers/bench20k.md")
	for _, n := range []string{"gfm","nolinkify"} {
	b.Run(n, func(b *testing.B) {
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList), goldmark.WithRendererOptions(html.WithUnsafe()))
	if n == "gfm" { md = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())) }
	b.ReportAllocs()
	for b.Loop() { md.Parser().Parse(text.NewReader(src)) }
	})}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	var buf bytes.Buffer
	doc := md.Parser().Parse(text.NewReader(src))
	b.Run("render", func(b *testing.B) { b.ReportAllocs(); for b.Loop() { buf.Reset(); md.Renderer().Render(&buf, src, doc) } })
	p := bluemonday.UGCPolicy()
	println(buf.Len()); b.Run("ugc", func(b *testing.B) { b.ReportAllocs(); for b.Loop() { p.SanitizeBytes(buf.Bytes()) } })
	q := bluemonday.StrictPolicy().AllowElements("p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "hr", "br",
			"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "del")
	b.Run("cheap", func(b *testing.B) { b.ReportAllocs(); for b.Loop() { q.SanitizeBytes(buf.Bytes()) } })
	b.Run("tok", func(b *testing.B) { b.ReportAllocs(); for b.Loop() { z := xhtml.NewTokenizer(bytes.NewReader(buf.Bytes())); for z.Next() != xhtml.ErrorToken {} } })
}
