package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Formulas are written in TeX, between $ and $, \( and \) in a line, and between $$ and $$, \[ and \] on lines of
// their own or in a line. A formula is taken whole: its backslashes, underscores and stars are not Markdown. It has
// no blank line. The scanner, the parser and the guess about an unfinished text all ask the functions of this file,
// so they agree.

// maxFormula is the size of a formula inside a paragraph, in bytes. A parser looks so far for its end.
const maxFormula = 4 << 10

// formula is a formula in a text: s[from:to] is TeX, and s[:end] is the formula with its delimiters.
type formula struct {
	from, to, end int
	display       bool
}

// delimiter returns the opening and closing delimiters of the formula that begins at the start of s, or two empty
// strings. It decides by the delimiter alone.
func delimiter(s []byte) (open, shut string) {
	switch {
	case bytes.HasPrefix(s, []byte("$$")):
		if len(s) > 2 && s[2] == '$' {
			return "", ""
		}
		return "$$", "$$"
	case bytes.HasPrefix(s, []byte("$`")):
		return "$`", "`$"
	case bytes.HasPrefix(s, []byte("$")):
		return "$", "$"
	case bytes.HasPrefix(s, []byte(`\[`)):
		return `\[`, `\]`
	case bytes.HasPrefix(s, []byte(`\(`)):
		return `\(`, `\)`
	}
	return "", ""
}

// shuts returns the position of the first shut in s that no backslash escapes, or -1.
func shuts(s []byte, shut string) int {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == shut[0] && bytes.HasPrefix(s[i:], []byte(shut)):
			return i
		case s[i] == '\\':
			i++
		}
	}
	return -1
}

// formulaAt returns the formula at the start of s, which is the rest of a paragraph. before is the character before
// it. Money is no formula: $5 and $10.
func formulaAt(s []byte, before rune) (f formula, ok bool) {
	open, shut := delimiter(s)
	if open == "" || !opens(s, open, before) {
		return f, false
	}
	s = s[:min(len(s), maxFormula)]
	n := shuts(s[len(open):], shut)
	if n < 0 {
		return f, false
	}
	f = formula{from: len(open), to: len(open) + n, end: len(open) + n + len(shut), display: open == "$$" || open == `\[`}
	tex := s[f.from:f.to]
	if isBlank(tex) {
		return f, false
	}
	switch open {
	case "$":
		after, _ := utf8.DecodeRune(s[f.end:])
		last := tex[len(tex)-1]
		ok = last != ' ' && last != '\n' && !strings.ContainsRune("$({_", after) && !(f.end < len(s) && word(after)) && bytes.IndexByte(tex, '`') < 0 && !price(tex)
	case `\(`:
		ok = !prose(tex)
	case `\[`:
		ok = bytes.ContainsAny(tex, "\\^_={}+<>\n")
	default:
		ok = true
	}
	return f, ok
}

// opens reports whether the delimiter at the start of s may open a formula.
func opens(s []byte, open string, before rune) bool {
	if s[0] == '\\' {
		return true
	}
	if word(before) || before == '$' || len(s) == len(open) {
		return false
	}
	return open != "$" || s[1] != ' ' && s[1] != '\n' && s[1] != '\t'
}

