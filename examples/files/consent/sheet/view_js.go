package sheet

import (
	"math"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/consent"
	"github.com/bailey-go/bailey/examples/internal/dom"
)

// view checks whether the question of consent is in view: its title, its effects and its diff. Any
// answer but Don't allow counts only then. The page's own layout is not trusted, because a small
// window, a zoom, another element or a style can hide any of them.
//
// In Chromium, IntersectionObserver v2 reports whether something covers an element or makes it
// transparent, up to 100 ms late. In every browser the page also checks for itself: the place of each
// part, the topmost element there, and the styles up to the root. The topmost element is asked for at
// hundreds of points, and a question can stay for long. So a look takes one row of points in settle,
// and the next look takes others. It takes all points at the time of the answer, where an answer
// begins to count, as long as something is unseen or hidden, and once in settle looks.
type view struct {
	sheet    js.Value // a style sheet with which elementFromPoint also finds elements that take no clicks
	observer js.Value // null without IntersectionObserver v2
	hidden   map[string]bool
	why      string  // the reason why not everything is in view, "" if it is
	unseen   bool    // an effect or a change has not been in view yet
	turn     int     // counts the looks, for the rows of points
	list     *Reader // of the effects
	diff     *Reader
	calm     int // looks since everything is in view
	changed  chan struct{}
}

// parts are the ids of the elements that must be in view, with the least height of each in CSS
// pixels: a line of text is at least that high.
var parts = []struct {
	id   string
	text bool // all of its text must be in view, other parts scroll
	min  float64
}{{"ask-title", true, 14}, {"ask-sum", true, 10}, {"ask-list", false, 14}, {"ask-diff", false, 28}}

func (v *view) listen() {
	v.changed = make(chan struct{}, 1)
	v.list, v.diff = NewReader(dom.Element("ask-list")), NewReader(dom.Element("ask-diff"))
	v.sheet = js.Global().Get("CSSStyleSheet").New()
	v.sheet.Call("replaceSync", "*, ::before, ::after { pointer-events: auto !important; }")
	v.sheet.Set("disabled", true)
	dom.Document().Get("adoptedStyleSheets").Call("push", v.sheet)
	again := js.FuncOf(func(js.Value, []js.Value) any { v.wake(); return nil })
	js.Global().Call("addEventListener", "resize", again)
	dom.Document().Call("addEventListener", "visibilitychange", again)
	dom.Document().Call("addEventListener", "scroll", again, true)
	if visual := js.Global().Get("visualViewport"); visual.Truthy() {
		visual.Call("addEventListener", "resize", again)
		visual.Call("addEventListener", "scroll", again)
	}
	v.observer = js.Null()
	entry := js.Global().Get("IntersectionObserverEntry")
	if entry.Truthy() && entry.Get("prototype").Call("hasOwnProperty", "isVisible").Bool() {
		v.observer = js.Global().Get("IntersectionObserver").New(js.FuncOf(func(_ js.Value, args []js.Value) any {
			for _, e := range dom.Each(args[0]) {
				v.hidden[e.Get("target").Get("id").String()] = !e.Get("isVisible").Bool()
			}
			v.wake()
			return nil
		}), map[string]any{"trackVisibility": true, "delay": 100, "threshold": []any{0, 0.25, 0.5, 0.75, 1}})
	}
}

// wake triggers a look at the question now.
func (v *view) wake() {
	select {
	case v.changed <- struct{}{}:
	default:
	}
}

// begin watches a question that has just been shown. A part counts as hidden until the browser
// reports on it.
func (v *view) begin() {
	v.calm, v.hidden, v.unseen = 0, map[string]bool{}, true
	if v.observer.IsNull() {
		return
	}
	for _, p := range parts {
		if el := dom.Element(p.id); !el.Get("hidden").Bool() {
			v.hidden[p.id] = true
			v.observer.Call("observe", el)
		}
	}
}

func (v *view) end() {
	if !v.observer.IsNull() {
		v.observer.Call("disconnect")
	}
}

// The reasons why a question cannot be answered yet.
const (
	tooSmall = "Make the window larger or zoom out: you can allow this only while all of the question is in view."
	covered  = "Something lies over this question: you can allow this only while all of it is in view."
)

// look returns the reason why the question is not in view, "" if it is. With all it takes all points.
func (v *view) look(all bool) string {
	every := settle
	if all || v.unseen || v.why != "" {
		every = 1
	}
	if v.why = v.judge(every); v.why != "" {
		v.calm = 0
	}
	return v.why
}

func (v *view) judge(every int) string {
	if dom.Document().Get("visibilityState").String() != "visible" {
		return "This tab is in the background."
	}
	if !js.Global().Get("top").Equal(js.Global().Get("self")) && v.observer.IsNull() {
		return "This page is shown inside of another, which may cover it."
	}
	type box struct {
		el js.Value
		rect
	}
	var there []box
	for _, p := range parts {
		el := dom.Element(p.id)
		if el.Get("hidden").Bool() && !p.text && el.Get("childElementCount").Int() == 0 {
			continue // this question has no such part
		}
		r := rectOf(el)
		if r.height() < p.min || r.width() < 40 {
			return tooSmall
		}
		if p.text && !inner(el).within(r) {
			return tooSmall
		}
		if !r.within(shownOf(el)) {
			return tooSmall
		}
		there = append(there, box{el, r})
	}
	for id, hidden := range v.hidden {
		if hidden && !dom.Element(id).Get("hidden").Bool() {
			return covered
		}
	}
	v.turn++
	v.sheet.Set("disabled", false)
	defer v.sheet.Set("disabled", true)
	for _, b := range there {
		if !painted(b.el) || !onTop(b.el, b.rect, v.turn%every, every) {
			return covered
		}
	}
	return ""
}

