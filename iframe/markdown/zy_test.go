package markdown
import ("testing";"os";"bytes";"github.com/yuin/goldmark";"github.com/yuin/goldmark/extension";"github.com/yuin/goldmark/renderer/html")
func TestZ(t *testing.T){
	src, _ := os.ReadFile("../../examples/markdown/answers/bench20k.md")
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	var buf bytes.Buffer
	md.Convert(src,&buf)
	t.Log(len(src), buf.Len())
	os.WriteFile("/tmp/md/out.html", buf.Bytes(), 0o644)
}
