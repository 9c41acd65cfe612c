package spent

import (
	"strconv"
	"sync"
	"syscall/js"

	"github.com/bailey-go/bailey/examples/files/dialog"
	"github.com/bailey-go/bailey/examples/files/settings"
	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/sandbox"
)

// Spent is the button at the end of the line of the state, with what the conversation in view has used.
type Spent struct {
	lock     sync.Locker
	settings *settings.Settings
	button   js.Value
	text     string // of the button
	session  *sandbox.Session
}

// New adds the button to the page. lock is held during one action of the user's.
func New(s *settings.Settings, lock sync.Locker) *Spent {
	b := dom.Document().Call("getElementById", "spent")
	p := &Spent{lock: lock, settings: s}
	if b.IsNull() { // the program may be started again in the same page
		b = dom.Create("button", "")
		b.Set("id", "spent")
		b.Set("type", "button")
		b.Set("className", "small end")
		b.Set("title", "What this conversation has used")
		dom.Element("status").Call("after", b)
	}
	b.Set("hidden", true)
	p.button = b
	dom.On(b, "click", func(js.Value) { p.open() })
	return p
}

// Show shows what a conversation has used. It is cheap, and is called after each step.
func (p *Spent) Show(s *sandbox.Session) {
	p.session = s
	text := ""
	if s != nil {
		text = Short(s.Record())
	}
	if text == p.text {
		return
	}
	p.text = text
	p.button.Set("textContent", text)
	p.button.Set("hidden", text == "")
}

// open shows the details, and the prices of the model of now.
func (p *Spent) open() {
	if p.session == nil {
		return
	}
	list := dom.Create("ul", "")
	for _, line := range Lines(p.session.Record()) {
		list.Call("append", dom.Create("li", line))
	}
	body := []js.Value{list}
	now, paid := p.settings.Price()
	var fields [4]js.Value
	if paid {
		for i, f := range []struct {
			label string
			value float64
		}{{"A million tokens read, in dollars", now.Input}, {"A million of them from the provider's cache", now.Cached}, {"A million tokens written", now.Output}, {"Stop a task at so many dollars", now.Most}} {
			label, input := dom.Create("label", f.label), dom.Create("input", "")
			label.Set("className", "field")
			input.Set("inputMode", "decimal")
			input.Set("autocomplete", "off")
			if f.value > 0 {
				input.Set("value", strconv.FormatFloat(f.value, 'f', -1, 64))
			}
			label.Call("append", input)
			body, fields[i] = append(body, label), input
		}
	}
	text, answers := "", []string{"Close"}
	if paid {
		text, answers = "The provider counts the tokens. The prices are yours to enter, from its list. They are for "+p.settings.Model+", from the next message on.", []string{"Close", "Keep the prices"}
	}
	if answer, _ := dialog.Ask(dialog.Question{Title: "What this conversation has used", Text: text, Body: body, Answers: answers}); answer != "Keep the prices" {
		return
	}
	var texts [4]string
	for i, f := range fields {
		texts[i] = f.Get("value").String()
	}
	got, err := prices(texts)
	if dom.Failed(err) {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.settings.SetPrice(got)
	dom.Status("Kept")
}
