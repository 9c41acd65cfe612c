package dom

import "syscall/js"

// Rows are the elements of a list by key. The key contains everything that the element shows. A
// list that is shown again keeps the elements whose keys it still has, so an open part or the focus
// in them stays. A page that rebuilds all of them at each change makes the heap of its browser grow
// by tens of megabytes.
type Rows map[string]js.Value

// Show puts an element for each key into box, in the order of keys, and returns them by key. The
// keys must differ. Other children of box are the caller's, and stay behind the list.
func (r Rows) Show(box js.Value, keys []string, row func(i int) js.Value) Rows {
	now := make(Rows, len(keys))
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
