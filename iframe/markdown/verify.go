package markdown

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// verify is the last check. It reads the HTML of a block and accepts only the form that this
// package writes. All elements, attributes and values must be allowed. Every tag must be closed
// at the right place, and every element must be where an HTML parser leaves it. The amount of
// layout must be small enough for a browser. verify corrects nothing: a block that it refuses
// is shown as plain text. It returns the limit that was hit, "broken" for HTML that this
// package does not write, and "" if the block is accepted.
func verify(r *Renderer, s []byte) (limit string) {
	ascii := isASCII(s)
	if !ascii && !utf8.Valid(s) {
		return "broken"
	}
	mixed := !ascii && mayTurn(s)
	v := verifier{prefix: r.opts.IDPrefix, formulas: r.gallery, most: maxElements, places: r.opts.Limits.TableCells, span: freeSpan + len(s), unbounded: r.unbounded}
	for i := 0; i < len(s); {
		lt := bytes.IndexByte(s[i:], '<')
		if lt < 0 {
			lt = len(s) - i
		}
		if lt > 0 {
			if !v.text(s[i : i+lt]) {
				return "broken"
			}
			if mixed && !(v.plain && lt <= 6*plainBytesMixed) {
				v.turn(s[i : i+lt])
			}
			if v.over() {
				return v.limit
			}
			i += lt
			continue
		}
		n := v.tag(s[i:])
		if n == 0 {
			return "broken"
		}
		if v.over() {
			return v.limit
		}
		i += n
	}
	if len(v.stack) > 0 {
		return "broken"
	}
	return ""
}

type verifier struct {
	prefix   string
	formulas gallery // knows the elements of formulas
	stack    []openElement
	limit    string

	pre, code int // open elements of code
	elements  int
	most      int  // allowed elements
	heading   int8 // direction of the last letter
	turns     int  // changes of direction in the current paragraph
	ordering  int  // sum of the squares of the turns of finished paragraphs
	plain     bool // inside a piece of plain text, which is laid out separately
	marks     stack
	tables    []grid // open tables
	places    int    // remaining places in grids
	span      int    // remaining places for the spans of cells
	unbounded bool   // for tests: the bounds of the layout are off
}

// over reports whether a bound of the layout was hit.
func (v *verifier) over() bool { return v.limit != "" && !v.unbounded }

type openElement struct {
	name    string // shares memory with the checked text
	class   class
	turns   int // outside the element, if it is a paragraph of its own
	heading int8
}

// text reports whether s is plain text for every reader, and is allowed in this place.
func (v *verifier) text(s []byte) bool {
	if !escaped(s, "\n\t", v.code > 0) || v.marks.over(s) && !v.unbounded {
		return false
	}
	if len(v.stack) > 0 {
		switch v.stack[len(v.stack)-1].class {
		case table, columns, rows, row: // a parser moves text out of a table
			return isBlank(s)
		case formulaPart:
			return false
		}
	}
	return true
}

// escaped reports whether s has no character that could have another meaning, changes the text
// direction or is invisible, and no control characters except those in blanks.
func escaped(s []byte, blanks string, code bool) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if plainByte(c) {
			continue
		}
		switch {
		case c == '&':
			end := bytes.IndexByte(s[i:min(len(s), i+6)], ';')
			if end < 0 {
				return false
			}
			switch string(s[i : i+end+1]) {
			case "&amp;", "&lt;", "&gt;", "&#34;", "&#39;":
			default:
				return false
			}
			i += end
		case c == '<', c == '>', c == '"', c == '\'', c == 0x7f:
			return false
		case c == 0xd8, c >= 0xe1 && c <= 0xe3, c == 0xef, c == 0xf0, c == 0xf3:
			size, count := unshown(s, i, code)
			if count > 0 {
				return false
			}
			i += max(0, size-1)
		case c < ' ' && bytes.IndexByte([]byte(blanks), c) < 0:
			return false
		}
	}
	return true
}

