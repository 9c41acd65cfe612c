package markdown_test

import (
	"strings"
	"testing"

	"github.com/bailey-go/bailey/iframe/markdown"
)

// If other owners have hosts under the host that a text names, the name does not identify the
// owner of the page. The real host is shown beside it, without a warning, because most such
// links are honest.
func TestLinkToAHostBelowTheNamedOne(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, c := range [][2]string{
		{"github.io", "evil.github.io"}, {"https://github.io/", "evil.github.io"}, {"GitHub.IO", "evil.github.io"}, {"github.io/bank/login", "evil.github.io"}, {"pages.dev", "evil.pages.dev"},
		{"vercel.app", "evil.vercel.app"}, {"blogspot.com", "evil.blogspot.com"}, {"wordpress.com", "evil.wordpress.com"}, {"s3.amazonaws.com", "evil.s3.amazonaws.com"}, {"co.uk", "evil.co.uk"},
		{"see github.io now", "evil.github.io"}, {"`github.io`", "evil.github.io"}, {"github.io", "a.b.github.io"}, {"example.com", "docs.example.com"},
		{"alice.github.io", "x.alice.github.io"},
	} {
		out, report := render(t, r, "["+c[0]+"](https://"+c[1]+"/)")
		if !strings.Contains(out, beside+c[1]+")</span>") || report.Count(markdown.Deception) > 0 {
			t.Errorf("%s to %s: %s\n%s", c[0], c[1], report, out)
		}
	}
	for _, c := range [][2]string{{"alice.github.io", "bob.github.io"}, {"alice.github.io", "github.io"}, {"https://alice.github.io/x", "alice.github.io.evil.test"}, {"bank.co.uk", "evil.co.uk"}, {"www.github.io", "evil.github.io"}} {
		if out, report := render(t, r, "["+c[0]+"](https://"+c[1]+"/)"); !strings.Contains(out, beside+c[1]+")</span>") || report.Count(markdown.Deception) == 0 && !strings.HasSuffix(c[0], ".io") {
			t.Errorf("%s to %s: %s\n%s", c[0], c[1], report, out)
		}
	}
	for _, c := range [][2]string{{"github.io", "github.io"}, {"www.example.com", "example.com"}, {"example.com", "www.example.com"}, {"https://alice.github.io/a", "alice.github.io"}} {
		if out, report := render(t, r, "["+c[0]+"](https://"+c[1]+"/)"); strings.Contains(out, beside) || report.Count(markdown.Deception) > 0 {
			t.Errorf("%s to %s: %s\n%s", c[0], c[1], report, out)
		}
	}
}
