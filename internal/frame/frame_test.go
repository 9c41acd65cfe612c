package frame

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"html"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	xhtml "golang.org/x/net/html"
)

func TestScriptsCanStandBetweenTheirTags(t *testing.T) {
	for _, s := range Scripts() {
		for _, bad := range []string{"</script", "<!--", "<script", "\r", "\x00"} {
			if strings.Contains(strings.ToLower(s.Text()), bad) {
				t.Errorf("%s holds %q: the parser would end or change it, and its hash with it", s.Name(), bad)
			}
		}
		if !utf8.ValidString(s.Text()) {
			t.Errorf("%s is not UTF-8", s.Name())
		}
	}
	if strings.Contains(documentCSS, "<") {
		t.Error("document.css holds a <: it stands inside a template")
	}
}

// Computing the hashes at run time would cost a page 40 KB of brotli for crypto/sha256, so they
// are constants.
func TestHashesAreThoseOfTheScripts(t *testing.T) {
	const file = "hashes.go"
	want := "package frame\n\n// Written by go test -update; a test compares them with the scripts.\nconst (\n"
	for _, s := range Scripts() {
		sum := sha256.Sum256([]byte(s.Text()))
		name := strings.TrimSuffix(s.Name(), ".js") + "Hash"
		want += fmt.Sprintf("\t%s = \"'sha256-%s'\"\n", name, base64.StdEncoding.EncodeToString(sum[:]))
	}
	formatted, err := format.Source([]byte(want + ")\n"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, formatted, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(formatted) {
		t.Errorf("a script was changed: run go test ./internal/frame -update, and build again whatever lists the hashes")
	}
}

var update = flag.Bool("update", false, "write the hashes of the scripts")

// attribute returns the value of attribute key of the first element tag in doc.
func attribute(t *testing.T, doc, tag, key string) string {
	t.Helper()
	z := xhtml.NewTokenizer(strings.NewReader(doc))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			t.Fatalf("no <%s> in %.200q", tag, doc)
		case xhtml.StartTagToken:
			tok := z.Token()
			if tok.Data != tag {
				continue
			}
			for _, a := range tok.Attr {
				if a.Key == key {
					return a.Val
				}
			}
		}
	}
}

func script(t *testing.T, doc string) string {
	t.Helper()
	z := xhtml.NewTokenizer(strings.NewReader(doc))
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			t.Fatal("no script")
		case xhtml.StartTagToken:
			if name, _ := z.TagName(); string(name) == "script" {
				z.Next()
				return string(z.Raw())
			}
		}
	}
}

func TestSrcdocCarriesTheInnerPage(t *testing.T) {
	for _, label := range []string{"", "Answer", `"><script>alert(1)</script>`, `'&quot;&amp;</title>`} {
		p := DocumentPage{Label: label, Lang: `en"><b>`, PolicyName: `x" onload="y`}
		outer := p.Srcdoc().String()
		if got := script(t, outer); got != outerText {
			t.Errorf("label %q: the outer script is not what its hash says", label)
		}
		if got := attribute(t, outer, "meta", "content"); got != documentPolicy() {
			t.Errorf("label %q: policy %q", label, got)
		}
		if got := attribute(t, outer, "iframe", "title"); got != label {
			t.Errorf("title %q, want %q", got, label)
		}
		if got := attribute(t, outer, "iframe", "sandbox"); got != Sandbox {
			t.Errorf("sandbox %q", got)
		}
		inner := attribute(t, outer, "iframe", "srcdoc")
		if inner != p.inner() {
			t.Errorf("label %q: the inner page does not come back whole", label)
		}
		if got := script(t, inner); got != documentText {
			t.Errorf("label %q: the inner script is not what its hash says", label)
		}
		if got := attribute(t, inner, "div", "data-policy"); got != p.PolicyName {
			t.Errorf("policy name %q", got)
		}
		if strings.Count(outer, "<script>") != 1 || strings.Count(inner, "<script>") != 1 {
			t.Errorf("label %q: a script more than ours", label)
		}
	}
}

