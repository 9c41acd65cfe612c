package ui

import (
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/internal/attack"
	"github.com/bailey-go/bailey/internal/dom"
	"github.com/bailey-go/bailey/internal/jsx"
	"github.com/bailey-go/bailey/internal/until"
	"github.com/bailey-go/bailey/sandbox/policy"
)

// TestAttackSheetOutOfView: an answer that allows something, or that lasts, does not count while a page
// takes a part of the question out of view. The end-to-end tests of examples/files have the long table. These
// are the attacks that a shadow tree makes different.
func TestAttackSheetOutOfView(t *testing.T) {
	table := attack.Start(t, "view")
	p := newPage(t, Options{})
	done := p.asks(t.Context(), writesFile("notes/a.md", 12))
	const over = "position: fixed; z-index: 99; background: white; inset: 0;"
	inTree := func(css string) func(t *testing.T) {
		return func(t *testing.T) {
			sheet, err := jsx.NewGlobal("CSSStyleSheet")
			if err != nil {
				t.Fatal(err)
			}
			dom.Of(sheet).Call("replaceSync", css)
			p.impl.root.Get("adoptedStyleSheets").Call("push", sheet)
			t.Cleanup(func() { dom.Of(sheet).Call("replaceSync", "") })
		}
	}
	cover := func(parent dom.Node, css string) func(t *testing.T) {
		return func(t *testing.T) {
			el := dom.Create("div", "Nothing will happen")
			el.Set("style", css)
			parent.Call("append", el)
			t.Cleanup(func() { el.Call("remove") })
		}
	}
	style := func(css string) func(t *testing.T) {
		return func(t *testing.T) { put(t, "style", css) }
	}
	body := dom.Document().Get("body")
	// moved puts the sheet's element into the shadow tree of another one.
	moved := func(css string) func(t *testing.T) {
		return func(t *testing.T) {
			outer := put(t, "div", "")
			root := outer.Call("attachShadow", map[string]any{"mode": "open"})
			box := dom.Create("div", "")
			box.Set("style", css)
			root.Call("append", box)
			box.Call("append", p.host)
			t.Cleanup(func() { body.Call("append", p.host) })
		}
	}
	for _, row := range []struct {
		name string
		how  func(t *testing.T)
	}{
		{"an element over everything", cover(body, over)},
		{"one that takes no clicks", cover(body, over+"pointer-events: none;")},
		{"one in the sheet's own tree", cover(p.impl.root, over)},
		{"one in the sheet's own tree that takes no clicks", cover(p.impl.root, over+"pointer-events: none;")},
		{"one over the difference", func(t *testing.T) {
			r := dom.Bounds(p.part("ask-diff"))
			el := dom.Create("div", "")
			el.Set("style", "position: fixed; z-index: 99; background: white;")
			for name, px := range map[string]float64{"left": r.Left, "top": r.Top + 20, "width": r.Width(), "height": 24} {
				el.Get("style").Call("setProperty", name, fmt.Sprintf("%vpx", px))
			}
			body.Call("append", el)
			t.Cleanup(func() { el.Call("remove") })
		}},
		{"a modal dialogue", func(t *testing.T) { put(t, "dialog", "Hello").Call("showModal") }},
		{"a pseudo-element of the element", style("section::after { content: ''; " + over + " }")},
		{"an element that is transparent", style("section { opacity: .03 }")},
		{"a page that is transparent", style("body { opacity: .5 }")},
		{"a filter of the page", style("html { filter: opacity(.02) }")},
		{"an element beside the window", style("section { left: 5000px !important }")},
		{"an element of 30 pixels", style("section { max-height: 30px !important; min-height: 0 !important }")},
		{"an element that is scaled", style("section { scale: .04 }")},
		{"a clip of the element", style("section { clip-path: inset(0 0 90% 0) }")},
		{"a text in the colour of its ground", style("section { --bailey-ask-text: white; --bailey-ask-panel: white }")},
		{"a transparent text", style("section { --bailey-ask-text: transparent }")},
		{"a title that is not painted, by a style in the tree", inTree("#ask-title { visibility: hidden }")},
		{"effects that are clipped, by a style in the tree", inTree("#ask-list { height: 3px !important; min-height: 0 !important; flex: none !important }")},
		{"an element in another tree that is transparent", moved("opacity: .02")},
		{"an element in another tree that is not shown", moved("visibility: hidden; content-visibility: hidden")},
	} {
		t.Run(row.name, func(t *testing.T) {
			p.t = t
			p.answerable() // so nothing else stops the answer
			row.how(t)
			p.blind()
			until.Turns(5)
			table.Try(row.name, len(done) > 0)
		})
		if p.t = t; len(done) > 0 || t.Failed() {
			return
		}
	}
	// The content of the page's element is not shown, so it hides nothing.
	cover(p.host, over)(t)
	p.answerable()
	if err := p.within("ask-title"); err != nil {
		t.Error(err)
	}
	// The control: with a browser that does not tell the truth, the same attack succeeds.
	lie(t)
	cover(body, over)(t)
	p.answerable()
	p.part("once").Call("click")
	until.True(t, "the answer of the control counts", func() bool { return len(done) > 0 })
	table.Off("an element over everything", true)
	p.gets(done, policy.AnswerOnce)
}

// lie lets the page's own functions tell that the sheet is topmost everywhere.
func lie(t *testing.T) {
	t.Helper()
	s := jsx.NewScope(jsx.ScopeOptions{})
	t.Cleanup(func() { _ = s.Close() })
	replace := func(object dom.Node, name string, fn func([]jsx.Value) any) {
		was := object.Get(name)
		f, _, err := s.Function(fn)
		if err != nil {
			t.Fatal(err)
		}
		object.Set(name, f)
		t.Cleanup(func() { object.Set(name, was) })
	}
	body := dom.Document().Get("body").Value()
	replace(dom.Global().Get("ShadowRoot").Get("prototype"), "elementFromPoint", func([]jsx.Value) any { return body })
	replace(dom.Global().Get("Node").Get("prototype"), "contains", func([]jsx.Value) any { return true })
	if entry := dom.Global().Get("IntersectionObserverEntry").Get("prototype"); entry.Call("hasOwnProperty", "isVisible").True() {
		object := dom.Global().Get("Object")
		was := object.Call("getOwnPropertyDescriptor", entry, "isVisible")
		object.Call("defineProperty", entry, "isVisible", map[string]any{"value": true, "configurable": true})
		t.Cleanup(func() { object.Call("defineProperty", entry, "isVisible", was) })
	}
}
