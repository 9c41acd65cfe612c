package iframe

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// codeText is the text of the nth code block (a <code> in a <pre>) of a block's
// HTML. A copy button's text is taken from here, from what the host wrote, so
// that a frame that was taken over can't choose what lands in the clipboard.
func codeText(block string, n int) (string, bool) {
	z := html.NewTokenizer(strings.NewReader(block))
	var text strings.Builder
	pre, code := 0, 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return "", false
		case html.StartTagToken:
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.Pre:
				pre++
			case atom.Code:
				if pre > 0 {
					code++
				}
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch atom.Lookup(name) {
			case atom.Pre:
				pre--
				if code > 0 { // closed by its <pre>, if not before
					code = 0
					if n--; n < 0 {
						return text.String(), true
					}
					text.Reset()
				}
			}
		case html.TextToken:
			if code > 0 {
				text.Write(z.Text())
			}
		}
	}
}
