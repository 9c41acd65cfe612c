package sheet

import (
	_ "embed"
	"fmt"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/internal/dom"
)

//go:embed sheet.css
var style string

// build makes the elements of the sheet. Their style is adopted by the document, behind the page's
// own style sheets.
func build() {
	css := js.Global().Get("CSSStyleSheet").New()
	css.Call("replaceSync", style)
	dom.Document().Get("adoptedStyleSheets").Call("push", css)

	ask := dom.Element("ask")
	dom.Hide("ask", true)
	attributes(ask, "tabindex", "-1", "aria-labelledby", "ask-title", "aria-describedby", "ask-sum ask-keys")
	answers := part("div", "answers", "role", "group", "aria-label", "Answers", "class", "bar")
	var never js.Value
	for i, a := range []struct{ id, text, rest, class string }{
		{"once", "Allow", "", "primary"}, {"session", "Allow", " in this chat", ""}, {"project", "Always allow", " here", ""}, {"reject", "Don't allow", "", "stop"}, {"never", "Never", " here", "stop"},
	} {
		b := dom.Button("", a.class)
		b.Set("id", a.id)
		b.Call("append", dom.Create("kbd", fmt.Sprint(i+1)), " "+a.text)
		if a.id != "reject" { // which is for all requests
			b.Call("append", part("span", "", "class", "chosen"), a.rest)
		}
		if a.id == "never" { // below, beside the reason
			never = b
		} else {
			answers.Call("append", b)
		}
	}
	about, scope := part("label", "scope-label", "for", "scope", "class", "small"), part("select", "scope")
	about.Set("textContent", "Applies to")
	const reason = "Tell the assistant why (optional)"
	label, why := part("label", "", "for", "why", "class", "away"), part("input", "why", "placeholder", reason, "autocomplete", "off")
	label.Set("textContent", reason)
	next, all, stop := dom.Button("", ""), dom.Button("Show more", ""), dom.Button("Stop", "stop")
	attributes(next, "id", "ask-next", "hidden", "")
	next.Call("append", dom.Create("kbd", "n"), " Next")
	attributes(all, "id", "ask-all", "aria-pressed", "false", "hidden", "")
	attributes(stop, "id", "ask-stop")
	more := part("div", "", "class", "bar more")
	more.Call("append", about, scope, label, why, never, next, all, stop)
	replies := part("div", "replies")
	replies.Call("append", part("p", "ask-off", "role", "status", "class", "small"), part("p", "ask-keys", "class", "away"), answers, more)
	ask.Call("replaceChildren",
		part("p", "ask-whose", "class", "small", "hidden", ""),
		part("h2", "ask-title"),
		part("p", "ask-sum", "class", "small"),
		part("ul", "ask-list", "tabindex", "0", "aria-label", "Effects"),
		part("pre", "ask-diff", "tabindex", "0", "role", "region", "aria-label", "Changes", "hidden", ""),
		replies)
}

// part returns a new element with an id, which may be empty, and attributes as names and values.
func part(tag, id string, names ...string) js.Value {
	el := dom.Create(tag, "")
	if id != "" {
		el.Set("id", id)
	}
	attributes(el, names...)
	return el
}

func attributes(el js.Value, names ...string) {
	for i := 0; i < len(names); i += 2 {
		el.Call("setAttribute", names[i], names[i+1])
	}
}
