package dom

import "syscall/js"

// Document returns the page's document.
func Document() js.Value { return js.Global().Get("document") }

// Element returns the element with the id, or null if there is none.
func Element(id string) js.Value { return Document().Call("getElementById", id) }

// Create returns a new element with a text. It is not in the page yet.
func Create(tag, text string) js.Value {
	el := Document().Call("createElement", tag)
	el.Set("textContent", text)
	return el
}

// Button returns a new button with a text and a class, which may be empty. It submits no form.
func Button(text, class string) js.Value {
	b := Create("button", text)
	b.Set("type", "button")
	b.Set("className", class)
	return b
}

// Away returns a new element with a text that only screen readers present. The page's style sheet
// must hide the class "away".
func Away(text string) js.Value {
	el := Create("span", text)
	el.Set("className", "away")
	return el
}

// Pre returns a new element with preformatted text, which the keyboard can reach and scroll. A
// screen reader names it by label, unless that is empty.
func Pre(text, class, label string) js.Value {
	el := Create("pre", text)
	el.Set("tabIndex", 0)
	el.Set("className", class)
	if label != "" {
		el.Call("setAttribute", "aria-label", label)
	}
	return el
}

// SetText replaces the content of the element with the id by a text.
func SetText(id, text string) { Element(id).Set("textContent", text) }

// Empty removes the content of the elements with the ids. A program that the loader starts again
// after an exit finds the content of the previous one in the page.
func Empty(ids ...string) {
	for _, id := range ids {
		Element(id).Call("replaceChildren")
	}
}

// Hide hides the element with the id, or shows it.
func Hide(id string, hidden bool) { Element(id).Set("hidden", hidden) }

// Enable enables the control with the id, or disables it.
func Enable(id string, on bool) { Element(id).Set("disabled", !on) }

// Value returns the value of the control with the id.
func Value(id string) string { return Element(id).Get("value").String() }

// SetValue sets the value of the control with the id.
func SetValue(id, value string) { Element(id).Set("value", value) }

// Each returns the items of an array or of a list of nodes.
func Each(list js.Value) []js.Value {
	out := make([]js.Value, list.Length())
	for i := range out {
		out[i] = list.Index(i)
	}
	return out
}

// Focused returns the element with the focus. It is null or the body if no element has it.
func Focused() js.Value { return Document().Get("activeElement") }

// Status shows a text in the status line, which is the element "status". Screen readers read it
// aloud.
func Status(text string) {
	Element("status").Set("className", "")
	SetText("status", text)
}

// Failed shows an error in the status line, and reports whether there is one.
func Failed(err error) bool {
	if err == nil {
		return false
	}
	Element("status").Set("className", "bad")
	SetText("status", err.Error())
	return true
}
