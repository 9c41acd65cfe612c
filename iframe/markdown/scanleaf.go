package markdown

import "bytes"

// text adds a line to the open paragraph and counts its cost.
func (s *scanner) text(c *cursor, text []byte, end int) {
	c.indent()
	rest := c.rest()
	l := &s.leaf
	if l.cols > 0 || len(l.lines) > 0 && isTableDelimiter(rest) {
		if l.cols == 0 {
			l.cols = bytes.Count(rest, []byte{'|'}) + 1
		}
		l.cells += l.cols
		l.marks = 0 // each cell is parsed separately
		if l.cells > s.lim.TableCells {
			s.limit("TableCells")
		}
	}
	l.lines = append(l.lines, [2]int{end - len(rest), end})
	s.count(rest)
}

// formula adds a line to the open formula.
func (s *scanner) formula(c *cursor, end int) {
	c.indent()
	rest := c.rest()
	s.leaf.lines = append(s.leaf.lines, [2]int{end - len(rest), end})
	s.count(rest)
}

func (s *scanner) count(line []byte) {
	length, marks := lineCost(bytes.TrimRight(line, "\n"))
	s.leaf.marks += marks
	if length > s.lim.LineBytes {
		s.limit("LineBytes")
	}
	if s.leaf.marks > s.lim.Delimiters {
		s.limit("Delimiters")
	}
}

type outlook uint8

const (
	unknown outlook = iota
	present
	absent
)

// lookFor reports whether the end of an HTML block of types 1 to 5 comes within
// Limits.GroupBytes, as far as the text arrived so far shows it. In CommonMark a block without
// an end includes the rest of the text. Here it then ends at a blank line, as blocks of other
// types do. Each byte is examined once for each type.
func (s *scanner) lookFor(kind int, text []byte, at, end int, eof bool) outlook {
	if s.rough {
		return present
	}
	until := at + s.lim.GroupBytes
	from := max(end, s.noEnd[kind]-longestEnd)
	to := min(until, len(text))
	if from < to && htmlEnds(kind, text[from:to]) {
		return present
	}
	s.noEnd[kind] = max(s.noEnd[kind], to)
	if until <= len(text) || eof {
		return absent
	}
	return unknown
}

// underlines reports whether a setext line below the open paragraph makes it a heading. It does
// not if the paragraph is a table or contains only definitions, and only parsing can decide
// that. Each line of a text is parsed here at most once.
func (s *scanner) underlines(text, line []byte) bool {
	l := &s.leaf
	if s.seg.limit != "" || l.cols == 0 && text[l.lines[0][0]] != '[' {
		return true
	}
	var b []byte
	for _, at := range l.lines {
		b = append(b, text[at[0]:at[1]]...)
	}
	if l.cols == 0 && !bytes.Contains(b, []byte("]:")) {
		return true
	}
	return s.underlined(append(b, line...))
}
