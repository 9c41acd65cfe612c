package markdown

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// complete returns src, the last segment of text, with the inline elements closed that are open
// at its end. It omits constructs that have only begun: the start of a tag, an address or an
// image.
func (g *guess) complete(text, src []byte) []byte {
	end := len(text)
	var in []byte
	var at []int // offset of each byte of in
	add := func(from, to int) {
		in = append(in, text[from:to]...)
		for ; from < to; from++ {
			at = append(at, from)
		}
	}
	switch {
	case g.open && g.leaf.kind == paragraphLeaf && g.leaf.limitless():
		lines := g.leaf.lines
		if g.leaf.cols > 0 {
			last := lines[len(lines)-1]
			row := bytes.TrimRight(text[last[0]:last[1]], " \n")
			cell := bytes.LastIndexByte(row, '|') + 1
			if cell == 0 || cell == len(row) || isTableDelimiter(row) {
				return src
			}
			end = last[0] + len(row)
			add(last[0]+cell, end)
			break
		}
		for _, l := range lines {
			add(l[0], l[1])
		}
	case g.open && g.leaf.kind == formulaLeaf:
		for _, l := range g.leaf.lines {
			add(l[0], l[1])
		}
		out := bytes.Clone(text[len(text)-len(src) : at[0]])
		return append(out, literally(text, at)...)
	case !g.open && g.line < len(text) && text[g.line] == '#':
		add(g.line, len(text))
	default:
		return src
	}
	cut, hide, suffix := completion(in)
	var tex []byte
	if cut < len(in) {
		end = at[cut]
		if before, _ := utf8.DecodeLastRune(in[:cut]); !g.noMath && cut+1 < len(in) && unfinished(in[cut:], before) {
			tex = literally(text, at[cut:])
		}
	}
	if cut == len(in) && len(hide) == 0 && len(suffix) == 0 {
		return src
	}
	start := len(text) - len(src)
	out := make([]byte, 0, len(src)+len(suffix))
	for _, h := range hide {
		out = append(out, text[start:at[h]]...)
		start = at[h] + 1
	}
	out = append(out, text[min(start, end):end]...)
	if tex != nil {
		return append(append(out, tex...), suffix...)
	}
	return append(bytes.TrimRight(out, " \t\n"), suffix...)
}

// literally returns the text from at[0] on as Markdown that shows each of the characters at these offsets as it is.
func literally(text []byte, at []int) []byte {
	var out []byte
	pos := at[0]
	for _, i := range at {
		out = append(out, text[pos:i]...) // the prefix of a container
		if util.IsPunct(text[i]) {
			out = append(out, '\\')
		}
		out = append(out, text[i])
		pos = i + 1
	}
	return bytes.TrimRight(out, " \t\n")
}

func (l *leaf) limitless() bool { return len(l.lines) > 0 && len(l.lines) < 2000 }

// run is a run of * _ or ~ that may open an element.
type run struct {
	char byte
	n    int
	at   int
}

// completion examines inline Markdown that ends in the middle. It returns the position to cut
// at, the brackets to leave out, and the text to append.
func completion(s []byte) (cut int, hide []int, suffix []byte) {
	var runs []run
	var brackets []int
	cut = len(s)
	var code int
scan:
	for i := 0; i < len(s); {
		c := s[i]
		if c == '$' || c == '\\' {
			before, _ := utf8.DecodeLastRune(s[:i])
			if f, ok := formulaAt(s[i:], before); ok {
				i += f.end
				continue
			}
			if unfinished(s[i:], before) || i+1 == len(s) {
				cut = i
				break scan
			}
		}
		switch c {
		case '\\':
			i += 2
		case '`':
			n := runLength(s, i)
			end := closingTicks(s, i+n, n)
			if end < 0 {
				if rest := bytes.TrimRight(s[i+n:], "` \n"); len(rest) == 0 {
					cut = i
				} else {
					code = n
					cut = i + n + len(rest)
				}
				break scan
			}
			i = end
		case '<':
			if i+1 < len(s) && !isLetter(s[i+1]) && s[i+1] != '/' && s[i+1] != '!' && s[i+1] != '?' {
				i++
				continue
			}
			end := bytes.IndexByte(s[i:], '>')
			if end < 0 && len(s)-i < 1000 {
				cut = i
				break scan
			}
			i += max(end, 0) + 1
		case '&':
			if len(s)-i < 32 && len(bytes.TrimFunc(s[i+1:], func(r rune) bool { return r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r)) || r == '#') })) == 0 {
				cut = i
				break scan
			}
			i++
		case '!':
			if i+1 < len(s) && s[i+1] == '[' {
				end := linkEnd(s, i+1)
				if end < 0 {
					cut = i
					break scan
				}
				i = end
				continue
			}
			i++
		case '[':
			brackets = append(brackets, i)
			i++
		case ']':
			if len(brackets) == 0 {
				i++
				continue
			}
			open := brackets[len(brackets)-1]
			brackets = brackets[:len(brackets)-1]
			if i+1 == len(s) {
				if keepsBrackets(s, open, i) {
					i++
					continue
				}
				hide = append(hide, open)
				cut = i
				break scan
			}
			if s[i+1] == '(' || s[i+1] == '[' {
				end := destinationEnd(s, i+1)
				if end < 0 {
					hide = append(hide, open)
					cut = i
					break scan
				}
				i = end
				continue
			}
			i++
		case '*', '_', '~':
			n := runLength(s, i)
			if i+n == len(s) {
				cut = i
				break scan
			}
			runs = takeRun(s, i, n, runs)
			i += n
		default:
			i++
		}
	}
	for _, b := range brackets {
		if b+1 < len(s) && s[b+1] == '^' && bytes.IndexByte(s[b:], ' ') < 0 {
			cut = min(cut, b) // a footnote
		}
		if b < cut {
			hide = append(hide, b)
		}
	}
	// An opening delimiter with no text after it is removed.
	for len(runs) > 0 && code == 0 {
		last := runs[len(runs)-1]
		if len(bytes.Trim(s[min(last.at+last.n, cut):cut], " \n")) > 0 {
			break
		}
		cut = min(cut, last.at)
		runs = runs[:len(runs)-1]
	}
	slicesSort(hide)
	for len(hide) > 0 && hide[len(hide)-1] >= cut {
		hide = hide[:len(hide)-1]
	}
	suffix = append(suffix, bytes.Repeat([]byte{'`'}, code)...)
	for k := len(runs) - 1; k >= 0; k-- {
		suffix = append(suffix, bytes.Repeat([]byte{runs[k].char}, runs[k].n)...)
	}
	return cut, hide, suffix
}

