package frame

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	xhtml "golang.org/x/net/html"
)

func TestScriptsCanStandBetweenTheirTags(t *testing.T) {
	for _, s := range append(Scripts(), newScript("proxy.js", proxyText, "")) {
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
		if got := script(t, outer); got != outerScript.Text() {
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
		if got := script(t, inner); got != documentScript.Text() {
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
