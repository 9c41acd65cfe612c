//go:build js && wasm

package main

import "syscall/js"

// rows are a list's elements, each by a key that tells all it says. A list that is shown
// anew keeps those it had: what is open in them, or has the focus, stays, and a page that
// makes all of them again for each change grows its browser's heap by tens of megabytes.
type rows map[string]js.Value

// show puts a row for each key into the element, in their order, and returns them by key.
// What else is there is the caller's, and stays behind them. Keys are all different.
func (r rows) show(box js.Value, keys []string, row func(i int) js.Value) rows {
	now := make(rows, len(keys))
	for i, key := range keys {
		e, ok := r[key]
		if !ok {
			e = row(i)
		}
		now[key] = e
	}
	for key, e := range r {
		if _, ok := now[key]; !ok {
			e.Call("remove")
		}
	}
	next := box.Get("firstElementChild")
	for _, key := range keys {
		if e := now[key]; e.Equal(next) {
			next = next.Get("nextElementSibling")
		} else {
			box.Call("insertBefore", e, next)
		}
	}
	return now
}
