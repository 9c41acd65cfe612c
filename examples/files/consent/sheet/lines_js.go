package sheet

import (
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/examples/internal/dom"
)

// ShowDiff shows a unified diff in an element, with an element for each line.
func ShowDiff(box js.Value, diff string) {
	lines, _ := consent.Diff(diff)
	showLines(box, lines)
}

// showLines replaces the content of an element by lines, each in an element of its own. Marks, such
// as ⟨5,000 spaces⟩, get a style of their own, so that a file's text cannot imitate them.
func showLines(box js.Value, lines []consent.Line) {
	box.Call("replaceChildren")
	addLines(box, lines)
	box.Set("hidden", len(lines) == 0)
}

// addLines appends lines to an element.
func addLines(box js.Value, lines []consent.Line) {
	for _, l := range lines {
		span := dom.Create("span", "")
		for _, p := range consent.Pieces(l.Text) {
			if p.Mark {
				mark := dom.Create("i", p.Text)
				mark.Set("className", "skip")
				span.Call("append", mark)
			} else {
				span.Call("append", p.Text)
			}
		}
		if l.Text == "" {
			span.Call("append", " ")
		}
		span.Set("className", "line "+string(l.Kind))
		box.Call("append", span)
	}
}
