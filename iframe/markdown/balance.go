package markdown

import "bytes"

// balance makes well-formed HTML of the streams of one block's parts: it closes
// what is open where its element, its part or the block ends, drops closing tags
// that close nothing, and puts every element where a parser of HTML leaves it,
// so that the tree a browser builds is the one that is written. Tags of the text
// never close or cross an element of our own rendering.
//
// until says for each tag event of each part at which part it ends; nil is its
// own. It returns the limit that was hit, if one was.
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
		// What does not reach into the next part ends here.
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
	until  []int // of the events of this part that are still to come
	depth  int   // elements of the text on the stack
	limit  string
}

type opened struct {
	name    string
	class   class
	own     bool // ours; the rest is the text's
	silent  bool // not written: it could not stand here
	shut    bool // ours, and its end is written already
	implied bool // ours to complete a table of the text
	until   int  // part at whose end it is closed
	at      int  // of its tag in out
	text    int  // behind it
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

// openEnds finds the tags of a stream that tagEvents makes opening events of.
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

// pop closes the innermost element; early says that the text did not.
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
		}
	}
}

// mayStayOpen reports whether HTML lets a closing tag be left out.
func mayStayOpen(c class) bool {
	switch c {
	case paragraph, listItem, defItem, rubyItem, cell, row, rows, columns, caption:
		return true
	}
	return false
}

// warned is warn for a link of the text, whose end tag has just been written.
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

// tagValue reads an attribute of a tag that this package wrote: one attribute after the
// other, since the value of one may look like another.
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
		s = bytes.TrimLeft(s, "\n") // a parser takes the first one away, each time
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
	case caption, columns, column, rows, row, cell, listItem, defItem, rubyItem, summary: // inside another of ours
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
			// A closing tag at the end of a paragraph may close what stands
			// round the paragraph.
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

// closeBelow closes our paragraph at k, then what is below it up to name. The
// paragraph's own end, which is still to come, then does nothing.
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
