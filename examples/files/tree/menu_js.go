package tree

import (
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
)

// Item is an action of the context menu.
type Item struct {
	Text, Key string                        // Key is shown beside Text, "" for none
	Fits      func([]fsaccess.Entry) bool   // whether the action fits the selected entries, which may be none
	Do        func(list []fsaccess.Entry)   // the action
	Names     func([]fsaccess.Entry) string // the text for a selection, nil for Text
}

type menu struct {
	box js.Value
	of  dom.Listeners
}

// menus sets up the context menu: by the right button, by the keyboard, by a long press, and by the
// button at the end of a row.
func (t *Tree) menus() {
	if old := dom.Element("tree-menu"); !old.IsNull() {
		old.Call("remove") // of a program before this one
	}
	m := dom.Create("div", "")
	t.menu.box = m
	m.Set("id", "tree-menu")
	m.Set("hidden", true)
	m.Call("setAttribute", "role", "menu")
	m.Call("setAttribute", "aria-label", "Actions")
	m.Call("setAttribute", "popover", "auto")
	t.box.Get("parentElement").Call("append", m) // inside of a landmark
	t.box.Call("addEventListener", "contextmenu", js.FuncOf(func(_ js.Value, args []js.Value) any {
		e := args[0]
		e.Call("preventDefault")
		at := t.box
		if el := e.Get("target").Call("closest", ".row"); !el.IsNull() {
			at = el
			if name := el.Get("dataset").Get("path").String(); !t.chosen[name] {
				t.move(t.index(name))
			}
		} else {
			t.chosen = map[string]bool{}
			t.draw()
		}
		t.showMenuAt(at, e.Get("clientX").Float(), e.Get("clientY").Float())
		return nil
	}))
	dom.OnKey(m, func(e js.Value) bool {
		list := dom.Each(m.Get("children"))
		at := 0
		for i, b := range list {
			if b.Equal(dom.Focused()) {
				at = i
			}
		}
		switch e.Get("key").String() {
		case "ArrowDown":
			at++
		case "ArrowUp":
			at += len(list) - 1
		case "Home":
			at = 0
		case "End":
			at = len(list) - 1
		case "Tab", "Escape":
			t.hideMenu()
			return true
		default:
			return false
		}
		list[at%len(list)].Call("focus")
		return true
	})
	m.Call("addEventListener", "toggle", js.FuncOf(func(_ js.Value, args []js.Value) any {
		m.Set("hidden", args[0].Get("newState").String() != "open")
		return nil
	}))
}

func (t *Tree) hideMenu() {
	t.menu.box.Call("hidePopover")
	t.menu.box.Set("hidden", true)
	t.box.Call("focus")
}

// showMenu shows the menu below a row.
func (t *Tree) showMenu(at js.Value) {
	r := at.Call("getBoundingClientRect")
	t.showMenuAt(at, r.Get("right").Float()-24, r.Get("top").Float()+rowHeight)
}

func (t *Tree) showMenuAt(_ js.Value, x, y float64) {
	m, chosen := t.menu.box, t.Chosen()
	m.Call("replaceChildren")
	t.menu.of.Release()
	for _, item := range t.Menu {
		if !item.Fits(chosen) {
			continue
		}
		text := item.Text
		if item.Names != nil {
			text = item.Names(chosen)
		}
		b := t.menu.of.Button(m, text, "", func() {
			t.hideMenu()
			item.Do(chosen)
		})
		b.Call("setAttribute", "role", "menuitem")
		b.Set("tabIndex", -1)
		if item.Key != "" {
			b.Call("append", dom.Create("kbd", item.Key))
		}
	}
	if m.Get("childElementCount").Int() == 0 {
		return
	}
	m.Set("hidden", false)
	m.Call("showPopover")
	size := m.Call("getBoundingClientRect")
	place := func(side string, at, length, room float64) {
		m.Get("style").Set(side, fmt.Sprintf("%.0fpx", max(4, min(at, room-length-4))))
	}
	place("left", x, size.Get("width").Float(), js.Global().Get("innerWidth").Float())
	place("top", y, size.Get("height").Float(), js.Global().Get("innerHeight").Float())
	m.Get("firstElementChild").Call("focus")
}

// drags lets the user drag rows onto folders, and onto the space below the rows, which is the top
// folder.
func (t *Tree) drags() {
	over := js.Null() // the row with the mark
	mark := func(el js.Value) {
		if over.Equal(el) {
			return
		}
		if !over.IsNull() {
			over.Get("classList").Call("remove", "over")
		}
		if over = el; !el.IsNull() {
			el.Get("classList").Call("add", "over")
		}
	}
	// target returns the folder under the pointer, with its element.
	target := func(e js.Value) (string, js.Value) {
		el := e.Get("target").Call("closest", ".row")
		if el.IsNull() {
			return ".", t.box
		}
		i := t.index(el.Get("dataset").Get("path").String())
		if i < 0 {
			return "", js.Null()
		}
		if t.rows[i].Dir {
			return t.rows[i].Path, el
		}
		return dirOf(t.rows[i].Path), el
	}
	listen := func(event string, do func(e js.Value)) {
		t.box.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any { do(args[0]); return nil }))
	}
	listen("dragstart", func(e js.Value) {
		el := e.Get("target")
		if !el.Get("closest").Truthy() || el.Call("closest", ".row").IsNull() {
			return
		}
		if name := el.Call("closest", ".row").Get("dataset").Get("path").String(); !t.chosen[name] {
			t.move(t.index(name))
		}
		t.dragged = t.Chosen()
		data := e.Get("dataTransfer")
		data.Set("effectAllowed", "copyMove")
		text := ""
		for _, d := range t.dragged {
			text += d.Path + "\n"
		}
		data.Call("setData", "text/plain", text)
	})
	listen("dragover", func(e js.Value) {
		if t.dragged == nil {
			return
		}
		to, el := target(e)
		if !mayTake(t.dragged, to) && !e.Get("ctrlKey").Bool() {
			mark(js.Null())
			return
		}
		mark(el)
		e.Call("preventDefault")
		e.Get("dataTransfer").Set("dropEffect", map[bool]string{true: "copy", false: "move"}[e.Get("ctrlKey").Bool()])
	})
	listen("dragleave", func(e js.Value) { mark(js.Null()) })
	listen("dragend", func(e js.Value) { mark(js.Null()); t.dragged = nil })
	listen("drop", func(e js.Value) {
		if t.dragged == nil {
			return
		}
		e.Call("preventDefault")
		list := t.dragged
		to, _ := target(e)
		mark(js.Null())
		t.dragged = nil
		if to != "" {
			go t.Take(list, to, !e.Get("ctrlKey").Bool())
		}
	})
}
