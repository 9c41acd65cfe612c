package markdown

import (
	"bytes"
	"unicode"
)

// maxAround is the number of characters on each side of a link that are examined together with
// its text.
const maxAround = 100

// joined writes the real target beside each link that looks like a host only together with the
// adjacent text. Examples are [bank](https://evil.test).com and two links side by side. It
// takes the HTML of a block, and returns it unchanged if there is no such link.
func joined(r *Renderer, html []byte) []byte {
	if r.unlabelled || !bytes.Contains(html, []byte(`<a data-href="`)) {
		return html
	}
	type link struct {
		url      string
		from, to int // in text
		end      int // of its end tag in html, 0 for a link with its target beside it
	}
	var links []link
	var text []rune // of the block: elements that separate words become a space
	at, open := 0, false
	write := func(s []byte) {
		for _, r := range textOf(s) {
			if looks(r) == ' ' && (r < 0x80 || unicode.IsSpace(r)) {
				r = ' '
			}
			text = append(text, r)
		}
	}
	for t := range tags(html) {
		write(html[at:t.at])
		at = t.to
		switch string(t.name) {
		case "a":
			if t.end && open {
				last := &links[len(links)-1]
				last.to, last.end = len(text), t.to
			}
			open = false
			if url := tagValue(html[t.at:t.to], "data-href"); !t.end && url != "" {
				open = true
				links = append(links, link{url: url, from: len(text)})
			}
		case "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr":
		case "span":
			if n := len(links) - 1; n >= 0 && !t.end && links[n].end == t.at && bytes.Contains(html[t.at:t.to], []byte("bailey-target")) {
				links[n].end = 0
			}
		default:
			text = append(text, ' ')
		}
	}
	write(html[at:])
	var out []byte
	from := 0
	for _, l := range links {
		if l.end == 0 {
			continue
		}
		before, after := l.from, l.to
		for before > 0 && l.from-before < maxAround && text[before-1] != ' ' {
			before--
		}
		for after < len(text) && after-l.to < maxAround && text[after] != ' ' {
			after++
		}
		if before == l.from && after == l.to || l.from == l.to {
			continue
		}
		// The middle of a long text has been examined already.
		inner := text[l.from:l.to]
		all := append([]rune(nil), text[before:l.from]...)
		if len(inner) > 2*maxAround {
			all = append(append(append(all, inner[:maxAround]...), ' '), inner[len(inner)-maxAround:]...)
		} else {
			all = append(all, inner...)
		}
		all = append(all, text[l.to:after]...)
		if d, _ := judge(label{text: string(all)}, l.url); d == honest {
			continue
		}
		var w sink
		w.beside(l.url)
		out = append(append(out, html[from:l.end]...), w.Bytes()...)
		from = l.end
	}
	if out == nil {
		return html
	}
	return append(out, html[from:]...)
}
