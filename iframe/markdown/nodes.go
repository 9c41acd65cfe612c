package markdown

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// nodeWriter writes the tree of one segment into a sink. It writes the same HTML as goldmark's
// own renderer, in the form that the later checks accept, with two exceptions. Links and images
// neither navigate nor load. Raw HTML is filtered tag by tag.
type nodeWriter struct {
	r      *Renderer
	w      *sink
	src    []byte
	ctx    *blockContext
	d      *doc
	p      *part
	rough  bool   // the text continues: omit incomplete constructs
	inLink bool   // in the text of a link
	limit  string // the limit that was hit while writing
	raw    bool   // tags of the text or of an extension were written
	heads  int    // headings so far
}

// children writes the children of n. inlineDepth is the nesting depth of inline elements.
func (nw *nodeWriter) children(n ast.Node, inlineDepth int) {
	if inlineDepth > nw.r.opts.Limits.Depth {
		nw.limit = "Depth"
		return
	}
	for c := n.FirstChild(); c != nil && nw.limit == ""; c = c.NextSibling() {
		nw.node(c, inlineDepth)
	}
}

func (nw *nodeWriter) node(n ast.Node, inlineDepth int) {
	w := nw.w
	if f := nw.r.conv.extended(n.Kind()); f != nil {
		nw.foreign(f, n, inlineDepth)
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		nw.text(n)
	case *ast.String:
		switch {
		case n.IsCode(): // HTML of an extension
			nw.rawHTML(bytes.ToValidUTF8(n.Value, []byte(replacement)))
		case n.IsRaw():
			w.escape(n.Value)
		default:
			w.prose(n.Value)
		}
	case *ast.Paragraph:
		nw.wrap("<p>", n, "</p>\n", 0)
	case *ast.TextBlock:
		nw.children(n, 0)
		if n.NextSibling() != nil && n.FirstChild() != nil {
			w.WriteByte('\n')
		}
	case *ast.Heading:
		level := string(rune('0' + n.Level))
		w.WriteString("<h" + level)
		nw.headingID(n)
		nw.wrap(">", n, "</h"+level+">\n", 0)
	case *ast.Blockquote:
		nw.wrap(alert(n, nw.src), n, "</blockquote>\n", 0)
	case *ast.List:
		nw.list(n)
	case *ast.ListItem:
		open := "<li>"
		if fc := n.FirstChild(); fc != nil {
			if _, tight := fc.(*ast.TextBlock); !tight {
				open = "<li>\n"
			}
		}
		nw.wrap(open, n, "</li>\n", 0)
	case *ast.ThematicBreak:
		w.WriteString("<hr>\n")
	case *ast.CodeBlock:
		nw.code("", lines(n, nw.src))
	case *ast.FencedCodeBlock:
		nw.code(string(n.Language(nw.src)), lines(n, nw.src))
	case *ast.HTMLBlock:
		b := lines(n, nw.src)
		if n.HasClosure() {
			b = append(b, n.ClosureLine.Value(nw.src)...)
		}
		nw.rawHTML(b)
	case *ast.RawHTML:
		var b []byte
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b = append(b, s.Value(nw.src)...)
		}
		nw.rawHTML(b)
	case *ast.Emphasis:
		if n.Level == 2 {
			nw.wrap("<strong>", n, "</strong>", inlineDepth+1)
		} else {
			nw.wrap("<em>", n, "</em>", inlineDepth+1)
		}
	case *gfmBlock:
		nw.table(n)
	case *gfmInline:
		nw.gfm(n, inlineDepth)
	case *ast.CodeSpan:
		nw.codeSpan(n)
	case *ast.Link:
		nw.link(string(plainProse(nil, n.Destination)), n.Title, func() { nw.children(n, inlineDepth+1) })
	case *ast.AutoLink:
		nw.autoLink(n)
	case *ast.Image:
		nw.image(n)
	case *ast.LinkReferenceDefinition:
	default:
		nw.children(n, inlineDepth+1)
	}
}

func (nw *nodeWriter) wrap(open string, n ast.Node, end string, inlineDepth int) {
	nw.w.WriteString(open)
	nw.children(n, inlineDepth)
	nw.w.WriteString(end)
}

func lines(n ast.Node, src []byte) []byte {
	var b []byte
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		b = append(b, s.Value(src)...)
	}
	return b
}

func (nw *nodeWriter) text(n *ast.Text) {
	value := n.Segment.Value(nw.src)
	if n.IsRaw() {
		nw.w.escape(value)
		return
	}
	nw.w.prose(value)
	switch {
	case n.HardLineBreak():
		nw.w.WriteString("<br>\n")
	case n.SoftLineBreak():
		nw.w.WriteByte('\n')
	}
}

func (nw *nodeWriter) list(n *ast.List) {
	if !n.IsOrdered() {
		nw.wrap("<ul>\n", n, "</ul>\n", 0)
		return
	}
	open := "<ol>\n"
	if n.Start != 1 {
		open = `<ol start="` + strconv.Itoa(n.Start) + "\">\n"
	}
	nw.wrap(open, n, "</ol>\n", 0)
}

func (nw *nodeWriter) table(n *gfmBlock) {
	switch n.what {
	case gfmFormula:
		nw.formula(n)
	case gfmTable:
		nw.wrap("<table>\n", n, "</table>\n", 0)
	case gfmHead:
		nw.wrap("<thead>\n<tr>\n", n, "</tr>\n</thead>\n", 0)
		if n.NextSibling() != nil {
			nw.w.WriteString("<tbody>\n")
		}
	case gfmRow:
		nw.wrap("<tr>\n", n, "</tr>\n", 0)
		if n.NextSibling() == nil {
			nw.w.WriteString("</tbody>\n")
		}
	case gfmCell:
		tag := "td"
		if p, ok := n.Parent().(*gfmBlock); ok && p.what == gfmHead {
			tag = "th"
		}
		open := "<" + tag
		if n.align != "" {
			open += ` align="` + n.align + `"`
		}
		nw.wrap(open+">", n, "</"+tag+">\n", 0)
	}
}

