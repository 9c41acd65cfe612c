package iframe

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// codeText is the text of the code in the nth <pre> of a block's HTML. A copy
// button's text is taken from here, from what the host wrote, so that a frame
// that was taken over can't choose what lands in the clipboard. Only <pre><code>
// with nothing but coloured text in it has one: what stands in a closed
// <details>, or is laid out in another direction, is not what the person sees beside the
// button. The line breaks at its end are left out: a shell runs a line that ends in one as
// soon as it is pasted.
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
	code := 0 // 1: inside, 2: behind
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
