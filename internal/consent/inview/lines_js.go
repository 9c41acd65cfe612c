package inview

import (
	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
)

// ShowDiff shows a unified diff in an element, with an element for each line.
// It hides the element if the diff is empty.
func ShowDiff(element jsx.Raw, diff string) {
	lines, _ := consent.Diff(diff)
	box := dom.Of(jsx.FromRaw(element))
	box.Call("replaceChildren")
	add(box, lines)
	box.Set("hidden", len(lines) == 0)
}

// add appends lines to an element, each in an element of its own. Marks, such as ⟨5,000 spaces⟩, get a
// style of their own, so that a file's text cannot imitate them.
func add(box dom.Node, lines []consent.Line) {
	for _, l := range lines {
		span := dom.Create("span", "")
		for _, p := range consent.Pieces(l.Text) {
			if p.Mark {
				span.Call("append", dom.Create("i", p.Text, "class", "skip"))
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
