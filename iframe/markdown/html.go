package markdown

import (
	"strings"
	"unicode"

	"github.com/bailey-go/bailey/internal/jsx/trust"
)

// HTML is HTML that is safe to insert into a page: it loads nothing, runs nothing, navigates
// nowhere, and closes every element that it opens. Only this package can make a nonempty value.
// The zero value is empty.
//
// A page should still show it inside a frame with a policy. See package iframe.
type HTML struct{ s string }

// String returns the HTML as text.
func (h HTML) String() string { return h.s }

// IsZero reports whether h is empty.
func (h HTML) IsZero() bool { return h.s == "" }

// Proof returns h as the type that this module's functions for inserting HTML accept. Plain
// text cannot be converted to it.
func (h HTML) Proof() trust.HTML { return trust.SanitisedHTML(h.s) }

// cutLength is the number of characters of a text that Cut keeps.
const cutLength = 300

// Cut returns the beginning of h's text as plain text below a note. It omits combining and
// invisible characters. Package iframe shows the result for a block that killed the browser's
// frame repeatedly.
func (h HTML) Cut() HTML {
	var text strings.Builder
	n, from, html := 0, 0, []byte(h.s)
	add := func(s string) {
		for _, r := range s {
			if n < cutLength && !unseen(r) && !extends(r) && !turnsText(r) && (unicode.IsPrint(r) || r == '\n') {
				text.WriteRune(r)
				n++
			}
		}
	}
	for t := range tags(html) {
		add(textOf(html[from:t.at]))
		from = t.to
		if n >= cutLength {
			break
		}
	}
	add(textOf(html[from:]))
	w := &sink{code: true}
	w.WriteString(`<p class="bailey-note">The browser could not show this part. Its text begins:</p>` + "\n" + `<pre class="bailey-plain">`)
	w.escape([]byte(strings.TrimLeft(text.String(), "\n")))
	w.WriteString("</pre>\n")
	return HTML{w.String()}
}
