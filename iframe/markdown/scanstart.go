package markdown

// starts processes a line that starts new blocks or adds text to a paragraph. Like line, it
// returns false if it needs more text first.
func (s *scanner) starts(c *cursor, text []byte, at, end, n int, eof bool) bool {
	all := n == len(s.conts)
	inParagraph := s.leaf.kind == paragraphLeaf
	opened := false
	for !c.blank() {
		w := c.indent()
		if w >= 4 {
			if inParagraph && !opened {
				break
			}
			s.enter(&n, &opened, at)
			s.leaf.kind = indentedLeaf
			return true
		}
		rest := c.rest()
		switch ch := rest[0]; {
		case (ch == '-' || ch == '=') && inParagraph && all && !opened && isSetext(rest):
			if s.underlines(text, rest) {
				s.leaf = leaf{}
				if len(s.conts) == 0 {
					s.finish(end)
				}
				return true
			}
			// The lines above are a table or only definitions.
			inParagraph = false
			s.leaf = leaf{}
			continue
		case (ch == '-' || ch == '*' || ch == '_') && isThematicBreak(rest):
			s.enter(&n, &opened, at)
			if len(s.conts) == 0 {
				s.finish(end)
			}
			return true
		case ch == '-' || ch == '*' || ch == '+' || isDigit(ch):
			item, ok := itemStarts(c, w, inParagraph && all && !opened)
			if !ok {
				goto text
			}
			if n == 0 && !opened && len(s.conts) > 0 && s.conts[0].kind == '-' && s.conts[0].marker == item.marker {
				s.conts = s.conts[:0] // the next item of the same list
				s.leaf = leaf{}
				opened = true
				s.items = append(s.items, at)
			} else {
				s.enter(&n, &opened, at)
				if n == 0 && len(s.conts) == 0 && at == s.seg.start {
					s.items = append(s.items, at)
				}
			}
			if !s.push(item) {
				return true
			}
			n, inParagraph = len(s.conts), false
			continue
		case ch == '#' && isATX(rest):
			s.enter(&n, &opened, at)
			s.count(rest)
			s.leaf = leaf{}
			if len(s.conts) == 0 {
				s.finish(end)
			}
			return true
		case ch == '`' || ch == '~':
			f, ok := fenceOpens(rest, w)
			if !ok {
				goto text
			}
			s.enter(&n, &opened, at)
			from := end - len(rest)
			f.info[0] += from
			f.info[1] += from
			f.body = end
			s.leaf = leaf{kind: fenceLeaf, fence: f}
			if len(s.conts) == 0 {
				s.seg.kind, s.seg.fence = fenceSegment, f
			}
			return true
		case ch == '>':
			s.enter(&n, &opened, at)
			c.indent()
			c.quote()
			if !s.push(container{kind: '>'}) {
				return true
			}
			n, inParagraph = len(s.conts), false
			continue
		case ch == '<':
			kind := htmlStarts(rest, inParagraph && !opened)
			if kind == 0 {
				goto text
			}
			s.enter(&n, &opened, at)
			if kind < 6 && htmlEnds(kind, rest) {
				if len(s.conts) == 0 {
					s.finish(end)
				}
				return true
			}
			if kind < 6 && len(s.conts) == 0 {
				switch s.lookFor(kind, text, at, end, eof) {
				case unknown:
					return false
				case absent:
					kind = 6
				}
			}
			s.leaf = leaf{kind: htmlLeaf, html: kind}
			return true
		case (ch == '$' || ch == '\\') && !s.noMath:
			shut, ok := displayOpens(rest)
			if !ok || ch == '$' && inParagraph && all && !opened && oddDollars(len(s.leaf.lines), func(i int) []byte { return text[s.leaf.lines[i][0]:s.leaf.lines[i][1]] }) {
				goto text
			}
			s.enter(&n, &opened, at)
			s.leaf = leaf{kind: formulaLeaf, shut: shut}
			s.formula(c, end)
			if shut == "" {
				s.leaf = leaf{}
				if len(s.conts) == 0 {
					s.finish(end)
				}
			}
			return true
		case ch == '[' && n == 0 && !opened:
			label, size := noteStarts(rest)
			if size == 0 {
				goto text
			}
			s.enter(&n, &opened, at)
			s.seg.kind, s.seg.label, s.seg.body = noteSegment, label, end-len(rest)+size
			s.push(container{kind: '^'})
			c.skip(w)
			c.skip(size)
			n, inParagraph = len(s.conts), false
			continue
		}
		goto text
	}
	if opened && c.blank() {
		if k := len(s.conts); k > 0 && s.conts[k-1].kind == '-' {
			s.conts[k-1].empty = true
		}
		return true
	}
text:
	if inParagraph && !opened {
		s.text(c, text, end) // also a lazy continuation line of a container
		return true
	}
	s.enter(&n, &opened, at)
	s.leaf = leaf{kind: paragraphLeaf}
	s.text(c, text, end)
	return true
}

// enter closes the containers that do not continue, before the first block that begins on a
// line. It does so once a line.
func (s *scanner) enter(n *int, opened *bool, at int) {
	if *opened {
		s.leaf = leaf{}
		return
	}
	*opened = true
	s.begin(*n, at)
}

// push opens a container. It returns false if Limits.Depth is reached.
func (s *scanner) push(k container) bool {
	if len(s.conts) >= s.lim.Depth {
		s.limit("Depth")
		s.leaf = leaf{kind: paragraphLeaf}
		return false
	}
	s.conts = append(s.conts, k)
	return true
}
