package markdown

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// headingID writes the id of a heading, the target of links to it: its text in lower case, with
// dashes between the words. If an earlier heading has the same id, a number is added.
func (nw *nodeWriter) headingID(n *ast.Heading) {
	if nw.r.opts.NoHeadingIDs || nw.ctx == nil {
		return
	}
	d, p := nw.ctx.d, nw.ctx.p
	nw.heads++
	var id string
	switch {
	case nw.rough || p == nil:
		return // the number of the next heading depends on this one, which is incomplete
	case nw.heads <= len(p.headings):
		id = p.headings[nw.heads-1]
	default:
		s := slug(string(lines(n, nw.src)))
		for {
			count := d.ids[s]
			d.ids[s]++
			if count == 0 {
				break
			}
			next := s + "-" + strconv.Itoa(count)
			if d.ids[next] == 0 {
				s = next
				d.ids[s]++
				break
			}
		}
		id = cutID(nw.r.opts.IDPrefix + s)
		p.headings = append(p.headings, id)
	}
	nw.w.attr("id", id)
}

func slug(s string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(s) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '-', r == '_':
			b.WriteRune(unicode.ToLower(r))
		case r == ' ', r == '\n', r == '\t':
			b.WriteByte('-')
		}
		if b.Len() > 100 {
			break
		}
	}
	if b.Len() == 0 {
		return "section"
	}
	return b.String()
}
