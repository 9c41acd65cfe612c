package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/native"
)

func newXSSRenderer(t testing.TB) *markdown.Renderer {
	t.Helper()
	r, err := markdown.New(markdown.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The intermediate results of a stream are as inert as the final one (see TestXSSIsInert),
// wherever the text is cut.
func TestXSSStreamsInert(t *testing.T) {
	native.Only(t)
	t.Parallel()
	r := newXSSRenderer(t)
	for _, p := range loadXSS(t) {
		text := p.expand(xssSink)
		if len(text) > 2<<10 {
			continue // TestXSSIsInert has these; a stream of them takes minutes
		}
		s := r.NewStream()
		step := max(1, len(text)/24)
		for at := 0; at < len(text); at += step {
			s.Write([]byte(text[at:min(len(text), at+step)]))
			for _, patch := range s.Patches() {
				if found := inert(patch.HTML.String()); len(found) > 0 {
					t.Errorf("%s after %d bytes: %q\n out %.400q", p.ID, at+step, found, patch.HTML)
				}
			}
		}
		s.Close()
		for _, patch := range s.Patches() {
			if found := inert(patch.HTML.String()); len(found) > 0 {
				t.Errorf("%s at the end: %q\n out %.400q", p.ID, found, patch.HTML)
			}
		}
	}
}

// The content after an attack is complete and unchanged: it is not swallowed, hidden, restyled
// or moved.
func TestXSSNeverSwallows(t *testing.T) {
	native.Only(t)
	const after = "And this is the end."
	r := newXSSRenderer(t)
	for _, p := range loadXSS(t) {
		text := p.expand(xssSink)
		h, _, err := r.Render([]byte(text + "\n\n" + after + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		if out := h.String(); !strings.Contains(out, after) {
			t.Errorf("%s: the paragraph after it is gone\n in  %.300q\n out %.600q", p.ID, text, out)
		}
	}
}

// Over all attacks together, the report contains each kind of finding.
func TestXSSIsReported(t *testing.T) {
	native.Only(t)
	r := newXSSRenderer(t)
	seen := map[markdown.Kind]int{}
	for _, p := range loadXSS(t) {
		_, report, err := r.Render([]byte(p.expand(xssSink)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			seen[f.Kind] += f.Count
			if f.Kind == markdown.Broken {
				t.Errorf("%s: the last check had to stop it: %v", p.ID, f)
			}
		}
	}
	for _, k := range []markdown.Kind{markdown.Element, markdown.Attribute, markdown.Scheme, markdown.Image, markdown.Limit, markdown.Unclosed, markdown.Deception} {
		if seen[k] == 0 {
			t.Errorf("no attack was reported as %s", k)
		}
	}
	kinds := []string{}
	for k := range seen {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds)
	t.Logf("reported: %v", seen)
}
