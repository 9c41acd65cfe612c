package markdown_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bailey-go/bailey/iframe/internal/layoutbombs"
	"github.com/bailey-go/bailey/iframe/markdown"
	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/native"
)

// cost is the layout cost of a block, counted by a parser that shares no code with the
// sanitiser.
type cost struct {
	elements int
	places   int // rows times columns of its tables
	spans    int // places that its cells ask for
	stack    int // characters in the longest run of marks
}

func costOf(t *testing.T, block string) (c cost) {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(block), body)
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	count := func(text string) {
		for _, r := range text {
			if unicode.Is(unicode.M, r) || r == 0x200d {
				run++
				c.stack = max(c.stack, run)
			} else {
				run = 0
			}
		}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			count(n.Data)
		case html.ElementNode:
			if n.Data != "td" && n.Data != "th" && n.Data != "tr" && n.Data != "col" {
				c.elements++
			}
			if n.Data == "table" {
				if spans := spansIn(n); spans > 1<<20 { // the grid itself would take too much memory
					c.places += spans
				} else {
					rows, columns := tableSize(n)
					c.places += rows * columns
				}
			}
			if n.Data == "td" || n.Data == "th" {
				c.spans += attrNumber(n, "colspan") * attrNumber(n, "rowspan")
			}
		}
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			walk(k)
		}
	}
	for _, n := range nodes {
		walk(n)
	}
	return c
}

// spansIn returns the places that the cells and columns of a table ask for.
func spansIn(n *html.Node) (sum int) {
	if n.Data == "td" || n.Data == "th" {
		sum = attrNumber(n, "colspan") * attrNumber(n, "rowspan")
	}
	for k := n.FirstChild; k != nil; k = k.NextSibling {
		sum += spansIn(k)
	}
	return sum
}

func attrNumber(n *html.Node, name string) int {
	for _, a := range n.Attr {
		if v, err := strconv.Atoi(a.Val); a.Key == name && err == nil {
			return max(1, v)
		}
	}
	return 1
}

// tableSize places the cells of a table one by one, in a map of all places.
func tableSize(table *html.Node) (rows, columns int) {
	taken := map[[2]int]bool{}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for k := n.FirstChild; k != nil; k = k.NextSibling {
			switch k.Data {
			case "thead", "tbody", "tfoot":
				clear(taken)
				walk(k)
			case "colgroup":
				walk(k)
			case "col":
				columns += attrNumber(k, "span")
			case "tr":
				x := 0
				for cell := k.FirstChild; cell != nil; cell = cell.NextSibling {
					if cell.Data != "td" && cell.Data != "th" {
						continue
					}
					for taken[[2]int{rows, x}] {
						x++
					}
					wide, tall := attrNumber(cell, "colspan"), attrNumber(cell, "rowspan")
					for dx := range wide {
						for dy := range tall {
							taken[[2]int{rows + dy, x + dx}] = true
						}
					}
					x += wide
				}
				columns = max(columns, x)
				rows++
			}
		}
	}
	walk(table)
	return rows, columns
}

// most returns the greater of each figure.
func (c cost) most(o cost) cost {
	return cost{max(c.elements, o.elements), max(c.places, o.places), max(c.spans, o.spans), max(c.stack, o.stack)}
}

// expensive renders a text. wide reports whether a block has too many elements or places, and high whether it has a
// stack of too many characters. worst has the most of any block.
func expensive(t *testing.T, r *markdown.Renderer, text string) (s *markdown.Stream, wide, high bool, worst cost) {
	t.Helper()
	s = r.NewStream()
	if _, err := s.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, p := range s.Patches() {
		block := p.HTML.String()
		c := costOf(t, block)
		wide = wide || c.elements > 10000 || c.places > markdown.TableCells || c.spans > 200+len(block)
		high = high || c.stack > 33
		worst = worst.most(c)
	}
	return s, wide, high, worst
}

// The corpus of layout bombs, after sanitising: no block exceeds its bounds, whatever its
// origin, and the last check refuses none of them. The control renders the corpus with the bounds off.
func TestAttackLayoutBombs(t *testing.T) {
	native.Only(t)
	t.Parallel()
	bombs, err := layoutbombs.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(bombs) < 150 {
		t.Fatalf("%d texts: want 150", len(bombs))
	}
	tables, marks := attack.Start(t, "B1"), attack.Start(t, "B5")
	r := newRenderer(t, markdown.Options{})
	off := newRenderer(t, markdown.Options{Limits: markdown.Limits{TableCells: 1 << 20}})
	off.WithoutBounds()
	capped := 0
	var worst cost
	for i, b := range bombs {
		if i%scaled(1, 4) != 0 {
			continue // the list is in the order of its kinds, so a part of each is left
		}
		_, wide, high, _ := expensive(t, off, b.Text)
		tables.Off(b.Name, wide)
		marks.Off(b.Name, high)
		s, wide, high, c := expensive(t, r, b.Text)
		tables.Try(fmt.Sprintf("%s costs %+v", b.Name, c), wide)
		marks.Try(fmt.Sprintf("%s costs %+v", b.Name, c), high)
		worst = worst.most(c)
		report := s.Report()
		if report.Count(markdown.Broken) > 0 {
			t.Errorf("%s: refused by the last check: %s", b.Name, report)
		}
		if report.Count(markdown.Limit) > 0 {
			capped++
		}
	}
	t.Logf("%d layout bombs, %d over a limit; the most of any block: %+v", len(bombs), capped, worst)
}

