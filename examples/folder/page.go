//go:build js && wasm

package main

import (
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
)

// showDiff shows a unified diff in a <pre>, with an element for each line.
func showDiff(id, diff string) {
	box := dom.Element(id)
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
		span := dom.Create("span", line)
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
	dialog, field, menu := dom.Element("ask"), dom.Element("ask-input"), dom.Element("ask-answers")
	dom.SetText("ask-title", q.title)
	dom.SetText("ask-text", q.text)
	dom.Hide("ask-label", q.label == "")
	dom.Element("ask-label").Get("firstElementChild").Set("textContent", q.label)
	field.Set("value", q.input)
	showDiff("ask-diff", q.diff)
	menu.Call("replaceChildren")
	var of dom.Listeners
	defer of.Release()
	for i, a := range q.answers {
		b := dom.Button(a, "") // Enter in the field presses the first submit button
		b.Set("value", a)
		if i == len(q.answers)-1 {
			b.Set("type", "submit")
			b.Set("className", "primary")
			b.Set("autofocus", q.label == "")
		}
		of.On(b, "click", func(js.Value) { dialog.Call("close", a) })
		menu.Call("append", b)
	}
	closed := dom.Closed(dialog)
	dialog.Call("showModal")
	if q.label != "" {
		field.Call("focus")
		field.Call("select")
	}
	<-closed
	return dialog.Get("returnValue").String(), field.Get("value").String()
}
