package dialog

import (
	"context"
	"fmt"
	"sync"
	"syscall/js"
	"time"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/fsaccess"
	"github.com/bailey-go/bailey/internal/consent"
)

// Question is the content of a dialogue. Closing it by Escape returns no answer.
type Question struct {
	Title, Text  string
	Label, Value string     // of a text field, shown if Label is not empty
	Body         []js.Value // more content
	Answers      []string   // texts of the buttons, the default one last
	Stops        bool       // the default button deletes something, and is styled so

	// Ready, if set, reports whether the user has seen what the last answer is about. It is called
	// every [consent.Soon], and at the answer. The last answer counts only after [consent.Settle] calls
	// in a row returned true, in which the user pressed no key and no pointer. The first answer has the
	// focus then, and none is the default.
	Ready func() bool

	Until <-chan struct{} // when it is closed, the dialogue closes without an answer
}

// one is held while the dialogue is shown, because the page has only one. The browser reports its end
// some time after it, and the next question must not take that for its own.
var one sync.Mutex

// Ask shows a dialogue, waits until it is closed, and returns the text of the pressed button, "" if none
// was pressed, and the content of the field. The browser restores the focus.
func Ask(q Question) (answer, text string) {
	one.Lock()
	defer one.Unlock()
	select {
	case <-q.Until:
		return "", ""
	default:
	}
	box, field := dom.Element("dialog"), dom.Element("dialog-field")
	dom.SetText("dialog-title", q.Title)
	dom.SetText("dialog-text", q.Text)
	dom.Hide("dialog-text", q.Text == "")
	dom.Hide("dialog-label", q.Label == "")
	dom.SetText("dialog-name", q.Label)
	field.Set("value", q.Value)
	body := dom.Element("dialog-body")
	body.Call("replaceChildren")
	for _, v := range q.Body {
		body.Call("append", v)
	}
	menu := dom.Element("dialog-answers")
	menu.Call("replaceChildren")
	var focus, last js.Value
	calm := 0 // calls of Ready in a row that returned true, without a key or pointer
	ready := q.Ready == nil
	var undo []func()
	defer func() {
		for _, f := range undo {
			f()
		}
	}()
	listen := func(to js.Value, event string, do func(e js.Value)) {
		fn := js.FuncOf(func(_ js.Value, args []js.Value) any { do(args[0]); return nil })
		to.Call("addEventListener", event, fn)
		undo = append(undo, func() { to.Call("removeEventListener", event, fn); fn.Release() })
	}
	for i, text := range q.Answers {
		b := dom.Create("button", text)
		b.Set("type", "button")
		if i == len(q.Answers)-1 {
			if ready {
				b.Set("type", "submit") // also pressed by Enter in the field
			}
			b.Set("className", map[bool]string{true: "stop", false: "primary"}[q.Stops])
			last = b
		}
		if i == 0 || ready {
			focus = b
		}
		listen(b, "click", func(e js.Value) {
			e.Call("preventDefault")
			if !b.Equal(last) || ready && (q.Ready == nil || q.Ready()) {
				box.Call("close", text)
			}
		})
		menu.Call("append", b)
	}
	listen(box, "pointerdown", func(js.Value) { calm = 0 })
	listen(box, "keydown", func(e js.Value) {
		calm = 0
		if e.Get("repeat").Bool() && e.Get("key").String() == "Enter" {
			e.Call("preventDefault") // the key is held since before the dialogue came
		}
	})
	closed := dom.Closed(box)
	box.Call("showModal")
	if q.Label != "" {
		focus = field
		field.Call("select")
	}
	if focus.Truthy() {
		focus.Call("focus")
	}
	var looks <-chan time.Time
	if q.Ready != nil {
		last.Call("setAttribute", "aria-disabled", "true")
		again := time.NewTicker(consent.Soon)
		defer again.Stop()
		looks = again.C
	}
	for open := true; open; {
		select {
		case <-closed:
			open = false
		case <-q.Until:
			q.Until = nil
			box.Call("close", "")
		case <-looks:
			if calm++; !q.Ready() {
				calm, ready = 0, false
			}
			ready = ready || calm >= consent.Settle
			last.Call("setAttribute", "aria-disabled", fmt.Sprint(!ready))
		}
	}
	body.Call("replaceChildren")
	return box.Get("returnValue").String(), field.Get("value").String()
}

// Option adds a radio button to a list. The first one of the list is checked.
func Option(list js.Value, name, id, text, note string) {
	row, input, label := dom.Create("label", ""), dom.Create("input", ""), dom.Create("span", text)
	input.Set("type", "radio")
	input.Set("name", name)
	input.Set("value", id)
	input.Set("checked", list.Get("childElementCount").Int() == 0)
	row.Set("className", "option")
	row.Call("append", input, label, dom.Create("small", note))
	list.Call("append", row)
}

// Checked returns the id of the checked radio button, "" without one.
func Checked(list js.Value) string {
	in := list.Call("querySelector", "input:checked")
	if in.IsNull() {
		return ""
	}
	return in.Get("value").String()
}

// Toast shows a text for 6 seconds, and in the status line until the next one.
func Toast(text string) {
	dom.Status(text)
	t := dom.Create("p", text)
	dom.Element("toasts").Call("append", t)
	time.AfterFunc(6*time.Second, func() { t.Call("remove") })
}

// Offer shows a text with a button for 10 seconds. It calls done once, with true if the button was pressed
// until then.
func Offer(text, button string, done func(pressed bool)) {
	dom.Status(text)
	t, pressed := dom.Create("p", text), make(chan struct{})
	var of dom.Listeners
	var once sync.Once
	of.Button(t, button, "", func() { once.Do(func() { close(pressed) }) })
	dom.Element("toasts").Call("append", t)
	go func() {
		yes := false
		select {
		case <-pressed:
			yes = true
		case <-time.After(10 * time.Second):
		}
		t.Call("remove")
		of.Release()
		done(yes)
	}()
}

// Save saves a text by the browser's downloads.
func Save(ctx context.Context, name, text string) error {
	dir := fsaccess.NewMemory(fsaccess.MemoryOptions{})
	if err := dir.WriteFile(name, []byte(text), 0o644); err != nil {
		return err
	}
	return fsaccess.SaveAs(ctx, dir, name, name)
}
