//go:build js && wasm

package main

import (
	"syscall/js"
	"time"
)

// asking is what a dialogue shows. What closes it otherwise, such as Escape, is no answer.
type asking struct {
	title, text  string
	label, value string     // of a field, if label is there
	body         []js.Value // more to see
	answers      []string   // buttons; the last is the one meant
	stops        bool       // the last takes something away
}

// ask shows a dialogue and waits for the answer. The browser gives the focus back.
func ask(q asking) (answer, text string) {
	box, field := element("dialog"), element("dialog-field")
	element("dialog-title").Set("textContent", q.title)
	element("dialog-text").Set("textContent", q.text)
	hide("dialog-text", q.text == "")
	hide("dialog-label", q.label == "")
	element("dialog-name").Set("textContent", q.label)
	field.Set("value", q.value)
	body := element("dialog-body")
	body.Call("replaceChildren")
	for _, v := range q.body {
		body.Call("append", v)
	}
	menu := element("dialog-answers")
	menu.Call("replaceChildren")
	var focus js.Value
	var done []js.Func
	for i, text := range q.answers {
		b := create("button", text)
		b.Set("type", "button")
		if i == len(q.answers)-1 {
			b.Set("type", "submit") // also by Enter in the field
			b.Set("className", map[bool]string{true: "stop", false: "primary"}[q.stops])
			focus = b
		}
		fn := js.FuncOf(func(_ js.Value, args []js.Value) any {
			args[0].Call("preventDefault")
			box.Call("close", text)
			return nil
		})
		done = append(done, fn)
		b.Call("addEventListener", "click", fn)
		menu.Call("append", b)
	}
	closed := make(chan struct{}, 1)
	end := js.FuncOf(func(js.Value, []js.Value) any { closed <- struct{}{}; return nil })
	defer func() {
		end.Release()
		for _, fn := range done {
			fn.Release()
		}
	}()
	box.Set("returnValue", "")
	box.Call("addEventListener", "close", end, map[string]any{"once": true})
	box.Call("showModal")
	if q.label != "" {
		focus = field
		field.Call("select")
	}
	if focus.Truthy() {
		focus.Call("focus")
	}
	<-closed
	body.Call("replaceChildren")
	return box.Get("returnValue").String(), field.Get("value").String()
}

// option is a row of a list to choose one from, checked if it is the first.
func option(list js.Value, name, id, text, note string) {
	row, input, label := create("label", ""), create("input", ""), create("span", text)
	input.Set("type", "radio")
	input.Set("name", name)
	input.Set("value", id)
	input.Set("checked", list.Get("childElementCount").Int() == 0)
	row.Set("className", "option")
	row.Call("append", input, label, create("small", note))
	list.Call("append", row)
}

// chosenOf is the id of the row that was chosen.
func chosenOf(list js.Value) string {
	in := list.Call("querySelector", "input:checked")
	if in.IsNull() {
		return ""
	}
	return in.Get("value").String()
}

// button adds a button to a row.
func (l *listeners) button(row js.Value, text, class string, do func()) js.Value {
	b := create("button", text)
	b.Set("type", "button")
	b.Set("className", class)
	l.on(b, "click", func(js.Value) { do() })
	row.Call("append", b)
	return b
}

// files are those that an input of the page has; it is emptied, so that the same may be chosen again.
func files(id string) []js.Value {
	list := each(js.Global().Get("Array").Call("from", element(id).Get("files")))
	element(id).Set("value", "")
	return list
}

// toast says something for a moment, and in the line of state for longer.
func toast(text string) {
	status(text)
	t := create("p", text)
	element("toasts").Call("append", t)
	time.AfterFunc(6*time.Second, func() { t.Call("remove") })
}
