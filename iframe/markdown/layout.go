package markdown

import (
	"encoding/binary"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// A text of some kilobytes can keep a browser's layout busy for minutes, for example with cells
// that span one another or a stack of ten thousand accents. This file bounds the amount of
// layout that the HTML of a block needs. The bounds apply to the result, independent of its
// origin in Markdown, HTML or extensions. Package layoutbombs contains such texts.

// maxStack is the maximum number of characters on, below or in one letter. Browsers shape and
// measure the whole stack again for each of them. Languages need fewer than 16, and a family of
// emoji has 10.
const maxStack = 32

// maxElements is the maximum number of elements in one block. Rows and cells of tables are
// bounded by Limits.TableCells instead.
const maxElements = 10_000

// maxReversed is the maximum for a block with a reversed list. Chromium counts the whole of
// such a list again for each item that is added.
const maxReversed = 500

// maxTurns is the maximum number of changes in the direction of letters and elements in one
// paragraph. Browsers order the pieces between them again for each line, so the work grows with
// the square of the changes. All paragraphs of a block together may have no more work than one:
// each of 1000 list items may have 31 changes.
const maxTurns = 1000

// freeSpan is the number of grid places that the spans of a block may use beyond one for each
// byte of the block. An honest table has more bytes than places.
const freeSpan = 200

// grid follows the cells of a table as a browser places them (HTML Standard, "Forming a
// table").
type grid struct {
	rows, columns int
	at            int   // the column after the last cell of the row
	until         []int // for each column, the last row that a cell reaches
}

func (g *grid) row() { g.rows, g.at = g.rows+1, 0 }

// group begins a row group. No cell of another group reaches into it.
func (g *grid) group() { g.until = g.until[:0] }

func (g *grid) cell(colspan, rowspan int) {
	for g.at < len(g.until) && g.until[g.at] >= g.rows {
		g.at++
	}
	for end := g.at + colspan; g.at < end; g.at++ {
		if g.at == len(g.until) {
			g.until = append(g.until, 0)
		}
		g.until[g.at] = max(g.until[g.at], g.rows+rowspan-1)
	}
	g.columns = max(g.columns, g.at)
}

// places returns the number of rows times the number of columns.
func (g *grid) places() int { return max(1, g.rows) * g.columns }

// ---- stacks of characters -----------------------------------------------------------

// stack counts the characters of one cluster that a browser may have to process together.
type stack struct {
	n     int
	joins bool // the last character draws the next one into the cluster
	jamo  int8 // the kind of the last character, if it is part of a Hangul syllable
}

// add takes the next character and returns the number of characters before it in the cluster.
func (st *stack) add(r rune) int {
	jamo := jamoKind(r)
	follows := st.joins && r != '⟨' || extends(r) || jamo > 0 && jamo >= st.jamo && st.jamo > 0
	st.jamo, st.joins = jamo, draws(r)
	if !follows {
		st.n = 0
		return 0
	}
	st.n++
	return st.n
}

// extends reports whether r belongs to the character before it: marks, joiners, variation
// selectors, skin tones and half-width voicing.
func extends(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == 0x200c, r == 0x200d, r >= 0x1f3fb && r <= 0x1f3ff, r == 0xff9e, r == 0xff9f:
		return true
	case r >= 0x3400 && r <= 0xa66e: // only ideographs
		return false
	}
	return unicode.Is(unicode.M, r)
}

// draws reports whether r takes the next character into its own cluster: a joiner, a sign that
// stacks consonants (Indic syllabic category virama or invisible stacker, Unicode 16), a
// prepended mark or a control of hieroglyphs.
func draws(r rune) bool {
	switch {
	case r < 0x600:
		return false
	case r == 0x200d:
		return true
	case r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x890, r == 0x891, r == 0x8e2, r == 0x110bd, r == 0x110cd, r >= 0x13430 && r <= 0x13455:
		return true
	}
	return r >= 0x94d && r < 0x12000 && unicode.Is(stackers, r)
}

var stackers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x94d, 0x94d, 1}, {0x9cd, 0x9cd, 1}, {0xa4d, 0xa4d, 1}, {0xacd, 0xacd, 1}, {0xb4d, 0xb4d, 1}, {0xbcd, 0xbcd, 1},
		{0xc4d, 0xc4d, 1}, {0xccd, 0xccd, 1}, {0xd3b, 0xd3c, 1}, {0xd4d, 0xd4d, 1}, {0xdca, 0xdca, 1}, {0xe3a, 0xe3a, 1},
		{0xeba, 0xeba, 1}, {0xf84, 0xf84, 1}, {0x1039, 0x103a, 1}, {0x1714, 0x1715, 1}, {0x1734, 0x1734, 1}, {0x17d2, 0x17d2, 1},
		{0x1a60, 0x1a60, 1}, {0x1b44, 0x1b44, 1}, {0x1baa, 0x1bab, 1}, {0x1bf2, 0x1bf3, 1}, {0x2d7f, 0x2d7f, 1}, {0xa806, 0xa806, 1},
		{0xa82c, 0xa82c, 1}, {0xa8c4, 0xa8c4, 1}, {0xa953, 0xa953, 1}, {0xa9c0, 0xa9c0, 1}, {0xaaf6, 0xaaf6, 1}, {0xabed, 0xabed, 1},
	},
	R32: []unicode.Range32{
		{0x10a3f, 0x10a3f, 1}, {0x11046, 0x11046, 1}, {0x1107f, 0x1107f, 1}, {0x110b9, 0x110b9, 1}, {0x11133, 0x11134, 1},
		{0x111c0, 0x111c0, 1}, {0x11235, 0x11235, 1}, {0x1134d, 0x1134d, 1}, {0x113ce, 0x113d0, 1}, {0x11442, 0x11442, 1},
		{0x114c2, 0x114c2, 1}, {0x115bf, 0x115bf, 1}, {0x1163f, 0x1163f, 1}, {0x116b6, 0x116b6, 1}, {0x1172b, 0x1172b, 1},
		{0x11839, 0x11839, 1}, {0x1193d, 0x1193e, 1}, {0x119e0, 0x119e0, 1}, {0x11a34, 0x11a34, 1}, {0x11a47, 0x11a47, 1},
		{0x11a99, 0x11a99, 1}, {0x11c3f, 0x11c3f, 1}, {0x11d44, 0x11d45, 1}, {0x11d97, 0x11d97, 1}, {0x11f41, 0x11f42, 1},
	},
}

