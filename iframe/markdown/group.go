package markdown

import "bytes"

// A pair of HTML tags may be in two different blocks and enclose everything between them:
// <details>, a blank line, Markdown, </details>. This file matches opening tags with closing
// tags. The result depends on the text alone, and on Limits.GroupBytes. An opening tag without
// a closing tag is closed at the end of its own part, so it encloses nothing after it.

// tagEvent is a tag of the text without a counterpart in its own part.
type tagEvent struct {
	name  string
	end   bool
	at    int // in the stream
	until int // index of the part that closes it, by default its own
}

type openTag struct {
	part *part
	tag  int // index in part.tags
}

// grouping contains the tags that are still open.
type grouping struct {
	open    []openTag
	decided int // parts before it are in blocks
}

// take processes the next part.
func (g *grouping) take(d *doc, p *part) {
	g.expire(d, p)
	for i := range p.tags {
		t := &p.tags[i]
		t.until = p.index
		if !t.end {
			if len(g.open) < d.r.opts.Limits.Depth {
				g.open = append(g.open, openTag{p, i})
			}
			continue
		}
		for k := len(g.open) - 1; k >= 0; k-- {
			if o := g.open[k]; o.part.tags[o.tag].name == t.name {
				o.part.tags[o.tag].until = p.index
				g.open = g.open[:k]
				break
			}
		}
	}
	g.decide(d, p.index+1)
}

// expire gives up opening tags whose closing tag did not come within Limits.GroupBytes.
func (g *grouping) expire(d *doc, p *part) {
	n := 0
	for n < len(g.open) && p.start-g.open[n].part.start > d.r.opts.Limits.GroupBytes {
		n++
	}
	if n > 0 {
		g.open = append(g.open[:0], g.open[n:]...)
		g.decide(d, p.index)
	}
}

// end gives up all open tags at the end of the text.
func (g *grouping) end(d *doc) {
	g.open = g.open[:0]
	g.decide(d, len(d.parts))
}

// decide makes blocks of the parts before to and before the first part with an open tag.
func (g *grouping) decide(d *doc, to int) {
	if len(g.open) > 0 {
		to = min(to, g.open[0].part.index)
	}
	for g.decided < to {
		first := g.decided
		last := groupEnd(d.parts, first, to)
		if last > first {
			if _, _, limit := d.join(d.parts[first : last+1]); limit != "" {
				apart(d.parts[first : last+1])
				last = first
			}
		}
		b := &block{index: len(d.blocks), first: first, last: last}
		for _, p := range d.parts[first : last+1] {
			p.block = b
		}
		g.decided = last + 1
		d.blocks = append(d.blocks, b)
		d.assemble(b)
	}
}

// groupEnd returns the index of the last part of the block that begins with first.
func groupEnd(parts []*part, first, to int) int {
	last := first
	for i := first; i <= last && i < to; i++ {
		for _, t := range parts[i].tags {
			if !t.end {
				last = max(last, t.until)
			}
		}
	}
	return min(last, to-1)
}

// tagEvents returns the tags of the text without a counterpart in the same stream. It ignores
// tags inside an element of our own renderer, because they may not leave it. A closing tag may
// be in a paragraph.
func tagEvents(stream []byte) []tagEvent {
	type entry struct {
		name string
		own  bool
		at   int // index in events
	}
	var events []tagEvent
	var stack []entry
	own := 0
	for t := range tags(stream) {
		name := string(t.name)
		el, ok := elementOf(name)
		if !ok || el.void {
			continue
		}
		switch {
		case t.own && !t.end:
			own++
			stack = append(stack, entry{name: name, own: true})
		case t.own:
			for len(stack) > 0 {
				last := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if last.own {
					own--
					break
				}
			}
		case !t.end:
			e := entry{name: name, at: -1}
			if own == 0 {
				e.at = len(events)
				events = append(events, tagEvent{name: name, at: t.at})
			}
			stack = append(stack, e)
		default:
			k := len(stack) - 1
			for k >= 0 && !stack[k].own && stack[k].name != name {
				k--
			}
			switch {
			case k >= 0 && !stack[k].own:
				for _, e := range stack[k:] {
					if e.at >= 0 && e.name == name {
						events[e.at].name = "" // has a counterpart
					}
				}
				stack = stack[:k]
			case own == 0, own == 1 && k >= 0 && stack[k].name == "p":
				events = append(events, tagEvent{name: name, end: true, at: t.at})
			}
		}
	}
	kept := events[:0]
	for _, e := range events {
		if e.name != "" {
			kept = append(kept, e)
		}
	}
	return kept
}

// tag is a tag in a stream.
type tag struct {
	name []byte
	own  bool // written by this package, not by the text
	end  bool
	at   int // of its <, or of its mark
	to   int // after its >
}

// tags iterates over the tags of a stream in the form that sink writes.
func tags(s []byte) func(func(tag) bool) {
	return func(yield func(tag) bool) {
		for i := 0; ; {
			lt := bytes.IndexByte(s[i:], '<')
			if lt < 0 {
				return
			}
			t := tag{own: true, at: i + lt}
			n := t.at + 1
			if t.at > i && s[t.at-1] == mark {
				t.own = false
				t.at--
			}
			if n < len(s) && s[n] == '/' {
				t.end = true
				n++
			}
			from := n
			for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
				n++
			}
			t.name = s[from:n]
			gt := bytes.IndexByte(s[n:], '>')
			if gt < 0 {
				return
			}
			t.to = n + gt + 1
			if !yield(t) {
				return
			}
			i = t.to
		}
	}
}