func slicesSort(s []int) {
	for i := 1; i < len(s); i++ {
		for k := i; k > 0 && s[k] < s[k-1]; k-- {
			s[k], s[k-1] = s[k-1], s[k]
		}
	}
}

func runLength(s []byte, i int) int {
	n := 1
	for i+n < len(s) && s[i+n] == s[i] {
		n++
	}
	return n
}

// closingTicks returns the end of the next run of exactly n backticks from i on, or -1 if there
// is none.
func closingTicks(s []byte, i, n int) int {
	for i < len(s) {
		k := bytes.IndexByte(s[i:], '`')
		if k < 0 {
			return -1
		}
		i += k
		m := runLength(s, i)
		if m == n {
			return i + m
		}
		i += m
	}
	return -1
}

// linkEnd returns the end of the link or image whose text begins with the bracket at i, or -1
// if it is incomplete.
func linkEnd(s []byte, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				if i+1 == len(s) {
					return -1
				}
				if s[i+1] == '(' || s[i+1] == '[' {
					return destinationEnd(s, i+1)
				}
				return i + 1
			}
		}
	}
	return -1
}

// destinationEnd returns the end of the parentheses or brackets that open at i, or -1 if they
// do not close.
func destinationEnd(s []byte, i int) int {
	open, shut := s[i], byte(')')
	if open == '[' {
		shut = ']'
	}
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// keepsBrackets reports whether the bracket pair at the end of s is complete by itself: the box
// of a task or a footnote.
func keepsBrackets(s []byte, open, i int) bool {
	return i-open == 2 && open == 0 || i-open > 2 && s[open+1] == '^'
}

// takeRun closes the open runs that this run of n characters matches, and adds it to runs if it
// can open an element.
func takeRun(s []byte, i, n int, runs []run) []run {
	c := s[i]
	if c == '~' && n > 2 {
		return runs
	}
	before, after := ' ', ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRune(s[:i])
	}
	if i+n < len(s) {
		after, _ = utf8.DecodeRune(s[i+n:])
	}
	left := !unicode.IsSpace(after) && (!util.IsPunctRune(after) || unicode.IsSpace(before) || util.IsPunctRune(before))
	right := !unicode.IsSpace(before) && (!util.IsPunctRune(before) || unicode.IsSpace(after) || util.IsPunctRune(after))
	canOpen, canClose := left, right
	if c == '_' {
		canOpen = left && (!right || util.IsPunctRune(before))
		canClose = right && (!left || util.IsPunctRune(after))
	}
	if canClose {
		for k := len(runs) - 1; k >= 0 && n > 0; k-- {
			if runs[k].char != c || c == '~' && runs[k].n != n {
				continue
			}
			m := min(n, runs[k].n)
			n -= m
			runs[k].n -= m
			if runs[k].n > 0 {
				runs = runs[:k+1]
			} else {
				runs = runs[:k]
			}
		}
	}
	if canOpen && n > 0 {
		runs = append(runs, run{c, n, i})
	}
	return runs
}