// jamoKind returns 1 for a character that begins a Hangul syllable, 2 for a vowel, 3 for a
// character that ends a syllable, and 0 for all others. A syllable continues as long as the
// kind does not decrease. The next syllable begins a new cluster.
func jamoKind(r rune) int8 {
	switch {
	case r < 0x1100 || r > 0xd7ff:
	case r < 0x1160, r >= 0xa960 && r <= 0xa97f:
		return 1
	case r < 0x11a8, r >= 0xd7b0 && r <= 0xd7c6:
		return 2
	case r < 0x1200, r >= 0xd7cb:
		return 3
	}
	return 0
}

// capStacks cuts clusters of more than maxStack characters in HTML, in text and in attributes.
// In their place it writes the number of characters that are not shown. A tag between two
// characters does not end a cluster. capStacks returns s itself if there are no such clusters.
func capStacks(s []byte) (out []byte, cut int) {
	if isASCII(s) {
		return s, 0
	}
	var st, outside stack
	from, dropped := 0, 0 // the part of s that is not in out begins at from. dropped characters were left out there
	tell := func() {
		if dropped > 0 {
			out = append(out, "⟨"+strconv.Itoa(dropped)+"\u00a0more\u00a0marks⟩"...)
			cut += dropped
			dropped = 0
		}
	}
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(s[i:])
		}
		switch {
		case s[i] == mark:
		case c == '<':
			outside, st = st, stack{}
		case c == '>':
			st = outside
		case c < utf8.RuneSelf && !st.joins:
			st = stack{}
		default:
			if st.add(c) >= maxStack {
				if dropped == 0 {
					out = append(out, s[from:i]...)
				}
				dropped++
				i += size
				from = i
				continue
			}
		}
		tell()
		i += size
	}
	if out == nil && dropped == 0 {
		return s, 0
	}
	tell()
	return append(out, s[from:]...), cut
}

// isASCII reports whether s has no character beyond ASCII. It looks at eight bytes at a time.
func isASCII(s []byte) bool {
	for len(s) >= 8 {
		if binary.LittleEndian.Uint64(s)&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// capStacksFrom applies capStacks to the output of w from start on.
func capStacksFrom(r *Renderer, w *sink, start int) {
	if r.unbounded {
		return
	}
	if out, cut := capStacks(w.Bytes()[start:]); cut > 0 {
		w.Truncate(start)
		w.Write(out)
		w.report.add(Limit, "marks", cut)
	}
}

// over reports whether capStacks would cut s, a text without tags.
func (st *stack) over(s []byte) bool {
	if !st.joins && isASCII(s) {
		if len(s) > 0 {
			*st = stack{}
		}
		return false
	}
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(s[i:])
		} else if !st.joins {
			*st = stack{}
			i++
			continue
		}
		if st.add(c) >= maxStack {
			return true
		}
		i += size
	}
	return false
}

// direction returns the direction of a character: 1 from left to right, 2 from right to left, 0
// for no direction of its own.
func direction(r rune) int8 {
	switch {
	case r < utf8.RuneSelf:
		if isLetter(byte(r)) || isDigit(byte(r)) {
			return 1
		}
		return 0
	case r == 0x200f, r == 0x61c, turnsText(r):
		return 2
	case r == 0x200e, unicode.IsLetter(r):
		return 1
	}
	return 0
}

// mayTurn reports whether s may have a letter or mark with direction from right to left. In UTF-8 their first
// bytes are D6 to DF, E0 A0 to E0 A3, E2 80 8F, EF AC to EF BB, F0 90 and F0 9E. Dashes, quotation marks and emoji
// do not.
func mayTurn(s []byte) bool {
	for i, c := range s {
		if c < 0xd6 || i+1 == len(s) {
			continue
		}
		switch next := s[i+1]; {
		case c <= 0xdf, c == 0xe0 && next <= 0xa3, c == 0xef && next >= 0xac && next <= 0xbb, c == 0xf0 && (next == 0x90 || next == 0x9e),
			c == 0xe2 && next == 0x80 && i+2 < len(s) && s[i+2] == 0x8f:
			return true
		}
	}
	return false
}

// turn counts the changes of direction in a text without tags.
func (v *verifier) turn(s []byte) {
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(s[i:])
		}
		if d := direction(c); d != 0 && d != v.heading {
			if v.heading != 0 {
				v.turned()
			}
			v.heading = d
		}
		i += size
	}
}

// ownParagraph reports whether browsers order the pieces of an element's text separately from
// the text around it.
func ownParagraph(c class) bool {
	return c == paragraph || c == listItem || c == cell || c == defItem || c == heading
}

func (v *verifier) turned() {
	v.turns++
	v.ordered()
}

// ordered checks the total work of ordering all pieces so far.
func (v *verifier) ordered() {
	if v.ordering+v.turns*v.turns > maxTurns*maxTurns {
		v.limit = "directions"
	}
}