func TestBatchIsJSON(t *testing.T) {
	var b Batch
	b.Reset(7)
	texts := []string{"", "a", `"\`, "\x00\x1f\n\t\r", "</script>", "\u2028", "日本\U0001F600", html.EscapeString("<b>")}
	for _, s := range texts {
		b.add("set", s, 3, nil, true, "\xff")
	}
	var got []any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	if got[0] != 7.0 || len(got) != len(texts)+1 || b.Len() != len(texts) {
		t.Fatalf("batch %v", got)
	}
	for i, s := range texts {
		op := got[i+1].([]any)
		if op[0] != "set" || op[1] != s || op[2] != 3.0 || op[3] != nil || op[4] != true || op[5] != "\ufffd" {
			t.Errorf("order %d: %v, want %q", i, op, s)
		}
	}
}

func FuzzBatch(f *testing.F) {
	f.Add("a\xffb\x00\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		got := string(appendJSONString(nil, s))
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && back != want {
			t.Fatalf("%q came back as %q", s, back)
		}
	})
}

func TestParseMessage(t *testing.T) {
	const f = "\x1f"
	ok := []struct {
		in   string
		want Message
	}{
		{"ack" + f + "3" + f + "120", Message{Kind: "ack", Seq: 3, Height: 120}},
		{"ack" + f + "3" + f, Message{Kind: "ack", Seq: 3, Height: -1}},
		{"size" + f + "0", Message{Kind: "size"}},
		{"size" + f + "12.2", Message{Kind: "size", Height: 13}},
		{"size" + f + "16777216", Message{Kind: "size", Height: MaxHeight}},
		{"size" + f + "16777217", Message{Kind: "size", Height: MaxHeight}},
		{"size" + f + "1e300", Message{Kind: "size", Height: MaxHeight}},
		{"link" + f + "s" + f + "https://a/" + f + "te" + f + "xt", Message{Kind: "link", Fields: []string{"s", "https://a/", "te" + f + "xt"}}},
		{"copy" + f + "s" + f + "1" + f + "0", Message{Kind: "copy", Fields: []string{"s", "1", "0"}}},
		{"image" + f + "4" + f + "s" + f + "cat.png", Message{Kind: "image", Seq: 4, Fields: []string{"s", "cat.png"}}},
		{"violation" + f + "img-src" + f + "https://a" + f + "enforce" + f, Message{Kind: "violation", Fields: []string{"img-src", "https://a", "enforce", ""}}},
		{"drag", Message{Kind: "drag"}},
		{"error" + f + "boom", Message{Kind: "error", Fields: []string{"boom"}}},
	}
	for _, c := range ok {
		got, err := ParseMessage(c.in)
		if err != nil || got.Kind != c.want.Kind || got.Seq != c.want.Seq || got.Height != c.want.Height ||
			strings.Join(got.Fields, "|") != strings.Join(c.want.Fields, "|") {
			t.Errorf("%q: %+v, %v", c.in, got, err)
		}
	}
	for _, in := range []string{"", "x", "ack", "ack" + f + "a", "ack" + f + "a" + f + "1", "size" + f, "size" + f + "NaN", "size" + f + "Infinity",
		"size" + f + "-1", "size" + f + "1px", "link" + f + "s", "copy" + f + "s" + f + "-1" + f + "0", "copy" + f + "s" + f + "1",
		"image" + f + "x" + f + "s" + f + "u", "violation" + f + "a", "drag" + f + "x", "link" + f + strings.Repeat("a", MaxMessage)} {
		if m, err := ParseMessage(in); err == nil {
			t.Errorf("%.40q was believed: %+v", in, m)
		}
	}
	at := "error" + f + strings.Repeat("a", MaxMessage-len("error"+f))
	if _, err := ParseMessage(at); err != nil {
		t.Errorf("a message of MaxMessage bytes: %v", err)
	}
	if _, err := ParseMessage(at + "a"); err == nil {
		t.Error("a message of MaxMessage+1 bytes was believed")
	}
}

func FuzzParseMessage(f *testing.F) {
	f.Add("ack\x1f1\x1f2")
	f.Add("copy\x1fs\x1f1\x1f0")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMessage(s)
		if err == nil && (m.Height < -1 || m.Height > MaxHeight) {
			t.Fatalf("height %d", m.Height)
		}
	})
}
