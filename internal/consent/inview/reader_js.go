package inview

import (
	"math"
	"sort"

	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
)

// Reader is an element that scrolls, with an element for each line in it. It records which of the
// lines have been in view.
type Reader struct {
	consent.Reading
	box  dom.Node
	rest []consent.Line // of a long text: those that are not in the page yet, added as the user scrolls
	more bool           // the last element is no line, and states how many more there are
}

// NewReader returns a Reader of an element. Its lines are the element's children, or those of Show.
func NewReader(element jsx.Raw) *Reader { return &Reader{box: dom.Of(jsx.FromRaw(element))} }

// Show replaces the lines, shows them from the first one on, and sets which of them have to be seen.
func (r *Reader) Show(lines []consent.Line, need consent.Reading) {
	r.box.Call("replaceChildren")
	r.Reading, r.rest, r.more = need, lines, false
	r.add()
	r.box.Set("hidden", len(lines) == 0)
	r.box.Set("scrollTop", 0)
}

// Look records the lines that are in view now, and reports whether all have been seen as required. It
// is called again and again, and adds lines of a long text when the user comes near to the end of the
// present ones.
func (r *Reader) Look() bool {
	r.Fill()
	if left, _ := r.Left(); left == 0 {
		return true
	}
	r.Watch()
	left, _ := r.Left()
	return left == 0
}

// chunk is the number of lines that are added to the page at once. Many more would block the page.
const chunk = 1000

// Fill adds lines when the end of the present ones comes near to view.
func (r *Reader) Fill() {
	if len(r.rest) > 0 && r.box.Get("scrollTop").Number()+2*r.box.Get("clientHeight").Number()+400 >= r.box.Get("scrollHeight").Number() {
		r.add()
	}
}

// add adds the next lines, and states how many are left.
func (r *Reader) add() {
	if r.more {
		r.box.Get("lastElementChild").Call("remove")
	}
	n := min(chunk, len(r.rest))
	add(r.box, r.rest[:n])
	r.rest = r.rest[n:]
	if r.more = len(r.rest) > 0; r.more {
		r.box.Call("append", dom.Create("span", "⟨"+consent.Thousands(len(r.rest))+" more lines: scroll down⟩", "class", "line skip"))
	}
}

// rows returns the number of lines in the page.
func (r *Reader) rows() int {
	n := r.box.Get("childElementCount").Int()
	if r.more {
		n--
	}
	return n
}

// Watch records which lines are in view now. Only the part of the element that is in the window counts.
func (r *Reader) Watch() {
	box, rows := dom.Bounds(r.box).And(dom.Shown(r.box)), r.box.Get("children")
	row := func(i int) dom.Rect { return dom.Bounds(rows.At(i)) }
	n := r.rows()
	for i := sort.Search(n, func(i int) bool { return row(i).Bottom > box.Top+1 }); i < n; i++ {
		at := row(i)
		if at.Top >= box.Bottom-1 {
			return
		}
		// Up to 1.5 pixels are lost by rounding. Less than half a line of text does not count.
		h := at.Height()
		top, bottom := math.Max(at.Top, box.Top), math.Min(at.Bottom, box.Bottom)
		if h < consent.Least || bottom-top < consent.Least {
			continue
		}
		from, to := (top-at.Top)/h, (bottom-at.Top)/h
		if box.Top-at.Top <= 1.5 {
			from = 0
		}
		if at.Bottom-box.Bottom <= 1.5 {
			to = 1
		}
		r.See(i, from, to)
	}
}

// Next scrolls to the next unseen place, or to the end of the present lines.
func (r *Reader) Next() {
	line, at := r.Reading.Next()
	if line < 0 {
		return
	}
	if line >= r.rows() {
		r.box.Set("scrollTop", r.box.Get("scrollHeight"))
		return
	}
	row, box := dom.Bounds(r.box.Get("children").At(line)), dom.Bounds(r.box)
	r.box.Set("scrollTop", r.box.Get("scrollTop").Number()+consent.Scroll(at, row.Top, row.Bottom, box.Top, box.Bottom))
}
