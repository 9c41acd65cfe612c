package dom

import "math"

// Rect is a rectangle in CSS pixels of the layout viewport.
type Rect struct{ Left, Top, Right, Bottom float64 }

// Width returns the width.
func (r Rect) Width() float64 { return r.Right - r.Left }

// Height returns the height.
func (r Rect) Height() float64 { return r.Bottom - r.Top }

// Within reports whether r lies in o, apart from rounding.
func (r Rect) Within(o Rect) bool {
	const eps = 1.5
	return r.Left >= o.Left-eps && r.Top >= o.Top-eps && r.Right <= o.Right+eps && r.Bottom <= o.Bottom+eps
}

// And returns the common part of r and o.
func (r Rect) And(o Rect) Rect {
	return Rect{math.Max(r.Left, o.Left), math.Max(r.Top, o.Top), math.Min(r.Right, o.Right), math.Min(r.Bottom, o.Bottom)}
}

// Bounds returns the bounding rectangle of an element or a range. It is the zero Rect, which has no
// height, if the page does not tell.
func Bounds(n Node) Rect {
	v := n.Call("getBoundingClientRect")
	r := Rect{v.Get("left").Number(), v.Get("top").Number(), v.Get("right").Number(), v.Get("bottom").Number()}
	for _, f := range []float64{r.Left, r.Top, r.Right, r.Bottom} {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Rect{}
		}
	}
	return r
}

// Above returns the element in which an element is painted: its slot, its parent, or the host of its
// shadow tree. It is not OK for the root of the document.
func Above(n Node) Node {
	if slot := n.Get("assignedSlot"); slot.OK() {
		return slot
	}
	if parent := n.Get("parentElement"); parent.OK() {
		return parent
	}
	return n.Call("getRootNode").Get("host")
}

// Shown returns the part of the window in which an element can be seen, after clipping by the boxes
// around it.
func Shown(n Node) Rect {
	root, body := Document().Get("documentElement"), Document().Get("body")
	out := Rect{0, 0, root.Get("clientWidth").Number(), root.Get("clientHeight").Number()}
	if visual := Global().Get("visualViewport"); visual.OK() { // after a zoom with two fingers
		x, y := visual.Get("offsetLeft").Number(), visual.Get("offsetTop").Number()
		out = out.And(Rect{x, y, x + visual.Get("width").Number(), y + visual.Get("height").Number()})
	}
	for at := Above(n); at.OK() && !at.Is(body) && !at.Is(root); at = Above(at) {
		s := Style(at)
		if s.Get("overflow").Text() != "visible" && s.Get("display").Text() != "contents" {
			out = out.And(Bounds(at))
		}
		if s.Get("position").Text() == "fixed" {
			break
		}
	}
	return out
}

// Style returns the computed style of an element.
func Style(n Node) Node { return Global().Call("getComputedStyle", n) }
