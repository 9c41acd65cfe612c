package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// link writes a link whose text is written by inner. The link never has an href: the frame's
// script sends the target to the host.
func (nw *nodeWriter) link(dest string, title []byte, inner func()) {
	w := nw.w
	t := nw.r.resolve(dest)
	if t.url == "" && t.fragment == "" && t.path == "" {
		if t.why != "" {
			w.report.add(Scheme, t.why, 1)
		}
		inner()
		return
	}
	start := w.Len()
	w.linkStart(t)
	if title != nil {
		w.WriteString(` title="`)
		w.prose(title)
		w.WriteByte('"')
	}
	w.WriteByte('>')
	from := w.Len()
	nw.inLink = true
	inner()
	nw.inLink = false
	w.WriteString("</a>")
	switch {
	case nw.r.unlabelled:
	case t.url != "":
		w.Write(warn(w, start, from, t))
	case t.path != "" && claimsAddress(labelOf(w.Bytes()[from:w.Len()-len("</a>")]).text, t.path):
		w.report.add(Deception, t.path, 1)
		w.aside(t.path)
	}
}

// claimsAddress reports whether the text of a link to a file names an address.
func claimsAddress(text, path string) bool {
	s, _, _ := skeleton(strings.ToLower(text))
	words := string(s)
	return (strings.Contains(words, "://") || strings.Contains(words, "www.") || strings.Contains(words, "@")) && !strings.Contains(strings.ToLower(path), strings.TrimSpace(words))
}

func (w *sink) linkStart(t target) {
	switch {
	case t.fragment != "":
		w.WriteString(`<a data-fragment="`)
		w.escapeString(t.fragment)
	case t.path != "":
		w.WriteString(`<a data-path="`)
		w.escapeString(t.path)
	default:
		w.WriteString(`<a data-href="`)
		w.escapeString(t.url)
	}
	w.WriteString(`" role="link" tabindex="0"`)
}

func unescape(s string) string { return string(plainReferences(s)) }

func plainReferences(s string) []byte {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '&' {
			if chars, size := reference([]byte(s[i:])); size > 0 {
				b = append(b, chars...)
				i += size - 1
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

func (nw *nodeWriter) autoLink(n *ast.AutoLink) {
	label := n.Label(nw.src)
	if nw.inLink { // an address in the text of a link is text
		nw.w.escape(label)
		return
	}
	dest := string(n.URL(nw.src))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
		dest = "mailto:" + dest
	}
	nw.link(dest, nil, func() { nw.w.escape(label) })
}

func (nw *nodeWriter) image(n *ast.Image) {
	w := nw.w
	src, name, why := resolveImage(string(plainProse(nil, n.Destination)), &nw.r.opts.Limits)
	w.WriteString("<img")
	w.imageSource(src, name, why)
	w.WriteString(` alt="`)
	nw.words(n, 0)
	w.WriteByte('"')
	if n.Title != nil {
		w.WriteString(` title="`)
		w.prose(n.Title)
		w.WriteByte('"')
	}
	w.WriteByte('>')
}

// imageSource writes the attribute with the result of resolveImage.
func (w *sink) imageSource(src, name, why string) {
	switch {
	case src != "":
		w.attr("src", src)
	case name != "":
		w.attr("data-image", name)
	case why != "":
		w.report.add(Image, why, 1)
		w.attr("data-warning", "image not shown: "+why)
	}
}

// words writes the text of n's children into an attribute.
func (nw *nodeWriter) words(n ast.Node, depth int) {
	if depth > nw.r.opts.Limits.Depth {
		nw.limit = "Depth"
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(nw.src)
			if c.IsRaw() {
				nw.w.escape(value)
			} else {
				nw.w.prose(value)
			}
			if c.HardLineBreak() || c.SoftLineBreak() {
				nw.w.WriteByte('\n')
			}
		case *ast.String:
			nw.w.prose(c.Value)
		default:
			nw.words(c, depth+1)
		}
	}
}

// beside writes the target of a link, for the place after the link.
func (w *sink) beside(url string) { w.aside(leads(url)) }

func (w *sink) aside(target string) {
	w.WriteString(`<span class="bailey-target"> (`)
	w.escapeString(target)
	w.WriteString(`)</span>`)
}
