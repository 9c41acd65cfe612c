package markdown

import "bytes"

// balance makes well-formed HTML from the streams of one block's parts. It closes open elements
// at the end of their parent, part or block. It drops closing tags without an open element. It
// puts every element where an HTML parser leaves it, so a browser builds the tree that is
// written. Tags of the text never close or cross an element of our own renderer.
//
// until contains, for each tag event of each part, the index of the part at whose end the
// element is closed. Nil means the event's own part. balance returns the limit that was hit, or
// "".
func balance(r *Renderer, streams [][]byte, until [][]int, report *Report) ([]byte, string) {
	b := &balancer{r: r, report: report}
	for i, s := range streams {
		b.part = i
		if i < len(until) {
			b.until = until[i]
		} else {
			b.until = nil
		}
		b.stream(s)
		// Elements that do not reach into the next part end here.
		for len(b.stack) > 0 && b.top().until <= i {
			b.pop(true)
		}
	}
	for len(b.stack) > 0 {
		b.pop(true)
	}
	return b.out.Bytes(), b.limit
}

type balancer struct {
	r      *Renderer
	out    sink
	report *Report
	stack  []opened
	part   int
	until  []int // for the remaining events of this part
	depth  int   // elements of the text on the stack
	limit  string
}

type opened struct {
	name    string
	class   class
	own     bool // written by our renderer, otherwise by the text
	silent  bool // not written, because it is not allowed in this place
	shut    bool // our own, and its end tag has been written
	implied bool // added to complete a table of the text
	until   int  // index of the part at whose end it is closed
	at      int  // of its tag in out
	text    int  // of its content in out
}

func (b *balancer) stream(s []byte) {
	i := 0
	ends := openEnds(s)
	next := 0
	for t := range tags(s) {
		b.text(s[i:t.at])
		i = t.to
		name := string(t.name)
		el, ok := elementOf(name)
		if !ok {
			if t.own && b.r.gallery != nil { // of a formula, which is whole and has only text in it
				b.place(element{class: phrasing})
				b.out.Write(s[t.at:t.to])
			}
			continue
		}
		whole := s[t.at:t.to]
		if !t.own {
			whole = whole[1:]
		}
		switch {
		case t.own && t.end:
			b.ownEnd(name)
		case t.own:
			b.ownStart(name, el, whole)
		case t.end:
			b.end(name)
		default:
			until := b.part
			if !el.void {
				if next < len(ends) && ends[next] == t.at {
					if next < len(b.until) {
						until = b.until[next]
					}
					next++
				}
			}
			b.start(name, el, whole, until)
		}
		if b.limit != "" {
			return
		}
	}
	b.text(s[i:])
}

// openEnds returns the positions of the tags that tagEvents returns as opening events.
func openEnds(s []byte) []int {
	var at []int
	for _, e := range tagEvents(s) {
		if !e.end {
			at = append(at, e.at)
		}
	}
	return at
}

func (b *balancer) top() *opened {
	if len(b.stack) == 0 {
		return &opened{}
	}
	return &b.stack[len(b.stack)-1]
}

func (b *balancer) push(o opened, whole []byte) {
	o.at = b.out.Len()
	if !o.silent {
		b.out.Write(whole)
	}
	o.text = b.out.Len()
	if !o.own {
		if b.depth++; b.depth > b.r.opts.Limits.Depth {
			b.limit = "Depth"
		}
	}
	b.stack = append(b.stack, o)
}

// pop closes the innermost element. early means that the text has no closing tag for it.
func (b *balancer) pop(early bool) {
	o := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	if !o.own {
		b.depth--
		if early && !o.implied && !mayStayOpen(o.class) {
			b.report.add(Unclosed, o.name, 1)
		}
	}
	if o.silent || o.shut {
		return
	}
	b.out.WriteString("</" + o.name + ">")
	if o.own {
		return
	}
	if o.name == "a" {
		if href := tagValue(b.out.Bytes()[o.at:o.text], "data-href"); href != "" {
			b.out.Write(b.warned(o, href))
		} else if path := tagValue(b.out.Bytes()[o.at:o.text], "data-path"); path != "" && !b.r.unlabelled &&
			claimsAddress(labelOf(b.out.Bytes()[o.text:b.out.Len()-len("</a>")]).text, path) {
			b.report.add(Deception, path, 1)
			b.out.aside(path)
		}
	}
}

