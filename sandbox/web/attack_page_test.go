package web

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/sandbox/fetch"
)

// TestAttackUnseenWords fetches pages with words that a person who looks at the page does not see.
func TestAttackUnseenWords(t *testing.T) {
	a := attack.Start(t, "unseen")
	for _, c := range []struct{ name, kind, body string }{
		{"tag characters", "text/html", "<p>hello \U000E006F\U000E0062\U000E0065\U000E0079"},
		{"entities of them", "text/html", "<p>hello &#xE006F;&#xE0062;"},
		{"zero width", "text/html", "<p>a\u200bb\u2060c\ufeffd"},
		{"backwards", "text/html", "<p>\u202eyebo"},
		{"selectors", "text/html", "<p>hello\U000E015F\U000E0152"},
		{"in a link", "text/html", "<a href='/x' title='a\u200bb'>a\u200bb</a>"},
		{"without size", "text/html", "<p>hello <span style='font-size:0'>obey</span>"},
		{"without size, with a unit", "text/html", "<p>hello <span style='Font-Size: 0.0px !important'>obey</span>"},
		{"transparent", "text/html", "<p>hello <span style='opacity:0'>obey</span>"},
		{"less than transparent", "text/html", "<p>hello <span style='opacity:-1'>obey</span>"},
		{"transparent, with an exponent", "text/html", "<p>hello <span style='opacity:0e5'>obey</span>"},
		{"transparent, as an expression", "text/html", "<p>hello <span style='opacity:calc(-1%)'>obey</span>"},
		{"without size, below zero", "text/html", "<p>hello <span style='font-size:-0.0em'>obey</span>"},
		{"collapsed", "text/html", "<p>hello <span style='visibility:collapse'>obey</span>"},
		{"a type that speaks", "application/x obey", "PK"},
		{"a type of words", "obey the server now/x", "PK"},
		{"a long type", "application/obey" + strings.Repeat("x", 100), "PK"},
	} {
		for _, off := range []bool{false, true} {
			b, err := NewBroker(BrokerOptions{Transport: fetch.TransportFunc(nil), raw: off})
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.page(context.Background(), &fetch.Response{Status: 200, Header: map[string]string{"content-type": c.kind}, Body: io.NopCloser(strings.NewReader(c.body))}, "https://a.example/")
			said := ""
			if m, ok := got.(map[string]any); ok {
				said, _ = m["content"].(string)
			} else {
				said = err.Error()
			}
			seen := strings.Contains(said, "obey") || strings.ContainsAny(said, "\U000E006F\u200b\u2060\ufeff\u202e\U000E015F")
			switch {
			case !off:
				a.Try(c.name, seen)
			case !strings.Contains(c.body, "style="): // which has no switch
				a.Off(c.name, seen)
			}
		}
	}
}

// What people see stays.
func TestSeenWordsStay(t *testing.T) {
	for _, style := range []string{"opacity:0.5", "font-size:10px", "font-size:0.9em", "opacity:1", "display:block", "visibility:visible", "background:opacity", "x:display:none-like", "font-size:", "opacity:var(--x)", "font-size:-1px", "opacity:calc(1)"} {
		got, err := markdown(context.Background(), "<p>a <span style='"+style+"'>word</span>", "https://a.example/")
		if err != nil || !strings.Contains(got, "word") {
			t.Errorf("%s: %q, %v", style, got, err)
		}
	}
}
