//go:build js && wasm

package main

import (
	"syscall/js"
	"time"
)

// asking is the content of a dialogue. Closing it by Escape returns no answer.
type asking struct {
	title, text  string
	label, value string     // of a text field, shown if label is not empty
	body         []js.Value // more content
	answers      []string   // texts of the buttons, the default one last
	stops        bool       // the default button deletes something, and is styled so
}

// ask shows a dialogue, waits until it is closed, and returns the text of the pressed button, "" if none
// was pressed, and the content of the field. The browser restores the focus.
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
			b.Set("type", "submit") // also pressed by Enter in the field
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

// option adds a radio button to a list. The first one of the list is checked.
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

// chosenOf returns the id of the checked radio button, "" without one.
func chosenOf(list js.Value) string {
	in := list.Call("querySelector", "input:checked")
	if in.IsNull() {
		return ""
	}
	return in.Get("value").String()
}

// button adds a button to a row, and returns it.
func (l *listeners) button(row js.Value, text, class string, do func()) js.Value {
	b := create("button", text)
	b.Set("type", "button")
	b.Set("className", class)
	l.on(b, "click", func(js.Value) { do() })
	row.Call("append", b)
	return b
}

// files returns the files chosen in an input of the page, and empties the input, so that the same files can
// be chosen again.
func files(id string) []js.Value {
	list := each(js.Global().Get("Array").Call("from", element(id).Get("files")))
	element(id).Set("value", "")
	return list
}

// toast shows a text for 6 seconds, and in the status line until the next one.
func toast(text string) {
	status(text)
	t := create("p", text)
	element("toasts").Call("append", t)
	time.AfterFunc(6*time.Second, func() { t.Call("remove") })
}
