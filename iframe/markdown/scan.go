package markdown

import "bytes"

// The scanner cuts a text into segments: runs of lines that can be parsed
// without knowing what stands before or behind them, but for references. It
// reads each line once and keeps CommonMark's block structure (the containers
// that are open, the kind of leaf in them), so that it knows at every line
// whether a top-level block begins, and checks the limits that must be checked
// before anything recurses. What a segment is depends on the text alone, never
// on how it came in: that is why a stream and a one-shot rendering agree.

type segmentKind uint8

const (
	markdownSegment segmentKind = iota
	fenceSegment                // a top-level code fence
	noteSegment                 // a footnote definition
	plainSegment                // text behind Limits.Bytes
)

type segment struct {
	kind       segmentKind
	start, end int
	limit      string // the limit that was hit: shown as plain text
	fence      fence  // of a fenceSegment
	label      string // of a noteSegment
	body       int    // where its content begins, of a noteSegment
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
	htmlLeaf
	indentedLeaf
)

type leaf struct {
	kind  leafKind
	html  int // type 1 to 7
	fence fence
	lines [][2]int // content of a paragraph's lines, without what containers put before it
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
	rough bool // a guess at text that is still to come: be hopeful about HTML
	open  bool
	seg   segment
	conts []container
	leaf  leaf
	items []int  // where the items of the open top-level list begin
	noEnd [6]int // by HTML type: no end of it stands before here
	done  []segment
	// underlined parses a paragraph and the line below it, where reading is
	// not enough to say whether the line makes it a heading.
	underlined func(paragraph []byte) bool
}

// scan reads the complete lines of text, and with eof the last one too.
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

// cut ends a segment that is too large. What follows stays plain until the block
// that it belongs to ends.
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

// begin makes sure that a segment is open for a block that begins at the line
// at, inside the first n containers.
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

// line takes one line. It reports false if it needs to see more first.
func (s *scanner) line(text []byte, at, end int, eof bool) bool {
	c := cursor{line: text[at:end]}
	n := s.match(&c)
	all := n == len(s.conts)
	blank := c.blank()

	if all && s.continues(&c, text, at, end, blank) {
		return true
	}
	if blank {
		if !all || s.leaf.kind == paragraphLeaf || s.leaf.kind == htmlLeaf {
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

// match consumes what belongs to the open containers and says how many go on.
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

// continues takes the line as a part of the open leaf, if that is of a kind that
// takes lines as they are.
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