// tag checks the tag at the start of s and returns its length, or 0 if this package would not
// write it here.
func (v *verifier) tag(s []byte) int {
	i := 1
	end := len(s) > 1 && s[1] == '/'
	if end {
		i = 2
	}
	from := i
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || isDigit(s[i])) {
		i++
	}
	name := util.BytesToReadOnlyString(s[from:i])
	el, ok := elementOf(name)
	if !ok && v.formulas != nil {
		el, ok = v.formulas.element(name)
	}
	if !ok || i == len(s) {
		return 0
	}
	if end {
		k := len(v.stack) - 1
		if s[i] != '>' || el.void || k < 0 || v.stack[k].name != name {
			return 0
		}
		v.enter(name, -1)
		v.plain = v.plain && name != "pre"
		if el.class == table {
			v.tables = v.tables[:len(v.tables)-1]
		}
		if ownParagraph(el.class) {
			v.ordering += v.turns * v.turns
			v.turns, v.heading = v.stack[k].turns, v.stack[k].heading
			v.ordered()
		}
		v.stack = v.stack[:k]
		return i + 1
	}
	around := openElement{name: name, class: el.class, turns: v.turns, heading: v.heading}
	if ownParagraph(el.class) {
		v.turns, v.heading = 0, 0
	}
	var seen [16]string
	n := 0
	wide, tall := 1, 1
	for s[i] == ' ' {
		from := i + 1
		i++
		for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] == '-') {
			i++
		}
		attr := util.BytesToReadOnlyString(s[from:min(i, len(s))])
		if !bytes.HasPrefix(s[i:], []byte(`="`)) {
			return 0
		}
		i += 2
		quote := bytes.IndexByte(s[i:], '"')
		if quote < 0 {
			return 0
		}
		raw := s[i : i+quote]
		i += quote + 1
		if !escaped(raw, "\n\t", false) || v.pre > 0 && attr == "dir" || !attrAllowed(el, attr) || i >= len(s) || n == len(seen) {
			return 0
		}
		for _, other := range seen[:n] {
			if other == attr {
				return 0
			}
		}
		seen[n] = attr
		n++
		val := util.BytesToReadOnlyString(raw)
		if bytes.IndexByte(raw, '&') >= 0 {
			val = unescape(val)
		}
		good := false
		if el.class >= formulaPart {
			good = v.formulas.value(attr, val)
		} else {
			good = goodValue(v.prefix, name, attr, val) || attr == "src" && v.formulas != nil && v.formulas.shape(val)
		}
		if !good || (&stack{}).over(raw) && !v.unbounded {
			return 0
		}
		switch attr {
		case "reversed":
			v.most = maxReversed
		case "class":
			v.plain = v.plain || name == "pre" && val == "bailey-plain"
		case "dir":
			v.turned()
		case "colspan", "span":
			wide = spanOf(val)
		case "rowspan":
			tall = spanOf(val)
		}
	}
	if s[i] != '>' || !v.fits(name, el) {
		return 0
	}
	if !el.void {
		if len(v.stack) >= maxTree {
			return 0
		}
		v.stack = append(v.stack, around)
		v.enter(name, 1)
	}
	v.count(el, wide, tall)
	return i + 1
}

// enter counts the open elements of code.
func (v *verifier) enter(name string, by int) {
	switch name {
	case "pre":
		v.pre += by
		v.code += by
	case "code":
		v.code += by
	case "bdi":
		v.turned()
	}
}

// count adds an element to the cost of the block.
func (v *verifier) count(el element, wide, tall int) {
	switch el.class {
	case row, cell, column:
	default:
		if v.elements++; v.elements > v.most {
			v.limit = "elements"
		}
	}
	if el.class == table {
		v.tables = append(v.tables, grid{})
	}
	if len(v.tables) == 0 {
		return
	}
	g := &v.tables[len(v.tables)-1]
	before := g.places()
	switch el.class {
	case rows:
		g.group()
	case row:
		g.row()
	case column:
		g.columns += wide
	case columns:
		if wide > 1 { // otherwise its own columns count
			g.columns += wide
		}
	case cell:
		v.span -= wide * tall
		g.cell(wide, tall)
	}
	if v.places -= g.places() - before; v.places < 0 || v.span < 0 {
		v.limit = "TableCells"
	}
}

func spanOf(val string) int {
	n, err := strconv.Atoi(val)
	if err != nil {
		return 1
	}
	return n
}

// maxTree is the maximum nesting depth of elements. Browsers stop at 512 (Chromium), and then
// move deeper elements.
const maxTree = 400

// fits reports whether an HTML parser leaves the element in this place.
func (v *verifier) fits(name string, el element) bool {
	top := openElement{}
	if len(v.stack) > 0 {
		top = v.stack[len(v.stack)-1]
	}
	inside := top.class == formulaPart
	if math := el.class == formulaPart || el.class == formulaToken; inside != (math && name != "math") || top.class == formulaToken {
		return false
	} else if inside {
		return true
	}
	switch el.class {
	case caption, columns, rows:
		return top.class == table
	case column:
		return top.class == columns
	case row:
		return top.class == rows
	case cell:
		return top.class == row
	case listItem:
		return top.name == "ul" || top.name == "ol" || top.name == "menu"
	case defItem:
		return top.name == "dl"
	case rubyItem:
		return top.name == "ruby"
	case summary:
		return top.name == "details"
	}
	switch top.class {
	case table, columns, rows, row:
		return false
	}
	for k := len(v.stack) - 1; k >= 0; k-- {
		e := v.stack[k]
		if e.class == cell || e.class == caption {
			if el.class != anchor {
				break
			}
		}
		switch {
		case e.class == paragraph && el.class != phrasing && el.class != anchor && el.class != formulaPart:
			return false
		case e.class == heading && el.class == heading:
			return false
		case e.class == anchor && el.class == anchor:
			return false
		}
	}
	return true
}