// Each bound, below, at and above.
func TestLayoutBounds(t *testing.T) {
	native.Only(t)
	t.Parallel()
	rep := strings.Repeat
	r := newRenderer(t, markdown.Options{})
	for _, c := range []struct {
		name string
		text func(n int) string
		at   int
		says string
	}{
		{"marks", func(n int) string { return "a" + rep("\u0301", n) + " b" }, 31, "limit marks"},
		{"marks in code", func(n int) string { return "```\na" + rep("\u0301", n) + "\n```" }, 31, "limit marks"},
		{"marks in elements", func(n int) string { return "a" + rep("<i>&#769;</i>", n) }, 31, "limit marks"},
		{"marks in words of an image", func(n int) string { return "![a" + rep("\u0301", n) + "](b)" }, 31, "limit marks"},
		{"stacked consonants", func(n int) string { return "\u0915" + rep("\u094d\u0915", n) }, 15, "limit marks"},
		{"joined emoji", func(n int) string { return "\U0001f469" + rep("\u200d\U0001f469", n) }, 15, "limit marks"},
		{"syllables of Hangul", func(n int) string { return rep("\u1100", n) }, 32, "limit marks"},
		{"elements", func(n int) string { return "<div>" + rep("<hr>", n-1) + "</div>" }, 10000, "limit elements"},
		{"reversed list", func(n int) string { return "<ol reversed>" + rep("<li>a", n-1) + "</ol>" }, 500, "limit elements"},
		{"turns of letters", func(n int) string { return "a" + rep("\u05d0b", n/2) + rep("\u05d0", n%2) }, 1000, "limit directions"},
		{"turns of items", func(n int) string { return rep("- a"+rep("\u05d0b", 15)+"\n", n) }, 1111, "limit directions"},
		{"turns around paragraphs", func(n int) string { return "<div>" + rep("<span dir=rtl>1</span><p>a</p>", n) + "</div>" }, 1000, "limit directions"},
		{"turns by marks", func(n int) string { return "a" + rep("\u200fb", n/2) + rep("\u200f", n%2) }, 1000, "limit directions"},
		{"turns of words over lines", func(n int) string { return "a" + rep("\n\u0628 b", n/2) + rep("\n\u0628", n%2) }, 1000, "limit directions"},
		{"turns of elements", func(n int) string { return "<div>" + rep("<span dir=rtl>1</span>\n", n) + "</div>" }, 1000, "limit directions"},
		{"turns of isolates", func(n int) string { return "<div>" + rep("<i>1</i>\n", 9) + rep("<b dir=ltr>1</b>\n", n) + "</div>" }, 1000, "limit directions"},
		{"places", func(n int) string { return "<table>" + rep("<tr>"+rep("<td>", 100), n) + "</table>" }, 200, "limit TableCells"},
		{"places by columns", func(n int) string { return "<table>" + rep("<col span=100>", n) + rep("<tr><td>", 20) + "</table>" }, 10, "limit TableCells"},
		{"places of two tables", func(n int) string { return "<div>" + rep("<table><tr>"+rep("<td>", 1000)+"</table>", n) + "</div>" }, 20, "limit TableCells"},
	} {
		for _, n := range []int{c.at - 1, c.at, c.at + 1} {
			out, report := render(t, r, c.text(n))
			checkOutput(t, r, c.text(n), out, report)
			if over := strings.Contains(report.String(), c.says); over != (n > c.at) {
				t.Errorf("%s: at %d of %d: %q\n%.300s", c.name, n, c.at, report, out)
			}
		}
	}
	for honest, text := range map[string]string{
		"decomposed Korean":     rep("\u1112\u1161\u11ab\u1100\u1173\u11af", 40),
		"decomposed Vietnamese": rep("a\u0323\u0302", 40),
		"a long column":         "<table><tr><th rowspan=60>a<td>b" + rep("<tr><td>c", 59) + "</table>",
		"a wide head":           "<table><tr><th colspan=40>a<tr>" + rep("<td>c", 40) + "</table>",
		"Tibetan":               rep("\u0f67\u0fb2\u0fb1\u0f71\u0f74\u0f83", 40),
		"a Hebrew list":         rep("- \u05e2\u05d1\u05e8\u05d9\u05ea HTTP\n", 2000),
		"a Hebrew table":        rep("|"+rep(" \u05e2\u05d1 A |", 8)+"\n|"+rep("-|", 8)+"\n", 1) + rep("|"+rep(" \u05e2\u05d1 A |", 8)+"\n", 300),
		"an Arabic table":       "| \u0628 | 1 |\n|-|-|\n" + rep("| \u0628 12 x | 3 \u0628 |\n", 2000),
		"family":                rep("\U0001f469\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468 ", 40),
	} {
		if out, report := render(t, r, text); report.Count("") > 0 {
			t.Errorf("%s: %s\n%.300s", honest, report, out)
		}
	}
}

// Overlapping spans take no more places than the block has bytes.
func TestSpansAreBounded(t *testing.T) {
	r := newRenderer(t, markdown.Options{})
	for _, c := range []struct {
		text string
		over bool
	}{
		{"<table><tr><td colspan=14 rowspan=14>a</table>", false},
		{"<table><tr><td colspan=20 rowspan=20>a</table>", true},
		{"<table>" + strings.Repeat("<tr>"+strings.Repeat("<td colspan=100 rowspan=100>a", 5), 50) + "</table>", true},
		{"<table>" + strings.Repeat("<tr><td colspan=100>a", 20) + "</table>", true},
		{"<table><tr><td>" + strings.Repeat("<table><tr><td colspan=12 rowspan=12>a</table>", 3) + "</table>", false},
		{"<table><tr><td>" + strings.Repeat("<table><tr><td colspan=100 rowspan=3>a</table>", 3) + "</table>", true},
	} {
		if out, report := render(t, r, c.text); (report.Count(markdown.Limit) > 0) != c.over {
			t.Errorf("%.80s…: over %v: %s\n%.200s", c.text, !c.over, report, out)
		}
	}
}