func word(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// price reports whether a text after a $ is an amount of money and words: 5 (or 10.
func price(tex []byte) bool {
	if !isDigit(tex[0]) {
		return false
	}
	letters, braces := 0, 0
	for i := 0; i < len(tex); i++ {
		switch c := tex[i]; {
		case c == '\\': // a command is no word
			for i+1 < len(tex) && isLetter(tex[i+1]) {
				i++
			}
			letters = 0
		case c == '{':
			braces++
		case c == '}':
			braces--
		case isLetter(c) && braces == 0:
			if letters++; letters > 1 {
				return true
			}
		default:
			letters = 0
		}
	}
	return false
}

// prose reports whether a text between \( and \) has only words: in Markdown \( is also an escaped parenthesis.
func prose(tex []byte) bool {
	if bytes.ContainsAny(tex, `\^_={}+<>*/|`) {
		return false
	}
	letters := 0
	for _, c := range tex {
		if letters++; !isLetter(c) {
			letters = 0
		}
		if letters > 3 {
			return true
		}
	}
	return false
}

// unfinished reports whether s, the end of an unfinished text, is probably the beginning of a formula.
func unfinished(s []byte, before rune) bool {
	open, shut := delimiter(s)
	if open == "" || len(s) > maxFormula || !opens(s, open, before) || shuts(s[len(open):], shut) >= 0 {
		return false
	}
	if open != "$" {
		return true
	}
	return !isDigit(s[1]) && !prose(s[1:]) && bytes.IndexByte(s, '`') < 0 && bytes.IndexByte(s[1:], '$') < 0
}

// ---- blocks ---------------------------------------------------------------------

// displayOpens reports whether s, the rest of a line, begins a formula on lines of its own: with $$ or \[, without
// an end, or with an end that ends the line. shut is the end to wait for, "" if it is on the line.
func displayOpens(s []byte) (shut string, ok bool) {
	open, shut := delimiter(s)
	if open != "$$" && open != `\[` {
		return "", false
	}
	rest := s[len(open):]
	n := shuts(rest, shut)
	switch {
	case n < 0: // \[ is also an escaped bracket
		return shut, open == "$$" || isBlank(rest) || bytes.ContainsAny(rest, `\^_={}+`) && bytes.IndexByte(rest, ']') < 0
	case isBlank(rest[n+len(shut):]) && !isBlank(rest[:n]) && (open == "$$" || bytes.ContainsAny(rest[:n], `\^_={}+<>`)):
		return "", true
	}
	return "", false
}

// displayShuts reports whether a line ends a formula, and whether text follows the end. Then it is no formula.
func displayShuts(line []byte, shut string) (ends, more bool) {
	n := shuts(line, shut)
	return n >= 0, n >= 0 && !isBlank(line[n+len(shut):])
}

// oddDollars reports whether the lines of a paragraph have an open $$, which the next line may close.
func oddDollars(n int, line func(int) []byte) bool {
	odd := false
	for size := 0; n > 0 && size < 1<<10; {
		n--
		l := line(n)
		size += len(l)
		odd = odd != (bytes.Count(l, []byte("$$"))%2 == 1)
	}
	return odd
}

// formulaParser parses formulas on lines of their own.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, seg := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || ast.IsParagraph(parent) {
		return nil, parser.NoChildren
	}
	shut, ok := displayOpens(line[pos:])
	if !ok {
		return nil, parser.NoChildren
	}
	if p := pc.LastOpenedBlock().Node; p != nil && p.Parent() == parent && ast.IsParagraph(p) && line[pos] == '$' &&
		oddDollars(p.Lines().Len(), func(i int) []byte { at := p.Lines().At(i); return at.Value(reader.Source()) }) {
		return nil, parser.NoChildren
	}
	n := &gfmBlock{what: gfmFormula, shut: shut}
	at := seg.WithStart(seg.Start - seg.Padding + pos)
	at.Padding = 0
	n.Lines().Append(at)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

func (formulaParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*gfmBlock)
	line, seg := reader.PeekLine()
	if n.shut == "" || isBlank(line) {
		return parser.Close
	}
	n.Lines().Append(seg)
	reader.AdvanceToEOL()
	if ends, more := displayShuts(line, n.shut); ends {
		n.shut, n.open = "", more
	}
	return parser.Continue | parser.NoChildren
}

// Close makes a paragraph of a formula without an end.
func (formulaParser) Close(node ast.Node, reader text.Reader, _ parser.Context) {
	n := node.(*gfmBlock)
	src := reader.Source()
	if n.shut == "" && !n.open && texOf(n, src) != "" {
		return
	}
	p := ast.NewParagraph()
	p.SetBlankPreviousLines(n.HasBlankPreviousLines())
	at := n.Lines()
	for i := range at.Len() {
		line := at.At(i)
		if line = line.TrimLeftSpace(src); i == at.Len()-1 {
			line = line.TrimRightSpace(src)
		}
		p.Lines().Append(line)
	}
	n.Parent().ReplaceChild(n.Parent(), n, p)
}

// texOf returns the TeX of a formula on lines of its own.
func texOf(n *gfmBlock, src []byte) string {
	s := bytes.TrimSpace(lines(n, src))
	return string(bytes.TrimSpace(s[2:max(2, len(s)-2)]))
}

func (formulaParser) CanInterruptParagraph() bool { return true }
func (formulaParser) CanAcceptIndentedLine() bool { return false }

// ---- in a line ------------------------------------------------------------------

// formulaInline parses formulas in a line.
type formulaInline struct{}

func (formulaInline) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaInline) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	s, _ := block.PeekLine()
	before := block.PrecendingCharacter()
	open, shut := delimiter(s)
	if open == "" || !opens(s, open, before) {
		return nil
	}
	if shuts(s[len(open):], shut) < 0 { // its end may be on another line
		s = bytes.Clone(s)
		k, pos := block.Position()
		for block.AdvanceLine(); len(s) < maxFormula; block.AdvanceLine() {
			more, _ := block.PeekLine()
			if more == nil {
				break
			}
			s = append(s, more...)
		}
		block.SetPosition(k, pos)
	}
	f, ok := formulaAt(s, before)
	if !ok {
		return nil
	}
	n := &gfmInline{what: gfmTeX, label: string(s[f.from:f.to])}
	if f.display {
		n.what = gfmDisplay
	}
	for left := f.end; left > 0; {
		line, _ := block.PeekLine()
		if left < len(line) {
			block.Advance(left)
			break
		}
		left -= len(line)
		block.AdvanceLine()
	}
	return n
}
