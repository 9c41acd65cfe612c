package markdown

import (
	"bytes"
	"regexp"

	"github.com/microcosm-cc/bluemonday"
)

// ourPolicy is the second wall: bluemonday with the same elements and attributes,
// told again in its own words. What our own rendering writes passes unchanged.
func ourPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("abbr", "acronym", "address", "article", "aside", "b", "bdi", "big", "blockquote", "br", "caption", "center", "cite",
		"code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font", "footer",
		"h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "i", "ins", "kbd", "li", "main", "mark", "menu", "nav", "ol", "p", "pre",
		"q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span", "strike", "strong", "sub", "summary", "sup", "table", "tbody", "td",
		"tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "wbr")
	p.AllowNoAttrs().OnElements("a", "acronym", "address", "big", "center", "details", "figcaption", "font", "footer", "header",
		"main", "menu", "nav", "section", "img", "input", "kbd", "samp", "summary", "wbr", "col", "colgroup", "hgroup", "var", "rp", "rt", "ruby", "tt")
	number := regexp.MustCompile(`^-?[0-9]{1,9}%?$`)
	p.AllowAttrs("align", "class", "dir", "id", "lang", "title", "aria-label").Globally()
	p.AllowAttrs("data-href").Matching(regexp.MustCompile(`^(https?|mailto|tel):[!-;=?-~]+$`)).OnElements("a")
	p.AllowAttrs("data-fragment", "data-warning").OnElements("a")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^link$`)).OnElements("a")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("a")
	p.AllowAttrs("alt", "data-image", "data-warning").OnElements("img")
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$`)).OnElements("img")
	p.AllowAttrs("width", "height").Matching(number).OnElements("img")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").OnElements("input")
	p.AllowAttrs("open").OnElements("details")
	p.AllowAttrs("datetime").OnElements("del", "ins", "time")
	p.AllowAttrs("start", "value").Matching(number).OnElements("ol", "li")
	p.AllowAttrs("reversed").OnElements("ol")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^[1aAiI]$`)).OnElements("ol")
	p.AllowAttrs("colspan", "rowspan").Matching(number).OnElements("td", "th")
	p.AllowAttrs("span").Matching(number).OnElements("col", "colgroup")
	p.AllowAttrs("valign").OnElements("td", "th")
	p.AllowAttrs("scope", "abbr").OnElements("th")
	return p
}

// narrow runs the app's policy over a block and ours behind it, so that it can
// add nothing, and closes what it left open.
func (r *Renderer) narrow(block []byte) []byte {
	out := r.policy.SanitizeBytes(r.opts.Policy.SanitizeBytes(block))
	var marked bytes.Buffer
	i := 0
	for t := range tags(out) {
		marked.Write(out[i:t.at])
		marked.WriteByte(mark)
		i = t.at
	}
	marked.Write(out[i:])
	var ignored Report
	balanced, limit := balance(r, [][]byte{marked.Bytes()}, nil, &ignored)
	if limit != "" {
		return []byte{mark} // refused by the last check
	}
	return balanced
}
