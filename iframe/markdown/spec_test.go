//go:build !js

package markdown_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/bailey-go/bailey/iframe/markdown"
)

var update = flag.Bool("update", false, "write testdata/spec.json anew")

// specExample is an example of a specification, from goldmark's module.
type specExample struct{ name, markdown string }

// specExamples are CommonMark's, and those of GFM that goldmark tests its
// extensions with. They are read from the module, not kept here.
func specExamples(t testing.TB) []specExample {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	data, err := os.ReadFile(filepath.Join(dir, "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec []struct {
		Markdown string
		Example  int
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		t.Fatal(err)
	}
	var all []specExample
	for _, e := range spec {
		all = append(all, specExample{"commonmark-" + strconv.Itoa(e.Example), e.Markdown})
	}
	if len(all) != 652 {
		t.Fatalf("%d examples of CommonMark: want 652", len(all))
	}
	for _, name := range []string{"table", "strikethrough", "tasklist", "linkify"} {
		data, err := os.ReadFile(filepath.Join(dir, "extension", "_test", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		const sep = "//- - - - - - - - -//"
		n := 0
		for i := 0; i < len(lines); i++ {
			if lines[i] != sep {
				continue
			}
			end := i + 1
			for end < len(lines) && lines[end] != sep {
				end++
			}
			n++
			all = append(all, specExample{name + "-" + strconv.Itoa(n), strings.Join(lines[i+1:end], "\n")})
			for i = end + 1; i < len(lines) && !strings.HasPrefix(lines[i], "//= = ="); i++ {
			}
		}
		if n < 3 {
			t.Fatalf("%s: %d examples only", name, n)
		}
	}
	return all
}

var specGoldmark = goldmark.New(goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
	extension.Strikethrough, extension.TaskList, extension.Linkify), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))

const specBase = "https://base.example/"

// leveled normalises HTML, so that equal results of two renderers compare equal: entities in
// one form, and targets as they are when resolved.
func leveled(t testing.TB, s string) string {
	t.Helper()
	base, _ := url.Parse(specBase)
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
		tok := z.Token()
		var attrs []html.Attribute
		for _, a := range tok.Attr {
			switch a.Key {
			case "href", "data-href":
				a.Key = "href"
				u, err := base.Parse(a.Val)
				if err != nil { // a colon in the first part
					u, err = base.Parse("./" + a.Val)
				}
				if err == nil {
					if u.Path == "" && u.Host != "" && (u.RawQuery != "" || u.Fragment != "") {
						u.Path = "/"
					}
					a.Val = u.String()
				}
				a.Val = strings.ReplaceAll(a.Val, "'", "%27")
			case "data-fragment":
				a.Key, a.Val = "href", specBase+"#"+strings.TrimPrefix(a.Val, "user-content-")
			case "data-image":
				a.Key = "src"
			case "role", "tabindex":
				continue
			case "src":
				a.Val = strings.ReplaceAll(a.Val, "'", "%27")
			}
			attrs = append(attrs, a)
		}
		tok.Attr = attrs
		b.WriteString(tok.String())
	}
	return strings.TrimSpace(b.String())
}

type specDifference struct {
	Example, Markdown, Reason, HTML string
	Stopped                         string `json:",omitempty"`
}

const specGolden = "testdata/spec.json"

// Rendering equals goldmark's, except for content that the sanitiser removes. Each example that
// differs is in the golden file with the reason.
func TestSpec(t *testing.T) {
	r := newRenderer(t, markdown.Options{Base: specBase, NoHeadingIDs: true})
	var golden []specDifference
	data, err := os.ReadFile(specGolden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if err == nil {
		if err := json.Unmarshal(data, &golden); err != nil {
			t.Fatal(err)
		}
	}
	known := map[string]specDifference{}
	for _, d := range golden {
		known[d.Example] = d
	}
	var differ []specDifference
	for _, e := range specExamples(t) {
		var want bytes.Buffer
		if err := specGoldmark.Convert([]byte(e.markdown), &want); err != nil {
			t.Fatal(err)
		}
		got, report := render(t, r, e.markdown)
		if f := inert(got); len(f) > 0 {
			t.Errorf("%s: %q", e.name, f)
		}
		if leveled(t, got) == leveled(t, want.String()) {
			if _, ok := known[e.name]; ok && !*update {
				t.Errorf("%s equals goldmark's now: take it off %s", e.name, specGolden)
			}
			continue
		}
		d := specDifference{e.name, e.markdown, known[e.name].Reason, got, report.String()}
		differ = append(differ, d)
		if *update {
			continue
		}
		if k, ok := known[e.name]; !ok || k.HTML != got || k.Stopped != d.Stopped {
			t.Errorf("%s differs from goldmark\n--- markdown\n%s\n--- want\n%s\n--- got\n%s\n--- stopped: %s", e.name, e.markdown, want.String(), got, d.Stopped)
		} else if regexp.MustCompile(`^\s*$`).MatchString(k.Reason) {
			t.Errorf("%s: no reason given", e.name)
		}
	}
	t.Logf("%d examples differ", len(differ))
	if *update {
		out, err := json.MarshalIndent(differ, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(specGolden, append(out, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
