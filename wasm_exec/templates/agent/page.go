//go:build js && wasm

package main

import (
	"context"
	"strings"
	"syscall/js"

	"github.com/bailey-go/bailey/sandbox"
	"github.com/bailey-go/bailey/sandbox/policy"
)

func element(id string) js.Value { return js.Global().Get("document").Call("getElementById", id) }

// on calls do for each event at an element. do must not wait: it runs in a callback of the browser.
func on(id, event string, do func(event js.Value)) {
	element(id).Call("addEventListener", event, js.FuncOf(func(_ js.Value, args []js.Value) any {
		args[0].Call("preventDefault")
		do(args[0])
		return nil
	}))
}

// messages returns the texts that the user sends.
func messages() <-chan string {
	out := make(chan string, 100)
	on("form", "submit", func(js.Value) {
		text := element("text").Get("value").String()
		element("text").Set("value", "")
		select {
		case out <- text:
		default:
		}
	})
	element("send").Set("disabled", false) // before this the browser would send the form
	return out
}

// dialog asks the user in a window of the page. It shows the title, each effect and the whole difference.
type dialog struct{ answers chan bool }

func newDialog() dialog {
	d := dialog{make(chan bool, 1)}
	answer := func(yes bool) func(js.Value) {
		return func(event js.Value) {
			if n := event.Get("detail"); n.Type() == js.TypeNumber && n.Int() > 1 {
				return // the second click of a double click was meant for the question before
			}
			select {
			case d.answers <- yes:
			default:
			}
		}
	}
	on("yes", "click", answer(true))
	on("no", "click", answer(false))
	on("ask", "cancel", answer(false)) // Escape
	return d
}

// Ask implements sandbox.Asker.
func (d dialog) Ask(ctx context.Context, p sandbox.Prompt) (replies []sandbox.Reply, err error) {
	defer element("ask").Call("close")
	for _, r := range p.Requests {
		var more []string
		for _, e := range r.Effects {
			if !e.InTitle {
				more = append(more, e.Text)
			}
		}
		element("title").Set("textContent", "May the assistant "+r.Title+"?")
		element("effects").Set("textContent", strings.Join(more, "\n"))
		element("diff").Set("textContent", r.Diff)
		select {
		case <-d.answers: // to an earlier question
		default:
		}
		if !element("ask").Get("open").Bool() {
			element("ask").Call("showModal")
		}
		select {
		case yes := <-d.answers:
			reply := sandbox.Reply{Answer: policy.AnswerReject}
			if yes {
				reply.Answer = policy.AnswerOnce
			}
			replies = append(replies, reply)
		case <-ctx.Done():
			return replies, ctx.Err()
		}
	}
	return replies, nil
}
