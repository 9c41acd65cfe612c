package iframe

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// codeText returns the code in the nth <pre> of a block's HTML, counted from 0. A copy button
// copies this text. It comes from the host's own HTML, so a compromised frame can't choose the
// content of the clipboard. Only a <pre><code> that contains nothing but coloured text has such
// a text. Code in a closed <details>, or code laid out in another direction, has none, because
// it differs from the text that the user sees beside the button. Line breaks at the end are
// removed: a shell would run a line that ends in one as soon as it is pasted.
func codeText(block string, n int) (string, bool) {
	z := html.NewTokenizer(strings.NewReader(block))
	for n >= 0 {
		switch z.Next() {
		case html.ErrorToken:
			return "", false
		case html.StartTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Pre {
				n--
			}
		}
	}
	var text strings.Builder
	code := 0 // 1: inside <code>, 2: after it
	for {
		switch z.Next() {
		case html.StartTagToken:
			name, more := z.TagName()
			for more {
				var attribute []byte
				if attribute, _, more = z.TagAttr(); string(attribute) == "dir" {
					return "", false
				}
			}
			switch {
			case atom.Lookup(name) == atom.Code && code == 0:
				code = 1
			case atom.Lookup(name) == atom.Span && code == 1:
			default:
				return "", false
			}
		case html.EndTagToken:
			switch name, _ := z.TagName(); atom.Lookup(name) {
			case atom.Code:
				code = 2
			case atom.Pre:
				return strings.TrimRight(text.String(), "\n"), code == 2
			}
		case html.TextToken:
			t := z.Text()
			if code == 1 {
				text.Write(t)
			} else if strings.TrimSpace(string(t)) != "" {
				return "", false
			}
		default:
			return "", false
		}
	}
}