// rect is a rectangle in CSS pixels of the layout viewport.
type rect struct{ left, top, right, bottom float64 }

func (r rect) width() float64  { return r.right - r.left }
func (r rect) height() float64 { return r.bottom - r.top }

// within reports whether r lies in o, apart from rounding.
func (r rect) within(o rect) bool {
	const eps = 1.5
	return r.left >= o.left-eps && r.top >= o.top-eps && r.right <= o.right+eps && r.bottom <= o.bottom+eps
}

func (r rect) and(o rect) rect {
	return rect{math.Max(r.left, o.left), math.Max(r.top, o.top), math.Min(r.right, o.right), math.Min(r.bottom, o.bottom)}
}

func toRect(v js.Value) rect {
	return rect{v.Get("left").Float(), v.Get("top").Float(), v.Get("right").Float(), v.Get("bottom").Float()}
}

func rectOf(el js.Value) rect { return toRect(el.Call("getBoundingClientRect")) }

// inner returns the rectangle in which the text of an element is painted. A style can move it out
// of the element's box.
func inner(el js.Value) rect {
	r := dom.Document().Call("createRange")
	r.Call("selectNodeContents", el)
	box := toRect(r.Call("getBoundingClientRect"))
	if box.height() < 8 || box.width() < 8 { // too small to be read
		return rect{math.Inf(-1), 0, 0, 0}
	}
	return box
}

// shownOf returns the part of the window in which an element can be seen, after clipping by the
// boxes around it.
func shownOf(el js.Value) rect {
	root := dom.Document().Get("documentElement")
	out := rect{0, 0, root.Get("clientWidth").Float(), root.Get("clientHeight").Float()}
	if visual := js.Global().Get("visualViewport"); visual.Truthy() { // after a zoom with two fingers
		x, y := visual.Get("offsetLeft").Float(), visual.Get("offsetTop").Float()
		out = out.and(rect{x, y, x + visual.Get("width").Float(), y + visual.Get("height").Float()})
	}
	for at := el.Get("parentElement"); !at.IsNull() && !at.Equal(dom.Document().Get("body")) && !at.Equal(root); at = at.Get("parentElement") {
		s := js.Global().Call("getComputedStyle", at)
		if s.Get("overflow").String() != "visible" && s.Get("display").String() != "contents" {
			out = out.and(rectOf(at))
		}
		if s.Get("position").String() == "fixed" {
			break
		}
	}
	return out
}

// painted reports whether no style up to the root hides an element.
func painted(el js.Value) bool {
	plain := map[string]string{"visibility": "visible", "filter": "none", "clipPath": "none", "clip": "auto", "maskImage": "none", "webkitMaskImage": "none",
		"mixBlendMode": "normal", "transform": "none", "scale": "none", "rotate": "none", "perspective": "none", "contentVisibility": "visible"}
	ground := ""
	for at := el; !at.IsNull(); at = at.Get("parentElement") {
		s := js.Global().Call("getComputedStyle", at)
		for name, want := range plain {
			if got := s.Get(name); got.Type() == js.TypeString && got.String() != want {
				return false
			}
		}
		if s.Get("opacity").String() != "1" || s.Get("display").String() == "none" {
			return false
		}
		if zoom := s.Get("zoom"); zoom.Type() == js.TypeString && strings.HasPrefix(zoom.String(), "0.") {
			return false
		}
		if g := s.Get("backgroundColor").String(); ground == "" && consent.Opaque(g) {
			ground = g
		}
	}
	s := js.Global().Call("getComputedStyle", el)
	for _, name := range []string{"color", "webkitTextFillColor"} {
		if c := s.Get(name); c.Type() == js.TypeString && (!consent.Opaque(c.String()) || c.String() == ground) {
			return false
		}
	}
	return true
}

// onTop reports whether a grid of points over an element hits that element everywhere. The grid is
// finer than a line of text. Of its rows it takes the first and then one of every.
func onTop(el js.Value, r rect, first, every int) bool {
	const edge, down = 3, 9
	rows := math.Max(2, math.Ceil(r.height()/down))
	for i := float64(first); i <= rows; i += float64(every) {
		y := r.top + edge + i/rows*(r.height()-2*edge)
		for j := 0.0; j <= 6; j++ {
			x := r.left + edge + j/6*(r.width()-2*edge)
			if at := dom.Document().Call("elementFromPoint", x, y); at.IsNull() || !el.Call("contains", at).Bool() {
				return false
			}
		}
	}
	return true
}

// seen marks the effects and the changes that are in view now. It returns a text that counts the
// ones not seen yet, "" if there are none. The caller has checked that the boxes around them are in
// view.
func (v *view) seen() string {
	if !v.unseen {
		return ""
	}
	v.list.see()
	if left, of := v.list.Left(); left > 0 {
		return "Scroll down: not seen yet: " + consent.Count(left, "effect") + " of " + consent.Thousands(of) + "."
	}
	v.diff.see()
	if left, of := v.diff.Left(); left > 0 {
		return "Scroll on: not seen yet: " + consent.Count(left, "change") + " of " + consent.Thousands(of) + "."
	}
	v.unseen = false
	return ""
}

// next scrolls to the next unseen place, or to the end of the present lines.
func (v *view) next() {
	if left, _ := v.list.Left(); left > 0 {
		v.list.Next()
	} else {
		v.diff.Next()
	}
}
