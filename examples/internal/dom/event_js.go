package dom

import (
	"fmt"
	"sync"
	"syscall/js"
)

// On calls fn for each event, on a goroutine of its own, because a callback of the browser must not
// wait. It prevents a form's own submission. It returns the listener, which the caller releases if
// the element is removed from the page.
func On(target js.Value, event string, fn func(event js.Value)) js.Func {
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

// OnClick calls do at each click on the element with the id.
func OnClick(id string, do func()) {
	On(Element(id), "click", func(js.Value) { do() })
}

// Locked calls do at each click on the element with the id, with lock held, and shows its error.
func Locked(lock sync.Locker, id string, do func() error) {
	OnClick(id, func() {
		lock.Lock()
		defer lock.Unlock()
		Failed(do())
	})
}

// OnKey calls fn for each keydown event, within the event. If fn returns true, the default action is
// prevented.
func OnKey(target js.Value, fn func(event js.Value) bool) {
	target.Call("addEventListener", "keydown", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if fn(args[0]) {
			args[0].Call("preventDefault")
		}
		return nil
	}))
}

// Listeners are the listeners of elements that are removed together. Until Release is called, the
// program keeps the listeners, and so the elements, in memory.
type Listeners []js.Func

// On calls fn for each event, like the function On.
func (l *Listeners) On(target js.Value, event string, fn func(event js.Value)) {
	*l = append(*l, On(target, event, fn))
}

// Button appends a new button to an element, and returns it. A click on it calls do.
func (l *Listeners) Button(parent js.Value, text, class string, do func()) js.Value {
	b := Button(text, class)
	l.On(b, "click", func(js.Value) { do() })
	parent.Call("append", b)
	return b
}

// Release releases the listeners. Their elements must be out of the page, or get no more events.
func (l *Listeners) Release() {
	for _, fn := range *l {
		fn.Release()
	}
	*l = nil
}

// Closed returns a channel that receives one value when a dialogue closes. The caller has not shown
// it yet.
func Closed(dialog js.Value) <-chan struct{} {
	closed := make(chan struct{}, 1)
	var done js.Func
	done = js.FuncOf(func(js.Value, []js.Value) any {
		done.Release()
		closed <- struct{}{}
		return nil
	})
	dialog.Set("returnValue", "")
	dialog.Call("addEventListener", "close", done, map[string]any{"once": true})
	return closed
}

// Tabs makes the tabs that match a CSS selector work with the mouse and the arrow keys. Each one
// shows the panel that its aria-controls names, and hides the others.
func Tabs(selector string) {
	list := Each(Document().Call("querySelectorAll", selector))
	choose := func(i int) {
		for k, tab := range list {
			tab.Call("setAttribute", "aria-selected", fmt.Sprint(k == i))
			tab.Set("tabIndex", map[bool]int{true: 0, false: -1}[k == i])
			Hide(tab.Call("getAttribute", "aria-controls").String(), k != i)
		}
	}
	for i, tab := range list {
		On(tab, "click", func(js.Value) { choose(i) })
		OnKey(tab, func(e js.Value) bool {
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
