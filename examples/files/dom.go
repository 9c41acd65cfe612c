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

// on calls fn for each event, on a goroutine of its own: a callback must not wait. An
// element that stays needs no more; of one that goes away the listener is released.
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

// listeners are those of elements that go away together: until they are released, the
// program keeps them, and with them the elements.
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

// onKey calls fn for each key that is pressed; if it reports true, the key was its own.
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

// failed says what went wrong; a nil error is none.
func failed(err error) bool {
	if err == nil {
		return false
	}
	element("status").Set("className", "bad")
	element("status").Set("textContent", err.Error())
	return true
}

// showDiff puts a unified difference into an element, a line an element.
func showDiff(box js.Value, diff string) {
	lines, _ := consent.Diff(diff)
	showLines(box, lines)
}

// showLines puts lines into an element, each into one of its own. A number that stands for
// spaces looks like none of the text.
func showLines(box js.Value, lines []consent.Line) {
	box.Call("replaceChildren")
	addLines(box, lines)
	box.Set("hidden", len(lines) == 0)
}

// addLines puts further lines behind those that an element has.
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

// tabs makes a tab list work by mouse and keyboard.
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
			next.Call("click") // by which others hear of it too
			return true
		})
	}
}

// away is text for those who listen.
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

// await waits for a promise.
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