func (nw *nodeWriter) gfm(n *gfmInline, inlineDepth int) {
	switch n.what {
	case gfmStrike:
		nw.wrap("<del>", n, "</del>", inlineDepth+1)
	case gfmBox:
		nw.w.WriteString(`<input disabled="" type="checkbox"> `)
	case gfmCheckedBox:
		nw.w.WriteString(`<input checked="" disabled="" type="checkbox"> `)
	case gfmNote:
		nw.noteReference(n)
	case gfmTeX, gfmDisplay:
		nw.tex(n.label, n.what == gfmDisplay)
	}
}

func (nw *nodeWriter) codeSpan(n ast.Node) {
	nw.w.WriteString("<code>")
	nw.w.code = true
	defer func() { nw.w.code = false }()
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		t, ok := c.(*ast.Text)
		if !ok {
			continue
		}
		from := t.Segment.Start
		if nw.ctx != nil {
			for _, at := range nw.ctx.pipes {
				if at >= from && at < t.Segment.Stop {
					nw.w.escape(nw.src[from:at])
					from = at + 1
				}
			}
		}
		value := nw.src[from:t.Segment.Stop]
		if k := len(value) - 1; k >= 0 && value[k] == '\n' {
			nw.w.escape(value[:k])
			nw.w.WriteByte(' ')
		} else {
			nw.w.escape(value)
		}
	}
	nw.w.WriteString("</code>")
}

// code writes a code block, drawn if the app has called Options.Draw.
func (nw *nodeWriter) code(lang string, code []byte) {
	lang, _, _ = strings.Cut(lang, "\t")
	nw.block(string(plainProse(nil, []byte(lang))), code)
}

// block writes a code block. A formula or diagram takes its place when it is drawn.
func (nw *nodeWriter) block(lang string, code []byte) {
	if nw.r.gallery != nil && !nw.rough && lang != "" {
		s := Source{Lang: strings.ToLower(lang), Text: strings.TrimSuffix(string(code), "\n"), Display: strings.EqualFold(lang, "math")}
		switch p := nw.r.gallery.picture(nw, s); {
		case p == nil:
		case p.html != "" && s.Display:
			nw.w.WriteString("<p>" + p.html + "</p>\n")
			return
		case p.html != "", p.image != "":
			nw.r.gallery.figure(nw.w, p, lang, func() { nw.pre(lang, code) })
			return
		}
	}
	nw.pre(lang, code)
}

func (nw *nodeWriter) pre(lang string, code []byte) {
	nw.w.codeStart(lang)
	nw.codeText(strings.ToLower(lang), code)
	nw.w.WriteString("</code></pre>\n")
}

func (w *sink) codeStart(lang string) {
	switch {
	case goodLanguage(lang):
		w.WriteString(`<pre><code class="language-`)
		w.escapeString(lang)
		w.WriteString(`">`)
	default:
		if lang != "" {
			w.report.add(Attribute, "class", 1)
		}
		w.WriteString("<pre><code>")
	}
}

func (nw *nodeWriter) codeText(lang string, code []byte) {
	w := nw.w
	w.code = true
	defer func() { w.code = false }()
	if nw.r.gallery != nil && lang != "" && lang != "math" {
		for _, s := range nw.r.gallery.colours(nw, lang, string(code)) {
			n := min(s.n, len(code))
			if s.class != "" {
				w.WriteString(`<span class="hl-` + s.class + `">`)
				w.escape(code[:n])
				w.WriteString("</span>")
			} else {
				w.escape(code[:n])
			}
			code = code[n:]
		}
	}
	w.escape(code)
}

// tex writes a formula: TeX in an element of code.
func (nw *nodeWriter) tex(tex string, display bool) {
	w := nw.w
	tex = strings.TrimSpace(tex)
	if nw.r.gallery != nil {
		if p := nw.r.gallery.picture(nw, Source{Lang: "math", Text: tex, Display: display}); p != nil && p.html != "" {
			w.WriteString(p.html)
			return
		}
	}
	w.WriteString(`<code class="bailey-tex`)
	if display {
		w.WriteString(` bailey-display`)
	}
	w.WriteString(`">`)
	w.code = true
	w.escapeString(tex)
	w.code = false
	w.WriteString("</code>")
}

// formula writes a formula on lines of its own.
func (nw *nodeWriter) formula(n *gfmBlock) {
	nw.w.WriteString("<p>")
	nw.tex(texOf(n, nw.src), true)
	nw.w.WriteString("</p>\n")
}

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

func (nw *nodeWriter) noteReference(n *gfmInline) {
	var num noteNumber
	if nw.rough {
		num.number = nw.ctx.d.notes.byLabel[n.label].number
	} else if n.which < len(nw.ctx.p.numbers) {
		num = nw.ctx.p.numbers[n.which]
	}
	s := strconv.Itoa(num.number)
	nw.w.WriteString("<sup")
	if !nw.rough {
		nw.w.WriteString(` id="` + noteRef(nw.r, num) + `"`)
	}
	nw.w.WriteString(`><a data-fragment="` + nw.r.opts.IDPrefix + "fn-" + s +
		`" role="link" tabindex="0" aria-label="Footnote ` + s + `">` + s + "</a></sup>")
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
