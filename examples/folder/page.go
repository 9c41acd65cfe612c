//go:build js && wasm

package main

import (
	"strings"
	"syscall/js"
)

func element(id string) js.Value {
	return js.Global().Get("document").Call("getElementById", id)
}

func create(tag, text string) js.Value {
	el := js.Global().Get("document").Call("createElement", tag)
	el.Set("textContent", text)
	return el
}

// on calls fn for each event, on a goroutine of its own, because a callback of the browser must not
// wait.
func on(target js.Value, event string, fn func()) {
	target.Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		if event == "submit" {
			args[0].Call("preventDefault")
		}
		go fn()
		return nil
	}))
}

func hide(id string, hidden bool) { element(id).Set("hidden", hidden) }
func enable(id string, on bool)   { element(id).Set("disabled", !on) }

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

// showDiff shows a unified diff in a <pre>, with an element for each line.
func showDiff(id, diff string) {
	box := element(id)
	box.Call("replaceChildren")
	for line := range strings.Lines(diff) {
		kind := ""
		switch {
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
			kind = "at"
		case strings.HasPrefix(line, "+"):
			kind = "add"
		case strings.HasPrefix(line, "-"):
			kind = "del"
		}
		span := create("span", line)
		if kind != "" {
			span.Set("className", kind)
			span.Set("textContent", strings.TrimSuffix(line, "\n"))
		}
		box.Call("append", span)
	}
	box.Set("hidden", diff == "")
}

// question is the content of the dialogue.
type question struct {
	title, text string
	input       string // the content of the text field, which is shown if label is not empty
	label       string
	diff        string
	answers     []string // texts of the buttons, the default one last
}

// ask shows the dialogue, waits until it is closed, and returns the text of the pressed button and
// the content of the field. The answer is "" after Escape.
func ask(q question) (answer, input string) {
	dialog, field, menu := element("ask"), element("ask-input"), element("ask-answers")
	element("ask-title").Set("textContent", q.title)
	element("ask-text").Set("textContent", q.text)
	hide("ask-label", q.label == "")
	element("ask-label").Get("firstElementChild").Set("textContent", q.label)
	field.Set("value", q.input)
	showDiff("ask-diff", q.diff)
	menu.Call("replaceChildren")
	for i, a := range q.answers {
		b := create("button", a)
		b.Set("value", a)
		b.Set("type", "button") // Enter in the field presses the first submit button
		if i == len(q.answers)-1 {
			b.Set("type", "submit")
			b.Set("className", "primary")
			b.Set("autofocus", q.label == "")
		}
		on(b, "click", func() { dialog.Call("close", a) })
		menu.Call("append", b)
	}
	closed := make(chan struct{}, 1)
	done := js.FuncOf(func(js.Value, []js.Value) any {
		closed <- struct{}{}
		return nil
	})
	defer done.Release()
	dialog.Set("returnValue", "")
	dialog.Call("addEventListener", "close", done, map[string]any{"once": true})
	dialog.Call("showModal")
	if q.label != "" {
		field.Call("focus")
		field.Call("select")
	}
	<-closed
	return dialog.Get("returnValue").String(), field.Get("value").String()
}
