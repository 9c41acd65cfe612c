package dialog

import (
	"fmt"
	"testing"

	"github.com/bailey-go/bailey/examples/internal/dom"
	"github.com/bailey-go/bailey/internal/until"
)

// A question that is asked as soon as the one before it is closed, which is before the browser reports
// that, is shown and gets its own answer.
func TestAskAgainAtOnce(t *testing.T) {
	box := dom.Create("dialog", "")
	box.Set("id", "dialog")
	for id, tag := range map[string]string{"dialog-title": "h2", "dialog-text": "p", "dialog-body": "div", "dialog-label": "label", "dialog-name": "span", "dialog-field": "input", "dialog-answers": "menu"} {
		el := dom.Create(tag, "")
		el.Set("id", id)
		box.Call("append", el)
	}
	dom.Document().Get("body").Call("append", box)
	defer box.Call("remove")
	answers := make(chan string, 9)
	ask := func(title string) {
		go func() {
			answer, _ := Ask(Question{Title: title, Answers: []string{"No", "Yes"}})
			answers <- title + " " + answer
		}()
	}
	ask("question 0")
	for i := range 5 {
		title := fmt.Sprint("question ", i)
		until.True(t, title, func() bool {
			return box.Get("open").Bool() && dom.Element("dialog-title").Get("textContent").String() == title
		})
		dom.Each(dom.Element("dialog-answers").Get("children"))[i%2].Call("click")
		ask(fmt.Sprint("question ", i+1))
		if got, want := <-answers, title+[]string{" No", " Yes"}[i%2]; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	until.True(t, "the last question", func() bool { return box.Get("open").Bool() })
	box.Call("close")
	if got := <-answers; got != "question 5 " {
		t.Errorf("closed: %q", got)
	}
}
