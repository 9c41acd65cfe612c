package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Tables, strikethrough and task lists of GFM. In goldmark they are in a package that also
// contains its HTML renderer. That would be a tenth of the download of a page that shows
// Markdown, and nothing else here needs it.

// gfmKind is the kind of a GFM node.
type gfmKind uint8

const (
	gfmTable gfmKind = iota + 1
	gfmHead
	gfmRow
	gfmCell
	gfmStrike
	gfmBox
	gfmCheckedBox
	gfmNote    // a reference to a footnote
	gfmFormula // TeX on lines of its own
	gfmTeX     // TeX in a line
	gfmDisplay // the same, shown on a line of its own
)

// gfmBlock is a table, a part of one, or a formula. There is one type for all of them, because each type of
// node adds the thirty methods of the interface to the program.
type gfmBlock struct {
	ast.BaseBlock
	what  gfmKind
	align string
	shut  string // the end that a formula waits for
	open  bool   // text follows the end of a formula
}

// gfmInline is strikethrough, a box, a formula or a reference to a footnote.
type gfmInline struct {
	ast.BaseInline
	what  gfmKind
	label string // of a footnote, or TeX
	which int    // index among the references in its part
}

var (
	kindGFMBlock  = ast.NewNodeKind("BaileyGFMBlock")
	kindGFMInline = ast.NewNodeKind("BaileyGFMInline")
)

func (n *gfmBlock) Kind() ast.NodeKind  { return kindGFMBlock }
func (n *gfmBlock) IsRaw() bool         { return n.what == gfmFormula }
func (n *gfmBlock) Dump([]byte, int)    {}
func (n *gfmInline) Kind() ast.NodeKind { return kindGFMInline }
func (n *gfmInline) Dump([]byte, int)   {}

// ---- strikethrough ------------------------------------------------------------

type strikeParser struct{}

func (strikeParser) Trigger() []byte { return []byte{'~'} }

func (strikeParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, seg := block.PeekLine()
	d := parser.ScanDelimiter(line, before, 1, strikeParser{})
	if d == nil || d.OriginalLength > 2 || before == '~' {
		return nil
	}
	d.Segment = seg.WithStop(seg.Start + d.OriginalLength)
	block.Advance(d.OriginalLength)
	pc.PushDelimiter(d)
	return d
}

func (strikeParser) IsDelimiter(b byte) bool                        { return b == '~' }
func (strikeParser) CanOpenCloser(open, end *parser.Delimiter) bool { return open.Char == end.Char }
func (strikeParser) OnMatch(int) ast.Node                           { return &gfmInline{what: gfmStrike} }

// ---- task lists ---------------------------------------------------------------

type boxParser struct{}

func (boxParser) Trigger() []byte { return []byte{'['} }

func (boxParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	item := parent.Parent()
	if item == nil || item.Kind() != ast.KindListItem || item.FirstChild() != parent || parent.HasChildren() {
		return nil
	}
	line, _ := block.PeekLine()
	if len(line) < 3 || line[2] != ']' {
		return nil
	}
	box := &gfmInline{what: gfmBox}
	switch line[1] {
	case 'x', 'X':
		box.what = gfmCheckedBox
	case ' ', '\t', '\n':
	default:
		return nil
	}
	n := 3
	for n < len(line) && util.IsSpace(line[n]) {
		n++
	}
	block.Advance(n)
	return box
}

// ---- tables -------------------------------------------------------------------

type tableTransformer struct{}

// Transform makes a table of a paragraph that has a row of dashes below its first or a later
// line.
func (tableTransformer) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := p.Lines()
	src := reader.Source()
	for i := 1; i < lines.Len(); i++ {
		at := lines.At(i)
		aligns, ok := tableAligns(at.Value(src))
		if !ok {
			continue
		}
		head := tableRow(lines.At(i-1), aligns, true, src, pc)
		if head.ChildCount() != len(aligns) {
			return
		}
		table := &gfmBlock{what: gfmTable}
		table.AppendChild(table, head)
		for k := i + 1; k < lines.Len(); k++ {
			table.AppendChild(table, tableRow(lines.At(k), aligns, false, src, pc))
		}
		lines.SetSliced(0, i-1)
		p.Parent().InsertAfter(p.Parent(), p, table)
		if lines.Len() == 0 {
			p.Parent().RemoveChild(p.Parent(), p)
		} else {
			last := lines.At(i - 2)
			last.Stop-- // its line break
			lines.Set(i-2, last)
		}
		return
	}
}

// tableAligns returns the alignments in a row of dashes.
func tableAligns(line []byte) ([]string, bool) {
	if w, _ := util.IndentWidth(line, 0); w > 3 || !isTableDelimiter(line) {
		return nil, false
	}
	line = bytes.TrimSpace(line)
	line = bytes.TrimPrefix(line, []byte("|"))
	line = bytes.TrimSuffix(line, []byte("|"))
	if bytes.IndexByte(line, '-') < 0 {
		return nil, false
	}
	var aligns []string
	for len(line) > 0 {
		col, rest, _ := bytes.Cut(line, []byte("|"))
		line = rest
		col = bytes.TrimSpace(col)
		left := bytes.HasPrefix(col, []byte(":"))
		col = bytes.TrimPrefix(col, []byte(":"))
		right := bytes.HasSuffix(col, []byte(":"))
		col = bytes.TrimSuffix(col, []byte(":"))
		if len(col) == 0 || len(bytes.Trim(col, "-")) > 0 {
			return nil, false
		}
		align := ""
		switch {
		case left && right:
			align = "center"
		case left:
			align = "left"
		case right:
			align = "right"
		}
		aligns = append(aligns, align)
	}
	return aligns, len(aligns) > 0
}

// tableRow makes a row from a line. A body row has as many cells as there are columns. A head
// row has as many as the line.
func tableRow(seg text.Segment, aligns []string, head bool, src []byte, pc parser.Context) *gfmBlock {
	row := &gfmBlock{what: gfmRow}
	if head {
		row.what = gfmHead
	}
	seg = seg.TrimLeftSpace(src)
	seg = seg.TrimRightSpace(src)
	line := seg.Value(src)
	pos, end := 0, len(line)
	if end > 0 && line[0] == '|' {
		pos++
	}
	if end > 0 && line[end-1] == '|' {
		end--
	}
	n := 0
	for ; pos < end; n++ {
		if n >= len(aligns) && !head {
			return row
		}
		cell := &gfmBlock{what: gfmCell}
		if n < len(aligns) {
			cell.align = aligns[n]
		}
		ticks := false
		to := pos
		for ; to < end; to++ {
			if line[to] == '`' {
				ticks = true
			}
			if line[to] != '|' {
				continue
			}
			if to == 0 || line[to-1] != '\\' {
				break
			}
			if ctx, ok := pc.(*blockContext); ok && ticks {
				// In code a backslash is literal, except before a |.
				ctx.pipes = append(ctx.pipes, seg.Start+to-1)
			}
		}
		at := text.NewSegment(seg.Start+pos, seg.Start+to)
		at = at.TrimLeftSpace(src)
		at = at.TrimRightSpace(src)
		cell.Lines().Append(at)
		row.AppendChild(row, cell)
		pos = to + 1
	}
	for ; n < len(aligns); n++ {
		row.AppendChild(row, &gfmBlock{what: gfmCell})
	}
	return row
}
