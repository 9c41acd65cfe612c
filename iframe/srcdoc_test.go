package iframe

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bailey-go/bailey/iframe/markdown"
)

func TestSrcdocStyleHash(t *testing.T) {
	sum := sha256.Sum256([]byte(srcdocCSS))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; (Srcdoc{}).StyleHash() != want {
		t.Errorf("the hash is %s: srcdoc.css has %s", srcdocStyleHash, want)
	}
	if strings.Contains(srcdocCSS, "</") || strings.Contains(srcdocCSS, "url(") || strings.Contains(srcdocCSS, "@import") {
		t.Error("srcdoc.css could end its element, or load something")
	}
}

// unframe reads a page as a browser does and returns the document of its only
// frame, and the page itself.
func unframe(t testing.TB, page string) (srcdoc string, doc *html.Node) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Iframe {
			continue
		}
		found++
		attrs := map[string]string{}
		for _, a := range n.Attr {
			if _, twice := attrs[a.Key]; twice {
				t.Fatalf("attribute %s twice", a.Key)
			}
			attrs[a.Key] = a.Val
		}
		if v, ok := attrs["sandbox"]; !ok || v != "" {
			t.Fatalf("sandbox is %q, %v: want an empty one", v, ok)
		}
		if attrs["title"] == "" || attrs["src"] != "" {
			t.Fatalf("attributes of the frame: %q", attrs)
		}
		srcdoc = attrs["srcdoc"]
	}
	if found != 1 {
		t.Fatalf("%d frames: want 1\n%.500s", found, page)
	}
	return srcdoc, doc
}

// checkSrcdoc parses both levels and checks that the inner one contains all of h, and that the
// policy is first in the outer one.
func checkSrcdoc(t testing.TB, h, label string, frame string) {
	t.Helper()
	outer, _ := unframe(t, "<!doctype html><body>"+frame+"<p id=after>after</p></body>")
	inner, outerDoc := unframe(t, outer)
	head := outerDoc.FirstChild.NextSibling.FirstChild
	first := head.FirstChild
	if head.DataAtom != atom.Head || first == nil || first.DataAtom != atom.Meta || first.Attr[0].Val != "Content-Security-Policy" || first.Attr[1].Val != srcdocPolicy {
		t.Fatalf("the outer document does not begin with the policy:\n%.500s", outer)
	}
	before, rest, ok := strings.Cut(inner, "<main>")
	body, after, ok2 := strings.Cut(rest, "</main></body></html>")
	if i := strings.LastIndex(rest, "</main></body></html>"); i >= 0 {
		body, after = rest[:i], rest[i+len("</main></body></html>"):]
	}
	if !ok || !ok2 || after != "" {
		t.Fatalf("the inner document is broken:\n%.500s", inner)
	}
	want := strings.ReplaceAll(strings.ReplaceAll(h, "\r\n", "\n"), "\x00", "\uFFFD")
	if body != h && body != want {
		t.Fatalf("the HTML changed on its way\n--- in\n%q\n--- out\n%q", h, body)
	}
	doc, err := html.Parse(strings.NewReader(inner))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.Parent.DataAtom == atom.Head && n.FirstChild != nil && n.FirstChild.Data != label {
			t.Fatalf("title %q: want %q", n.FirstChild.Data, label)
		}
	}
	if strings.Contains(before, "<script") {
		t.Fatal("a script before the text")
	}
}

func TestSrcdoc(t *testing.T) {
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range []string{
		"", "hello", "# a\n\n\"quoted\" & 'so' <b>on</b>", "&amp;quot; &#34; &quot; &amp;amp;", "</iframe></body></main></script>", `" srcdoc="x`,
		"`\" onload=\"alert(1)`", "a\r\nb\r\rc", "```\n</main></body></html>\n```", "<details><summary>x</summary>\n\ny\n\n</details>", "é 日本 🙂 \u202e",
	} {
		h, _, err := r.Render([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		label := `A "label" & <more> 'so'`
		s, err := NewSrcdoc(h, SrcdocOptions{Label: label, Lang: "pt-BR", Scheme: "dark", Height: 10})
		if err != nil {
			t.Fatal(err)
		}
		checkSrcdoc(t, h.String(), label, s.Frame())
		// html/template needs no special treatment.
		var b strings.Builder
		tmpl := template.Must(template.New("").Parse(`<iframe sandbox="" title="x" srcdoc="{{.}}"></iframe>`))
		if err := tmpl.Execute(&b, s); err != nil {
			t.Fatal(err)
		}
		checkSrcdoc(t, h.String(), label, b.String())
	}
}

func TestSrcdocOptions(t *testing.T) {
	for _, bad := range []SrcdocOptions{
		{Label: "a\nb"}, {Label: strings.Repeat("a", 1001)}, {Lang: "e n"}, {Lang: `"`}, {Scheme: "blue"}, {Height: -1}, {Height: maxSrcdocHeight + 1},
	} {
		if _, err := NewSrcdoc(markdown.HTML{}, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	for _, good := range []SrcdocOptions{{}, {Label: strings.Repeat("a", 1000)}, {Height: maxSrcdocHeight}, {Height: 1, Scheme: "light"}} {
		s, err := NewSrcdoc(markdown.HTML{}, good)
		if err != nil {
			t.Errorf("%+v: %v", good, err)
			continue
		}
		checkSrcdoc(t, "", s.opts.Label, s.Frame())
	}
	if f := (Srcdoc{}).Frame(); f != "" {
		t.Errorf("the zero Srcdoc has a frame: %s", f)
	}
}

// FuzzSrcdoc checks that both levels are escaped correctly for every label and text, including
// text that the sanitiser would refuse.
func FuzzSrcdoc(f *testing.F) {
	f.Add("<p>a</p>", "label")
	f.Add(`"><script>alert(1)</script>`, `" onload="x`)
	f.Add("&quot;&amp;quot;&#x22;", "&lt;/title&gt;")
	f.Fuzz(func(t *testing.T, text, label string) {
		if strings.ContainsAny(text+label, "\x00\r") || strings.ContainsFunc(text+label, func(r rune) bool { return r == '\uFFFD' }) {
			return // a parser replaces them; no HTML of package markdown holds them
		}
		opts, err := SrcdocOptions{Label: label}.withDefaults()
		if err != nil || label == "" || !utf8.ValidString(label+text) {
			return
		}
		checkSrcdoc(t, text, label, Srcdoc{opts.document(text), opts}.Frame())
	})
}
