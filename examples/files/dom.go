//go:build js && wasm

package main

import (
	"context"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/consent"
)

func document() js.Value          { return js.Global().Get("document") }
func element(id string) js.Value  { return document().Call("getElementById", id) }
func hide(id string, hidden bool) { element(id).Set("hidden", hidden) }
func enable(id string, on bool)   { element(id).Set("disabled", !on) }
func value(id string) string      { return element(id).Get("value").String() }

func create(tag, text string) js.Value {
	el := document().Call("createElement", tag)
	el.Set("textContent", text)
	return el
}

// on calls fn for each event, on a goroutine of its own, because a callback of the browser must not
// wait. It returns the listener. The caller releases it if the element is removed from the page.
func on(target js.Value, event string, fn func(event js.Value)) js.Func {
	listener := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if event == "submit" {
			args[0].Call("preventDefault")
		}
		go fn(args[0])
		return nil
	})
	target.Call("addEventListener", event, listener)
	return listener
}

// listeners are the listeners of elements that are removed together. Until release is called, the
// program keeps the listeners, and so the elements, in memory.
type listeners []js.Func

func (l *listeners) on(target js.Value, event string, fn func(event js.Value)) {
	*l = append(*l, on(target, event, fn))
}

func (l *listeners) release() {
	for _, fn := range *l {
		fn.Release()
	}
	*l = nil
}

// onKey calls fn for each keydown event. If fn reports true, the default action is prevented.
func onKey(target js.Value, fn func(event js.Value) bool) {
	target.Call("addEventListener", "keydown", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if fn(args[0]) {
			args[0].Call("preventDefault")
		}
		return nil
	}))
}

func each(list js.Value) []js.Value {
	out := make([]js.Value, list.Length())
	for i := range out {
		out[i] = list.Index(i)
	}
	return out
}

func status(text string) {
	element("status").Set("className", "")
	element("status").Set("textContent", text)
}

// failed shows the error in the status line, and reports whether there is one.
func failed(err error) bool {
	if err == nil {
		return false
	}
	element("status").Set("className", "bad")
	element("status").Set("textContent", err.Error())
	return true
}

// showDiff shows a unified diff in an element, with an element for each line.
func showDiff(box js.Value, diff string) {
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
		span := create("span", "")
		for _, p := range consent.Pieces(l.Text) {
			if p.Mark {
				mark := create("i", p.Text)
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

// tabs makes a tab list work with the mouse and the keyboard.
func tabs(selector string) {
	list := each(document().Call("querySelectorAll", selector))
	choose := func(i int) {
		for k, tab := range list {
			tab.Call("setAttribute", "aria-selected", fmt.Sprint(k == i))
			tab.Set("tabIndex", map[bool]int{true: 0, false: -1}[k == i])
			hide(tab.Call("getAttribute", "aria-controls").String(), k != i)
		}
	}
	for i, tab := range list {
		on(tab, "click", func(js.Value) { choose(i) })
		onKey(tab, func(e js.Value) bool {
			step := map[string]int{"ArrowRight": 1, "ArrowLeft": len(list) - 1}[e.Get("key").String()]
			if step == 0 {
				return false
			}
			next := list[(i+step)%len(list)]
			next.Call("focus")
			next.Call("click") // other click listeners of the tab run as well
			return true
		})
	}
}

// away returns an element with text for screen readers only.
func away(text string) js.Value {
	el := create("span", text)
	el.Set("className", "away")
	return el
}

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// await waits until a promise settles or ctx ends. It returns the value of the promise, its
// rejection as a js.Error, or the cause of ctx.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type settled struct {
		v   js.Value
		err error
	}
	done := make(chan settled, 1)
	var well, badly js.Func
	settle := func(s settled) {
		well.Release()
		badly.Release()
		done <- s
	}
	well = js.FuncOf(func(_ js.Value, args []js.Value) any { settle(settled{v: args[0]}); return nil })
	badly = js.FuncOf(func(_ js.Value, args []js.Value) any {
		settle(settled{err: js.Error{Value: args[0]}})
		return nil
	})
	promise.Call("then", well, badly)
	select {
	case s := <-done:
		return s.v, s.err
	case <-ctx.Done():
		return js.Value{}, context.Cause(ctx)
	}
}
