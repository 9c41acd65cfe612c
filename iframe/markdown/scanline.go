package markdown

import (
	"bytes"
	"strings"
)

// cursor moves over a line by columns. A tab extends to the next multiple of four, and may be
// consumed in parts.
type cursor struct {
	line []byte
	i    int
	col  int
	left int // columns left of a partly consumed tab
	w    int // columns of blanks before the next character, set by indent
	to   int // position of that character
}

// indent returns the number of columns of blanks at the cursor.
func (c *cursor) indent() int {
	col := c.col
	w := c.left
	col += c.left
	i := c.i
	for ; i < len(c.line); i++ {
		switch c.line[i] {
		case ' ':
			w++
			col++
			continue
		case '\t':
			t := 4 - col%4
			w += t
			col += t
			continue
		}
		break
	}
	c.w, c.to = w, i
	return w
}

// skip consumes n columns: blanks first, and then the characters after them.
func (c *cursor) skip(n int) {
	for n > 0 && c.i < len(c.line) {
		if c.left > 0 {
			k := min(n, c.left)
			c.left -= k
			c.col += k
			n -= k
			continue
		}
		if c.line[c.i] == '\t' {
			c.left = 4 - c.col%4
			c.i++
			continue
		}
		c.i++
		c.col++
		n--
	}
}

// peek returns the character after the blanks that indent counted.
func (c *cursor) peek() byte {
	if c.to < len(c.line) {
		return c.line[c.to]
	}
	return '\n'
}

// rest returns the line from that character on.
func (c *cursor) rest() []byte { return c.line[c.to:] }

func (c *cursor) blank() bool { return isBlank(c.line[c.i:]) }

// quote consumes a block quote's marker and one column of blank after it.
func (c *cursor) quote() {
	c.skip(c.w + 1)
	if c.left > 0 || c.i < len(c.line) && (c.line[c.i] == ' ' || c.line[c.i] == '\t') {
		c.skip(1)
	}
}

func isBlank(b []byte) bool {
	for _, c := range b {
		if c != ' ' && c != '\t' && c != '\n' {
			return false
		}
	}
	return true
}

func isSetext(s []byte) bool {
	s = bytes.TrimRight(s, " \t\n")
	return len(s) > 0 && len(bytes.Trim(s, string(s[:1]))) == 0
}

func isThematicBreak(s []byte) bool {
	n := 0
	for _, c := range s {
		switch c {
		case s[0]:
			n++
		case ' ', '\t', '\n':
		default:
			return false
		}
	}
	return n >= 3
}

func isATX(s []byte) bool {
	n := 0
	for n < len(s) && s[n] == '#' {
		n++
	}
	return n <= 6 && (n == len(s) || s[n] == ' ' || s[n] == '\t' || s[n] == '\n')
}

// fenceOpens parses the start of a code fence. Its offsets are relative to s.
func fenceOpens(s []byte, indent int) (fence, bool) {
	f := fence{char: s[0], indent: indent}
	for f.length < len(s) && s[f.length] == f.char {
		f.length++
	}
	if f.length < 3 {
		return f, false
	}
	to := len(bytes.TrimRight(s, " \t\n"))
	from := f.length
	for from < to && (s[from] == ' ' || s[from] == '\t') {
		from++
	}
	f.info = [2]int{from, max(from, to)}
	return f, f.char == '~' || bytes.IndexByte(s[from:f.info[1]], '`') < 0
}

// itemStarts parses a list marker at the cursor and moves the cursor after it.
func itemStarts(c *cursor, indent int, interrupts bool) (container, bool) {
	s := c.rest()
	k := container{kind: '-', marker: s[0]}
	n, start := 1, 1
	if isDigit(s[0]) {
		start = 0
		for n = 0; n < len(s) && isDigit(s[n]); n++ {
			if n == 9 {
				return k, false
			}
			start = start*10 + int(s[n]-'0')
		}
		if n == len(s) || s[n] != '.' && s[n] != ')' {
			return k, false
		}
		k.marker = s[n]
		n++
	}
	if n < len(s) && s[n] != ' ' && s[n] != '\t' && s[n] != '\n' {
		return k, false
	}
	empty := isBlank(s[n:])
	if interrupts && (empty || start != 1) {
		return k, false
	}
	c.skip(indent + n)
	w := c.indent()
	switch {
	case empty, w > 4:
		w = 1
	}
	c.skip(w)
	k.offset = indent + n + w
	return k, true
}

// noteStarts parses the start of a footnote definition, [^label]: and blanks. It returns the
// label and the number of bytes, 0 if there is none.
func noteStarts(s []byte) (label string, size int) {
	if len(s) < 5 || s[1] != '^' {
		return "", 0
	}
	for i := 2; i < len(s) && i < maxLabel; i++ {
		switch s[i] {
		case ' ', '\t', '\n', '[':
			return "", 0
		case ']':
			if i == 2 || i+1 >= len(s) || s[i+1] != ':' {
				return "", 0
			}
			size = i + 2
			for size < len(s) && (s[size] == ' ' || s[size] == '\t') {
				size++
			}
			return noteLabel(s[2:i]), size
		}
	}
	return "", 0
}

const maxLabel = 100 // bytes of a footnote's label

func noteLabel(b []byte) string { return strings.ToLower(string(b)) }

// isTableDelimiter reports whether a line could be the one below a table's head.
func isTableDelimiter(s []byte) bool {
	dash, other := false, false
	for _, c := range s {
		switch c {
		case '-':
			dash = true
		case '|', ':':
			other = true
		case ' ', '\t', '\n':
			other = true
		default:
			return false
		}
	}
	return dash && other
}

// lineCost returns the length of a line without image data, and the number of its characters
// that may have a meaning for the inline parser.
func lineCost(line []byte) (length, marks int) {
	length = len(line)
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '*', '_', '~', '`', '[', ']', '<', '&', '!', '\\', ':', '@', '(', '"', '$':
			marks++
		case ';':
			if bytes.HasPrefix(line[i:], []byte(";base64,")) {
				i += len(";base64,")
				j := i
				for j < len(line) && (isLetter(line[j]) || isDigit(line[j]) || line[j] == '+' || line[j] == '/' || line[j] == '=') {
					j++
				}
				length -= j - i
				i = j - 1
			}
		}
	}
	return length, marks
}
