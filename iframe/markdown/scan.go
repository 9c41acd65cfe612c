package markdown

import "bytes"

// The scanner cuts a text into segments: runs of lines that can be parsed without the lines
// before and after them, except for references. It reads each line once and keeps CommonMark's
// block structure: the open containers and the kind of leaf in them. So it can decide at every
// line whether a top-level block begins, and it checks the limits that must be checked before
// any recursion. The segments depend on the text alone, and never on the pieces in which it
// arrived. For this reason a stream and a one-shot rendering have the same result.

type segmentKind uint8

const (
	markdownSegment segmentKind = iota
	fenceSegment                // a top-level code fence
	noteSegment                 // a footnote definition
	plainSegment                // text after Limits.Bytes
)

type segment struct {
	kind       segmentKind
	start, end int
	limit      string // the limit that was hit: shown as plain text
	fence      fence  // of a fenceSegment
	label      string // of a noteSegment
	body       int    // start of its content, of a noteSegment
}

type fence struct {
	char         byte
	length       int
	indent       int
	info         [2]int // offsets in the text
	body, bodyTo int    // content
}

type leafKind uint8

const (
	noLeaf leafKind = iota
	paragraphLeaf
	fenceLeaf
	formulaLeaf
	htmlLeaf
	indentedLeaf
)

type leaf struct {
	kind  leafKind
	html  int // type 1 to 7
	fence fence
	shut  string   // the end of a formula
	lines [][2]int // content of a paragraph's or formula's lines, without the prefixes of containers
	marks int      // delimiters so far
	cols  int      // columns of the table that it seems to be
	cells int
}

type container struct {
	kind   byte // '>' quote, '-' list item, '^' footnote
	marker byte // of a list: - * + . )
	offset int  // columns to the content of a list item
	empty  bool // a list item that began with a blank line
	blank  bool // and had another
}

type scanner struct {
	lim   *Limits
	pos   int  // of the next line
	rough bool // the text is unfinished: assume that open HTML will be closed

	noMath bool // Options.NoMath
	open   bool
	seg    segment
	conts  []container
	leaf   leaf
	items  []int  // positions of the items of the open top-level list
	noEnd  [6]int // by HTML type: there is no end of it before this position
	done   []segment
	// underlined parses a paragraph and the line below it. It is called if only parsing can
	// decide whether the line makes the paragraph a heading.
	underlined func(paragraph []byte) bool
}

// scan reads the complete lines of text. With eof it also reads the last line.
func (s *scanner) scan(text []byte, eof bool) {
	for s.pos < len(text) {
		end := bytes.IndexByte(text[s.pos:], '\n')
		if end < 0 {
			if !eof {
				return
			}
			end = len(text) - s.pos - 1
		}
		end += s.pos + 1
		if !s.line(text, s.pos, end, eof) {
			return
		}
		s.pos = end
		if s.open && s.seg.kind != fenceSegment && end-s.seg.start > s.lim.BlockBytes {
			s.cut(end)
		}
	}
	if eof && s.open {
		s.finish(len(text))
	}
}

// cut ends a segment that is too large. The following text stays plain until the block that it
// belongs to ends.
func (s *scanner) cut(at int) {
	s.limit("BlockBytes")
	seg := s.seg
	seg.end = at
	s.done = append(s.done, seg)
	s.seg = segment{start: at, limit: seg.limit}
}

func (s *scanner) limit(name string) {
	if s.seg.limit == "" {
		s.seg.limit = name
	}
}

// finish ends the open segment before at.
func (s *scanner) finish(at int) {
	if !s.open {
		return
	}
	s.open = false
	s.seg.end = at
	if s.seg.kind == fenceSegment && s.seg.fence.bodyTo == 0 {
		s.seg.fence.bodyTo = at
	}
	if s.seg.end > s.seg.start {
		s.done = append(s.done, s.seg)
	}
	s.conts = s.conts[:0]
	s.items = s.items[:0]
	s.leaf = leaf{}
}

// begin makes sure that a segment is open for a block that begins at the line at, inside the
// first n containers.
func (s *scanner) begin(n, at int) {
	s.conts = s.conts[:n]
	s.leaf = leaf{}
	if n == 0 && s.open && at > s.seg.start {
		s.finish(at)
	}
	if !s.open {
		s.open = true
		s.seg = segment{start: at}
	}
}

// line processes one line. It returns false if it needs more text first.
func (s *scanner) line(text []byte, at, end int, eof bool) bool {
	c := cursor{line: text[at:end]}
	n := s.match(&c)
	all := n == len(s.conts)
	blank := c.blank()

	if all && s.continues(&c, text, at, end, blank) {
		return true
	}
	if blank {
		if !all || s.leaf.kind == paragraphLeaf || s.leaf.kind == htmlLeaf || s.leaf.kind == formulaLeaf {
			s.leaf = leaf{}
		}
		s.conts = s.conts[:n]
		if n == 0 && s.leaf.kind == noLeaf {
			s.finish(at)
		}
		return true
	}
	return s.starts(&c, text, at, end, n, eof)
}

// match consumes the prefixes of the open containers and returns the number of containers that
// continue.
func (s *scanner) match(c *cursor) int {
	for i := range s.conts {
		k := &s.conts[i]
		w := c.indent()
		switch k.kind {
		case '>':
			if w > 3 || c.peek() != '>' {
				return i
			}
			c.quote()
		case '-':
			if c.blank() {
				if k.empty {
					k.blank = true
				}
				continue
			}
			if w < k.offset || k.empty && k.blank {
				return i
			}
			c.skip(k.offset)
			k.empty = false
		case '^':
			if !c.blank() {
				if w < 4 {
					return i
				}
				c.skip(4)
			}
		}
	}
	return len(s.conts)
}

// continues reports whether the line belongs to the open leaf, if the leaf is of a kind that
// takes lines unparsed.
func (s *scanner) continues(c *cursor, text []byte, at, end int, blank bool) bool {
	top := len(s.conts) == 0
	switch s.leaf.kind {
	case fenceLeaf:
		f := &s.leaf.fence
		if w := c.indent(); w < 4 {
			rest := c.rest()
			k := 0
			for k < len(rest) && rest[k] == f.char {
				k++
			}
			if k >= f.length && isBlank(rest[k:]) {
				s.leaf = leaf{}
				if top {
					s.seg.fence.bodyTo = at
					s.finish(end)
				}
			}
		}
		return true
	case formulaLeaf:
		if blank {
			return false
		}
		s.formula(c, end)
		if ends, _ := displayShuts(c.rest(), s.leaf.shut); ends {
			s.leaf = leaf{}
			if top {
				s.finish(end)
			}
		}
		return true
	case htmlLeaf:
		if s.leaf.html >= 6 {
			return !blank
		}
		if htmlEnds(s.leaf.html, text[at:end]) {
			s.leaf = leaf{}
			if top {
				s.finish(end)
			}
		}
		return true
	case indentedLeaf:
		if blank || c.indent() >= 4 {
			return true
		}
		s.leaf = leaf{}
		if top {
			s.finish(at)
		}
	}
	return false
}
