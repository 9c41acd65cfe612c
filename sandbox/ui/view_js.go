package ui

import (
	"errors"
	"math"
	"strings"

	"github.com/bailey-go/bailey/internal/consent"
	"github.com/bailey-go/bailey/internal/consent/inview"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
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
	of       *sheet
	points   dom.Node // a style sheet with which elementFromPoint also finds elements that take no clicks
	observer dom.Node // not OK without IntersectionObserver v2
	hidden   map[string]bool
	why      string         // the reason why not everything is in view, "" if it is
	unseen   bool           // an effect or a change has not been in view yet
	turn     int            // counts the looks, for the rows of points
	list     *inview.Reader // of the effects
	diff     *inview.Reader
	calm     int // looks since everything is in view
	changed  chan struct{}
}

// watched are the ids of the elements that must be in view, with the least height of each in CSS
// pixels: a line of text is at least that high.
var watched = []struct {
	id   string
	text bool // all of its text must be in view, other parts scroll
	min  float64
}{{"ask-title", true, 14}, {"ask-sum", true, 10}, {"ask-list", false, 14}, {"ask-diff", false, 28}}

func (v *view) listen(of *sheet) error {
	v.of, v.changed = of, make(chan struct{}, 1)
	css, err := jsx.NewGlobal("CSSStyleSheet")
	if err != nil {
		return err
	}
	v.points = dom.Of(css)
	v.points.Call("replaceSync", "*, ::before, ::after { pointer-events: auto !important; }")
	v.points.Set("disabled", true)
	on := func(target dom.Node, event string) {
		_, failed := of.scope.Listen(target.Value(), event, func(jsx.Value) { v.wake() }, jsx.ListenOptions{Capture: true})
		err = errors.Join(err, failed)
	}
	on(dom.Global(), "resize")
	on(dom.Document(), "visibilitychange")
	on(dom.Document(), "scroll")
	on(of.root, "scroll") // which does not leave the shadow tree
	if visual := dom.Global().Get("visualViewport"); visual.OK() {
		on(visual, "resize")
		on(visual, "scroll")
	}
	if dom.Global().Get("IntersectionObserverEntry").Get("prototype").Call("hasOwnProperty", "isVisible").True() {
		report, _, failed := of.scope.Func(func(args []jsx.Value) {
			for _, e := range dom.Of(args[0]).Each() {
				v.hidden[e.Get("target").Get("id").Text()] = !e.Get("isVisible").True()
			}
			v.wake()
		})
		observer, failed2 := jsx.NewGlobal("IntersectionObserver", report, map[string]any{"trackVisibility": true, "delay": 100, "threshold": []any{0, 0.25, 0.5, 0.75, 1}})
		v.observer = dom.Of(observer)
		err = errors.Join(err, failed, failed2)
	}
	return err
}

// roots returns the shadow tree of the sheet and all trees around it, up to the document.
func (v *view) roots() (list []dom.Node) {
	for at := v.of.root; at.OK(); at = at.Get("host").Call("getRootNode") {
		list = append(list, at)
	}
	return list
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
	for _, root := range v.roots() {
		root.Get("adoptedStyleSheets").Call("push", v.points)
	}
	if !v.observer.OK() {
		return
	}
	for _, p := range watched {
		if el := v.of.part(p.id); !el.Get("hidden").True() {
			v.hidden[p.id] = true
			v.observer.Call("observe", el)
		}
	}
}

func (v *view) end() {
	if v.observer.OK() {
		v.observer.Call("disconnect")
	}
	for _, root := range v.roots() {
		sheets := root.Get("adoptedStyleSheets")
		for i, s := range sheets.Each() {
			if s.Is(v.points) {
				sheets.Call("splice", i, 1)
				break
			}
		}
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
	if dom.Document().Get("visibilityState").Text() != "visible" {
		return "This tab is in the background."
	}
	if !dom.Global().Get("top").Is(dom.Global().Get("self")) && !v.observer.OK() {
		return "This page is shown inside of another, which may cover it."
	}
	type box struct {
		el dom.Node
		at dom.Rect
	}
	var there []box
	for _, p := range watched {
		el := v.of.part(p.id)
		if el.Get("hidden").True() && !p.text && el.Get("childElementCount").Int() == 0 {
			continue // this question has no such part
		}
		r := dom.Bounds(el)
		if r.Height() < p.min || r.Width() < 40 {
			return tooSmall
		}
		if p.text && !inner(el).Within(r) {
			return tooSmall
		}
		if !r.Within(dom.Shown(el)) {
			return tooSmall
		}
		there = append(there, box{el, r})
	}
	for id, hidden := range v.hidden {
		if hidden && !v.of.part(id).Get("hidden").True() {
			return covered
		}
	}
	v.turn++
	v.points.Set("disabled", false)
	defer v.points.Set("disabled", true)
	for _, b := range there {
		if !painted(b.el) || !onTop(b.el, b.at, v.turn%every, every) {
			return covered
		}
	}
	return ""
}

// inner returns the rectangle in which the text of an element is painted. A style can move it out
// of the element's box.
func inner(el dom.Node) dom.Rect {
	r := dom.Document().Call("createRange")
	r.Call("selectNodeContents", el)
	box := dom.Bounds(r)
	if box.Height() < 8 || box.Width() < 8 { // too small to be read
		return dom.Rect{Left: math.Inf(-1)}
	}
	return box
}

// painted reports whether no style up to the root hides an element.
func painted(el dom.Node) bool {
	plain := map[string]string{"visibility": "visible", "filter": "none", "clipPath": "none", "clip": "auto", "maskImage": "none", "webkitMaskImage": "none",
		"mixBlendMode": "normal", "transform": "none", "scale": "none", "rotate": "none", "perspective": "none", "contentVisibility": "visible"}
	ground := ""
	for at := el; at.OK(); at = dom.Above(at) {
		s := dom.Style(at)
		for name, want := range plain {
			if got := s.Get(name); got.IsText() && got.Text() != want {
				return false
			}
		}
		if s.Get("opacity").Text() != "1" || s.Get("display").Text() == "none" {
			return false
		}
		if strings.HasPrefix(s.Get("zoom").Text(), "0.") {
			return false
		}
		if g := s.Get("backgroundColor").Text(); ground == "" && consent.Opaque(g) {
			ground = g
		}
	}
	s := dom.Style(el)
	for _, name := range []string{"color", "webkitTextFillColor"} {
		if c := s.Get(name); c.IsText() && (!consent.Opaque(c.Text()) || c.Text() == ground) {
			return false
		}
	}
	return true
}

// onTop reports whether a grid of points over an element hits that element everywhere. The grid is
// finer than a line of text. Of its rows it takes the first and then one of every.
func onTop(el dom.Node, r dom.Rect, first, every int) bool {
	root := el.Call("getRootNode") // the document would tell no more than the host of the shadow tree
	const edge, down = 3, 9
	rows := math.Max(2, math.Ceil(r.Height()/down))
	for i := float64(first); i <= rows; i += float64(every) {
		y := r.Top + edge + i/rows*(r.Height()-2*edge)
		for j := 0.0; j <= 6; j++ {
			x := r.Left + edge + j/6*(r.Width()-2*edge)
			if at := root.Call("elementFromPoint", x, y); !at.OK() || !el.Call("contains", at).True() {
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
	v.list.Watch()
	if left, of := v.list.Left(); left > 0 {
		return "Scroll down: not seen yet: " + consent.Count(left, "effect") + " of " + consent.Thousands(of) + "."
	}
	v.diff.Watch()
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