// mayStayOpen reports whether the closing tag is optional in HTML.
func mayStayOpen(c class) bool {
	switch c {
	case paragraph, listItem, defItem, rubyItem, cell, row, rows, columns, caption:
		return true
	}
	return false
}

// warned applies warn to a link of the text whose end tag has just been written.
func (b *balancer) warned(o opened, href string) []byte {
	if b.r.unlabelled {
		return nil
	}
	t := target{url: href, warning: tagValue(b.out.Bytes()[o.at:o.text], "data-warning")}
	before := len(b.out.report.Findings)
	tail := warn(&b.out, o.at, o.text, t)
	if len(b.out.report.Findings) > before {
		b.report.merge(b.out.report)
		b.out.report = Report{}
	}
	return tail
}

// tagValue returns an attribute of a tag written by this package, or "". It reads one attribute
// after the other, because the value of one may contain text that looks like another.
func tagValue(tag []byte, name string) string {
	for {
		_, rest, ok := bytes.Cut(tag, []byte(" "))
		if !ok {
			return ""
		}
		attr, rest, ok := bytes.Cut(rest, []byte(`="`))
		if !ok {
			return ""
		}
		val, rest, ok := bytes.Cut(rest, []byte(`"`))
		if !ok {
			return ""
		}
		if string(attr) == name {
			return unescape(string(val))
		}
		tag = rest
	}
}

func (b *balancer) text(s []byte) {
	if len(s) == 0 {
		return
	}
	if !isBlank(s) {
		b.place(element{class: phrasing})
	}
	if o := b.top(); o.name == "pre" && !o.own && o.text == b.out.Len() {
		s = bytes.TrimLeft(s, "\n") // a parser removes the first one, each time
	}
	if bytes.IndexByte(s, mark) >= 0 {
		s = bytes.ReplaceAll(s, []byte{mark}, nil)
	}
	b.out.Write(s)
}

// ---- our own elements ------------------------------------------------------

func (b *balancer) ownStart(name string, el element, whole []byte) {
	o := opened{name: name, class: el.class, own: true, until: b.part}
	switch el.class {
	case caption, columns, column, rows, row, cell, listItem, defItem, rubyItem, summary: // inside another element of ours
	default:
		o.silent = !b.place(el)
	}
	if el.void {
		if !o.silent {
			b.out.Write(whole)
		}
		return
	}
	b.push(o, whole)
}

func (b *balancer) ownEnd(name string) {
	for len(b.stack) > 0 {
		o := b.top()
		if o.own {
			if o.name == name {
				b.pop(false)
			}
			return
		}
		b.pop(true)
	}
}

// ---- elements of the text --------------------------------------------------

func (b *balancer) start(name string, el element, whole []byte, until int) {
	if !b.makeRoom(name, el) || !b.place(el) {
		b.report.add(Element, name, 1)
		return
	}
	if el.void {
		b.out.Write(whole)
		return
	}
	b.push(opened{name: name, class: el.class, until: until}, whole)
}

func (b *balancer) end(name string) {
	for k := len(b.stack) - 1; k >= 0; k-- {
		o := &b.stack[k]
		if o.own {
			// A closing tag at the end of a paragraph may close an element around the
			// paragraph.
			if o.class == paragraph && k > 0 && !b.stack[k-1].own && !o.shut && b.foundBelow(k, name) {
				for len(b.stack)-1 > k {
					b.pop(true)
				}
				b.closeBelow(k, name)
				return
			}
			break
		}
		if o.name == name && !o.implied {
			for len(b.stack)-1 > k {
				b.pop(true)
			}
			b.pop(false)
			return
		}
	}
	b.report.add(Unclosed, "/"+name, 1)
}

func (b *balancer) foundBelow(k int, name string) bool {
	for k--; k >= 0 && !b.stack[k].own; k-- {
		if b.stack[k].name == name && !b.stack[k].implied {
			return true
		}
	}
	return false
}

// closeBelow closes our paragraph at k, and then the elements below it on the stack, up to
// name. The end tag of the paragraph is still to come, and then has no effect.
func (b *balancer) closeBelow(k int, name string) {
	p := b.stack[k]
	b.pop(false)
	for {
		o := b.top()
		done := o.name == name && !o.implied
		b.pop(!done)
		if done {
			break
		}
	}
	p.shut, p.silent, p.class = true, true, 0
	b.stack = append(b.stack, p)
}
